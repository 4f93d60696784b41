// Kernels for tests of streams and events: one that waits for a flag, one that moves a value on, one that never ends.
#include "kernels.h"

// Waits until someone (host, or a kernel of another stream) sets the flag; gives up after `patience_ns`, so that a
// failure is a wrong result and not a hang.
__global__ void wait_for_flag(volatile int *flag, int *out, unsigned long long patience_ns) {
    unsigned long long start = global_timer_ns();
    while (*flag == 0 && global_timer_ns() - start < patience_ns) __threadfence_system();
    *out = *flag;
}
ENTRY run_wait_for_flag(const Shape *shape, int *flag, int *out, unsigned long long patience_ns) {
    return launch(shape, wait_for_flag, flag, out, patience_ns);
}

__global__ void set_flag(volatile int *flag, int value) {
    *flag = value;
    __threadfence_system();
}
ENTRY run_set_flag(const Shape *shape, int *flag, int value) {
    return launch(shape, set_flag, flag, value);
}

// out = 3 * in + 1, so that the order of a chain of calls shows in the result.
__global__ void step(const int *in, int *out) {
    *out = 3 * *in + 1;
}
ENTRY run_step(const Shape *shape, const int *in, int *out) {
    return launch(shape, step, in, out);
}

// Never ends by itself: passes barriers for ever.
__global__ void endless(int *out) {
    for (unsigned i = 0;; ++i) {
        __syncthreads();
        if (threadIdx.x == 0) *(volatile int *)out = (int)i;
    }
}
ENTRY run_endless(const Shape *shape, int *out) {
    return launch(shape, endless, out);
}

// Ends, but only after a very long time: many short blocks.
__global__ void long_grid(int *out) {
    unsigned long long start = global_timer_ns();
    while (global_timer_ns() - start < 20000000ull) {}
    if (threadIdx.x == 0) atomicExch(out, (int)blockIdx.x);
}
ENTRY run_long_grid(const Shape *shape, int *out) {
    return launch(shape, long_grid, out);
}

// Does nothing, for so long.
__global__ void pause_for(unsigned long long nanoseconds) {
    unsigned long long start = global_timer_ns();
    while (global_timer_ns() - start < nanoseconds) {}
}
ENTRY run_pause(const Shape *shape, unsigned long long nanoseconds) {
    return launch(shape, pause_for, nanoseconds);
}
