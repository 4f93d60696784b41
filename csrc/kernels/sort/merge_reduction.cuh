// sort "merge_reduction": comes after "merge_atomic_min".
//
// Change  The smallest of the first keys is found by a tree: half of the threads compare, then half of those.
// Why     log2(lists) steps, where atomics on one word come one after another; and a tree works for every type.
// Claim   atomics: 0 (before: more than one for every list and key)
// Price   log2(lists) + 2 barriers for every key written (before: 2)
// Edges   any number of lists: the upper half may be one shorter than the lower. Key and list travel as one number of
//         64 bits, so that equal keys are told apart; a list that has ended sends a number that no key makes
// Map     thread t compares t with t + half
// Limit   few lists make a tree whose steps are all barrier; the atomics are quick for few: "merge_hybrid"
#ifndef CK_SORT_MERGE_REDUCTION_CUH
#define CK_SORT_MERGE_REDUCTION_CUH

#include "merge_atomic_min.cuh"

namespace sort {

template <typename T, bool SHARED>
__global__ void __launch_bounds__(MOST_LISTS)
    merge_reduction(const T *__restrict__ x, T *__restrict__ result, int64_t n, uint32_t *work) {
    DYNAMIC_SHARED(uint32_t, shared);
    __shared__ unsigned long long heads[MOST_LISTS]; // (key, list)
    uint32_t *const keys = SHARED ? shared : work;
    const int tid = threadIdx.x;
    sort_lists(x, keys, keys + n, n);

    list_head head(keys, n);
    for (int64_t i = 0; i < n; ++i) {
        heads[tid] = head.there() ? static_cast<unsigned long long>(head.key) << 32 | threadIdx.x : ~0ull;
        __syncthreads();
        for (int live = blockDim.x; live > 1;) {
            const int half = (live + 1) / 2;
            if (tid < live - half && heads[tid + half] < heads[tid]) heads[tid] = heads[tid + half];
            live = half;
            __syncthreads();
        }
        if (static_cast<unsigned>(heads[0]) == threadIdx.x) head.write(&result[i]);
        __syncthreads(); // before the next round overwrites heads[0]
    }
}

} // namespace sort

#endif
