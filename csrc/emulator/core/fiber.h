// Fibers: each has a stack, and switching between them needs no system call.
//
//   emu_fiber_switch(from, to, value):   push registers | from->sp = sp | sp = to->sp | pop | return value
//
// The switch returns in `to`, from the call of emu_fiber_switch with which `to` left, and returns `value` there.
// The stacks of an OS thread are allocated in slabs. Each stack, from low to high addresses:
//
//   [guard page or nothing] [canary if no guard] [ ... free ... <- sp | frames ] [color: unused, of varying length]
//
// The lowest stack of a slab always has its guard page, so endless recursion ends there at the latest, and has
// overwritten only stacks of its own block.
//
// Invariants: a fiber always runs on the OS thread that first ran it, because compilers keep addresses of
// thread-local variables in registers across calls. The x87 and MXCSR control words are not switched: kernels do not
// set them.
#ifndef EMULATOR_FIBER_H
#define EMULATOR_FIBER_H

#include <stddef.h>
#include <stdint.h>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(EMU_FIBER_UCONTEXT)
#define EMU_FIBER_UCONTEXT
#endif
#ifdef EMU_FIBER_UCONTEXT
#include <ucontext.h>
#endif

#ifdef __SANITIZE_ADDRESS__
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#if EMU_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

typedef struct emu_fiber {
    void *sp; // must be the first member: the switch, in assembly, relies on it
    char *low;
    size_t size;
    int guarded;
#ifdef EMU_FIBER_UCONTEXT
    ucontext_t context;
    uint64_t value;
#endif
#if EMU_ASAN
    void *fake_stack;
#endif
} emu_fiber;

enum { EMU_MAX_FIBERS = 1024, EMU_STACK_CHUNK = 32 };

// The stacks of one OS thread: allocated in chunks when first needed, kept until the OS thread ends.
typedef struct emu_stacks {
    emu_fiber fibers[EMU_MAX_FIBERS];
    int count;
    size_t stack_bytes;
    void *chunks[EMU_MAX_FIBERS / EMU_STACK_CHUNK];
} emu_stacks;

// Allocates one more chunk of stacks; returns 0, or -1 if memory is exhausted. Every fiber begins in entry().
int emu_stacks_grow(emu_stacks *stacks, size_t stack_bytes, void (*entry)(void));
void emu_stacks_free(emu_stacks *stacks);

// Discards the contents of the fiber's stack: the fiber will begin again in entry().
void emu_fiber_prepare(emu_fiber *fiber, int index, void (*entry)(void));

// Whether the address is in a guard page of these stacks, or in the page where it would be.
int emu_stacks_guard(const emu_stacks *stacks, uintptr_t address);

// Whether the low end of a stack without a guard page has been overwritten.
int emu_fiber_overflowed(const emu_fiber *fiber);

// Makes a fiber of the calling OS thread's own stack, to which the other fibers return.
void emu_fiber_adopt(emu_fiber *fiber);

#ifdef EMU_FIBER_UCONTEXT
static inline uint64_t emu_fiber_switch(emu_fiber *from, emu_fiber *to, uint64_t value) {
    to->value = value;
    swapcontext(&from->context, &to->context);
    return from->value;
}
#else
uint64_t emu_fiber_switch(emu_fiber *from, emu_fiber *to, uint64_t value);
#endif

// `forever`: the fiber `from` is never resumed; its stack may only be prepared again.
static inline __attribute__((always_inline)) uint64_t emu_fiber_go(emu_fiber *from, emu_fiber *to, uint64_t value,
                                                                   int forever) {
#if EMU_ASAN
    __sanitizer_start_switch_fiber(forever ? NULL : &from->fake_stack, to->low, to->size);
    value = emu_fiber_switch(from, to, value);
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
    return value;
#else
    (void)forever;
    return emu_fiber_switch(from, to, value);
#endif
}
static inline void emu_fiber_begun(void) {
#if EMU_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

#endif
