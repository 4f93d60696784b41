// matmul "wgmma_split_k": comes after "wgmma_multicast".
//
// Change  The blocks of a cluster compute one tile together: each takes a part of k, and they add their sums through
//         distributed shared memory. Where k is very long, several clusters (groups) share a tile: they write their
//         sums to a workspace, and a second kernel adds them. Blocks are not persistent. If C has few rows, C^T is
//         computed: they are then the columns of tiles. Copies carry a hint if no other block reads the same.
// Why     Where C is small, there are fewer tiles than multiprocessors, or they must be so narrow that they read too
//         much.
// Claim   blocks at work for m = n = 512, k = 65536: 16 tiles x 2 parts x 4 groups = 128 (before: 32)
// Gain    on an H200, 64 x 64 x 262144: 67 TFLOP/s in float16 ("wgmma_persistent": 2.8; cuBLAS 62); docs/speed.md
// Price   The sums of a tile go through shared memory once, and the cluster waits for its slowest block. Groups cost
//         a second launch.
// Edges   as in "wgmma_persistent"; results are stored by threads. A block without a slab adds zeros.
// Map     cluster c: group c % groups of tile c / groups, product after product; block r of it: part group * parts +
//         r of the slabs, and then a part of the sums of each thread
// Limit   the start of a kernel and its first copies; the memory's bandwidth, if C has few rows
#ifndef CK_MATMUL_WGMMA_SPLIT_K_CUH
#define CK_MATMUL_WGMMA_SPLIT_K_CUH

#include "../parts/group_sums.cuh"
#include "cluster.cuh"
#include "24_wgmma_persistent.cuh"

namespace matmul {

// As many stages as shared memory has room for: with few rows, the time is that of reading, which needs many copies
// in flight.
template <int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] wgmma_split_size {
    enum {
        ROWS = 128,
        COLUMNS = COLUMNS_,
        STAGES = STAGES_,
        CONSUMERS = ROWS / 64,
        CONSUMER_WARPS = 4 * CONSUMERS,
        THREADS = (1 + CONSUMERS) * 128
    };
    enum { STAGE_BYTES = (ROWS + COLUMNS) * SLAB_DEPTH * 2, SHARED_BYTES = 1024 + STAGES * STAGE_BYTES };
    enum { RESULT_BYTES = 0 }; // results take no place of their own
    static_assert(ROWS * COLUMNS * 4 <= STAGES * STAGE_BYTES, "the sums take the place of the slabs");
};
using wgmma_split_k_128 = wgmma_split_size<128, 6>;
using wgmma_split_k_64 = wgmma_split_size<64, 9>;

