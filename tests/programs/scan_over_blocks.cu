// Shows: a prefix sum over many blocks: scan the blocks, scan their sums, add them.
#include <cstdio>
#include <vector>

constexpr int B = 128;

__global__ void scan_block(const long long *in, long long *out, long long *sums, int n) {
    __shared__ long long s[B];
    int t = threadIdx.x, i = blockIdx.x * B + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < B; d *= 2) {
        long long v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
    if (t == B - 1) sums[blockIdx.x] = s[t];
}

__global__ void add_sums(long long *out, const long long *sums, int n) {
    int i = (blockIdx.x + 1) * B + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}

void scan(const long long *in, long long *out, int n) {
    int blocks = (n + B - 1) / B;
    long long *sums;
    cudaMalloc(&sums, blocks * sizeof(long long));
    scan_block<<<blocks, B>>>(in, out, sums, n);
    if (blocks > 1) {
        scan(sums, sums, blocks);
        add_sums<<<blocks - 1, B>>>(out, sums, n);
    }
    cudaFree(sums);
}

int main() {
    const int n = 40000;
    std::vector<long long> h(n), r(n);
    for (int i = 0; i < n; i++) h[i] = (i * 48271ll) % 65537 - 1000;
    long long *in, *out, sum = 0;
    cudaMalloc(&in, n * sizeof(long long));
    cudaMalloc(&out, n * sizeof(long long));
    cudaMemcpy(in, h.data(), n * sizeof(long long), cudaMemcpyHostToDevice);
    scan(in, out, n);
    cudaMemcpy(r.data(), out, n * sizeof(long long), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += r[i] != (sum += h[i]);
    printf("%lld %lld, %d wrong\n", r[n - 1], sum, wrong);
    cudaFree(in);
    cudaFree(out);
}
