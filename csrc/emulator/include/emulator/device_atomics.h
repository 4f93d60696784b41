// Atomic operations, with CUDA's types and scopes. As in CUDA, they are relaxed: order comes from fences and
// barriers.
//
// An operation that changes nothing (a CAS that fails, an exchange for the same value, adding 0) may come from a
// thread that waits for another one. It lets other threads run from time to time, so that locks between the threads
// of a block work. It does so afterwards: what has been reported of it must still hold when it is carried out.
#ifndef EMULATOR_DEVICE_ATOMICS_H
#define EMULATOR_DEVICE_ATOMICS_H

#include "device_core.h"
#include "device_qualifiers.h"
#include "../vector_functions.h"

// Tells the tool that watches the kernel, if the code is compiled so that it reports what it does. The functions
// below that access memory must not do so themselves.
#ifdef EMULATOR_REPORTS
#define EMU_REPORTED(address, ...) emu_atomic_here(address, sizeof *(address), EMU_ATOMIC | (__VA_ARGS__))
#else
#define EMU_REPORTED(address, ...) static_cast<void>(0)
#endif

namespace emu {
// Replaces the value by change(value); returns the old value.
template <typename T, typename F> __forceinline__ T update(T *address, F change) {
    T before, after;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    do after = change(before);
    while (!__atomic_compare_exchange(address, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    if (__builtin_memcmp(&before, &after, sizeof before) == 0) emu_spin();
    return before;
}
template <typename T> __forceinline__ T exchange(T *address, T value) {
    T before;
    __atomic_exchange(address, &value, &before, __ATOMIC_RELAXED);
    if (__builtin_memcmp(&before, &value, sizeof value) == 0) emu_spin();
    return before;
}
template <typename T> __forceinline__ T compare_exchange(T *address, T expected, T value) {
    const bool is_same = __builtin_memcmp(&expected, &value, sizeof value) == 0;
    if (!__atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || is_same)
        emu_spin();
    return expected;
}
} // namespace emu

// Defines an operation in its three scopes: device, block, system. Here they are the same. `also`: bits of its kind.
#define EMU_ATOMIC(name, also, type, parameters, arguments, ...)                                                     \
    namespace emu {                                                                                                  \
    __forceinline__ type atomic##name parameters {                                                                   \
        __VA_ARGS__                                                                                                  \
    }                                                                                                                \
    }                                                                                                                \
    EMU_ATOMIC_OF(atomic##name, also, atomic##name, type, parameters, arguments)                                     \
    EMU_ATOMIC_OF(atomic##name##_block, also | EMU_OF_BLOCK, atomic##name, type, parameters, arguments)              \
    EMU_ATOMIC_OF(atomic##name##_system, also | EMU_OF_SYSTEM, atomic##name, type, parameters, arguments)
#define EMU_ATOMIC_OF(name, also, operation, type, parameters, arguments)                                            \
    __device__ __forceinline__ type name parameters {                                                                \
        EMU_REPORTED(address, EMU_READS | EMU_WRITES | (also));                                                      \
        return emu::operation arguments;                                                                             \
    }
#define EMU_ATOMIC_BINARY(name, type, ...)                                                                           \
    EMU_ATOMIC(name, 0, type, (type * address, type value), (address, value), __VA_ARGS__)
#define EMU_ATOMIC_NUMBER(name, type, ...)                                                                           \
    EMU_ATOMIC(name, (static_cast<type>(1) / 2 == 0 ? EMU_OF_INTEGERS : 0), type, (type * address, type value),      \
               (address, value), __VA_ARGS__)
#define EMU_ATOMIC_FETCH(name, type, function, is_same)                                                              \
    EMU_ATOMIC_NUMBER(name, type, const type before = function(address, value, __ATOMIC_RELAXED);                    \
                      if (is_same) emu_spin(); return before;)
#define EMU_ATOMIC_UPDATE(name, type, changed)                                                                       \
    EMU_ATOMIC_NUMBER(name, type, return emu::update(address, [value](type old) -> type { return changed; });)

#define EMU_ATOMIC_INTEGER(type)                                                                                     \
    EMU_ATOMIC_FETCH(Add, type, __atomic_fetch_add, value == 0)                                                      \
    EMU_ATOMIC_FETCH(And, type, __atomic_fetch_and, (before & value) == before)                                      \
    EMU_ATOMIC_FETCH(Or, type, __atomic_fetch_or, (before | value) == before)                                        \
    EMU_ATOMIC_FETCH(Xor, type, __atomic_fetch_xor, value == 0)                                                      \
    EMU_ATOMIC_UPDATE(Min, type, value < old ? value : old)                                                          \
    EMU_ATOMIC_UPDATE(Max, type, value > old ? value : old)                                                          \
    EMU_ATOMIC_BINARY(Exch, type, return emu::exchange(address, value);)                                             \
    EMU_ATOMIC(CAS, EMU_COMPARES, type, (type * address, type expected, type value), (address, expected, value),     \
               return emu::compare_exchange(address, expected, value);)
EMU_ATOMIC_INTEGER(int)
EMU_ATOMIC_INTEGER(unsigned)
EMU_ATOMIC_INTEGER(unsigned long long)

EMU_ATOMIC_FETCH(Sub, int, __atomic_fetch_sub, value == 0)
EMU_ATOMIC_FETCH(Sub, unsigned, __atomic_fetch_sub, value == 0)
EMU_ATOMIC_UPDATE(Inc, unsigned, old >= value ? 0 : old + 1)
EMU_ATOMIC_UPDATE(Dec, unsigned, old == 0 || old > value ? value : old - 1)
EMU_ATOMIC_UPDATE(Min, long long, value < old ? value : old)
EMU_ATOMIC_UPDATE(Max, long long, value > old ? value : old)
EMU_ATOMIC_FETCH(And, long long, __atomic_fetch_and, (before & value) == before)
EMU_ATOMIC_FETCH(Or, long long, __atomic_fetch_or, (before | value) == before)
EMU_ATOMIC_FETCH(Xor, long long, __atomic_fetch_xor, value == 0)
EMU_ATOMIC_UPDATE(Add, float, old + value)
EMU_ATOMIC_UPDATE(Add, double, old + value)
EMU_ATOMIC_BINARY(Exch, float, return emu::exchange(address, value);)
EMU_ATOMIC(CAS, EMU_COMPARES, unsigned short,
           (unsigned short *address, unsigned short expected, unsigned short value), (address, expected, value),
           return emu::compare_exchange(address, expected, value);)

// Of a vector, each number is added atomically.
EMU_ATOMIC_BINARY(Add, float2, return make_float2(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y));)
EMU_ATOMIC_BINARY(Add, float4,
                  return make_float4(atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
                                     atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w));)

#undef EMU_ATOMIC
#undef EMU_ATOMIC_OF
#undef EMU_ATOMIC_BINARY
#undef EMU_ATOMIC_NUMBER
#undef EMU_ATOMIC_FETCH
#undef EMU_ATOMIC_UPDATE
#undef EMU_ATOMIC_INTEGER

#endif
