// Below the seam, GPU side: what CUDA's runtime API has no name for. The emulator has a file of the same name and
// functions (csrc/emulator/include/backend.h); the include path chooses.
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

// Waits until everything queued on the stream is done. A kernel on a GPU cannot be cancelled, so nobody is asked.
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

// Waits for all work of the current device. What its kernels did wrong stays for those who ask later.
static inline int backend_settle(void) {
    return (int)cudaDeviceSynchronize();
}

// 1: a wait can be broken off while a kernel runs. Then one waits before anything that cannot be broken off.
static inline int backend_wait_can_be_interrupted(void) {
    return 0;
}

// 1: device memory is the host's, and the CPU's libraries can use it as it is.
static inline int backend_memory_is_host(void) {
    return 0;
}

// 1: a kernel that uses memory which was freed ends in an error that says so.
static inline int backend_finds_freed_memory(void) {
    return 0;
}

// CUDA says nothing beyond the code.
static inline size_t backend_error_detail(char *buffer, size_t size) {
    if (size > 0) buffer[0] = '\0';
    return 0;
}

// A GPU is what it is.
static inline int backend_configure(const char *key, const char *value) {
    (void)key;
    (void)value;
    return (int)cudaErrorNotSupported;
}

#ifdef __cplusplus
}
#endif
#endif
