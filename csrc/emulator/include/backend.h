// What the runtime asks of the side it runs on, beyond CUDA's own names: here the emulator's answers.
// csrc/gpu/backend.h has the same functions for a GPU; the include path chooses.
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

// Waits for the stream. Every 50 ms it asks interrupted(argument), if there is one; once that returns nonzero, what
// this thread launched and waits for is given up, and the call returns BACKEND_INTERRUPTED. Else a cudaError_t.
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

// Waits for all work of the current device. What its kernels did wrong stays for those who ask later.
static inline int backend_settle(void) {
    return emu_device_settle();
}

// 1: a wait can be broken off while a kernel runs. Then one waits before anything that cannot be broken off.
static inline int backend_wait_can_be_interrupted(void) {
    return 1;
}

// 1: device memory is the host's, and the CPU's libraries can use it as it is.
static inline int backend_memory_is_host(void) {
    return 1;
}

// 1: a kernel that uses memory which was freed ends in an error that says so.
static inline int backend_finds_freed_memory(void) {
    return 1;
}

// Words on this thread's last failing call; returns their length (0: nothing more than the code says).
static inline size_t backend_error_detail(char *buffer, size_t size) {
    return emu_error_detail(buffer, size);
}

// Keys: devices, memory, chip, order (fixed | reversed | seed:N), workers, stack, fail_allocation.
static inline int backend_configure(const char *key, const char *value) {
    return emu_configure(key, value);
}

#ifdef __cplusplus
}
#endif
#endif
