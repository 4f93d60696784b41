// matmul "split_fp16": comes after "wgmma_multicast".
//
// Change  Each float32 is scaled by a power of two and split into the sum of two float16 numbers, high + low. The
//         tensor cores add three products, low * high + high * low + high * high. (low * low is negligible.) The
//         kernel is that of "wgmma_multicast" with two changes: a stage holds all pieces of its slabs, so that each
//         is loaded once for all products; and every 32 elements of k (64 in tiles of 208 columns, from k = 1728 on),
//         the sums are promoted: scaled back and added to other sums in registers. The two warpgroups take turns; the
//         clusters stay in step and share the last tiles (split_shares.cuh).
// Why     On an H200, cuBLAS multiplies float16 on tensor cores fifteen times as fast as float32 on CUDA cores (768
//         and 51 TFLOP/s at 4096), and the product of two float16 numbers is exact. But tensor cores cut off the bits
//         of a sum that do not fit, which would cause most of the error of a long sum. An addition on a CUDA core
//         rounds to nearest; one for every 32 or 64 products is cheap, and it is a multiply-add that undoes the scale
//         at no cost.
// Claim   instructions of a warpgroup for 64 x 208 x 64 multiply-adds: 12 wgmma and 104 multiply-adds (208, if k is
//         short)
// Gain    on an H200, m = n = k = 4096: 204 to 219 TFLOP/s in float32, with the splitting (cuBLAS: 51), and a sixth
//         (normal data) to a quarter (uniform) of its error
// Price   six bytes of workspace for each element of A and B, up to 42 MB for sums of parts of tiles, and a kernel
//         that writes the pieces, which reads each element once: split_pieces.cuh, the second page of this variant.
//         Two float16 numbers have 22 bits, and elements that are much smaller than the others in their block keep
//         fewer. A check decides whether that is good enough: split_blocks.cuh.
// Edges   TMA writes zeros for elements outside the pieces. Stores check each four elements. Where the check fails,
//         or an element is infinite or NaN, "split_inside" computes the product; if it is large, "split_bf16" does
//         (and "warp_tiles" what bf16 cannot hold).
// Map     cluster c: pairs c, c + clusters, ... of tiles, one below the other, and then a share of the last ones; a
//         thread's elements: wgmma.cuh, with four neighbors of a row instead of two (split_place)
// Limit   the power limit of the chip: the tensor cores do 3 x 250 TFLOP/s at 4096
#ifndef CK_MATMUL_SPLIT_FP16_CUH
#define CK_MATMUL_SPLIT_FP16_CUH

#include "cluster.cuh"
#include "device_extras.cuh"
#include "tensor_copy.cuh"
#include "wgmma.cuh"
#include "../parts/split_tiles.cuh"

namespace matmul {

// Begins the copies of all pieces of a slab: of A, from `row` on, to this block; and this block's half of B, from
// `column` on, to both blocks of the cluster.
template <typename size>
__device__ __forceinline__ void load_pieces(const split_stages<size> &stages, const tensor_map &a_map,
                                            const tensor_map &b_map, int slab, int row, int column, int product,
                                            int rank) {
    constexpr int BOTH = (1 << SPLIT_PAIR) - 1, HALF = size::COLUMNS / SPLIT_PAIR;
    stages.wait_until_empty();
    mbarrier *const full = &stages.full[stages.own.stage];
    mbarrier_expect(full, size::STAGE_BYTES);
    tensor_load<3>(stages.a(), &a_map, full, {slab * SLAB_DEPTH, row, product * size::PIECES});
    for (int i = 0; i < size::PIECES; ++i)
        tensor_load_multicast<3>(stages.b() + i * size::B_BYTES + rank * HALF * SLAB_BYTES, &b_map, full,
                                 {slab * SLAB_DEPTH, column + rank * HALF, product * size::PIECES + i}, BOTH);
}

// The turns of the two warpgroups that multiply: one begins its products when the other one has begun its own. So
// while one promotes its sums, the tensor cores have products of the other one. (Otherwise both wait for their
// products at the same time, and then the tensor cores wait for both.) Each waits at a barrier of its own, where the
// other one arrives:
//
//     warpgroup 0    | products | promotes |  waits   | products | ...
//     warpgroup 1    |  waits   | products | promotes |  waits   | ...
struct split_turns {
    enum { FIRST = 2 };         // warpgroup 0 waits at this barrier, warpgroup 1 at the next one
    enum { THREADS = 2 * 128 }; // one warpgroup that waits, and one that arrives
    const int warpgroup;

