// What CUDA declares here is a part of cuda_runtime.h.
#include "cuda_runtime.h"
