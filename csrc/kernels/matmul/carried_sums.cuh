// Long sums of float32 in "split_bf16" and "split_inside", which lose little to rounding.
//
// A sum of many slabs is rounded once for each of them, and the larger it is, the more it loses. So after every CARRY_SLABS
// slabs, sums in memory take over: a thread adds its own to them, and goes on with what this addition has rounded off, which is
// known exactly (Knuth's TwoSum). What is left are the roundings within a group of slabs.
#ifndef CK_MATMUL_CARRIED_SUMS_CUH
#define CK_MATMUL_CARRIED_SUMS_CUH

#include <cuda_runtime.h>

namespace matmul {

enum { CARRY_SLABS = 32 };

// Returns before + sum; `sum` becomes what was rounded off, or 0 if the result is not finite.
__device__ __forceinline__ float carry(float before, float &sum) {
    const float after = before + sum, added = after - before;
    const float rest = (before - (after - added)) + (sum - added);
    sum = after - after == 0 ? rest : 0;
    return after;
}

} // namespace matmul

#endif
