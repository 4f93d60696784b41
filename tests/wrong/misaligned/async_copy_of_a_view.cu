// A row of a tile has 33 floats, so that the second one does not begin where 16 bytes can be copied at once.
//> x = ck.asarray(floats(64)); y = ck.empty(64, "f4")
//> kernel[1, 16](x, y)
//= np.testing.assert_array_equal(y.get(), x.get())
#include <cuda_pipeline.h>

__global__ void wrong(const float *x, float *y) {
    __shared__ __align__(16) float tile[2][33];
    int t = threadIdx.x, row = t / 8, at = t % 8 * 4;
    __pipeline_memcpy_async(&tile[row][at], x + row * 32 + at, 16); //! misaligned tile[1][0]
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i) y[row * 32 + at + i] = tile[row][at + i];
}

__global__ void right(const float *x, float *y) {
    __shared__ __align__(16) float tile[2][36];
    int t = threadIdx.x, row = t / 8, at = t % 8 * 4;
    __pipeline_memcpy_async(&tile[row][at], x + row * 32 + at, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i) y[row * 32 + at + i] = tile[row][at + i];
}
