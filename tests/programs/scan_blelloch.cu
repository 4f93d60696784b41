// Shows: Blelloch's exclusive scan, work-efficient, with padding against bank conflicts.
#include <cstdio>
#include <numeric>
#include <vector>
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)

__global__ void prescan(int *g_odata, const int *g_idata, int n) {
    extern __shared__ int temp[];
    int thid = threadIdx.x, offset = 1;
    int ai = thid, bi = thid + (n / 2);
    int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];
    for (int d = n >> 1; d > 0; d >>= 1) { // build sum in place up the tree
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0; // clear the last element
    for (int d = 1; d < n; d *= 2) {                              // traverse down tree
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += CONFLICT_FREE_OFFSET(ai);
            bi += CONFLICT_FREE_OFFSET(bi);
            int t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

int main() {
    for (int n : {2, 64, 512, 2048}) {
        std::vector<int> in(n), out(n), expected(n);
        for (int i = 0; i < n; i++) in[i] = (i * 37 + 11) % 23;
        std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0);
        int *d_in, *d_out;
        cudaMalloc(&d_in, n * sizeof(int)), cudaMalloc(&d_out, n * sizeof(int));
        cudaMemcpy(d_in, in.data(), n * sizeof(int), cudaMemcpyHostToDevice);
        prescan<<<1, n / 2, (n + n / NUM_BANKS) * sizeof(int)>>>(d_out, d_in, n);
        cudaMemcpy(out.data(), d_out, n * sizeof(int), cudaMemcpyDeviceToHost);
        printf("%d: %d, %s\n", n, out.back(), out == expected ? "equal" : "different");
        cudaFree(d_in), cudaFree(d_out);
    }
}