    // A third warpgroup calls this once: warpgroup 0 may begin. (Nobody waits for the last pass().)
    static __device__ __forceinline__ void begin() { arrive_threads_of(FIRST, THREADS); }
    __device__ __forceinline__ void wait() const { sync_threads_of(FIRST + warpgroup, THREADS); }
    __device__ __forceinline__ void pass() const { arrive_threads_of(FIRST + 1 - warpgroup, THREADS); }
};

// Computes the products of the pieces in one stage: of STEPS steps of 16 elements along k at a time, and of these the
// smallest ones first, because the tensor cores cut off more bits of a larger sum. promote() takes each sum before
// the next one begins; the caller takes the last one.
template <typename size, int STEPS, typename Promote>
__device__ __forceinline__ void multiply_pieces(float (&sum)[size::COLUMNS / 2], const unsigned char *a,
                                                const unsigned char *b, const split_turns &turns, Promote promote) {
    const auto multiply = [&](int i, int j, int step, bool add) { // piece i by piece j
        wgmma<typename size::T, size::COLUMNS, false, false>(
            sum, wgmma_descriptor(a + i * size::A_BYTES + step * 32, 0),
            wgmma_descriptor(b + j * size::B_BYTES + step * 32, 0), add);
    };
#pragma unroll
    for (int first = 0; first < 4; first += STEPS) {
        if (first > 0) promote();
        turns.wait();
        wgmma_fence();
#pragma unroll
        for (int order = size::PIECES - 1; order >= 0; --order) // i + j
#pragma unroll
            for (int i = 0; i <= order; ++i)
#pragma unroll
                for (int step = first; step < first + STEPS; ++step)
                    multiply(i, order - i, step, order < size::PIECES - 1 || i > 0 || step > first);
        wgmma_commit();
        turns.pass();
        wgmma_wait<0>();
    }
}

// What undoes the scales of a slab: of the rows of a warp, and, in lane i, of columns 16 i to 16 i + 15 of the tile.
struct split_factors {
    const split_product_operands &op;
    const int a_blocks, b_blocks;
    int64_t a_at, b_at;
    float a, b;

