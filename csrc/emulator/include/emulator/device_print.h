// printf in kernels. Its text appears on standard output when the host synchronizes.
//
// The C library's function cannot be overloaded. So a macro calls the core, which distinguishes kernels from other
// code, as for clock(). In a kernel the result is the number of arguments, as in CUDA; elsewhere the C library's
// printf runs.
#ifndef EMULATOR_DEVICE_PRINT_H
#define EMULATOR_DEVICE_PRINT_H

#include <cstdio> // before the macro, because it declares printf and undefines macros of that name

#include "device_core.h"

namespace emu {
template <size_t COUNT> struct printed {
    static_assert(COUNT <= 33, "device printf takes at most 32 arguments after the format");
    enum : int { count = static_cast<int>(COUNT) - 1 };
};
template <typename... T> printed<sizeof...(T)> printed_of(const T &...); // never called: only its type is used
} // namespace emu

namespace std {
using ::emu_print;
}
#define printf(...) emu_print(decltype(emu::printed_of(__VA_ARGS__))::count, __VA_ARGS__)

#endif
