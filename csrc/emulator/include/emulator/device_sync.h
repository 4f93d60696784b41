// Barriers of a block, memory fences, clocks.
#ifndef EMULATOR_DEVICE_SYNC_H
#define EMULATOR_DEVICE_SYNC_H

#include <time.h>

#include <ctime>

#include "device_core.h"
#include "device_qualifiers.h"

__device__ __forceinline__ void __syncthreads(EMU_SITE) {
    emu_sync_block(file, line);
}
__device__ __forceinline__ int __syncthreads_count(int predicate, EMU_SITE) {
    return emu_sync_block_with(EMU_SYNC_COUNT, predicate, file, line);
}
__device__ __forceinline__ int __syncthreads_and(int predicate, EMU_SITE) {
    return emu_sync_block_with(EMU_SYNC_AND, predicate, file, line);
}
__device__ __forceinline__ int __syncthreads_or(int predicate, EMU_SITE) {
    return emu_sync_block_with(EMU_SYNC_OR, predicate, file, line);
}

#ifdef EMULATOR_REPORTS
#define EMU_REPORTED_FENCE(scope) emu_fence_here(scope)
#else
#define EMU_REPORTED_FENCE(scope) static_cast<void>(0)
#endif
__device__ __forceinline__ void __threadfence() {
    EMU_REPORTED_FENCE(0);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
__device__ __forceinline__ void __threadfence_system() {
    EMU_REPORTED_FENCE(EMU_OF_SYSTEM);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
__device__ __forceinline__ void __threadfence_block() {
    EMU_REPORTED_FENCE(EMU_OF_BLOCK);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); // for the compiler only, because a block runs on one OS thread
}

__device__ __forceinline__ long long clock64() {
    return emu_clock64();
}
// As in CUDA, clock() has two meanings in one file: cycles in a kernel, and the C library's function elsewhere. The
// latter cannot be overloaded, so a macro calls the core, which distinguishes the two cases.
namespace std {
using ::emu_clock;
}
#define clock() emu_clock()
__device__ __forceinline__ void __nanosleep(unsigned) {
    emu_yield();
}
// Of launches that may overlap: here one ends before the next begins.
__device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {}
__device__ __forceinline__ void cudaGridDependencySynchronize() {}
__device__ __forceinline__ void __trap(EMU_SITE) {
    emu_fail("the kernel called __trap()", file, line);
}

#endif
