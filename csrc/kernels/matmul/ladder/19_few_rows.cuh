// matmul "few_rows": comes after "warp_tiles_split_k".
//
// Change  For a C of at most 16 rows (or columns: then C^T = B^T A^T is computed). Each thread computes all rows of
//         its columns, so that each element of B is read once, without tiles. A's few rows are in shared memory.
//         Different warps and blocks compute different parts of k; a second kernel adds those of the blocks
//         (add_groups.cuh). B's loads carry a hint (ld.global.cs) that each element is read once. The L2 cache then
//         replaces these lines first, and not lines that were written and would have to go to memory.
// Why     A tile of 64 x 64 computes 64 rows, but C has only 1 to 16. With so few rows, the limit is the time in
//         which B can be read.
// Claim   multiply-adds for m = 16, n = k = 4096: 16 n k (before: 64 n k)
// Gain    on an H200, 8 x 4096 x 4096: 26 us ("warp_tiles_split_k": 77; cuBLAS 46); without the hint, 29 us, and when
//         each lane loaded 4 bytes instead of 16, 37 us; 1 x 4096 x 4096 in float16: 15.5 us ("wgmma_split_k": 19;
//         cuBLAS 18), in float32: 23 us (cuBLAS 23; with a second kernel, 24)
// Price   If C has more than 16 rows and columns, B is read once for every 16 rows, and because of the hint mostly
//         from memory.
// Edges   columns and rows outside C are not stored; k is divided into parts of any length
// Map     few_across, for contiguous rows of B: lane l of block x: columns 128 x + 4 l to 128 x + 4 l + 3, or 256 x +
//         8 l to 256 x + 8 l + 7 of 16 bits; warps divide k. If there is one row and there are enough columns, block
//         x has columns 32 x to 32 x + 31 and all of k, which its lanes divide, too. few_along, for contiguous
//         columns of B: warp w: columns 16 x + 4 w to 16 x + 4 w + 3; its lanes divide k. blockIdx.y: the part of k;
//         blockIdx.z: the product
// Limit   the memory's bandwidth, up to about eight rows; then the multiply-adds. (Alone, a loop that reads the 64 MB
//         of B takes 21 us.)
#ifndef CK_MATMUL_FEW_ROWS_CUH
#define CK_MATMUL_FEW_ROWS_CUH

#include "../parts/few_along.cuh"
#include "../parts/few_operands.cuh"

namespace matmul {

// A lane has WIDTH neighboring columns: LANES of them have a row of the block, and the GROUPS of a warp as many rows.
// STEP: rows of B that a warp loads at once. DEPTH: those of a block. blocks(): those of a multiprocessor.
template <typename T, int COLUMNS> struct few_across_size {
    enum { NARROW = COLUMNS == FEW_NARROW, THREADS = NARROW ? FEW_NARROW_THREADS : FEW_ACROSS_THREADS };
    enum { WARPS = THREADS / 32, WIDTH = few_at_once(sizeof(T)), LANES = COLUMNS / WIDTH, GROUPS = 32 / LANES };
    enum { STEP = GROUPS * FEW_LOADS, DEPTH = WARPS * STEP };

    static constexpr int blocks(int rows) { return NARROW ? 2 : few_blocks(false, rows, sizeof(T)); }
};

// What a lane loads of B. Outside C, the last column is loaded again: a load without a condition can begin early.
template <typename T, typename size> struct few_lane_columns {
    const few_operands<T> &op;
    const T *next;  // the first element of the next step
    int group;      // the lane's first row of a step
    int inside;     // columns inside the matrix, from the first one on
    bool neighbors; // whose elements may be loaded at once

    __device__ __forceinline__ few_lane_columns(const few_operands<T> &op_, int first_k, int lane_group, int column)
        : op(op_), group(lane_group) {
        const int first = column < op.columns ? column : op.columns - 1;
        next = op.b.data + first * op.b.column_stride + (first_k + group) * op.b.row_stride;
        inside = op.columns - first;
        neighbors = op.b.column_stride == 1 && first + size::WIDTH <= op.columns &&
                    op.b.row_stride % size::WIDTH == 0 && reinterpret_cast<uintptr_t>(op.b.data + first) % 16 == 0;
    }

    // Begins the loads of the step that begins with row k of B.
    __device__ __forceinline__ void load(few_elements<T> (&b)[FEW_LOADS], int k) {
        if (k + size::STEP > op.end)
            load_singles<true>(b, (op.end - k - group + size::GROUPS - 1) / size::GROUPS);
        else if (neighbors)
            load_neighbors(b);
        else
            load_singles<false>(b, FEW_LOADS);
        next += size::DEPTH * op.b.row_stride;
    }
    __device__ __forceinline__ void load_neighbors(few_elements<T> (&b)[FEW_LOADS]) const {
#pragma unroll
        for (int i = 0; i < FEW_LOADS; ++i) b[i].load(next + i * size::GROUPS * op.b.row_stride);
    }
    // `rows` of them are inside the matrix; the others are zeros.
    template <bool CHECK> __device__ __forceinline__ void load_singles(few_elements<T> (&b)[FEW_LOADS], int rows) {
        recompute_from(inside); // (the distances of columns would take registers from the loop)
        int64_t at[size::WIDTH];
#pragma unroll
        for (int j = 0; j < size::WIDTH; ++j) at[j] = (j < inside ? j : inside - 1) * op.b.column_stride;
#pragma unroll
        for (int i = 0; i < FEW_LOADS; ++i) {
            const T *const row = next + i * size::GROUPS * op.b.row_stride;
            if (CHECK && i >= rows) {
#pragma unroll
                for (int j = 0; j < size::WIDTH; ++j) b[i].set(j, static_cast<T>(0.0f));
            } else {
#pragma unroll
                for (int j = 0; j < size::WIDTH; ++j) b[i].set(j, __ldcs(row + at[j]));
            }
        }
    }
};

// Copies A's elements of a warp's step, from k on, to shared memory.
template <int STEP, int ROWS, typename T>
__device__ __forceinline__ void share_step(float (*a)[ROWS], const few_operands<T> &op, int k, int lane) {
    for (int i = lane; i < STEP * ROWS; i += 32) {
        const int row = i % ROWS, deeper = i / ROWS;
        a[deeper][row] = op.element_of_a(row, k + deeper);
    }
}

// Multiplies what the lane has loaded: rows of B that are GROUPS apart.
template <int GROUPS, typename T, int ROWS, int WIDTH>
__device__ __forceinline__ void multiply_across(float (&sum)[ROWS][WIDTH], const float (*a)[ROWS],
                                                const few_elements<T> (&b)[FEW_LOADS]) {
#pragma unroll
    for (int i = 0; i < FEW_LOADS; ++i)
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const float element = a[i * GROUPS][row];
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) sum[row][j] += element * b[i][j];
        }
}

