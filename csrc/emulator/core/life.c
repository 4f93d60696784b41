// What concerns the whole emulator: changes of settings, a device's reset, fork(). This file uses all other files of
// the host side, so that none of them needs to know which others keep state.
#define _GNU_SOURCE
#include "host.h"

#include <pthread.h>
#include <stdio.h>

int emu_configure(const char *key, const char *value) {
    emu_wait_idle(-1); // earlier launches run with the settings that they started with
    return emu_change_config(key, value);
}

int emu_device_reset(void) {
    if (emu_error_after_reset()) return cudaSuccess;
    int device, code = emu_enter(&device);
    if (code) return code;
    code = emu_device_wait(NULL, NULL);
    emu_drop_streams(device);
    emu_drop_events(device);
    emu_reset_variables();
    emu_drop_textures(device);
    emu_release_device(device);
    emu_drop_peers(device);
    emu_heap_drop();
    return code;
}

// The limits of cudaDeviceSetLimit: a thread's stack, the buffer of printf, the heap of kernels.
int emu_limit(int which, size_t *value, int set) {
    int device, code = emu_enter(&device);
    if (code) return code;
    if (!value) return emu_error(cudaErrorInvalidValue, "cudaDeviceGetLimit: the pointer for the result is NULL");
    const size_t setting = emu_current_config()->stack_bytes;
    const size_t stack = setting ? setting : 128 << 10, print_buffer = 1 << 20;
    if (set) emu_wait_idle(-1);
    switch (which) {
    case cudaLimitStackSize:
        if (!set) *value = stack;
        if (*value <= stack) return cudaSuccess; // a processor needs more than a GPU
        char text[32];
        snprintf(text, sizeof text, "%zu", *value);
        return emu_configure("stack", text);
    case cudaLimitPrintfFifoSize:
        if (!set) *value = print_buffer;
        if (*value <= print_buffer) return cudaSuccess;
        return emu_error(cudaErrorInvalidValue, "cudaDeviceSetLimit: the buffer of printf has %zu bytes, not %zu",
                         print_buffer, *value);
    case cudaLimitMallocHeapSize:
        if (set) return emu_heap_set_limit(*value);
        *value = emu_heap_limit();
        return cudaSuccess;
    case cudaLimitPersistingL2CacheSize: // hints about the cache, which have no effect
    case cudaLimitMaxL2FetchGranularity:
    case cudaLimitDevRuntimePendingLaunchCount:
        if (!set) *value = which == cudaLimitMaxL2FetchGranularity ? 64 : 0;
        return cudaSuccess;
    default: return emu_error(cudaErrorUnsupportedLimit, "cudaDeviceSetLimit: the emulator has no limit %d", which);
    }
}

// --- fork --------------------------------------------------------------------------------------------------------
static void at_fork(emu_fork stage) { // in any order, because no function holds two of these locks
    emu_config_fork(stage);
    emu_ignored_fork(stage);
    emu_kernel_fork(stage);
    emu_memory_fork(stage);
    emu_symbol_fork(stage);
    emu_region_fork(stage);
    emu_texture_fork(stage);
    emu_tool_fork(stage);
    emu_print_fork(stage);
    emu_heap_fork(stage);
    emu_graph_fork(stage);
    emu_exec_fork(stage);
    emu_capture_fork(stage);
    emu_stream_fork(stage);
    if (stage == EMU_FORK_CHILD) emu_grid_after_fork();
}
static void fork_prepare(void) {
    at_fork(EMU_FORK_PREPARE);
}
static void fork_parent(void) {
    at_fork(EMU_FORK_PARENT);
}
static void fork_child(void) {
    at_fork(EMU_FORK_CHILD);
}

// Runs when the library is loaded, before any thread can hold one of the locks.
__attribute__((constructor)) static void watch_forks(void) {
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}
