// inclusive_scan and exclusive_scan of tiles and coalesced groups, in log2(size) steps as on a GPU. As there, an
// operation gets the later value first.
#ifndef EMULATOR_COOPERATIVE_GROUPS_SCAN_H
#define EMULATOR_COOPERATIVE_GROUPS_SCAN_H

#include "functional.h"

namespace cooperative_groups {

template <typename Group, typename T, typename Operation>
__device__ auto inclusive_scan(const Group &group, T &&value, Operation &&operation, EMU_SITE)
    -> decltype(operation(value, value)) {
    typename std::decay<T>::type result = value;
    const unsigned rank = group.thread_rank(), size = group.size();
    for (unsigned step = 1; step < size; step *= 2) {
        const auto before = group.shfl_up(result, step, file, line);
        if (rank >= step) result = operation(result, before);
    }
    return result;
}
template <typename Group, typename T> __device__ auto inclusive_scan(const Group &group, T &&value, EMU_SITE) {
    return inclusive_scan(group, value, plus<typename std::decay<T>::type>(), file, line);
}

// Returns T() in the first thread.
template <typename Group, typename T, typename Operation>
__device__ auto exclusive_scan(const Group &group, T &&value, Operation &&operation, EMU_SITE)
    -> decltype(operation(value, value)) {
    const auto before = group.shfl_up(inclusive_scan(group, value, operation, file, line), 1, file, line);
    return group.thread_rank() ? before : typename std::decay<T>::type();
}
template <typename Group, typename T> __device__ auto exclusive_scan(const Group &group, T &&value, EMU_SITE) {
    return exclusive_scan(group, value, plus<typename std::decay<T>::type>(), file, line);
}

} // namespace cooperative_groups

#endif
