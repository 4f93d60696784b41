// matmul "few_rows": comes after "warp_tiles_split_k".
//
// Change  For a C of at most 16 rows (or columns). Each thread computes all rows of its columns, so that each element
//         of B is read once, without tiles. A's few rows are in shared memory. Different warps and blocks compute
//         different parts of k; a second kernel adds those of the blocks. B's loads carry a hint (ld.global.cs) that
//         each element is read once. The L2 cache then replaces these lines first, and not lines that were written
//         and would have to go to memory.
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

// Loads neighboring columns of COUNT rows of B, every APART-th one from `many` on; `inside` of these rows are inside
// the matrix, the others are zeros. `columns`: those inside the matrix, from the first one on. (Every load is
// unconditional where all are, so that all begin at once.)
template <int APART, bool TOGETHER, bool CHECK, typename T, int COUNT>
__device__ __forceinline__ void load_across(few_elements<T> (&x)[COUNT], const few_operands<T> &op, const T *many,
                                            int columns, int inside) {
    constexpr int WIDTH = few_at_once(sizeof(T));
    int64_t at[WIDTH] = {};
    if (!TOGETHER) {
        recompute_from(columns); // (registers are worth more where they are not needed)
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) at[j] = (j < columns ? j : columns - 1) * op.many_line;
    }
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const T *const row = many + i * APART * op.many_k;
        if (CHECK && i >= inside) {
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) x[i].set(j, number_cast<T>(0.0f));
        } else if (TOGETHER) {
            x[i].load(row);
        } else {
#pragma unroll
            for (int j = 0; j < WIDTH; ++j) x[i].set(j, __ldcs(row + at[j]));
        }
    }
}

// LINES: columns of a block. GROUPS: rows of B that the lanes of a warp load at once.
template <typename T, int ROWS, int LINES>
__global__ void __launch_bounds__(LINES == FEW_NARROW ? FEW_NARROW_THREADS : FEW_ACROSS_THREADS,
                                  LINES == FEW_NARROW ? 2 : few_blocks(false, ROWS, sizeof(T)))
    few_across(const operand_stack<T, false> stack, bool columns, const group_sums sums) {
    enum {
        THREADS = LINES == FEW_NARROW ? FEW_NARROW_THREADS : FEW_ACROSS_THREADS,
        WARPS = THREADS / 32,
        WIDTH = few_at_once(sizeof(T)),
        LANES = LINES / WIDTH,
        GROUPS = 32 / LANES,
        STEP = GROUPS * FEW_LOADS,
        DEPTH = WARPS * STEP,
        AT_ONCE = ROWS < 16 / WIDTH ? ROWS : 16 / WIDTH
    };
    let_next_grid_begin();
    __shared__ float few[DEPTH][ROWS];
    __shared__ float4 parts[WARPS][AT_ONCE][LINES / 4];
    const few_operands<T> op(stack.of_block(), columns, sums, ROWS, LINES);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int group = lane / LANES, line = op.block * LINES + lane % LANES * WIDTH;
    // Outside C, the last column is loaded again: a load without a condition can begin early.
    const int first = line < op.lines ? line : op.lines - 1;
    const T *many = op.many + first * op.many_line + (op.begin + warp * STEP + group) * op.many_k;
    const bool together = op.many_line == 1 && first + WIDTH <= op.lines && op.many_k % WIDTH == 0 &&
                          reinterpret_cast<uintptr_t>(op.many + first) % 16 == 0;
    float sum[ROWS][WIDTH] = {};
    for (int k = op.begin + warp * STEP; k < op.end; k += DEPTH, many += DEPTH * op.many_k) {
        few_elements<T> x[FEW_LOADS];
        if (k + STEP > op.end)
            load_across<GROUPS, false, true>(x, op, many, op.lines - first,
                                             (op.end - k - group + GROUPS - 1) / GROUPS);
        else if (together)
            load_across<GROUPS, true, false>(x, op, many, op.lines - first, FEW_LOADS);
        else
            load_across<GROUPS, false, false>(x, op, many, op.lines - first, FEW_LOADS);
        __syncwarp(); // the elements of the last step have been read
        for (int i = lane; i < STEP * ROWS; i += 32) {
            const int row = i % ROWS, deeper = i / ROWS;
            few[warp * STEP + deeper][row] =
                row < op.rows && k + deeper < op.end
                    ? number_cast<float>(op.few[row * op.few_line + (k + deeper) * op.few_k])
                    : 0;
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < FEW_LOADS; ++i)
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const float a = few[warp * STEP + i * GROUPS + group][row];
#pragma unroll
                for (int j = 0; j < WIDTH; ++j) sum[row][j] += a * x[i][j];
            }
    }
    // The sums of the lanes that have the same columns.
#pragma unroll
    for (int lanes = LANES; lanes < 32; lanes *= 2)
#pragma unroll
        for (int i = 0; i < ROWS * WIDTH; ++i)
            sum[i / WIDTH][i % WIDTH] += __shfl_xor_sync(0xffffffffu, sum[i / WIDTH][i % WIDTH], lanes);
            // The sums of the warps: some rows at once, of which each thread adds one or two elements.
#pragma unroll
    for (int row = 0; row < ROWS; row += AT_ONCE) {
        if (row > 0) __syncthreads(); // those before have been read
        if (group == 0)
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i)
#pragma unroll
                for (int j = 0; j < WIDTH; j += 4)
                    parts[warp][i][lane * (WIDTH / 4) + j / 4] =
                        make_float4(sum[row + i][j], sum[row + i][j + 1], sum[row + i][j + 2], sum[row + i][j + 3]);
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < AT_ONCE * LINES; i += THREADS) {
            float total = 0;
#pragma unroll
            for (int other = 0; other < WARPS; ++other) total += reinterpret_cast<const float *>(parts[other])[i];
            op.store(row + i / LINES, op.block * LINES + i % LINES, total);
        }
    }
}

} // namespace matmul

#endif
