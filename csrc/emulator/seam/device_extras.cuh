// Functions that CUDA C lacks, or has in a form that not every compiler accepts, for the emulator. csrc/gpu has a
// file of the same name with the same functions for a GPU.
#ifndef DEVICE_EXTRAS_CUH
#define DEVICE_EXTRAS_CUH

#include "cuda_runtime.h"

// Declares `T *name` at the block's dynamic shared memory, which is aligned to at least 16 bytes.
#define DYNAMIC_SHARED(T, name) T *const name = static_cast<T *>(emu_dynamic_shared())

// Nanoseconds on a clock that all blocks share.
__device__ __forceinline__ unsigned long long global_timer_ns() {
    return emu_global_timer_ns();
}

// Launches of the emulator run one after another.
__device__ __forceinline__ void wait_for_grid_before() {}
__device__ __forceinline__ void let_next_grid_begin() {}

// True for one lane of those in the mask: here the first.
__device__ __forceinline__ bool elect_one(unsigned mask = 0xffffffff, EMU_SITE) {
    return emu::warp(EMU_ELECT, mask, 0, file, line) != 0;
}

// For caches and registers of a GPU.
__device__ __forceinline__ void prefetch_l2(const void *) {}
template <typename T> __device__ __forceinline__ void recompute_from(T &) {}

#endif
