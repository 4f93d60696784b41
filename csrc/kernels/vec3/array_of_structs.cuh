// vec3 "array_of_structs": the first kernel of the ladder.
//
// Idea    One thread per vector of three consecutive floats. No load instruction has their size of 12 bytes, so three
//         loads of 4 bytes are necessary, and in each of them the lanes are 12 bytes apart.
// Claim   sectors per request: 12, so 36 for the three requests, of which 12 are distinct (the data are 384 bytes)
// Price   No additional memory. Each sector is requested three times; the second and third time it is in the cache.
// Edges   Threads past the last vector do nothing.
// Map     vector i: thread i of the grid
// Limit   Requests touch three times as many sectors as necessary: see "aligned", "struct_of_arrays" and "staged".
#ifndef CK_VEC3_ARRAY_OF_STRUCTS_CUH
#define CK_VEC3_ARRAY_OF_STRUCTS_CUH

#include "../grid.cuh"

namespace vec3 {

struct vector3 {
    float x, y, z;
};

__device__ __forceinline__ float squared_length(float x, float y, float z) {
    return x * x + y * y + z * z;
}

__global__ void __launch_bounds__(1024)
    array_of_structs(const vector3 *__restrict__ vectors, float *__restrict__ result, int64_t n) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = squared_length(vectors[i].x, vectors[i].y, vectors[i].z);
}

} // namespace vec3

#endif
