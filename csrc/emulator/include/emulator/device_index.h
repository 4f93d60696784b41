// threadIdx, blockIdx, blockDim and gridDim: thread-local variables of the core, set whenever a thread continues.
//
// They are variables and not macros, so that `config.blockDim` compiles, and `__thread` with constant initializers,
// so that an access is a load and not a call. Compilers may keep the values across a barrier, because they never
// change for a thread. (In a whole program, a loop over a block's threads sets threadIdx: device_program.h.)
#ifndef EMULATOR_DEVICE_INDEX_H
#define EMULATOR_DEVICE_INDEX_H

#include "../vector_types.h"

#define EMU_INDEX(symbol) __asm__(symbol) __attribute__((tls_model("initial-exec"), visibility("default")))
#if defined EMULATOR_PROGRAM && !defined EMULATOR_REPORTS
extern __thread uint3 threadIdx EMU_INDEX("emu_threadIdx");
#else
extern __thread const uint3 threadIdx EMU_INDEX("emu_threadIdx");
#endif
extern __thread const uint3 blockIdx EMU_INDEX("emu_blockIdx");
extern __thread const dim3 blockDim EMU_INDEX("emu_blockDim");
extern __thread const dim3 gridDim EMU_INDEX("emu_gridDim");
#undef EMU_INDEX

constexpr int warpSize = 32;

#endif
