// Compiled into each set whose kernels are checked: what the compiler calls for their loads and stores.
//
//   -fsanitize=thread: y[i] = 2 * x[i]  -->  __tsan_read4(&x[i]); __tsan_write4(&y[i])  -->  emu_access()
//
// The compiler's own library for these functions is not linked. Everything here is hidden, because each set has its
// own functions. CUDA's atomic functions report themselves (device_atomics.h); the __tsan_atomic functions, which
// stand for the compiler's atomic operations, must carry these out.
#include <emulator/events.h>

extern "C" __attribute__((visibility("default"))) const int cudakern_reports = 1;

#define CALLBACK      extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void
#define CALLED_AT     __builtin_return_address(0)
#define ACCESS(name, bytes, kind)                                                                                    \
    CALLBACK __tsan_##name##bytes(const void *address) {                                                             \
        emu_access(address, bytes, kind, CALLED_AT);                                                                 \
    }
#define ACCESSES(bytes)                                                                                              \
    ACCESS(read, bytes, EMU_READS)                                                                                   \
    ACCESS(write, bytes, EMU_WRITES)                                                                                 \
    ACCESS(unaligned_read, bytes, EMU_READS) /* these are clang's */                                                 \
    ACCESS(unaligned_write, bytes, EMU_WRITES)                                                                       \
    ACCESS(volatile_read, bytes, EMU_READS | EMU_VOLATILE)                                                           \
    ACCESS(volatile_write, bytes, EMU_WRITES | EMU_VOLATILE)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
CALLBACK __tsan_read_range(const void *address, size_t bytes) {
    emu_access(address, bytes, EMU_READS, CALLED_AT);
}
CALLBACK __tsan_write_range(const void *address, size_t bytes) {
    emu_access(address, bytes, EMU_WRITES, CALLED_AT);
}
CALLBACK __tsan_vptr_update(const void *, const void *) {}
CALLBACK __tsan_vptr_read(const void *) {}
CALLBACK __tsan_init() {}
CALLBACK __tsan_func_entry(const void *) {}
CALLBACK __tsan_func_exit() {}

#define PERFORM    extern "C" __attribute__((visibility("hidden"), no_sanitize("thread")))
#define ORDER      __ATOMIC_SEQ_CST
#define FETCH(bits, type, name)                                                                                      \
    PERFORM type __tsan_atomic##bits##_fetch_##name(volatile type *address, type value, int) {                       \
        return __atomic_fetch_##name(address, value, ORDER);                                                         \
    }
#define ATOMICS(bits, type)                                                                                          \
    PERFORM type __tsan_atomic##bits##_load(const volatile type *address, int) {                                     \
        return __atomic_load_n(address, ORDER);                                                                      \
    }                                                                                                                \
    PERFORM void __tsan_atomic##bits##_store(volatile type *address, type value, int) {                              \
        __atomic_store_n(address, value, ORDER);                                                                     \
    }                                                                                                                \
    PERFORM type __tsan_atomic##bits##_exchange(volatile type *address, type value, int) {                           \
        return __atomic_exchange_n(address, value, ORDER);                                                           \
    }                                                                                                                \
    PERFORM int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, type value,    \
                                                              int, int) {                                            \
        return __atomic_compare_exchange_n(address, expected, value, false, ORDER, ORDER);                           \
    }                                                                                                                \
    PERFORM int __tsan_atomic##bits##_compare_exchange_weak(volatile type *address, type *expected, type value, int, \
                                                            int) {                                                   \
        return __atomic_compare_exchange_n(address, expected, value, false, ORDER, ORDER);                           \
    }                                                                                                                \
    PERFORM type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int,  \
                                                            int) {                                                   \
        __atomic_compare_exchange_n(address, &expected, value, false, ORDER, ORDER);                                 \
        return expected;                                                                                             \
    }                                                                                                                \
    FETCH(bits, type, add)                                                                                           \
    FETCH(bits, type, sub)                                                                                           \
    FETCH(bits, type, and)                                                                                           \
    FETCH(bits, type, or)                                                                                            \
    FETCH(bits, type, xor)                                                                                           \
    FETCH(bits, type, nand)
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long long)
PERFORM void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(ORDER);
}
PERFORM void __tsan_atomic_signal_fence(int) {
    __atomic_signal_fence(ORDER);
}
