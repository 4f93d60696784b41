// Recording the times of a block: thread 0 reads the clocks at the start and at the end.
//
// clock64 counts the cycles of one multiprocessor, so only differences within a block are meaningful. The time of a
// whole grid, the last end minus the first start, needs the timer that all multiprocessors share.
#ifndef CK_BLOCK_CLOCK_CUH
#define CK_BLOCK_CLOCK_CUH

#include "device_extras.cuh"
#include "call.h"

__device__ __forceinline__ void note_start(ck_clock *clocks) {
    if (threadIdx.x == 0) {
        clocks[blockIdx.x].ns_start = static_cast<long long>(global_timer_ns());
        clocks[blockIdx.x].cycle_start = clock64();
    }
}

// Every thread of the block must call this function. Without the barrier, which the source documents omit, the time
// would be that of thread 0, while other warps may still be working.
__device__ __forceinline__ void note_end(ck_clock *clocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        clocks[blockIdx.x].cycle_end = clock64();
        clocks[blockIdx.x].ns_end = static_cast<long long>(global_timer_ns());
    }
}

#endif
