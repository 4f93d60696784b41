// Shows: a barrier of the whole grid in a cooperative launch: rounds of a sum without leaving the kernel.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void rounds(long long *a, long long *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    long long *from = a, *to = b;
    for (int s = 0; s < steps; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            to[i] = from[i] + from[(i + 1) % n];
        grid.sync();
        long long *t = from;
        from = to;
        to = t;
    }
    if (grid.thread_rank() == 0 && !grid.is_valid()) a[0] = -1;
}

int main()
{
    int n = 3000, steps = 9, supported = 0, per = 0, threads = 128;
    long long *a, *b;
    cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0);
    if (!supported) return 2;
    cudaMallocManaged(&a, n * sizeof *a);
    cudaMallocManaged(&b, n * sizeof *b);
    for (int i = 0; i < n; i++) a[i] = i % 10;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, rounds, threads, 0);
    void *args[] = {&a, &b, &n, &steps};
    cudaError_t e = cudaLaunchCooperativeKernel((void *)rounds, dim3(8), dim3(threads), args, 0, 0);
    printf("%s, %s\n", cudaGetErrorString(e), per > 0 ? "fits" : "does not fit");
    cudaDeviceSynchronize();
    long long sum = 0, before = 0;
    for (int i = 0; i < n; i++) sum += b[i], before += i % 10;
    printf("%lld %lld\n", sum, before << steps);
    cudaFree(a);
    cudaFree(b);
    return sum != before << steps;
}
