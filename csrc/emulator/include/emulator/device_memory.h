// Kinds of memory (__isShared, __cvta_generic_to_shared, ...), numbered barriers, and malloc, free, new and delete in
// kernels.
#ifndef EMULATOR_DEVICE_MEMORY_H
#define EMULATOR_DEVICE_MEMORY_H

#include <stddef.h>

#include "device_core.h"
#include "device_index.h"
#include "device_qualifiers.h"

// Variables in __constant__ memory and parameters count as global memory.
__device__ __forceinline__ unsigned __isShared(const void *address) {
    return emu_is_shared(address) != 0;
}
__device__ __forceinline__ unsigned __isClusterShared(const void *address) { // (not of other blocks)
    return emu_is_shared(address) != 0;
}
__device__ __forceinline__ unsigned __isConstant(const void *) {
    return 0;
}
__device__ __forceinline__ unsigned __isGridConstant(const void *) {
    return 0;
}
__device__ __forceinline__ unsigned __isLocal(const void *address) {
    return !emu_is_shared(address) && emu_is_local(address);
}
__device__ __forceinline__ unsigned __isGlobal(const void *address) {
    return !emu_is_shared(address) && !emu_is_local(address);
}

// Addresses in shared memory have 32 bits, as in PTX; other addresses stay as they are.
__device__ __forceinline__ size_t __cvta_generic_to_shared(const void *address) {
    return emu_shared_offset(address);
}
__device__ __forceinline__ void *__cvta_shared_to_generic(size_t address) {
    return emu_shared_address(address);
}
#define EMU_SAME_ADDRESS(space)                                                                                      \
    __device__ __forceinline__ size_t __cvta_generic_to_##space(const void *address) {                               \
        return reinterpret_cast<size_t>(address);                                                                    \
    }                                                                                                                \
    __device__ __forceinline__ void *__cvta_##space##_to_generic(size_t address) {                                   \
        return reinterpret_cast<void *>(address);                                                                    \
    }
EMU_SAME_ADDRESS(global)
EMU_SAME_ADDRESS(local)
EMU_SAME_ADDRESS(constant)
EMU_SAME_ADDRESS(grid_constant)
#undef EMU_SAME_ADDRESS

// A barrier of the block, by its number, for all threads or for so many. Number 0 is that of __syncthreads.
__device__ __forceinline__ void __barrier_sync_count(unsigned number, unsigned threads, EMU_SITE) {
    emu_sync_part(static_cast<int>(number), static_cast<int>(threads), file, line);
}
__device__ __forceinline__ void __barrier_sync(unsigned number, EMU_SITE) {
    const unsigned threads = (blockDim.x * blockDim.y * blockDim.z + 31) / 32 * 32;
    if (number == 0)
        emu_sync_block(file, line);
    else
        __barrier_sync_count(number, threads, file, line);
}

// Compilers call a function of this name for the address of a thread-local variable: in a library that contains it
// this one, not the C library's. (On aarch64, and where compilers are told to use "TLS descriptors", they do without:
// the core then notices.)
extern "C" __attribute__((weak, visibility("hidden"), no_sanitize("thread"))) void *
emu_find_variable(const emu_variable *variable) __asm__("__tls_get_addr");
extern "C" void *emu_find_variable(const emu_variable *variable) {
    const emu_statics &placed = emu_placed_statics;
    return variable->library == placed.library ? placed.begin + variable->offset : emu_other_variable(variable);
}

// The linker directs the library's calls of these functions here (compile_flags(): --wrap). In kernels they use the
// heap of kernels, elsewhere they call the original ones.
#ifdef EMULATOR_HEAP
#define EMU_WRAPPED extern "C" __attribute__((weak, visibility("hidden")))
#define EMU_ALLOCATE(name)                                                                                           \
    extern "C" void *__real_##name(size_t);                                                                          \
    EMU_WRAPPED void *__wrap_##name(size_t bytes) {                                                                  \
        return emu_in_kernel() ? emu_heap_malloc(bytes) : __real_##name(bytes);                                      \
    }
#define EMU_RELEASE(name)                                                                                            \
    extern "C" void __real_##name(void *);                                                                           \
    EMU_WRAPPED void __wrap_##name(void *pointer) {                                                                  \
        emu_in_kernel() ? emu_heap_free(pointer) : __real_##name(pointer);                                           \
    }
#define EMU_RELEASE_SIZED(name)                                                                                      \
    extern "C" void __real_##name(void *, size_t);                                                                   \
    EMU_WRAPPED void __wrap_##name(void *pointer, size_t bytes) {                                                    \
        emu_in_kernel() ? emu_heap_free(pointer) : __real_##name(pointer, bytes);                                    \
    }
EMU_ALLOCATE(malloc)
EMU_ALLOCATE(_Znwm) // new, new[]
EMU_ALLOCATE(_Znam)
EMU_RELEASE(free)
EMU_RELEASE(_ZdlPv) // delete, delete[]
EMU_RELEASE(_ZdaPv)
EMU_RELEASE_SIZED(_ZdlPvm)
EMU_RELEASE_SIZED(_ZdaPvm)
#undef EMU_WRAPPED
#undef EMU_ALLOCATE
#undef EMU_RELEASE
#undef EMU_RELEASE_SIZED
#endif

#endif
