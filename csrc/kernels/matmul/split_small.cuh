// matmul "split_small": comes after "split_inside".
//
// Change  Blocks of one warpgroup, which loads, splits and multiplies, one step of 32 elements along k after another, for a tile of
//         64 x 64. Both operands go through registers to shared memory. Four blocks share a multiprocessor. Tiles may have 80 or
//         112 columns instead, where fewer columns are then outside C, or a multiprocessor has fewer tiles.
// Why     "split_inside" gives each warp one task. Its pipeline has to fill first, and it leaves room for one block on a
//         multiprocessor. A product with a short k is over by then. Here one block multiplies while others load or split.
//         Sums leave the tensor cores after every 16 elements along k, before much of them is cut off.
// Claim   blocks of a multiprocessor: 4 (before: 1)
// Gain    on an H200, 256 products of 128 x 128 x 128: 25 us ("warp_tiles": 33; cuBLAS 32); 16 of 256 x 256 x 256: 14 us ("split_inside":
//         17; cuBLAS 20); 4000 x 4000 x 96: 61 us ("warp_tiles": 88; cuBLAS 92)
// Price   Each block splits all of its rows and columns, and multiplies six pairs of pieces. Sums have four roundings for 64
//         elements of k, so that a long k loses more than in "split_inside".
// Edges   Instead of an element outside the matrices, one inside is loaded again, but along k, A has zeros. Loads of 16 bytes
//         where lines are aligned, and of single elements elsewhere. A tile that cannot be split (an element is infinite, NaN or
//         below 2^-110, or magnitudes add up to 2^60) is computed in float64.
// Map     block (x, y): the tile in row x and column y of tiles; a thread loads 16 elements of A, and as many of 64 columns of B, in each
//         step; warp w: rows 16 w to 16 w + 15
// Limit   the latency of loads, the instructions that split, and the tensor cores, in turn
#ifndef CK_MATMUL_SPLIT_SMALL_CUH
#define CK_MATMUL_SPLIT_SMALL_CUH

#include "block_tile.cuh"
#include "split_small_steps.cuh"

namespace matmul {

// BLOCKS: of a multiprocessor.
template <int COLUMNS_> struct [[gnu::visibility("default")]] split_small_size {
    enum { COLUMNS = COLUMNS_, SUMS = COLUMNS / 2, BLOCKS = COLUMNS == 64 ? 4 : COLUMNS == 80 ? 3 : 2 };
    enum { MORE = COLUMNS == 112 ? 32 : 0, LAST = COLUMNS == 64 ? 0 : 16 }; // of the columns from 64 on

    // Pieces that are not along k need most.
    static constexpr size_t dynamic_bytes() {
        using a_pieces = split_small_pieces<SMALL_ROWS, false>;
        return COLUMNS == 64 ? 0 : 1024 + a_pieces::BYTES + split_small_pieces<COLUMNS, false>::BYTES;
    }
};

// Shared memory that begins at a multiple of 1024 bytes. For narrow tiles it is static: four blocks of 48 KB leave more of a multiprocessor's
// memory for its L1 cache than with another kilobyte each, which dynamic memory would need for the alignment. A block can have at most
// 48 KB of static memory, so wider tiles use dynamic memory.
template <typename size, int BYTES> __device__ __forceinline__ unsigned char *shared_bytes() {
    if constexpr (size::COLUMNS == 64) {
        __shared__ __align__(1024) unsigned char bytes[BYTES];
        return bytes;
    } else {
        DYNAMIC_SHARED(unsigned char, bytes);
        return bytes + (1024 - reinterpret_cast<uintptr_t>(bytes) % 1024) % 1024;
    }
}

// The tile in float64, one element after another, for a tile that cannot be split.
template <int COLUMNS>
__device__ __forceinline__ void store_plain_sums(const operands<float, false> &op, const tile_origin &first) {
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < SMALL_ROWS * COLUMNS; i += SMALL_THREADS) {
        const int64_t row = first.row + i / COLUMNS, column = first.column + i % COLUMNS;
        if (row >= op.m || column >= op.n) continue;
        const auto a_row = op.a.row(row), b_column = op.b.column(column);
        double total = 0;
#pragma unroll 1
        for (int64_t k = 0; k < op.k; ++k)
            total += static_cast<double>(a_row[k]) * static_cast<double>(b_column[k]); // the product is exact
        op.c.store(row, column, static_cast<float>(total));
    }
}

