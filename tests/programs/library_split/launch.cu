#include "filters.hpp"

namespace filters {
namespace {
struct At {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    __device__ At() {}
    __device__ bool inside(int w, int h) const { return x < w && y < h; }
};
__global__ void threshold_kernel(const unsigned char *in, unsigned char *out, int w, int h, int level) {
    At at;
    if (at.inside(w, h)) out[at.y * w + at.x] = in[at.y * w + at.x] >= level ? 255 : 0;
}
__global__ void erode_kernel(const unsigned char *in, unsigned char *out, int w, int h) {
    At at;
    if (!at.inside(w, h)) return;
    unsigned char least = 255;
    for (int y = max(at.y - 1, 0); y <= min(at.y + 1, h - 1); y++)
        for (int x = max(at.x - 1, 0); x <= min(at.x + 1, w - 1); x++) least = min(least, in[y * w + x]);
    out[at.y * w + at.x] = least;
}
dim3 grid(int w, int h) { return dim3((w + 15) / 16, (h + 15) / 16); }
} // namespace

void threshold(const unsigned char *in, unsigned char *out, int width, int height, int level, cudaStream_t stream) {
    threshold_kernel<<<grid(width, height), dim3(16, 16), 0, stream>>>(in, out, width, height, level);
}
void erode(const unsigned char *in, unsigned char *out, int width, int height, cudaStream_t stream) {
    erode_kernel<<<grid(width, height), dim3(16, 16), 0, stream>>>(in, out, width, height);
}
} // namespace filters
