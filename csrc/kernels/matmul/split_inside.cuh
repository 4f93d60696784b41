// matmul "split_inside": comes after "split_bf16".
//
// Change  The kernel itself splits the elements, on their way from global to shared memory: into three pieces of bfloat16,
//         whose sum is exactly the element. Two warpgroups load and split, and two others multiply.
//         Blocks may divide k, as in "warp_tiles_split". If C has few rows, C^T is computed: they are then the columns of
//         tiles.
// Why     "split_bf16" writes the pieces to memory before its product begins, in launches of their own. This takes longer
//         than the product itself if k or C is small. bfloat16 has the exponents of float32, so that no scales are needed.
// Claim   bytes of global memory for each element of A and B: 4 in each block that uses it (before: 10 for the pieces,
//         and 6 in each block)
// Gain    on an H200, 128 x 4096 x 4096: 64 us (before: 157; cuBLAS 96); 1024 x 1024 x 1024: 36 us (40; 64)
// Price   An element is split again in each block that needs it, and every product takes six.
// Edges   Elements outside the matrices are zeros. Any strides. If a block meets an element that is infinite, NaN, or so
//         small that three pieces do not hold it (below 2^-109), or if a product might overflow, it computes its tile
//         again in float32, which is slow.
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of the slabs, and then
//         some rows of the tile. blockIdx.z: the product. Warpgroups 0 and 1 split, 2 and 3 multiply 64 rows each
// Limit   the instructions that split: about 13 for an element
#ifndef CK_MATMUL_SPLIT_INSIDE_CUH
#define CK_MATMUL_SPLIT_INSIDE_CUH

#include "add_groups.cuh"
#include "split_copies.cuh"
#include "split_fp16.cuh" // the products of the pieces, and the choice

