// Copies from global to shared memory that a thread waits for later, by cp.async: until the wait, the destination
// contains NaN.
#ifndef EMULATOR_CUDA_PIPELINE_PRIMITIVES_H
#define EMULATOR_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

// 4, 8 or 16 bytes, the last `zeros` of which are not read, but set to zero.
__device__ __forceinline__ void __pipeline_memcpy_async(void *shared, const void *global, size_t bytes,
                                                        size_t zeros = 0, EMU_SITE) {
    emu_copy_async(shared, global, static_cast<int>(bytes), static_cast<int>(bytes - zeros), file, line);
}
__device__ __forceinline__ void __pipeline_commit() {
    emu_copy_async_commit();
}
__device__ __forceinline__ void __pipeline_wait_prior(size_t groups) {
    emu_copy_async_wait(static_cast<int>(groups));
}

#endif
