// intrinsics "full": the first kernel of the ladder.
//
// Idea    The functions of the C library in float, accurate for every argument to a few units in the last place.
// Why     A large angle must be reduced with many digits of pi, and a quotient must be rounded as IEEE 754 specifies.
//         Both take code.
// Claim   largest error in units in the last place: 4 (according to the CUDA documentation), 0 for quotient and
//         product
// Price   tens of instructions per result, and a slow path for large angles, which uses local memory
// Edges   Threads past the end of the array return at once.
// Map     i = blockIdx.x * blockDim.x + threadIdx.x
// Limit   the number of instructions: see "fast"
#ifndef CK_INTRINSICS_FULL_CUH
#define CK_INTRINSICS_FULL_CUH

#include "../grid.cuh"
#include "functions.cuh"

namespace intrinsics {

template <int FUNCTION> struct in_full {
    __device__ __forceinline__ float operator()(float x, float y) const {
        if constexpr (FUNCTION == DIVIDE) return x / y;
        if constexpr (FUNCTION == EXP) return expf(x);
        if constexpr (FUNCTION == EXP10) return exp10f(x);
        if constexpr (FUNCTION == LOG) return logf(x);
        if constexpr (FUNCTION == LOG2) return log2f(x);
        if constexpr (FUNCTION == LOG10) return log10f(x);
        if constexpr (FUNCTION == SIN) return sinf(x);
        if constexpr (FUNCTION == COS) return cosf(x);
        if constexpr (FUNCTION == TAN) return tanf(x);
        if constexpr (FUNCTION == POWER) return powf(x, y);
        if constexpr (FUNCTION == RECIPROCAL_ROOT) return __fdiv_rn(1.0f, __fsqrt_rn(x));
        // Modulo 2^32, like the fast version.
        return static_cast<float>(
            static_cast<int>(static_cast<unsigned>(__float2int_rz(x)) * static_cast<unsigned>(__float2int_rz(y))));
    }
};

template <int FUNCTION>
__global__ void __launch_bounds__(1024) full(const float *__restrict__ x, const float *__restrict__ y,
                                             float *__restrict__ result, int64_t n, int64_t repeats, float never) {
    const int64_t i = grid_thread();
    if (i < n) result[i] = evaluated(in_full<FUNCTION>(), x[i], y[i], repeats, never);
}

} // namespace intrinsics

#endif
