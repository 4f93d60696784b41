// A function that every kernel in this folder uses: the square of an element in the accumulator's type.
//
// Integers accumulate in `unsigned long long`: it wraps modulo 2^64, where the overflow of a signed sum is undefined.
// Its bits, read as int64, are NumPy's int64 result. A negative int is widened to its two's complement, whose square
// is correct modulo 2^64.
#ifndef CK_SUM_OF_SQUARES_SQUARE_CUH
#define CK_SUM_OF_SQUARES_SQUARE_CUH

#include <stdint.h>

#include "../../block_clock.cuh"
#include "../../grid.cuh"
#include "../../numbers.cuh"

template <typename Acc, typename In> __device__ __forceinline__ Acc square(In value) {
    const Acc wide = number_cast<Acc>(value);
    return wide * wide;
}

#endif
