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

#include "../parts/split_small_sums.cuh"
#include "device_extras.cuh"
#include "tensor_copy.cuh"

namespace matmul {

// What a kernel may assume:
//     SMALL_ANY       nothing
//     SMALL_ANY_REST  After whole steps, a few elements along k are left (split_small_rest).
//     SMALL_ALIGNED   Lines are aligned (split_small_step).
//     SMALL_WHOLE     Lines are aligned, all tiles and steps are inside the matrices, and pairs of results begin at
//                     multiples of 8 bytes.
enum { SMALL_ANY, SMALL_ANY_REST, SMALL_ALIGNED, SMALL_WHOLE };

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

// The block's product. (Instructions also come from memory, so no branch should precede the first load; and divisions
// take long.)
__device__ __forceinline__ operands<float, false> product_of_block(const operand_stack<float, false> &stack) {
    operands<float, false> op = stack.first;
    if (__builtin_expect(stack.axes <= 1, 1))
        op.skip(stack.axis[0], blockIdx.z); // zeros, if there is none
    else
        op = stack.of_block();
    return op;
}

// The products of all pairs of pieces but the smallest ones, for 16 elements along k.
template <int COLUMNS, typename a_pieces, typename b_pieces>
__device__ __forceinline__ void multiply_pieces(float (&sum)[COLUMNS / 2], const a_pieces &a, const b_pieces &b,
                                                int sixteen) {
    wgmma_fence();
#pragma unroll
    for (int order = SMALL_PIECES - 1; order >= 0; --order) // the smallest products first
#pragma unroll
        for (int i = 0; i <= order; ++i) // piece i by piece order - i
            wgmma<__nv_bfloat16, COLUMNS, !a_pieces::ALONG_K, !b_pieces::ALONG_K>(
                sum, a.descriptor(i, sixteen), b.descriptor(order - i, sixteen), order < SMALL_PIECES - 1 || i > 0);
    wgmma_commit();
    wgmma_wait<0>();
}

template <typename size, bool A_ALONG_K, bool B_ALONG_K, int MAY_ASSUME>
__global__ void __launch_bounds__(SMALL_THREADS, size::BLOCKS) split_small(const operand_stack<float, false> stack) {
    if (!CK_HAS_WGMMA) return;
    constexpr bool WHOLE = MAY_ASSUME == SMALL_WHOLE, ALIGNED = WHOLE || MAY_ASSUME == SMALL_ALIGNED;
    constexpr bool REST = MAY_ASSUME == SMALL_ANY_REST, LAST_STEP_MAY_BE_SHORT = !WHOLE && !REST;
    using a_step = split_small_step<0, SMALL_ROWS, A_ALONG_K, ALIGNED>;
    using b_step = split_small_columns<size, B_ALONG_K, ALIGNED>;
    using a_pieces = split_small_pieces<SMALL_ROWS, a_step::PIECES_ALONG_K>;
    using b_pieces = split_small_pieces<size::COLUMNS, b_step::PIECES_ALONG_K>;
    unsigned char *const bytes = shared_bytes<size, a_pieces::BYTES + b_pieces::BYTES>();
    float *const shared_sums = reinterpret_cast<float *>(bytes); // after all products

    const operands<float, false> op = product_of_block(stack);
    const small_tile tile(op.m, op.n, size::COLUMNS);
    b_step b(op.b, tile);
    a_step a(op.a.data + tile.row * op.a.row_stride, A_ALONG_K ? op.a.row_stride : op.a.column_stride, tile.rows);
    split_elements elements; // of both operands
    float total[size::SUMS] = {};
    const a_pieces pieces_of_a(bytes);
    const b_pieces pieces_of_b(bytes + a_pieces::BYTES);
    const auto load = [&](int64_t left) { // the next step, if so much of k is left
        const int depth = left < SMALL_STEP ? static_cast<int>(left) : SMALL_STEP;
        a.template load<WHOLE>(depth), b.template load<WHOLE>(depth);
    };

    const int depth_of_rest = REST ? static_cast<int>(op.k % SMALL_STEP) : 0;
    const int64_t steps_end = op.k - depth_of_rest;
    if (!LAST_STEP_MAY_BE_SHORT || op.k > 0) load(steps_end);
    split_small_rest<size> rest;
    if (REST) rest.load(op, tile, depth_of_rest);
    int half = 0; // of the memory for pieces
#pragma unroll 1  // (much of the time of a short kernel is that of loading its instructions)
    for (int64_t k = 0; k < steps_end; k += SMALL_STEP, half ^= 1) {
        // (Clearing A is enough: what B has there is a copy of an element inside, and if that is infinite or NaN, the
        // tile is computed in float64 anyway.)
        if (LAST_STEP_MAY_BE_SHORT && steps_end - k < SMALL_STEP) a.clear(static_cast<int>(steps_end - k));
        a.split(elements, pieces_of_a, half);
        b.split(elements, pieces_of_b, half);
        if (k + SMALL_STEP < steps_end) load(steps_end - k - SMALL_STEP);
        fence_async_proxy(); // wgmma may read the pieces after the barrier
        __syncthreads();
        // The tensor cores cut off the bits of a sum that do not fit, more of them the larger it is: so 16 elements
        // along k have a sum of their own.
#pragma unroll
        for (int sixteen = half * 2; sixteen < half * 2 + 2; ++sixteen) {
            if (LAST_STEP_MAY_BE_SHORT && k + sixteen % 2 * 16 >= steps_end) break;
            float sum[size::SUMS];
            multiply_pieces<size::COLUMNS>(sum, pieces_of_a, pieces_of_b, sixteen);
            promote(total, sum);
        }
    }
    if (REST) rest.add(total, elements, shared_sums, depth_of_rest);
    if (WHOLE)
        store_from_registers(op.c, tile, total);
    else
        store_through_shared<size>(op.c, tile, total, shared_sums);
    if (tile_cannot_be_split(elements)) store_plain_sums<size>(op, tile);
}

} // namespace matmul

#endif
