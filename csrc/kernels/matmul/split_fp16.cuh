// matmul "split_fp16": comes after "wgmma_multicast".
//
// Change  Each float32 is scaled by a power of two and split into the sum of two float16 numbers, high + low. The
//         tensor cores add three products, low * high + high * low + high * high. (low * low is negligible.) The
//         kernel is that of "wgmma_multicast" with two changes: a stage holds all pieces of its slabs, so that each is
//         loaded once for all products; and every 64 elements of k (twice, if k is below 1408), the sums are scaled back
//         and added to other sums in registers. The clusters stay in step (in_step.cuh).
// Why     On an H200, cuBLAS multiplies float16 on tensor cores fifteen times as fast as float32 on CUDA cores (758 and
//         51 TFLOP/s at 4096), and the product of two float16 numbers is exact. But tensor cores cut off the bits of a
//         sum that do not fit, which would cause most of the error of a long sum. An addition on a CUDA core rounds to
//         nearest; one for every 64 products is cheap, and it is a multiply-add that undoes the scale at no cost.
// Claim   instructions of a warpgroup for 64 x 208 x 64 multiply-adds: 12 wgmma and 104 multiply-adds (208, if k is short)
// Gain    on an H200, m = n = k = 4096: 204 to 217 TFLOP/s in float32, with the splitting (cuBLAS: 51), and less than a
//         fifth of its error
// Price   six bytes of workspace for each element of A and B, and a kernel that writes the pieces, which reads each
//         element once: split_pieces.cuh. Two float16 numbers have 22 bits, and elements that are much smaller than the
//         others in their block keep fewer. A check decides whether that is good enough: split_check.cuh.
// Edges   TMA writes zeros for elements outside the pieces. Stores check each pair of elements. Where the check fails, or an
//         element is infinite or NaN, "split_inside" computes the product; if it is large, "split_bf16" does (and "warp_tiles"
//         what bf16 cannot hold).
// Map     cluster c: pairs c, c + clusters, ... of tiles, one below the other, of each part of k; a thread's elements:
//         wgmma.cuh
// Limit   the power limit of the chip: the tensor cores do 3 x 250 TFLOP/s at 4096
#ifndef CK_MATMUL_SPLIT_FP16_CUH
#define CK_MATMUL_SPLIT_FP16_CUH

#include "carried_sums.cuh"
#include "cluster.cuh"
#include "device_extras.cuh"
#include "in_step.cuh"
#include "split_add.cuh"
#include "split_pieces.cuh"
#include "wgmma_persistent.cuh"

namespace matmul {

// The blocks of a cluster, whose tiles are stacked vertically and share B; the rows of a tile.
enum { SPLIT_PAIR = 2, SPLIT_ROWS = 128 };

template <typename T_, int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] split_size {
    using T = T_;
    enum { PIECES = split_kind<T>::PIECES, ROWS = SPLIT_ROWS, COLUMNS = COLUMNS_, STAGES = STAGES_ };
    enum { CONSUMERS = ROWS / 64, CONSUMER_WARPS = 4 * CONSUMERS, THREADS = (1 + CONSUMERS) * 128 };
    enum { CARRY = PIECES == 3 }; // (Data for two pieces has no such large terms.)
    enum { PRODUCER_REGISTERS = COLUMNS > 160 ? 24 : 40, CONSUMER_REGISTERS = COLUMNS > 160 ? 240 : 232 };
    static_assert(PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS <= 65536 / THREADS / 8 * 8 * (1 + CONSUMERS),
                  "no more than the block has: otherwise it waits for ever");
    enum { A_BYTES = ROWS * SLAB_BYTES, B_BYTES = COLUMNS * SLAB_BYTES }; // of one piece
    enum { STAGE_BYTES = PIECES * (A_BYTES + B_BYTES), SHARED_BYTES = 1024 + STAGES * STAGE_BYTES };
};
using split_fp16_208 = split_size<__half, 208, 2>;
using split_fp16_128 = split_size<__half, 128, 3>;
using split_fp16_64 = split_size<__half, 64, 4>;

// Computes the products of the pieces in one stage, the smallest first. The caller promotes the last sums.
//
// STEPS: the steps of 16 elements along k whose products high * high share a sum. The tensor cores cut off the bits of a sum that
// do not fit, more of them the larger it is: later products lose more. With fewer than four steps, the sums of others are
// promoted by promote() before theirs begin.
template <typename size, int STEPS, typename Promote>
__device__ __forceinline__ void multiply_pieces(float (&sum)[size::COLUMNS / 2], const unsigned char *a,
                                                const unsigned char *b, Promote promote) {
    const auto multiply = [&](int i, int j, int step, bool add) { // piece i by piece j
        wgmma<typename size::T, size::COLUMNS, false, false>(
            sum, wgmma_descriptor(a + i * size::A_BYTES + step * 32, 0),
            wgmma_descriptor(b + j * size::B_BYTES + step * 32, 0), add);
    };
    wgmma_fence();
#pragma unroll
    for (int order = size::PIECES - 1; order >= 0; --order) // i + j
#pragma unroll
        for (int i = 0; i <= order; ++i)
#pragma unroll
            for (int step = 0; step < (order > 0 ? 4 : STEPS); ++step)
                multiply(i, order - i, step, order < size::PIECES - 1 || i > 0 || step > 0);
#pragma unroll
    for (int first = STEPS; first < 4; first += STEPS) {
        wgmma_commit();
        wgmma_wait<0>();
        promote();
        wgmma_fence();
#pragma unroll
        for (int step = first; step < first + STEPS; ++step) multiply(0, 0, step, step > first);
    }
    wgmma_commit();
    wgmma_wait<0>();
}

