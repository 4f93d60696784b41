// Definitions that the variants of moving_sum share: the rows of a thread, and the sum over a window.
//
// A row of the result is WINDOW * x[row] + (WINDOW - 1) * x[row - 1] + ... + 1 * x[row - WINDOW + 1]; rows before the
// first one count as zero. A thread processes one column of a piece of PIECE rows, and keeps the newest WINDOW values
// in its own array: row r in slot r % WINDOW, where it replaces the oldest value. Pieces begin at multiples of
// WINDOW.
#ifndef CK_MOVING_SUM_WINDOW_CUH
#define CK_MOVING_SUM_WINDOW_CUH

#include "../grid.cuh"

namespace moving_sum {

template <int WINDOW> constexpr int PIECE = 8 * WINDOW; // plus an eighth: the rows before the piece are read again

struct piece {
    int64_t column, first, last; // rows first to last - 1
};

template <int WINDOW> __device__ __forceinline__ piece piece_of_thread(int64_t rows, int64_t columns) {
    const int64_t blocks_abreast = (columns + blockDim.x - 1) / blockDim.x;
    const int64_t first = blockIdx.x / blocks_abreast * PIECE<WINDOW>, end = first + PIECE<WINDOW>;
    return {blockIdx.x % blocks_abreast * blockDim.x + threadIdx.x, first, end < rows ? end : rows};
}

// The value of a slot before the first row of the piece.
template <int WINDOW, typename T>
__device__ __forceinline__ T value_before(const T *__restrict__ x, const piece &mine, int64_t columns, int slot) {
    const int64_t row = mine.first - WINDOW + slot;
    return row < 0 ? T(0) : x[row * columns + mine.column];
}

// value_of(slot) returns the value in a slot. All variants add the newest value first, so their roundings are the
// same.
template <int WINDOW, typename T, typename ValueOf>
__device__ __forceinline__ T weighted_sum(int newest, ValueOf value_of) {
    T sum = 0;
#pragma unroll
    for (int age = 0; age < WINDOW; ++age) sum += T(WINDOW - age) * value_of((newest + WINDOW - age) % WINDOW);
    return sum;
}

} // namespace moving_sum

#endif
