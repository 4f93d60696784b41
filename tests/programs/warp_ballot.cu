// Shows: ballots: the lanes that vote, ranks among them, and a compaction of a warp.
#include <stdio.h>

__device__ unsigned lanemask_lt() { return (1u << (threadIdx.x & 31)) - 1; }

__global__ void keep_odd(const int *in, int *out, int *count, unsigned *votes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    unsigned odd = __ballot_sync(0xffffffff, v & 1);
    int lane = threadIdx.x % 32, base = 0;
    if (lane == 0) {
        base = atomicAdd(count, __popc(odd));
        votes[i / 32] = odd;
    }
    base = __shfl_sync(~0u, base, 0);
    if (v & 1) out[base + __popc(odd & lanemask_lt())] = v;
}

int main()
{
    const int n = 256;
    int h[n], kept[n], count;
    unsigned votes[n / 32];
    int *in, *out, *d_count; unsigned *d_votes;
    for (int i = 0; i < n; i++) h[i] = (i * 7919 + 13) % 101;
    cudaMalloc(&in, sizeof h); cudaMalloc(&out, sizeof h);
    cudaMalloc(&d_count, sizeof count); cudaMalloc(&d_votes, sizeof votes);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(d_count, 0, sizeof count);
    keep_odd<<<n / 64, 64>>>(in, out, d_count, d_votes);
    cudaMemcpy(kept, out, sizeof h, cudaMemcpyDeviceToHost);
    cudaMemcpy(&count, d_count, sizeof count, cudaMemcpyDeviceToHost);
    cudaMemcpy(votes, d_votes, sizeof votes, cudaMemcpyDeviceToHost);
    int expected = 0; long sum = 0, expected_sum = 0;
    for (int i = 0; i < n; i++) if (h[i] & 1) { expected++; expected_sum += h[i]; }
    for (int i = 0; i < count; i++) sum += kept[i];
    printf("%d %d, %ld %ld\n", count, expected, sum, expected_sum);
    for (unsigned v : votes) printf("%08x ", v);
    printf("\n");
    cudaFree(in); cudaFree(out); cudaFree(d_count); cudaFree(d_votes);
    return count != expected;
}
