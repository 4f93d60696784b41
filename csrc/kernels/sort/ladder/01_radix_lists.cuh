// sort "radix_lists": the first kernel of the ladder.
//
// Idea    One thread per list. The keys are distributed over the lists in turn. Each thread sorts its list one bit at
//         a time: keys whose bit is 0 go to one work list and the others to a second one, and then both are copied
//         back, zeros first. Afterwards one thread merges the lists: it repeatedly writes the smallest of their first
//         keys.
// Claim   accesses to each key: 4 per bit, so 128 in all; then the merge reads `lists` keys for each key that it
//         writes
// Price   two work lists, each as long as the keys
// Edges   The number and the lengths of the lists are arbitrary, and a list may be empty. The end of a list is
//         detected by its index, not by a sentinel key, because 0xffffffff is a valid key.
// Map     list t holds keys t, t + lists, t + 2 * lists, ...: neighboring threads read neighboring keys
// Limit   One of the two work lists is unnecessary: see "merge_serial".
#ifndef CK_SORT_RADIX_LISTS_CUH
#define CK_SORT_RADIX_LISTS_CUH

#include "device_extras.cuh"
#include "../parts/keys.cuh"

namespace sort {

enum { MOST_LISTS = 256, KEY_BITS = 32 };

// Loads the keys of one list: keys[list], keys[list + lists], ... up to n.
template <typename T>
__device__ __forceinline__ void load_list(const T *__restrict__ x, uint32_t *keys, int64_t n, int lists, int list) {
    for (int64_t at = list; at < n; at += lists) keys[at] = to_key(x[at]);
}

__device__ __forceinline__ void sort_list_by_two(uint32_t *keys, uint32_t *zeros, uint32_t *ones, int64_t n,
                                                 int lists, int list) {
    for (int bit = 0; bit < KEY_BITS; ++bit) {
        const uint32_t mask = 1u << bit;
        int64_t zero = list, one = list, to = list;
        for (int64_t at = list; at < n; at += lists) {
            const uint32_t key = keys[at];
            if (key & mask) {
                ones[one] = key;
                one += lists;
            } else {
                zeros[zero] = key;
                zero += lists;
            }
        }
        for (int64_t at = list; at < zero; at += lists, to += lists) keys[to] = zeros[at];
        for (int64_t at = list; at < one; at += lists, to += lists) keys[to] = ones[at];
    }
}

// All threads of the block must call this function; thread 0 merges.
template <typename T>
__device__ __forceinline__ void merge_by_one_thread(const uint32_t *keys, T *__restrict__ result, int64_t n,
                                                    int lists) {
    __shared__ int64_t heads[MOST_LISTS]; // for each list, the index of its first key that is not written yet
    heads[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int64_t i = 0; i < n; ++i) {
        int owner = -1;
        uint32_t smallest = LARGEST_KEY;
        for (int list = 0; list < lists; ++list) {
            if (heads[list] >= n) continue;
            const uint32_t key = keys[heads[list]];
            if (owner >= 0 && key >= smallest) continue;
            smallest = key;
            owner = list;
        }
        result[i] = from_key<T>(smallest);
        heads[owner] += lists;
    }
}

// SHARED: the keys and the work lists are in the block's shared memory; otherwise in global memory, at `work`.
template <typename T, bool SHARED>
__global__ void __launch_bounds__(MOST_LISTS)
    radix_lists(const T *__restrict__ x, T *__restrict__ result, int64_t n, uint32_t *work) {
    DYNAMIC_SHARED(uint32_t, shared);
    uint32_t *const keys = SHARED ? shared : work, *const zeros = keys + n, *const ones = zeros + n;
    const int lists = blockDim.x, list = threadIdx.x;
    load_list(x, keys, n, lists, list);
    sort_list_by_two(keys, zeros, ones, n, lists, list);
    __syncthreads();
    merge_by_one_thread(keys, result, n, lists);
}

} // namespace sort

#endif
