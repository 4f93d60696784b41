// What "split_small" does with the sums of a tile: it adds the products of the last few elements along k, and stores
// the tile.
#ifndef CK_MATMUL_SPLIT_SMALL_SUMS_CUH
#define CK_MATMUL_SPLIT_SMALL_SUMS_CUH

#include "split_small_steps.cuh"

namespace matmul {

// The tensor cores' sums are added to those that a thread keeps.
template <int COUNT> __device__ __forceinline__ void promote(float (&total)[COUNT], const float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) total[i] += sum[i];
}

// The first of a thread's sums: it has rows `row` and `row` + 8, and of every eight columns two from `column` on.
struct small_place {
    int row = static_cast<int>(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4);
    int column = static_cast<int>(threadIdx.x % 4 * 2);
};

// The last one to four elements along k, if k is that much more than a multiple of 32 and lines are not aligned: they
// are added in float32. (Aligned lines along k have at least four more, and another step takes no longer. So bits
// depend on the alignment there.) A thread loads some of them, and all threads share them in shared memory.
enum { SMALL_REST = 4 };
template <typename size> struct split_small_rest {
    enum { A_EACH = SMALL_ROWS * SMALL_REST / SMALL_THREADS };
    enum { B_EACH = (size::COLUMNS * SMALL_REST + SMALL_THREADS - 1) / SMALL_THREADS };
    float a[A_EACH] = {}, b[B_EACH] = {};

    // Begins the loads of the last `depth` elements of each row and column.
    __device__ __forceinline__ void load(const operands<float, false> &op, const small_tile &tile, int depth) {
        const int64_t k = op.k - depth;
        load_lines<SMALL_ROWS>(a, op.a.data + tile.row * op.a.row_stride + k * op.a.column_stride, op.a.row_stride,
                               op.a.column_stride, tile.rows, depth);
        load_lines<size::COLUMNS>(b, op.b.data + tile.column * op.b.column_stride + k * op.b.row_stride,
                                  op.b.column_stride, op.b.row_stride, tile.columns, depth);
    }
    // Outside the matrix, there are zeros.
    template <int LINES, int EACH>
    static __device__ __forceinline__ void load_lines(float (&x)[EACH], const float *from, int64_t next_line,
                                                      int64_t next_k, int lines, int depth) {
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const int at = static_cast<int>(threadIdx.x) + i * SMALL_THREADS, line = at % LINES, k = at / LINES;
            x[i] = line < lines && k < depth ? __ldg(from + line * next_line + k * next_k) : 0;
        }
    }

    // Adds their products, when all others are done.
    __device__ __forceinline__ void add(float (&total)[size::SUMS], split_elements &elements, float *shared,
                                        int depth) const {
        __syncthreads();
        float *const shared_b = shared + SMALL_ROWS * SMALL_REST;
        const int t = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int i = 0; i < A_EACH; ++i) elements.magnitudes += fabsf(a[i]), shared[t + i * SMALL_THREADS] = a[i];
#pragma unroll
        for (int i = 0; i < B_EACH; ++i) elements.magnitudes += fabsf(b[i]), shared_b[t + i * SMALL_THREADS] = b[i];
        __syncthreads();
        const small_place own;
#pragma unroll 1
        for (int k = 0; k < depth; ++k) {
            const float above = shared[k * SMALL_ROWS + own.row], below = shared[k * SMALL_ROWS + own.row + 8];
#pragma unroll
            for (int i = 0; i < size::SUMS / 4; ++i) {
                const float2 two =
                    *reinterpret_cast<const float2 *>(shared_b + k * size::COLUMNS + own.column + i * 8);
                float *const four = &total[i * 4];
                four[0] = fmaf(above, two.x, four[0]), four[1] = fmaf(above, two.y, four[1]);
                four[2] = fmaf(below, two.x, four[2]), four[3] = fmaf(below, two.y, four[3]);
            }
        }
    }
};

