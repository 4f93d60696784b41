// vec3 "struct_of_arrays": comes after "aligned".
//
// Change  All x lie side by side, then all y, then all z: an array of shape (n, 3) in Fortran's order. The kernel takes
//         the array as it lies, by its strides; in C order it reads what "array_of_structs" reads.
// Why     Neighboring threads read neighboring floats in each of the three loads, and nothing is padding.
// Claim   sectors per request: 4, and 12 for the three, all different
// Price   a vector's parts lie far from each other, which who wants one vector alone pays for
// Edges   threads beyond the last vector do nothing
// Map     vector i: thread i of the grid
// Limit   the memory; but data often come as structs: "staged" leaves them so
#ifndef CK_VEC3_STRUCT_OF_ARRAYS_CUH
#define CK_VEC3_STRUCT_OF_ARRAYS_CUH

#include "array_of_structs.cuh"

namespace vec3 {

// Strides in floats: from vector to vector, and from part to part.
__global__ void __launch_bounds__(1024) struct_of_arrays(const float *__restrict__ parts, float *__restrict__ result,
                                                         int64_t n, int64_t next, int64_t part) {
    const int64_t i = grid_thread();
    if (i >= n) return;
    const float *const vector = parts + i * next;
    result[i] = squared_length(vector[0], vector[part], vector[2 * part]);
}

} // namespace vec3

#endif
