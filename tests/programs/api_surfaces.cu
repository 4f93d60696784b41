// Shows: surfaces, and textures of layered arrays and of a cubemap.
#include <cstdio>

__global__ void write_surface(cudaSurfaceObject_t to, int width, int height) {
    const int x = threadIdx.x, y = threadIdx.y;
    if (x < width && y < height) surf2Dwrite((float)(10 * y + x), to, x * (int)sizeof(float), y);
}
__global__ void transform(cudaSurfaceObject_t from, cudaTextureObject_t same, cudaSurfaceObject_t to, float *outside) {
    const int x = threadIdx.x, y = threadIdx.y;
    float value;
    surf2Dread(&value, from, x * 4, y);
    surf2Dwrite(value + 100 * tex2D<float>(same, x, y), to, x * 4, y);
    if (x == 0 && y == 0) outside[0] = surf2Dread<float>(from, -4, 0, cudaBoundaryModeZero) + 1;
    if (x == 0 && y == 0) outside[1] = surf2Dread<float>(from, 400, 1, cudaBoundaryModeClamp);
}
__global__ void layers(cudaTextureObject_t layered, cudaTextureObject_t cube, float *out) {
    if (threadIdx.x < 3) out[threadIdx.x] = tex2DLayered<float>(layered, 1.5f, 0.5f, threadIdx.x);
    const float3 to[6] = {{1, .2f, .1f}, {-1, .2f, .1f}, {.2f, 1, .1f}, {.2f, -1, .1f}, {.2f, .1f, 1}, {.2f, .1f, -1}};
    const float3 at = to[threadIdx.x];
    out[3 + threadIdx.x] = texCubemap<float>(cube, at.x, at.y, at.z);
}

cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}
cudaArray_t filled(int width, int height, int depth, unsigned flags) {
    cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    float values[64];
    for (int i = 0; i < 64; ++i) values[i] = i;
    cudaMalloc3DArray(&array, &channels, make_cudaExtent(width, height, depth), flags);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(values, width * sizeof(float), width, height);
    copy.dstArray = array, copy.extent = make_cudaExtent(width, height, depth ? depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    printf("filled: %s\n", cudaGetErrorName(cudaMemcpy3D(&copy)));
    return array;
}

int main() {
    cudaArray_t a = filled(4, 3, 0, cudaArraySurfaceLoadStore), b = filled(4, 3, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc ra = resource_of(a), rb = resource_of(b), rl = resource_of(filled(2, 2, 3, cudaArrayLayered));
    cudaResourceDesc rc = resource_of(filled(2, 2, 6, cudaArrayCubemap));
    cudaSurfaceObject_t from, to;
    cudaTextureObject_t same, layered, cube;
    cudaTextureDesc description = {};
    float *out, host[12];
    cudaMallocManaged(&out, 16 * sizeof(float));
    cudaCreateSurfaceObject(&from, &ra), cudaCreateSurfaceObject(&to, &rb);
    cudaCreateTextureObject(&same, &ra, &description, nullptr);
    cudaCreateTextureObject(&layered, &rl, &description, nullptr);
    description.normalizedCoords = 1;
    cudaCreateTextureObject(&cube, &rc, &description, nullptr);
    write_surface<<<1, dim3(8, 8)>>>(from, 4, 3);
    transform<<<1, dim3(4, 3)>>>(from, same, to, out);
    layers<<<1, 6>>>(layered, cube, out + 2);
    printf("kernels: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy2DFromArray(host, 16, b, 0, 0, 16, 3, cudaMemcpyDeviceToHost);
    for (float value : host) printf("%g ", value);
    for (int i = 0; i < 11; ++i) printf("%s%g", i == 0 || i == 2 || i == 5 ? "\n" : " ", out[i]);
    printf("\n");
    return 0;
}
