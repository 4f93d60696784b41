// Operations on two or four integers in one word (__vadd4, __dp4a, __vimax_s16x2, ...), and on bits.
#ifndef EMULATOR_DEVICE_SIMD_H
#define EMULATOR_DEVICE_SIMD_H

#include <limits>

#include "device_math.h"
#include "../vector_types.h"

#define EMU_FUNCTION(type, name, parameters, ...)                                                                    \
    __host__ __device__ __forceinline__ type name parameters {                                                       \
        return __VA_ARGS__;                                                                                          \
    }

namespace emu {
// The part of a word at a bit, as a number; and a word of the results for all its parts.
template <typename Part> __forceinline__ int part(unsigned word, unsigned at) {
    return static_cast<Part>(word >> at);
}
template <typename Part, typename Function, typename... Words>
__forceinline__ unsigned for_parts(Function function, Words... words) {
    constexpr unsigned bits = 8 * sizeof(Part), mask = (1u << bits) - 1;
    unsigned result = 0;
    for (unsigned at = 0; at < 32; at += bits)
        result |= (static_cast<unsigned>(function(part<Part>(words, at)...)) & mask) << at;
    return result;
}
template <typename Part> __forceinline__ int limited(int x) {
    using limits = std::numeric_limits<Part>;
    return x < limits::min() ? limits::min() : x > limits::max() ? limits::max() : x;
}
__forceinline__ int distance(int x, int y) {
    return x > y ? x - y : y - x;
}
// The average, a half rounded away from zero.
__forceinline__ int average(int x, int y) {
    return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
}
template <typename Part> __forceinline__ unsigned sum_of_distances(unsigned a, unsigned b) {
    unsigned sum = 0;
    for (unsigned at = 0; at < 32; at += 8 * sizeof(Part))
        sum += static_cast<unsigned>(distance(part<Part>(a, at), part<Part>(b, at)));
    return sum;
}
} // namespace emu

#define EMU_SIMD_1(name, Part, ...)                                                                                  \
    EMU_FUNCTION(unsigned, name, (unsigned a), emu::for_parts<Part>([](int x) { return __VA_ARGS__; }, a))
#define EMU_SIMD_2(name, Part, ...)                                                                                  \
    EMU_FUNCTION(unsigned, name, (unsigned a, unsigned b),                                                           \
                 emu::for_parts<Part>([](int x, int y) { return __VA_ARGS__; }, a, b))
#define EMU_SIMD_3(name, Part, ...)                                                                                  \
    EMU_FUNCTION(unsigned, name, (unsigned a, unsigned b, unsigned c),                                               \
                 emu::for_parts<Part>([](int x, int y, int z) { return __VA_ARGS__; }, a, b, c))
