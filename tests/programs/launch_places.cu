// Shows: launches in places where no block is: after if, else, for, in a comma, in a lambda, in a case.
#include <cstdio>
#include <functional>
#include <thread>

__global__ void add(int *x, int v) { *x += v; }

struct AtExit {
    int *x;
    ~AtExit() { add<<<1, 1>>>(x, 100000); }
};

int main() {
    int *x, n = 0;
    cudaMallocManaged(&x, sizeof *x);
    *x = 0;
    if (n == 0) add<<<1, 1>>>(x, 1);
    else add<<<1, 1>>>(x, 5);
    if (n != 0)
        add<<<1, 1>>>(x, 5);
    else if (n == 0)
        add<<<1, 1>>>(x, 1);
    for (int i = 0; i < 3; i++) add<<<1, 1>>>(x, 10);
    do add<<<1, 1>>>(x, 10); while (++n < 2);
    while (n-- > 0) add<<<1, 1>>>(x, 10);
    add<<<1, 1>>>(x, 100), add<<<1, 1>>>(x, 100);
    for (int i = 0; i < 2; add<<<1, 1>>>(x, 100), i++) {}
    auto in_lambda = [x](int v) { add<<<1, 1>>>(x, v); };
    in_lambda(1000);
    std::function<void()> in_function = [&] { return add<<<1, 1>>>(x, 1000); };
    in_function();
    switch (n) {
    case 7: add<<<1, 1>>>(x, 5); break;
    default: add<<<1, 1>>>(x, 1000);
    }
    if (n > 5) return 1;
    n ? add<<<1, 1>>>(x, 1000) : add<<<1, 1>>>(x, 7);
    std::thread([x] { add<<<1, 1>>>(x, 10000); cudaDeviceSynchronize(); }).join();
    { AtExit last{x}; }
    cudaDeviceSynchronize();
    printf("%d\n", *x);
    cudaFree(x);
}
