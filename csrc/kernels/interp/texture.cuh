// interp "texture": comes after "global_memory".
//
// Change  The values are a texture, whose hardware finds the two neighbours and goes along the line between them. The
//         table must be evenly spaced: its place is then a multiplication.
// Why     No search, and no arithmetic between the neighbours: one read a point.
// Claim   reads a point: 1 of the texture, 2 of xp's ends for all (before: log2(n) + 4)
// Price   the hardware's weights have 8 bits after the point: an error of up to 2^-9 of the step between neighbours;
//         float32 only; the table is copied into an array first
// Edges   as before: the texture is asked inside the table alone
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
        float value = at; // no number stays none
        if (at < first)
            value = *left;
        else if (at > last)
            value = *right;
        else if (n == 1 || at == at)
            value =
                tex1D<float>(values, n == 1 ? 0.5f : (at - first) * cells + 0.5f); // a point is its element's middle
        result[i] = value;
    }
}

} // namespace interp

#endif
