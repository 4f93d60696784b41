// What "split_fp16" has found in the elements of a product, and what computes the product, then.
#ifndef CK_MATMUL_SPLIT_FINDINGS_CUH
#define CK_MATMUL_SPLIT_FINDINGS_CUH

#include <cuda_runtime.h>

namespace matmul {

// Bits that split_pieces finds in the operands of a product (in B: shifted by FOUND_B). split_blocks.cuh says why.
enum { FOUND_LIMITS = 6 };
enum split_findings : unsigned {
    FOUND_LOSSY = 1,    // two pieces in fp16 do not hold an element
    FOUND_FEW_GOOD = 2, // a line has lossy elements and too few good ones for a limit: one bit for each limit
    FOUND_FEW_FAIR = FOUND_FEW_GOOD << FOUND_LIMITS, // a line has fewer fair elements than the limit: likewise
    FOUND_B = 1 + 2 * FOUND_LIMITS,
    FOUND_IN_ONE = (1 << FOUND_B) - 1,    // the bits of one operand
    FOUND_NOT_FP16 = 1 << 2 * FOUND_B,    // an element is too large or too small for fp16
    FOUND_NOT_BF16 = FOUND_NOT_FP16 << 1, // an element is infinite or NaN, or so small that bf16 would lose it
};

// Whether the lossy elements of one operand may do harm: true if no limit holds for the lines of both.
__device__ __forceinline__ bool lossy_do_harm(unsigned own, unsigned other) {
    constexpr unsigned ALL = (1 << FOUND_LIMITS) - 1;
    return (own & FOUND_LOSSY) != 0 && ((own / FOUND_FEW_GOOD | other / FOUND_FEW_FAIR) & ALL) == ALL;
}

enum split_choice { SPLIT_IN_FP16, SPLIT_IN_BF16, SPLIT_NOT };
__device__ __forceinline__ int choice_of(unsigned findings) {
    const unsigned in_a = findings & FOUND_IN_ONE, in_b = findings >> FOUND_B & FOUND_IN_ONE;
    if (findings & FOUND_NOT_BF16) return SPLIT_NOT;
    const bool harm = lossy_do_harm(in_a, in_b) || lossy_do_harm(in_b, in_a);
    return harm || (findings & FOUND_NOT_FP16) ? SPLIT_IN_BF16 : SPLIT_IN_FP16;
}

} // namespace matmul

#endif
