// sort "cub": comes after "sample_sort".
//
// Change  The sort of the CUDA Toolkit, cub::DeviceRadixSort. It processes eight bits of the keys at a time, with one
//         launch per digit, in which each block looks back at the counts of the preceding blocks.
// Why     Four passes, each of which reads and writes every key once, and no comparisons between keys
// Claim   words read and written per key: 9, namely 1 to count all digits and 2 for each of the 4 digits
// Price   a second buffer of n keys
// Edges   The library sorts floats by their bits, which puts negative NaNs first. The kernels in this file move them
//         to the end: one thread counts them by binary search, and if the count is 0, the other two kernels return at
//         once.
// Map     element i of the result: thread i % grid_threads()
// Limit   the number of bits of a key: a key of half as many bits takes half the time
#ifndef CK_SORT_CUB_CUH
#define CK_SORT_CUB_CUH

#include "../../grid.cuh"
#include "../parts/keys.cuh"

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
