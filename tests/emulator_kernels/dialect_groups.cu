// Cooperative groups as CUDA has them: partitions of partitions, collective operations, shuffles of structs.
#include "kernels.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// --- partitions: rank, size, rank among the tiles, number of tiles
template <typename Group> __device__ int *facts(const Group &group, int *out) {
    group.sync();
    out[0] = (int)group.thread_rank(), out[1] = (int)group.num_threads();
    out[2] = (int)group.meta_group_rank(), out[3] = (int)group.meta_group_size();
    return out + 4;
}
__device__ int *rank_of(const cg::thread_group &group, int *out) {
    cg::sync(group);
    out[0] = (int)cg::thread_rank(group), out[1] = (int)group.size();
    return out + 2;
}
enum { PARTITION_COLUMNS = 40 };
__global__ void partitions(const int *labels, int *results) {
    const cg::thread_block block = cg::this_thread_block();
    const int t = (int)block.thread_rank();
    int *out = results + PARTITION_COLUMNS * t;
    const auto tile16 = cg::tiled_partition<16>(block);
    const auto tile4 = cg::tiled_partition<4>(tile16);
    const cg::thread_block_tile<4> of_any = tile4;
    out = facts(tile16, out);
    out = facts(tile4, out);
    out = facts(of_any, out);
    const cg::coalesced_group halves = cg::binary_partition(tile16, t % 3 == 1);
    const cg::coalesced_group labeled = cg::labeled_partition(cg::tiled_partition<32>(block), labels[t]);
    out = facts(halves, out);
    out = facts(labeled, out);
    out = facts(cg::tiled_partition(labeled, 4), out);
    out = facts(cg::labeled_partition(labeled, labels[t] == 1), out);
    out = rank_of(block, out);
    const cg::thread_group tile8 = cg::tiled_partition(block, 8);
    out = rank_of(tile8, out);
    out = rank_of(cg::tiled_partition(tile8, 2), out);
    out = rank_of(of_any, out);
    out[0] = (int)block.dim_threads().x, out[1] = (int)cg::this_grid().thread_rank();
    out[2] = (int)cg::this_grid().dim_threads().x, out[3] = (int)cg::this_grid().thread_index().x;
}
ENTRY run_partitions(const Shape *shape, const int *labels, int *results) {
    return launch(shape, partitions, labels, results);
}

