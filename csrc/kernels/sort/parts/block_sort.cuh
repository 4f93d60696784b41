// Sorting up to BLOCK_KEYS keys in the shared memory of a block. Each thread first sorts a few keys in registers,
// with a network of comparisons. Then pairs of runs are merged, and each thread computes one part of the result.
//
//     round 0    runs of 15 keys, one per thread        round r    runs of 15 * 2^r keys
//
// 15 is odd, so when the threads store their keys, the 32 lanes of a warp access 32 different banks.
#ifndef CK_SORT_BLOCK_SORT_CUH
#define CK_SORT_BLOCK_SORT_CUH

#include "merge_path.cuh"

namespace sort {

enum { SORT_THREADS = 512, KEYS_A_THREAD = 15, BLOCK_KEYS = SORT_THREADS * KEYS_A_THREAD };

// Odd-even sort: COUNT rounds, each of which exchanges neighbors that are out of order.
template <int COUNT> __device__ __forceinline__ void sort_in_registers(uint32_t (&keys)[COUNT]) {
#pragma unroll
    for (int round = 0; round < COUNT; ++round)
#pragma unroll
        for (int i = round % 2; i + 1 < COUNT; i += 2) {
            const uint32_t low = min(keys[i], keys[i + 1]), high = max(keys[i], keys[i + 1]);
            keys[i] = low;
            keys[i + 1] = high;
        }
}

__device__ __forceinline__ void store_part(uint32_t *keys, int at, int n, const uint32_t (&part)[KEYS_A_THREAD]) {
#pragma unroll
    for (int i = 0; i < KEYS_A_THREAD; ++i)
        if (at + i < n) keys[at + i] = part[i];
}

// All SORT_THREADS threads must call this function, after a barrier. It ends with a barrier. keys: in shared memory.
__device__ __forceinline__ void sort_in_block(uint32_t *keys, int n) {
    const int at = static_cast<int>(threadIdx.x) * KEYS_A_THREAD;
    uint32_t part[KEYS_A_THREAD];
    if (at < n) {
#pragma unroll
        for (int i = 0; i < KEYS_A_THREAD; ++i) part[i] = at + i < n ? keys[at + i] : LARGEST_KEY;
        sort_in_registers(part);
        store_part(keys, at, n, part); // no barrier before: no other thread uses these keys
    }
    __syncthreads();
    for (int width = KEYS_A_THREAD; width < n; width *= 2) {
        if (at < n) merge_part(keys, at, width, n, part);
        __syncthreads();
        if (at < n) store_part(keys, at, n, part);
        __syncthreads();
    }
}

} // namespace sort

#endif
