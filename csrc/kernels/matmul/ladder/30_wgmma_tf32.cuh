// matmul "wgmma_tf32": comes after "wgmma_multicast".
//
// Change  The elements are floats, of which wgmma reads 19 bits (tf32): the sign, the exponent and 11 significant
//         bits, one of them not stored. A slab is 32 floats along k, and both operands must be contiguous along k.
//         Threads store the results themselves.
// Why     Tensor cores multiply tf32 at half the rate of float16, which is seven times the rate of other float32
//         instructions. It is for callers whose inputs have few exact digits anyway.
// Claim   multiply-adds per instruction: 64 x 256 x 8 (before: 64 x 256 x 16); relative error of a product: below
//         2^-9, whatever k
// Gain    on an H200, m = n = k = 4096: 335 TFLOP/s ("warp_tiles", which keeps all bits of a float: 47.9);
//         docs/speed.md
// Price   accuracy: every input is truncated to 11 significant bits, so only a call that names this variant uses it.
//         (Of a signaling NaN with no other bit among them, an infinity remains.)
// Edges   as in "wgmma_tiles". An A whose columns are contiguous, or a B whose rows are, is transposed in device
//         memory first. (wgmma transposes 16-bit elements only.)
// Map     as in "wgmma_multicast"
// Limit   While a consumer stores its results, its half of the tensor cores' work waits.
#ifndef CK_MATMUL_WGMMA_TF32_CUH
#define CK_MATMUL_WGMMA_TF32_CUH

#include "25_wgmma_multicast.cuh" // the work of a block

namespace matmul {

// The results take no shared memory, so there are more stages than in "wgmma_persistent": 192 KiB in each size.
template <int COLUMNS, int STAGES>
struct [[gnu::visibility("default")]] wgmma_along_k_size : wgmma_persistent_size<COLUMNS, STAGES> {
    enum { SHARED_BYTES = 1024 + STAGES * wgmma_persistent_size<COLUMNS, STAGES>::STAGE_BYTES };
};
using wgmma_along_k_256 = wgmma_along_k_size<256, 4>;
using wgmma_along_k_128 = wgmma_along_k_size<128, 6>;
using wgmma_along_k_64 = wgmma_along_k_size<64, 8>;

// T: float or int8_t. Total: wgmma_total<T>. (A parameter of its own, because compilers name a type that depends on a
// condition in different ways.)
template <typename T, typename Total, typename size>
__global__ void __launch_bounds__(size::THREADS, 1)
    wgmma_along_k(const __grid_constant__ tensor_map a_map, const __grid_constant__ tensor_map b_map,
                  const box_operands<Total> operands) {
    if (!CK_HAS_WGMMA) return;
    compute_pairs<T, size, true, true>(
        a_map, b_map, operands, whole_pairs::of<size>(operands, SLAB_BYTES / sizeof(T)),
        [&](unsigned char *, const whole_pairs &, int number, int row, int column, const auto &sum) {
            store_sums(product_index<Total>(operands, number).c, row, column, operands.m, operands.n, sum);
        });
}

} // namespace matmul

#endif
