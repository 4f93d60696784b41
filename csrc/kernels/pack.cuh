// Packs: 16 bytes of elements, which a thread loads or stores at once. No wider access exists.
#ifndef CK_PACK_CUH
#define CK_PACK_CUH

#include <stdint.h>

#include <cuda_runtime.h>

enum { WIDEST_ACCESS = 16 };

template <typename T> struct alignas(WIDEST_ACCESS) pack_of {
    static constexpr int WIDTH = WIDEST_ACCESS / sizeof(T);
    T values[WIDTH];
};

// A row of n elements in three parts: `head` elements before the first 16-byte boundary, whole packs, and the rest.
struct packed_row {
    int64_t head, packs, n;
};

template <typename T> __host__ __device__ __forceinline__ packed_row packed_row_of(const T *data, int64_t n) {
    constexpr int WIDTH = pack_of<T>::WIDTH;
    const int64_t beyond = static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % WIDEST_ACCESS / sizeof(T));
    const int64_t to_boundary = (WIDTH - beyond) % WIDTH, head = to_boundary < n ? to_boundary : n;
    return {head, (n - head) / WIDTH, n};
}

// The index of single element `which`. Single elements are the n - packs * WIDTH elements that are in no pack,
// numbered from 0.
template <typename T> __device__ __forceinline__ int64_t single_element(const packed_row &row, int64_t which) {
    return which < row.head ? which : which + row.packs * pack_of<T>::WIDTH;
}

// True if the 16-byte boundaries of two arrays are at the same elements, so that both have the same packs.
template <typename T, typename U> __host__ __device__ __forceinline__ bool packs_meet(const T *x, const U *y) {
    static_assert(sizeof(T) == sizeof(U), "the elements of both arrays must have the same size");
    return (reinterpret_cast<uintptr_t>(x) - reinterpret_cast<uintptr_t>(y)) % WIDEST_ACCESS == 0;
}

#endif
