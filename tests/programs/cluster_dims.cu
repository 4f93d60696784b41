// Shows: a kernel that is compiled for clusters (__cluster_dims__) and a histogram over their shared memory.
#include <cstdio>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int BINS = 64, PER_BLOCK = 32;

__global__ void __cluster_dims__(2, 1, 1) histogram(const int *in, int n, int *bins)
{
    __shared__ int mine[PER_BLOCK];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < PER_BLOCK; i += blockDim.x) mine[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = in[i] % BINS;
        int *there = cluster.map_shared_rank(mine, bin / PER_BLOCK);
        atomicAdd(there + bin % PER_BLOCK, 1);
    }
    cluster.sync();
    int first = cluster.block_rank() * PER_BLOCK;
    for (int i = threadIdx.x; i < PER_BLOCK; i += blockDim.x) atomicAdd(&bins[first + i], mine[i]);
}

int main()
{
    const int n = 10000;
    int *in, *bins, expected[BINS] = {}, wrong = 0;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&bins, BINS * sizeof(int));
    for (int i = 0; i < n; i++) expected[(in[i] = i * 7 + i / 100) % BINS]++;
    for (int i = 0; i < BINS; i++) bins[i] = 0;
    histogram<<<8, 128>>>(in, n, bins);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < BINS; i++) wrong += bins[i] != expected[i];
    printf("%d %d, %d wrong\n", bins[0], bins[63], wrong);
    histogram<<<3, 128>>>(in, n, bins);
    printf("3 blocks: %s\n", cudaGetLastError() == cudaSuccess ? "launched" : "refused");
    cudaFree(in), cudaFree(bins);
}
