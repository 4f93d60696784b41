// Functions that the runtime needs in addition to CUDA's API, for the emulator. csrc/gpu/backend.h defines the same
// functions for a GPU; the include path selects one of the files.
#ifndef BACKEND_H
#define BACKEND_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BACKEND_INTERRUPTED = EMU_INTERRUPTED };

static inline const char *backend_name(void) {
    return "emulator";
}
static inline int backend_is_emulated(void) {
    return 1;
}

// Waits for the stream. If `interrupted` is not NULL, interrupted(argument) is called every 50 ms; once it returns
// nonzero, the work that this thread launched and waits for is canceled, and the call returns BACKEND_INTERRUPTED.
// Otherwise it returns a cudaError_t.
static inline int backend_wait(cudaStream_t stream, int (*interrupted)(void *), void *argument) {
    return emu_stream_wait(stream, interrupted, argument);
}

// The same for all work of the current device, and for an event.
static inline int backend_wait_device(int (*interrupted)(void *), void *argument) {
    return emu_device_wait(interrupted, argument);
}
static inline int backend_wait_event(cudaEvent_t event, int (*interrupted)(void *), void *argument) {
    return emu_event_wait(event, interrupted, argument);
}

// Waits for all work of the current device. Its kernels' errors stay pending for later calls.
static inline int backend_settle(void) {
    return emu_device_settle();
}

// 1: a wait can be interrupted while a kernel runs. Then the runtime waits before any call that cannot be
// interrupted.
static inline int backend_wait_can_be_interrupted(void) {
    return 1;
}

// 1: device memory is host memory, and libraries for the CPU can use it directly.
static inline int backend_memory_is_host(void) {
    return 1;
}

// 1: a kernel that uses freed memory ends with an error.
static inline int backend_finds_freed_memory(void) {
    return 1;
}

// The message of this thread's last failed call; returns its length (0: there is only the code).
static inline size_t backend_error_detail(char *buffer, size_t size) {
    return emu_error_detail(buffer, size);
}

// Keys: devices, memory, chip, order (fixed | reversed | seed:N), workers, stack, print, fail_allocation.
static inline int backend_configure(const char *key, const char *value) {
    return emu_configure(key, value);
}

#ifdef __cplusplus
}
#endif
#endif
