// matmul "split_small": comes after "split_inside".
//
// Change  Blocks of one warpgroup, which loads, splits and multiplies, one step of 32 elements along k after another, for a tile of
//         64 x 64. Both operands go through registers to shared memory. Four blocks share a multiprocessor.
// Why     "split_inside" gives each warp one task. Its pipeline has to fill first, and it leaves room for one block on a
//         multiprocessor. A product with a short k is over by then. Here one block multiplies while others load or split.
//         Sums leave the tensor cores after every 16 elements along k, before much of them is cut off.
// Claim   blocks of a multiprocessor: 4 (before: 1)
// Gain    on an H200, 256 products of 128 x 128 x 128: 25 us ("warp_tiles": 33; cuBLAS 32); 16 of 256 x 256 x 256: 14 us ("split_inside":
//         17; cuBLAS 20); 4000 x 4000 x 96: 61 us ("warp_tiles": 88; cuBLAS 92)
// Price   Each block splits all of its rows and columns, and multiplies six pairs of pieces. Sums have four roundings for 64
//         elements of k, so that a long k loses more than in "split_inside".
// Edges   Instead of an element outside the matrices, the nearest one inside is loaded, but along k, A has zeros. Loads of 16 bytes
//         where lines are aligned. A tile that cannot be split (an element is infinite, NaN or below 2^-110, or magnitudes add up to
//         2^60) is computed in float64.
// Map     block (x, y): the tile in row x and column y of tiles (that of block_tile.cuh, if a grid cannot have so many columns); a
//         thread loads four elements of four lines of each operand in each step; warp w: rows 16 w to 16 w + 15
// Limit   the latency of loads, the instructions that split, and the tensor cores, in turn
#ifndef CK_MATMUL_SPLIT_SMALL_CUH
#define CK_MATMUL_SPLIT_SMALL_CUH

#include "block_tile.cuh"
#include "split_small_steps.cuh"

namespace matmul {

// The tile in float64, one element after another, for a tile that cannot be split.
__device__ __forceinline__ void store_plain_sums(const operands<float, false> &op, const tile_origin &first) {
    using size = split_small_size;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < size::SIDE * size::SIDE; i += size::THREADS) {
        const int64_t row = first.row + i / size::SIDE, column = first.column + i % size::SIDE;
        if (row >= op.m || column >= op.n) continue;
        const auto a_row = op.a.row(row), b_column = op.b.column(column);
        double total = 0;
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k)
            total += static_cast<double>(a_row[k]) * static_cast<double>(b_column[k]); // the product is exact
        op.c.store(row, column, static_cast<float>(total));
    }
}