// Writes a thread's sums to a tile in memory, two columns at once, one row after the other. (Alternating between rows
// takes half as long again.)
template <int COUNT>
__device__ __forceinline__ void write_sums(float *tile, int64_t pitch, const float (&total)[COUNT]) {
    const small_place own;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float *const to = tile + (own.row + half * 8) * pitch + own.column;
#pragma unroll
        for (int i = 0; i < COUNT / 4; ++i)
            *reinterpret_cast<float2 *>(to + i * 8) =
                make_float2(total[i * 4 + half * 2], total[i * 4 + half * 2 + 1]);
    }
}

// Stores a tile that is inside C, whose rows are contiguous.
template <int COUNT>
__device__ __forceinline__ void store_from_registers(const output_matrix<float, false> &c, const small_tile &tile,
                                                     const float (&total)[COUNT]) {
    write_sums(c.data + tile.row * c.row_stride + tile.column, c.row_stride, total);
}

// Stores the rows of a tile that are inside C from shared memory, VECTOR neighbors by each thread at once.
template <typename size, int VECTOR>
__device__ __forceinline__ void store_rows_of_tile(const output_matrix<float, false> &c, const small_tile &tile,
                                                   const float *shared) {
    using vector = std::conditional_t<VECTOR == 4, float4, float>;
    enum { ACROSS = (size::COLUMNS == 64 ? 64 : 128) / VECTOR, DOWN = SMALL_THREADS / ACROSS }; // threads
    const int column = static_cast<int>(threadIdx.x % ACROSS) * VECTOR;
    int row = static_cast<int>(threadIdx.x / ACROSS);
    float *to = c.data + (tile.row + row) * c.row_stride + (tile.column + column) * c.column_stride;
    if (column < tile.columns)
#pragma unroll 4
        for (; row < tile.rows; row += DOWN, to += DOWN * c.row_stride)
            *reinterpret_cast<vector *>(to) = *reinterpret_cast<const vector *>(shared + row * size::PITCH + column);
}

// Stores a tile, part of which may be outside C, through shared memory, so that the threads of a warp store
// neighbors.
template <typename size>
__device__ __forceinline__ void store_through_shared(const output_matrix<float, false> &c, const small_tile &tile,
                                                     const float (&total)[size::SUMS], float *shared) {
    __syncthreads(); // all products are done
    write_sums(shared, size::PITCH, total);
    __syncthreads();
    const bool fours = c.column_stride == 1 && c.row_stride % 4 == 0 && tile.columns % 4 == 0 &&
                       reinterpret_cast<uintptr_t>(c.data) % 16 == 0;
    if (fours)
        store_rows_of_tile<size, 4>(c, tile, shared);
    else
        store_rows_of_tile<size, 1>(c, tile, shared);
}

// Whether the tile must be computed in float64: elements that three pieces do not hold, or sums that might overflow.
// Several threads split each row or column, so the block decides. (The magnitudes are not finite if an element is
// not.)
__device__ __forceinline__ bool tile_cannot_be_split(const split_elements &elements) {
    return __syncthreads_or((elements.lost & 0xffffu) != 0 || !(elements.magnitudes < 0x1p60f));
}

// The tile in float64, one element after another.
template <typename size>
__device__ __forceinline__ void store_plain_sums(const operands<float, false> &op, const small_tile &tile) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < SMALL_ROWS * size::COLUMNS; i += SMALL_THREADS) {
        const int64_t row = tile.row + i / size::COLUMNS, column = tile.column + i % size::COLUMNS;
        if (row >= op.m || column >= op.n) continue;
        const auto a_row = op.a.row(row), b_column = op.b.column(column);
        double total = 0;
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k)
            total += static_cast<double>(a_row[k]) * static_cast<double>(b_column[k]); // the product is exact
        op.c.store(row, column, static_cast<float>(total));
    }
}

} // namespace matmul

#endif
