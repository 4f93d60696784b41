// A segmented scan of a warp: pairs of a head flag and a value, with shuffles; then carries from warp to warp.
//> x = ck.asarray(ints(128)); heads = ck.asarray((ints(128) < 15).astype("i4")); y = ck.empty(128, "i4")
//> kernel[1, 128](x, heads, y)
//= h = heads.get(); s = x.get(); e = s.copy()
//= for i in range(1, 128): e[i] += 0 if h[i] else e[i - 1]
//= np.testing.assert_array_equal(y.get(), e)
__global__ void right(const int *x, const int *heads, int *y) {
    __shared__ int2 carries[4];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, value = x[t], head = heads[t];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, d), flag = __shfl_up_sync(0xffffffff, head, d);
        if (lane >= d && !head) {
            value += other;
            head = flag;
        }
    }
    if (lane == 31) carries[warp] = make_int2(value, head);
    __syncthreads();
    int carry = 0;
    for (int w = 0; w < warp; ++w) carry = carries[w].y ? carries[w].x : carry + carries[w].x;
    y[t] = head ? value : value + carry;
}
