// Shows: malloc, free, new and delete on the device, with a heap of a size that the host sets.
#include <cstdio>
#include <cstring>

struct Item { int value; Item *next; __device__ Item(int v, Item *n) : value(v), next(n) {} };

__global__ void mallocTest(int *ok)
{
    size_t size = 123;
    char *ptr = (char *)malloc(size);
    memset(ptr, threadIdx.x, size);
    int sum = 0;
    for (size_t i = 0; i < size; i++) sum += ptr[i];
    free(ptr);
    if (sum == 123 * (int)threadIdx.x) atomicAdd(ok, 1);
}

__global__ void shared_by_block(int *ok)
{
    __shared__ int *data;
    if (threadIdx.x == 0) data = new int[blockDim.x];
    __syncthreads();
    if (data == NULL) return;
    data[threadIdx.x] = threadIdx.x * 2;
    __syncthreads();
    if (data[blockDim.x - 1 - threadIdx.x] == int(2 * (blockDim.x - 1 - threadIdx.x))) atomicAdd(ok, 1);
    __syncthreads();
    if (threadIdx.x == 0) delete[] data;
}

__device__ Item *lists[32];
__global__ void build(int n) { for (int i = 0; i < n; i++) lists[threadIdx.x] = new Item(i * threadIdx.x, lists[threadIdx.x]); }
__global__ void consume(int *sums)
{
    int sum = 0;
    for (Item *i = lists[threadIdx.x]; i;) { sum += i->value; Item *next = i->next; delete i; i = next; }
    sums[threadIdx.x] = sum;
}

int main()
{
    int *out;
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 * 1024 * 1024);
    cudaMallocManaged(&out, 34 * sizeof(int));
    out[32] = out[33] = 0;
    mallocTest<<<2, 50>>>(out + 32);
    shared_by_block<<<4, 64>>>(out + 33);
    build<<<1, 32>>>(10);
    consume<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", out[32], out[33], out[1], out[31]);
    size_t heap = 0;
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    printf("%zu\n", heap);
    cudaFree(out);
}
