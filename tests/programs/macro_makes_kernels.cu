// Shows: kernels that macros define, with names pasted together and operators as arguments.
#include <cstdio>

#define BINARY_KERNEL(name, T, expression)                                  \
    __global__ void name##_##T(const T *a, const T *b, T *c, int n) {       \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                      \
        if (i < n) {                                                        \
            T x = a[i], y = b[i];                                           \
            c[i] = (expression);                                            \
        }                                                                   \
    }

#define FOR_ALL_OPERATIONS(_) _(add, x + y) _(sub, x - y) _(mul, x * y) _(top, x > y ? x : y)

#define BOTH(name, expression) BINARY_KERNEL(name, int, expression) BINARY_KERNEL(name, float, expression)
FOR_ALL_OPERATIONS(BOTH)

template <typename T>
T run(void (*kernel)(const T *, const T *, T *, int))
{
    T a[4] = {1, 2, 3, 4}, b[4] = {10, 9, 8, 3}, c[4];
    T *d;
    cudaMalloc(&d, 12 * sizeof(T));
    cudaMemcpy(d, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(d + 4, b, sizeof b, cudaMemcpyHostToDevice);
    kernel<<<1, 4>>>(d, d + 4, d + 8, 4);
    cudaMemcpy(c, d + 8, sizeof c, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return c[3] + 100 * c[0];
}

int main()
{
#define SHOW(name, expression) printf("%s: %d %g\n", #name, run(name##_int), run(name##_float));
    FOR_ALL_OPERATIONS(SHOW)
#undef SHOW
    return 0;
}
