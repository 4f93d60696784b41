// The compiler's own atomic functions with memory orders and scopes, of nvcc 12.8 and later: __nv_atomic_fetch_add,
// ...
//
// An operation is relaxed, with a fence before it if it releases and one after it if it acquires.
#ifndef EMULATOR_DEVICE_NV_ATOMICS_H
#define EMULATOR_DEVICE_NV_ATOMICS_H

#include "device_atomics.h"
#include "device_sync.h"

#define __NV_ATOMIC_RELAXED       0
#define __NV_ATOMIC_CONSUME       1
#define __NV_ATOMIC_ACQUIRE       2
#define __NV_ATOMIC_RELEASE       3
#define __NV_ATOMIC_ACQ_REL       4
#define __NV_ATOMIC_SEQ_CST       5
#define __NV_THREAD_SCOPE_THREAD  0
#define __NV_THREAD_SCOPE_BLOCK   1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE  3
#define __NV_THREAD_SCOPE_SYSTEM  4

__device__ __forceinline__ void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
    if (scope == __NV_THREAD_SCOPE_BLOCK)
        __threadfence_block();
    else if (scope == __NV_THREAD_SCOPE_SYSTEM)
        __threadfence_system();
    else
        __threadfence();
}

namespace emu {
__forceinline__ unsigned nv_scope(int scope) {
    return scope == __NV_THREAD_SCOPE_SYSTEM ? EMU_OF_SYSTEM : scope <= __NV_THREAD_SCOPE_BLOCK ? EMU_OF_BLOCK : 0;
}
__forceinline__ void nv_before(int order, int scope) {
    if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
__forceinline__ void nv_after(int order, int scope) {
    if (order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
template <typename T> struct nv_same { using type = T; }; // a value is converted to the pointer's type
template <typename T> using nv_value = typename nv_same<T>::type;
} // namespace emu

template <typename T>
__device__ __forceinline__ T __nv_atomic_load_n(const T *address, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    EMU_REPORTED(address, EMU_READS | emu::nv_scope(scope));
    T value;
    __atomic_load(const_cast<T *>(address), &value, __ATOMIC_RELAXED);
    emu_spin();
    emu::nv_after(order, scope);
    return value;
}
template <typename T>
__device__ __forceinline__ void __nv_atomic_load(const T *address, T *to, int order,
                                                 int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *to = __nv_atomic_load_n(address, order, scope);
}
template <typename T>
__device__ __forceinline__ void __nv_atomic_store_n(T *address, emu::nv_value<T> value, int order,
                                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::nv_before(order, scope);
    EMU_REPORTED(address, EMU_WRITES | emu::nv_scope(scope));
    __atomic_store(address, &value, __ATOMIC_RELAXED);
}
template <typename T>
__device__ __forceinline__ void __nv_atomic_store(T *address, const T *value, int order,
                                                  int scope = __NV_THREAD_SCOPE_SYSTEM) {
    __nv_atomic_store_n(address, *value, order, scope);
}
template <typename T>
__device__ __forceinline__ T __nv_atomic_exchange_n(T *address, emu::nv_value<T> value, int order,
                                                    int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::nv_before(order, scope);
    EMU_REPORTED(address, EMU_READS | EMU_WRITES | emu::nv_scope(scope));
    const T before = emu::exchange(address, value);
    emu::nv_after(order, scope);
    return before;
}
template <typename T>
__device__ __forceinline__ void __nv_atomic_exchange(T *address, const T *value, T *to, int order,
                                                     int scope = __NV_THREAD_SCOPE_SYSTEM) {
    *to = __nv_atomic_exchange_n(address, *value, order, scope);
}
template <typename T>
__device__ __forceinline__ bool __nv_atomic_compare_exchange_n(T *address, T *expected, emu::nv_value<T> value, bool,
                                                               int order, int if_not_equal,
                                                               int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::nv_before(order, scope);
    EMU_REPORTED(address, EMU_READS | EMU_WRITES | EMU_COMPARES | emu::nv_scope(scope));
    const T before = emu::compare_exchange(address, *expected, value);
    const bool is_equal = __builtin_memcmp(&before, expected, sizeof before) == 0;
    emu::nv_after(is_equal ? order : if_not_equal, scope);
    *expected = before;
    return is_equal;
}
template <typename T>
__device__ __forceinline__ bool __nv_atomic_compare_exchange(T *address, T *expected, const T *value, bool is_weak,
                                                             int order, int if_not_equal,
                                                             int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(address, expected, *value, is_weak, order, if_not_equal, scope);
}

#define EMU_FETCH(name, changed)                                                                                     \
    template <typename T>                                                                                            \
    __device__ __forceinline__ T __nv_atomic_fetch_##name(T *address, emu::nv_value<T> value, int order,             \
                                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {                    \
        emu::nv_before(order, scope);                                                                                \
        EMU_REPORTED(address, EMU_READS | EMU_WRITES | emu::nv_scope(scope));                                        \
        const T before = emu::update(address, [value](T old) -> T { return changed; });                              \
        emu::nv_after(order, scope);                                                                                 \
        return before;                                                                                               \
    }                                                                                                                \
    template <typename T>                                                                                            \
    __device__ __forceinline__ void __nv_atomic_##name(T *address, emu::nv_value<T> value, int order,                \
                                                       int scope = __NV_THREAD_SCOPE_SYSTEM) {                       \
        __nv_atomic_fetch_##name(address, value, order, scope);                                                      \
    }
EMU_FETCH(add, old + value)
EMU_FETCH(sub, old - value)
EMU_FETCH(and, old &value)
EMU_FETCH(or, old | value)
EMU_FETCH(xor, old ^ value)
EMU_FETCH(min, value < old ? value : old)
EMU_FETCH(max, old < value ? value : old)
#undef EMU_FETCH

#endif
