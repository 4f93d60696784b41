// Two steps of a simulation in one launch. __syncthreads() waits for the threads of the own block only, but the
// second step reads what the next block writes.
//> a = ck.asarray(floats(256)); h = a.get(); b = ck.empty(256, "f4"); c = ck.empty(256, "f4")
//> kernel(4, 64, a, b, c, cooperative=True)
//= step = lambda v: (v + np.roll(v, -1)) / 2
//= np.testing.assert_allclose(c.get(), step(step(h)), rtol=1e-5)
#include <cooperative_groups.h>

__global__ void wrong(const float *a, float *b, float *c) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = (a[i] + a[(i + 1) % n]) / 2; //! race
    __syncthreads();
    c[i] = (b[i] + b[(i + 1) % n]) / 2; //! race
}

__global__ void right(const float *a, float *b, float *c) {
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = (a[i] + a[(i + 1) % n]) / 2;
    cooperative_groups::this_grid().sync();
    c[i] = (b[i] + b[(i + 1) % n]) / 2;
}
