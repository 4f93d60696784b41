// Several edges lead to the same vertex, and their threads test and set its level at the same time.
//> edges = ck.asarray(np.stack([ints(400) % 32, ints(400) % 50], 1).astype("i4"))
//> level = ck.asarray(np.where(np.arange(50) < 32, 0, -1).astype("i4")); kernel[4, 100](edges, level, 1)
//= h = edges.get(); e = np.where(np.arange(50) < 32, 0, -1); e[[v for v in h[:, 1] if v >= 32]] = 1
//= np.testing.assert_array_equal(level.get(), e)
__global__ void wrong(const int2 *edges, int *level, int depth) {
    int2 edge = edges[blockIdx.x * blockDim.x + threadIdx.x];
    if (level[edge.x] == depth - 1 && level[edge.y] < 0) level[edge.y] = depth; //! race
}

__global__ void right(const int2 *edges, int *level, int depth) {
    int2 edge = edges[blockIdx.x * blockDim.x + threadIdx.x];
    if (atomicAdd(&level[edge.x], 0) == depth - 1) atomicCAS(&level[edge.y], -1, depth);
}
