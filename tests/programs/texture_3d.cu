// Shows: a three-dimensional array, copied by cudaMemcpy3D and read by a texture of points and a linear one.
#include <cstdio>

__global__ void look(cudaTextureObject_t tex, const float3 *at, float *out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = tex3D<float>(tex, at[i].x, at[i].y, at[i].z);
}

int main() {
    const int w = 4, h = 3, d = 5, n = 5;
    float volume[d][h][w], out[n], *d_out;
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) volume[z][y][x] = 64 * z + 8 * y + x;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMalloc3DArray(&array, &desc, make_cudaExtent(w, h, d));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume, w * sizeof(float), w, h);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&copy) != cudaSuccess) return 1;
    float3 at[n] = {{0.5f, 0.5f, 0.5f}, {3.5f, 2.5f, 4.5f}, {1, 1, 1}, {2.25f, 1.5f, 3}, {9, -2, 2.5f}}, *d_at;
    cudaMalloc(&d_at, sizeof at), cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_at, at, sizeof at, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (auto mode : {cudaFilterModePoint, cudaFilterModeLinear}) {
        cudaTextureDesc td = {};
        for (auto &a : td.addressMode) a = cudaAddressModeClamp;
        td.filterMode = mode;
        cudaTextureObject_t tex;
        if (cudaCreateTextureObject(&tex, &resource, &td, nullptr) != cudaSuccess) return 2;
        look<<<1, 32>>>(tex, d_at, d_out, n);
        cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
        for (float v : out) printf("%g ", v);
        printf("\n");
        cudaDestroyTextureObject(tex);
    }
    cudaFreeArray(array), cudaFree(d_at), cudaFree(d_out);
}
