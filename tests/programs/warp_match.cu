// Shows: match_any and match_all: the lanes with an equal value work together on one atomic operation.
#include <cstdio>

__global__ void aggregate(const int *keys, int *counts, int *leaders) {
    int lane = threadIdx.x & 31, key = keys[threadIdx.x];
    unsigned peers = __match_any_sync(0xffffffff, key);
    int leader = __ffs(peers) - 1;
    if (lane == leader) {
        atomicAdd(&counts[key], __popc(peers));
        atomicAdd(leaders, 1);
    }
}
__global__ void all_equal(const long long *values, int *result) {
    int same;
    unsigned mask = __match_all_sync(~0u, values[threadIdx.x], &same);
    if (threadIdx.x == 0) result[0] = same, result[1] = mask == ~0u ? 1 : mask == 0 ? 0 : -1;
}

int main() {
    int *keys, *counts;
    long long *values;
    cudaMallocManaged(&keys, 64 * sizeof *keys);
    cudaMallocManaged(&counts, 8 * sizeof *counts);
    cudaMallocManaged(&values, 32 * sizeof *values);
    for (int i = 0; i < 64; i++) keys[i] = i * i % 5;
    for (int i = 0; i < 8; i++) counts[i] = 0;
    aggregate<<<1, 64>>>(keys, counts, counts + 7);
    cudaDeviceSynchronize();
    printf("%d %d %d %d %d, %d leaders\n", counts[0], counts[1], counts[2], counts[3], counts[4], counts[7]);
    for (int i = 0; i < 32; i++) values[i] = 1ll << 40;
    for (int round = 0; round < 2; round++) {
        all_equal<<<1, 32>>>(values, counts);
        cudaDeviceSynchronize();
        printf("%d %d\n", counts[0] != 0, counts[1]);
        values[20]++;
    }
    cudaFree(keys), cudaFree(counts), cudaFree(values);
}
