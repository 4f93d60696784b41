// Shows: kernels in namespaces, nested, inline and anonymous ones, launched by qualified names.
#include <cstdio>

namespace math {
__global__ void fill(int *x, int value) { *x = value; }
namespace detail { inline namespace v2 {
template <int N> __global__ void fill(int *x, int value) { *x = N * value; }
} }
void local(int *x) { detail::fill<7><<<1, 1>>>(x, 6); }
}

namespace outer::inner { __global__ void fill(int *x, int value) { *x = -value; } }

namespace { __global__ void fill(int *x, int value) { *x = value + 1; } }

namespace m = math::detail;
using outer_fill = void (*)(int *, int);

struct Runner {
    int *x;
    Runner() { cudaMallocManaged(&x, sizeof *x); }
    ~Runner() { cudaFree(x); }
    void show(const char *name) { cudaDeviceSynchronize(); std::printf("%s %d\n", name, *x); }
};

int main() {
    Runner r;
    math::fill<<<1, 1>>>(r.x, 10);
    r.show("math");
    ::math::detail::fill<3><<<1, 1>>>(r.x, 10);
    r.show("detail");
    m::v2::fill<4> <<<1, 1>>> (r.x, 10);
    r.show("alias");
    math::local(r.x);
    r.show("local");
    outer::inner::fill<<<1, 1>>>(r.x, 10);
    r.show("inner");
    ::fill<<<1, 1>>>(r.x, 10);
    r.show("anonymous");
    using math::fill;
    outer_fill f = math::fill;
    f<<<1, 1>>>(r.x, 12);
    r.show("pointer");
}
