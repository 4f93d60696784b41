// matmul "split_inside": comes after "split_bf16".
//
// Change  The kernel itself splits the elements into three pieces of bfloat16, whose sum is exactly the element. Rows
//         of A go from memory to registers, where they are split, and wgmma takes their pieces from there; other
//         warpgroups split columns of B on their way to shared memory. Blocks may divide k, as in
//         "warp_tiles_split_k". If C has few rows, C^T is computed: they are then the columns of tiles, which may
//         have 128, 64 or 32.
// Why     "split_bf16" writes the pieces to memory before its product begins, in launches of their own. This takes
//         longer than the product itself if k or C is small. bfloat16 has the exponents of float32, so that no scales
//         are needed.
// Claim   bytes of global memory for each element of A and B: 4 in each block that uses it (before: 10 for the
//         pieces, and 6 in each block)
// Gain    on an H200, 32 x 4096 x 4096: 37 us ("split_bf16": 158; cuBLAS 48); 512 x 512 x 512: 13 us (25; 17)
// Price   An element is split again in each block that needs it, and every product takes six.
// Edges   Elements outside along k are zeros; rows and columns outside are the last ones again, and are not stored.
//         Any strides. If a block meets an element that is infinite, NaN, or so small that three pieces do not hold
//         it (below 2^-110), or if a product might overflow, it computes its tile again in float64, which is slow.
// Map     cluster c: group c % groups of tile c / groups; block r of it: part group * parts + r of the slabs, and
//         then some rows of the tile. blockIdx.z: the product. One or two warpgroups split columns, two others have
//         64 rows each
// Limit   few rows: the latency of memory; otherwise the instructions that split (about seven for an element), which
//         compete with wgmma for the registers
#ifndef CK_MATMUL_SPLIT_INSIDE_CUH
#define CK_MATMUL_SPLIT_INSIDE_CUH

#include "../parts/split_sums.cuh"
#include "../parts/plain_sums.cuh"
#include "../parts/split_columns.cuh"
#include "../parts/split_inside_slabs.cuh"
#include "../parts/split_operands.cuh" // the choice of "split_fp16"
#include "../parts/split_inside_sums.cuh"

