// vec3 "array_of_structs": the ladder begins here.
//
// Idea    One thread per vector of three floats, which lie side by side: 12 bytes, a size that no load has. So there are
//         three loads of 4 bytes, and in each of them the lanes are 12 bytes apart.
// Claim   sectors per request: 12, and 36 for the three, of which 12 are different (384 bytes are wanted)
// Price   none in memory; each sector is asked for three times, and comes from the cache the second and third time
// Edges   threads beyond the last vector do nothing
// Map     vector i: thread i of the grid
// Limit   requests that touch three times the sectors that they need: "aligned", "struct_of_arrays", "staged"
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
