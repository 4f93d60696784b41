// Shows: launches inside macros: error checks around them, and macros that make the brackets.
#include <cstdio>
#include <cstdlib>

#define CUDA_CHECK(call)                                                                      \
    do {                                                                                      \
        call;                                                                                 \
        cudaError_t status_ = cudaGetLastError();                                             \
        if (status_ != cudaSuccess) {                                                         \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)
#define LAUNCH(kernel, grid, block, ...) kernel<<<(grid), (block)>>>(__VA_ARGS__)
#define CONFIG(n) <<<((n) + 127) / 128, 128>>>
#define KERNEL_ARGS2(grid, block) <<< grid, block >>>
#define KERNEL_ARGS4(grid, block, shared, stream) <<< grid, block, shared, stream >>>
#define DISPATCH(FLAG, NAME, ...) [&] { if (FLAG) { constexpr bool NAME = true; __VA_ARGS__; } \
                                        else { constexpr bool NAME = false; __VA_ARGS__; } }()

__global__ void add(int *x, int v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += v;
}
template <bool Negative> __global__ void add_sign(int *x) { x[threadIdx.x] += Negative ? -1000 : 1000; }

int main()
{
    const int n = 300;
    int *x;
    cudaMallocManaged(&x, n * sizeof(int));
    for (int i = 0; i < n; i++) x[i] = 0;
    CUDA_CHECK((add<<<3, 128>>>(x, 1, n)));
    CUDA_CHECK(
        (add<<<dim3(3, 1), dim3(128, 1)>>>(x, 2, n))
    );
    LAUNCH(add, 3, 128, x, 10, n);
    add CONFIG(n) (x, 20, n);
    add KERNEL_ARGS2(dim3(3), dim3(128)) (x, 100, n);
    add KERNEL_ARGS4(3, 128, 0, 0) (x, 200, n);
    for (int flag = 0; flag < 3; flag++) DISPATCH(flag > 0, kNegative, (add_sign<kNegative><<<1, 256>>>(x)));
    CUDA_CHECK(cudaDeviceSynchronize());
    printf("%d %d\n", x[0], x[n - 1]);
    cudaFree(x);
}
