// The keys that are sorted: unsigned integers whose order is NumPy's order of the elements. The mapping is one to
// one, so each key converts back to its element bit for bit. A kernel converts at its first load and at its last
// store.
//
//     uint32      unchanged
//     int32       sign bit inverted, so that negative numbers come first
//     float32     all bits of negative numbers inverted, the sign bit of others set. Then all keys are reduced by the
//                 number of negative NaNs, whose keys wrap around to the end: -inf ... -0.0, 0.0 ... inf, NaNs
//
// NumPy treats -0.0 and 0.0 as equal and keeps their order; here every -0.0 comes before every 0.0.
#ifndef CK_SORT_KEYS_CUH
#define CK_SORT_KEYS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

namespace sort {

enum : uint32_t { TOP_BIT = 0x80000000u, LARGEST_KEY = 0xffffffffu, NEGATIVE_NANS = 0x007fffffu };

__device__ __forceinline__ uint32_t to_key(uint32_t x) {
    return x;
}
__device__ __forceinline__ uint32_t to_key(int32_t x) {
    return static_cast<uint32_t>(x) ^ TOP_BIT;
}
__device__ __forceinline__ uint32_t to_key(float x) {
    const uint32_t bits = __float_as_uint(x);
    return (bits & TOP_BIT ? ~bits : bits | TOP_BIT) - NEGATIVE_NANS;
}

template <typename T> __device__ __forceinline__ T from_key(uint32_t key);
template <> __device__ __forceinline__ uint32_t from_key(uint32_t key) {
    return key;
}
template <> __device__ __forceinline__ int32_t from_key(uint32_t key) {
    return static_cast<int32_t>(key ^ TOP_BIT);
}
template <> __device__ __forceinline__ float from_key(uint32_t key) {
    const uint32_t bits = key + NEGATIVE_NANS;
    return __uint_as_float(bits & TOP_BIT ? bits & ~TOP_BIT : ~bits);
}

} // namespace sort

#endif
