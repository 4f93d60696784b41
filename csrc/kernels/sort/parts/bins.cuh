// How sample sort divides the keys. At each level, every segment is divided into bins by its own splitters, which are
// keys of its sample. The first level has one segment: all keys.
//
//     bin 0 | = s0 | bin 2 | = s1 | bin 4 | ...        bins - 1 splitters, 2 * bins - 1 divisions
//
// Even divisions are the segments of the next level. Odd divisions contain copies of a single key and need no
// sorting: their keys are written to the result at once, so many equal keys do not cause more work. The divisions of
// all segments are in ascending order, and their positions are indices into the whole array: a bin begins at the
// index where it begins in the result.
#ifndef CK_SORT_BINS_CUH
#define CK_SORT_BINS_CUH

#include "../../grid.cuh"
#include "device_extras.cuh"
#include "keys.cuh"

namespace sort {

enum { MOST_BINS = 512, TILE_THREADS = 512, KEYS_A_TILE_THREAD = 16, TILE_KEYS = TILE_THREADS * KEYS_A_TILE_THREAD };

using count_t = unsigned long long; // the 64-bit type of atomicAdd

struct key_range {
    int64_t begin, end;
};

// The segments of a level: the even divisions of the previous level.
struct segment_list {
    const count_t *starts; // where each division of the previous level begins; NULL: one segment, all keys
    int64_t n, count;

    __device__ __forceinline__ key_range operator[](int64_t segment) const {
        if (!starts) return {0, n};
        return {static_cast<int64_t>(starts[2 * segment]), static_cast<int64_t>(starts[2 * segment + 1])};
    }
    // The last segment that begins at or before the key with this index.
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
    count_t *counts;     // [segments][2 * bins]: the number of keys per division; later the index of its next key
    count_t *starts;     // [segments][2 * bins]: where each division begins

    __host__ __device__ __forceinline__ int divisions() const { return 2 * bins; }
};

// Calls visit(segment, range) for the part of each segment that is in the tile of this block. All threads make the
// same calls, so `visit` may contain barriers.
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

// Loads this thread's keys of a part of a tile, with all loads in flight at the same time.
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

// An exclusive prefix sum: the sum of `mine` over the preceding threads. All TILE_THREADS threads must call this
// function, with a barrier between two calls.
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
