// Arrays of dynamic shared memory as cudakern.compile declares them, because `extern __shared__ T name[];` is no C++.
//
// They are references to arrays of unknown length, as in CUDA. The compiler keeps a reference in memory like a
// pointer, so that all can be one thread-local variable of the core, which holds the address of the running block's
// memory.
#ifndef EMULATOR_DEVICE_DYNAMIC_H
#define EMULATOR_DEVICE_DYNAMIC_H

#include "device_qualifiers.h"

// At file scope: extern __thread float (&name)[] EMU_DYNAMIC;
#define EMU_DYNAMIC __asm__("emu_dynamic_begin") __attribute__((tls_model("initial-exec"), visibility("default")))

extern __thread char (&emu_dynamic_bytes)[] EMU_DYNAMIC;

// In a function, where T may be a template's parameter: auto &name = emu_dynamic<T>();
template <typename T> __forceinline__ T (&emu_dynamic())[] {
    return reinterpret_cast<T(&)[]>(emu_dynamic_bytes);
}

#endif
