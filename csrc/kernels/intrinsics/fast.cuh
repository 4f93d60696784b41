// intrinsics "fast": comes after "full".
//
// Change  Intrinsic functions: the special function unit of the chip (base-2 exponential and logarithm, sine and
//         cosine, reciprocal, reciprocal square root), with one multiplication before or after it.
// Why     One instruction of that unit replaces a polynomial and its special cases.
// Claim   instructions per result: 1 to 3 (before: tens)
// Price   Errors grow with the argument: 2 + |1.173 x| units in the last place for __expf. __sinf, __cosf and __tanf
//         suit only small angles, __fdividef returns 0 for a divisor above 2^126, and __powf does not support a
//         negative base.
// Edges   Threads past the end of the array return at once.
// Map     as in "full"
// Limit   the throughput of the unit: 16 results per cycle and multiprocessor. __mul24 is not fast on today's chips:
//         they multiply 32-bit integers directly and need several instructions for 24 bits.
#ifndef CK_INTRINSICS_FAST_CUH
#define CK_INTRINSICS_FAST_CUH

#include "../grid.cuh"
#include "functions.cuh"

namespace intrinsics {

template <int FUNCTION> struct in_fast {
    __device__ __forceinline__ float operator()(float x, float y) const {
        if constexpr (FUNCTION == DIVIDE) return __fdividef(x, y);
        if constexpr (FUNCTION == EXP) return __expf(x);
        if constexpr (FUNCTION == EXP10) return __exp10f(x);
        if constexpr (FUNCTION == LOG) return __logf(x);
        if constexpr (FUNCTION == LOG2) return __log2f(x);
        if constexpr (FUNCTION == LOG10) return __log10f(x);
        if constexpr (FUNCTION == SIN) return __sinf(x);
        if constexpr (FUNCTION == COS) return __cosf(x);
        if constexpr (FUNCTION == TAN) return __tanf(x);
        if constexpr (FUNCTION == POWER) return __powf(x, y);
        if constexpr (FUNCTION == RECIPROCAL_ROOT) return rsqrtf(x);
        return static_cast<float>(__mul24(__float2int_rz(x), __float2int_rz(y)));
    }
};

template <int FUNCTION>
__global__ void __launch_bounds__(1024) fast(const float *__restrict__ x, const float *__restrict__ y,
                                             float *__restrict__ result, int64_t n, int64_t repeats, float never) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = evaluated(in_fast<FUNCTION>(), x[i], y[i], repeats, never);
}

} // namespace intrinsics

#endif
