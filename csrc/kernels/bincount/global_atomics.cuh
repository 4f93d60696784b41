// bincount "global_atomics": where the ladder begins.
//
// Idea    A thread adds 1 to its element's bin in global memory, as an atomic operation: threads with the same bin take
//         turns.
// Claim   atomic operations in global memory: n
// Price   turns: where many elements have one bin, they wait in a row for it
// Edges   an element beyond the bins is not counted: it would be counted in somebody else's memory
// Map     element i: thread i % grid_threads()
// Limit   all blocks meet at the same bins: "shared_atomics"
#ifndef CK_BINCOUNT_GLOBAL_ATOMICS_CUH
#define CK_BINCOUNT_GLOBAL_ATOMICS_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "../grid.cuh"

namespace bincount {

using count = unsigned long long; // what CUDA's 64-bit atomics take

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
