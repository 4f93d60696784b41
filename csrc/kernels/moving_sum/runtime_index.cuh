// moving_sum "runtime_index": the first kernel of the ladder.
//
// Idea    Each thread keeps the newest WINDOW values in its own array and overwrites the oldest one: a ring buffer.
// Why     This is the usual way on a CPU: no value is moved, and no value is read from memory twice.
// Claim   accesses to the array per row: 1 store and WINDOW loads, all of them in local memory
// Price   Registers have no addresses. An array that is indexed at run time needs addresses, so it is in local
//         memory, which is device memory behind the caches: 4 * WINDOW bytes per thread for floats.
// Edges   A thread past the last column returns. The last piece ends with the last row.
// Map     column: index of the thread in its row of blocks; rows: piece blockIdx.x / (blocks per row)
// Limit   the L1 cache, with WINDOW + 1 local accesses per value: see "compile_time_index"
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
#pragma unroll 1 // unrolling WINDOW times would make it "compile_time_index"
    for (int64_t row = mine.first; row < mine.last; ++row) {
        const int newest = static_cast<int>(row % WINDOW);
        window[newest] = x[row * columns + mine.column];
        result[row * columns + mine.column] = weighted_sum<WINDOW, T>(newest, [&](int slot) { return window[slot]; });
    }
}

} // namespace moving_sum

#endif
