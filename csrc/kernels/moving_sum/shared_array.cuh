// moving_sum "shared_array": comes after "runtime_index".
//
// Change  The ring buffer is in shared memory, which has addresses: slot s of thread t is word s * blockDim.x + t.
// Why     If an index is not known at compile time, memory on the chip is the next best place for an array.
// Claim   accesses to local memory: none; accesses to shared memory: WINDOW + 1 per row, without bank conflicts,
//         since the lanes access neighboring words whatever the slot
// Price   4 * WINDOW bytes of shared memory per thread for floats: 32 KB for a block of 256 threads and a window of
//         32
// Edges   As before. No barrier is needed, since a thread reads only what it wrote itself.
// Map     as before
// Limit   one load from shared memory per multiplication
#ifndef CK_MOVING_SUM_SHARED_ARRAY_CUH
#define CK_MOVING_SUM_SHARED_ARRAY_CUH

#include "device_extras.cuh"
#include "runtime_index.cuh"

namespace moving_sum {

template <typename T, int WINDOW>
__global__ void __launch_bounds__(256)
    shared_array(const T *__restrict__ x, T *__restrict__ result, int64_t rows, int64_t columns) {
    DYNAMIC_SHARED(T, windows);
    const piece mine = piece_of_thread<WINDOW>(rows, columns);
    if (mine.column >= columns) return;
    T *const window = windows + threadIdx.x;
    const int stride = static_cast<int>(blockDim.x);
    for (int slot = 0; slot < WINDOW; ++slot) window[slot * stride] = value_before<WINDOW>(x, mine, columns, slot);
#pragma unroll 1
    for (int64_t row = mine.first; row < mine.last; ++row) {
        const int newest = static_cast<int>(row % WINDOW);
        window[newest * stride] = x[row * columns + mine.column];
        result[row * columns + mine.column] =
            weighted_sum<WINDOW, T>(newest, [&](int slot) { return window[slot * stride]; });
    }
}

} // namespace moving_sum

#endif
