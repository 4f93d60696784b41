// All passes of a radix sort by one block, one bit at a time: ranks from a scan of the zeros.
//> x = ck.asarray(ints(200).astype("u4")); y = ck.empty(200, "u4"); kernel[1, 200](x, y, 7)
//= np.testing.assert_array_equal(y.get(), np.sort(x.get()))
__global__ void right(const unsigned *x, unsigned *y, int bits) {
    __shared__ unsigned keys[256], zeros[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned key = x[t];
    for (int bit = 0; bit < bits; ++bit) {
        bool is_zero = !(key >> bit & 1);
        unsigned mask = __ballot_sync(__activemask(), is_zero);
        if (lane == 0) zeros[warp] = __popc(mask);
        __syncthreads();
        int before = 0, all = 0;
        for (int w = 0; w < (blockDim.x + 31) / 32; ++w) {
            if (w < warp) before += zeros[w];
            all += zeros[w];
        }
        before += __popc(mask & ((1u << lane) - 1));
        keys[is_zero ? before : all + t - before] = key;
        __syncthreads();
        key = keys[t];
    }
    y[t] = key;
}