// Stores a tile, `rows` x `columns` of which are inside C.
template <int COLUMNS, bool WHOLE>
__device__ __forceinline__ void store_small(const operands<float, false> &op, const tile_origin &first, int rows,
                                            int columns, const float (&total)[COLUMNS / 2], float *shared) {
    const int t = static_cast<int>(threadIdx.x), row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
    if (WHOLE || (op.c.column_stride == 1 && op.c.row_stride % 2 == 0 && op.n % 2 == 0 &&
                  reinterpret_cast<uintptr_t>(op.c.data) % 8 == 0)) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int own_row = row + half * 8;
            float *const to = op.c.data + (first.row + own_row) * op.c.row_stride + first.column + column;
            const int left = own_row < rows ? columns - column : 0; // from the thread's first one on
#pragma unroll
            for (int i = 0; i < COLUMNS / 8; ++i)
                if (WHOLE || i * 8 < left)
                    *reinterpret_cast<float2 *>(to + i * 8) =
                        make_float2(total[i * 4 + half * 2], total[i * 4 + half * 2 + 1]);
        }
        return;
    }
    // Through shared memory, so that the threads of a warp store neighbors.
    enum { PITCH = COLUMNS + 8, ACROSS = COLUMNS == 64 ? 64 : SMALL_THREADS }; // ACROSS: threads that store one row
    __syncthreads();                                                           // all products are done
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i += 2)
        *reinterpret_cast<float2 *>(shared + (row + i / 2 % 2 * 8) * PITCH + column + i / 4 * 8) =
            make_float2(total[i], total[i + 1]);
    __syncthreads();
    const int first_row = t / ACROSS, own = t % ACROSS;
    float *to = op.c.data + (first.row + first_row) * op.c.row_stride + (first.column + own) * op.c.column_stride;
    if (own < columns)
#pragma unroll 4
        for (int i = first_row; i < rows; i += SMALL_THREADS / ACROSS, to += SMALL_THREADS / ACROSS * op.c.row_stride)
            *to = shared[i * PITCH + own];
}

