// Shows: the inclusive scan of Hillis and Steele in a block, with two buffers.
#include <stdio.h>
#include <stdlib.h>

__global__ void scan(float *g_odata, float *g_idata, int n)
{
    extern __shared__ float temp[]; // allocated on invocation
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * n + thid] = g_idata[thid];
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout; // swap double buffer indices
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}

int main()
{
    for (int n = 1; n <= 1024; n = n * 3 + 1) {
        size_t bytes = n * sizeof(float);
        float *h = (float *)malloc(bytes), *r = (float *)malloc(bytes), *in, *out;
        for (int i = 0; i < n; i++) h[i] = (float)(i % 17);
        cudaMalloc((void **)&in, bytes);
        cudaMalloc((void **)&out, bytes);
        cudaMemcpy(in, h, bytes, cudaMemcpyHostToDevice);
        scan<<<1, n, 2 * bytes>>>(out, in, n);
        cudaMemcpy(r, out, bytes, cudaMemcpyDeviceToHost);
        float sum = 0;
        int wrong = 0;
        for (int i = 0; i < n; i++) { sum += h[i]; if (r[i] != sum) wrong++; }
        printf("n = %d: last %g, wrong %d\n", n, r[n - 1], wrong);
        cudaFree(in); cudaFree(out); free(h); free(r);
    }
    return 0;
}