    // `slab`: in all products.
    __device__ __forceinline__ split_factors(const split_product_operands &op_, int64_t slab, int row, int column)
        : op(op_), a_blocks(split_blocks(op.m)), b_blocks(split_blocks(op.n)) {
        a_at = slab * a_blocks + min(row / SPLIT_LINES, a_blocks - 1);
        b_at = slab * b_blocks + min(column / SPLIT_LINES + static_cast<int>(threadIdx.x) % 32, b_blocks - 1);
        a = op.a_factors[a_at], b = op.b_factors[b_at];
    }
    __device__ __forceinline__ void load_next() {
        a = op.a_factors[a_at += a_blocks], b = op.b_factors[b_at += b_blocks];
    }
    // Adds the tensor cores' sums to those of a thread.
    template <int COUNT>
    __device__ __forceinline__ void promote(const float (&sum)[COUNT], float (&total)[COUNT]) const {
#pragma unroll
        for (int i = 0; i < COUNT / 8; ++i) {
            const float by = a * __shfl_sync(0xffffffffu, b, i);
#pragma unroll
            for (int j = 0; j < 8; ++j) total[i * 8 + j] = fmaf(sum[i * 8 + j], by, total[i * 8 + j]);
        }
    }
};

// Adds the sums of a group of slabs to those of the groups before.
template <typename size, int COUNT>
__device__ __forceinline__ void add_group(float (&before)[COUNT], float (&total)[COUNT], int slabs) {
    if (size::carries(slabs))
        carry_in(before, total);
    else
        add_in(before, total);
}

template <typename size, int STEPS>
__global__ void __launch_bounds__(size::THREADS, 1)
    split_product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const __grid_constant__ split_product_operands op) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin();
    enum { CHOICE = split_kind<typename size::T>::CHOICE, COUNT = size::COLUMNS / 2 };
    DYNAMIC_SHARED(unsigned char, shared);
    __shared__ mbarrier full[size::STAGES], empty[size::STAGES];
    split_stages<size> stages{first_slab_in(shared), full, empty};
    if (threadIdx.x == 0) tensor_prefetch(&a_map), tensor_prefetch(&b_map), stages.begin();
    cluster_sync(); // the barriers of both blocks exist
    wait_for_grid_before();
    if (op.products == 1 && choice_of(*op.findings) != CHOICE) return;

    const int rank = cluster_rank();
    const tile_order<SPLIT_PAIR * size::ROWS, size::COLUMNS, 8> pairs(op.m, op.n);
    const int per_product = pairs.down * pairs.across;
    split_work work(op.all);
    if (threadIdx.x < 128) {
        give_up_registers<size::PRODUCER_REGISTERS>();
        split_turns::begin();
        clusters_in_step step(op.products == 1 && rank == 0 ? op.arrivals : nullptr, op.all.clusters, op.all.slabs);
        while (threadIdx.x == 0 && work.next()) {
            const int product = work.pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * size::ROWS;
            if (work.all_begin()) step.begin_tile();
            for (int slab = work.begin; slab < work.end; ++slab, stages.own.next())
                load_pieces(stages, a_map, b_map, slab, row, column, product, rank);
        }
    } else {
        get_registers<size::CONSUMER_REGISTERS>();
        const int warpgroup = static_cast<int>(threadIdx.x) / 128 - 1, t = static_cast<int>(threadIdx.x) % 128;
        split_parts<COUNT> parts{op.sums, op.arrivals + 1, op.all, rank * SPLIT_WARPS + warpgroup * 4 + t / 32};
        const auto store = [&](const float(&results)[COUNT], int pair) {
            int row, column;
            pairs.place(pair % per_product, row, column);
            row += rank * size::ROWS + warpgroup * 64 + t / 32 * 16 + t % 32 / 4;
            float *const c = op.c + op.stack.offset(pair / per_product, 2);
            const split_rows_of_c<size::COLUMNS> rows{c + row * op.row_stride + column * op.column_stride,
                                                      op.row_stride,
                                                      op.column_stride,
                                                      op.m - row,
                                                      min(op.n - column, +size::COLUMNS),
                                                      results};
            rows.store();
        };
        const split_turns turns{warpgroup};
        float sum[COUNT] = {}; // of the tensor cores
        while (work.next()) {
            const int product = work.pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * size::ROWS + warpgroup * 64 + t / 32 * 16;
            split_factors factors(op, static_cast<int64_t>(product) * op.all.slabs + work.begin, row, column);
            // Of a group of slabs; and of the groups before, where registers have room. (Otherwise `carried`: these
            // are in the workspace.)
            float total[COUNT] = {}, before[COUNT] = {};
            bool carried = false;
            for (int slab = work.begin; slab < work.end;) {
                const int group = parts.unannounced ? +SLABS_TO_ANNOUNCE : size::group_slabs(op.all.slabs);
                const int until = min(slab + group, work.end);
                for (; slab < until; ++slab, stages.own.next()) {
                    const auto promote = [&] { factors.promote(sum, total); };
                    stages.wait_until_full();
                    multiply_pieces<size, STEPS>(sum, stages.a() + warpgroup * 64 * SLAB_BYTES, stages.b(), turns,
                                                 promote);
                    stages.release();
                    promote();
                    if (slab + 1 < work.end) factors.load_next(); // they are here when the next products are done
                }
                if (size::SECOND_SUM) add_group<size>(before, total, op.all.slabs);
                if (parts.unannounced)
                    parts.announce(work.first);
                else if (!size::SECOND_SUM && slab < work.end)
                    parts.carry_on(total, work.cluster, !carried), carried = true;
            }
            if (carried) parts.add_carried(total, work.cluster);
            float(&results)[COUNT] = size::SECOND_SUM ? before : total;
            if (parts.finish(results, work)) store(results, work.pair);
        }
        if (parts.unannounced) parts.announce(work.first);
        if (parts.last_to_come) {
            float results[COUNT] = {};
            parts.add_parts(results, op.all.first_of(work.first), work.first);
            store(results, work.first);
        }
    }
    cluster_sync(); // no block ends while the other one may still write to its memory
}

} // namespace matmul

#endif
