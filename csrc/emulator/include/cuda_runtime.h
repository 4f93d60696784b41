// CUDA's C++ dialect and API on the emulator, for .cu files that are built for the CPU.
//
//     g++ -std=c++17 -x c++ -fno-gnu-unique -ffp-contract=off -Wno-unknown-pragmas -I<this folder> kernel.cu ...
//
// (`#pragma unroll` triggers -Wunknown-pragmas. g++ before 13 ignores the pragma below that turns the warning off, but
// not the flag.) In C, this header only includes cuda_runtime_api.h, as CUDA's own header does.
#ifndef EMULATOR_CUDA_RUNTIME_H
#define EMULATOR_CUDA_RUNTIME_H

#include "cuda_runtime_api.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_functions.h"

#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wunknown-pragmas" // #pragma unroll
#pragma GCC diagnostic ignored "-Wattributes"      // `static __global__`: a static function cannot be exported

#include "device_qualifiers.h"
#include "device_index.h"
#include "device_sync.h"
#include "device_warp.h"
#include "device_atomics.h"
#include "device_math.h"
#include "device_intrinsics.h"
#include "device_rounding.h"
#include "device_simd.h"
#include "device_special.h"
#include "device_memory.h"
#include "device_assert.h"
#include "device_print.h"
#include "device_launch.h"
#include "device_symbols.h"
#include "device_texture.h"
#endif

#endif
