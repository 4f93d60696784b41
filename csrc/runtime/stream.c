// Streams of the runtime, for calls on host arrays; checks of stream handles; waiting.
//
// The runtime's streams are in a free list, which grows to the number of concurrent calls. Each call has a stream to
// itself, so Python threads do not wait for one another. The lock protects only the list; no CUDA function is called
// while it is held.
#include <stdlib.h>

#include "backend.h"
#include "stream.h"

static int create(ck_stream *stream, ck_error *error) {
    CK_CUDA(error, cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking));
    for (int i = 0; i < CK_EVENTS; i++) CK_CUDA(error, cudaEventCreate(&stream->events[i]));
    return CK_OK;
}

int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **acquired, ck_error *error) {
    ck_lock(runtime);
    ck_stream *stream = device->idle;
    if (stream != NULL) device->idle = stream->next;
    ck_unlock(runtime);
    if (stream == NULL) {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a stream's record");
        int status = create(stream, error);
        if (status != CK_OK) {
            ck_stream_destroy(stream);
            return status;
        }
    }
    *acquired = stream;
    return CK_OK;
}

void ck_stream_release(ck_runtime *runtime, ck_device *device, ck_stream *stream, int healthy) {
    if (!healthy) {
        ck_launches_forget(device, stream->stream);
        ck_stream_destroy(stream);
        return;
    }
    ck_lock(runtime);
    stream->next = device->idle;
    device->idle = stream;
    ck_unlock(runtime);
}

void ck_stream_destroy(ck_stream *stream) {
    ck_error ignored = {0}; // after a failure of the device these calls fail too, and nothing can be done about it
    for (int i = 0; i < CK_EVENTS; i++)
        if (stream->events[i] != NULL) CK_RELEASE(&ignored, cudaEventDestroy(stream->events[i]));
    if (stream->stream != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(stream->stream));
    free(stream);
}

// --- waiting -----------------------------------------------------------------------------------------------------
// Waits are guarded like CUDA calls, because they report the failures of kernels.
static int judge(int code, const char *what, ck_error *error) {
    if (code == (int)cudaSuccess) return CK_OK;
    if (code == BACKEND_INTERRUPTED) return ck_fail(error, CK_INTERRUPTED, "interrupted while %s", what);
    return ck_fail_cuda(error, (cudaError_t)code, what);
}

int ck_wait(cudaStream_t stream, ck_launches *launches, const ck_waiter *waiter, ck_error *error) {
    const uint64_t last = ck_launches_now(launches);
    int code = (int)ck_injected_fault("backend_wait(stream)");
    const int waited = code == (int)cudaSuccess;
    if (waited) code = backend_wait(stream, waiter ? waiter->interrupted : NULL, waiter ? waiter->argument : NULL);
    const int status = judge(code, "waiting for the stream", error);
    if (status != CK_OK) ck_launches_explain(launches, error);
    if (waited && code != BACKEND_INTERRUPTED)
        ck_launches_done(launches, last); // also after a failure, since it is reported now
    return status;
}

int ck_wait_device(ck_device *device, const ck_waiter *waiter, ck_error *error) {
    const uint64_t last = device ? ck_device_launches_now(device) : 0;
    int code = (int)ck_injected_fault("backend_wait_device()");
    const int waited = code == (int)cudaSuccess;
    if (waited) code = backend_wait_device(waiter ? waiter->interrupted : NULL, waiter ? waiter->argument : NULL);
    const int status = judge(code, "waiting for the device", error);
    if (device == NULL) return status;
    if (status != CK_OK) ck_device_launches_explain(device, error);
    if (waited && code != BACKEND_INTERRUPTED) ck_device_launches_done(device, last);
    return status;
}

int ck_wait_event(ck_device *device, cudaEvent_t event, const ck_waiter *waiter, ck_error *error) {
    int code = (int)ck_injected_fault("backend_wait_event(event)");
    if (code == (int)cudaSuccess)
        code = backend_wait_event(event, waiter ? waiter->interrupted : NULL, waiter ? waiter->argument : NULL);
    const int status = judge(code, "waiting for the event", error);
    if (status != CK_OK && device != NULL)
        ck_device_launches_explain(device, error); // for all streams, since the stream of the event is not known
    return status;
}

// --- handles -----------------------------------------------------------------------------------------------------
cudaStream_t ck_stream_of(int64_t handle) {
    return handle == 1 ? NULL : (cudaStream_t)(uintptr_t)handle;
}

// CUDA uses a handle as an address without checking it. This function detects values that cannot be handles, but not
// handles of streams that were destroyed.
int ck_stream_check(cudaStream_t stream, ck_error *error) {
    const uintptr_t handle = (uintptr_t)stream;
    if (handle <= 2 || (handle >= 4096 && handle % sizeof(void *) == 0 && handle <= INTPTR_MAX)) return CK_OK;
    return ck_fail(
        error, CK_BAD_VALUE,
        "%lld is not a stream. Pass 0 or 1 (the default stream), 2 (the per-thread default stream) or a handle: "
        "a cudaStream_t, as in cudakern.Stream, PyTorch's .cuda_stream or CuPy's .ptr",
        (long long)(intptr_t)handle);
}
