// matmul "wgmma_int8": comes after "wgmma_tf32".
//
// Change  The kernel is the same; the elements are int8, and the sums and results are int32. A slab is 128 elements
//         along k.
// Why     A quarter of the bytes per element, and tensor cores multiply int8 at four times the rate of tf32.
// Claim   multiply-adds per instruction: 64 x 256 x 32 (before: 64 x 256 x 8); error: none, modulo 2^32
// Gain    on an H200, m = n = k = 4096: 888 TOP/s (PyTorch's _int_mm: 126)
// Price   The result has four times as many bytes as an operand of its size, and the call must pass an int32 out=.
// Edges   as in "wgmma_tf32"
// Map     as in "wgmma_tf32"
// Limit   as in "wgmma_tf32": with small k, the stores take longer than the products
#ifndef CK_MATMUL_WGMMA_INT8_CUH
#define CK_MATMUL_WGMMA_INT8_CUH

#include "30_wgmma_tf32.cuh" // the kernel

#endif
