// matmul "split_small": comes after "split_inside".
//
// Change  Blocks of one warpgroup, which loads, splits and multiplies, one step of 32 elements along k after another,
//         for a tile of 64 x 64. Both operands go through registers to shared memory. Four blocks share a
//         multiprocessor. Tiles may have 80 or 128 columns instead, where fewer columns are then outside C, or a
//         multiprocessor has fewer tiles. Where k is a little more than a multiple of 32, the last elements are added
//         in float32, which takes less time than another step.
// Why     "split_inside" gives each warp one task. Its pipeline has to fill first, and it leaves room for one block
//         on a multiprocessor. A product with a short k is over by then. Here one block multiplies while others load
//         or split. Sums leave the tensor cores after every 16 elements along k, before much of them is cut off.
// Claim   blocks of a multiprocessor: 4 (before: 1)
// Gain    on an H200, 256 products of 128 x 128 x 128: 25 us ("warp_tiles": 33; cuBLAS 32); 16 of 256 x 256 x 256: 14
//         us ("split_inside": 17; cuBLAS 20); 4000 x 4000 x 96: 61 us ("warp_tiles": 88; cuBLAS 92)
// Price   Each block splits all of its rows and columns, and multiplies six pairs of pieces. Sums have four roundings
//         for 64 elements of k, and one for each of the last few, so that a long k loses more than in "split_inside".
// Edges   Instead of an element outside the matrices, one inside is loaded again, but along k, A has zeros. Loads of
//         16 bytes where lines are aligned, and of single elements elsewhere. A tile that cannot be split (an element
//         is infinite, NaN or below 2^-110, or magnitudes add up to 2^60) is computed in float64.
// Map     block (x, y): the tile in row x and column y of tiles; a thread loads 16 elements of A, and as many of 64
//         columns of B, in each step; warp w: rows 16 w to 16 w + 15
// Limit   the latency of loads, the instructions that split, and the tensor cores, in turn
#ifndef CK_MATMUL_SPLIT_SMALL_CUH
#define CK_MATMUL_SPLIT_SMALL_CUH

#include "../parts/split_small_rest.cuh"
#include "../parts/split_small_stores.cuh"

namespace matmul {

// Shared memory that begins at a multiple of 1024 bytes. For narrow tiles it is static: four blocks of 48 KB, the
// most that a block can have of it, leave more for the L1 cache than with another kilobyte each, which dynamic memory
// would need for the alignment.
template <typename size, int BYTES> __device__ __forceinline__ unsigned char *shared_bytes() {
    if constexpr (size::COLUMNS == 64) {
        __shared__ __align__(1024) unsigned char bytes[BYTES];
        return bytes;
    } else {
        DYNAMIC_SHARED(unsigned char, bytes);
        return bytes + (1024 - reinterpret_cast<uintptr_t>(bytes) % 1024) % 1024;
    }
}

// ALIGNED: see split_small_step. WHOLE: all tiles and steps are inside the matrices, and pairs of results are aligned
// to 8 bytes. REST: after whole steps, a few elements along k are left (split_small_rest.cuh).
template <typename size, bool A_ALONG_K, bool B_ALONG_K, bool ALIGNED, bool WHOLE, bool REST>
__global__ void __launch_bounds__(SMALL_THREADS, size::BLOCKS) split_small(const operand_stack<float, false> stack) {
    if (!CK_HAS_WGMMA) return;
    enum { COLUMNS = size::COLUMNS, MORE = size::MORE };
    using a_step = split_small_step<0, SMALL_ROWS, A_ALONG_K, ALIGNED>;
    using b_step = split_small_step<0, 64, B_ALONG_K, ALIGNED>;
    using more_step = split_small_step<64, MORE == 16 ? 16 : 64, B_ALONG_K, ALIGNED>;
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
    more_step more(b_data + (left_columns > 64 ? 64 * op.b.column_stride : 0), b_pitch,
                   left_columns > 64 ? left_columns - 64 : left_columns);
    split_elements elements; // of both operands
    float total[size::SUMS] = {};
    const uint64_t a_first = wgmma_descriptor(pieces, BOX_BYTES);
    const uint64_t b_first = wgmma_descriptor(pieces_of_b, BOX_BYTES);
    const auto load = [&](int64_t left) { // of k, from the next step on
        const int depth = left < SMALL_STEP ? static_cast<int>(left) : SMALL_STEP;
        a.template load<WHOLE>(depth), b.template load<WHOLE>(depth);
        if (MORE > 0) more.template load<WHOLE>(depth);
    };
    const int columns = left_columns < COLUMNS ? static_cast<int>(left_columns) : COLUMNS;
    const int depth = REST ? static_cast<int>(op.k % SMALL_STEP) : 0; // of the rest
    const int64_t steps_end = op.k - depth;
    if (WHOLE || REST || op.k > 0) load(steps_end);
    split_small_rest<size> rest;
    if (REST) rest.load(op, first, depth, a.extent, columns);
    int half = 0;
#pragma unroll 1 // (much of the time of a short kernel is that of loading its instructions)
    for (int64_t k = 0; k < steps_end; k += SMALL_STEP, half ^= 1) {
        // (Clearing A is enough: what B has there is a copy of an element inside, and if that is infinite or NaN, the
        // tile is computed in float64 anyway.)
        if (!WHOLE && !REST && steps_end - k < SMALL_STEP) a.clear(static_cast<int>(steps_end - k));
        a.template split<a_pieces::PIECE>(elements, pieces, half);
        b.template split<b_pieces::PIECE>(elements, pieces_of_b, half);
        if (MORE > 0) more.template split<b_pieces::PIECE>(elements, pieces_of_b, half);
        if (k + SMALL_STEP < steps_end) load(steps_end - k - SMALL_STEP);
        fence_async_proxy(); // wgmma may read the pieces after the barrier
        __syncthreads();
        // The tensor cores cut off the bits of a sum that do not fit, more of them the larger it is: so 16 elements
        // along k have a sum of their own.
#pragma unroll
        for (int sixteen = half * 2; sixteen < half * 2 + 2; ++sixteen) {
            if (!WHOLE && !REST && k + sixteen % 2 * 16 >= steps_end) break;
            float sum[size::SUMS];
            wgmma_fence();
#pragma unroll
            for (int order = SMALL_PIECES - 1; order >= 0; --order) // the smallest products first
#pragma unroll
                for (int i = 0; i <= order; ++i) // piece i by piece order - i
                    wgmma<__nv_bfloat16, COLUMNS, !a_step::PIECES_ALONG_K, !b_step::PIECES_ALONG_K>(
                        sum, a_pieces::descriptor(a_first, i, sixteen),
                        b_pieces::descriptor(b_first, order - i, sixteen), order < SMALL_PIECES - 1 || i > 0);
            wgmma_commit();
            wgmma_wait<0>();
#pragma unroll
            for (int i = 0; i < size::SUMS; ++i) total[i] += sum[i];
        }
    }
    if (REST) {
        __syncthreads(); // all products are done
        rest.add(total, reinterpret_cast<float *>(pieces), depth, elements);
    }
    store_small<size, WHOLE>(op, first, a.extent, columns, total, reinterpret_cast<float *>(pieces));
    // Elements that three pieces do not hold, or sums that might overflow. Several threads split each row or column,
    // so the block decides. (The magnitudes are not finite if an element is not.)
    const bool fails = (elements.lost & 0xffffu) != 0 || !(elements.magnitudes < 0x1p60f);
    if (__syncthreads_or(fails)) store_plain_sums<size>(op, first);
}

} // namespace matmul

#endif
