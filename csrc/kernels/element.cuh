// The type in which a kernel computes with an element. It is wider if the sum of a row would not fit in the element.
//
//     in memory                    number           result
//     bool                         truth            logical or of logical ands, as in NumPy
//     integers                     unsigned, >= 32  modulo the element's size, so signed and unsigned are the same
//     float16, bfloat16            float            rounded once
//     float, double, complex       the same type
#ifndef CK_ELEMENT_CUH
#define CK_ELEMENT_CUH

#include <stdint.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

struct bool8; // numbers.cuh

struct truth {
    bool is;

    truth() = default;
    __host__ __device__ constexpr truth(bool is) : is(is) {}
    __host__ __device__ constexpr operator bool() const { return is; }
    __device__ __forceinline__ friend truth operator*(truth a, truth b) { return a.is && b.is; }
    __device__ __forceinline__ friend truth operator+(truth a, truth b) { return a.is || b.is; }
    __device__ __forceinline__ truth &operator+=(truth b) { return *this = *this + b; }
};

// Unsigned integers wrap by definition. Types of fewer than 32 bits need a wider one, because C++ would multiply them
// as int, whose overflow is undefined.
template <typename T> struct number_of { using type = T; };
template <> struct number_of<bool8> { using type = truth; };
template <> struct number_of<uint8_t> { using type = uint32_t; };
template <> struct number_of<uint16_t> { using type = uint32_t; };
template <> struct number_of<__half> { using type = float; };
template <> struct number_of<__nv_bfloat16> { using type = float; };
template <typename T> using number = typename number_of<T>::type;

#endif
