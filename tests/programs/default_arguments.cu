// Shows: kernels with default arguments, also in templates and after a declaration of its own.
#include <cstdio>

__global__ void add(int *x, int a, int b = 10, const char *text = "ab");
template <typename T = int> __global__ void store(T *x, T v = T(7)) { *x = v; }
struct Options { int a = 3, b = 4; };
__global__ void options(int *x, Options o = {}) { *x = o.a * 10 + o.b; }

int main() {
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    auto show = [x] { cudaDeviceSynchronize(); printf("%d ", *x); };
    *x = 0;
    add<<<1, 1>>>(x, 1);
    show();
    add<<<1, 1>>>(x, 1, 2);
    show();
    add<<<1, 1>>>(x, 1, 2, nullptr);
    show();
    store<<<1, 1>>>(x);
    show();
    store<int><<<1, 1>>>(x, 8);
    show();
    options<<<1, 1>>>(x);
    show();
    options<<<1, 1>>>(x, {5, 6});
    show();
    printf("\n");
    cudaFree(x);
}

__global__ void add(int *x, int a, int b, const char *text) { *x += a + b + (text ? 100 : 0); }
