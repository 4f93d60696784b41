// Shows: any, all and the active mask in a warp, and the block's barriers that count and vote.
#include <cstdio>

__global__ void votes(int *out) {
    int t = threadIdx.x, lane = t % 32;
    int a = __any_sync(0xffffffffu, t == 40);
    int b = __all_sync(0xffffffffu, t >= 32);
    int c = 0;
    if (lane < 16) c = __all_sync(0x0000ffffu, lane < 16);
    int d = __syncthreads_count(t % 3 == 0);
    int e = __syncthreads_or(t == 63);
    int f = __syncthreads_and(t < 63);
    unsigned g = 0;
    if (lane == 5) g = __popc(__activemask() & (1u << 5));
    out[t] = a + 10 * b + 100 * c + 1000 * (e != 0) + 10000 * (f != 0) + 100000 * d + 100000000 * g;
}

int main() {
    int *out, h[64];
    cudaMalloc(&out, sizeof h);
    votes<<<1, 64>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d\n", h[0], h[5], h[31], h[32], h[63]);
    cudaFree(out);
}
