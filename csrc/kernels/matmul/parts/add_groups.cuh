// The second kernel of variants that divide k among groups of blocks: it adds the sums of the groups. The host's part
// is in launches/groups.cuh.
#ifndef CK_MATMUL_ADD_GROUPS_CUH
#define CK_MATMUL_ADD_GROUPS_CUH

#include "box_slabs.cuh"
#include "device_extras.cuh"
#include "group_sums.cuh"

namespace matmul {

// C = the sum of the groups' sums, one thread per element, in the order of the groups.
template <typename T>
__global__ void add_groups(const box_operands<T> operands, const partial_sums<number<T>> sums_of_groups) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t each = static_cast<int64_t>(operands.m) * operands.n, elements = each * operands.products;
    if (i >= elements) return;
    const product_index<T> product(operands, static_cast<int>(i / each));
    const int64_t row = i % each / operands.n, column = i % operands.n;
    const number<T> *const from = sums_of_groups.data + i;
    number<T> sum = 0;
    wait_for_grid_before(); // the groups
    const int groups = sums_of_groups.groups;
    int group = 0;
    for (constexpr int AT_ONCE = 16; group + AT_ONCE <= groups; group += AT_ONCE) { // all loads before the sums
        number<T> x[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) x[j] = from[(group + j) * elements];
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) sum += x[j];
    }
#pragma unroll 4
    for (; group < groups; ++group) sum += from[group * elements];
    product.c.store(row, column, sum);
}

} // namespace matmul

#endif