namespace matmul {

template <typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    split_inside(const operand_stack<float, false> stack, const group_sums sums_of_groups, const unsigned *findings) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin(); // add_groups, which waits
    if (findings) {        // as a step of "split_fp16": it has computed the product, unless its check failed
        wait_for_grid_before();
        if (choice_of(findings[blockIdx.z]) == SPLIT_IN_FP16) return;
    }
    constexpr int ROWS = size::ROWS, COLUMNS = size::COLUMNS, SUMS = COLUMNS / 2;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[size::STAGES], empty[size::STAGES], turn[2], checked;
    // The bits of what bounds the magnitudes of A and B: integers have the same order.
    __shared__ int failed, largest[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < size::STAGES; ++i)
            mbarrier_init(&full[i], size::SPLITTERS / 32), mbarrier_init(&empty[i], size::CONSUMERS * 4);
        for (mbarrier &each : turn) mbarrier_init(&each, 4); // warps
        mbarrier_init(&checked, size::SPLITTERS / 32);
        failed = largest[0] = largest[1] = 0;
    }
    __syncthreads();

    operands<float, false> op = stack.of_block();
    const int parts = cluster_size(), rank = cluster_rank(), groups = sums_of_groups.groups;
    const int cluster = static_cast<int>(blockIdx.x) / parts, group = cluster % groups;
    const tile_origin first = tile_of_block<ROWS, COLUMNS>(op.m, op.n, static_cast<unsigned>(cluster / groups));

    // This block's part of k: whole slabs.
    const int slabs_of_k = static_cast<int>((op.k + SLAB_DEPTH - 1) / SLAB_DEPTH), part = group * parts + rank;
    const int each = slabs_of_k / (groups * parts), more = slabs_of_k % (groups * parts);
    // (The first ones have one more.)
    const int slabs = each + (part < more ? 1 : 0);
    const int64_t begin = static_cast<int64_t>(part * each + (part < more ? part : more)) * SLAB_DEPTH;
    op.a.data += begin * op.a.column_stride, op.b.data += begin * op.b.row_stride;
    const int64_t depth = static_cast<int64_t>(slabs) * SLAB_DEPTH;
    op.k = begin + depth < op.k ? depth : op.k - begin;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == size::STAGES) stage = 0, round ^= 1;
    };

    const auto report = [&](const split_elements &elements, int &largest_of_operand) {
        if ((elements.lost & 0xffffu) != 0) atomicExch(&failed, 1);
        atomicMax(&largest_of_operand, __float_as_int(elements.magnitudes));
    };
    if (threadIdx.x < size::SPLITTERS) {
        give_up_registers<size::SPLITTER_REGISTERS>();
        const int first_column = static_cast<int>(threadIdx.x) / 128 * size::SPLIT_WIDTH; // of the warpgroup
        split_columns<size::SPLIT_WIDTH, B_ALONG_K> columns(op.b, first.column + first_column, op.n, op.k);
        typename decltype(columns)::slab x;
        split_elements elements;
        if (slabs > 0) columns.load(x);
        for (int slab = 0; slab < slabs; ++slab, next_stage()) {
            mbarrier_wait(&empty[stage], round ^ 1); // at once in the first round
            columns.template store<size::B_BYTES>(x, elements,
                                                  stages + stage * size::STAGE_BYTES + first_column * SLAB_BYTES);
            fence_async_proxy(); // wgmma may read the pieces after the barrier
            __syncwarp();
            if (lane == 0) mbarrier_arrive(&full[stage]);
            if (slab + 1 < slabs) columns.load(x);
        }
        report(elements, largest[1]);
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&checked); // the consumers read these
        if (parts > 1) cluster_sync(), cluster_end();
        return;
    }

    get_registers<size::CONSUMER_REGISTERS>();
    const int thread = static_cast<int>(threadIdx.x) - size::SPLITTERS;
    const int row = thread / 32 * 16 + lane / 4 * 2, column = lane % 4 * 2; // in the tile; the thread has two rows
    split_rows<A_ALONG_K> rows(op.a, first.row + row, op.m, op.k);
    split_elements elements;
    float total[SUMS] = {};
    typename decltype(rows)::slab x;
    if (slabs > 0) rows.load(x);
    prefetched_rows<ROWS, A_ALONG_K> prefetched(op.a, first.row, op.m, thread);
    if (size::PREFETCH && slabs > 2) prefetched.load(); // slab 1
    const int warpgroup = thread / 128;
    // The sum of the groups of slabs before, to which a group's sum is added, so that it is rounded less often
    // (carried_sums.cuh). Registers have no room for it. (With a branch in a single loop, ptxas would serialize all
    // wgmma.)
    float *const before = reinterpret_cast<float *>(stages + size::STAGES * size::STAGE_BYTES) + thread;
    constexpr int APART = size::CONSUMERS * 128;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) before[i * APART] = 0;
    for (int slab = 0; slab < slabs;) {
        const int until = min(slab + GROUP_SLABS, slabs);
        for (; slab < until; ++slab, next_stage()) {
            if (size::PREFETCH && slab + 3 < slabs) prefetched.load(); // slab + 2
            unsigned pieces[size::PIECES][SPLIT_STEPS][4];
            rows.split(x, elements, pieces);
            if (slab + 1 < slabs) rows.load(x);
            mbarrier_wait(&full[stage], round);
            // The warpgroups take turns: one splits while the other one multiplies.
            mbarrier_wait(&turn[warpgroup], (slab + 1 + warpgroup) % 2);
#pragma unroll
            for (int time = 0; time < size::TIMES; ++time) {
                const int part = time * size::PARTS / size::TIMES;
                const unsigned char *const b = stages + stage * size::STAGE_BYTES + part * size::WIDTH * SLAB_BYTES;
                float sum[size::WIDTH / 2], last[size::WIDTH / 2];
                multiply_split<size>(sum, last, pieces, b, time * size::STEPS % SPLIT_STEPS);
                if (time == size::TIMES / 2 && lane == 0) mbarrier_arrive(&turn[1 - warpgroup]);
                wgmma_wait<0>();
                if (time + 1 == size::TIMES && lane == 0) mbarrier_arrive(&empty[stage]);
#pragma unroll
                for (int i = 0; i < size::WIDTH / 2; ++i)
                    total[part * (size::WIDTH / 2) + i] += size::TWO_SUMS ? sum[i] + last[i] : sum[i];
            }
        }
        if (slab == slabs) break;
#pragma unroll
        for (int i = 0; i < SUMS; ++i) before[i * APART] += total[i], total[i] = 0;
    }
    if (slabs > GROUP_SLABS) {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) total[i] += before[i * APART];
    }
    report(elements, largest[0]);
    bool fails = false;
#pragma unroll
    for (int i = 0; i < SUMS; ++i) fails = fails || total[i] != total[i]; // NaN, as pieces of an infinity are
    if (fails) atomicExch(&failed, 1);
    sync_threads_of(1, size::CONSUMERS * 128);
    mbarrier_wait(&checked, 0);
    if (failed || __int_as_float(largest[0]) * __int_as_float(largest[1]) >= 0x1p120f) {
        float plain[SUMS]; // (the compiler keeps in memory what it passes to a function)
        multiply_plainly(plain, op, first.row + row, first.column + column);
#pragma unroll
        for (int i = 0; i < SUMS; ++i) total[i] = plain[i];
    }

    store_split_sums<ROWS, COLUMNS, size::CONSUMERS * 128>(
        total, row, column, thread, reinterpret_cast<float *>(stages), rank, parts,
        sums_of_groups.target(op, group, groups), first, op.m, op.n);
}

} // namespace matmul

#endif
