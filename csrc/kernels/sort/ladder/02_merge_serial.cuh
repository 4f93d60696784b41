// sort "merge_serial": comes after "radix_lists".
//
// Change  One work list per thread: keys whose bit is 0 are written back into the list itself.
// Why     Once a key has been read, its element of the list is free. Keys whose bit is 0 need not be copied back.
// Claim   words of work memory: n (before: 2n); moves per bit of a key whose bit is 0: 1 (before: 2)
// Price   none
// Edges   as in "radix_lists"
// Map     list t holds keys t, t + lists, ...; thread 0 merges
// Limit   More lists are shorter and sort faster, but merge more slowly: one thread checks every list for each key
//         that it writes, while all other threads wait: see "merge_atomic_min".
#ifndef CK_SORT_MERGE_SERIAL_CUH
#define CK_SORT_MERGE_SERIAL_CUH

#include "01_radix_lists.cuh"

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
                keys[zero] = key; // zero <= at: this element has been read already
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
