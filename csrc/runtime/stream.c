// Streams and events: those of calls on host arrays, and those that callers made.
//
// Of ours there is a free list, as many as calls ran at once. Each call has one to itself, so that Python threads do
// not wait for one another. The lock covers the list only, never a call of CUDA.
#include <stdlib.h>

#include "backend.h"
#include "runtime.h"

static int create(ck_stream *stream, ck_error *error) {
    CK_CUDA(error, cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking));
    for (int i = 0; i < CK_EVENTS; i++) CK_CUDA(error, cudaEventCreate(&stream->events[i]));
    return CK_OK;
}

int ck_stream_acquire(ck_runtime *runtime, ck_device *device, ck_stream **acquired, ck_error *error) {
    pthread_mutex_lock(&runtime->lock);
    ck_stream *stream = device->idle;
    if (stream != NULL) device->idle = stream->next;
    pthread_mutex_unlock(&runtime->lock);
    if (stream == NULL) {
        stream = calloc(1, sizeof *stream);
        if (stream == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "calloc", "no memory for a stream's record");
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
    pthread_mutex_lock(&runtime->lock);
    stream->next = device->idle;
    device->idle = stream;
    pthread_mutex_unlock(&runtime->lock);
}

void ck_stream_destroy(ck_stream *stream) {
    ck_error ignored = {0}; // after a fault of the device these fail too; there is nothing left to do about it
    for (int i = 0; i < CK_EVENTS; i++)
        if (stream->events[i] != NULL) CK_RELEASE(&ignored, cudaEventDestroy(stream->events[i]));
    if (stream->stream != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(stream->stream));
    free(stream);
}

// --- waiting -----------------------------------------------------------------------------------------------------
// Waits are guarded like calls of CUDA: their failure is where a kernel's failure shows.
static int judge(int code, const char *what, ck_error *error) {
    if (code == (int)cudaSuccess) return CK_OK;
    if (code == BACKEND_INTERRUPTED) return ck_fail(error, CK_INTERRUPTED, what, "interrupted while %s", what);
    return ck_fail_cuda(error, (cudaError_t)code, what);
}

int ck_wait(cudaStream_t stream, ck_launches *launches, const ck_waiter *waiter, ck_error *error) {
    const uint64_t last = ck_launches_now(launches);
    int code = (int)ck_injected_fault("backend_wait(stream)");
    const int waited = code == (int)cudaSuccess;
    if (waited) code = backend_wait(stream, waiter ? waiter->interrupted : NULL, waiter ? waiter->argument : NULL);
    const int status = judge(code, "waiting for the stream", error);
    if (status != CK_OK) ck_launches_explain(launches, error);
    if (waited && code != BACKEND_INTERRUPTED) ck_launches_done(launches, last); // a failed one too: it was told
    return status;
}

static int wait_for_device(ck_device *device, const ck_waiter *waiter, ck_error *error) {
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

// --- callers' streams --------------------------------------------------------------------------------------------
cudaStream_t ck_stream_of(int64_t handle) {
    return handle == 1 ? NULL : (cudaStream_t)(uintptr_t)handle;
}

// CUDA follows a handle, as an address, without a look. What cannot be one is found here; a stream that was destroyed
// is not.
int ck_stream_check(cudaStream_t stream, ck_error *error) {
    const uintptr_t handle = (uintptr_t)stream;
    if (handle <= 2 || (handle >= 4096 && handle % sizeof(void *) == 0 && handle <= INTPTR_MAX)) return CK_OK;
    return ck_fail(
        error, CK_BAD_VALUE, "stream",
        "%lld is no stream. A stream is 0 or 1 (the default stream), 2 (the thread's own) or the handle of "
        "one (a cudaStream_t, as cudakern.Stream, PyTorch's .cuda_stream or CuPy's .ptr give it)",
        (long long)(intptr_t)handle);
}

static int check_event(cudaEvent_t event, ck_error *error) {
    const uintptr_t handle = (uintptr_t)event;
    if (handle >= 4096 && handle % sizeof(void *) == 0 && handle <= INTPTR_MAX) return CK_OK;
    return ck_fail(error, CK_BAD_VALUE, "event", "%lld is no event: it is made by cudakern.Event()",
                   (long long)(intptr_t)handle);
}

// Around each of the functions below, which are `what` inside `device`.
typedef struct visit {
    ck_runtime *runtime; // NULL: not needed
    int device, previous;
    ck_error *error;
} visit;

static int enter(visit *visit, cudaStream_t stream) {
    CK_TRY(ck_stream_check(stream, visit->error));
    CK_TRY(ck_device_enter(visit->device, &visit->previous, visit->error));
    if (visit->runtime != NULL) atomic_fetch_add(&visit->runtime->calls, 1);
    return CK_OK;
}

static int leave(visit *visit) {
    ck_device_leave(visit->device, visit->previous, visit->error);
    if (visit->runtime != NULL) atomic_fetch_sub(&visit->runtime->calls, 1);
    return visit->error->code;
}

static ck_launches *launches_of(const visit *visit, cudaStream_t stream) {
    ck_device *device = ck_runtime_find(visit->runtime, visit->device);
    return device != NULL ? ck_launches_of(device, stream) : NULL;
}

// Makes the call and notes its failure; for between enter and leave.
#define VISITING(visit, call)                                                                                        \
    do {                                                                                                             \
        cudaError_t code_;                                                                                           \
        if (CK_CUDA_CODE(code_, call) != cudaSuccess) ck_fail_cuda((visit).error, code_, #call);                     \
    } while (0)

int ck_stream_create(int device, int priority, cudaStream_t *stream, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(enter(&visit, NULL));
    *stream = NULL;
    VISITING(visit, cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, priority));
    leave(&visit);
    ck_error ignored = {0};
    if (error->code != CK_OK && *stream != NULL) CK_RELEASE(&ignored, cudaStreamDestroy(*stream));
    return error->code;
}

int ck_stream_close(ck_runtime *runtime, int device, cudaStream_t stream, ck_error *error) {
    visit visit = {.runtime = runtime, .device = device, .error = error};
    if ((uintptr_t)stream <= 2)
        return ck_fail(error, CK_BAD_VALUE, "cudaStreamDestroy",
                       "stream %d is a default stream: it belongs to the device and cannot be destroyed",
                       (int)(uintptr_t)stream);
    CK_TRY(enter(&visit, stream));
    CK_RELEASE(error, cudaStreamDestroy(stream)); // what is queued there still runs
    ck_device *state = ck_runtime_find(runtime, device);
    if (state != NULL) ck_launches_forget(state, stream);
    return leave(&visit);
}

int ck_stream_wait(ck_runtime *runtime, int device, cudaStream_t stream, const ck_waiter *waiter, ck_error *error) {
    visit visit = {.runtime = runtime, .device = device, .error = error};
    CK_TRY(enter(&visit, stream));
    ck_wait(stream, launches_of(&visit, stream), waiter, error);
    ck_memory_sweep(runtime);
    return leave(&visit);
}

int ck_stream_done(ck_runtime *runtime, int device, cudaStream_t stream, int *done, ck_error *error) {
    visit visit = {.runtime = runtime, .device = device, .error = error};
    CK_TRY(enter(&visit, stream));
    ck_launches *launches = launches_of(&visit, stream);
    const uint64_t last = ck_launches_now(launches);
    cudaError_t code;
    CK_CUDA_CODE(code, cudaStreamQuery(stream));
    *done = code == cudaSuccess;
    if (code == cudaSuccess) {
        ck_launches_done(launches, last);
    } else if (code != cudaErrorNotReady) {
        ck_fail_cuda(error, code, "cudaStreamQuery(stream)");
        ck_launches_explain(launches, error);
    }
    return leave(&visit);
}

int ck_stream_wait_event(int device, cudaStream_t stream, cudaEvent_t event, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(check_event(event, error));
    CK_TRY(enter(&visit, stream));
    VISITING(visit, cudaStreamWaitEvent(stream, event, 0));
    return leave(&visit);
}

int ck_device_wait(ck_runtime *runtime, int device, const ck_waiter *waiter, ck_error *error) {
    visit visit = {.runtime = runtime, .device = device, .error = error};
    CK_TRY(enter(&visit, NULL));
    wait_for_device(ck_runtime_find(runtime, device), waiter, error);
    ck_memory_sweep(runtime);
    return leave(&visit);
}

// --- callers' events ---------------------------------------------------------------------------------------------
int ck_event_create(int device, int timing, cudaEvent_t *event, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(enter(&visit, NULL));
    *event = NULL;
    VISITING(visit, cudaEventCreateWithFlags(event, timing ? cudaEventDefault : cudaEventDisableTiming));
    leave(&visit);
    ck_error ignored = {0};
    if (error->code != CK_OK && *event != NULL) CK_RELEASE(&ignored, cudaEventDestroy(*event));
    return error->code;
}

int ck_event_close(int device, cudaEvent_t event, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(check_event(event, error));
    CK_TRY(enter(&visit, NULL));
    CK_RELEASE(error, cudaEventDestroy(event));
    return leave(&visit);
}

int ck_event_record(int device, cudaEvent_t event, cudaStream_t stream, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(check_event(event, error));
    CK_TRY(enter(&visit, stream));
    VISITING(visit, cudaEventRecord(event, stream));
    return leave(&visit);
}

int ck_event_wait(ck_runtime *runtime, int device, cudaEvent_t event, const ck_waiter *waiter, ck_error *error) {
    visit visit = {.runtime = runtime, .device = device, .error = error};
    CK_TRY(check_event(event, error));
    CK_TRY(enter(&visit, NULL));
    int code = (int)ck_injected_fault("backend_wait_event(event)");
    if (code == (int)cudaSuccess)
        code = backend_wait_event(event, waiter ? waiter->interrupted : NULL, waiter ? waiter->argument : NULL);
    ck_device *state = ck_runtime_find(runtime, device);
    if (judge(code, "waiting for the event", error) != CK_OK && state != NULL)
        ck_device_launches_explain(state, error); // the event's stream is not known
    ck_memory_sweep(runtime);
    return leave(&visit);
}

int ck_event_done(int device, cudaEvent_t event, int *done, ck_error *error) {
    visit visit = {.device = device, .error = error};
    CK_TRY(check_event(event, error));
    CK_TRY(enter(&visit, NULL));
    cudaError_t code;
    CK_CUDA_CODE(code, cudaEventQuery(event));
    *done = code == cudaSuccess;
    if (code != cudaSuccess && code != cudaErrorNotReady) ck_fail_cuda(error, code, "cudaEventQuery(event)");
    return leave(&visit);
}

int ck_event_elapsed(int device, cudaEvent_t first, cudaEvent_t last, double *ms, ck_error *error) {
    visit visit = {.device = device, .error = error};
    float elapsed = 0;
    CK_TRY(check_event(first, error));
    CK_TRY(check_event(last, error));
    CK_TRY(enter(&visit, NULL));
    VISITING(visit, cudaEventElapsedTime(&elapsed, first, last));
    *ms = elapsed;
    return leave(&visit);
}
