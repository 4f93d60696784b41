// CUDA's marks for profilers: the emulator has tools of its own, so these do nothing.
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "cuda_runtime_api.h"

EMU_CUDA(cudaProfilerStart, (void), 0)
EMU_CUDA(cudaProfilerStop, (void), 0)

#endif
