// Shows: headers of the program's own with kernels and launches, in folders that -I names, and a macro of -D.
#include <cstdio>
#include <lib/array.cuh>
#include "local.h"

int main() {
    lib::Array<float> a(1000);
    a.fill(2).apply(lib::Scale{SCALE}).apply(AddLocal{0.5f});
    printf("%g, sum %g\n", a.at(999), a.sum());
    return 0;
}
