// matmul "few_rows": comes after "warp_tiles_split".
//
// Change  For a C of at most 16 rows (or columns). Each thread computes all rows of its columns, so that each element
//         of B is read once, without tiles. A's few rows are in shared memory. Different warps and blocks compute different
//         parts of k; a second kernel adds those of the blocks.
//         B's loads carry a hint (ld.global.cs) that each element is read once. The L2 cache then replaces these lines first,
//         and not lines that were written and would have to go to memory.
// Why     A tile of 64 x 64 computes 64 rows, but C has only 1 to 16. With so few rows, the limit is the time in which
//         B can be read.
// Claim   multiply-adds for m = 16, n = k = 4096: 16 n k (before: 64 n k)
// Gain    on an H200, 8 x 4096 x 4096: 26 us ("warp_tiles_split": 77; cuBLAS 46); without the hint, 29 us, and when each lane
//         loaded 4 bytes instead of 16, 37 us
// Price   If C has more than 16 rows and columns, B is read once for every 16 rows, and because of the hint mostly from memory.
// Edges   columns and rows outside C are not stored; k is divided into parts of any length
// Map     few_across, for contiguous rows of B: lane l of block x: columns 128 x + 4 l to 128 x + 4 l + 3; warps divide k.
//         few_along, for contiguous columns of B: warp w: columns 16 x + 4 w to 16 x + 4 w + 3; its lanes divide k.
//         blockIdx.y: the part of k; blockIdx.z: the product
// Limit   the memory's bandwidth, up to about eight rows; then the multiply-adds. (Alone, a loop that reads the 64 MB of B
//         takes 21 us.)
#ifndef CK_MATMUL_FEW_ROWS_CUH
#define CK_MATMUL_FEW_ROWS_CUH

#include "few_along.cuh"
#include "few_operands.cuh"

namespace matmul {

// Loads four columns of COUNT rows of B, which begin at `many`; `inside` of the rows are inside the matrix, the others are zeros. (Every
// load is unconditional where all are, so that all begin at once.)
template <bool FOURS, bool CHECK, int COUNT>
__device__ __forceinline__ void load_across(float4 (&x)[COUNT], const float *many, int64_t many_k,
                                            const int64_t (&at)[4], int inside) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        x[i] = make_float4(0, 0, 0, 0);
        if (CHECK && i >= inside) continue;
        const float *const row = many + i * many_k;
        x[i] = FOURS
                   ? __ldcs(reinterpret_cast<const float4 *>(row))
                   : make_float4(__ldcs(row + at[0]), __ldcs(row + at[1]), __ldcs(row + at[2]), __ldcs(row + at[3]));
    }
}

template <int ROWS>
__global__ void __launch_bounds__(FEW_ACROSS_THREADS, ROWS < 16 ? 2 : 1)
    few_across(const operand_stack<float, false> stack, bool columns, const group_sums sums) {
    enum {
        WARPS = FEW_ACROSS_THREADS / 32,
        DEPTH = FEW_ACROSS_DEPTH,
        STEP = DEPTH / WARPS,
        AT_ONCE = ROWS < 4 ? ROWS : 4
    };
    let_next_grid_begin();
    __shared__ float few[DEPTH][ROWS];
    __shared__ float4 parts[WARPS][AT_ONCE][32];
    const few_operands op(stack.of_block(), columns, sums, ROWS, FEW_ACROSS_LINES);
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int line = op.block * FEW_ACROSS_LINES + lane * 4;
    // Outside C, the last column is loaded again: a load without a condition can begin early.
    const int first = line < op.lines ? line : op.lines - 1;
    int64_t at[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) at[j] = (first + j < op.lines ? j : op.lines - 1 - first) * op.many_line;
    const float *many = op.many + first * op.many_line + (op.begin + warp * STEP) * op.many_k;
    const bool fours = op.many_line == 1 && first + 3 < op.lines && op.many_k % 4 == 0 &&
                       reinterpret_cast<uintptr_t>(op.many + first) % 16 == 0;
    float4 sum[ROWS];
#pragma unroll
    for (int row = 0; row < ROWS; ++row) sum[row] = make_float4(0, 0, 0, 0);
    for (int k = op.begin + warp * STEP; k < op.end; k += DEPTH, many += DEPTH * op.many_k) {
        float4 x[STEP];
        if (k + STEP > op.end)
            load_across<false, true>(x, many, op.many_k, at, op.end - k);
        else if (fours)
            load_across<true, false>(x, many, op.many_k, at, STEP);
        else
            load_across<false, false>(x, many, op.many_k, at, STEP);
        __syncwarp(); // the elements of the last step have been read
        for (int i = lane; i < STEP * ROWS; i += 32) {
            const int row = i % ROWS, deeper = i / ROWS;
            few[warp * STEP + deeper][row] =
                row < op.rows && k + deeper < op.end ? op.few[row * op.few_line + (k + deeper) * op.few_k] : 0;
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < STEP; ++i)
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                const float a = few[warp * STEP + i][row];
                sum[row].x += a * x[i].x, sum[row].y += a * x[i].y, sum[row].z += a * x[i].z,
                    sum[row].w += a * x[i].w;
            }
    }
    // The sums of the warps: up to four rows at once, of which each thread adds one or two elements.
#pragma unroll
    for (int row = 0; row < ROWS; row += AT_ONCE) {
        if (row > 0) __syncthreads(); // those before have been read
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) parts[warp][i][lane] = sum[row + i];
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < AT_ONCE * FEW_ACROSS_LINES; i += FEW_ACROSS_THREADS) {
            const int own = row + i / FEW_ACROSS_LINES, to = op.block * FEW_ACROSS_LINES + i % FEW_ACROSS_LINES;
            float total = 0;
#pragma unroll
            for (int other = 0; other < WARPS; ++other) total += reinterpret_cast<const float *>(parts[other])[i];
            if (own < op.rows && to < op.lines) op.c[own * op.c_few + to * op.c_many] = total;
        }
    }
}

} // namespace matmul

#endif
