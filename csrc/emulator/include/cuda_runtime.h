// CUDA's C++ dialect and API on the emulator, for .cu files that are built for the CPU.
//
//     g++ -std=c++17 -x c++ -fno-gnu-unique -ffp-contract=off -Wno-unknown-pragmas -I<this folder> kernel.cu ...
//
// (`#pragma unroll` triggers -Wunknown-pragmas. g++ before 13 ignores the pragma below that turns the warning off,
// but not the flag.) In C, this header only includes cuda_runtime_api.h, as CUDA's own header does.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "vector_types.h"
#include "vector_functions.h"
#include "driver_functions.h"

#ifdef __cplusplus
#include <cmath> // what CUDA's header includes, and programs therefore do not
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#endif

#if defined __cplusplus && __cplusplus < 201703L // a host's file in older C++: it has no kernels
#include "emulator/device_qualifiers.h"
#include "emulator/api_typed.h"
#elif defined __cplusplus
#pragma GCC diagnostic ignored "-Wunknown-pragmas" // #pragma unroll
#pragma GCC diagnostic ignored "-Wattributes"      // `static __global__`: a static function cannot be exported

#include "emulator/device_qualifiers.h"
#include "emulator/device_index.h"
#include "emulator/device_sync.h"
#include "emulator/device_warp.h"
#include "emulator/device_atomics.h"
#include "emulator/device_nv_atomics.h"
#include "emulator/device_math.h"
#include "emulator/device_intrinsics.h"
#include "emulator/device_rounding.h"
#include "emulator/device_simd.h"
#include "emulator/device_special.h"
#include "emulator/device_memory.h"
#include "emulator/device_assert.h"
#include "emulator/device_print.h"
#include "emulator/device_launch.h"
#ifdef EMULATOR_TRANSLATED
#include "emulator/device_program.h"
#endif
#include "emulator/api_typed.h"
#include "emulator/device_symbols.h"
#include "emulator/device_texture.h"
#include "emulator/device_surface.h"
#ifdef EMULATOR_TEXTURE_REFERENCES
#include "emulator/device_texture_reference.h"
#endif
#endif

#endif
