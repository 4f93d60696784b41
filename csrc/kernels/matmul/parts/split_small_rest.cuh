// The last one to four elements along k in "split_small", if k is that much more than a multiple of 32 and lines are
// not aligned: they are added in float32. (Aligned lines along k have at least four more, and another step takes no
// longer. So bits depend on the alignment there.)
#ifndef CK_MATMUL_SPLIT_SMALL_REST_CUH
#define CK_MATMUL_SPLIT_SMALL_REST_CUH

#include "block_tile.cuh"
#include "split_small_steps.cuh"

namespace matmul {

// SMALL_REST: the most. A thread loads some of them, and all threads share them in shared memory.
enum { SMALL_REST = 4 };
template <typename size> struct split_small_rest {
    enum { A_EACH = SMALL_ROWS * SMALL_REST / SMALL_THREADS };
    enum { B_EACH = (size::COLUMNS * SMALL_REST + SMALL_THREADS - 1) / SMALL_THREADS };
    float a[A_EACH] = {}, b[B_EACH] = {};

    // Begins the loads of the last `depth` elements of each row and column; outside, there are zeros.
    __device__ __forceinline__ void load(const operands<float, false> &op, const tile_origin &first, int depth,
                                         int rows, int columns) {
        const int t = static_cast<int>(threadIdx.x);
        const float *const from_a = op.a.data + first.row * op.a.row_stride + (op.k - depth) * op.a.column_stride;
        const float *const from_b = op.b.data + first.column * op.b.column_stride + (op.k - depth) * op.b.row_stride;
#pragma unroll
        for (int i = 0; i < A_EACH; ++i) {
            const int row = (t + i * SMALL_THREADS) % SMALL_ROWS, k = (t + i * SMALL_THREADS) / SMALL_ROWS;
            a[i] = row < rows && k < depth ? __ldg(from_a + row * op.a.row_stride + k * op.a.column_stride) : 0;
        }
#pragma unroll
        for (int i = 0; i < B_EACH; ++i) {
            const int column = (t + i * SMALL_THREADS) % size::COLUMNS, k = (t + i * SMALL_THREADS) / size::COLUMNS;
            b[i] =
                column < columns && k < depth ? __ldg(from_b + k * op.b.row_stride + column * op.b.column_stride) : 0;
        }
    }

    // Adds their products. All threads are done with `shared`.
    __device__ __forceinline__ void add(float (&total)[size::SUMS], float *shared, int depth,
                                        split_elements &elements) {
        float *const shared_b = shared + SMALL_ROWS * SMALL_REST;
        const int t = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int i = 0; i < A_EACH; ++i) elements.magnitudes += fabsf(a[i]), shared[t + i * SMALL_THREADS] = a[i];
#pragma unroll
        for (int i = 0; i < B_EACH; ++i) elements.magnitudes += fabsf(b[i]), shared_b[t + i * SMALL_THREADS] = b[i];
        __syncthreads();
        const int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
#pragma unroll 1
        for (int k = 0; k < depth; ++k) {
            const float above = shared[k * SMALL_ROWS + row], below = shared[k * SMALL_ROWS + row + 8];
#pragma unroll
            for (int i = 0; i < size::SUMS / 4; ++i) {
                const float2 two = *reinterpret_cast<const float2 *>(shared_b + k * size::COLUMNS + column + i * 8);
                float *const four = &total[i * 4];
                four[0] = fmaf(above, two.x, four[0]), four[1] = fmaf(above, two.y, four[1]);
                four[2] = fmaf(below, two.x, four[2]), four[3] = fmaf(below, two.y, four[3]);
            }
        }
    }
};

} // namespace matmul

#endif
