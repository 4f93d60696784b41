// What CUDA C has no name for, or none that every compiler takes: here the emulator's; a GPU build has a file of the
// same name and meaning.
#ifndef DEVICE_EXTRAS_CUH
#define DEVICE_EXTRAS_CUH

#include "cuda_runtime.h"

// Declares `T *name` at the block's dynamic shared memory, which is aligned to at least 16 bytes.
#define DYNAMIC_SHARED(T, name) T *const name = static_cast<T *>(emu_dynamic_shared())

// Nanoseconds of a clock that all blocks have in common.
__device__ __forceinline__ unsigned long long global_timer_ns() {
    return emu_global_timer_ns();
}

#endif