template <typename size, int STEPS>
__global__ void __launch_bounds__(size::THREADS, 1)
    split_product(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const split_product_operands op) {
    if (!CK_HAS_WGMMA) return;
    wait_for_grid_before();
    let_next_grid_begin();
    enum { CHOICE = split_kind<typename size::T>::CHOICE };
    if (op.products == 1 && choice_of(*op.findings) != CHOICE) return;
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

    const int rank = cluster_rank(), first = static_cast<int>(blockIdx.x) / SPLIT_PAIR;
    const int clusters = static_cast<int>(gridDim.x) / SPLIT_PAIR;
    const tile_order<SPLIT_PAIR * size::ROWS, COLUMNS, 8> pairs(op.m, op.n);
    const int per_part = pairs.down * pairs.across, per_product = per_part * op.parts;
    const int total_pairs = per_product * op.products;
    const int slabs = (op.k + SLAB_DEPTH - 1) / SLAB_DEPTH;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };
    const int a_blocks = split_blocks(op.m), b_blocks = split_blocks(op.n);
    const auto at_most = [](int i, int most) { return i < most ? i : most; };
    const auto slabs_until = [&](int part) { return part + 1 == op.parts ? slabs : (part + 1) * op.part_slabs; };

    if (threadIdx.x < 128) {
        give_up_registers<size::PRODUCER_REGISTERS>();
        clusters_in_step step(op.products == 1 && rank == 0 ? op.arrivals : nullptr, clusters, op.part_slabs);
        for (int pair = first; pair < total_pairs && threadIdx.x == 0; pair += clusters) {
            const int product = pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(pair % per_part, row, column);
            row += rank * size::ROWS;
            const int part = pair % per_product / per_part, end = slabs_until(part);
            if (pair - first + clusters <= total_pairs) step.begin_tile(); // all clusters have a tile in this round
            for (int slab = part * op.part_slabs; slab < end; ++slab, next_stage()) {
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
        for (int pair = first; pair < total_pairs; pair += clusters) {
            const int product = pair / per_product;
            if (choice_of(op.findings[product]) != CHOICE) continue;
            int row, column;
            pairs.place(pair % per_part, row, column);
            row += rank * size::ROWS + warpgroup * 64 + t / 32 * 16;
            const int part = pair % per_product / per_part, end = slabs_until(part);
            // The factors of the warp's rows, and, in lane i, of columns 16 i to 16 i + 15.
            const int64_t first_slab = static_cast<int64_t>(product) * slabs + part * op.part_slabs;
            int64_t a_at = first_slab * a_blocks + at_most(row / SPLIT_LINES, a_blocks - 1);
            int64_t b_at = first_slab * b_blocks + at_most(column / SPLIT_LINES + t % 32, b_blocks - 1);
            float a_factor = op.a_factors[a_at], b_factor = op.b_factors[b_at];
            row += t % 32 / 4, column += t % 4 * 2;
            float total[COLUMNS / 2] = {}, before[COLUMNS / 2] = {}; // (the latter only with CARRY)
            const output_matrix<float, false> to = op.results_of(product, part);
            const int begin = part * op.part_slabs;
            for (int slab = begin; slab < end; ++slab, next_stage()) {
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
                multiply_pieces<size, STEPS>(sum, a, own + PIECES * size::A_BYTES, promote);
                if (t % 32 < SPLIT_PAIR) mbarrier_arrive_at(&empty[stage], t % 32);
                promote();
                if (slab + 1 < end) // they are here when the next products are done
                    a_factor = op.a_factors[a_at += a_blocks], b_factor = op.b_factors[b_at += b_blocks];
                if (size::CARRY && (slab + 1 - begin) % CARRY_SLABS == 0) carry_in(before, total);
            }
            if (size::CARRY) carry_in(before, total);
            const float(&results)[COLUMNS / 2] = size::CARRY ? before : total;
#pragma unroll
            for (int i = 0; i < COLUMNS / 4; ++i)
                store_pair(to, row + i % 2 * 8, column + i / 2 * 8, op.m, op.n, results[i * 2], results[i * 2 + 1]);
        }
    }
    cluster_sync(); // no block ends while the other one may still write to its memory
}

} // namespace matmul

#endif
