// CUDA's qualifiers. Device code is ordinary code here, so only the qualifiers of variables have an effect.
#ifndef EMULATOR_DEVICE_QUALIFIERS_H
#define EMULATOR_DEVICE_QUALIFIERS_H

// Sources that are compiled at run time keep some words until cudakern/own/translate.py has read them.
#ifdef EMULATOR_TRANSLATED
#define __host__     __host__
#define __device__   __device__
#define __constant__ __constant__
#else
#define __host__
#define __device__
#define __constant__
#endif
// Types are exported too, because a hidden type as a template argument hides the kernel.
#define EMU_VISIBLE __attribute__((visibility("default")))
#ifndef EMULATOR_TRANSLATED
// Kernels are exported, whatever the library's default, because errors look up a kernel's name by its address.
#define __global__ EMU_VISIBLE
// A block runs on one OS thread, so static thread-local variables are shared by exactly the threads of a block.
// Compile with -fno-gnu-unique; otherwise libraries in one process share the variables of equal templates.
// If a tool watches the code, there is a gap behind each variable, and also those that are only written remain.
#ifdef EMULATOR_REPORTS
#define __shared__ static __thread __attribute__((used, aligned(65536)))
#else
#define __shared__ static __thread
#endif
#endif
// In a section of their own, so that the core can be told of them (device_symbols.h).
#define __managed__ __attribute__((section("emu_managed")))

#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#define __grid_constant__
#define __maxnreg__(...)
// Read by translate.py in programs, which have launches. Elsewhere clusters are refused: a launch would run without.
// (A pragma takes one string.)
#ifndef EMULATOR_PROGRAM
#define __launch_bounds__(...)
// clang-format off
#define __cluster_dims__(...) \
    _Pragma("GCC error \"the emulator has no __cluster_dims__: a C++ program can use cudaLaunchAttributeClusterDimension; a launch from Python has no clusters\"")
// clang-format on
#endif

// No attribute, because the C++ library writes __attribute__((__noinline__)): nothing is then to include before this.
// (clang has the word as a keyword from version 15 on.)
#if !defined(__clang__) || __clang_major__ < 15
#define __noinline__
#endif

#endif
