// Contexts of the driver API: names for devices, and each thread's stack of them.
//
//   thread's stack: [device 0] [device 1]   the last one is current, and its device is the thread's current device
//
// All contexts of a device are its primary one, since devices of the emulator have one memory and one set of streams.
#include "host.h"

enum { DEEP = 8 };

static char contexts[EMU_MAX_DEVICES]; // a handle is an address in it
static _Thread_local signed char stack[DEEP];
static _Thread_local unsigned char depth;

static int device_of(const void *handle) {                        // -1: it is no context
    const uintptr_t at = (uintptr_t)handle - (uintptr_t)contexts; // wraps if it is before them
    return at < EMU_MAX_DEVICES ? (int)at : -1;
}

int emu_context_of(void **context, int device) {
    const char *call = "cuCtxCreate";
    int code = emu_check_device(device, call);
    if (code) return code;
    if (!context) return emu_error(cudaErrorInvalidValue, "%s: the pointer for the result is NULL", call);
    *context = &contexts[device];
    return cudaSuccess;
}

int emu_context_push(void *context) {
    const int device = device_of(context);
    if (device < 0) return emu_error(cudaErrorDeviceUninitialized, "cuCtxPushCurrent: %p is not a context", context);
    if (depth == DEEP) return emu_error(cudaErrorInvalidValue, "cuCtxPushCurrent: more than %d contexts", DEEP);
    int code = emu_set_device(device);
    if (!code) stack[depth++] = (signed char)device;
    return code;
}

int emu_context_pop(void **context) {
    if (!depth) return emu_error(cudaErrorDeviceUninitialized, "cuCtxPopCurrent: no context is current");
    const int device = stack[--depth];
    if (context) *context = &contexts[device];
    return depth ? emu_set_device(stack[depth - 1]) : cudaSuccess;
}

int emu_context_current(void **context) {
    if (!context) return emu_error(cudaErrorInvalidValue, "cuCtxGetCurrent: the pointer for the result is NULL");
    *context = depth ? &contexts[(int)stack[depth - 1]] : NULL;
    return cudaSuccess;
}

int emu_context_set(void *context) { // NULL: none
    if (depth) depth--;
    return context ? emu_context_push(context) : cudaSuccess;
}

int emu_context_destroy(void *context) {
    const int device = device_of(context);
    if (device < 0) return emu_error(cudaErrorDeviceUninitialized, "cuCtxDestroy: %p is not a context", context);
    return depth && stack[depth - 1] == device ? emu_context_pop(NULL) : cudaSuccess;
}
