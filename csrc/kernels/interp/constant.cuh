// interp "constant": comes after "global_memory".
//
// Change  The table lies in constant memory, 32 KB for the points and as much for the values.
// Why     It has a cache of its own, which gives one word to all lanes of a warp at once: the search's first step.
// Claim   reads of a step of the search: as many as the warp's lanes ask for different words: 1 at first, at last up
//         to 32, one after the other (shared memory: as many as its banks collide)
// Price   tables of 8192 points of float32, 4096 of float64, and no more; calls that use it come one after another
// Edges   as before
// Map     point i: thread i % grid_threads()
// Limit   the last steps: constant memory is for what all threads read alike
#ifndef CK_INTERP_CONSTANT_CUH
#define CK_INTERP_CONSTANT_CUH

#include "global_memory.cuh"

namespace interp {

enum { CONSTANT_BYTES = 32 << 10 }; // of each: half of what there is

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
