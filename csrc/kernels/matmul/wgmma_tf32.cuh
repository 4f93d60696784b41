// matmul "wgmma_tf32": comes after "wgmma_persistent".
//
// Change  The elements are floats, of which wgmma reads 19 bits (tf32): the sign, the exponent and 11 significant bits, one of them not
//         stored. A slab is 32 floats along k, and both operands must be contiguous along k. Threads store the results themselves.
// Why     Tensor cores multiply tf32 at half the rate of float16, that is seven times as fast as other instructions multiply floats, for
//         callers whose inputs have few exact digits anyway.
// Claim   multiply-adds per instruction: 64 x 256 x 8 (before: 64 x 256 x 16); relative error of a product: below 2^-9, whatever k
// Gain    on an H200, m = n = k = 4096: 335 TFLOP/s ("warp_tiles", which keeps all bits of a float: 47.9); docs/speed.md
// Price   accuracy: every input is cut off to 11 significant bits, so only a call that names this variant gets it
// Edges   as in "wgmma_tiles". An A whose columns are contiguous, or a B whose rows are, is transposed in device memory first. (wgmma
//         transposes 16-bit elements only.)
// Map     as in "wgmma_persistent"
// Limit   While a consumer stores its results, its half of the tensor cores' work waits.
#ifndef CK_MATMUL_WGMMA_TF32_CUH
#define CK_MATMUL_WGMMA_TF32_CUH

#include "wgmma_persistent.cuh" // the order of tiles

namespace matmul {

// The results take no shared memory, so there are more stages than in "wgmma_persistent": 192 KiB in each size.
template <int COLUMNS_, int STAGES_> struct [[gnu::visibility("default")]] wgmma_along_k_size {
    enum { ROWS = 128, COLUMNS = COLUMNS_, STAGES = STAGES_, CONSUMERS = ROWS / 64, THREADS = (1 + CONSUMERS) * 128 };
    enum { STAGE_BYTES = (ROWS + COLUMNS) * SLAB_BYTES };
    enum { SHARED_BYTES = 1024 + STAGES * STAGE_BYTES }; // 1024: to start at a multiple of 1024
};
using wgmma_along_k_256 = wgmma_along_k_size<256, 4>;
using wgmma_along_k_128 = wgmma_along_k_size<128, 6>;
using wgmma_along_k_64 = wgmma_along_k_size<64, 8>;

// T: float or int8_t.
// Total: wgmma_total<T>. (A parameter of its own, because compilers name a type that depends on a condition in different ways.)
template <typename T, typename Total, typename size>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_along_k(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const box_operands<Total> operands) {
    using product_place = product_index<Total>;
    using a_slab = box_slab<size::ROWS, true>;
    using b_slab = box_slab<size::COLUMNS, true>;
    constexpr int STAGES = size::STAGES, DEPTH = SLAB_BYTES / sizeof(T);
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1), mbarrier_init(&empty[i], size::CONSUMERS);
        mbarrier_init_fence();
    }
    __syncthreads(); // the barriers exist

    const tile_order<size::ROWS, size::COLUMNS> tiles(operands.m, operands.n);
    const int per_product = tiles.down * tiles.across, total = per_product * operands.products;
    const int slabs = (operands.k + DEPTH - 1) / DEPTH;
    int stage = 0, round = 0; // a stage's number, and the parity of its use
    const auto next_stage = [&] {
        if (++stage == STAGES) stage = 0, round ^= 1;
    };

    if (threadIdx.x < 128) {
        give_up_registers<40>();
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < total; tile += gridDim.x) {
            const product_place product(operands, tile / per_product);
            int row, column;
            tiles.place(tile % per_product, row, column);
            for (int slab = 0; slab < slabs; ++slab, next_stage()) {
                unsigned char *to = stages + stage * size::STAGE_BYTES;
                mbarrier_wait(&empty[stage], round ^ 1); // at once in the first round
                mbarrier_expect(&full[stage], size::STAGE_BYTES);
                a_slab::load(to, &a_map, &full[stage], row, slab * DEPTH, product.a);
                b_slab::load(to + a_slab::BYTES, &b_map, &full[stage], column, slab * DEPTH, product.b);
            }
        }
        return;
    }

    get_registers<232>();
    const int warpgroup = threadIdx.x / 128 - 1, t = threadIdx.x % 128;
    for (int tile = blockIdx.x; tile < total; tile += gridDim.x) {
        int row, column;
        tiles.place(tile % per_product, row, column);
        Total sum[size::COLUMNS / 2] = {};
        int before = -1; // the stage of the slab before
        for (int slab = 0; slab < slabs; ++slab, next_stage()) {
            const unsigned char *from = stages + stage * size::STAGE_BYTES;
            mbarrier_wait(&full[stage], round);
            multiply_slab<T, a_slab, b_slab>(sum, from, from + a_slab::BYTES, warpgroup * 64);
            wgmma_wait<1>(); // the slab before is finished: its stage is free
            if (before >= 0 && t == 0) mbarrier_arrive(&empty[before]);
            before = stage;
        }
        wgmma_wait<0>();
        if (before >= 0 && t == 0) mbarrier_arrive(&empty[before]);
        const product_place product(operands, tile / per_product);
        store_sums(product.c, row + warpgroup * 64, column, operands.m, operands.n, sum);
    }
}

} // namespace matmul

#endif
