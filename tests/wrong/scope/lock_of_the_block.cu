// The lock guards a result of all blocks, but the fences in it have the scope of one block.
//> x = ck.asarray(floats(8)); best = ck.zeros(2, "f4"); lock = ck.zeros(1, "i4"); kernel[8, 1](x, best, lock)
//= h = x.get(); b = best.get(); assert b[0] == h.max() and h[int(b[1])] == h.max()
__global__ void wrong(const float *x, float2 *best, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence_block();                                                       //! scope
    if (x[blockIdx.x] > best->x) *best = make_float2(x[blockIdx.x], blockIdx.x); //! race
    __threadfence_block();                                                       //! scope
    atomicExch(lock, 0);
}

__global__ void right(const float *x, float2 *best, int *lock) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    if (x[blockIdx.x] > best->x) *best = make_float2(x[blockIdx.x], blockIdx.x);
    __threadfence();
    atomicExch(lock, 0);
}
