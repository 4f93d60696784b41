// moving_sum "runtime_index": the ladder begins here.
//
// Idea    A thread keeps the newest WINDOW values in an array of its own, and overwrites the oldest: a ring.
// Why     It is how one writes it for a CPU: no value is moved, none is read from memory twice.
// Claim   accesses to the array: 1 store and WINDOW loads a row, all of them to local memory
// Price   registers have no addresses. An array whose index is known only when the kernel runs must have one: it lies
//         in local memory, which is device memory behind the caches, 4 * WINDOW bytes of it a float thread
// Edges   a thread beyond the last column leaves; the last piece ends with the last row
// Map     column: thread in the row of blocks; rows: piece number blockIdx.x / (blocks of a row)
// Limit   the L1 cache: WINDOW + 1 local accesses for each value from memory: "compile_time_index"
#ifndef CK_MOVING_SUM_RUNTIME_INDEX_CUH
#define CK_MOVING_SUM_RUNTIME_INDEX_CUH

#include "window.cuh"

namespace moving_sum {

template <typename T, int WINDOW>
__global__ void __launch_bounds__(1024)
    runtime_index(const T *__restrict__ x, T *__restrict__ result, int64_t rows, int64_t columns) {
    const piece mine = piece_of_thread<WINDOW>(rows, columns);
    if (mine.column >= columns) return;
    T window[WINDOW];
    for (int slot = 0; slot < WINDOW; ++slot) window[slot] = value_before<WINDOW>(x, mine, columns, slot);
#pragma unroll 1 // unrolled WINDOW times, this would be "compile_time_index"
    for (int64_t row = mine.first; row < mine.last; ++row) {
        const int newest = static_cast<int>(row % WINDOW);
        window[newest] = x[row * columns + mine.column];
        result[row * columns + mine.column] = weighted_sum<WINDOW, T>(newest, [&](int slot) { return window[slot]; });
    }
}

} // namespace moving_sum

#endif
