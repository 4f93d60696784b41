// For programs that include the driver API's header although they only use the runtime API. The emulator has no
// driver API.
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION

typedef unsigned long long CUdeviceptr;
typedef int CUdevice;

#endif
