// sort "merge_reduction": comes after "merge_atomic_min".
//
// Change  A tree finds the smallest of the first keys: half of the threads compare, then half of those, and so on.
// Why     log2(lists) steps, whereas atomics on one word are executed one after another. A tree also works for types
//         that have no atomicMin.
// Claim   atomics: 0 (before: at least one per key written, plus one per list)
// Price   log2(lists) + 2 barriers per key written (before: 2)
// Edges   The number of lists need not be a power of two: the upper half may be one shorter than the lower half. Key
//         and list are combined into a 64-bit number, so that equal keys stay distinct. An exhausted list submits a
//         number that is larger than any such combination.
// Map     thread t compares heads t and t + half
// Limit   With few lists, the tree spends its time in barriers, and atomics are faster: see "merge_hybrid".
#ifndef CK_SORT_MERGE_REDUCTION_CUH
#define CK_SORT_MERGE_REDUCTION_CUH

#include "03_merge_atomic_min.cuh"

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