template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_split_k(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const box_operands<T> operands, const group_sums sums_of_groups) {
    if (!CK_HAS_WGMMA) return;
    using a_slab = box_slab<size::ROWS, A_ALONG_K>;
    using b_slab = box_slab<size::COLUMNS, B_ALONG_K>;
    constexpr int STAGES = size::STAGES, SUMS = size::COLUMNS / 2, FOURS = SUMS / 4;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        if (operands.k > 0) tensor_prefetch(&a_map), tensor_prefetch(&b_map); // otherwise there are no maps
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    __syncthreads(); // the barriers exist

    let_next_grid_begin(); // add_groups, which waits
    const int parts = cluster_size(), rank = cluster_rank();
    const tile_order<size::ROWS, size::COLUMNS> tiles(operands.m, operands.n);
    const int groups = sums_of_groups.groups, cluster = static_cast<int>(blockIdx.x) / parts,
              group = cluster % groups;
    const int per_product = tiles.down * tiles.across, number = cluster / groups / per_product;
    const product_index<T> product(operands, number);
    int row, column;
    tiles.place(cluster / groups % per_product, row, column);
    const int slabs = (operands.k + SLAB_DEPTH - 1) / SLAB_DEPTH;
    const int part = group * parts + rank, all_parts = groups * parts;
    const int begin = static_cast<int>(static_cast<int64_t>(slabs) * part / all_parts);
    const int end = static_cast<int>(static_cast<int64_t>(slabs) * (part + 1) / all_parts);
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };

    if (threadIdx.x < 128) {
        give_up_registers<40>();
        for (int slab = begin; slab < end && threadIdx.x == 0; ++slab, next_stage()) {
            unsigned char *to = stages + stage * size::STAGE_BYTES;
            mbarrier_wait(&empty[stage], round ^ 1); // at once in the first round
            mbarrier_expect(&full[stage], size::STAGE_BYTES);
            if (tiles.across == 1 && operands.products == 1) // no other block reads them
                a_slab::template load<true>(to, &a_map, &full[stage], row, slab * SLAB_DEPTH, product.a);
            else
                a_slab::load(to, &a_map, &full[stage], row, slab * SLAB_DEPTH, product.a);
            b_slab::load(to + a_slab::BYTES, &b_map, &full[stage], column, slab * SLAB_DEPTH, product.b);
        }
        cluster_sync(); // the two below
        cluster_sync();
        return;
    }

    get_registers<232>();
    const int warpgroup = static_cast<int>(threadIdx.x) / 128 - 1, t = static_cast<int>(threadIdx.x) % 128;
    row += warpgroup * 64;
    float sum[SUMS] = {};
    int before = -1; // the stage of the slab before
    for (int slab = begin; slab < end; ++slab, next_stage()) {
        const unsigned char *from = stages + stage * size::STAGE_BYTES;
        mbarrier_wait(&full[stage], round);
        multiply_slab<T, a_slab, b_slab>(sum, from, from + a_slab::BYTES, warpgroup * 64);
        wgmma_wait<1>(); // the slab before is finished: its stage is free
        if (before >= 0 && t % 32 == 0) mbarrier_arrive(&empty[before]);
        before = stage;
    }
    wgmma_wait<0>();

    // Four sums are in 2 x 2 elements of C (wgmma.cuh). Four i of thread t is at i * 128 + t, so that a warp accesses
    // neighbors.
    float4 *const fours = reinterpret_cast<float4 *>(stages) + warpgroup * FOURS * 128 + t;
    const bool inside = row + t / 32 * 16 < operands.m; // any row of this warp
    sync_threads_of(1, size::CONSUMERS * 128);          // both consumers have read the slabs
#pragma unroll
    for (int i = 0; i < FOURS; ++i)
        if (inside) fours[i * 128] = make_float4(sum[i * 4], sum[i * 4 + 1], sum[i * 4 + 2], sum[i * 4 + 3]);
    cluster_sync(); // all sums are there

    const int each = FOURS / parts, first = each * rank;
    float4 total[FOURS] = {};
    for (int other = 0; other < parts && inside; ++other) {
        const float4 *const theirs = map_shared(fours, other);
#pragma unroll
        for (int i = 0; i < FOURS; ++i) {
            if (i >= each) break;
            const float4 more = theirs[(first + i) * 128];
            total[i].x += more.x, total[i].y += more.y, total[i].z += more.z, total[i].w += more.w;
        }
    }
    const int top = row + t / 32 * 16 + t % 32 / 4, left = column + first * 8 + t % 4 * 2;
    const auto store = [&](const auto &c) {
#pragma unroll
        for (int i = 0; i < FOURS; ++i) {
            if (i >= each || !inside) break;
            store_pair(c, top, left + i * 8, operands.m, operands.n, total[i].x, total[i].y);
            store_pair(c, top + 8, left + i * 8, operands.m, operands.n, total[i].z, total[i].w);
        }
    };
    if (groups == 1)
        store(product.c);
    else
        store(sums_of_groups.matrix(operands.m, operands.n, group, operands.products, number));
    cluster_sync(); // no block ends while others may still read its sums
}

} // namespace matmul

#endif
