// moving_sum "compile_time_index": comes after "runtime_index".
//
// Change  The loop over rows is unrolled WINDOW times, so the slot of each row is a constant.
// Why     If the compiler knows every index, the array needs no addresses, and its values stay in registers.
// Claim   accesses to local memory: none (before: WINDOW + 1 per row)
// Price   code for WINDOW rows; WINDOW registers per thread (twice as many for doubles), so fewer threads run at a
//         time
// Edges   The end is checked before each row, since the last piece may end within an unrolled iteration.
// Map     as before
// Limit   memory bandwidth, since each value is read once and each sum is written once; or the 2 * WINDOW operations
//         per row
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
