// sort "merge_atomic_min": comes after "merge_serial".
//
// Change  The thread of each list submits its list's first key with atomicMin. The threads whose key is the minimum
//         then submit their index in the same way, and the thread with the lowest index writes the key.
// Why     All lists are checked at the same time, and each key is read only once, by the thread of its list.
// Claim   keys that the merge reads: n (before: n * lists)
// Price   two barriers and up to 2 * lists atomics per key written
// Edges   An exhausted list submits nothing. Whether a list is exhausted is known from its index, not from a key, so
//         0xffffffff is sorted correctly too. The minimum must be reset for each key while other threads still read
//         it, so two minima are used in turn.
// Map     thread t keeps the first key of list t in a register
// Limit   Atomics on one address are executed one after another. With many lists they take most of the time: see
//         "merge_reduction".
#ifndef CK_SORT_MERGE_ATOMIC_MIN_CUH
#define CK_SORT_MERGE_ATOMIC_MIN_CUH

#include "02_merge_serial.cuh"

namespace sort {

enum : unsigned { NOBODY = 0xffffffffu };

// The state of one list, held by its thread.
struct list_head {
    const uint32_t *keys;
    int64_t n, at; // at: the index of the first key that is not written yet; at >= n: the list is exhausted
    uint32_t key;  // keys[at]

    __device__ __forceinline__ list_head(const uint32_t *keys, int64_t n)
        : keys(keys), n(n), at(threadIdx.x), key(at < n ? keys[at] : LARGEST_KEY) {}

    __device__ __forceinline__ bool there() const { return at < n; }
    template <typename T> __device__ __forceinline__ void write(T *result) {
        *result = from_key<T>(key);
        at += blockDim.x;
        if (there()) key = keys[at];
    }
};

template <typename T, bool SHARED>
__global__ void __launch_bounds__(MOST_LISTS)
    merge_atomic_min(const T *__restrict__ x, T *__restrict__ result, int64_t n, uint32_t *work) {
    DYNAMIC_SHARED(uint32_t, shared);
    __shared__ unsigned smallest[2], owner[2]; // for the current key and for the next one
    uint32_t *const keys = SHARED ? shared : work;
    if (threadIdx.x == 0) smallest[0] = LARGEST_KEY, owner[0] = NOBODY;
    sort_lists(x, keys, keys + n, n);

    list_head head(keys, n);
    for (int64_t i = 0; i < n; ++i) {
        const int now = static_cast<int>(i % 2);
        if (head.there()) atomicMin(&smallest[now], head.key);
        __syncthreads();
        if (threadIdx.x == 0) smallest[1 - now] = LARGEST_KEY, owner[1 - now] = NOBODY;
        if (head.there() && head.key == smallest[now]) atomicMin(&owner[now], threadIdx.x);
        __syncthreads();
        if (owner[now] == threadIdx.x) head.write(&result[i]);
    }
}

} // namespace sort

#endif