// Adds the sums of the lanes that have the same columns.
template <int LANES, int ROWS, int WIDTH>
__device__ __forceinline__ void add_groups_of_lanes(float (&sum)[ROWS][WIDTH]) {
#pragma unroll
    for (int lanes = LANES; lanes < 32; lanes *= 2)
#pragma unroll
        for (int i = 0; i < ROWS * WIDTH; ++i)
            sum[i / WIDTH][i % WIDTH] += __shfl_xor_sync(0xffffffffu, sum[i / WIDTH][i % WIDTH], lanes);
}

// Adds the sums of the warps and stores them: AT_ONCE rows at once, of which each thread adds one or two elements.
template <typename size, typename T, int ROWS, int AT_ONCE, int FOURS>
__device__ __forceinline__ void store_sums_of_warps(const few_operands<T> &op, const float (&sum)[ROWS][size::WIDTH],
                                                    float4 (&shared)[size::WARPS][AT_ONCE][FOURS], int warp,
                                                    int lane) {
    enum { WIDTH = size::WIDTH, COLUMNS = FOURS * 4 };
#pragma unroll
    for (int row = 0; row < ROWS; row += AT_ONCE) {
        if (row > 0) __syncthreads(); // those before have been read
        if (lane < size::LANES)
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i)
#pragma unroll
                for (int j = 0; j < WIDTH; j += 4)
                    shared[warp][i][lane * (WIDTH / 4) + j / 4] =
                        make_float4(sum[row + i][j], sum[row + i][j + 1], sum[row + i][j + 2], sum[row + i][j + 3]);
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < AT_ONCE * COLUMNS; i += size::THREADS) {
            float total = 0;
#pragma unroll
            for (int other = 0; other < size::WARPS; ++other)
                total += reinterpret_cast<const float *>(shared[other])[i];
            op.store(row + i / COLUMNS, op.block * COLUMNS + i % COLUMNS, total);
        }
    }
}

template <typename T, int ROWS, int COLUMNS>
__global__ void __launch_bounds__(few_across_size<T, COLUMNS>::THREADS, few_across_size<T, COLUMNS>::blocks(ROWS))
    few_across(const operand_stack<T, false> stack, const group_sums sums_of_groups) {
    using size = few_across_size<T, COLUMNS>;
    enum { STEP = size::STEP, AT_ONCE = ROWS < 16 / size::WIDTH ? ROWS : 16 / size::WIDTH };
    let_next_grid_begin();
    __shared__ float shared_a[size::DEPTH][ROWS];
    __shared__ float4 shared_sums[size::WARPS][AT_ONCE][COLUMNS / 4];
    const few_operands<T> op(stack.of_block(), sums_of_groups, ROWS, COLUMNS);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / size::LANES, first = op.begin + warp * STEP;
    few_lane_columns<T, size> columns(op, first, group, op.block * COLUMNS + lane % size::LANES * size::WIDTH);
    float sum[ROWS][size::WIDTH] = {};
    for (int k = first; k < op.end; k += size::DEPTH) {
        few_elements<T> b[FEW_LOADS];
        columns.load(b, k);
        __syncwarp(); // A's elements of the last step have been read
        share_step<STEP>(&shared_a[warp * STEP], op, k, lane);
        __syncwarp();
        multiply_across<size::GROUPS>(sum, &shared_a[warp * STEP + group], b);
    }
    add_groups_of_lanes<size::LANES>(sum);
    store_sums_of_warps<size>(op, sum, shared_sums, warp, lane);
}

} // namespace matmul

#endif
