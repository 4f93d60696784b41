// printf in kernels. Its text appears on standard output when the host synchronises.
//
// The C library's function cannot be overloaded, so a macro asks the core where it is, as for clock(): in a kernel the
// result is CUDA's, the number of arguments; elsewhere it is the C library's printf.
#ifndef EMULATOR_DEVICE_PRINT_H
#define EMULATOR_DEVICE_PRINT_H

#include <cstdio> // before the macro: it declares printf, and takes macros of that name away

#include "device_core.h"

namespace emu {
template <size_t COUNT> struct printed {
    static_assert(COUNT <= 33, "device printf takes at most 32 arguments after the format");
    enum : int { count = static_cast<int>(COUNT) - 1 };
};
template <typename... T> printed<sizeof...(T)> printed_of(const T &...); // never called: only its type is asked for
} // namespace emu

namespace std {
using ::emu_print;
}
#define printf(...) emu_print(decltype(emu::printed_of(__VA_ARGS__))::count, __VA_ARGS__)

#endif
