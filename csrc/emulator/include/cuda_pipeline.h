// CUDA's header of the copies in cuda_pipeline_primitives.h.
#ifndef EMULATOR_CUDA_PIPELINE_H
#define EMULATOR_CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif
