// vec3 "staged": comes after "struct_of_arrays".
//
// Change  The vectors remain structs. A block copies its part to shared memory as consecutive floats, and each thread
//         reads its three floats from there.
// Why     In global memory, neighboring threads should read neighboring words. In shared memory a distance of three
//         words costs nothing, because three is odd: the 32 lanes access 32 different banks.
// Claim   sectors per request: 4, so 12 for the three requests; wavefronts per shared load: 1
// Price   12 bytes of shared memory per thread, and a barrier
// Edges   Floats past the last vector are not copied. All threads reach the barrier.
// Map     float f of the block: thread f % threads; vector i: thread i of the grid
// Limit   memory bandwidth
#ifndef CK_VEC3_STAGED_CUH
#define CK_VEC3_STAGED_CUH

#include "array_of_structs.cuh"

#include "device_extras.cuh"

namespace vec3 {

__global__ void __launch_bounds__(1024)
    staged(const float *__restrict__ floats, float *__restrict__ result, int64_t n) {
    DYNAMIC_SHARED(float, mine);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x, here = n - first;
    const int vectors = here < blockDim.x ? static_cast<int>(here) : static_cast<int>(blockDim.x);
    for (int f = threadIdx.x; f < 3 * vectors; f += blockDim.x) mine[f] = floats[3 * first + f];
    __syncthreads();

    const int t = threadIdx.x;
    if (t < vectors) result[first + t] = squared_length(mine[3 * t], mine[3 * t + 1], mine[3 * t + 2]);
}

} // namespace vec3

#endif
