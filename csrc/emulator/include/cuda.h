// For programs that include the driver API's header although they only use the runtime API. The emulator has no
// driver API.
#ifndef EMULATOR_CUDA_H
#define EMULATOR_CUDA_H

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;

#endif
