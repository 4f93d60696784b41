// The last stage of sample sort: one block per bin sorts the bin in its shared memory and writes it to the result.
//
// If the sample was unlucky, a bin can be too long for shared memory. Its block then sorts it in pieces and merges
// them in global memory. This takes O(n log n) steps for any order of the keys.
#ifndef CK_SORT_SORT_BINS_CUH
#define CK_SORT_SORT_BINS_CUH

#include <type_traits>

#include "bins.cuh"
#include "block_sort.cuh"

namespace sort {

template <typename T> __device__ __forceinline__ void sort_short(const T *x, int n, uint32_t *shared) {
    for (int i = threadIdx.x; i < n; i += SORT_THREADS) shared[i] = to_key(x[i]);
    __syncthreads();
    sort_in_block(shared, n);
}

// Sorts n keys, with a buffer of the same length, `other`. Returns the pointer, keys or other, that holds the result.
__device__ inline const uint32_t *sort_long(uint32_t *keys, uint32_t *other, int64_t n, uint32_t *shared) {
    for (int64_t at = 0; at < n; at += BLOCK_KEYS) {
        const int length = n - at < BLOCK_KEYS ? static_cast<int>(n - at) : static_cast<int>(BLOCK_KEYS);
        sort_short(keys + at, length, shared);
        for (int i = threadIdx.x; i < length; i += SORT_THREADS) keys[at + i] = shared[i];
        __syncthreads();
    }
    for (int64_t width = BLOCK_KEYS; width < n; width *= 2) {
        for (int64_t at = static_cast<int64_t>(threadIdx.x) * KEYS_A_THREAD; at < n; at += BLOCK_KEYS) {
            uint32_t part[KEYS_A_THREAD];
            merge_part(keys, at, width, n, part);
            for (int i = 0; i < KEYS_A_THREAD; ++i)
                if (at + i < n) other[at + i] = part[i];
        }
        __syncthreads();
        uint32_t *const merged = other;
        other = keys;
        keys = merged;
    }
    return keys;
}

// The result may be the same memory as x or as other.
template <typename T, typename To>
__global__ void __launch_bounds__(SORT_THREADS, 3)
    sort_bins(T *x, uint32_t *other, To *result, segment_list segments) {
    __shared__ uint32_t shared[BLOCK_KEYS];
    const key_range bin = segments[blockIdx.x];
    const int64_t n = bin.end - bin.begin;
    if (n == 0) return;
    if (n <= BLOCK_KEYS) {
        const int length = static_cast<int>(n);
        sort_short(x + bin.begin, length, shared);
        for (int i = threadIdx.x; i < length; i += SORT_THREADS) result[bin.begin + i] = from_key<To>(shared[i]);
        return;
    }
    if constexpr (std::is_same<T, uint32_t>::value) { // any other T: a single bin, which fits in shared memory
        const uint32_t *const sorted = sort_long(x + bin.begin, other + bin.begin, n, shared);
        for (int64_t i = threadIdx.x; i < n; i += SORT_THREADS) result[bin.begin + i] = from_key<To>(sorted[i]);
    }
}

} // namespace sort

#endif
