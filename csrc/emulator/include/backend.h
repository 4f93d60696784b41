// What the runtime asks of the side it runs on, beyond CUDA's own names: here the emulator's answers.
// csrc/gpu/backend.h has the same functions for a GPU; the include path chooses.
#ifndef BACKEND_H
#define BACKEND_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BACKEND_INTERRUPTED = -4 };

static inline const char *backend_name(void) {
    return "emulator";
}
static inline int backend_is_emulated(void) {
    return 1;
}

// Waits for the stream. Every 50 ms it asks interrupted(argument); once that returns nonzero, what runs and waits on
// the stream is abandoned and the call returns BACKEND_INTERRUPTED. Else a cudaError_t.
static inline int backend_wait(cudaStream_t stream, int (*interrupted)(void *), void *argument) {
    if (!interrupted) return emu_stream_wait(stream, -1);
    for (;;) {
        int code = emu_stream_wait(stream, 50);
        if (code != (int)cudaErrorNotReady) return code;
        if (interrupted(argument)) {
            emu_stream_cancel(stream);
            return BACKEND_INTERRUPTED;
        }
    }
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
