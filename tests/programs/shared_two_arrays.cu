// Shows: two arrays of different types, and a struct, in one piece of dynamic shared memory.
#include <stdio.h>

struct Header { int count; float scale; };

__global__ void twoArrays(const float *in, float *out, int nF, int nI)
{
    extern __shared__ float4 smem[];
    Header *header = (Header *)smem;
    float *floats = (float *)(header + 1);
    int *ints = (int *)&floats[nF];
    char *chars = (char *)(ints + nI);

    int t = threadIdx.x;
    if (t == 0) {
        header->count = nI;
        header->scale = 0.5f;
    }
    if (t < nF) floats[t] = in[t];
    if (t < nI) { ints[t] = nI - 1 - t; chars[t] = 'a' + t; }
    __syncthreads();
    if (t < header->count) out[t] = floats[ints[t]] * header->scale + chars[ints[t]];
}

int main()
{
    const int nF = 24, nI = 20;
    float h[nF], *in, *out;
    for (int i = 0; i < nF; i++) h[i] = 2 * i;
    cudaMalloc(&in, sizeof(h)); cudaMalloc(&out, sizeof(h));
    cudaMemcpy(in, h, sizeof(h), cudaMemcpyHostToDevice);
    twoArrays<<<1, 32, sizeof(Header) + nF * sizeof(float) + nI * sizeof(int) + nI>>>(in, out, nF, nI);
    cudaMemcpy(h, out, nI * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < nI; i += 19) printf("%g\n", h[i]);
    cudaFree(in); cudaFree(out);
    return 0;
}
