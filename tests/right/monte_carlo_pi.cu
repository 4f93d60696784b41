// Pi by random points: a xorshift generator per thread, whose state lives in global memory between launches.
//> state = ck.asarray(1 + np.arange(256, dtype="u4") * 7919); hits = ck.zeros(1, "u8")
//> for _ in range(2): kernel[4, 64](state, hits, 100)
//= assert abs(4 * int(hits[0].get()) / 51200 - np.pi) < 0.1
__global__ void right(unsigned *state, unsigned long long *hits, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, s = state[i], count = 0;
    auto draw = [&s] {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        return s * 2.3283064e-10f;
    };
    for (int j = 0; j < n; ++j) {
        float x = draw(), y = draw();
        count += x * x + y * y < 1;
    }
    state[i] = s;
    count = __reduce_add_sync(0xffffffff, count);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, static_cast<unsigned long long>(count));
}
