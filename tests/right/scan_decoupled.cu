// A scan in one pass: blocks draw their numbers from a counter, publish their sums with a flag, and look back.
//> x = ck.asarray(ints(1024)); y = ck.empty(1024, "i4"); state = ck.zeros(17, "i4"); sums = ck.empty((2, 16), "i4")
//> kernel[16, 64](x, y, state, sums)
//= np.testing.assert_array_equal(y.get(), np.cumsum(x.get()))
__global__ void right(const int *x, int *y, int *state, int *sums) {
    __shared__ int number, before, values[64];
    if (threadIdx.x == 0) number = atomicAdd(&state[16], 1);
    __syncthreads();
    int t = threadIdx.x, b = number, i = b * blockDim.x + t;
    values[t] = x[i];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int other = t >= d ? values[t - d] : 0;
        __syncthreads();
        values[t] += other;
        __syncthreads();
    }
    if (t == 0) {
        int own = values[63], sum = 0;
        sums[b] = own;
        __threadfence();
        atomicExch(&state[b], 1); // the block's own sum is there
        for (int j = b - 1; j >= 0; --j) {
            int flag;
            while ((flag = *static_cast<volatile int *>(&state[j])) == 0) {}
            __threadfence();
            if (flag == 2) {
                sum += sums[16 + j];
                break;
            }
            sum += sums[j];
        }
        sums[16 + b] = sum + own;
        __threadfence();
        atomicExch(&state[b], 2); // and that of all before it
        before = sum;
    }
    __syncthreads();
    y[i] = values[t] + before;
}