// ALIGNED: see split_small_step. WHOLE: all tiles and steps are inside the matrices, and pairs of results are aligned to 8 bytes.
template <bool A_ALONG_K, bool B_ALONG_K, bool ALIGNED, bool WHOLE>
__global__ void __launch_bounds__(split_small_size::THREADS, split_small_size::BLOCKS)
    split_small(const operand_stack<float, false> stack) {
    using size = split_small_size;
    using a_step = split_small_step<A_ALONG_K, ALIGNED>;
    using b_step = split_small_step<B_ALONG_K, ALIGNED>;
    __shared__ __align__(1024) split_small_pieces pieces[2];
    // (Instructions also come from memory, so no branch should precede the first load; and divisions take long.)
    operands<float, false> op = stack.first;
    if (__builtin_expect(stack.axes <= 1, 1))
        op.skip(stack.axis[0], blockIdx.z); // zeros, if there is none
    else
        op = stack.of_block();
    const tile_origin first = {static_cast<int64_t>(blockIdx.x) * size::SIDE,
                               static_cast<int64_t>(blockIdx.y) * size::SIDE};
    a_step a(op.a.data + first.row * op.a.row_stride, A_ALONG_K ? op.a.row_stride : op.a.column_stride,
             op.m - first.row);
    b_step b(op.b.data + first.column * op.b.column_stride, B_ALONG_K ? op.b.column_stride : op.b.row_stride,
             op.n - first.column);
    split_elements found; // of both operands
    float total[size::SUMS] = {};
    const auto load = [&](int64_t left) { // of k, from the next step on
        const int depth = left < size::STEP ? static_cast<int>(left) : size::STEP;
        a.template load<WHOLE>(depth), b.template load<WHOLE>(depth);
    };
    if (WHOLE || op.k > 0) load(op.k);
    int half = 0;
#pragma unroll 1 // (much of the time of a short kernel is that of loading its instructions)
    for (int64_t k = 0; k < op.k; k += size::STEP, half ^= 1) {
        // (Zeros in A are enough: if B has an infinity or a NaN there, so it has inside.)
        if (!WHOLE && op.k - k < size::STEP) a.clear(static_cast<int>(op.k - k));
        a.split(found, pieces[0], half), b.split(found, pieces[1], half);
        if (k + size::STEP < op.k) load(op.k - k - size::STEP);
        fence_async_proxy(); // wgmma may read the pieces after the barrier
        __syncthreads();
        // The tensor cores cut off the bits of a sum that do not fit, more of them the larger it is: so 16 elements along k have a sum of
        // their own.
#pragma unroll
        for (int sixteen = half * 2; sixteen < half * 2 + 2; ++sixteen) {
            if (!WHOLE && k + sixteen % 2 * 16 >= op.k) break;
            float sum[size::SUMS];
            wgmma_fence();
#pragma unroll
            for (int order = size::PIECES - 1; order >= 0; --order) // the smallest products first
#pragma unroll
                for (int i = 0; i <= order; ++i) // piece i by piece order - i
                    wgmma<__nv_bfloat16, size::SIDE, !a_step::PIECES_ALONG_K, !b_step::PIECES_ALONG_K>(
                        sum, a_step::descriptor(pieces[0][i], sixteen),
                        b_step::descriptor(pieces[1][order - i], sixteen), order < size::PIECES - 1 || i > 0);
            wgmma_commit();
            wgmma_wait<0>();
#pragma unroll
            for (int i = 0; i < size::SUMS; ++i) total[i] += sum[i];
        }
    }

    const int lane = static_cast<int>(threadIdx.x) % 32, row = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4,
              column = lane % 4 * 2;
    if (WHOLE || (op.c.column_stride == 1 && op.c.row_stride % 2 == 0 && op.n % 2 == 0 &&
                  reinterpret_cast<uintptr_t>(op.c.data) % 8 == 0)) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int own_row = row + half * 8;
            float *const to = op.c.data + (first.row + own_row) * op.c.row_stride + first.column + column;
            const int columns = own_row < a.extent ? b.extent - column : 0; // from the thread's first one on
#pragma unroll
            for (int i = 0; i < size::SIDE / 8; ++i)
                if (WHOLE || i * 8 < columns)
                    *reinterpret_cast<float2 *>(to + i * 8) =
                        make_float2(total[i * 4 + half * 2], total[i * 4 + half * 2 + 1]);
        }
    } else {
        // Through shared memory, so that the threads of a warp store neighbors.
        float *const sums = reinterpret_cast<float *>(&pieces);
        enum { PITCH = size::SIDE + 8 };
        static_assert(size::SIDE * PITCH * 4 <= sizeof pieces, "there is room for them");
        __syncthreads(); // all products are done
#pragma unroll
        for (int i = 0; i < size::SUMS; i += 2)
            *reinterpret_cast<float2 *>(sums + (row + i / 2 % 2 * 8) * PITCH + column + i / 4 * 8) =
                make_float2(total[i], total[i + 1]);
        __syncthreads();
        const int first_row = static_cast<int>(threadIdx.x) / size::SIDE,
                  own_column = static_cast<int>(threadIdx.x) % size::SIDE;
        float *to =
            op.c.data + (first.row + first_row) * op.c.row_stride + (first.column + own_column) * op.c.column_stride;
        const int64_t next = size::THREADS / size::SIDE * op.c.row_stride;
        if (own_column < b.extent)
#pragma unroll 4
            for (int i = first_row; i < a.extent; i += size::THREADS / size::SIDE, to += next)
                *to = sums[i * PITCH + own_column];
    }
    // Elements that three pieces do not hold, or sums that might overflow: each row or column is in eight threads. (The magnitudes are not
    // finite if an element is not.)
    const bool fails = (found.lost & 0xffffu) != 0 || !(found.magnitudes < 0x1p60f);
    if (__syncthreads_or(fails)) store_plain_sums(op, first);
}

} // namespace matmul

#endif
