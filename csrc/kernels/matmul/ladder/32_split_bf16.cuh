// matmul "split_bf16": comes after "split_fp16".
//
// Change  The kernel is the same, with three pieces in bfloat16 instead of two in float16, and with six products
//         instead of three: those of pieces i and j with i + j <= 2. When a thread adds the sums of eight slabs to
//         those of the slabs before, it carries on what is rounded off: split_sums.cuh.
// Why     bfloat16 has the exponents of float32, and three pieces hold all 24 bits of an element. A check is only
//         needed for elements that are less than 2^-106 of the largest in their block, or less than 2^-125: there,
//         "warp_tiles" computes the product. Where one term is much larger than the others, the sum of a long k would
//         lose most by being rounded after every slab.
// Claim   instructions of a warpgroup for 64 x 128 x 64 multiply-adds: 24 wgmma and 128 multiply-adds
// Gain    on an H200, m = n = k = 4096: 117 TFLOP/s in float32 ("split_fp16": 214; cuBLAS: 51)
// Price   twice the products
// Edges   as in "split_fp16". Where an element is infinite, NaN or too small, "warp_tiles" computes the product
// Map     as in "split_fp16"
// Limit   the power limit of the chip
#ifndef CK_MATMUL_SPLIT_BF16_CUH
#define CK_MATMUL_SPLIT_BF16_CUH

#include "31_split_fp16.cuh" // the kernel

namespace matmul {

using split_bf16_128 = split_size<__nv_bfloat16, 128, 2>;
using split_bf16_64 = split_size<__nv_bfloat16, 64, 3>;

} // namespace matmul

#endif
