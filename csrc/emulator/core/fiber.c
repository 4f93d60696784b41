// Stacks and the switch between them; fiber.h has a diagram.
#define _GNU_SOURCE
#include "fiber.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core.h"

#if EMU_ASAN
#include <sanitizer/asan_interface.h>
#endif
#ifdef __has_include
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER // slabs live as long as their OS thread, so nothing is ever deregistered
#define VALGRIND_STACK_REGISTER(low, high) 0
#endif

enum { CANARY_WORDS = 8 };
static const uint64_t CANARY = 0xc0ffee5eedfacade;

#if defined(__x86_64__) && !defined(EMU_FIBER_UCONTEXT)
// The function ends with a jump, not with `ret`. For `ret` the processor predicts a return to the caller in the fiber
// that left, which is wrong whenever that fiber arrived at one barrier and the next continues from the barrier
// before. The prediction of a jump learns from history. For the same reason callers should jump here, by making the
// call the last thing they do: every `ret` after the switch would be mispredicted.
__asm__(".text\n"
        ".p2align 4\n"
        ".globl emu_fiber_switch\n"
        ".hidden emu_fiber_switch\n"
        ".type emu_fiber_switch, @function\n"
        "emu_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n"
        "    movq %rdx, %rax\n"
        "    notrack jmpq *%rcx\n"
        ".size emu_fiber_switch, .-emu_fiber_switch\n");
// Six registers, the address to continue at, and a null return address for entry(), whose stack is then aligned as
// after a call.
enum { FRAME_WORDS = 8, FRAME_ENTRY = 6 };
#elif defined(__aarch64__) && !defined(EMU_FIBER_UCONTEXT)
// Here it must be `ret`: where branch targets are checked, a jump must not target the instruction after a call.
__asm__(".text\n"
        ".p2align 4\n"
        ".globl emu_fiber_switch\n"
        ".hidden emu_fiber_switch\n"
        ".type emu_fiber_switch, %function\n"
        "emu_fiber_switch:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    ldr x9, [x1]\n"
        "    mov sp, x9\n"
        "    mov x0, x2\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        ".size emu_fiber_switch, .-emu_fiber_switch\n");
enum { FRAME_WORDS = 20, FRAME_ENTRY = 1 };
#endif

// Stacks beyond emu_guard_pages() have canaries only.
static atomic_int guards_in_use;

static int take_guard(void) {
    int guards = atomic_load(&guards_in_use);
    while (guards < emu_guard_pages())
        if (atomic_compare_exchange_weak(&guards_in_use, &guards, guards + 1)) return 1;
    return 0;
}

static void give_guard(void) {
    atomic_fetch_sub(&guards_in_use, 1);
}

// Stacks are a power of two apart. If their tops were too, the active frames of all fibers would map to the same few
// cache sets. Therefore each stack begins at another one of a page's 64 cache lines. They advance by 7 lines, which
// is what a waiting thread of a typical kernel uses; 7 and 64 have no common divisor, so all 64 lines are used.
static size_t color(int index) {
    return (size_t)index * 7 % 64 * 64;
}

void emu_fiber_prepare(emu_fiber *fiber, int index, void (*entry)(void)) {
#if EMU_ASAN
    __asan_unpoison_memory_region(fiber->low, fiber->size);
    fiber->fake_stack = NULL;
#endif
    if (!fiber->guarded) // a guarded stack needs no canary, and writing it would allocate a page
        for (int i = 0; i < CANARY_WORDS; ++i) ((uint64_t *)fiber->low)[i] = CANARY;
    size_t used = color(index);
#ifdef EMU_FIBER_UCONTEXT
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->low;
    fiber->context.uc_stack.ss_size = fiber->size - used;
    fiber->context.uc_link = NULL;
    makecontext(&fiber->context, entry, 0);
#else
    void **frame = (void **)(fiber->low + fiber->size - used) - FRAME_WORDS;
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    frame[FRAME_ENTRY] = (void *)entry;
    fiber->sp = frame;
#endif
}

int emu_fiber_overflowed(const emu_fiber *fiber) {
    for (int i = 0; i < CANARY_WORDS && !fiber->guarded; ++i)
        if (((const uint64_t *)fiber->low)[i] != CANARY) return 1;
    return 0;
}

int emu_stacks_grow(emu_stacks *stacks, size_t stack_bytes, void (*entry)(void)) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!stacks->count) stacks->stack_bytes = (stack_bytes + page - 1) / page * page;
    size_t each = stacks->stack_bytes + page;
    char *slab = mmap(NULL, each * EMU_STACK_CHUNK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) return -1;
    stacks->chunks[stacks->count / EMU_STACK_CHUNK] = slab;
    for (int i = 0; i < EMU_STACK_CHUNK; ++i) {
        int index = stacks->count++;
        emu_fiber *fiber = &stacks->fibers[index];
        fiber->low = slab + (size_t)i * each + page;
        fiber->size = stacks->stack_bytes;
        fiber->guarded = take_guard();
        if ((fiber->guarded || !i) && mprotect(fiber->low - page, page, PROT_NONE)) {
            if (fiber->guarded) give_guard();
            fiber->guarded = 0;
            if (!i) {
                --stacks->count;
                munmap(slab, each * EMU_STACK_CHUNK);
                return -1;
            }
        }
        (void)VALGRIND_STACK_REGISTER(fiber->low, fiber->low + fiber->size);
        emu_fiber_prepare(fiber, index, entry);
    }
    return 0;
}

int emu_stacks_guard(const emu_stacks *stacks, uintptr_t address) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), each = stacks->stack_bytes + page;
    for (int i = 0; i < stacks->count / EMU_STACK_CHUNK; ++i) {
        const uintptr_t offset = address - (uintptr_t)stacks->chunks[i];
        if (offset < each * EMU_STACK_CHUNK) return offset % each < page;
    }
    return 0;
}

void emu_stacks_free(emu_stacks *stacks) {
    size_t each = stacks->stack_bytes + (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < stacks->count; ++i) {
#if EMU_ASAN
        __asan_unpoison_memory_region(stacks->fibers[i].low, stacks->fibers[i].size);
#endif
        if (stacks->fibers[i].guarded) give_guard();
    }
    for (int i = 0; i < stacks->count / EMU_STACK_CHUNK; ++i) munmap(stacks->chunks[i], each * EMU_STACK_CHUNK);
    stacks->count = 0;
}

void emu_fiber_adopt(emu_fiber *fiber) {
    memset(fiber, 0, sizeof *fiber);
#if EMU_ASAN // AddressSanitizer needs the bounds of every stack
    pthread_attr_t attributes;
    void *low;
    if (pthread_getattr_np(pthread_self(), &attributes)) return;
    if (!pthread_attr_getstack(&attributes, &low, &fiber->size)) fiber->low = low;
    pthread_attr_destroy(&attributes);
#endif
}
