// Compiled into each set whose kernels are checked: what the compiler calls for their loads and stores.
//
//   -fsanitize=thread: y[i] = 2 * x[i]  -->  __tsan_read4(&x[i]); __tsan_write4(&y[i])  -->  emu_access()
//
// The compiler's own library for these functions is not linked. Everything here is hidden, because each set has its
// own functions. CUDA's atomic functions report themselves (device_atomics.h); the __tsan_atomic functions, which
// stand for the compiler's atomic operations, must carry these out.
#include <emulator/core.h>
#include <emulator/device_core.h>
#include <emulator/events.h>

extern "C" __attribute__((visibility("default"))) const int cudakern_reports = 1;

#define CALLBACK  extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void
#define CALLED_AT __builtin_return_address(0)
#define INLINE    static inline __attribute__((always_inline, no_sanitize("thread")))
// This runs for every access, so each instruction counts.
INLINE void report(const void *pointer, size_t bytes, unsigned kind, const void *after) {
    const emu_direct *const direct = emu_threadIdx.direct;
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    const unsigned thread = emu_threadIdx.thread;
    if (!direct) {
        emu_access(pointer, bytes, kind, after);
        return;
    }
#ifdef EMULATOR_TRACED          // the counters look at what is noted later
    if (!direct->paths) return; // the core itself reports what the code does
    emu_path &path = direct->paths[thread];
    if (address - path.local < path.local_bytes) {
        if (direct->access) direct->access(pointer, bytes, kind, after);
    } else if (kind & EMU_RANGE) {
        emu_access(pointer, bytes, kind, after);
    } else {
        path.next[EMU_NOTES] = address;
        *path.next++ = EMU_NOTE(kind, __builtin_ctzl(bytes), after);
        if (path.next >= path.end) direct->full();
    }
#else // whether the tool need not hear of it: events.h
    if (address - direct->unheard.begin < direct->unheard.bytes && thread == direct->unheard.thread) return;
    const emu_page &page = direct->pages[address / EMU_PAGE % EMU_PAGES];
    const uintptr_t place = address % EMU_PAGE;
    if (kind == EMU_READS && bytes >= 4 && address - place + place % bytes == page.begin) {
        const uint32_t tag = page.tags[place / EMU_LINE];
        if (tag == direct->for_launch || tag == direct->for_block || tag == direct->for_block + 1 + thread / 32)
            return;
    }
    (kind & EMU_RANGE ? emu_access : direct->access)(pointer, bytes, kind, after);
#endif
}
#define ACCESS(name, bytes, kind)                                                                                    \
    CALLBACK __tsan_##name##bytes(const void *address) {                                                             \
        report(address, bytes, kind, CALLED_AT);                                                                     \
    }
#define ACCESSES(bytes)                                                                                              \
    ACCESS(read, bytes, EMU_READS)                                                                                   \
    ACCESS(write, bytes, EMU_WRITES)                                                                                 \
    ACCESS(unaligned_read, bytes, EMU_READS | EMU_RANGE) /* these are clang's */                                     \
    ACCESS(unaligned_write, bytes, EMU_WRITES | EMU_RANGE)                                                           \
    ACCESS(volatile_read, bytes, EMU_READS | EMU_VOLATILE)                                                           \
    ACCESS(volatile_write, bytes, EMU_WRITES | EMU_VOLATILE)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
CALLBACK __tsan_read_range(const void *address, size_t bytes) {
    report(address, bytes, EMU_READS | EMU_RANGE, CALLED_AT);
}
CALLBACK __tsan_write_range(const void *address, size_t bytes) {
    report(address, bytes, EMU_WRITES | EMU_RANGE, CALLED_AT);
}
CALLBACK __tsan_vptr_update(const void *address, const void *) {
    report(address, sizeof(void *), EMU_WRITES, CALLED_AT);
}
CALLBACK __tsan_vptr_read(const void *address) {
    report(address, sizeof(void *), EMU_READS, CALLED_AT);
}
CALLBACK __tsan_init() {}
CALLBACK __tsan_func_entry(const void *) {}
CALLBACK __tsan_func_exit() {}

// --- Basic blocks of code: -fsanitize-coverage=trace-pc, in mode "traced" ------------------------------------------
// Called where each of them begins. (Frames are aligned to 16 bytes.)
#ifdef EMULATOR_TRACED
#ifdef __clang__
#define FRAME __builtin_frame_address(0)
#else
#define FRAME __builtin_dwarf_cfa() // which needs no frame of this function
#endif
CALLBACK __sanitizer_cov_trace_pc() {
    const emu_direct *const direct = emu_threadIdx.direct;
    if (!direct || !direct->paths) return;
    emu_path &path = direct->paths[emu_threadIdx.thread];
    const uint64_t depth = reinterpret_cast<uintptr_t>(FRAME) - path.base;
    *path.next++ = depth << (EMU_CODE_BITS - 4) | reinterpret_cast<uintptr_t>(CALLED_AT);
    if (path.next >= path.end) direct->full();
}
#endif

// --- Functions of the C library that compilers call, also for copies of structs ------------------------------------
// (The linker directs their calls here: --wrap.)
#define FUNCTION extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void *
extern "C" void *__memcpy_chk(void *, const void *, size_t, size_t);
extern "C" void *__memmove_chk(void *, const void *, size_t, size_t);
extern "C" void *__memset_chk(void *, int, size_t, size_t);
#define COPY(name)                                                                                                   \
    FUNCTION __wrap_##name(void *to, const void *from, size_t bytes) {                                               \
        report(from, bytes, EMU_READS | EMU_RANGE, CALLED_AT);                                                       \
        report(to, bytes, EMU_WRITES | EMU_RANGE, CALLED_AT);                                                        \
        return __##name##_chk(to, from, bytes, hidden(bytes));                                                       \
    }
