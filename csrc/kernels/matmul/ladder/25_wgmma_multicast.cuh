// matmul "wgmma_multicast": comes after "wgmma_persistent".
//
// Change  Two blocks form a cluster and compute two tiles, one below the other. Both need the same columns of B, so
//         each copies half of them and delivers this half to both (multicast). Tiles of 64 columns are side by side
//         instead and share rows of A, which are then the larger part.
// Why     The L2 cache delivers once what two multiprocessors need.
// Claim   bytes read from the L2 cache per tile of 128 x 256 and slab: 32 KiB (before: 48 KiB)
// Gain    on an H200, m = n = k = 1000: 153 TFLOP/s in float16 (before: 139); none at 4096: 751 (before: 757);
//         docs/speed.md
// Price   The two blocks wait for each other: a stage is empty when the consumers of both blocks have read it.
// Edges   as in "wgmma_persistent". Where C has an odd number of rows of tiles, the last pair's second tile is all
//         zeros.
// Map     cluster c: pairs c, c + clusters, ... in the order of tile_order; block r of it computes tile r of the pair
//         and copies half r
// Limit   the rate of the tensor cores, and the chip's power limit
#ifndef CK_MATMUL_WGMMA_MULTICAST_CUH
#define CK_MATMUL_WGMMA_MULTICAST_CUH

#include "cluster.cuh"
#include "24_wgmma_persistent.cuh"

namespace matmul {

enum { PAIR = 2 }; // blocks of a cluster

// The pair lies side by side and shares A; otherwise one below the other, and shares B.
template <typename size> constexpr bool SIDE_BY_SIDE = int(size::COLUMNS) < int(size::ROWS);

template <typename slab, bool SHARED>
__device__ __forceinline__ void load(unsigned char *to, const tensor_map *map, mbarrier *full, int extent, int k,
                                     int matrix, int rank) {
    if constexpr (SHARED)
        slab::template load_part<PAIR>(to, map, full, extent, k, matrix, rank);
    else
        slab::load(to, map, full, extent, k, matrix);
}

template <typename size>
using order_of_pairs =
    tile_order<size::ROWS *(SIDE_BY_SIDE<size> ? 1 : PAIR), size::COLUMNS *(SIDE_BY_SIDE<size> ? PAIR : 1), 8>;

// What a cluster computes: one pair after another, and all slabs of each.
struct whole_pairs {
    const int clusters, all, begin, end; // clusters; pairs of all products; slabs
    int pair;

    // `parts`: the number of times that each pair counts.
    template <typename size, typename Result>
    static __device__ __forceinline__ whole_pairs of(const box_operands<Result> &operands, int depth, int parts = 1) {
        const order_of_pairs<size> pairs(operands.m, operands.n);
        const int clusters = static_cast<int>(gridDim.x) / PAIR, own = static_cast<int>(blockIdx.x) / PAIR;
        return {clusters, pairs.down * pairs.across * operands.products * parts, 0, (operands.k + depth - 1) / depth,
                own - clusters};
    }
    __device__ __forceinline__ bool next() {
        pair += clusters;
        return pair < all;
    }
};

// A block's part of a cluster's work. store(results, work, number of the product, row, column, sum) takes the sums of
// a warpgroup. (A function of its own, because later variants call it: "wgmma_groups" for parts of k, "residues_int8"
// for other elements.)
template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K, typename Result, typename Work, typename Store>
__device__ __forceinline__ void compute_pairs(const tensor_map &a_map, const tensor_map &b_map,
                                              const box_operands<Result> &operands, Work work, Store store) {
    using a_slab = box_slab<size::ROWS, A_ALONG_K>;
    using b_slab = box_slab<size::COLUMNS, B_ALONG_K>;
    constexpr int STAGES = size::STAGES, DEPTH = SLAB_BYTES / sizeof(T);
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        if (operands.k > 0) tensor_prefetch(&a_map), tensor_prefetch(&b_map); // otherwise there are no maps
        for (int i = 0; i < STAGES; ++i)
            mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], PAIR * size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    cluster_sync(); // the barriers of both blocks exist

    const int rank = cluster_rank();
    constexpr int DOWN = SIDE_BY_SIDE<size> ? 0 : size::ROWS, ACROSS = SIDE_BY_SIDE<size> ? size::COLUMNS : 0;
    const order_of_pairs<size> pairs(operands.m, operands.n);
    const int per_product = pairs.down * pairs.across;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };

    if (threadIdx.x < 128) {
        give_up_registers<40>();
        while (threadIdx.x == 0 && work.next()) {
            const product_index<Result> product(operands, work.pair / per_product);
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * DOWN, column += rank * ACROSS;
            for (int slab = work.begin; slab < work.end; ++slab, next_stage()) {
                unsigned char *to = stages + stage * size::STAGE_BYTES;
                mbarrier_wait(&empty[stage], round ^ 1); // in both blocks
                mbarrier_expect(&full[stage], size::STAGE_BYTES);
                load<a_slab, SIDE_BY_SIDE<size>>(to, &a_map, &full[stage], row, slab * DEPTH, product.a, rank);
                load<b_slab, !SIDE_BY_SIDE<size>>(to + a_slab::BYTES, &b_map, &full[stage], column, slab * DEPTH,
                                                  product.b, rank);
            }
        }
    } else {
        get_registers<232>();
        const int warpgroup = static_cast<int>(threadIdx.x) / 128 - 1, t = static_cast<int>(threadIdx.x) % 128;
        unsigned char *const results = stages + STAGES * size::STAGE_BYTES + warpgroup * size::RESULT_BYTES;
        while (work.next()) {
            const int number = work.pair / per_product;
            int row, column;
            pairs.place(work.pair % per_product, row, column);
            row += rank * DOWN + warpgroup * 64, column += rank * ACROSS;
            wgmma_total<T> sum[size::COLUMNS / 2] = {};
            int before = -1; // the stage of the slab before
            for (int slab = work.begin; slab < work.end; ++slab, next_stage()) {
                const unsigned char *from = stages + stage * size::STAGE_BYTES;
                mbarrier_wait(&full[stage], round);
                multiply_slab<T, a_slab, b_slab>(sum, from, from + a_slab::BYTES, warpgroup * 64);
                wgmma_wait<1>(); // the slab before is finished: both blocks hear that its stage is free
                if (before >= 0 && t % 32 < PAIR) mbarrier_arrive_at(&empty[before], t % 32);
                before = stage;
            }
            wgmma_wait<0>();
            if (before >= 0 && t % 32 < PAIR) mbarrier_arrive_at(&empty[before], t % 32);
            store(results, work, number, row, column, sum);
        }
    }
    cluster_sync(); // no block ends while the other one may still write to its memory
}

template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_multicast(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                    const __grid_constant__ tensor_map c_map, const box_operands<T> operands) {
    if (!CK_HAS_WGMMA) return;
    compute_pairs<T, size, A_ALONG_K, B_ALONG_K>(
        a_map, b_map, operands, whole_pairs::of<size>(operands, SLAB_DEPTH),
        [&](unsigned char *results, const whole_pairs &, int number, int row, int column, const auto &sum) {
            store_tile_of(operands, c_map, results, number, row, column, sum);
        });
    if (threadIdx.x % 128 == 0) tensor_store_wait<0, false>();
}

} // namespace matmul

#endif
