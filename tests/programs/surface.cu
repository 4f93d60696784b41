// Shows: surfaces: a kernel writes an array that a texture and a copy then read.
#include <cstdio>

__global__ void invert(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= (unsigned)width || y >= (unsigned)height) return;
    uchar4 c;
    surf2Dread(&c, in, x * 4, y);
    c = make_uchar4(255 - c.x, 255 - c.y, c.z, x + y);
    surf2Dwrite(c, out, x * 4, y);
}

__global__ void look(cudaTextureObject_t tex, int4 *out)
{
    uchar4 c = tex2D<uchar4>(tex, 5.5f, 3.5f);
    *out = make_int4(c.x, c.y, c.z, c.w);
}

int main()
{
    const int w = 33, h = 9;
    static uchar4 image[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) image[y][x] = make_uchar4(x, y, x * y, 9);
    cudaChannelFormatDesc desc = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    cudaArray *arrays[2];
    cudaSurfaceObject_t surfaces[2];
    cudaResourceDesc res = {};
    res.resType = cudaResourceTypeArray;
    for (int i = 0; i < 2; i++) {
        cudaMallocArray(&arrays[i], &desc, w, h, cudaArraySurfaceLoadStore);
        res.res.array.array = arrays[i];
        if (cudaCreateSurfaceObject(&surfaces[i], &res) != cudaSuccess) return 1;
    }
    cudaMemcpy2DToArray(arrays[0], 0, 0, image, w * 4, w * 4, h, cudaMemcpyHostToDevice);
    invert<<<dim3((w + 15) / 16, (h + 3) / 4), dim3(16, 4)>>>(surfaces[0], surfaces[1], w, h);
    cudaMemcpy2DFromArray(image, w * 4, arrays[1], 0, 0, w * 4, h, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            uchar4 c = image[y][x];
            wrong += c.x != 255 - x || c.y != 255 - y || c.z != (x * y) % 256 || c.w != x + y;
        }
    cudaTextureDesc td = {};
    td.readMode = cudaReadModeElementType;
    cudaTextureObject_t tex;
    cudaCreateTextureObject(&tex, &res, &td, nullptr);
    int4 *out, o;
    cudaMalloc(&out, sizeof o);
    look<<<1, 1>>>(tex, out);
    cudaMemcpy(&o, out, sizeof o, cudaMemcpyDeviceToHost);
    printf("%d wrong; %d %d %d %d\n", wrong, o.x, o.y, o.z, o.w);
    cudaDestroyTextureObject(tex), cudaFree(out);
    for (int i = 0; i < 2; i++) cudaDestroySurfaceObject(surfaces[i]), cudaFreeArray(arrays[i]);
    return wrong != 0;
}
