// cp.async in inline PTX, with a commit, and nothing that waits for the group.
//> x = ck.asarray(floats(32)); y = ck.empty(32, "f4"); kernel[1, 32](x, y)
//= np.testing.assert_array_equal(y.get(), x.get()[np.arange(32) ^ 5])
__global__ void wrong(const float *x, float *y) {
    __shared__ float tile[32];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    const float *from = x + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory"); //! asynchronous
    asm volatile("cp.async.commit_group;" ::: "memory");
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x ^ 5]; //! asynchronous
}

__global__ void right(const float *x, float *y) {
    __shared__ float tile[32];
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x]));
    const float *from = x + threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x ^ 5];
}
