// CUDA's header of nvcuda::wmma, which the emulator does not have: one error, in place of hundreds in the toolkit's
// file of this name. (cudakern.compile shows this one alone.)
#ifndef EMULATOR_MMA_H
#define EMULATOR_MMA_H

#error the emulator has no nvcuda::wmma (mma.h): use tensor_core.cuh, which works here and on GPUs, or run this on a GPU

#endif
