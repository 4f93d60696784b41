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

#include "cluster.cuh"
#include "device_extras.cuh"
#include "mbarrier.cuh"
#include "tensor_copy.cuh"
#include "../parts/split_findings.cuh"
#include "../parts/split_inside_tiles.cuh"

namespace matmul {

// What a block's threads share, besides the pieces of columns.
template <int STAGES> struct inside_shared {
    mbarrier full[STAGES], empty[STAGES]; // of each stage
    mbarrier turn[2]; // of the warpgroups that multiply: one splits while the other one multiplies
    mbarrier checked; // the columns
    // Whether the tile cannot be split; and the bits of what bounds the magnitudes of A and B: integers have the same
    // order.
    int failed, largest[2];

    template <typename size> __device__ __forceinline__ void begin() { // for one thread
        for (int i = 0; i < STAGES; ++i)
            mbarrier_init(&full[i], size::SPLITTERS / 32), mbarrier_init(&empty[i], size::CONSUMERS * 4);
        for (mbarrier &each : turn) mbarrier_init(&each, 4); // warps
        mbarrier_init(&checked, size::SPLITTERS / 32);
        failed = largest[0] = largest[1] = 0;
    }
    // `operand`: 0 for A, 1 for B.
    __device__ __forceinline__ void report(const split_elements &elements, int operand) {
        if ((elements.lost & 0xffffu) != 0) atomicExch(&failed, 1);
        atomicMax(&largest[operand], __float_as_int(elements.magnitudes));
    }
    __device__ __forceinline__ bool cannot_be_split() const {
        return failed || __int_as_float(largest[0]) * __int_as_float(largest[1]) >= 0x1p120f;
    }
};

// Makes the operands those of one of `parts` parts of k, and returns how many slabs it has: whole ones, and the first
// parts have one more.
__device__ __forceinline__ int take_part_of_k(operands<float, false> &op, int part, int parts) {
    const int all = static_cast<int>((op.k + SLAB_DEPTH - 1) / SLAB_DEPTH), each = all / parts, more = all % parts;
    const int slabs = each + (part < more ? 1 : 0);
    const int64_t begin = static_cast<int64_t>(part * each + (part < more ? part : more)) * SLAB_DEPTH;
    op.a.data += begin * op.a.column_stride, op.b.data += begin * op.b.row_stride;
    const int64_t depth = static_cast<int64_t>(slabs) * SLAB_DEPTH;
    op.k = begin + depth < op.k ? depth : op.k - begin;
    return slabs;
}

// A warpgroup that splits columns for the others: loads and splits one slab after another.
template <typename size, bool ALONG_K>
__device__ __forceinline__ void split_all_columns(inside_shared<size::STAGES> &shared, unsigned char *stages,
                                                  const operands<float, false> &op, int64_t column, int slabs) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int own = static_cast<int>(threadIdx.x) / 128 * size::SPLIT_WIDTH; // the warpgroup's first column
    split_columns<size::SPLIT_WIDTH, ALONG_K> columns(op.b, column + own, op.n, op.k);
    typename decltype(columns)::slab x;
    split_elements elements;
    stage_turns<size::STAGES> at;
    if (slabs > 0) columns.load(x);
    for (int slab = 0; slab < slabs; ++slab, at.next()) {
        mbarrier_wait(&shared.empty[at.stage], at.round ^ 1); // at once in the first round
        columns.template store<size::B_BYTES>(x, elements, stages + at.stage * size::STAGE_BYTES + own * SLAB_BYTES);
        fence_async_proxy(); // wgmma may read the pieces after the barrier
        __syncwarp();
        if (lane == 0) mbarrier_arrive(&shared.full[at.stage]);
        if (slab + 1 < slabs) columns.load(x);
    }
    shared.report(elements, 1);
    __syncwarp();
    if (lane == 0) mbarrier_arrive(&shared.checked); // the consumers read what has been reported
}

// Multiplies a slab and adds its sums to `total`, one part of the columns, or one half along k, after another. The
// warpgroups take turns.
template <typename size>
__device__ __forceinline__ void
multiply_slab_of_rows(inside_shared<size::STAGES> &shared, const unsigned char *stages,
                      const stage_turns<size::STAGES> &at, int slab, int warpgroup,
                      const unsigned (&pieces)[3][SPLIT_STEPS][4], float (&total)[size::COLUMNS / 2]) {
    const bool first_lane = threadIdx.x % 32 == 0;
    mbarrier_wait(&shared.full[at.stage], at.round);
    mbarrier_wait(&shared.turn[warpgroup], (slab + 1 + warpgroup) % 2);
#pragma unroll
    for (int time = 0; time < size::TIMES; ++time) {
        const int part = time * size::PARTS / size::TIMES;
        const unsigned char *const b = stages + at.stage * size::STAGE_BYTES + part * size::WIDTH * SLAB_BYTES;
        float sum[size::WIDTH / 2], last[size::WIDTH / 2];
        multiply_split<size>(sum, last, pieces, b, time * size::STEPS % SPLIT_STEPS);
        if (time == size::TIMES / 2 && first_lane) mbarrier_arrive(&shared.turn[1 - warpgroup]);
        wgmma_wait<0>();
        if (time + 1 == size::TIMES && first_lane) mbarrier_arrive(&shared.empty[at.stage]);
#pragma unroll
        for (int i = 0; i < size::WIDTH / 2; ++i)
            total[part * (size::WIDTH / 2) + i] += size::TWO_SUMS ? sum[i] + last[i] : sum[i];
    }
}

