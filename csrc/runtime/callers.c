// Streams and events of callers, created here or by other libraries.
//
// Each function enters the device, makes its calls, and leaves the device. Functions that wait also release memory
// that waits for the device (ck_memory_sweep).
#include "memory.h"
#include "stream.h"

static int check_event(cudaEvent_t event, ck_error *error) {
    const uintptr_t handle = (uintptr_t)event;
    if (handle >= 4096 && handle % sizeof(void *) == 0 && handle <= INTPTR_MAX) return CK_OK;
    return ck_fail(error, CK_BAD_VALUE, "%lld is not an event: create one with cudakern.Event()",
                   (long long)(intptr_t)handle);
}

// The frame around each function below.
typedef struct visit {
    ck_runtime *runtime; // NULL if not needed
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

// Makes the call and records its failure; for use between enter and leave.
#define VISITING(visit, call)                                                                                        \
    do {                                                                                                             \
        cudaError_t code_;                                                                                           \
        if (CK_CUDA_CODE(code_, call) != cudaSuccess) ck_fail_cuda((visit).error, code_, #call);                     \
    } while (0)

// --- streams -----------------------------------------------------------------------------------------------------
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
        return ck_fail(error, CK_BAD_VALUE,
                       "stream %d is a default stream: it belongs to the device and cannot be destroyed",
                       (int)(uintptr_t)stream);
    CK_TRY(enter(&visit, stream));
    CK_RELEASE(error, cudaStreamDestroy(stream)); // queued work still runs
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
    ck_wait_device(ck_runtime_find(runtime, device), waiter, error);
    ck_memory_sweep(runtime);
    return leave(&visit);
}

// --- events ------------------------------------------------------------------------------------------------------
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
    ck_wait_event(ck_runtime_find(runtime, device), event, waiter, error);
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
