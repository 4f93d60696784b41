// The emulator core's interface: a small, versioned, untyped C interface to one shared library.
//
// Every module of kernels built for the emulator loads the same core, so that all see one device and one memory.
// cuda_runtime_api.h (C) and cuda_runtime.h (C++) beside this file put CUDA's own names and types on top of it;
// nobody else should need to call it directly. It knows nothing of Python and nothing of our build.
#ifndef EMULATOR_CORE_H
#define EMULATOR_CORE_H

#include <stddef.h>
#include <stdint.h>

#define EMU_INTERFACE_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

#define EMU_API __attribute__((visibility("default")))

typedef struct emu_dim3 { unsigned x, y, z; } emu_dim3;

// Called once for each emulated thread, with threadIdx and its like set: unpacks the arguments, calls the kernel.
typedef void (*emu_trampoline)(const void *function, const void *arguments);

typedef struct emu_launch {
    uint32_t interface_version;  // EMU_INTERFACE_VERSION
    emu_trampoline trampoline;
    const void *function;        // the kernel; its name is looked up from this address
    const void *arguments;       // copied by the core before the call returns
    size_t argument_bytes, argument_align;
    emu_dim3 grid, block;
    size_t dynamic_shared;       // bytes
    void *stream;
    int cooperative;             // all blocks resident at once
} emu_launch;

#ifdef __cplusplus
}
#endif
#endif
