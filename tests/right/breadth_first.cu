// Levels of a graph in CSR form: one launch per level, places in the next frontier from a counter.
//> starts = ck.asarray(np.arange(0, 404, 4).astype("i4")); ends = ck.asarray(ints(400))
//> level = ck.asarray(np.r_[0, np.full(99, -1)].astype("i4")); f = [ck.zeros(100, "i4"), ck.zeros(100, "i4")]
//> n = 1; depth = 0
//> while n:
//>     c = ck.zeros(1, "i4"); kernel[4, 32](starts, ends, level, *f, n, c, depth + 1)
//>     n = int(c[0].get()); depth += 1; f.reverse()
//= e = np.full(100, -1); e[0] = 0; g = ends.get().reshape(100, 4)
//= for d in range(100): r = np.unique(g[e == d]); e[r[e[r] < 0]] = d + 1
//= np.testing.assert_array_equal(level.get(), e)
__global__ void right(const int *starts, const int *ends, int *level, const int *now, int *next, int n, int *count,
                      int depth) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (int e = starts[now[i]]; e < starts[now[i] + 1]; ++e)
            if (atomicCAS(&level[ends[e]], -1, depth) == -1) next[atomicAdd(count, 1)] = ends[e];
}
