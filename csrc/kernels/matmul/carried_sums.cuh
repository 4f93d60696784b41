// Long sums of float32 in "split_bf16" and "split_inside", which lose little to rounding.
//
// A sum of many slabs is rounded once for each of them, and the larger it is, the more it loses. So after every CARRY_SLABS
// slabs, sums in memory take over: a thread adds its own to them, and goes on with what this addition has rounded off, which is
// known exactly (Knuth's TwoSum). What is left are the roundings within a group of slabs.
#ifndef CK_MATMUL_CARRIED_SUMS_CUH
#define CK_MATMUL_CARRIED_SUMS_CUH

#include "device_extras.cuh"
#include "operands.cuh"

namespace matmul {

enum { CARRY_SLABS = 32 };

// Returns before + sum; `sum` becomes what was rounded off, or 0 if the result is not finite.
__device__ __forceinline__ float carry(float before, float &sum) {
    const float after = before + sum, added = after - before;
    const float rest = (before - (after - added)) + (sum - added);
    sum = after - after == 0 ? rest : 0;
    return after;
}

// The sums of a thread and those of the groups before, in shared memory: fours, APART from each other.
template <int APART, int COUNT>
__device__ __forceinline__ void carry_in_shared(float4 *carried, float (&total)[COUNT], bool first) {
#pragma unroll
    for (int i = 0; i < COUNT / 4; ++i) {
        float *const own = &total[i * 4];
        float4 four = make_float4(0, 0, 0, 0);
        if (!first) four = carried[i * APART];
        carried[i * APART] =
            make_float4(carry(four.x, own[0]), carry(four.y, own[1]), carry(four.z, own[2]), carry(four.w, own[3]));
    }
}
template <int APART, int COUNT>
__device__ __forceinline__ void add_carried(float (&total)[COUNT], const float4 *carried) {
#pragma unroll
    for (int i = 0; i < COUNT / 4; ++i) {
        const float4 four = carried[i * APART];
        total[i * 4] += four.x, total[i * 4 + 1] += four.y, total[i * 4 + 2] += four.z, total[i * 4 + 3] += four.w;
    }
}

// Those in C, if there is no room in shared memory. The thread has, of every eight columns, two neighbors in its row and in the
// row 8 below (wgmma.cuh). `free`: registers that are not in use.
template <int COUNT>
__device__ __forceinline__ void carry_in(const output_matrix<float, false> &c, int row, int column, int m, int n,
                                         float (&total)[COUNT], float (&free)[COUNT], bool first) {
    const auto each_pair = [&](auto visit) {
#pragma unroll
        for (int i = 0; i < COUNT / 2; ++i) {
            // Few addresses at once: together they would take too many registers.
            if (i % 4 == 0) recompute_from(row), recompute_from(column);
            visit(row + i % 2 * 8, column + i / 2 * 8, free[i * 2], free[i * 2 + 1]);
        }
    };
    if (!first)
        each_pair(
            [&](int at_row, int at_column, float &x, float &y) { load_pair(c, at_row, at_column, m, n, x, y); });
#pragma unroll
    for (int i = 0; i < COUNT; ++i) free[i] = carry(first ? 0 : free[i], total[i]);
    each_pair([&](int at_row, int at_column, float x, float y) { store_pair(c, at_row, at_column, m, n, x, y); });
}

} // namespace matmul

#endif
