// Shows: memory with three axes, copies to and from arrays, and the channels of a type.
#include <cstdio>
#include <cstring>

__global__ void read_all(cudaTextureObject_t texture, float *out) {
    out[threadIdx.y * 4 + threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

int main() {
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(), two = cudaCreateChannelDesc<uchar2>();
    printf("%d %d %d kind %d; ", one.x, one.y, one.z, one.f);
    printf("%d %d %d kind %d\n", two.x, two.y, two.z, two.f);
    cudaArray_t array, other;
    float host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, back[8] = {}, *out;
    cudaMallocArray(&array, &one, 4, 2);
    cudaMallocArray(&other, &one, 4, 2);
    cudaMemcpy2DToArray(array, 0, 0, host, 16, 16, 2, cudaMemcpyHostToDevice);
    cudaMemcpy2DArrayToArray(other, 4, 0, array, 0, 1, 12, 1, cudaMemcpyDeviceToDevice);
    cudaMemcpy2DArrayToArray(other, 0, 1, array, 0, 0, 16, 1);
    cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 4, 1);
    cudaMemcpy2DFromArray(back, 16, other, 0, 0, 16, 2, cudaMemcpyDeviceToHost);
    for (float value : back) printf("%g ", value);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    cudaMalloc(&out, sizeof back);
    read_all<<<1, dim3(4, 2)>>>(texture, out);
    cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
    for (float value : back) printf("%g ", value);
    cudaChannelFormatDesc same;
    printf("\nchannels %d", cudaGetChannelDesc(&same, array));
    printf(" of %d bits\n", same.x);

    cudaExtent extent = make_cudaExtent(5 * sizeof(int), 3, 2);
    cudaPitchedPtr volume;
    cudaMalloc3D(&volume, extent);
    cudaMemset3D(volume, 1, extent);
    cudaMemset3D(volume, 0, make_cudaExtent(2 * sizeof(int), 1, 2));
    int cells[2][3][5];
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = volume;
    copy.dstPtr = make_cudaPitchedPtr(cells, 5 * sizeof(int), 5, 3);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    printf("copy %d\n", cudaMemcpy3D(&copy));
    for (auto &plane : cells)
        for (auto &row : plane) printf("%x %x %x | ", row[0], row[1], row[2]);
    printf("\n%zu rows of %zu\n", volume.ysize, volume.xsize);
    cudaFreeArray(array), cudaFreeArray(other), cudaFree(volume.ptr), cudaFree(out);
    return 0;
}
