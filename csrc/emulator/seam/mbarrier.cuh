// Barriers in shared memory that count arrivals and bytes (PTX: mbarrier): here the emulator's; csrc/gpu has a file
// of the same name and meaning, which explains the functions.
//
// A thread that waits lets the others run. If no thread of the block can go on, an error names the wait and what the
// phase lacks.
#ifndef EMULATOR_MBARRIER_CUH
#define EMULATOR_MBARRIER_CUH

#include "cuda_runtime.h"

using mbarrier = unsigned long long;

__device__ __forceinline__ void mbarrier_init(mbarrier *barrier, int arrivals, EMU_SITE) {
    emu_mbarrier_init(barrier, arrivals, file, line);
}

__device__ __forceinline__ void mbarrier_init_fence() {}

__device__ __forceinline__ void mbarrier_arrive(mbarrier *barrier, EMU_SITE) {
    emu_mbarrier_arrive(barrier, -1, file, line);
}

__device__ __forceinline__ void mbarrier_arrive_at(mbarrier *barrier, int rank, EMU_SITE) {
    emu_mbarrier_arrive_at(barrier, rank, file, line);
}

__device__ __forceinline__ void mbarrier_expect(mbarrier *barrier, int bytes, EMU_SITE) {
    if (bytes < 0) emu_fail("mbarrier_expect: the number of bytes is negative", file, line);
    emu_mbarrier_arrive(barrier, bytes, file, line);
}

__device__ __forceinline__ void mbarrier_wait(mbarrier *barrier, int parity, EMU_SITE) {
    emu_mbarrier_wait(barrier, parity, file, line);
}

#endif
