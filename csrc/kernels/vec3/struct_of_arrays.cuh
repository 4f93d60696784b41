// vec3 "struct_of_arrays": comes after "aligned".
//
// Change  All x are contiguous in memory, then all y, then all z: an array of shape (n, 3) in Fortran order. The
//         kernel accepts an array with any strides; in C order it reads the same addresses as "array_of_structs".
// Why     Neighboring threads read neighboring floats in each of the three loads, and there is no padding.
// Claim   sectors per request: 4, so 12 for the three requests, all distinct
// Price   The components of a vector are far apart, which makes access to a single vector more expensive.
// Edges   Threads past the last vector do nothing.
// Map     vector i: thread i of the grid
// Limit   Memory bandwidth. But data are often stored as structs: "staged" keeps them so.
#ifndef CK_VEC3_STRUCT_OF_ARRAYS_CUH
#define CK_VEC3_STRUCT_OF_ARRAYS_CUH

#include "array_of_structs.cuh"

namespace vec3 {

// Strides, in floats: `next` from vector to vector, `part` from component to component.
__global__ void __launch_bounds__(1024) struct_of_arrays(const float *__restrict__ parts, float *__restrict__ result,
                                                         int64_t n, int64_t next, int64_t part) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    const float *const vector = parts + i * next;
    result[i] = squared_length(vector[0], vector[part], vector[2 * part]);
}

} // namespace vec3

#endif
