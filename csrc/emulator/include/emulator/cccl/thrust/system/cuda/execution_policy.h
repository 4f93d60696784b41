// The same as Thrust's header without the algorithms, which are those of its sequential system: see detail/par.h.
#ifndef EMULATOR_CCCL_CUDA_POLICY
#define EMULATOR_CCCL_CUDA_POLICY

#include <thrust/system/cpp/execution_policy.h>
#include <thrust/system/cuda/detail/execution_policy.h>
#include <thrust/system/cuda/detail/par.h>

#endif
