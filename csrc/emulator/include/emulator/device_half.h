// The common part of cuda_fp16.h and cuda_bf16.h: a number of 16 bits, with a sign, EXPONENT_BITS bits of exponent,
// and a fraction. Conversions use integers, so they depend neither on compiler flags nor on the processor's mode.
//
// Conversions to 16 bits round once, to nearest, ties to even. NaN becomes 0x7fff, as with floats on a GPU (which
// keeps some bits of a double's NaN). Arithmetic is done in float and then rounded; for these widths this gives the
// same bits as rounding the exact result.
#ifndef EMULATOR_DEVICE_HALF_H
#define EMULATOR_DEVICE_HALF_H

#include <stdint.h>

#include <limits>
#include <type_traits>

#include "device_intrinsics.h"

namespace emu {

template <int EXPONENT_BITS> struct short_format {
    enum : int {
        FRACTION_BITS = 15 - EXPONENT_BITS,
        BIAS = (1 << (EXPONENT_BITS - 1)) - 1,
        LOWEST = 1 - BIAS, // the exponent of the smallest normal number and of all subnormal ones
    };
    enum : unsigned { INFINITE = ((1u << EXPONENT_BITS) - 1) << FRACTION_BITS, NOT_A_NUMBER = 0x7fff };
};

template <int EXPONENT_BITS> unsigned short short_from_double(double value) {
    using format = short_format<EXPONENT_BITS>;
    const uint64_t bits = same_bits<uint64_t>(value), magnitude = bits & INT64_MAX;
    const unsigned sign = static_cast<unsigned>(bits >> 63) << 15;
    const int exponent = static_cast<int>(magnitude >> 52) - 1023;
    if (magnitude > UINT64_C(0x7ff0000000000000)) return format::NOT_A_NUMBER;
    if (exponent > format::BIAS) return static_cast<unsigned short>(sign | format::INFINITE);

    // The significand has 52 fractional bits; its lowest `shift` bits are dropped. (For a subnormal double the
    // leading bit is wrong, but then none of its bits are kept.)
    const uint64_t significand = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const bool normal = exponent >= format::LOWEST;
    const int shift = 52 - format::FRACTION_BITS + (normal ? 0 : format::LOWEST - exponent);
    if (shift > 53) return static_cast<unsigned short>(sign); // less than half of the smallest number
    const uint64_t rest = significand & ((UINT64_C(1) << shift) - 1), tie = UINT64_C(1) << (shift - 1);
    unsigned kept = static_cast<unsigned>(significand >> shift);
    kept += rest > tie || (rest == tie && kept % 2 == 1); // a carry out of the fraction is the next exponent's zero
    if (normal) kept += static_cast<unsigned>(exponent - format::LOWEST) << format::FRACTION_BITS;
    return static_cast<unsigned short>(sign | kept);
}

// For integers of more than 53 bits: sets the last bit if nonzero bits are cut off (a sticky bit), so that the result
// is rounded only once.
template <typename Integer> double marked_double(Integer value) {
    const bool negative = value < 0;
    const uint64_t wide = static_cast<uint64_t>(value), magnitude = negative ? 0 - wide : wide;
    const uint64_t cut = magnitude >> 53 == 0 ? magnitude : (magnitude >> 11 | (magnitude % 2048 != 0)) << 11;
    return negative ? -static_cast<double>(cut) : static_cast<double>(cut);
}

template <typename T> using if_integer = typename std::enable_if<std::is_integral<T>::value, int>::type;

// The type itself. `Self` is CUDA's type, which adds only `static float widened(unsigned short)`.
template <typename Self, typename Raw, int EXPONENT_BITS> class alignas(2) short_float {
  protected: // CCCL reads it by CUDA's name
    unsigned short __x;

  private:
    static Self from(float value) { return Self(static_cast<double>(value)); }

  public:
    short_float() = default;
    constexpr short_float(const Raw &raw) : __x(raw.x) {}
    short_float(double value) : __x(short_from_double<EXPONENT_BITS>(value)) {}
    short_float(float value) : short_float(static_cast<double>(value)) {}
    template <typename Integer, if_integer<Integer> = 0>
    short_float(Integer value) : short_float(marked_double(value)) {}

    operator Raw() const {
        Raw raw;
        raw.x = __x;
        return raw;
    }
    operator Raw() const volatile {
        Raw raw;
        raw.x = __x;
        return raw;
    }
    operator float() const { return Self::widened(__x); }
    operator bool() const { return __x % 0x8000 != 0; }
    template <typename Integer, if_integer<Integer> = 0> operator Integer() const {
        return saturated<Integer>(static_cast<float>(*this));
    }

#define EMU_ARITHMETIC(op)                                                                                           \
    friend Self operator op(const Self &x, const Self &y) {                                                          \
        return from(static_cast<float>(x) op static_cast<float>(y));                                                 \
    }                                                                                                                \
    friend Self &operator op##=(Self &x, const Self &y) {                                                            \
        return x = x op y;                                                                                           \
    }
    EMU_ARITHMETIC(+)
    EMU_ARITHMETIC(-)
    EMU_ARITHMETIC(*)
    EMU_ARITHMETIC(/)
#undef EMU_ARITHMETIC
#define EMU_COMPARISON(op)                                                                                           \
    friend bool operator op(const Self &x, const Self &y) {                                                          \
        return static_cast<float>(x) op static_cast<float>(y);                                                       \
    }
    EMU_COMPARISON(==)
    EMU_COMPARISON(!=)
    EMU_COMPARISON(<)
    EMU_COMPARISON(>)
    EMU_COMPARISON(<=)
    EMU_COMPARISON(>=)
#undef EMU_COMPARISON
    // CUDA does not compile these either; without the deletion they would compile through a conversion to bool.
#define EMU_NO_OPERATOR(op) template <typename Other> friend void operator op(const Self &, const Other &) = delete;
    EMU_NO_OPERATOR(%)
    EMU_NO_OPERATOR(&)
    EMU_NO_OPERATOR(|)
    EMU_NO_OPERATOR(^)
    EMU_NO_OPERATOR(<<)
    EMU_NO_OPERATOR(>>)
#undef EMU_NO_OPERATOR
    friend void operator~(const Self &) = delete;
    friend Self operator-(const Self &x) {
        Raw raw = x;
        raw.x ^= 0x8000;
        return raw;
    }
    friend Self operator+(const Self &x) {
        return x;
    }
    friend Self &operator++(Self &x) {
        return x = x + Self(1);
    }
    friend Self &operator--(Self &x) {
        return x = x - Self(1);
    }
    friend Self operator++(Self &x, int) {
        const Self before = x;
        ++x;
        return before;
    }
    friend Self operator--(Self &x, int) {
        const Self before = x;
        --x;
        return before;
    }
};

} // namespace emu

#endif