// ALIGNED: see split_small_step. WHOLE: all tiles and steps are inside the matrices, and pairs of results are aligned to 8 bytes.
template <typename size, bool A_ALONG_K, bool B_ALONG_K, bool ALIGNED, bool WHOLE>
__global__ void __launch_bounds__(SMALL_THREADS, size::BLOCKS) split_small(const operand_stack<float, false> stack) {
    enum { COLUMNS = size::COLUMNS, MORE = size::MORE, LAST = size::LAST };
    using a_step = split_small_step<0, SMALL_ROWS, A_ALONG_K, ALIGNED>;
    using b_step = split_small_step<0, 64, B_ALONG_K, ALIGNED>;
    using a_pieces = split_small_pieces<SMALL_ROWS, a_step::PIECES_ALONG_K>;
    using b_pieces = split_small_pieces<COLUMNS, b_step::PIECES_ALONG_K>;
    unsigned char *const pieces = shared_bytes<size, a_pieces::BYTES + b_pieces::BYTES>();
    unsigned char *const pieces_of_b = pieces + a_pieces::BYTES;
    // (Instructions also come from memory, so no branch should precede the first load; and divisions take long.)
    operands<float, false> op = stack.first;
    if (__builtin_expect(stack.axes <= 1, 1))
        op.skip(stack.axis[0], blockIdx.z); // zeros, if there is none
    else
        op = stack.of_block();
    const tile_origin first = {static_cast<int64_t>(blockIdx.x) * SMALL_ROWS,
                               static_cast<int64_t>(blockIdx.y) * COLUMNS};
    const float *const b_data = op.b.data + first.column * op.b.column_stride;
    const int64_t b_pitch = B_ALONG_K ? op.b.column_stride : op.b.row_stride, left_columns = op.n - first.column;
    a_step a(op.a.data + first.row * op.a.row_stride, A_ALONG_K ? op.a.row_stride : op.a.column_stride,
             op.m - first.row);
    b_step b(b_data, b_pitch, left_columns);
    // Of columns from 64 on, if none of them is inside, the first ones again: their results are not stored.
    const auto left_from = [&](int number) { return left_columns > number ? left_columns - number : left_columns; };
    const auto b_from = [&](int number) {
        return b_data + (left_columns > number ? number * op.b.column_stride : 0);
    };
    split_small_step<64, 32, B_ALONG_K, ALIGNED> more(b_from(64), b_pitch, left_from(64));
    split_small_step<64 + MORE, 16, B_ALONG_K, ALIGNED> last(b_from(64 + MORE), b_pitch, left_from(64 + MORE));
    split_elements found; // of both operands
    float total[size::SUMS] = {};
    const auto load = [&](int64_t left) { // of k, from the next step on
        const int depth = left < SMALL_STEP ? static_cast<int>(left) : SMALL_STEP;
        a.template load<WHOLE>(depth), b.template load<WHOLE>(depth);
        if (MORE > 0) more.template load<WHOLE>(depth);
        if (LAST > 0) last.template load<WHOLE>(depth);
    };
    if (WHOLE || op.k > 0) load(op.k);
    int half = 0;
#pragma unroll 1 // (much of the time of a short kernel is that of loading its instructions)
    for (int64_t k = 0; k < op.k; k += SMALL_STEP, half ^= 1) {
        // (Clearing A is enough: what B has there is a copy of an element inside, and if that is infinite or NaN, the tile is computed in
        // float64 anyway.)
        if (!WHOLE && op.k - k < SMALL_STEP) a.clear(static_cast<int>(op.k - k));
        a.template split<a_pieces::PIECE>(found, pieces, half);
        b.template split<b_pieces::PIECE>(found, pieces_of_b, half);
        if (MORE > 0) more.template split<b_pieces::PIECE>(found, pieces_of_b, half);
        if (LAST > 0) last.template split<b_pieces::PIECE>(found, pieces_of_b, half);
        if (k + SMALL_STEP < op.k) load(op.k - k - SMALL_STEP);
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
            for (int order = SMALL_PIECES - 1; order >= 0; --order) // the smallest products first
#pragma unroll
                for (int i = 0; i <= order; ++i) // piece i by piece order - i
                    wgmma<__nv_bfloat16, COLUMNS, !a_step::PIECES_ALONG_K, !b_step::PIECES_ALONG_K>(
                        sum, a_pieces::descriptor(pieces, i, sixteen),
                        b_pieces::descriptor(pieces_of_b, order - i, sixteen), order < SMALL_PIECES - 1 || i > 0);
            wgmma_commit();
            wgmma_wait<0>();
#pragma unroll
            for (int i = 0; i < size::SUMS; ++i) total[i] += sum[i];
        }
    }
    const int columns = left_columns < COLUMNS ? static_cast<int>(left_columns) : COLUMNS;
    store_small<COLUMNS, WHOLE>(op, first, a.extent, columns, total, reinterpret_cast<float *>(pieces));
    // Elements that three pieces do not hold, or sums that might overflow. Several threads split each row or column, so the block
    // decides. (The magnitudes are not finite if an element is not.)
    const bool fails = (found.lost & 0xffffu) != 0 || !(found.magnitudes < 0x1p60f);
    if (__syncthreads_or(fails)) store_plain_sums<COLUMNS>(op, first);
}

} // namespace matmul

#endif
