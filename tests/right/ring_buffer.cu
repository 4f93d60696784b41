// A queue with four places between two producers and two consumers, all resident: a sequence number in each place.
//> x = ck.asarray(ints(24)); y = ck.zeros(100, "i4"); queue = ck.empty(4, "i4")
//> turns = ck.asarray(np.arange(4, dtype="u4")); ends = ck.zeros(2, "u4")
//> kernel(4, 32, x, y, queue, turns, ends, cooperative=True)
//= np.testing.assert_array_equal(y.get(), np.bincount(x.get(), minlength=100))
__global__ void right(const int *x, int *y, int *queue, unsigned *turns, unsigned *ends) {
    if (threadIdx.x != 0) return;
    bool produces = blockIdx.x < 2;
    for (int i = 0; i < 12; ++i) {
        unsigned ticket = atomicAdd(&ends[produces ? 0 : 1], 1u), place = ticket % 4;
        unsigned awaited = produces ? ticket : ticket + 1;
        while (atomicAdd(&turns[place], 0u) != awaited) __nanosleep(50);
        __threadfence();
        if (produces)
            queue[place] = x[12 * blockIdx.x + i];
        else
            atomicAdd(&y[queue[place]], 1);
        __threadfence();
        atomicExch(&turns[place], produces ? ticket + 1 : ticket + 4);
    }
}
