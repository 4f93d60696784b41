// Conversions between types of numbers, with the results of NumPy's astype: number_cast<float>(half).
//
// Every conversion rounds once, to nearest, ties to even. It goes through a third type only if that step is exact. A
// number is converted to bool as "not equal to 0" (NaN is true), and a complex number to a real one by dropping the
// imaginary part. No standard defines the conversion of a float that is out of range for an integer type. On every
// backend, the result is that of x86 processors, which NumPy returns as well: the lowest int32 or int64, truncated to
// the bits of the type.
#ifndef CK_NUMBERS_CUH
#define CK_NUMBERS_CUH

#include <stdint.h>
#include <type_traits>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "complex.cuh"

// A bool in memory. Any byte other than 0 is true, as in NumPy; reading such a byte as a C++ bool would be undefined
// behavior. (Default visibility, for the same reason as in complex.cuh.)
struct [[gnu::visibility("default")]] bool8 {
    unsigned char byte;

    bool8() = default;
    __host__ __device__ constexpr bool8(bool value) : byte(value) {}
    __host__ __device__ constexpr operator bool() const {
        return byte != 0;
    }
};

template <typename T> struct is_complex : std::false_type {};
template <typename T> struct is_complex<complex<T>> : std::true_type {};

// Rounds toward zero to int32_t or int64_t. A number out of range gives the lowest value of the type.
template <typename Whole, typename Float> __device__ __forceinline__ Whole whole_number(Float x) {
    constexpr Whole lowest = sizeof(Whole) == 4 ? INT32_MIN : INT64_MIN;
    const Float low = static_cast<Float>(lowest); // a power of two: exact
    return x >= low && x < -low ? static_cast<Whole>(x) : lowest;
}

template <typename To, typename Float> __device__ __forceinline__ To integer_of(Float x) {
    using Whole = std::conditional_t<sizeof(To) < 8, int32_t, int64_t>;
    if constexpr (std::is_unsigned_v<To> && sizeof(To) == sizeof(Whole)) {
        const To middle = To(1) << (8 * sizeof(To) - 1);
        const Float half = static_cast<Float>(middle);
        if (x >= half) return static_cast<To>(whole_number<Whole>(x - half)) ^ middle;
    }
    return static_cast<To>(whole_number<Whole>(x));
}

// A double that rounds to every narrower type like the integer itself: its 53 highest bits, where the last bit is set
// if the bits that were cut off are not all 0.
template <typename Integer> __device__ __forceinline__ double marked_double(Integer x) {
    if constexpr (sizeof(Integer) < 8) {
        return static_cast<double>(x);
    } else if constexpr (std::is_signed_v<Integer>) {
        const uint64_t wide = static_cast<uint64_t>(x);
        return x < 0 ? -marked_double(0 - wide) : marked_double(wide);
    } else {
        return static_cast<double>(x >> 53 == 0 ? x : (x >> 11 | (x % 2048 != 0)) << 11);
    }
}

template <typename To, typename From> __device__ __forceinline__ To number_cast(From x) {
    using std::is_same_v;
    if constexpr (is_same_v<To, From>) {
        return x;
    } else if constexpr (is_complex<From>::value && is_complex<To>::value) {
        using part = decltype(To::re);
        return To(number_cast<part>(x.re), number_cast<part>(x.im));
    } else if constexpr (is_complex<From>::value && (is_same_v<To, bool> || is_same_v<To, bool8>)) {
        return To(x.re != 0 || x.im != 0);
    } else if constexpr (is_complex<From>::value) {
        return number_cast<To>(x.re);
    } else if constexpr (is_complex<To>::value) {
        return To(number_cast<decltype(To::re)>(x), 0);
    } else if constexpr (is_same_v<From, bool8> || is_same_v<From, bool>) {
        return number_cast<To>(static_cast<int32_t>(static_cast<bool>(x)));
    } else if constexpr (is_same_v<From, __half>) {
        return number_cast<To>(__half2float(x));
    } else if constexpr (is_same_v<From, __nv_bfloat16>) {
        return number_cast<To>(__bfloat162float(x));
    } else if constexpr (is_same_v<To, bool8> || is_same_v<To, bool>) {
        return To(x != 0);
    } else if constexpr (is_same_v<To, __half>) {
        if constexpr (is_same_v<From, float>)
            return __float2half_rn(x);
        else if constexpr (is_same_v<From, double>)
            return __double2half(x);
        else
            return __double2half(marked_double(x));
    } else if constexpr (is_same_v<To, __nv_bfloat16>) {
        if constexpr (is_same_v<From, float>)
            return __float2bfloat16_rn(x);
        else if constexpr (is_same_v<From, double>)
            return __double2bfloat16(x);
        else
            return __double2bfloat16(marked_double(x));
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        return integer_of<To>(x);
    } else {
        return static_cast<To>(x);
    }
}

#endif
