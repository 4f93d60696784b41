// Shows: odd-even transposition sort in one block, until no exchange happens.
#include <cstdio>
#include <algorithm>
#include <vector>

__global__ void odd_even(int *data, int n, int *rounds) {
    extern __shared__ int s[];
    __shared__ bool changed;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = data[i];
    int done = 0, round = 0;
    while (done < 2) {
        __syncthreads();
        if (threadIdx.x == 0) changed = false;
        __syncthreads();
        for (int i = 2 * threadIdx.x + (round & 1); i + 1 < n; i += 2 * blockDim.x)
            if (s[i] > s[i + 1]) {
                int t = s[i];
                s[i] = s[i + 1], s[i + 1] = t;
                changed = true;
            }
        __syncthreads();
        done = changed ? 0 : done + 1;
        ++round;
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = s[i];
    if (threadIdx.x == 0) *rounds = round;
}

int main() {
    for (int n : {1, 2, 37, 500}) {
        std::vector<int> v(n);
        for (int i = 0; i < n; i++) v[i] = (n - i) * 31 % 97;
        std::vector<int> expected = v;
        std::sort(expected.begin(), expected.end());
        int *d, rounds;
        cudaMalloc(&d, (n + 1) * sizeof(int));
        cudaMemcpy(d, v.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        odd_even<<<1, 64, n * sizeof(int)>>>(d, n, d + n);
        cudaMemcpy(v.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(&rounds, d + n, sizeof(int), cudaMemcpyDeviceToHost);
        printf("%d: %s, %s\n", n, v == expected ? "sorted" : "wrong", rounds <= n + 2 ? "in time" : "too late");
        cudaFree(d);
    }
}
