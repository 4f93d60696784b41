// The one way that anything is timed: events in the stream for the device's work, the monotonic clock for the host's.
#define _POSIX_C_SOURCE 200809L  // clock_gettime, under plain C11
#include <sched.h>
#include <time.h>

#include "runtime.h"

int64_t ck_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int ck_timing_mark(ck_stream *stream, int event, ck_error *error) {
    CK_CUDA(error, cudaEventRecord(stream->events[event], stream->stream));
    return CK_OK;
}

int ck_timing_between(ck_stream *stream, int first, int last, int64_t *ns, ck_error *error) {
    float milliseconds = 0;  // CUDA's resolution is about half a microsecond
    CK_CUDA(error, cudaEventElapsedTime(&milliseconds, stream->events[first], stream->events[last]));
    *ns = (int64_t)((double)milliseconds * 1e6 + 0.5);
    return CK_OK;
}

enum { LONGEST_HOLD_NS = 5000000 };

// On a thread of CUDA's. It spins: to be woken takes longer than the kernels that we time.
static void wait_for_host(void *argument) {
    ck_hold *hold = argument;
    const int64_t start = ck_now_ns();
    while (!atomic_load(&hold->open) && ck_now_ns() - start < LONGEST_HOLD_NS) sched_yield();
}

int ck_timing_hold(ck_stream *stream, ck_hold *hold, ck_error *error) {
    atomic_store(&hold->open, 0);
    CK_CUDA(error, cudaLaunchHostFunc(stream->stream, wait_for_host, hold));
    return CK_OK;
}

void ck_timing_let_go(ck_hold *hold) { atomic_store(&hold->open, 1); }
