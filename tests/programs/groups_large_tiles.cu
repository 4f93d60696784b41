// Shows: tiles of more than a warp, which need memory of the block.
#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sums(const int *in, int *out) {
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<128>(block);
    int v = in[block.thread_rank()];
    int sum = cg::reduce(tile, v, cg::plus<int>());
    int first = tile.shfl(v, 5);
    bool some = tile.any(v == 200);
    tile.sync();
    if (tile.thread_rank() == 0) {
        int *r = out + 4 * tile.meta_group_rank();
        r[0] = sum, r[1] = first, r[2] = some, r[3] = tile.size();
    }
}

int main() {
    int *in, *out;
    cudaMallocManaged(&in, 256 * sizeof(int));
    cudaMallocManaged(&out, 8 * sizeof(int));
    for (int i = 0; i < 256; i++) in[i] = i;
    sums<<<1, 256>>>(in, out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    for (int i = 0; i < 8; i++) printf("%d ", out[i]);
    printf("\n");
    cudaFree(in), cudaFree(out);
}
