// How sample sort divides. At each level every segment (at the first there is one: all keys) is divided into bins by
// its own splitters, which are keys of its sample:
//
//     bin 0 | = s0 | bin 2 | = s1 | bin 4 | ...        bins splitters less one, 2 * bins - 1 divisions
//
// The even divisions are the segments of the next level. The odd ones hold copies of one key and are in order already:
// their keys go to the result at once, so that many equal keys are no work left over. Divisions of all segments lie in
// the order of their keys, at places counted from the first key of the array: a bin is where it will be in the result.
#ifndef CK_SORT_BINS_CUH
#define CK_SORT_BINS_CUH

#include "../grid.cuh"
#include "device_extras.cuh"
#include "keys.cuh"

namespace sort {

enum { MOST_BINS = 512, TILE_THREADS = 512, KEYS_A_TILE_THREAD = 16, TILE_KEYS = TILE_THREADS * KEYS_A_TILE_THREAD };

using count_t = unsigned long long; // that atomics take

struct key_range {
    int64_t begin, end;
};

// The segments of a level: the even divisions of the level before, from where those begin.
struct segment_list {
    const count_t *starts; // of the divisions of the level before; NULL: one segment, all keys
    int64_t n, count;

    __device__ __forceinline__ key_range operator[](int64_t segment) const {
        if (!starts) return {0, n};
        return {static_cast<int64_t>(starts[2 * segment]), static_cast<int64_t>(starts[2 * segment + 1])};
    }
    // The last segment that begins at that key or before it.
    __device__ __forceinline__ int64_t at(int64_t key) const {
        int64_t low = 0, high = count - 1;
        while (low < high) {
            const int64_t middle = low + (high - low + 1) / 2;
            if ((*this)[middle].begin <= key)
                low = middle;
            else
                high = middle - 1;
        }
        return low;
    }
};

struct sort_level {
    segment_list segments;
    int bins;            // of each segment, a power of two
    int64_t samples;     // of each segment
    uint32_t *sample;    // [segments][samples]
    uint32_t *splitters; // [segments][bins], ascending; the last of each is not used
    count_t *counts;     // [segments][2 * bins]: keys of each division; then where its next key goes
    count_t *starts;     // [segments][2 * bins]: where each division begins

    __host__ __device__ __forceinline__ int divisions() const { return 2 * bins; }
};

// Calls visit(segment, range) for the part of each segment that lies in this block's tile; all threads come by.
template <typename Visit> __device__ __forceinline__ void for_tile(const sort_level &level, Visit visit) {
    const int64_t begin = static_cast<int64_t>(blockIdx.x) * TILE_KEYS, last = level.segments.n;
    const int64_t end = begin + TILE_KEYS < last ? begin + TILE_KEYS : last;
    for (int64_t s = level.segments.at(begin); s < level.segments.count; ++s) {
        key_range part = level.segments[s];
        if (part.begin >= end) break;
        if (part.begin < begin) part.begin = begin;
        if (part.end > end) part.end = end;
        if (part.begin < part.end) visit(s, part);
    }
}

// The keys of a part of a tile that this thread takes, all loads under way at once.
template <typename T>
__device__ __forceinline__ void load_tile(const T *__restrict__ part, int length,
                                          uint32_t (&keys)[KEYS_A_TILE_THREAD]) {
#pragma unroll
    for (int k = 0; k < KEYS_A_TILE_THREAD; ++k) {
        const int i = k * TILE_THREADS + static_cast<int>(threadIdx.x);
        if (i < length) keys[k] = to_key(part[i]);
    }
}
__device__ __forceinline__ bool in_tile(int k, int length) {
    return k * TILE_THREADS + static_cast<int>(threadIdx.x) < length;
}

// The sum of the threads' numbers before this one's; all TILE_THREADS threads call it, and a barrier lies between two
// calls.
template <typename Number> __device__ __forceinline__ Number sum_before(Number mine) {
    enum { WARP = 32, WARPS = TILE_THREADS / WARP };
    __shared__ Number warp_sums[WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    Number sum = mine;
    for (int by = 1; by < WARP; by *= 2) {
        const Number other = __shfl_up_sync(0xffffffffu, sum, by);
        if (lane >= by) sum += other;
    }
    if (lane == WARP - 1) warp_sums[warp] = sum;
    __syncthreads();
    sum -= mine;
    for (int w = 0; w < warp; ++w) sum += warp_sums[w];
    return sum;
}

} // namespace sort

#endif
