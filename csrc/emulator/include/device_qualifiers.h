// CUDA's qualifiers. Device code is ordinary code here; only where a variable lives makes a difference.
#ifndef EMULATOR_DEVICE_QUALIFIERS_H
#define EMULATOR_DEVICE_QUALIFIERS_H

#define __host__
#define __device__
// Exported, whatever the module's default: an error names the kernel by looking its address up.
#define __global__ EMU_VISIBLE
// For types, too: a template's argument that is hidden hides the kernel.
#define EMU_VISIBLE __attribute__((visibility("default")))
// A block runs on one OS thread, so what is static and thread-local is shared by a block's threads and nobody else's.
// Compile with -fno-gnu-unique: else modules loaded side by side share the variables of equal templates.
#define __shared__ static __thread
#define __constant__
#define __managed__

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#define __grid_constant__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)

// __noinline__ is a macro under g++ (clang knows the word from 15 on), and the C++ library writes
// __attribute__((__noinline__)): the headers of the library that do so must come first.
#if !defined(__clang__) || __clang_major__ < 15
#ifdef __cplusplus
#include <memory>
#endif
#define __noinline__ __attribute__((noinline))
#endif

#endif
