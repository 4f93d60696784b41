// matmul "split_fp16": comes after "wgmma_multicast".
//
// Change  Each float32 is scaled by a power of two and split into the sum of two float16 numbers, high + low. The
//         tensor cores add three products, low * high + high * low + high * high. (low * low is negligible.) The
//         kernel is that of "wgmma_multicast" with two changes: a stage holds all pieces of its slabs, so that each
//         is loaded once for all products; and every 32 elements of k (64 in tiles of 208 columns, from k = 1728 on),
//         the sums are scaled back and added to other sums in registers. The two warpgroups take turns
//         (split_turns.cuh); the clusters stay in step (in_step.cuh) and share the last tiles (split_shares.cuh).
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
//         that writes the pieces, which reads each element once: split_pieces.cuh. Two float16 numbers have 22 bits,
//         and elements that are much smaller than the others in their block keep fewer. A check decides whether that
//         is good enough: split_check.cuh.
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
#include "../parts/in_step.cuh"
#include "../parts/split_pieces.cuh"
#include "../parts/split_slabs.cuh"
#include "../parts/split_stores.cuh"

namespace matmul {

template <typename size, int STEPS>
__global__ void __launch_bounds__(size::THREADS, 1)
    split_product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const __grid_constant__ split_product_operands op) {
    if (!CK_HAS_WGMMA) return;
    let_next_grid_begin();
    enum { CHOICE = split_kind<typename size::T>::CHOICE };
    constexpr int STAGES = size::STAGES, PIECES = size::PIECES, COLUMNS = size::COLUMNS;
    constexpr int EVERY_BLOCK = (1 << SPLIT_PAIR) - 1, B_COLUMNS = COLUMNS / SPLIT_PAIR; // that one block copies
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        tensor_prefetch(&a_map), tensor_prefetch(&b_map);
        for (int i = 0; i < STAGES; ++i)
            mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], SPLIT_PAIR * size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    cluster_sync(); // the barriers of both blocks exist
    wait_for_grid_before();
    if (op.products == 1 && choice_of(*op.findings) != CHOICE) return;

    const int rank = cluster_rank();
    const tile_order<SPLIT_PAIR * size::ROWS, COLUMNS, 8> pairs(op.m, op.n);
    const int per_product = pairs.down * pairs.across;
    split_work work(op.all);
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };
    const int a_blocks = split_blocks(op.m), b_blocks = split_blocks(op.n);

    if (threadIdx.x < 128) {
        give_up_registers<size::PRODUCER_REGISTERS>();
        if (size::TURNS) split_turns::begin();
        clusters_in_step step(op.products == 1 && rank == 0 ? op.arrivals : nullptr, op.all.clusters, op.all.slabs);
        while (threadIdx.x == 0 && work.next()) {
            const int product = work.pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * size::ROWS;
            if (work.all_begin()) step.begin_tile();
            for (int slab = work.begin; slab < work.end; ++slab, next_stage()) {
                unsigned char *const a = stages + stage * size::STAGE_BYTES, *const b = a + PIECES * size::A_BYTES;
                mbarrier_wait(&empty[stage], round ^ 1); // in both blocks
                mbarrier_expect(&full[stage], size::STAGE_BYTES);
                tensor_load<3>(a, &a_map, &full[stage], {slab * SLAB_DEPTH, row, product * PIECES}); // all pieces
                for (int i = 0; i < PIECES; ++i)
                    tensor_load_multicast<3>(
                        b + i * size::B_BYTES + rank * B_COLUMNS * SLAB_BYTES, &b_map, &full[stage],
                        {slab * SLAB_DEPTH, column + rank * B_COLUMNS, product * PIECES + i}, EVERY_BLOCK);
            }
        }
    } else {
        get_registers<size::CONSUMER_REGISTERS>();
        const int warpgroup = static_cast<int>(threadIdx.x) / 128 - 1, t = static_cast<int>(threadIdx.x) % 128;
        float sum[COLUMNS / 2] = {};
        const split_sums_of_warp<COLUMNS / 2> in_workspace(op, rank);
        const auto store = [&](const float(&results)[COLUMNS / 2], int pair) {
            int row, column;
            pairs.place(pair % per_product, row, column);
            row += rank * size::ROWS + warpgroup * 64 + t / 32 * 16 + t % 32 / 4;
            store_split_rows<COLUMNS>(op.c_of(pair / per_product), row, column, op.m, op.n, results);
        };
        const split_turns turns{warpgroup};
        // Of the first pair of the share: a part has been left; and all others were there before.
        bool left = false, late = false;
        while (work.next()) {
            const int product = work.pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * size::ROWS + warpgroup * 64 + t / 32 * 16;
            // The factors of the warp's rows, and, in lane i, of columns 16 i to 16 i + 15.
            const int64_t first_slab = static_cast<int64_t>(product) * op.all.slabs + work.begin;
            int64_t a_at = first_slab * a_blocks + min(row / SPLIT_LINES, a_blocks - 1);
            int64_t b_at = first_slab * b_blocks + min(column / SPLIT_LINES + t % 32, b_blocks - 1);
            float a_factor = op.a_factors[a_at], b_factor = op.b_factors[b_at];
            float total[COLUMNS / 2] = {}, before[COLUMNS / 2] = {}; // (the latter only with SECOND)
            bool carried = false;                                    // (only without SECOND)
            for (int slab = work.begin; slab < work.end;) {
                const int group = left ? 2 : size::group_slabs(op.all.slabs);
                const int until = min(slab + group, work.end);
                for (; slab < until; ++slab, next_stage()) {
                    const unsigned char *const own = stages + stage * size::STAGE_BYTES;
                    const unsigned char *const a = own + warpgroup * 64 * SLAB_BYTES;
                    const auto promote = [&] {
#pragma unroll
                        for (int i = 0; i < COLUMNS / 16; ++i) {
                            const float by = a_factor * __shfl_sync(0xffffffffu, b_factor, i);
#pragma unroll
                            for (int j = 0; j < 8; ++j) total[i * 8 + j] = fmaf(sum[i * 8 + j], by, total[i * 8 + j]);
                        }
                    };
                    mbarrier_wait(&full[stage], round);
                    multiply_pieces<size, STEPS>(sum, a, own + PIECES * size::A_BYTES, turns, promote);
                    if (t % 32 < SPLIT_PAIR) mbarrier_arrive_at(&empty[stage], t % 32);
                    promote();
                    if (slab + 1 < work.end) // they are here when the next products are done
                        a_factor = op.a_factors[a_at += a_blocks], b_factor = op.b_factors[b_at += b_blocks];
                }
                if (size::SECOND && (PIECES == 3 || op.all.slabs > MOST_ADDED))
                    carry_in(before, total);
                else if (size::SECOND)
                    add_in(before, total);
                if (left)
                    late = in_workspace.arrive(work.first, 1), left = false;
                else if (!size::SECOND && slab < work.end)
                    in_workspace.carry_on(total, work.cluster, !carried), carried = true;
            }
            if (carried) in_workspace.add_carried(total, work.cluster);
            float(&results)[COLUMNS / 2] = size::SECOND ? before : total;
            if (in_workspace.finish(results, work, left)) store(results, work.pair);
        }
        if (left) late = in_workspace.arrive(work.first, 1);
        if (late) {
            float results[COLUMNS / 2] = {};
            in_workspace.add_parts(results, op.all.first_of(work.first), work.first);
            store(results, work.first);
        }
    }
    cluster_sync(); // no block ends while the other one may still write to its memory
}

} // namespace matmul

#endif
