// sort "cub": comes after "sample_sort".
//
// Change  The CUDA toolkit's own sort, cub::DeviceRadixSort: eight bits of the keys at a time, all blocks in one launch
//         a digit, each looking back at the counts of those before it.
// Why     Four passes over the keys, each of which reads and writes them once, and no comparison at all.
// Claim   words read and written a key: 9, one to count all digits and 2 for each of four
// Price   a second buffer of n keys
// Edges   it sorts floats by their bits, so that NaNs with a sign come first: they are moved to the end here. The
//         kernels of this file do that: one thread finds out how many there are, by a binary search, and where there
//         are none the other two end at once
// Map     element i of the result: thread i % grid_threads()
// Limit   the bits of a key: half of them are sorted in half of the time
#ifndef CK_SORT_CUB_CUH
#define CK_SORT_CUB_CUH

#include "../grid.cuh"
#include "keys.cuh"

namespace sort {

enum { ROTATE_THREADS = 256 };

__device__ __forceinline__ bool is_negative_nan(float x) {
    return __float_as_uint(x) > (TOP_BIT | 0x7f800000u);
}

__global__ void __launch_bounds__(1)
    count_negative_nans(const float *__restrict__ sorted, int64_t n, int64_t *count) {
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (is_negative_nan(sorted[middle]))
            low = middle + 1;
        else
            high = middle;
    }
    *count = low;
}

__global__ void __launch_bounds__(ROTATE_THREADS)
    rotate(const float *__restrict__ sorted, float *__restrict__ turned, int64_t n, const int64_t *count) {
    const int64_t by = *count;
    if (by == 0) return;
    for (int64_t i = grid_thread(); i < n; i += grid_threads())
        turned[i] = sorted[i < n - by ? i + by : i - (n - by)];
}

__global__ void __launch_bounds__(ROTATE_THREADS)
    rotate_back(const float *__restrict__ turned, float *__restrict__ sorted, int64_t n, const int64_t *count) {
    if (*count == 0) return;
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) sorted[i] = turned[i];
}

} // namespace sort

#endif
