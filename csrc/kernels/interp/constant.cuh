// interp "constant": comes after "global_memory".
//
// Change  The table is in constant memory: 32 KB for the points and as much for the values.
// Why     Constant memory has a cache of its own, which serves one word to all lanes of a warp at once: the first
//         step of the search.
// Claim   reads per step of the search: one for each different word that the lanes of the warp request, 1 at first
//         and up to 32 in the end, one after another (in shared memory: the number of bank conflicts)
// Price   tables of at most 8192 points of float32 or 4096 of float64; calls that use it run one after another
// Edges   as before
// Map     point i: thread i % grid_threads()
// Limit   the last steps: constant memory is for words that all lanes read at once
#ifndef CK_INTERP_CONSTANT_CUH
#define CK_INTERP_CONSTANT_CUH

#include "global_memory.cuh"

namespace interp {

enum { CONSTANT_BYTES = 32 << 10 }; // for each of the two arrays: half of the constant memory

__constant__ double constant_points[CONSTANT_BYTES / sizeof(double)];
__constant__ double constant_values[CONSTANT_BYTES / sizeof(double)];

template <typename T>
__global__ void __launch_bounds__(1024)
    constant(const T *__restrict__ x, const T *__restrict__ left, const T *__restrict__ right, T *__restrict__ result,
             int64_t points, int64_t n) {
    const T *const xp = reinterpret_cast<const T *>(constant_points);
    const T *const fp = reinterpret_cast<const T *>(constant_values);
    for (int64_t i = grid_thread(); i < points; i += grid_threads())
        result[i] = value_at(xp, fp, n, x[i], *left, *right);
}

} // namespace interp

#endif