template <int COUNT> __device__ __forceinline__ bool any_nan(const float (&total)[COUNT]) {
    bool any = false;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) any = any || total[i] != total[i];
    return any;
}

// The sums of the groups of slabs before, to which a group's sums are added, so that they are rounded less often.
// Registers have no room for them: they are in shared memory.
template <typename size> struct sums_before {
    enum { SUMS = size::COLUMNS / 2, APART = size::CONSUMERS * 128 };
    float *const own; // the thread's first one

    __device__ __forceinline__ void clear() const {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) own[i * APART] = 0;
    }
    __device__ __forceinline__ void take(float (&total)[SUMS]) const {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) own[i * APART] += total[i], total[i] = 0;
    }
    __device__ __forceinline__ void add_to(float (&total)[SUMS]) const {
#pragma unroll
        for (int i = 0; i < SUMS; ++i) total[i] += own[i * APART];
    }
};

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
    DYNAMIC_SHARED(unsigned char, dynamic);
    unsigned char *const stages = first_slab_in(dynamic);
    __shared__ inside_shared<size::STAGES> shared;
    if (threadIdx.x == 0) shared.template begin<size>();
    __syncthreads();

    operands<float, false> op = stack.of_block();
    const int parts = cluster_size(), rank = cluster_rank(), groups = sums_of_groups.groups;
    const int cluster = static_cast<int>(blockIdx.x) / parts, group = cluster % groups;
    const tile_origin first = tile_of_block<ROWS, COLUMNS>(op.m, op.n, static_cast<unsigned>(cluster / groups));
    const int slabs = take_part_of_k(op, group * parts + rank, groups * parts);
    if (threadIdx.x < size::SPLITTERS) {
        give_up_registers<size::SPLITTER_REGISTERS>();
        split_all_columns<size, B_ALONG_K>(shared, stages, op, first.column, slabs);
        if (parts > 1) cluster_sync(), cluster_end();
        return;
    }

    get_registers<size::CONSUMER_REGISTERS>();
    const int thread = static_cast<int>(threadIdx.x) - size::SPLITTERS, lane = thread % 32;
    const int row = thread / 32 * 16 + lane / 4 * 2, column = lane % 4 * 2; // in the tile; the thread has two rows
    split_rows<A_ALONG_K> rows(op.a, first.row + row, op.m, op.k);
    prefetched_rows<ROWS, A_ALONG_K> prefetched(op.a, first.row, op.m, thread);
    split_elements elements;
    stage_turns<size::STAGES> at;
    typename decltype(rows)::slab x;
    if (slabs > 0) rows.load(x);
    if (size::PREFETCH && slabs > 2) prefetched.load(); // slab 1
    float total[SUMS] = {};                             // of a group of slabs
    const sums_before<size> before{reinterpret_cast<float *>(stages + size::STAGES * size::STAGE_BYTES) + thread};
    before.clear();
    for (int slab = 0; slab < slabs;) { // (With a branch in a single loop, ptxas would serialize all wgmma.)
        const int until = min(slab + size::GROUP_SLABS, slabs);
        for (; slab < until; ++slab, at.next()) {
            if (size::PREFETCH && slab + 3 < slabs) prefetched.load(); // slab + 2
            unsigned pieces[size::PIECES][SPLIT_STEPS][4];
            rows.split(x, elements, pieces);
            if (slab + 1 < slabs) rows.load(x);
            multiply_slab_of_rows<size>(shared, stages, at, slab, thread / 128, pieces, total);
        }
        if (slab < slabs) before.take(total);
    }
    if (slabs > size::GROUP_SLABS) before.add_to(total);

    shared.report(elements, 0);
    if (any_nan(total)) atomicExch(&shared.failed, 1); // pieces of an infinity make NaN
    sync_threads_of(1, size::CONSUMERS * 128);
    mbarrier_wait(&shared.checked, 0);
    if (shared.cannot_be_split()) {
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
