// Shows: memory that is allocated and freed in a stream's order (cudaMallocAsync and a pool).
#include <cstdio>

__global__ void iota(int *p, int n, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = first + i;
}

int main() {
    const int n = 3000;
    static int h[n];
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    long long total = 0;
    for (int round = 0; round < 5; round++) {
        int *p;
        if (cudaMallocAsync(&p, n * sizeof(int), stream) != cudaSuccess) return 1;
        iota<<<(n + 127) / 128, 128, 0, stream>>>(p, n, round);
        cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, stream);
        cudaFreeAsync(p, stream);
        cudaStreamSynchronize(stream);
        for (int v : h) total += v;
    }
    printf("%lld\n", total);
    cudaMemPool_t pool;
    unsigned long long threshold = ~0ull, read = 0;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read);
    printf("%s\n", read == threshold ? "kept" : "changed");
    cudaStreamDestroy(stream);
}
