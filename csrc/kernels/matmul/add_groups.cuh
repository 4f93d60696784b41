// For variants that divide k among the blocks of clusters and, where it is very long, among groups of clusters: the
// sums of the groups, and the kernel that adds them.
#ifndef CK_MATMUL_ADD_GROUPS_CUH
#define CK_MATMUL_ADD_GROUPS_CUH

#include "box_slabs.cuh"

namespace matmul {

enum { MOST_PARTS = 8 }; // blocks of a cluster

// The sums of the groups: matrices like C, one after another, for each group.
struct group_sums {
    float *data;
    int groups; // 1: results go to C at once

    __device__ __forceinline__ output_matrix<float, false> matrix(int m, int n, int group, int products,
                                                                  int number) const {
        return {data + (static_cast<int64_t>(group) * products + number) * m * n, n, 1};
    }
};

// C = the sum of the groups' sums, one thread per element, in the order of the groups.
template <typename T> __global__ void add_groups(const box_operands<T> operands, const group_sums sums_of_groups) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t each = static_cast<int64_t>(operands.m) * operands.n, elements = each * operands.products;
    if (i >= elements) return;
    float sum = 0;
#pragma unroll 4
    for (int group = 0; group < sums_of_groups.groups; ++group) sum += sums_of_groups.data[group * elements + i];
    product_index<T>(operands, static_cast<int>(i / each)).c.store(i % each / operands.n, i % operands.n, sum);
}

} // namespace matmul

#endif
