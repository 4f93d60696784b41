// interp "global_memory": the first kernel of the ladder.
//
// Idea    One thread per point: a binary search finds the interval of the table that contains x, and the thread
//         interpolates linearly between the ends of the interval.
// Claim   words of the table read per point: log2(n) of xp, then two of xp and two of fp
// Price   Each step of the search waits for the previous one.
// Edges   x below the table gives left, x above it gives right, x at the last point its value, and NaN gives NaN.
// Map     point i: thread i % grid_threads()
// Limit   Neighboring threads search different parts, so the reads of a warp are scattered; the caches hold the first
//         steps: see "shared".
#ifndef CK_INTERP_GLOBAL_MEMORY_CUH
#define CK_INTERP_GLOBAL_MEMORY_CUH

#include "../grid.cuh"

namespace interp {

// The last cell that begins at or before x, for n > 1 nondecreasing points and x between the first and the last one.
template <typename T> __device__ __forceinline__ int64_t cell_of(const T *xp, int64_t n, T x) {
    int64_t low = 0, high = n - 1; // xp[low] <= x, and the cell is before `high`
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (xp[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// NumPy's formula, including its treatment of infinities for which the formula gives NaN.
template <typename T> __device__ __forceinline__ T along(T x, T x0, T x1, T f0, T f1) {
    const T slope = (f1 - f0) / (x1 - x0);
    T result = slope * (x - x0) + f0;
    if (result != result) result = slope * (x - x1) + f1;
    return result != result && f0 == f1 ? f0 : result;
}

template <typename T>
__device__ __forceinline__ T value_at(const T *xp, const T *fp, int64_t n, T x, T left, T right) {
    if (x < xp[0]) return left;
    if (x > xp[n - 1]) return right;
    if (n == 1) return fp[0];
    if (x != x) return x;
    if (x == xp[n - 1]) return fp[n - 1];
    const int64_t i = cell_of(xp, n, x);
    return x == xp[i] ? fp[i] : along(x, xp[i], xp[i + 1], fp[i], fp[i + 1]);
}

template <typename T>
__global__ void __launch_bounds__(1024)
    global_memory(const T *__restrict__ x, const T *__restrict__ xp, const T *__restrict__ fp,
                  const T *__restrict__ left, const T *__restrict__ right, T *__restrict__ result, int64_t points,
                  int64_t n) {
    for (int64_t i = grid_thread(); i < points; i += grid_threads())
        result[i] = value_at(xp, fp, n, x[i], *left, *right);
}

} // namespace interp

#endif
