// How a block records its times: thread 0 reads the clocks first and last.
//
// clock64 counts cycles of one multiprocessor, so only differences within a block have a meaning. The time of a whole
// grid, last end minus first start, needs the timer that all multiprocessors share.
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

// Every thread of the block calls it. The barrier is what the documents leave out: without it the time is thread
// 0's own, while other warps may still be at work.
__device__ __forceinline__ void note_end(ck_clock *clocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        clocks[blockIdx.x].cycle_end = clock64();
        clocks[blockIdx.x].ns_end = static_cast<long long>(global_timer_ns());
    }
}

#endif
