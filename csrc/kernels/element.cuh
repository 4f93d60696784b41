// The number that an element becomes when it is computed with: wider where the sum of a row would not fit the element.
//
//     in memory                    number           and back
//     bool                         truth            or of ands, as NumPy has it
//     integers                     unsigned, >= 32  modulo the element's size: signed and unsigned are one
//     float16, bfloat16            float            rounded once
//     float, double, complex       itself
#ifndef CK_ELEMENT_CUH
#define CK_ELEMENT_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "kahan.cuh"
#include "numbers.cuh"

struct truth {
    bool is;

    truth() = default;
    __host__ __device__ constexpr truth(bool is) : is(is) {}
    __host__ __device__ constexpr operator bool() const { return is; }
    __device__ __forceinline__ friend truth operator*(truth a, truth b) { return a.is && b.is; }
    __device__ __forceinline__ truth &operator+=(truth b) { return *this = is || b.is; }
};

// Unsigned integers wrap by definition; those of fewer than 32 bits would be multiplied as int, which does not.
template <typename T> struct number_of { using type = T; };
template <> struct number_of<bool8> { using type = truth; };
template <> struct number_of<uint8_t> { using type = uint32_t; };
template <> struct number_of<uint16_t> { using type = uint32_t; };
template <> struct number_of<__half> { using type = float; };
template <> struct number_of<__nv_bfloat16> { using type = float; };
template <typename T> using number = typename number_of<T>::type;

template <> inline constexpr bool sums_are_exact<truth> = true;

#endif
