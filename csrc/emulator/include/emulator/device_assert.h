// assert in kernels: a failed one ends the kernel with the error 710 (cudaErrorAssert).
//
// The C library's macro calls __assert_fail, under a name that its headers declare. Here that name is the core's
// function, which distinguishes kernels from other code, whether <cassert> was included before this file or is
// included again.
#ifndef EMULATOR_DEVICE_ASSERT_H
#define EMULATOR_DEVICE_ASSERT_H

#include <cassert> // as nvcc does

#include "device_core.h"

extern "C" EMU_API void emu_assert_fail(const char *expression, const char *file, unsigned line,
                                        const char *function) noexcept __attribute__((noreturn));
#define __assert_fail emu_assert_fail

// nvcc's, which clang has as well.
#ifndef __clang__
__forceinline__ constexpr void __builtin_assume(bool) {}
#endif

#endif
