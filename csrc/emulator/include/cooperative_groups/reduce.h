// reduce() of tiles and coalesced groups. The order of the operations is that of a GPU, so sums of floats have the
// same bits.
#ifndef EMULATOR_COOPERATIVE_GROUPS_REDUCE_H
#define EMULATOR_COOPERATIVE_GROUPS_REDUCE_H

#include "scan.h"

namespace cooperative_groups {

template <unsigned Size, typename Parent, typename T, typename Operation>
__device__ auto reduce(const thread_block_tile<Size, Parent> &group, T &&value, Operation &&operation, EMU_SITE)
    -> decltype(operation(value, value)) {
    typename std::decay<T>::type result = value;
    for (unsigned with = (Size < 32 ? Size : 32) / 2; with > 0; with /= 2)
        result = operation(result, group.shfl_xor(result, with, file, line));
    for (unsigned with = 32; with < Size; with *= 2) // across warps
        result = operation(result, group.shfl_xor(result, with, file, line));
    return result;
}
template <typename T, typename Operation>
__device__ auto reduce(const coalesced_group &group, T &&value, Operation &&operation, EMU_SITE)
    -> decltype(operation(value, value)) {
    if (group.size() < 32) {
        const auto sums = inclusive_scan(group, value, operation, file, line);
        return group.shfl(sums, static_cast<int>(group.size()) - 1, file, line);
    }
    const auto tile = tiled_partition<32>(this_thread_block());
    return reduce(tile, value, operation, file, line);
}

} // namespace cooperative_groups

#endif
