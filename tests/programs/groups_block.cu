// Shows: cooperative groups: the block as a group, its members, barriers, and a reduction over any group.
#include <cstdio>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int reduce_sum(cg::thread_group g, int *temp, int val)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[lane] = val;
        g.sync(); // wait for all threads to store
        if (lane < i) val += temp[lane + i];
        g.sync(); // wait for all threads to load
    }
    return val;
}

__global__ void sum_kernel_block(int *sum, const int *input, int n)
{
    extern __shared__ int temp[];
    int my_sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) my_sum += input[i];
    auto g = cg::this_thread_block();
    int block_sum = reduce_sum(g, temp, my_sum);
    if (g.thread_rank() == 0) atomicAdd(sum, block_sum);
}

__global__ void members(int *out)
{
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(b);
    dim3 index = b.thread_index(), group = b.group_index();
    if (b.thread_rank() == 37 && group.x == 1)
        out[0] = b.size(), out[1] = index.x, out[2] = index.y, out[3] = warp.thread_rank(), out[4] = warp.meta_group_rank(),
        out[5] = warp.meta_group_size();
    b.sync();
    cg::sync(b);
}

int main()
{
    int n = 1 << 14, *sum, *data;
    cudaMallocManaged(&sum, sizeof(int));
    cudaMallocManaged(&data, n * sizeof(int));
    for (int i = 0; i < n; i++) data[i] = 1 + i % 2;
    *sum = 0;
    int blockSize = 256, nBlocks = (n + blockSize - 1) / blockSize;
    sum_kernel_block<<<nBlocks, blockSize, blockSize * sizeof(int)>>>(sum, data, n);
    members<<<2, dim3(16, 6)>>>(data);
    cudaDeviceSynchronize();
    printf("%d\n", *sum);
    for (int i = 0; i < 6; i++) printf("%d ", data[i]);
    printf("\n");
    cudaFree(sum);
    cudaFree(data);
}
