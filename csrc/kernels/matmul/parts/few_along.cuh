// The kernel of "few_rows" for columns of B that are contiguous: a warp has four of them, and its lanes divide k.
#ifndef CK_MATMUL_FEW_ALONG_CUH
#define CK_MATMUL_FEW_ALONG_CUH

#include "device_extras.cuh"
#include "few_operands.cuh"

namespace matmul {

// DEPTH: elements along k of a step. A lane loads WIDTH of each CHUNK at once.
template <typename T> struct few_along_size {
    enum { DEPTH = few_along_depth(sizeof(T)), WIDTH = few_at_once(sizeof(T)), CHUNK = 32 * WIDTH };
    enum { CHUNKS = DEPTH / CHUNK };
    using slab = few_elements<T>[FEW_WARP_COLUMNS][CHUNKS];
};

// What a lane loads of B: its elements of the warp's columns. Outside C, the last column is loaded again.
template <typename T> struct few_warp_columns {
    using size = few_along_size<T>;
    const few_operands<T> &op;
    const T *first[FEW_WARP_COLUMNS]; // elements of the columns
    bool neighbors;                   // A lane has neighbors, of each chunk WIDTH, or else each 32nd element.

    __device__ __forceinline__ few_warp_columns(const few_operands<T> &op_, int column) : op(op_) {
#pragma unroll
        for (int j = 0; j < FEW_WARP_COLUMNS; ++j)
            first[j] = op.b.data + (column + j < op.columns ? column + j : op.columns - 1) * op.b.column_stride;
        neighbors = op.b.row_stride == 1 && op.b.column_stride % size::WIDTH == 0 &&
                    reinterpret_cast<uintptr_t>(op.b.data + op.begin) % 16 == 0;
    }

    // Shared memory has A's elements in such an order that those of a lane are 32 apart: where in the step element i
    // there is.
    __device__ __forceinline__ int place(int i) const {
        return neighbors ? i % 32 * size::WIDTH + i / 32 % size::WIDTH + i / size::CHUNK * size::CHUNK : i;
    }

    // Begins the loads of the step from k on. Elements outside are zeros.
    __device__ __forceinline__ void load(typename size::slab &b, int k, int lane) const {
        const bool all = k + size::DEPTH <= op.end;
#pragma unroll
        for (int j = 0; j < FEW_WARP_COLUMNS; ++j)
#pragma unroll
            for (int i = 0; i < size::CHUNKS; ++i) {
                if (neighbors && all) {
                    b[j][i].load(first[j] + k + i * size::CHUNK + lane * size::WIDTH);
                } else {
#pragma unroll
                    for (int own = 0; own < size::WIDTH; ++own) {
                        const int at = k + place((i * size::WIDTH + own) * 32 + lane);
                        const T read = __ldcs(first[j] + (at < op.end ? at : op.end - 1) * op.b.row_stride);
                        b[j][i].set(own, at < op.end ? read : static_cast<T>(0.0f));
                    }
                }
            }
    }

    // Copies A's elements of the step to shared memory.
    template <int ROWS> __device__ __forceinline__ void share(float (&a)[ROWS][size::DEPTH], int k) const {
        for (int i = static_cast<int>(threadIdx.x); i < ROWS * size::DEPTH; i += FEW_THREADS)
            a[i / size::DEPTH][i % size::DEPTH] = op.element_of_a(i / size::DEPTH, k + place(i % size::DEPTH));
    }
};

template <typename T, int ROWS>
__device__ __forceinline__ void
multiply_along(float (&sum)[ROWS][FEW_WARP_COLUMNS], const float (&a)[ROWS][few_along_size<T>::DEPTH],
               const few_elements<T> (&b)[FEW_WARP_COLUMNS][few_along_size<T>::CHUNKS], int lane) {
    enum { WIDTH = few_along_size<T>::WIDTH };
#pragma unroll
    for (int i = 0; i < few_along_size<T>::DEPTH / 32; ++i)
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const float element = a[row][i * 32 + lane];
#pragma unroll
            for (int j = 0; j < FEW_WARP_COLUMNS; ++j) sum[row][j] += element * b[j][i / WIDTH][i % WIDTH];
        }
}

// Adds the sums of all lanes, each of which stores a few.
template <typename T, int ROWS>
__device__ __forceinline__ void
store_sums_of_lanes(const few_operands<T> &op, const float (&sum)[ROWS][FEW_WARP_COLUMNS], int column, int lane) {
#pragma unroll
    for (int row = 0; row < ROWS; ++row)
#pragma unroll
        for (int j = 0; j < FEW_WARP_COLUMNS; ++j) {
            float total = sum[row][j];
#pragma unroll
            for (int lanes = 16; lanes > 0; lanes /= 2) total += __shfl_xor_sync(0xffffffffu, total, lanes);
            if (lane == (row * FEW_WARP_COLUMNS + j) % 32) op.store(row, column + j, total);
        }
}

template <typename T, int ROWS>
__global__ void __launch_bounds__(FEW_THREADS)
    few_along(const operand_stack<T, false> stack, const group_sums sums_of_groups) {
    using size = few_along_size<T>;
    let_next_grid_begin();
    __shared__ float shared_a[ROWS][size::DEPTH];
    const few_operands<T> op(stack.of_block(), sums_of_groups, ROWS, few_columns(true, sizeof(T)));
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int column = (op.block * (FEW_THREADS / 32) + warp) * FEW_WARP_COLUMNS; // the warp's first one
    const few_warp_columns<T> columns(op, column);
    float sum[ROWS][FEW_WARP_COLUMNS] = {};
    for (int k = op.begin; k < op.end; k += size::DEPTH) {
        typename size::slab b;
        columns.load(b, k, lane);
        __syncthreads(); // A's elements of the last step have been read
        columns.share(shared_a, k);
        __syncthreads();
        multiply_along<T>(sum, shared_a, b, lane);
    }
    store_sums_of_lanes(op, sum, column, lane);
}

} // namespace matmul

#endif
