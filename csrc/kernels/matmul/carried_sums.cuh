// Long sums of float32 in "split_bf16" and "split_fp16", which lose little to rounding.
//
// A sum is rounded each time the tensor cores' sums are added to it, and the larger it is, the more it loses. So after some slabs, a thread
// adds it to that of the slabs before, and goes on with what this addition has rounded off, which is known exactly (Knuth's TwoSum). What is
// left are the roundings within a group of slabs.
#ifndef CK_MATMUL_CARRIED_SUMS_CUH
#define CK_MATMUL_CARRIED_SUMS_CUH

#include <math.h>

#include <cuda_runtime.h>

namespace matmul {

// The slabs of a group: in "split_bf16", and in "split_fp16". There, from 32 slabs on, sums of 8192 elements of k are still much more accurate
// than SGEMM's. Fewer slabs, from 16 on, are divided once.
enum { CARRY_SLABS = 8, SPLIT_SUM_SLABS = 128 };
__host__ __device__ __forceinline__ int split_sum_slabs(int slabs) {
    return slabs >= 16 && slabs < 32 ? (slabs + 1) / 2 : +SPLIT_SUM_SLABS;
}

// The widest tiles that leave a thread registers for the sum of the groups before. With wider ones, it is in the workspace.
enum { SECOND_SUM_COLUMNS = 128 };

// Adds `sum` to `before`; `sum` becomes what was rounded off, or 0 if the result is not finite. What has overflowed stays infinite.
__device__ __forceinline__ void carry(float &before, float &sum) {
    const float more = fabsf(before) < HUGE_VALF ? sum : 0;
    const float after = before + more, added = after - before;
    const float rest = (before - (after - added)) + (more - added); // NaN if the sum is not finite
    sum = rest == rest ? rest : 0;
    before = after;
}

template <int COUNT> __device__ __forceinline__ void carry_in(float (&before)[COUNT], float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) carry(before[i], sum[i]);
}

// The same for so few groups that what is rounded off need not be carried on.
template <int COUNT> __device__ __forceinline__ void add_in(float (&before)[COUNT], float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        if (fabsf(before[i]) < HUGE_VALF) before[i] += sum[i];
        sum[i] = 0;
    }
}

} // namespace matmul

#endif
