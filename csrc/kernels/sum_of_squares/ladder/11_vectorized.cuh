// sum_of_squares "vectorized": comes after "warp_shuffle".
//
// Change  A thread loads packs of 16 bytes, and issues four such loads before it uses the first pack. The chip
//         decides the size of the grid: 2048 threads per multiprocessor, but no more blocks than the array has work
//         for.
// Why     Bandwidth needs many bytes in flight. Four packs per thread are 64 bytes in flight, where four ints were
//         16. And a load of 16 bytes is one instruction and one request instead of four.
// Claim   load requests: a quarter as many for 4-byte elements; bytes in flight per thread: 64 (before: 16)
// Price   registers: 16 for the packs, of the 32 per thread that are available to 2048 threads per multiprocessor
// Types   A pack has 16 one-byte integers, or two float64. Each position in a pack has its own sum, as far as the
//         registers suffice.
// Edges   Elements before the first 16-byte boundary (`head`) and after the last whole pack are added one by one; x
//         need only be aligned to an element. The bits of a float result can thus depend on the address modulo 16.
// Map     pack p of the aligned middle: thread p % grid_threads()
// Limit   Memory, nearly: 2^26 ints are read at 70% of an H200's 4,814 GB/s (docs/ladders.md). What remains is who
//         adds the last sums: see "atomic" and "cooperative".
#ifndef CK_SUM_OF_SQUARES_VECTORIZED_CUH
#define CK_SUM_OF_SQUARES_VECTORIZED_CUH

#include "10_warp_shuffle.cuh"

namespace sum_of_squares {

enum { PACK_BYTES = 16, PACKS_IN_FLIGHT = 4 };

// Running sums of a thread. The more elements a pack has, the more registers it takes to extract them, and the fewer
// are left for sums.
constexpr int pack_sums(size_t element_bytes) {
    return static_cast<int>(element_bytes < PACK_BYTES / element_bytes ? element_bytes : PACK_BYTES / element_bytes);
}

template <typename In> struct alignas(PACK_BYTES) pack {
    static constexpr int WIDTH = PACK_BYTES / sizeof(In), SUMS = pack_sums(sizeof(In));
    In values[WIDTH];
};

// One thread's share, in packs. Several sums make shorter chains of additions that wait for each other. The two short
// loops are not unrolled: they would need more than 32 registers, and 2048 threads would no longer fit.
template <typename Acc, typename In> __device__ __forceinline__ Acc packed_sum(const In *__restrict__ x, int64_t n) {
    constexpr int WIDTH = pack<In>::WIDTH, SUMS = pack<In>::SUMS;
    const int64_t me = grid_thread(), stride = grid_threads();
    const int64_t offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) % PACK_BYTES / sizeof(In));
    const int64_t to_boundary = (WIDTH - offset) % WIDTH, head = to_boundary < n ? to_boundary : n;
    const int64_t packs = (n - head) / WIDTH;
    const pack<In> *__restrict__ const middle = reinterpret_cast<const pack<In> *>(x + head);

    Acc sums[SUMS] = {};
#pragma unroll 1
    for (int64_t i = me; i < n - packs * WIDTH; i += stride) // at most 2 * (WIDTH - 1) elements, before and after
        sums[0] += square<Acc>(x[i < head ? i : i + packs * WIDTH]);
    int64_t p = me;
    for (; p + (PACKS_IN_FLIGHT - 1) * stride < packs; p += PACKS_IN_FLIGHT * stride) {
        pack<In> loaded[PACKS_IN_FLIGHT];
        for (int j = 0; j < PACKS_IN_FLIGHT; ++j) loaded[j] = middle[p + j * stride];
        for (int j = 0; j < PACKS_IN_FLIGHT; ++j)
            for (int w = 0; w < WIDTH; ++w) sums[w % SUMS] += square<Acc>(loaded[j].values[w]);
    }
#pragma unroll 1
    for (; p < packs; p += stride) {
        const pack<In> loaded = middle[p];
        for (int w = 0; w < WIDTH; ++w) sums[w % SUMS] += square<Acc>(loaded.values[w]);
    }
    Acc sum = sums[0];
    for (int w = 1; w < SUMS; ++w) sum += sums[w];
    return sum;
}

template <typename In, typename Acc>
__global__ void __launch_bounds__(1024) vectorized(const In *__restrict__ x, int64_t n, Acc *__restrict__ partials) {
    const Acc total = block_sum(packed_sum<Acc>(x, n));
    if (threadIdx.x == 0) partials[blockIdx.x] = total;
}

} // namespace sum_of_squares

#endif
