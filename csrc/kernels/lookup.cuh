// Look-ups in a table with two or three axes: the two neighbors of a coordinate along an axis, and their weights.
//
// A coordinate counts elements: element i is at i. Outside the table, for n = 4 elements:
//
//     clamp    0 0 0 | 0 1 2 3 | 3 3 3        mirror   2 1 0 | 0 1 2 3 | 3 2 1
//     wrap     1 2 3 | 0 1 2 3 | 0 1 2        border   zeros | 0 1 2 3 | zeros
//
// "linear" interpolates between the element at or before the coordinate and the next one, along each axis. "nearest"
// takes the nearest element, and the later one of two that are equally near. A NaN coordinate gives NaN, and so does
// an infinite one where the table repeats.
#ifndef CK_LOOKUP_CUH
#define CK_LOOKUP_CUH

#include <math.h>

#include "grid.cuh"

enum lookup_mode { LOOKUP_CLAMP, LOOKUP_WRAP, LOOKUP_MIRROR, LOOKUP_BORDER }; // in the order of the parameter's words
enum lookup_filter { LOOKUP_LINEAR, LOOKUP_NEAREST };

template <typename T> struct lookup_axis {
    int64_t at[2]; // indices of the two elements; -1: in the border
    T weight;      // of the second element; 0: only the first one counts
    bool known;    // false: the result is NaN
};

__device__ __forceinline__ int64_t lookup_element(int64_t i, int64_t n, int mode) {
    if (i >= 0 && i < n) return i;
    if (mode == LOOKUP_BORDER) return -1;
    if (mode == LOOKUP_CLAMP) return i < 0 ? 0 : n - 1;
    const int64_t period = mode == LOOKUP_WRAP ? n : 2 * n;
    int64_t place = i % period;
    if (place < 0) place += period;
    return place < n ? place : period - 1 - place;
}

template <typename T> __device__ __forceinline__ lookup_axis<T> lookup_along(T x, int64_t n, int mode, int filter) {
    const T length = static_cast<T>(n);
    if (mode == LOOKUP_WRAP || mode == LOOKUP_MIRROR) {
        const T period = mode == LOOKUP_WRAP ? length : 2 * length;
        if (!(x > -period && x < 2 * period)) x = fmod(x, period); // exact; NaN for an infinite x
    } else {
        if (x < -2) x = -2;
        if (x > length + 1) x = length + 1;
    }
    lookup_axis<T> axis = {{0, 0}, 0, x == x};
    if (!axis.known) return axis;
    const T below = floor(x);
    const int64_t i = static_cast<int64_t>(below);
    if (filter == LOOKUP_NEAREST) {
        axis.at[0] = lookup_element(i + (x - below >= T(0.5)), n, mode);
    } else {
        // Exact, except that it may round to 1 if x is negative and tiny: then only the next element counts.
        const T weight = x - below;
        axis.at[0] = lookup_element(i + (weight == 1), n, mode);
        axis.at[1] = lookup_element(i + 1, n, mode);
        axis.weight = weight == 1 ? T(0) : weight;
    }
    return axis;
}

template <typename T> __device__ __forceinline__ T lookup_between(T a, T b, T weight) {
    return (1 - weight) * a + weight * b;
}

// A row of the table between two elements; `row` is -1 in the border.
template <typename T>
__device__ __forceinline__ T lookup_in_row(const T *table, int64_t row, int64_t columns, const lookup_axis<T> &x) {
    if (row < 0) return 0;
    const T *const from = table + row * columns;
    const T first = x.at[0] < 0 ? T(0) : from[x.at[0]];
    if (x.weight == 0) return first; // the next element may be infinite, and 0 * inf is NaN
    return lookup_between(first, x.at[1] < 0 ? T(0) : from[x.at[1]], x.weight);
}

// Converts a coordinate to that of a texture, in which the center of element i is at i + 0.5.
__device__ __forceinline__ float texture_place(float x, int64_t n, int normalized) {
    return normalized ? (x + 0.5f) / static_cast<float>(n) : x + 0.5f;
}

__device__ __forceinline__ bool lookup_is_known(float x, int mode) {
    return mode == LOOKUP_WRAP || mode == LOOKUP_MIRROR ? x - x == 0 : x == x;
}

#endif
