// wait_prior<1> waits for all copies but the last one. The sum needs both.
//> a, b = ck.asarray(floats(128)), ck.asarray(floats(128)); y = ck.empty(128, "f4"); kernel[2, 64](a, b, y)
//= h = (a.get() * b.get()).reshape(2, 64)[:, ::-1]; np.testing.assert_allclose(y.get().reshape(2, 64), h, rtol=1e-6)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

__global__ void wrong(const float *a, const float *b, float *y) {
    __shared__ __align__(16) float a_tile[64], b_tile[64];
    auto block = cg::this_thread_block();
    int first = blockIdx.x * 64, t = threadIdx.x;
    cg::memcpy_async(block, a_tile, a + first, sizeof a_tile);
    cg::memcpy_async(block, b_tile, b + first, sizeof b_tile); //! asynchronous
    cg::wait_prior<1>(block);
    y[first + t] = a_tile[63 - t] * b_tile[63 - t]; //! asynchronous
}

__global__ void right(const float *a, const float *b, float *y) {
    __shared__ __align__(16) float a_tile[64], b_tile[64];
    auto block = cg::this_thread_block();
    int first = blockIdx.x * 64, t = threadIdx.x;
    cg::memcpy_async(block, a_tile, a + first, sizeof a_tile);
    cg::memcpy_async(block, b_tile, b + first, sizeof b_tile);
    cg::wait_prior<0>(block);
    y[first + t] = a_tile[63 - t] * b_tile[63 - t];
}
