// Shows: __managed__ variables used like memory of cudaMallocManaged: copies, fills, prefetches, and by their names.
#include <cstdio>

__device__ __managed__ int counts[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__managed__ float factor = 2.5f;
static __managed__ double total;

__global__ void work() {
    counts[threadIdx.x] += (int)(factor * threadIdx.x);
    if (threadIdx.x == 0) total = factor / 2;
}

int main() {
    int host[8] = {}, first = 100;
    printf("copy %d, ", cudaMemcpy(host, counts, sizeof counts, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[7]);
    printf("fill %d, ", cudaMemset(counts, 0, sizeof counts));
    printf("copy %d\n", cudaMemcpy(&counts[3], &first, sizeof first, cudaMemcpyHostToDevice));
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    printf("prefetch %d\n", cudaMemPrefetchAsync(counts, sizeof counts, here, 0));
    work<<<1, 8>>>();
    printf("kernel %d\n", cudaDeviceSynchronize());
    for (int count : counts) printf("%d ", count);
    printf("%g\n", total);
    float other = 4;
    printf("by name %d, ", cudaMemcpyToSymbol(factor, &other, sizeof other));
    printf("factor %g\n", factor);
    void *address = nullptr;
    size_t bytes = 0;
    cudaGetSymbolAddress(&address, counts), cudaGetSymbolSize(&bytes, counts);
    printf("address %d, %zu bytes\n", address == counts, bytes);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, &factor);
    printf("type %d\n", attributes.type);
    return 0;
}
