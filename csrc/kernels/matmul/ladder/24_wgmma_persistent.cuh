// matmul "wgmma_persistent": comes after "wgmma_producer".
//
// Change  As many blocks as there are multiprocessors, and each computes one tile after another. Results go to shared
//         memory, and from there by TMA to global memory.
// Why     In "wgmma_producer" the tensor cores rest while results are stored and a new block starts. Here the
//         producer is already copying for the next tile, and a store goes on while its consumer computes again.
// Claim   launches of blocks: one per multiprocessor (before: one per tile); instructions of a thread for its 128
//         results: 16 stores to shared memory (before: 64 to global memory)
// Gain    on an H200, m = n = k = 4096: 757 TFLOP/s in float16 (before: 670; cuBLAS 760); docs/speed.md
// Price   64 KiB of shared memory for results, so three stages instead of four
// Edges   TMA stores nothing outside the matrix. Where C's rows do not start at multiples of 16 bytes (store_boxes is
//         0), warps store the results from shared memory, row by row.
// Map     block b: tiles b, b + gridDim.x, ... in the order of tile_of, product after product; threads as in
//         "wgmma_producer"
// Limit   the rate of the tensor cores, and the chip's power limit; each block reads its operands by itself
#ifndef CK_MATMUL_WGMMA_PERSISTENT_CUH
#define CK_MATMUL_WGMMA_PERSISTENT_CUH

#include "../parts/box_slabs.cuh"
#include "../parts/slabs.cuh"
#include "device_extras.cuh"
#include "tensor_core.cuh"

namespace matmul {

// Wide tiles read least; narrow ones give work to all multiprocessors where C is small.
template <int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] wgmma_persistent_size {
    enum {
        ROWS = 128,
        COLUMNS = COLUMNS_,
        STAGES = STAGES_,
        CONSUMERS = ROWS / 64,
        CONSUMER_WARPS = 4 * CONSUMERS,
        THREADS = (1 + CONSUMERS) * 128
    };
    enum { STAGE_BYTES = (ROWS + COLUMNS) * SLAB_DEPTH * 2, RESULT_BYTES = 64 * COLUMNS * 2 }; // of one consumer
    enum {
        SHARED_BYTES = 1024 + STAGES * STAGE_BYTES + CONSUMERS * RESULT_BYTES
    }; // 1024: to start at a multiple of 1024
};
using wgmma_persistent_256 = wgmma_persistent_size<256, 3>;
using wgmma_persistent_192 = wgmma_persistent_size<192, 4>;
using wgmma_persistent_128 = wgmma_persistent_size<128, 5>;
using wgmma_persistent_64 = wgmma_persistent_size<64, 6>;

// Stores a warpgroup's 64 rows of a tile, from `row` on, through its `results` in shared memory. The copy of boxes
// goes on while the warpgroup computes again.
template <typename T, typename Sum, int COUNT>
__device__ __forceinline__ void store_tile_of(const box_operands<T> &operands, const tensor_map &c_map,
                                              unsigned char *results, int number, int row, int column,
                                              const Sum (&sum)[COUNT]) {
    if constexpr (sizeof(T) == 2) { // a box has 64 columns of 128 bytes
        if (operands.store_boxes) {
            const int warpgroup = static_cast<int>(threadIdx.x) / 128, t = static_cast<int>(threadIdx.x) % 128;
            if (t == 0) tensor_store_wait<0, true>(); // the last tile's results have been read
            sync_threads_of(warpgroup, 128);
            write_results<T>(results, sum);
            fence_async_proxy();
            sync_threads_of(warpgroup, 128);
            if (t != 0) return;
            for (int i = 0; i < COUNT / 32; ++i)
                tensor_store<3>(&c_map, results + i * BOX_BYTES, {column + i * 64, row, number});
            tensor_store_commit();
            return;
        }
    }
    const output_matrix<T, false> c = product_index<T>(operands, number).c;
    if constexpr (sizeof(T) == 2) {
        if (c.column_stride == 1) {
            __syncwarp(); // all lanes have read the last tile's results
            write_results<T>(results, sum);
            __syncwarp();
            store_rows<T, COUNT * 2>(c, row, column, operands.m, operands.n, results);
            return;
        }
    }
    store_sums(c, row, column, operands.m, operands.n, sum);
}

template <typename T, typename size, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_persistent(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                     const __grid_constant__ tensor_map c_map, const box_operands<T> operands) {
    if (!CK_HAS_WGMMA) return;
    using a_slab = box_slab<size::ROWS, A_ALONG_K>;
    using b_slab = box_slab<size::COLUMNS, B_ALONG_K>;
    constexpr int STAGES = size::STAGES;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        if (operands.k > 0) tensor_prefetch(&a_map), tensor_prefetch(&b_map); // otherwise there are no maps
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    __syncthreads(); // the barriers exist

    const tile_order<size::ROWS, size::COLUMNS> tiles(operands.m, operands.n);
    const int per_product = tiles.down * tiles.across, total = per_product * operands.products;
    const int slabs = (operands.k + SLAB_DEPTH - 1) / SLAB_DEPTH;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };

    if (threadIdx.x < 128) {
        give_up_registers<40>();
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < total; tile += gridDim.x) {
            const product_index<T> product(operands, tile / per_product);
            int row, column;
            tiles.place(tile % per_product, row, column);
            for (int slab = 0; slab < slabs; ++slab, next_stage()) {
                unsigned char *to = stages + stage * size::STAGE_BYTES;
                mbarrier_wait(&empty[stage], round ^ 1); // at once in the first round
                mbarrier_expect(&full[stage], size::STAGE_BYTES);
                a_slab::load(to, &a_map, &full[stage], row, slab * SLAB_DEPTH, product.a);
                b_slab::load(to + a_slab::BYTES, &b_map, &full[stage], column, slab * SLAB_DEPTH, product.b);
            }
        }
        return;
    }

    get_registers<232>();
    const int warpgroup = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
    unsigned char *const results = stages + STAGES * size::STAGE_BYTES + warpgroup * size::RESULT_BYTES;
    for (int tile = blockIdx.x; tile < total; tile += gridDim.x) {
        const int number = tile / per_product;
        int row, column;
        tiles.place(tile % per_product, row, column);
        row += warpgroup * 64;
        float sum[size::COLUMNS / 2] = {};
        int before = -1; // the stage of the slab before
        for (int slab = 0; slab < slabs; ++slab, next_stage()) {
            const unsigned char *from = stages + stage * size::STAGE_BYTES;
            mbarrier_wait(&full[stage], round);
            multiply_slab<T, a_slab, b_slab>(sum, from, from + a_slab::BYTES, warpgroup * 64);
            wgmma_wait<1>(); // the slab before is finished: its stage is free
            if (before >= 0 && t % 32 == 0) mbarrier_arrive(&empty[before]);
            before = stage;
        }
        wgmma_wait<0>();
        if (before >= 0 && t % 32 == 0) mbarrier_arrive(&empty[before]);
        store_tile_of(operands, c_map, results, number, row, column, sum);
    }
    if (t == 0) tensor_store_wait<0, false>();
}

} // namespace matmul

#endif
