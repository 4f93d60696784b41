// Functions that the runtime needs in addition to CUDA's API, for a GPU. csrc/emulator/seam/backend.h defines the
// same functions for the emulator; the include path selects one of the files.
#ifndef BACKEND_H
#define BACKEND_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BACKEND_INTERRUPTED = -4 };

static inline const char *backend_name(void) {
    return "cuda";
}
static inline int backend_is_emulated(void) {
    return 0;
}

// Waits until everything queued on the stream is done. A kernel on a GPU cannot be canceled, so `interrupted` is not
// called.
static inline int backend_wait(cudaStream_t stream, int (*interrupted)(void *), void *arg) {
    (void)interrupted;
    (void)arg;
    return (int)cudaStreamSynchronize(stream);
}

// The same for all work of the current device, and for an event.
static inline int backend_wait_device(int (*interrupted)(void *), void *arg) {
    (void)interrupted;
    (void)arg;
    return (int)cudaDeviceSynchronize();
}
static inline int backend_wait_event(cudaEvent_t event, int (*interrupted)(void *), void *arg) {
    (void)interrupted;
    (void)arg;
    return (int)cudaEventSynchronize(event);
}

// Waits for all work of the current device. Its kernels' errors stay pending for later calls.
static inline int backend_settle(void) {
    return (int)cudaDeviceSynchronize();
}

// 1: a wait can be interrupted while a kernel runs. Then the runtime waits before any call that cannot be
// interrupted.
static inline int backend_wait_can_be_interrupted(void) {
    return 0;
}

// 1: device memory is host memory, and libraries for the CPU can use it directly.
static inline int backend_memory_is_host(void) {
    return 0;
}

// 1: a kernel that uses freed memory ends with an error.
static inline int backend_finds_freed_memory(void) {
    return 0;
}

// CUDA has no message beyond the code.
static inline size_t backend_error_detail(char *buffer, size_t size) {
    if (size > 0) buffer[0] = '\0';
    return 0;
}

// A GPU has no settings.
static inline int backend_configure(const char *key, const char *value) {
    (void)key;
    (void)value;
    return (int)cudaErrorNotSupported;
}

#ifdef __cplusplus
}
#endif
#endif
