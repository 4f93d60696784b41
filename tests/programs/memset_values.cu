// Shows: cudaMemset of bytes, its asynchronous form, and parts of an allocation.
#include <stdio.h>
#include <string.h>

int main(void) {
    unsigned char h[64];
    int i;
    unsigned char *d;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc((void **)&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    cudaMemset(d + 3, 0x1ab, 10);
    cudaMemsetAsync(d + 20, -1, 4, s);
    cudaMemset2DAsync(d + 32, 8, 7, 3, 4, s);
    cudaMemset(d, 5, 0);
    cudaStreamSynchronize(s);
    memset(h, 9, sizeof h);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (i = 0; i < 64; i++) printf("%02x%s", h[i], i % 16 == 15 ? "\n" : " ");
    cudaFree(d);
    cudaStreamDestroy(s);
    return 0;
}
