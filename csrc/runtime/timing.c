// All timing: events in the stream for the work of the device, the monotonic clock for the host.
#define _POSIX_C_SOURCE 200809L // clock_gettime, under plain C11
#include <time.h>

#include "stream.h"

int64_t ck_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int ck_timing_mark(ck_stream *stream, int event, cudaStream_t where, ck_error *error) {
    CK_CUDA(error, cudaEventRecord(stream->events[event], where));
    return CK_OK;
}

int ck_timing_between(ck_stream *stream, int first, int last, int64_t *ns, ck_error *error) {
    // The resolution of CUDA's events is about half a microsecond, and the time between events around a kernel
    // includes the time that the chip takes to start and end it (kernels/head_start.h). A variant that reads the
    // clock measures its grid without this overhead.
    float milliseconds = 0;
    CK_CUDA(error, cudaEventElapsedTime(&milliseconds, stream->events[first], stream->events[last]));
    *ns = (int64_t)((double)milliseconds * 1e6 + 0.5);
    return CK_OK;
}
