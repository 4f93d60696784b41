// interp "texture": comes after "global_memory".
//
// Change  The values are a texture, whose hardware finds the two neighbors and interpolates between them. The points
//         must be evenly spaced: a multiplication then gives the position in the table.
// Why     No search, and no arithmetic between the neighbors: one read per point.
// Claim   reads per point: 1 of the texture, and 2 of the ends of xp for all points (before: log2(n) + 4)
// Price   The weights of the hardware have 8 fractional bits: an error of up to 2^-9 of the difference of the
//         neighbors. float32 only. The table is copied into an array first.
// Edges   as before: the texture is read only inside the table
// Map     point i: thread i % grid_threads()
// Limit   the precision
#ifndef CK_INTERP_TEXTURE_CUH
#define CK_INTERP_TEXTURE_CUH

#include "global_memory.cuh"

namespace interp {

__global__ void __launch_bounds__(1024)
    texture(cudaTextureObject_t values, const float *__restrict__ x, const float *__restrict__ xp,
            const float *__restrict__ left, const float *__restrict__ right, float *__restrict__ result,
            int64_t points, int64_t n) {
    const float first = xp[0], last = xp[n - 1];
    const float cells = n > 1 ? static_cast<float>(n - 1) / (last - first) : 0.0f;
    for (int64_t i = grid_thread(); i < points; i += grid_threads()) {
        const float at = x[i];
        float value = at; // NaN remains NaN
        if (at < first)
            value = *left;
        else if (at > last)
            value = *right;
        else if (n == 1 || at == at)
            value = tex1D<float>(
                values, n == 1 ? 0.5f : (at - first) * cells + 0.5f); // a point is at the center of its element
        result[i] = value;
    }
}

} // namespace interp

#endif
