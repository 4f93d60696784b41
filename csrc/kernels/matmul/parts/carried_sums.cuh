// Long sums of float32 in "split_bf16", "split_fp16" and "split_inside", which lose little to rounding.
//
// A sum is rounded each time the tensor cores' sums are added to it, and the larger it is, the more it loses. So
// after some slabs, a thread adds it to that of the slabs before, and goes on with what this addition has rounded
// off, which is known exactly (Knuth's TwoSum). What is left are the roundings within a group of slabs.
#ifndef CK_MATMUL_CARRIED_SUMS_CUH
#define CK_MATMUL_CARRIED_SUMS_CUH

#include <math.h>

#include <cuda_runtime.h>

namespace matmul {

// The widest tiles that leave a thread registers for the sum of the groups before. With wider ones, it is in the
// workspace.
enum { SECOND_SUM_COLUMNS = 128 };

// The slabs of a group in those tiles, and in wider ones. There, a sum of 8192 elements of k has a third of the error
// of SGEMM's; shorter ones, of 961 to 1984 elements, are divided once. MOST_ADDED: if a sum has more slabs, what is
// rounded off is carried on.
enum { CARRY_SLABS = 8, CARRY_WIDE_SLABS = 128, MOST_ADDED = 128 };
__host__ __device__ __forceinline__ int carry_wide_slabs(int slabs) {
    return slabs >= 16 && slabs < 32 ? (slabs + 1) / 2 : +CARRY_WIDE_SLABS;
}

// Adds `sum` to `before`; `sum` becomes what was rounded off, or 0 if the result is not finite. What has overflowed
// stays infinite.
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

// The same where what is rounded off need not be carried on.
template <int COUNT> __device__ __forceinline__ void add_in(float (&before)[COUNT], float (&sum)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        if (fabsf(before[i]) < HUGE_VALF) before[i] += sum[i];
        sum[i] = 0;
    }
}

} // namespace matmul

#endif
