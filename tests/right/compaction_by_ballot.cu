// Compaction that keeps the order within a block: ballots, counts of the warps, one atomic operation per block.
//> x = ck.asarray(ints(1000)); y = ck.empty(1000, "i4"); count = ck.zeros(1, "i4"); kernel[4, 256](x, y, count, 1000)
//= h = x.get(); n = int(count[0].get()); np.testing.assert_array_equal(np.sort(y.get()[:n]), np.sort(h[h > 60]))
__global__ void right(const int *x, int *y, int *count, int n) {
    __shared__ int starts[8], first;
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int value = i < n ? x[i] : 0;
    bool is_kept = value > 60;
    unsigned kept = __ballot_sync(0xffffffff, is_kept);
    if (lane == 0) starts[warp] = __popc(kept);
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int &start : starts) {
            int size = start;
            start = sum;
            sum += size;
        }
        first = atomicAdd(count, sum);
    }
    __syncthreads();
    if (is_kept) y[first + starts[warp] + __popc(kept & ((1u << lane) - 1))] = value;
}