// --- collective operations
struct Record {
    double weight;
    int index;
    unsigned char mark[9];
};
struct First { // the record with the smaller weight; of equal ones the one with the smaller index
    __device__ Record operator()(const Record &x, const Record &y) const {
        return x.weight < y.weight || (x.weight == y.weight && x.index < y.index) ? x : y;
    }
};
enum { INTEGERS = 25, FLOATS = 4 };
template <typename Group>
__device__ void collect(const Group &group, const int *in, const float *weights, int *integers, float *floats) {
    const int t = (int)threadIdx.x, value = in[t];
    int *out = integers + INTEGERS * t;
    *out++ = cg::reduce(group, value, cg::plus<int>());
    *out++ = cg::reduce(group, value, cg::less<int>());
    *out++ = cg::reduce(group, value, cg::greater<int>());
    *out++ = cg::reduce(group, value, cg::bit_and<int>());
    *out++ = cg::reduce(group, value, cg::bit_or<int>());
    *out++ = cg::reduce(group, value, cg::bit_xor<int>());
    *out++ = cg::reduce(group, value, [](int x, int y) { return (int)((unsigned)x * (unsigned)y); });
    *out++ = cg::inclusive_scan(group, value);
    *out++ = cg::exclusive_scan(group, value);
    *out++ = cg::inclusive_scan(group, value, cg::greater<int>());
    *out++ = cg::exclusive_scan(group, value, cg::less<int>());
    *out++ = (int)(cg::exclusive_scan(group, value * (1ll << 40), cg::plus<long long>()) >> 40);
    *out++ = (int)(cg::inclusive_scan(group, value * (1ll << 40)) >> 40);
    *out++ = group.any(value > 3);
    *out++ = group.all(value > 3);
    *out++ = (int)group.ballot(value > 3);
    *out++ = (int)group.match_any(value);
    int same = 7;
    *out++ = (int)group.match_all(value, same);
    *out++ = same;
    *out++ = cg::invoke_one_broadcast(group, [&] { return 1000 + (int)group.num_threads(); });
    *out++ = group.shfl(value, (int)group.size() - 1);
    *out++ = group.shfl_up(value, 2);
    *out++ = group.shfl_down(value, 3);
    Record record = {weights[t], t, {}};
    for (int i = 0; i < 9; ++i) record.mark[i] = (unsigned char)(t + i);
    const Record first = cg::reduce(group, record, First());
    bool whole = first.weight == weights[first.index];
    for (int i = 0; i < 9; ++i) whole = whole && first.mark[i] == (unsigned char)(first.index + i);
    *out++ = whole ? first.index : -1;
    *out++ = cg::inclusive_scan(group, value, [](int, int earlier) { return earlier; });
    floats += FLOATS * t;
    floats[0] = cg::reduce(group, weights[t], cg::plus<float>());
    floats[1] = cg::inclusive_scan(group, weights[t]);
    floats[2] = cg::exclusive_scan(group, weights[t]);
    floats[3] = (float)cg::reduce(group, (double)weights[t], cg::plus<double>());
}
__global__ void collectives(int which, const int *in, const float *weights, int *integers, float *floats) {
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    switch (which) {
    case 0: collect(warp, in, weights, integers, floats); break;
    case 1: collect(cg::tiled_partition<8>(warp), in, weights, integers, floats); break;
    case 2: collect(cg::thread_block_tile<4>(cg::tiled_partition<4>(block)), in, weights, integers, floats); break;
    case 3: collect(cg::labeled_partition(warp, threadIdx.x % 3), in, weights, integers, floats); break;
    case 4: collect(cg::labeled_partition(warp, 5), in, weights, integers, floats); break;
    default: collect(cg::binary_partition(warp, threadIdx.x % 32 < 5), in, weights, integers, floats);
    }
}
ENTRY run_collectives(const Shape *shape, int which, const int *in, const float *weights, int *integers,
                      float *floats) {
    return launch(shape, collectives, which, in, weights, integers, floats);
}

// --- a block's and a grid's barrier in two parts; one thread of a group
__global__ void arrivals(int *out) {
    __shared__ int calls, cell[256];
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() == 0) calls = 0;
    cell[threadIdx.x] = (int)threadIdx.x;
    cg::thread_block::arrival_token token = block.barrier_arrive();
    block.barrier_wait(static_cast<cg::thread_block::arrival_token &&>(token));
    cg::invoke_one(
        warp, [&](int by) { atomicAdd(&calls, by); }, 2);
    block.sync();
    out[threadIdx.x] = cell[blockDim.x - 1 - threadIdx.x] + 1000 * calls;
}
ENTRY run_arrivals(const Shape *shape, int *out) {
    return launch(shape, arrivals, out);
}

// --- copies by a group: rows of `n` floats through two buffers; each result is the row in reverse
__global__ void copied_rows(const float *in, float *out, int rows, int n) {
    DYNAMIC_SHARED(float, buffers);
    const cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, buffers, in, sizeof(float) * n);
    for (int row = 0; row < rows; ++row) {
        float *now = buffers + row % 2 * n, *next = buffers + (row + 1) % 2 * n;
        if (row + 1 < rows) {
            cg::memcpy_async(block, next, n, in + (row + 1) * n, n + 5);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        for (int i = (int)block.thread_rank(); i < n; i += (int)block.size()) out[row * n + i] = now[n - 1 - i];
        block.sync();
    }
}
ENTRY run_copied_rows(const Shape *shape, const float *in, float *out, int rows, int n) {
    return launch(shape, copied_rows, in, out, rows, n);
}
// Without a wait.
__global__ void no_wait(const float4 *in, float4 *out) {
    __shared__ float4 tile[32];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::memcpy_async(warp, tile, in, sizeof tile);
    warp.sync();
    out[threadIdx.x] = tile[threadIdx.x];
    cg::wait(warp);
    out[32 + threadIdx.x] = tile[31 - threadIdx.x];
}
ENTRY run_no_wait(const Shape *shape, const float4 *in, float4 *out) {
    return launch(shape, no_wait, in, out);
}
