// Shows: a grid-stride loop, launched with several grids, also with one thread.
#include <stdio.h>
#define N 100003

__global__
void square(long long *x, int n)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    int stride = blockDim.x * gridDim.x;
    for (int i = index; i < n; i += stride)
        x[i] = (long long)i * i;
}

int main(void)
{
    static long long h[N];
    long long *x;
    int sizes[][2] = {{1, 1}, {1, 256}, {32, 128}, {1000, 64}};
    cudaMalloc(&x, sizeof(h));
    for (int s = 0; s < 4; s++) {
        cudaMemset(x, 0xff, sizeof(h));
        square<<<sizes[s][0], sizes[s][1]>>>(x, N);
        cudaMemcpy(h, x, sizeof(h), cudaMemcpyDeviceToHost);
        int errors = 0;
        for (int i = 0; i < N; i++)
            if (h[i] != (long long)i * i) errors++;
        printf("<<<%d, %d>>>: %d errors, last %lld\n", sizes[s][0], sizes[s][1], errors, h[N - 1]);
    }
    cudaFree(x);
    return 0;
}
