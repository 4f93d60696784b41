// Shows: textures over linear and pitched memory, and bytes read as normalised floats.
#include <cstdio>
#include <cstring>

__global__ void gather(cudaTextureObject_t tex, const int *index, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<int>(tex, index[i]);
}
__global__ void shades(cudaTextureObject_t tex, float *out) {
    uint2 p = {threadIdx.x, threadIdx.y};
    float4 c = tex2D<float4>(tex, p.x + 0.5f, p.y + 0.5f);
    out[p.y * blockDim.x + p.x] = c.x + 10 * c.y + 100 * c.z + 1000 * c.w;
}

int main() {
    const int n = 500;
    int *values, *index, *out, wrong = 0;
    cudaMallocManaged(&values, n * sizeof(int));
    cudaMallocManaged(&index, n * sizeof(int));
    cudaMallocManaged(&out, n * sizeof(int));
    for (int i = 0; i < n; i++) values[i] = i * i, index[i] = i * 7 % n;
    cudaResourceDesc linear;
    memset(&linear, 0, sizeof(linear));
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = values;
    linear.res.linear.desc = cudaCreateChannelDesc<int>();
    linear.res.linear.sizeInBytes = n * sizeof(int);
    cudaTextureDesc td;
    memset(&td, 0, sizeof(td));
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex = 0;
    cudaCreateTextureObject(&tex, &linear, &td, NULL);
    gather<<<(n + 63) / 64, 64>>>(tex, index, out, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) wrong += out[i] != index[i] * index[i];
    printf("gathered %d, %d wrong\n", out[n - 1], wrong);
    cudaDestroyTextureObject(tex);

    uchar4 pixels[2][3] = {{{0, 51, 102, 255}, {255, 0, 0, 0}, {0, 255, 0, 0}}, {{51, 51, 51, 51}, {0, 0, 0, 255}, {1, 1, 1, 1}}}, *p;
    size_t pitch;
    cudaMallocPitch(&p, &pitch, sizeof pixels[0], 2);
    cudaMemcpy2D(p, pitch, pixels, sizeof pixels[0], sizeof pixels[0], 2, cudaMemcpyHostToDevice);
    cudaResourceDesc pitched = {};
    pitched.resType = cudaResourceTypePitch2D;
    pitched.res.pitch2D = {p, cudaCreateChannelDesc<uchar4>(), 3, 2, pitch};
    td.readMode = cudaReadModeNormalizedFloat;
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&tex, &pitched, &td, NULL);
    float *f = (float *)out, h[6];
    shades<<<1, dim3(3, 2)>>>(tex, f);
    cudaMemcpy(h, f, sizeof h, cudaMemcpyDefault);
    for (float v : h) printf("%.3f ", v);
    printf("\n");
    cudaDestroyTextureObject(tex);
    cudaFree(values), cudaFree(index), cudaFree(out), cudaFree(p);
}
