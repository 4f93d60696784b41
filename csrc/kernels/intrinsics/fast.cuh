// intrinsics "fast": comes after "full".
//
// Change  Intrinsic functions: what the chip's unit for special functions (base-2 exponential and logarithm, sine and
//         cosine of a turn, reciprocal, reciprocal root) gives with one multiplication before or behind it.
// Why     One instruction of that unit takes the place of a polynomial and its special cases.
// Claim   instructions per result: 1 to 3, against tens
// Price   errors that grow with the argument: 2 + |1.173 x| units for __expf; no angle far from 0; __fdividef gives 0
//         for a divisor beyond 2^126; __powf has no negative numbers
// Edges   threads beyond the array leave at once
// Map     as in "full"
// Limit   the unit itself: 16 results a cycle and multiprocessor. __mul24 was fast once: today's chips multiply 32
//         bits, and put 24 together from more instructions
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
