// sort "merge_atomic_min": comes after "merge_serial".
//
// Change  Every list's thread offers its first key by atomicMin; the threads whose key is the minimum then offer their
//         own number, and the lowest of them writes.
// Why     The lists are looked at by all their threads at once, and each key is read once, by its own thread.
// Claim   keys read by the merge: n (before: n * lists)
// Price   two barriers and up to 2 * lists atomics on one word, for every key written
// Edges   a list that has ended offers nothing; whether a thread takes part is not told from a key, so 0xffffffff is
//         sorted too. The minimum is reset for the round after: while others still read this round's there is a
//         second one
// Map     thread t offers list t's first key, which it holds in a register
// Limit   atomics on one address come one after another: with many lists they are the time: "merge_reduction"
#ifndef CK_SORT_MERGE_ATOMIC_MIN_CUH
#define CK_SORT_MERGE_ATOMIC_MIN_CUH

#include "merge_serial.cuh"

namespace sort {

enum : unsigned { NOBODY = 0xffffffffu };

// What a list's thread knows of it.
struct list_head {
    const uint32_t *keys;
    int64_t n, at; // the first key that is not written; none: at >= n
    uint32_t key;  // that key

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
    __shared__ unsigned smallest[2], owner[2]; // of this key and of the next
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
