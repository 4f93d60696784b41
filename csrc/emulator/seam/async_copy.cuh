// Asynchronous copies from global to shared memory (PTX: cp.async): here the emulator's; csrc/gpu has a file of the
// same name and meaning, which explains the functions.
//
// The destination is overwritten with NaN bytes (0xff) when a copy begins, and gets its data in the wait and no
// sooner: a missing wait, or a read of what the copy will replace, gives a wrong result.
#ifndef EMULATOR_ASYNC_COPY_CUH
#define EMULATOR_ASYNC_COPY_CUH

#include "cuda_runtime.h"

template <int BYTES>
__device__ __forceinline__ void cp_async(void *shared, const void *global, int read = BYTES, EMU_SITE) {
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cp.async copies 4, 8 or 16 bytes");
    emu_copy_async(shared, global, BYTES, read, file, line);
}

__device__ __forceinline__ void cp_async_commit() {
    emu_copy_async_commit();
}

template <int GROUPS> __device__ __forceinline__ void cp_async_wait() {
    emu_copy_async_wait(GROUPS);
}

#endif
