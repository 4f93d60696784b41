// moving_sum "compile_time_index": comes after "runtime_index".
//
// Change  The loop over rows is written out WINDOW times, so that a row's slot is a number in the source.
// Why     With every index known to the compiler the array needs no address, and its values stay in registers.
// Claim   accesses to local memory: none (before: WINDOW + 1 a row)
// Price   code for WINDOW rows; WINDOW registers per thread (twice that for doubles), so fewer threads at a time
// Edges   rows are tested one by one: the last piece may end within a turn
// Map     as before
// Limit   the memory: each value is read once and each sum written once; or the 2 * WINDOW operations a row
#ifndef CK_MOVING_SUM_COMPILE_TIME_INDEX_CUH
#define CK_MOVING_SUM_COMPILE_TIME_INDEX_CUH

#include "runtime_index.cuh"

namespace moving_sum {

template <typename T, int WINDOW>
__device__ __forceinline__ void sums_in_registers(const T *__restrict__ x, T *__restrict__ result, int64_t rows,
                                                  int64_t columns) {
    const piece mine = piece_of_thread<WINDOW>(rows, columns);
    if (mine.column >= columns) return;
    T window[WINDOW];
#pragma unroll
    for (int slot = 0; slot < WINDOW; ++slot) window[slot] = value_before<WINDOW>(x, mine, columns, slot);
#pragma unroll 1
    for (int64_t row = mine.first; row < mine.last; row += WINDOW) {
#pragma unroll
        for (int newest = 0; newest < WINDOW; ++newest) {
            if (row + newest >= mine.last) return;
            window[newest] = x[(row + newest) * columns + mine.column];
            result[(row + newest) * columns + mine.column] =
                weighted_sum<WINDOW, T>(newest, [&](int slot) { return window[slot]; });
        }
    }
}

template <typename T, int WINDOW>
__global__ void __launch_bounds__(512)
    compile_time_index(const T *__restrict__ x, T *__restrict__ result, int64_t rows, int64_t columns) {
    sums_in_registers<T, WINDOW>(x, result, rows, columns);
}

} // namespace moving_sum

#endif
