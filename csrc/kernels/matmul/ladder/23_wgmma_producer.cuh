// matmul "wgmma_producer": comes after "wgmma_tiles".
//
// Change  The warps divide the work: a producer begins copies, and two warpgroups, the consumers, do nothing but
//         multiply. A stage has two barriers: `full` when its bytes have arrived, `empty` when both consumers have
//         read it. The producer gives up registers to the consumers, and a tile has 128 x 256 elements.
// Why     No warp waits for another one: the producer runs ahead as far as there are stages, and a consumer begins
//         the next product before the last one is finished. A wider tile reads less: bytes from the L2 cache limit
//         the rate.
// Claim   bytes copied to shared memory per multiply-add: 2/128 + 2/256 (before: 2/128 + 2/128); barriers of the
//         whole block per slab: 0 (before: 1)
// Gain    on an H200, m = n = k = 4096: 670 TFLOP/s in float16 (before: 501); docs/speed.md
// Price   one block of 192 KiB per multiprocessor; 128 registers per thread for sums
// Edges   as in "wgmma_tiles"
// Map     warpgroup 0: the producer (one thread of it). Warpgroup 1 + w: rows 64 w to 64 w + 63 of the tile
// Limit   While a block stores its tile, its tensor cores rest, and the next block begins with an empty pipeline.
#ifndef CK_MATMUL_WGMMA_PRODUCER_CUH
#define CK_MATMUL_WGMMA_PRODUCER_CUH

#include "../parts/block_tile.cuh"
#include "../parts/box_slabs.cuh"
#include "device_extras.cuh"

namespace matmul {

struct wgmma_producer_size {
    enum {
        ROWS = 128,
        COLUMNS = 256,
        STAGES = 4,
        CONSUMERS = ROWS / 64,
        CONSUMER_WARPS = 4 * CONSUMERS,
        THREADS = (1 + CONSUMERS) * 128
    };
    enum { SHARED_BYTES = 1024 + STAGES * (ROWS + COLUMNS) * SLAB_DEPTH * 2 }; // 1024: to start at a multiple of 1024
};

template <typename T, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(wgmma_producer_size::THREADS, 1)
    wgmma_producer(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                   const box_operands<T> operands) {
    if (!CK_HAS_WGMMA) return;
    using size = wgmma_producer_size;
    using a_slab = box_slab<size::ROWS, A_ALONG_K>;
    using b_slab = box_slab<size::COLUMNS, B_ALONG_K>;
    constexpr int STAGES = size::STAGES, STAGE_BYTES = a_slab::BYTES + b_slab::BYTES;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], size::CONSUMER_WARPS);
        mbarrier_init_fence();
    }
    __syncthreads(); // the barriers exist

    const product_index<T> product(operands, operands.first + static_cast<int>(blockIdx.z));
    const auto [first_row, first_column] = tile_of_block<size::ROWS, size::COLUMNS>(operands.m, operands.n);
    const int row = static_cast<int>(first_row), column = static_cast<int>(first_column);
    const int slabs = (operands.k + SLAB_DEPTH - 1) / SLAB_DEPTH;
    if (threadIdx.x < 128) {
        give_up_registers<40>();
        if (threadIdx.x != 0) return;
        for (int slab = 0; slab < slabs; ++slab) {
            const int i = slab % STAGES;
            unsigned char *stage = stages + i * STAGE_BYTES;
            mbarrier_wait(&empty[i], slab / STAGES % 2 ^ 1); // at once in the first round
            mbarrier_expect(&full[i], STAGE_BYTES);
            a_slab::load(stage, &a_map, &full[i], row, slab * SLAB_DEPTH, product.a);
            b_slab::load(stage + a_slab::BYTES, &b_map, &full[i], column, slab * SLAB_DEPTH, product.b);
        }
    } else {
        get_registers<232>();
        const int warpgroup = threadIdx.x / 128 - 1;
        float sum[size::COLUMNS / 2] = {};
        for (int slab = 0; slab < slabs; ++slab) {
            const int i = slab % STAGES;
            const unsigned char *stage = stages + i * STAGE_BYTES;
            mbarrier_wait(&full[i], slab / STAGES % 2);
            multiply_slab<T, a_slab, b_slab>(sum, stage, stage + a_slab::BYTES, warpgroup * 64);
            wgmma_wait<1>(); // the slab before is finished: its stage is free
            if (slab > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(&empty[(slab - 1) % STAGES]);
        }
        wgmma_wait<0>();
        store_sums(product.c, row + warpgroup * 64, column, operands.m, operands.n, sum);
    }
}

} // namespace matmul

#endif
