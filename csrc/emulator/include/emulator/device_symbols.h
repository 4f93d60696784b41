// Symbols by name: copies to and from __constant__ and __device__ variables, their address and size.
//
// A symbol is an ordinary variable here. The C functions of the same names in cuda_runtime_api.h take an address.
// These overloads also know the variable's size, and pass it to the core.
#ifndef EMULATOR_DEVICE_SYMBOLS_H
#define EMULATOR_DEVICE_SYMBOLS_H

#include <type_traits>

#include "../cuda_runtime_api.h"

// The linker's names for the begin and the end of the section of __managed__ variables, if there is one.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_emu_managed[], __stop_emu_managed[];

namespace emu {
// Registers a library's or program's managed variables, so that their addresses can be used like device memory.
struct managed_variables {
    managed_variables() {
        if (__start_emu_managed)
            emu_register(__start_emu_managed, static_cast<size_t>(__stop_emu_managed - __start_emu_managed), 2);
    }
};
__attribute__((visibility("hidden"))) inline const managed_variables own_managed_variables;

// T is deduced with the variable's const and reference. A value that is not a variable is on the stack, so the core
// can distinguish it from a symbol.
template <typename T> inline const void *symbol_of(T &symbol) {
    return &const_cast<const char &>(reinterpret_cast<const volatile char &>(symbol));
}
template <typename T> constexpr size_t size_of_symbol = sizeof(std::remove_reference_t<T>);
template <typename T>
constexpr bool can_change = !std::is_const<std::remove_all_extents_t<std::remove_reference_t<T>>>::value;
} // namespace emu

template <typename T>
inline cudaError_t cudaMemcpyToSymbolAsync(T &&symbol, const void *from, size_t bytes, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = nullptr) {
    static_assert(emu::can_change<T>, "a const symbol cannot be written; declare it without const");
    return static_cast<cudaError_t>(emu_copy_symbol(emu::symbol_of(symbol), emu::size_of_symbol<T>, offset,
                                                    const_cast<void *>(from), bytes, kind, 1, stream, 1));
}
template <typename T>
inline cudaError_t cudaMemcpyToSymbol(T &&symbol, const void *from, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    static_assert(emu::can_change<T>, "a const symbol cannot be written; declare it without const");
    return static_cast<cudaError_t>(emu_copy_symbol(emu::symbol_of(symbol), emu::size_of_symbol<T>, offset,
                                                    const_cast<void *>(from), bytes, kind, 1, nullptr, 0));
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *to, T &&symbol, size_t bytes, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = nullptr) {
    return static_cast<cudaError_t>(
        emu_copy_symbol(emu::symbol_of(symbol), emu::size_of_symbol<T>, offset, to, bytes, kind, 0, stream, 1));
}
template <typename T>
inline cudaError_t cudaMemcpyFromSymbol(void *to, T &&symbol, size_t bytes, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return static_cast<cudaError_t>(
        emu_copy_symbol(emu::symbol_of(symbol), emu::size_of_symbol<T>, offset, to, bytes, kind, 0, nullptr, 0));
}
template <typename T> inline cudaError_t cudaGetSymbolAddress(void **address, T &&symbol) {
    if (!address)
        return static_cast<cudaError_t>(
            emu_note_error(cudaErrorInvalidValue, "cudaGetSymbolAddress: the pointer for the result is NULL"));
    return static_cast<cudaError_t>(emu_symbol(address, nullptr, emu::symbol_of(symbol), emu::size_of_symbol<T>));
}
template <typename T> inline cudaError_t cudaGetSymbolSize(size_t *bytes, T &&symbol) {
    return static_cast<cudaError_t>(emu_symbol(nullptr, bytes, emu::symbol_of(symbol), emu::size_of_symbol<T>));
}

#endif
