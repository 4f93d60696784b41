// sort "merge_serial": comes after "radix_lists".
//
// Change  One work list: keys whose bit is 0 go back into the list itself, behind those already read.
// Why     Nobody needs the place of a key that has been read; and the zeros need no way back.
// Claim   words of work list: n (before: 2 n); a key whose bit is 0 is moved once a bit (before: twice)
// Price   none
// Edges   as "radix_lists"
// Map     list t holds the keys t, t + lists, ...; thread 0 merges
// Limit   more lists sort faster, each being shorter, and merge slower: one thread looks at every list for every key
//         it writes, while all others wait: "merge_atomic_min"
#ifndef CK_SORT_MERGE_SERIAL_CUH
#define CK_SORT_MERGE_SERIAL_CUH

#include "radix_lists.cuh"

namespace sort {

__device__ __forceinline__ void sort_list(uint32_t *keys, uint32_t *ones, int64_t n, int lists, int list) {
    for (int bit = 0; bit < KEY_BITS; ++bit) {
        const uint32_t mask = 1u << bit;
        int64_t zero = list, one = list;
        for (int64_t at = list; at < n; at += lists) {
            const uint32_t key = keys[at];
            if (key & mask) {
                ones[one] = key;
                one += lists;
            } else {
                keys[zero] = key; // (never ahead of `at`)
                zero += lists;
            }
        }
        for (int64_t at = list; at < one; at += lists, zero += lists) keys[zero] = ones[at];
    }
}

// Every thread loads and sorts its list; all lists are sorted on return.
template <typename T>
__device__ __forceinline__ void sort_lists(const T *__restrict__ x, uint32_t *keys, uint32_t *ones, int64_t n) {
    const int lists = blockDim.x, list = threadIdx.x;
    load_list(x, keys, n, lists, list);
    sort_list(keys, ones, n, lists, list);
    __syncthreads();
}

template <typename T, bool SHARED>
__global__ void __launch_bounds__(MOST_LISTS)
    merge_serial(const T *__restrict__ x, T *__restrict__ result, int64_t n, uint32_t *work) {
    DYNAMIC_SHARED(uint32_t, shared);
    uint32_t *const keys = SHARED ? shared : work;
    sort_lists(x, keys, keys + n, n);
    merge_by_one_thread(keys, result, n, blockDim.x);
}

} // namespace sort

#endif
