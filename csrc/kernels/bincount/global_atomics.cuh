// bincount "global_atomics": the first kernel of the ladder.
//
// Idea    A thread adds 1 to the bin of its element in global memory, by an atomic operation: threads with the same
//         bin take turns.
// Claim   atomic operations in global memory: n
// Price   waiting: where many elements have the same bin, their additions are serialized
// Edges   An element without a bin is ignored: counting it would overwrite other memory.
// Map     element i: thread i % grid_threads()
// Limit   All blocks compete for the same bins: see "shared_atomics".
#ifndef CK_BINCOUNT_GLOBAL_ATOMICS_CUH
#define CK_BINCOUNT_GLOBAL_ATOMICS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../grid.cuh"

namespace bincount {

using count = unsigned long long; // the type of CUDA's 64-bit atomics

template <typename T>
__global__ void __launch_bounds__(1024)
    global_atomics(const T *__restrict__ x, int64_t n, count *__restrict__ counts, uint64_t bins) {
    for (int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const uint64_t bin = x[i];
        if (bin < bins) atomicAdd(&counts[bin], count(1));
    }
}

} // namespace bincount

#endif
