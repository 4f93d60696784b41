// Shows: a radix sort in one block, one bit per pass: counts, a scan of them, and a stable scatter.
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <vector>

__global__ void split_pass(const unsigned *in, unsigned *out, int n, int bit) {
    __shared__ int zeros[1024];
    int t = threadIdx.x, per = (n + blockDim.x - 1) / blockDim.x, begin = min(n, t * per), end = min(n, begin + per);
    int mine = 0;
    for (int i = begin; i < end; i++) mine += !(in[i] >> bit & 1);
    zeros[t] = mine;
    __syncthreads();
    for (int d = 1; d < (int)blockDim.x; d <<= 1) {
        int v = t >= d ? zeros[t - d] : 0;
        __syncthreads();
        zeros[t] += v;
        __syncthreads();
    }
    int total = zeros[blockDim.x - 1], zero = zeros[t] - mine, one = total + begin - zero;
    for (int i = begin; i < end; i++) {
        unsigned v = in[i];
        if (v >> bit & 1) out[one++] = v;
        else out[zero++] = v;
    }
}

int main() {
    const int n = 5000;
    std::vector<unsigned> v(n);
    srand(7);
    for (auto &x : v) x = (unsigned)rand() * 3u;
    auto expected = v;
    std::sort(begin(expected), end(expected));
    unsigned *from, *to;
    cudaMalloc(&from, n * sizeof(unsigned));
    cudaMalloc(&to, n * sizeof(unsigned));
    cudaMemcpy(from, v.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    for (int bit = 0; bit < 32; bit++, std::swap(from, to)) split_pass<<<1, 1024>>>(from, to, n, bit);
    cudaMemcpy(v.data(), from, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    puts(v == expected ? "sorted" : "wrong");
    cudaFree(from);
    cudaFree(to);
    return v != expected;
}
