// The atomic functions of CUDA's compiler (__nv_atomic_*), of numbers of 4 and 8 bytes, with orders and scopes. An
// operation is relaxed, with a fence before it if it releases and one after it if it acquires.
#ifndef EMULATOR_DEVICE_NV_ATOMICS_H
#define EMULATOR_DEVICE_NV_ATOMICS_H

#include "device_atomics.h"
#include "device_sync.h"

enum {
    __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};

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
__forceinline__ void release(int order, int scope) {
    if (order >= __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
__forceinline__ void acquire(int order, int scope) {
    if (order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(order, scope);
}
__forceinline__ unsigned scope_kind(int scope) {
    if (scope <= __NV_THREAD_SCOPE_BLOCK) return EMU_OF_BLOCK;
    return scope == __NV_THREAD_SCOPE_SYSTEM ? static_cast<unsigned>(EMU_OF_SYSTEM) : 0;
}
template <typename T, typename Change> __forceinline__ T change(T *at, int order, int scope, Change to) {
    release(order, scope);
    EMU_REPORTED(at, EMU_READS | EMU_WRITES | scope_kind(scope));
    const T before = update(at, to);
    acquire(order, scope);
    return before;
}
} // namespace emu

#define EMU_SCOPE int order, int scope = __NV_THREAD_SCOPE_SYSTEM
template <typename T> __device__ __forceinline__ T __nv_atomic_load_n(T *at, EMU_SCOPE) {
    T value;
    EMU_REPORTED(at, EMU_READS | emu::scope_kind(scope));
    __atomic_load(at, &value, __ATOMIC_RELAXED);
    emu_spin();
    emu::acquire(order, scope);
    return value;
}
template <typename T> __device__ __forceinline__ void __nv_atomic_load(T *at, T *result, EMU_SCOPE) {
    *result = __nv_atomic_load_n(at, order, scope);
}
template <typename T> __device__ __forceinline__ void __nv_atomic_store(T *at, T *value, EMU_SCOPE) {
    emu::release(order, scope);
    EMU_REPORTED(at, EMU_WRITES | emu::scope_kind(scope));
    __atomic_store(at, value, __ATOMIC_RELAXED);
}
template <typename T>
__device__ __forceinline__ void __nv_atomic_store_n(T *at, std::common_type_t<T> value, EMU_SCOPE) {
    __nv_atomic_store(at, &value, order, scope);
}
template <typename T>
__device__ __forceinline__ T __nv_atomic_exchange_n(T *at, std::common_type_t<T> value, EMU_SCOPE) {
    emu::release(order, scope);
    EMU_REPORTED(at, EMU_READS | EMU_WRITES | emu::scope_kind(scope));
    const T before = emu::exchange(at, value);
    emu::acquire(order, scope);
    return before;
}
template <typename T> __device__ __forceinline__ void __nv_atomic_exchange(T *at, T *value, T *result, EMU_SCOPE) {
    *result = __nv_atomic_exchange_n(at, *value, order, scope);
}
template <typename T>
__device__ __forceinline__ bool __nv_atomic_compare_exchange_n(T *at, T *expected, std::common_type_t<T> value, bool,
                                                               int order, int if_not_equal,
                                                               int scope = __NV_THREAD_SCOPE_SYSTEM) {
    emu::release(order, scope);
    EMU_REPORTED(at, EMU_READS | EMU_WRITES | EMU_COMPARES | emu::scope_kind(scope));
    const T before = emu::compare_exchange(at, *expected, value);
    const bool is_equal = __builtin_memcmp(&before, expected, sizeof before) == 0;
    emu::acquire(is_equal ? order : if_not_equal, scope);
    *expected = before;
    return is_equal;
}
template <typename T>
__device__ __forceinline__ bool __nv_atomic_compare_exchange(T *at, T *expected, T *value, bool weak, int order,
                                                             int if_not_equal, int scope = __NV_THREAD_SCOPE_SYSTEM) {
    return __nv_atomic_compare_exchange_n(at, expected, *value, weak, order, if_not_equal, scope);
}
#define EMU_NV_FETCH(name, changed)                                                                                  \
    template <typename T>                                                                                            \
    __device__ __forceinline__ T __nv_atomic_fetch_##name(T *at, std::common_type_t<T> value, EMU_SCOPE) {           \
        return emu::change(at, order, scope, [value](T old) -> T { return changed; });                               \
    }                                                                                                                \
    template <typename T>                                                                                            \
    __device__ __forceinline__ void __nv_atomic_##name(T *at, std::common_type_t<T> value, EMU_SCOPE) {              \
        __nv_atomic_fetch_##name(at, value, order, scope);                                                           \
    }
EMU_NV_FETCH(add, old + value)
EMU_NV_FETCH(sub, old - value)
EMU_NV_FETCH(and, old &value)
EMU_NV_FETCH(or, old | value)
EMU_NV_FETCH(xor, old ^ value)
EMU_NV_FETCH(min, value < old ? value : old)
EMU_NV_FETCH(max, value > old ? value : old)
#undef EMU_NV_FETCH
#undef EMU_SCOPE

#endif
