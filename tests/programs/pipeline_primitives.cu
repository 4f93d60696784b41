// Shows: asynchronous copies into shared memory by cuda_pipeline.h's primitives, with two buffers.
#include <cstdio>
#include <cuda_pipeline.h>

constexpr int T = 64;

__global__ void sums(const int4 *in, int *out, int tiles) {
    __shared__ alignas(16) int4 buffer[2][T];
    int t = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], sizeof(int4));
    __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&buffer[(k + 1) % 2][t], &in[(k + 1) * T + t], sizeof(int4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = buffer[k % 2][T - 1 - t];
        sum += v.x + 2 * v.y + 3 * v.z + 4 * v.w;
        __syncthreads();
    }
    out[t] = sum;
}

int main() {
    const int tiles = 7, n = tiles * T * 4;
    int *in, *out, wrong = 0;
    cudaMallocManaged(&in, n * sizeof(int));
    cudaMallocManaged(&out, T * sizeof(int));
    for (int i = 0; i < n; i++) in[i] = i * 13 % 101;
    sums<<<1, T>>>(reinterpret_cast<int4 *>(in), out, tiles);
    cudaDeviceSynchronize();
    for (int t = 0; t < T; t++) {
        int sum = 0;
        for (int k = 0; k < tiles; k++)
            for (int c = 0; c < 4; c++) sum += (c + 1) * in[(k * T + T - 1 - t) * 4 + c];
        wrong += sum != out[t];
    }
    printf("%d %d, %d wrong\n", out[0], out[T - 1], wrong);
    cudaFree(in), cudaFree(out);
}
