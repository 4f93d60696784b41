// matmul "split_few_rows": comes after "split_inside".
//
// Change  For a C of at most 32 rows (or columns). The pieces are those of "split_inside", and the tensor cores are used
//         through mma.sync, whose operands are in registers. A thread loads the elements of the large operand that its
//         own fragments need, four steps of 16 along k ahead, and splits them there. Only the pieces of the small operand
//         are in shared memory, once for each block, in the order in which the fragments need them.
// Why     The limit is the time in which the large operand can be read. In "split_inside" it passes through shared memory,
//         with barriers, and loads rest while elements are split.
// Claim   barriers for each 512 elements of k: 2 (before: 2 for each 64)
// Gain    docs/speed.md
// Price   Each of the block's warps reads all pieces of the small operand from shared memory for every 16 lines. If C has
//         more than 32 rows and columns, the large operand is read once for every 32.
// Edges   as in "split_inside": elements outside along k are zeros, and results of lines outside are not stored
// Map     If C has few rows, the kernel computes C^T. cluster c: group c % groups of the 128 lines c / groups; block r of it:
//         part group * parts + r of the slabs. Warp w: lines 16 w to 16 w + 15. blockIdx.z: the product
// Limit   the memory's bandwidth
#ifndef CK_MATMUL_SPLIT_FEW_ROWS_CUH
#define CK_MATMUL_SPLIT_FEW_ROWS_CUH

#include "split_inside.cuh"
#include "tensor_core.cuh"

namespace matmul {

// ROWS: of C, a multiple of 8.
template <int ROWS_> struct [[gnu::visibility("default")]] split_few_size {
    enum { ROWS = ROWS_, LINES = 128, THREADS = LINES / 16 * 32, DEPTH = 512, STEPS = SLAB_DEPTH / 16 };
    enum { PIECE_WORDS = ROWS / 8 * 32 * 2, STEP_WORDS = 3 * PIECE_WORDS }; // of 16 elements along k
    enum { PIECE_BYTES = DEPTH / 16 * STEP_WORDS * 4, SUM_BYTES = ROWS * LINES * 4 };
    enum { SHARED_BYTES = 16 + (int(PIECE_BYTES) > int(SUM_BYTES) ? int(PIECE_BYTES) : int(SUM_BYTES)) };
};

// The three pieces of two elements, as pairs.
struct split_pair {
    unsigned words[3];

    __device__ __forceinline__ split_pair(float first, float second, float &largest, unsigned &lost) {
        largest = fmaxf(largest, fmaxf(fabsf(first), fabsf(second)));
#pragma unroll
        for (int piece = 0; piece < 3; ++piece) {
            const unsigned a = __float_as_uint(first), b = __float_as_uint(second);
            words[piece] = __byte_perm(a, b, 0x7632);
            first -= __uint_as_float(a & 0xffff0000u), second -= __uint_as_float(b & 0xffff0000u);
            if (piece == 2) lost |= a | b;
        }
    }
};

// A is the large operand, with m lines; B has n columns, of which a block computes ROWS. Along k, thread q of four has elements q, q + 4, q + 8 and q + 12
// of each 16, in both operands.
template <typename size>
__global__ void __launch_bounds__(size::THREADS, 2)
    split_few_rows(const operand_stack<float, false> stack, const group_sums sums_of_groups) {
    constexpr int ROWS = size::ROWS, LINES = size::LINES, TILES = ROWS / 8, STEPS = size::STEPS;
    DYNAMIC_SHARED(unsigned, shared);
    unsigned *const pieces = shared + 4;
    int &failed = *reinterpret_cast<int *>(shared), *const largest = &failed + 1; // as in "split_inside"
    if (threadIdx.x == 0) failed = largest[0] = largest[1] = 0;

    operands<float, false> op = stack.of_block();
    const int parts = cluster_size(), rank = cluster_rank(), groups = sums_of_groups.groups;
    const int cluster = static_cast<int>(blockIdx.x) / parts, group = cluster % groups;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    const int64_t blocks_of_lines = (op.m + LINES - 1) / LINES, tile = cluster / groups;
    const int64_t first_line = tile % blocks_of_lines * LINES, first_few = tile / blocks_of_lines * ROWS;
    output_matrix<float, false> c = sums_of_groups.target(op, group, groups);
    c.data += first_few * c.column_stride, op.b.data += first_few * op.b.column_stride, op.n -= first_few;

    // This block's part of k: whole slabs.
    const int64_t slabs_of_k = (op.k + SLAB_DEPTH - 1) / SLAB_DEPTH, part = group * parts + rank;
    const int64_t begin = slabs_of_k * part / (groups * parts), end = slabs_of_k * (part + 1) / (groups * parts);
    op.a.data += begin * SLAB_DEPTH * op.a.column_stride, op.b.data += begin * SLAB_DEPTH * op.b.row_stride;
    op.k = (end * SLAB_DEPTH < op.k ? end * SLAB_DEPTH : op.k) - begin * SLAB_DEPTH;
    const int depth = static_cast<int>(op.k);

    // This thread's elements of the large operand: two lines, eight further the second one. Outside, the last line is loaded again.
    const int64_t line = first_line + warp * 16 + lane / 4, last = op.m - 1;
    const float *from[2] = {op.a.data + (line < last ? line : last) * op.a.row_stride + lane % 4 * op.a.column_stride,
                            op.a.data + (line + 8 < last ? line + 8 : last) * op.a.row_stride +
                                lane % 4 * op.a.column_stride};
    const int64_t four = 4 * op.a.column_stride;
    int left = depth - lane % 4; // elements along k from the next one on that are inside
    float x[STEPS][2][4];
    const auto load_step = [&](int step) { // the next one
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int half = 0; half < 2; ++half) x[step][half][i] = i * 4 < left ? from[half][i * four] : 0;
        from[0] += 4 * four, from[1] += 4 * four, left -= 16;
    };
#pragma unroll
    for (int step = 0; step < STEPS; ++step) load_step(step);

