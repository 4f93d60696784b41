// Shows: all atomic operations on integers of 32 bits, as in the textbook sample, with a check on the host.
#include <stdio.h>
#include <stdlib.h>

__global__ void testKernel(int *g)
{
    const unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
    atomicAdd(&g[0], 10);
    atomicSub(&g[1], 10);
    atomicExch(&g[2], tid);
    atomicMax(&g[3], tid);
    atomicMin(&g[4], tid);
    atomicInc((unsigned int *)&g[5], 17);
    atomicDec((unsigned int *)&g[6], 137);
    atomicCAS(&g[7], tid - 1, tid);
    atomicAnd(&g[8], 2 * tid + 7);
    atomicOr(&g[9], 1 << (tid % 32));
    atomicXor(&g[10], tid);
}

int main(int argc, char **argv)
{
    const int numThreads = 256, numBlocks = 64, numData = 11;
    const unsigned len = numThreads * numBlocks;
    int h[numData] = {0}, *d;
    h[8] = h[10] = 0xff;
    cudaMalloc((void **)&d, sizeof(h));
    cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice);
    testKernel<<<numBlocks, numThreads>>>(d);
    cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);

    int inc = 0, dec = 0, all_and = 0xff, all_xor = 0xff;
    for (unsigned i = 0; i < len; i++) {
        inc = inc >= 17 ? 0 : inc + 1;
        dec = dec == 0 || dec > 137 ? 137 : dec - 1;
        all_and &= 2 * i + 7;
        all_xor ^= i;
    }
    bool ok = h[2] >= 0 && h[2] < (int)len && h[7] >= 0 && h[7] < (int)len;
    printf("add %d sub %d max %d min %d\n", h[0], h[1], h[3], h[4]);
    printf("inc %d (%d) dec %d (%d)\n", h[5], inc, h[6], dec);
    printf("and %d (%d) or %d xor %d (%d)\n", h[8], all_and, h[9], h[10], all_xor);
    printf("exch and cas: %s\n", ok ? "in range" : "out of range");
    cudaFree(d);
    return argc > 0 && ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
