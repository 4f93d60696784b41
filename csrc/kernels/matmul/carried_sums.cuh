// Long sums of float32 in "split_bf16", which lose little to rounding.
//
// A sum of many slabs is rounded once for each of them, and the larger it is, the more it loses. So after every CARRY_SLABS slabs, a thread adds
// its sums to those in C (in the workspace, if k is divided), and goes on with what this addition has rounded off, which is known exactly (Knuth's
// TwoSum). What is left are the roundings within a group of slabs.
#ifndef CK_MATMUL_CARRIED_SUMS_CUH
#define CK_MATMUL_CARRIED_SUMS_CUH

#include "device_extras.cuh"
#include "operands.cuh"

namespace matmul {

enum { CARRY_SLABS = 32 };

// Returns before + sum; `sum` becomes what was rounded off, or 0 if the result is not finite. What has overflowed stays infinite.
__device__ __forceinline__ float carry(float before, float &sum) {
    const float after = before - before == 0 ? before + sum : before, added = after - before;
    const float rest = (before - (after - added)) + (sum - added);
    sum = after - after == 0 ? rest : 0;
    return after;
}

// The sums of a thread and those of the groups before, in `c`. Of every eight columns, the thread has two neighbors in its row and in
// the row 8 below (wgmma.cuh). `free`: registers that are not in use.
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
