// Shows: the group of the threads that took a branch, labelled and binary partitions.
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__device__ int atomicAggInc(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int res = 0;
    if (active.thread_rank() == 0) res = atomicAdd(counter, active.size());
    return active.shfl(res, 0) + active.thread_rank();
}

__global__ void filter(int *dst, int *nres, const int *src, int n)
{
    int id = threadIdx.x + blockIdx.x * blockDim.x;
    if (id >= n) return;
    if (src[id] > 0) dst[atomicAggInc(nres)] = src[id];
}

__global__ void partitions(int *out)
{
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = warp.thread_rank();
    auto third = cg::labeled_partition(warp, lane % 3);
    auto half = cg::binary_partition(warp, lane >= 20);
    int sum = cg::reduce(third, lane, cg::plus<int>());
    out[lane] = 10000 * (int)half.size() + 100 * (int)third.size() + (int)third.thread_rank();
    out[32 + lane] = sum;
}

int main()
{
    const int n = 10000;
    int *src, *dst, *count, *parts, expected = 0;
    long long sum = 0, expected_sum = 0;
    cudaMallocManaged(&src, n * sizeof(int));
    cudaMallocManaged(&dst, n * sizeof(int));
    cudaMallocManaged(&parts, 64 * sizeof(int));
    cudaMallocManaged(&count, sizeof(int));
    *count = 0;
    for (int i = 0; i < n; i++) {
        src[i] = i * 7 % 11 - 5;
        if (src[i] > 0) expected++, expected_sum += src[i];
    }
    filter<<<(n + 127) / 128, 128>>>(dst, count, src, n);
    partitions<<<1, 32>>>(parts);
    cudaDeviceSynchronize();
    for (int i = 0; i < *count; i++) sum += dst[i];
    printf("%d %d, %lld %lld\n", *count, expected, sum, expected_sum);
    printf("%d %d %d, %d %d %d\n", parts[0], parts[20], parts[31], parts[32], parts[33], parts[34]);
    cudaFree(src), cudaFree(dst), cudaFree(parts), cudaFree(count);
}