    float sum[TILES][4], total[TILES * 4] = {}, a_largest = 0, b_largest = 0;
    unsigned lost = 0;
    for (int start = 0; start < depth; start += size::DEPTH) {
        __syncthreads(); // the pieces before have been read
        const int chunk = depth - start < size::DEPTH ? depth - start : size::DEPTH;
        const int steps = (chunk + SLAB_DEPTH - 1) / SLAB_DEPTH * STEPS;
        for (int i = thread; i < steps * TILES * 64; i += size::THREADS) { // a pair of a row of C
            const int q = i % 4, second = i / 4 % 2, g = i / 8 % 8, tile = i / 64 % TILES, step = i / 64 / TILES;
            const int row = tile * 8 + g, k = start + step * 16 + second * 8 + q;
            const float *const few = op.b.data + row * op.b.column_stride + k * op.b.row_stride;
            const bool inside = row < op.n;
            const split_pair pair(inside && k < depth ? few[0] : 0, inside && k + 4 < depth ? few[4 * op.b.row_stride] : 0,
                                  b_largest, lost);
#pragma unroll
            for (int piece = 0; piece < 3; ++piece)
                pieces[step * size::STEP_WORDS + piece * size::PIECE_WORDS + (tile * 32 + g * 4 + q) * 2 + second] =
                    pair.words[piece];
        }
        __syncthreads(); // all pieces are there
        for (int slab = 0; slab < steps / STEPS; ++slab) {
#pragma unroll
            for (int tile = 0; tile < TILES; ++tile)
#pragma unroll
                for (int i = 0; i < 4; ++i) sum[tile][i] = 0;
#pragma unroll
            for (int step = 0; step < STEPS; ++step) {
                unsigned a[3][4];
#pragma unroll
                for (int half = 0; half < 2; ++half)
#pragma unroll
                    for (int second = 0; second < 2; ++second) {
                        const float(&own)[4] = x[step][half];
                        const split_pair pair(own[second * 2], own[second * 2 + 1], a_largest, lost);
#pragma unroll
                        for (int piece = 0; piece < 3; ++piece) a[piece][second * 2 + half] = pair.words[piece];
                    }
                load_step(step); // of the slab after this one
                const unsigned *const at = pieces + (slab * STEPS + step) * size::STEP_WORDS + lane * 2;
#pragma unroll
                for (int tile = 0; tile < TILES; ++tile) {
                    unsigned b[3][2];
#pragma unroll
                    for (int piece = 0; piece < 3; ++piece) {
                        const uint2 two = *reinterpret_cast<const uint2 *>(at + piece * size::PIECE_WORDS + tile * 64);
                        b[piece][0] = two.x, b[piece][1] = two.y;
                    }
#pragma unroll
                    for (int order = 2; order >= 0; --order) // piece i by piece j, i + j = order
#pragma unroll
                        for (int i = 0; i <= order; ++i)
                            mma_m16n8k16<__nv_bfloat16>(sum[tile], a[i], b[order - i]);
                }
            }
#pragma unroll
            for (int i = 0; i < TILES * 4; ++i) total[i] += sum[i / 4][i % 4];
        }
    }

    bool fails = (lost & 0xffffu) != 0;
#pragma unroll
    for (int i = 0; i < TILES * 4; ++i) fails = fails || total[i] != total[i]; // NaN, as pieces of an infinity are
    if (fails) atomicExch(&failed, 1);
    atomicMax(&largest[0], __float_as_int(a_largest)), atomicMax(&largest[1], __float_as_int(b_largest));
    __syncthreads(); // also: all pieces have been read
    const int own_line = warp * 16 + lane / 4, own_row = lane % 4 * 2;
    if (failed || __int_as_float(largest[0]) * __int_as_float(largest[1]) >= 0x1p120f) {
        float plain[TILES * 4];
        multiply_plainly(plain, op, first_line + own_line, own_row);
#pragma unroll
        for (int i = 0; i < TILES * 4; ++i) total[i] = plain[i];
    }

    float *const sums = reinterpret_cast<float *>(pieces); // a row of C after another
#pragma unroll
    for (int i = 0; i < TILES * 4; ++i)
        sums[(own_row + i / 4 * 8 + i % 2) * LINES + own_line + i / 2 % 2 * 8] = total[i];
    add_parts_of_cluster<ROWS, LINES, size::THREADS>(sums, rank, parts, thread,
                                                     output_matrix<float, false>{c.data, c.column_stride, c.row_stride},
                                                     tile_origin{0, first_line}, op.n, op.m);
}

} // namespace matmul

#endif
