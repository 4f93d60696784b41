// sort "merge_hybrid": comes after "merge_reduction".
//
// Change  Two steps: each group of 8 lists finds its minimum with atomics, and then one thread per group submits it.
// Why     At most 8 threads compete for the word of a group, and at most 32 threads, one warp, for the last word. A
//         tree over 256 lists has 8 steps.
// Claim   barriers per key written: 3, for any number of lists (before: log2(lists) + 2)
// Price   per key written, one atomic per group of 8 lists more than "merge_atomic_min"
// Edges   The number of lists is arbitrary, so the last group may be smaller. A group whose lists are all exhausted
//         submits the largest key. No thread can win with it by mistake, since threads of exhausted lists do not
//         compare.
// Map     thread t belongs to group t / 8; thread g < groups submits the minimum of group g
// Limit   one block on one multiprocessor, and one key at a time: see "many_blocks"
#ifndef CK_SORT_MERGE_HYBRID_CUH
#define CK_SORT_MERGE_HYBRID_CUH

#include "04_merge_reduction.cuh"

namespace sort {

enum { LISTS_A_GROUP = 8, MOST_GROUPS = MOST_LISTS / LISTS_A_GROUP };

// All threads of the block must call this function, after a barrier.
template <typename T>
__device__ __forceinline__ void merge_by_groups(const uint32_t *keys, T *__restrict__ result, int64_t n) {
    // Element 0 or 1: for the current key and for the next one, in turn.
    __shared__ unsigned group_smallest[2][MOST_GROUPS], smallest[2], owner[2];
    const int tid = threadIdx.x, group = tid / LISTS_A_GROUP;
    const int groups = (blockDim.x + LISTS_A_GROUP - 1) / LISTS_A_GROUP;
    const bool leads = tid < groups;
    if (leads) group_smallest[0][tid] = LARGEST_KEY;
    if (tid == 0) smallest[0] = LARGEST_KEY, owner[0] = NOBODY;
    __syncthreads();

    list_head head(keys, n);
    for (int64_t i = 0; i < n; ++i) {
        const int now = static_cast<int>(i % 2);
        if (head.there()) atomicMin(&group_smallest[now][group], head.key);
        __syncthreads();
        if (leads) {
            atomicMin(&smallest[now], group_smallest[now][tid]);
            group_smallest[1 - now][tid] = LARGEST_KEY;
        }
        if (tid == 0) smallest[1 - now] = LARGEST_KEY, owner[1 - now] = NOBODY;
        __syncthreads();
        if (head.there() && head.key == smallest[now]) atomicMin(&owner[now], threadIdx.x);
        __syncthreads();
        if (owner[now] == threadIdx.x) head.write(&result[i]);
    }
}

template <typename T, bool SHARED>
__global__ void __launch_bounds__(MOST_LISTS)
    merge_hybrid(const T *__restrict__ x, T *__restrict__ result, int64_t n, uint32_t *work) {
    DYNAMIC_SHARED(uint32_t, shared);
    uint32_t *const keys = SHARED ? shared : work;
    sort_lists(x, keys, keys + n, n);
    merge_by_groups(keys, result, n);
}

} // namespace sort

#endif