namespace matmul {

template <int COLUMNS_> struct [[gnu::visibility("default")]] split_inside_size {
    using T = __nv_bfloat16;
    enum { PIECES = 3, ROWS = 128, COLUMNS = COLUMNS_, STAGES = 2, CONSUMERS = ROWS / 64 };
    enum {
        SPLITTERS = STAGES * 128,
        THREADS = SPLITTERS + CONSUMERS * 128
    }; // SPLITTERS: threads, a warpgroup per stage
    enum { SPLITTER_REGISTERS = 104, CONSUMER_REGISTERS = 152 };
    enum { A_BYTES = ROWS * SLAB_BYTES, B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * (A_BYTES + B_BYTES), SHARED_BYTES = 1024 + STAGES * STAGE_BYTES };
    static_assert(ROWS * COLUMNS * 4 <= STAGES * STAGE_BYTES, "the sums take the place of the pieces");
};
using split_inside_128 = split_inside_size<128>;
using split_inside_64 = split_inside_size<64>;

// The sums of a thread in float32, element after element, for what cannot be split.
template <int COUNT>
__device__ __noinline__ void multiply_plainly(float (&total)[COUNT], const operands<float, false> &op, int64_t row,
                                              int64_t column) {
    const auto at_most = [](int64_t i, int64_t count) {
        return i < count ? i : count - 1;
    }; // the others are not stored
#pragma unroll
    for (int i = 0; i < COUNT; ++i) total[i] = 0;
    const auto above = op.a.row(at_most(row, op.m)), below = op.a.row(at_most(row + 8, op.m));
#pragma unroll 1
    for (int64_t k = 0; k < op.k; ++k) {
        const float a[2] = {above[k], below[k]};
#pragma unroll
        for (int i = 0; i < COUNT; ++i)
            total[i] += a[i / 2 % 2] * op.b.column(at_most(column + i / 4 * 8 + i % 2, op.n))[k];
    }
}

template <typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    split_inside(const operand_stack<float, false> stack, const group_sums sums_of_groups, const unsigned *findings) {
    let_next_grid_begin(); // add_groups, which waits
    if (findings) {        // as a step of "split_fp16": it has computed the product, unless its check failed
        wait_for_grid_before();
        if (choice_of(findings[blockIdx.z]) == SPLIT_IN_FP16) return;
    }
    constexpr int ROWS = size::ROWS, COLUMNS = size::COLUMNS, PIECES = size::PIECES, SUMS = COLUMNS / 2;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[size::STAGES], empty[size::STAGES], checked;
    __shared__ int failed, largest[2]; // the bits of the largest magnitudes of A and B: integers have the same order
    if (threadIdx.x == 0) {
        for (int i = 0; i < size::STAGES; ++i)
            mbarrier_init(&full[i], size::SPLITTERS / 32), mbarrier_init(&empty[i], size::CONSUMERS * 4);
        mbarrier_init(&checked, size::SPLITTERS / 32);
        failed = largest[0] = largest[1] = 0;
    }
    __syncthreads();

    operands<float, false> op = stack.of_block();
    const int parts = cluster_size(), rank = cluster_rank(), groups = sums_of_groups.groups;
    const int cluster = static_cast<int>(blockIdx.x) / parts, group = cluster % groups;
    const tile_origin first = tile_of_block<ROWS, COLUMNS>(op.m, op.n, static_cast<unsigned>(cluster / groups));

    // This block's part of k: whole slabs.
    const int64_t slabs_of_k = (op.k + SLAB_DEPTH - 1) / SLAB_DEPTH, part = group * parts + rank;
    const int64_t begin = slabs_of_k * part / (groups * parts), end = slabs_of_k * (part + 1) / (groups * parts);
    op.a.data += begin * SLAB_DEPTH * op.a.column_stride, op.b.data += begin * SLAB_DEPTH * op.b.row_stride;
    op.k = (end * SLAB_DEPTH < op.k ? end * SLAB_DEPTH : op.k) - begin * SLAB_DEPTH;
    const int slabs = static_cast<int>(end - begin), lane = static_cast<int>(threadIdx.x) % 32;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == size::STAGES) stage = 0, round ^= 1;
    };

    if (threadIdx.x < size::SPLITTERS) {
        give_up_registers<size::SPLITTER_REGISTERS>();
        split_copies<ROWS, A_ALONG_K> from_a(op.a.data + first.row * op.a.row_stride, op.a.row_stride,
                                             op.a.column_stride, op.m - first.row, op.k);
        split_copies<COLUMNS, B_ALONG_K> from_b(op.b.data + first.column * op.b.column_stride, op.b.column_stride,
                                                op.b.row_stride, op.n - first.column, op.k);
        if (slabs > 0) from_a.load(), from_b.load();
        for (int slab = 0; slab < slabs; ++slab, next_stage()) {
            unsigned char *const to = stages + stage * size::STAGE_BYTES;
            mbarrier_wait(&empty[stage], round ^ 1); // at once in the first round
            from_a.template store<size::A_BYTES>(to);
            from_b.template store<size::B_BYTES>(to + PIECES * size::A_BYTES);
            fence_async_proxy(); // wgmma may read the pieces after the barrier. (The fence waits for loads, too.)
            __syncwarp();
            if (lane == 0) mbarrier_arrive(&full[stage]);
            if (slab + 1 < slabs) from_a.load(), from_b.load();
        }
        if (((from_a.lost | from_b.lost) & 0xffffu) != 0) atomicExch(&failed, 1);
        atomicMax(&largest[0], __float_as_int(from_a.largest)),
            atomicMax(&largest[1], __float_as_int(from_b.largest));
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&checked); // the consumers read these
        if (parts > 1) cluster_sync(), cluster_sync();
        return;
    }

    get_registers<size::CONSUMER_REGISTERS>();
    const int thread = static_cast<int>(threadIdx.x) - size::SPLITTERS, warpgroup = thread / 128, t = thread % 128;
    float sum[SUMS] = {}, total[SUMS] = {};
    for (int slab = 0; slab < slabs; ++slab, next_stage()) {
        const unsigned char *const from = stages + stage * size::STAGE_BYTES;
        mbarrier_wait(&full[stage], round);
        multiply_pieces<size>(sum, from + warpgroup * 64 * SLAB_BYTES, from + PIECES * size::A_BYTES);
        wgmma_wait<0>();
        if (lane == 0) mbarrier_arrive(&empty[stage]);
#pragma unroll
        for (int i = 0; i < SUMS; ++i) total[i] += sum[i];
    }
    bool fails = false;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) fails = fails || total[i] != total[i]; // NaN, as pieces of an infinity are
    if (fails) atomicExch(&failed, 1);
    sync_threads_of(1, size::CONSUMERS * 128);
    mbarrier_wait(&checked, 0);
    const int row = warpgroup * 64 + t / 32 * 16 + t % 32 / 4, column = t % 4 * 2; // in the tile
    if (failed || __int_as_float(largest[0]) * __int_as_float(largest[1]) >= 0x1p120f) {
        float plain[SUMS]; // (the compiler keeps in memory what it passes to a function)
        multiply_plainly(plain, op, first.row + row, first.column + column);
#pragma unroll
        for (int i = 0; i < SUMS; ++i) total[i] = plain[i];
    }

    const output_matrix<float, false> to = sums_of_groups.target(op, group, groups);
    if (parts == 1) {
#pragma unroll
        for (int i = 0; i < SUMS / 2; ++i)
            store_pair(to, first.row + row + i % 2 * 8, first.column + column + i / 2 * 8, op.m, op.n, total[i * 2],
                       total[i * 2 + 1]);
        return;
    }
    float *const sums = reinterpret_cast<float *>(stages); // a row of the tile after another
#pragma unroll
    for (int i = 0; i < SUMS / 2; ++i)
        *reinterpret_cast<float2 *>(sums + (row + i % 2 * 8) * COLUMNS + column + i / 2 * 8) =
            make_float2(total[i * 2], total[i * 2 + 1]);
    add_parts_of_cluster<ROWS, COLUMNS, size::CONSUMERS * 128>(sums, rank, parts, thread, to, first, op.m, op.n);
}

} // namespace matmul

#endif
