// matmul "wgmma_tiles": comes after "tensor_cores".
//
// Change  Hopper's own instructions. One thread begins copies of whole tiles (TMA), and a barrier in shared memory
//         (mbarrier) signals that their bytes have arrived. Four warps together multiply 64 x 16 by 16 x 128 elements
//         (wgmma), which they read from shared memory themselves.
// Why     mma.sync takes its operands from registers: "tensor_cores" spends its instructions on ldmatrix, cp.async
//         and addresses, and reaches half of the tensor cores' rate.
// Claim   instructions of all warps for 128 x 128 x 64 multiply-adds: 32 wgmma and 8 waits (before: 512 mma.sync, 128
//         ldmatrix, and the copies)
// Gain    on an H200, m = n = k = 4096: about 505 TFLOP/s in float16 (before: 400); docs/speed.md
// Price   This chip only: compute capability 9.0. Rows or columns of the operands must start at multiples of 16
//         bytes.
// Edges   TMA writes zeros for elements outside the matrix. Stores check each pair of elements.
// Map     block: the tile of block_tile.cuh, one product of the stack per blockIdx.z. Warpgroup w: rows 64 w to 64 w
//         + 63 of the tile; elements of a thread: wgmma.cuh
// Limit   All warps wait for each slab, and while they wait, begin the next copy and store results, the tensor cores
//         rest.
#ifndef CK_MATMUL_WGMMA_TILES_CUH
#define CK_MATMUL_WGMMA_TILES_CUH

#include "../parts/block_tile.cuh"
#include "../parts/box_slabs.cuh"
#include "device_extras.cuh"

namespace matmul {

struct wgmma_tiles_size {
    enum { ROWS = 128, COLUMNS = 128, STAGES = 4, THREADS = ROWS / 64 * 128 };
    enum { SHARED_BYTES = 1024 + STAGES * (ROWS + COLUMNS) * SLAB_DEPTH * 2 }; // 1024: to start at a multiple of 1024
};

template <typename T, bool A_ALONG_K, bool B_ALONG_K>
__global__ void __launch_bounds__(wgmma_tiles_size::THREADS, 1)
    wgmma_tiles(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                const box_operands<T> operands) {
    if (!CK_HAS_WGMMA) return;
    using size = wgmma_tiles_size;
    using a_slab = box_slab<size::ROWS, A_ALONG_K>;
    using b_slab = box_slab<size::COLUMNS, B_ALONG_K>;
    constexpr int STAGES = size::STAGES, STAGE_BYTES = a_slab::BYTES + b_slab::BYTES;
    DYNAMIC_SHARED(unsigned char, shared);
    unsigned char *const stages = shared + (1024 - reinterpret_cast<uintptr_t>(shared) % 1024) % 1024;
    __shared__ mbarrier full[STAGES];

    const product_index<T> product(operands, operands.first + static_cast<int>(blockIdx.z));
    const auto [first_row, first_column] = tile_of_block<size::ROWS, size::COLUMNS>(operands.m, operands.n);
    const int row = static_cast<int>(first_row), column = static_cast<int>(first_column);
    const int slabs = (operands.k + SLAB_DEPTH - 1) / SLAB_DEPTH;
    const auto begin_slab = [&](int slab) {
        unsigned char *stage = stages + slab % STAGES * STAGE_BYTES;
        mbarrier_expect(&full[slab % STAGES], STAGE_BYTES);
        a_slab::load(stage, &a_map, &full[slab % STAGES], row, slab * SLAB_DEPTH, product.a);
        b_slab::load(stage + a_slab::BYTES, &b_map, &full[slab % STAGES], column, slab * SLAB_DEPTH, product.b);
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) mbarrier_init(&full[i], 1);
        mbarrier_init_fence();
        for (int slab = 0; slab < STAGES && slab < slabs; ++slab) begin_slab(slab);
    }
    __syncthreads(); // the barriers exist

    const int warpgroup = threadIdx.x / 128;
    float sum[size::COLUMNS / 2] = {};
    for (int slab = 0; slab < slabs; ++slab) {
        const unsigned char *stage = stages + slab % STAGES * STAGE_BYTES;
        mbarrier_wait(&full[slab % STAGES], slab / STAGES % 2);
        multiply_slab<T, a_slab, b_slab>(sum, stage, stage + a_slab::BYTES, warpgroup * 64);
        wgmma_wait<0>();
        __syncthreads(); // no warp reads this stage any more
        if (threadIdx.x == 0 && slab + STAGES < slabs) begin_slab(slab + STAGES);
    }
    store_sums(product.c, row + warpgroup * 64, column, operands.m, operands.n, sum);
}

} // namespace matmul

#endif
