// Shows: a kernel's launches that come last (cudaStreamTailLaunch), and those that may run at any time.
#include <cstdio>

__global__ void last(int *out) { out[2] = out[1] * 10; }
__global__ void add(int *out, int more) {
    if (threadIdx.x == 0) atomicAdd(&out[1], more + out[0]);
}
__global__ void parent(int *out) {
    if (threadIdx.x || blockIdx.x) return;
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
    out[0] = 3;
    add<<<1, 32>>>(out, 4);
    add<<<2, 32, 0, cudaStreamFireAndForget>>>(out, 100);
    out[3] = cudaGetLastError();
}

int main() {
    int *out;
    cudaMallocManaged(&out, 4 * sizeof *out);
    for (int i = 0; i < 4; i++) out[i] = 0;
    parent<<<2, 64>>>(out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
    cudaFree(out);
}