#define EMU_SIMD_COMPARISON(name, suffix, Part, op)                                                                  \
    EMU_SIMD_2(__vcmp##name##suffix, Part, x op y ? -1 : 0)                                                          \
    EMU_SIMD_2(__vset##name##suffix, Part, x op y ? 1 : 0)
#define EMU_SIMD(suffix, Signed, Unsigned)                                                                           \
    EMU_SIMD_2(__vadd##suffix, Unsigned, x + y)                                                                      \
    EMU_SIMD_2(__vaddss##suffix, Signed, emu::limited<Signed>(x + y))                                                \
    EMU_SIMD_2(__vaddus##suffix, Unsigned, emu::limited<Unsigned>(x + y))                                            \
    EMU_SIMD_2(__vsub##suffix, Unsigned, x - y)                                                                      \
    EMU_SIMD_2(__vsubss##suffix, Signed, emu::limited<Signed>(x - y))                                                \
    EMU_SIMD_2(__vsubus##suffix, Unsigned, emu::limited<Unsigned>(x - y))                                            \
    EMU_SIMD_1(__vneg##suffix, Signed, -x)                                                                           \
    EMU_SIMD_1(__vnegss##suffix, Signed, emu::limited<Signed>(-x))                                                   \
    EMU_SIMD_1(__vabs##suffix, Signed, abs(x))                                                                       \
    EMU_SIMD_1(__vabsss##suffix, Signed, emu::limited<Signed>(abs(x)))                                               \
    EMU_SIMD_2(__vabsdiffs##suffix, Signed, emu::distance(x, y))                                                     \
    EMU_SIMD_2(__vabsdiffu##suffix, Unsigned, emu::distance(x, y))                                                   \
    EMU_FUNCTION(unsigned, __vsads##suffix, (unsigned a, unsigned b), emu::sum_of_distances<Signed>(a, b))           \
    EMU_FUNCTION(unsigned, __vsadu##suffix, (unsigned a, unsigned b), emu::sum_of_distances<Unsigned>(a, b))         \
    EMU_SIMD_2(__vavgs##suffix, Signed, emu::average(x, y))                                                          \
    EMU_SIMD_2(__vavgu##suffix, Unsigned, emu::average(x, y))                                                        \
    EMU_SIMD_2(__vhaddu##suffix, Unsigned, (x + y) >> 1)                                                             \
    EMU_SIMD_2(__vmaxs##suffix, Signed, max(x, y))                                                                   \
    EMU_SIMD_2(__vmaxu##suffix, Unsigned, max(x, y))                                                                 \
    EMU_SIMD_2(__vmins##suffix, Signed, min(x, y))                                                                   \
    EMU_SIMD_2(__vminu##suffix, Unsigned, min(x, y))                                                                 \
    EMU_SIMD_COMPARISON(eq, suffix, Unsigned, ==)                                                                    \
    EMU_SIMD_COMPARISON(ne, suffix, Unsigned, !=)                                                                    \
    EMU_SIMD_COMPARISON(lts, suffix, Signed, <)                                                                      \
    EMU_SIMD_COMPARISON(ltu, suffix, Unsigned, <)                                                                    \
    EMU_SIMD_COMPARISON(les, suffix, Signed, <=)                                                                     \
    EMU_SIMD_COMPARISON(leu, suffix, Unsigned, <=)                                                                   \
    EMU_SIMD_COMPARISON(gts, suffix, Signed, >)                                                                      \
    EMU_SIMD_COMPARISON(gtu, suffix, Unsigned, >)                                                                    \
    EMU_SIMD_COMPARISON(ges, suffix, Signed, >=)                                                                     \
    EMU_SIMD_COMPARISON(geu, suffix, Unsigned, >=)
EMU_SIMD(2, short, unsigned short)
EMU_SIMD(4, signed char, unsigned char)
#undef EMU_SIMD
#undef EMU_SIMD_COMPARISON

// --- minimum and maximum of two or three numbers, or of a sum that wraps around and a number; _relu: at least 0
namespace emu {
__forceinline__ int wrapped_sum(int x, int y) {
    return static_cast<int>(static_cast<unsigned>(x) + static_cast<unsigned>(y));
}
} // namespace emu
#define EMU_EXTREMES(best)                                                                                           \
    EMU_SIMD_3(__vi##best##3_s16x2, short, best(best(x, y), z))                                                      \
    EMU_SIMD_3(__vi##best##3_u16x2, unsigned short, best(best(x, y), z))                                             \
    EMU_SIMD_3(__vi##best##3_s16x2_relu, short, max(best(best(x, y), z), 0))                                         \
    EMU_SIMD_2(__vi##best##_s16x2_relu, short, max(best(x, y), 0))                                                   \
    EMU_SIMD_3(__viadd##best##_s16x2, short, best(static_cast<int>(static_cast<short>(x + y)), z))                   \
    EMU_SIMD_3(__viadd##best##_u16x2, unsigned short, best(static_cast<int>(static_cast<unsigned short>(x + y)), z)) \
    EMU_SIMD_3(__viadd##best##_s16x2_relu, short, max(best(static_cast<int>(static_cast<short>(x + y)), z), 0))      \
    EMU_FUNCTION(int, __vi##best##3_s32, (int x, int y, int z), best(best(x, y), z))                                 \
    EMU_FUNCTION(unsigned, __vi##best##3_u32, (unsigned x, unsigned y, unsigned z), best(best(x, y), z))             \
    EMU_FUNCTION(int, __vi##best##3_s32_relu, (int x, int y, int z), max(best(best(x, y), z), 0))                    \
    EMU_FUNCTION(int, __vi##best##_s32_relu, (int x, int y), max(best(x, y), 0))                                     \
    EMU_FUNCTION(int, __viadd##best##_s32, (int x, int y, int z), best(emu::wrapped_sum(x, y), z))                   \
    EMU_FUNCTION(unsigned, __viadd##best##_u32, (unsigned x, unsigned y, unsigned z), best(x + y, z))                \
    EMU_FUNCTION(int, __viadd##best##_s32_relu, (int x, int y, int z), max(best(emu::wrapped_sum(x, y), z), 0))
EMU_EXTREMES(max)
EMU_EXTREMES(min)
#undef EMU_EXTREMES
// The same of two numbers, and whether the first one is the result.
#define EMU_CHOICE(best, op, Type, word)                                                                             \
    __host__ __device__ __forceinline__ Type __vib##best##_##word(Type x, Type y, bool *first) {                     \
        *first = x op y;                                                                                             \
        return best(x, y);                                                                                           \
    }
#define EMU_CHOICES(best, op, Part, word)                                                                            \
    __host__ __device__ __forceinline__ unsigned __vib##best##_##word(unsigned a, unsigned b, bool *high,            \
                                                                      bool *low) {                                   \
        *high = emu::part<Part>(a, 16) op emu::part<Part>(b, 16);                                                    \
        *low = emu::part<Part>(a, 0) op emu::part<Part>(b, 0);                                                       \
        return emu::for_parts<Part>([](int x, int y) { return best(x, y); }, a, b);                                  \
    }
EMU_CHOICE(max, >=, int, s32)
EMU_CHOICE(max, >=, unsigned, u32)
EMU_CHOICE(min, <=, int, s32)
EMU_CHOICE(min, <=, unsigned, u32)
EMU_CHOICES(max, >=, short, s16x2)
EMU_CHOICES(max, >=, unsigned short, u16x2)
EMU_CHOICES(min, <=, short, s16x2)
EMU_CHOICES(min, <=, unsigned short, u16x2)
#undef EMU_CHOICE
#undef EMU_CHOICES
#undef EMU_SIMD_1
#undef EMU_SIMD_2
#undef EMU_SIMD_3

// --- sums of products of four bytes; or of two numbers of 16 bits with the low or the high two bytes
namespace emu {
template <typename A, typename B> __forceinline__ unsigned dot(unsigned a, unsigned b, unsigned sum) {
    for (unsigned i = 0; i < 4 / sizeof(A); ++i)
        sum += static_cast<unsigned>(part<A>(a, 8 * sizeof(A) * i) * part<B>(b, 8 * i));
    return sum;
}
} // namespace emu
#define EMU_DOT(name, Result, A, B, Word, as_a, as_b, shift)                                                         \
    EMU_FUNCTION(Result, name, (Word##A a, Word##B b, Result c),                                                     \
                 static_cast<Result>(emu::dot<as_a, as_b>(                                                           \
                     emu::same_bits<unsigned>(a), emu::same_bits<unsigned>(b) >> shift, static_cast<unsigned>(c))))
#define EMU_DOTS(name, Signed2, Unsigned2, Signed_part, Unsigned_part, shift)                                        \
    EMU_DOT(name, int, , , int, Signed_part, signed char, shift)                                                     \
    EMU_DOT(name, unsigned, , , unsigned, Unsigned_part, unsigned char, shift)                                       \
    EMU_DOT(name, int, Signed2, char4, , Signed_part, signed char, shift)                                            \
    EMU_DOT(name, unsigned, Unsigned2, uchar4, , Unsigned_part, unsigned char, shift)
EMU_DOTS(__dp4a, char4, uchar4, signed char, unsigned char, 0)
EMU_DOTS(__dp2a_lo, short2, ushort2, short, unsigned short, 0)
EMU_DOTS(__dp2a_hi, short2, ushort2, short, unsigned short, 16)
#undef EMU_DOTS
#undef EMU_DOT

// --- bits
// As __funnelshift_l and __funnelshift_r, but shifts by more than 32 shift by 32.
EMU_FUNCTION(unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned by),
             by >= 32 ? low : __funnelshift_l(low, high, by))
EMU_FUNCTION(unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned by),
             by >= 32 ? high : __funnelshift_r(low, high, by))
// The n-th set bit from the base on, upward or, for a negative n, downward; -1 if there is none. For 0, the base
// itself if it is set.
__host__ __device__ __forceinline__ unsigned __fns(unsigned mask, unsigned base, int n) {
    const int step = n < 0 ? -1 : 1;
    if (n == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
    int left = abs(n);
    for (long long at = base; at >= 0 && at < 32; at += step)
        if ((mask >> at & 1) && --left == 0) return static_cast<unsigned>(at);
    return 0xffffffffu;
}
EMU_FUNCTION(unsigned, umin, (unsigned x, unsigned y), min(x, y))
EMU_FUNCTION(unsigned, umax, (unsigned x, unsigned y), max(x, y))
EMU_FUNCTION(long long, llmin, (long long x, long long y), min(x, y))
EMU_FUNCTION(long long, llmax, (long long x, long long y), max(x, y))
EMU_FUNCTION(unsigned long long, ullmin, (unsigned long long x, unsigned long long y), min(x, y))
EMU_FUNCTION(unsigned long long, ullmax, (unsigned long long x, unsigned long long y), max(x, y))
#undef EMU_FUNCTION

#endif
