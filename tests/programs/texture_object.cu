// Shows: texture objects over an array: points, linear filtering, normalised coordinates and edge modes.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void sample(cudaTextureObject_t tex, const float2 *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(tex, at[i].x, at[i].y);
}

int main() {
    const int w = 8, h = 4, n = 8;
    float image[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) image[y][x] = 16 * y + x;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array;
    cudaMallocArray(&array, &format, w, h);
    cudaMemcpy2DToArray(array, 0, 0, image, sizeof image[0], sizeof image[0], h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;

    struct { const char *name; cudaTextureFilterMode filter; cudaTextureAddressMode mode; int normalised; } kinds[] = {
        {"points, clamped", cudaFilterModePoint, cudaAddressModeClamp, 0},
        {"linear, clamped", cudaFilterModeLinear, cudaAddressModeClamp, 0},
        {"points, border", cudaFilterModePoint, cudaAddressModeBorder, 0},
        {"points, wrapped", cudaFilterModePoint, cudaAddressModeWrap, 1},
        {"linear, mirrored", cudaFilterModeLinear, cudaAddressModeMirror, 1},
    };
    float2 at[n] = {{0.5f, 0.5f}, {1, 1}, {2.5f, 1.75f}, {7.5f, 3.5f}, {-1, 2}, {9, 5}, {3.25f, 0.5f}, {4.0f, 3.9f}}, *d_at;
    float out[n], *d_out;
    cudaMalloc(&d_at, sizeof at), cudaMalloc(&d_out, sizeof out);
    for (auto &k : kinds) {
        cudaTextureDesc description = {};
        description.addressMode[0] = description.addressMode[1] = k.mode;
        description.filterMode = k.filter;
        description.readMode = cudaReadModeElementType;
        description.normalizedCoords = k.normalised;
        cudaTextureObject_t tex = 0;
        if (cudaCreateTextureObject(&tex, &resource, &description, nullptr) != cudaSuccess) return 1;
        float2 scaled[n];
        for (int i = 0; i < n; i++) scaled[i] = k.normalised ? make_float2(at[i].x / w, at[i].y / h) : at[i];
        cudaMemcpy(d_at, scaled, sizeof scaled, cudaMemcpyHostToDevice);
        sample<<<1, 32>>>(tex, d_at, d_out, n);
        cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
        printf("%s:", k.name);
        for (float v : out) printf(" %g", v);
        printf("\n");
        cudaDestroyTextureObject(tex);
    }
    cudaFreeArray(array);
    cudaFree(d_at), cudaFree(d_out);
}