// A size that clang does not know: otherwise it makes the function below call the one that it stands for.
static inline size_t hidden(size_t bytes) {
    asm("" : "+r"(bytes));
    return bytes;
}
COPY(memcpy)
COPY(memmove)
FUNCTION __wrap_memset(void *to, int value, size_t bytes) {
    report(to, bytes, EMU_WRITES | EMU_RANGE, CALLED_AT);
    return __memset_chk(to, value, bytes, hidden(bytes));
}

// --- Indices of arrays whose size is known: -fsanitize=bounds ------------------------------------------------------
struct TypeName {
    unsigned short kind, info; // info: of an integer, 2 * log2(bits) + whether it is signed
    char name[1];
};
struct BadIndex {
    const char *file;
    unsigned line, column;
    const TypeName *array, *index;
};
CALLBACK __ubsan_handle_out_of_bounds(const BadIndex *at, size_t value) {
    const int unused = 64 - (1 << (at->index->info >> 1));
    const int64_t index =
        at->index->info & 1 ? static_cast<int64_t>(value << unused) >> unused : static_cast<int64_t>(value);
    emu_index_fails(index, at->array->name, at->file, static_cast<int>(at->line));
}

// A pointer that is used as one to a type, whose alignment it lacks: -fsanitize=alignment.
struct BadPointer {
    const char *file;
    unsigned line, column;
    const TypeName *type;
    unsigned char log_alignment, kind; // of the access: 1 is a store
};
CALLBACK __ubsan_handle_type_mismatch_v1(const BadPointer *at, size_t address) {
    if (at->log_alignment > 4 && address % 16 == 0) return; // no access has more than 16 bytes
    emu_access(reinterpret_cast<const void *>(address), size_t{1} << at->log_alignment,
               EMU_MISALIGNED | (at->kind == 1 ? EMU_WRITES : EMU_READS), CALLED_AT);
}

// --- malloc, free, new and delete in kernels, instead of those in device_memory.h ----------------------------------
#define ALLOCATE(name)                                                                                               \
    extern "C" void *__real_##name(size_t);                                                                          \
    FUNCTION __wrap_##name(size_t bytes) {                                                                           \
        return emu_in_kernel() ? emu_heap_malloc_at(bytes, CALLED_AT) : __real_##name(bytes);                        \
    }
#define RELEASE(name, ...)                                                                                           \
    CALLBACK __wrap_##name(void *pointer __VA_ARGS__) {                                                              \
        emu_in_kernel() ? emu_heap_free_at(pointer, CALLED_AT) : __real_free(pointer);                               \
    }
extern "C" void __real_free(void *);
ALLOCATE(malloc)
ALLOCATE(_Znwm)
ALLOCATE(_Znam)
RELEASE(free)
RELEASE(_ZdlPv)
RELEASE(_ZdaPv)
RELEASE(_ZdlPvm, , size_t)
RELEASE(_ZdaPvm, , size_t)

// --- The compiler's atomic operations ------------------------------------------------------------------------------
#define PERFORM extern "C" __attribute__((visibility("hidden"), no_sanitize("thread")))
#define ORDER   __ATOMIC_SEQ_CST
// (What the host reads may be a flag that a kernel sets. Kernels have CUDA's own operations.)
#define HEARD(bits)                                                                                                  \
    if (!emu_in_kernel())                                                                                            \
    emu_access(const_cast<const void *>(static_cast<const volatile void *>(address)), bits / 8,                      \
               EMU_READS | EMU_ATOMIC, CALLED_AT)
#define FETCH(bits, type, name)                                                                                      \
    PERFORM type __tsan_atomic##bits##_fetch_##name(volatile type *address, type value, int) {                       \
        HEARD(bits);                                                                                                 \
        return __atomic_fetch_##name(address, value, ORDER);                                                         \
    }
#define ATOMICS(bits, type)                                                                                          \
    PERFORM type __tsan_atomic##bits##_load(const volatile type *address, int) {                                     \
        HEARD(bits);                                                                                                 \
        return __atomic_load_n(address, ORDER);                                                                      \
    }                                                                                                                \
    PERFORM void __tsan_atomic##bits##_store(volatile type *address, type value, int) {                              \
        __atomic_store_n(address, value, ORDER);                                                                     \
    }                                                                                                                \
    PERFORM type __tsan_atomic##bits##_exchange(volatile type *address, type value, int) {                           \
        HEARD(bits);                                                                                                 \
        return __atomic_exchange_n(address, value, ORDER);                                                           \
    }                                                                                                                \
    PERFORM int __tsan_atomic##bits##_compare_exchange_strong(volatile type *address, type *expected, type value,    \
                                                              int, int) {                                            \
        HEARD(bits);                                                                                                 \
        return __atomic_compare_exchange_n(address, expected, value, false, ORDER, ORDER);                           \
    }                                                                                                                \
    PERFORM int __tsan_atomic##bits##_compare_exchange_weak(volatile type *address, type *expected, type value, int, \
                                                            int) {                                                   \
        HEARD(bits);                                                                                                 \
        return __atomic_compare_exchange_n(address, expected, value, false, ORDER, ORDER);                           \
    }                                                                                                                \
    PERFORM type __tsan_atomic##bits##_compare_exchange_val(volatile type *address, type expected, type value, int,  \
                                                            int) {                                                   \
        HEARD(bits);                                                                                                 \
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
