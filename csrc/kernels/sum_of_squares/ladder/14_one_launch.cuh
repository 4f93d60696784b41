// sum_of_squares "one_launch": comes after "cooperative".
//
// Change  Each block publishes its sum, and the block that started last collects the sums of all blocks, in the order
//         of their numbers. Only this block waits. Eight loads are in flight per thread, of a contiguous part of the
//         array per block, and float32 is summed in double.
// Why     In "cooperative" all blocks wait until the last one has arrived, and then block 0 reads their sums: two
//         trips to the L2 cache one after the other, after the slowest block. Here the sum and the flag that it is
//         there are the same word, so the slowest block stores it and the collector, which reads again and again, has
//         it.
// Claim   launches: 1; fences: 0; trips to the L2 cache after the last element: 2 (a store, and the read that finds
//         it) error of float32: below 1 unit of the last place for up to 2^28 elements per thread
// Gain    measured on an H200, float32, with the last sums, compared with "vectorized" and with the fastest library
//         call: 2^16: 6.2 us (8.2, 6.6); 2^20: 7.7 us (8.9, 8.9); 2^24: 26.7 us (29.3, 27.8); 2^28: 250.3 us (251.6,
//         250.9)
// Price   a word of workspace for each 32 bits of a block's sum, zero beforehand: the collector leaves it zero, so
//         that the next call need not clear it. A conversion to double per element, which the loads mostly hide.
// Edges   Up to 4096 packs need one block, which has nothing to collect. Elements outside whole packs belong to block
//         0. What remains after the rounds of whole tiles is divided among all blocks.
// Map     round r, block b, load j, thread t: pack ((r * blocks + b) * 8 + j) * 512 + t
// Limit   Memory: a loop that only loads takes 246 us for 2^28 float32. The rest is the start, the sums of the
//         blocks, and the conversions of what arrives last.
//
// A block learns whether it started last from a counter, which it asks at once and needs only at its end. All other
// blocks have then started, in whatever order, so the collector's wait ends. The counter wraps to 0 by itself.
#ifndef CK_SUM_OF_SQUARES_ONE_LAUNCH_CUH
#define CK_SUM_OF_SQUARES_ONE_LAUNCH_CUH

#include <string.h>

#include <type_traits>

#include "../../pack.cuh"
#include "../../published.cuh"
#include "10_warp_shuffle.cuh"

namespace sum_of_squares {

using publishing::published;

enum { TILE_THREADS = 512, TILE_LOADS = 8, TILE_BLOCKS_A_MULTIPROCESSOR = 2, TILE_PACKS = TILE_THREADS * TILE_LOADS };

// The workspace: the counter of blocks that have started, then the sums of the blocks.
template <typename Acc> struct block_sums {
    unsigned *started;
    published<Acc> *sums;

    static constexpr size_t bytes(int64_t blocks) {
        return sizeof(publishing::word) + sizeof(published<Acc>) * static_cast<size_t>(blocks);
    }
    static block_sums in(void *workspace) {
        auto *const words = static_cast<publishing::word *>(workspace);
        return {reinterpret_cast<unsigned *>(words), reinterpret_cast<published<Acc> *>(words + 1)};
    }
};

// A pack whose elements are not yet taken apart: packs of bytes would take a register for each.
struct alignas(WIDEST_ACCESS) [[gnu::may_alias]] whole_pack {
    uint32_t words[4];
};

// The squares of narrow integers have at most 32 bits, and those of a pack of bytes also have their sum in 32 bits.
// Two sums per thread: an addition need not wait for the one before.
template <typename In, typename Acc>
__device__ __forceinline__ void add_squares(Acc (&sums)[2], const whole_pack &loaded) {
    using product = std::conditional_t<std::is_floating_point_v<Acc> || sizeof(In) >= 4, Acc, unsigned>;
    using partial = std::conditional_t<sizeof(In) == 1, product, Acc>;
    pack_of<In> pack;
    memcpy(&pack, &loaded, sizeof pack);
    partial halves[2] = {};
#pragma unroll
    for (int w = 0; w < pack_of<In>::WIDTH; ++w) {
        const product squared = square<product>(pack.values[w]);
        if constexpr (std::is_same_v<partial, Acc>)
            sums[w % 2] += squared;
        else
            halves[w % 2] += squared;
    }
    if constexpr (!std::is_same_v<partial, Acc>) sums[0] += halves[0] + halves[1];
}

// A thread's share. In a round, each block has a tile; the packs of the last round, which has fewer, go around the
// blocks.
template <typename Acc, typename In> __device__ __forceinline__ Acc tiled_sum(const In *__restrict__ x, int64_t n) {
    const packed_row row = packed_row_of(x, n);
    const unsigned thread = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
    const auto *__restrict__ from = reinterpret_cast<const whole_pack *>(x + row.head);
    const unsigned singles = static_cast<unsigned>(n - row.packs * pack_of<In>::WIDTH);
    const In single = block == 0 && thread < singles ? x[single_element<In>(row, thread)] : In{};
    int64_t left = row.packs;
    Acc sums[2] = {};
#pragma unroll 1
    for (; left > 0; left -= blocks * TILE_PACKS) {
        whole_pack loaded[TILE_LOADS];
        if (left >= blocks * static_cast<int64_t>(TILE_PACKS)) {
#pragma unroll
            for (int j = 0; j < TILE_LOADS; ++j) loaded[j] = from[block * TILE_PACKS + j * TILE_THREADS + thread];
        } else {
#pragma unroll
            for (int j = 0; j < TILE_LOADS; ++j) {
                const unsigned p = (j * blocks + block) * TILE_THREADS + thread;
                loaded[j] = {};
                if (p < left) loaded[j] = from[p];
            }
        }
#pragma unroll
        for (int j = 0; j < TILE_LOADS; ++j) add_squares<In>(sums, loaded[j]); // a pack that was not loaded is zero
        from += blocks * TILE_PACKS;
    }
    return sums[0] + sums[1] + square<Acc>(single);
}

template <typename In, typename Acc, typename Out>
__global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS_A_MULTIPROCESSOR)
    one_launch(const In *__restrict__ x, int64_t n, block_sums<Acc> blocks, Out *__restrict__ result) {
    __shared__ bool collects;
    unsigned number = 0;
    if (threadIdx.x == 0 && gridDim.x > 1) number = atomicInc(blocks.started, gridDim.x - 1);
    Acc sum = block_sum(tiled_sum<Acc>(x, n));
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) {
            publish(&blocks.sums[blockIdx.x], sum);
            collects = number == gridDim.x - 1;
        }
        __syncthreads();
        if (!collects) return;
        sum = 0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += TILE_THREADS) {
            sum += wait_for(&blocks.sums[b], look(&blocks.sums[b]));
            unpublish(&blocks.sums[b]);
        }
        sum = block_sum(sum);
    }
    if (threadIdx.x == 0) *result = static_cast<Out>(sum);
}

} // namespace sum_of_squares

#endif
