// Faults in kernels: a wild access, a division by zero, a stack that overflows. They fail the block and not the
// process. And loops that do not end: a signal ends them when the kernel is canceled.
//
//   a kernel's thread, on its fiber:  loads from a wild address
//        '-> signal, on the OS thread's signal stack: on_fault --> emu_block_abandon --> the OS thread's own stack
//   any other code:                   on_fault --> the handler that was installed before, or the process ends
//
// The handler notes what happened and leaves by the switch to the OS thread's own stack, where the block is discarded
// and its error composed. Nothing must be restored: the signal is not blocked in the handler (SA_NODEFER), and the
// system considers a signal stack free as soon as no code runs on it.
//
// Other libraries install handlers too (Python's faulthandler, a sanitizer). Every launch checks that ours is in
// place and remembers what it replaces. Such a handler may reinstall ours and raise the signal again, so a fault that
// is passed on a second time goes to the handler that was there first.
#include "block.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define UNCHECKED __attribute__((no_sanitize("address"))) // for a function whose frame is left without a return

enum { SIGNALS = 4, SIGNAL_STACK = 64 << 10, MOST_REPEATS = 1000 };
static const int FAULTS[SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // for the two arrays
static struct sigaction first[SIGNALS], latest[SIGNALS]; // what our handler replaced: originally, and the last time
static __thread int passing STATIC_TLS;                  // the depth of calls of other handlers

static uintptr_t program_counter(const void *context) {
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#else
    (void)at;
    return 0;
#endif
}

static uintptr_t stack_pointer(const void *context) {
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.sp;
#else
    (void)at;
    return 0;
#endif
}

// The instruction that called the function in which the thread is, if that function has not used its stack yet
// (memcpy and others in the C library).
static uintptr_t caller(const void *context, const emu_fiber *fiber) {
#if defined(__aarch64__)
    (void)fiber;
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.regs[30] - 1;
#else
    const uintptr_t sp = stack_pointer(context);
    return sp - (uintptr_t)fiber->low < fiber->size ? *(const uintptr_t *)sp - 1 : 0;
#endif
}

static uintptr_t code_of_kernel(const emu_block *block, const void *context) {
    const emu_code *kernel = &block->grid->launch->code;
    if (!block->inside) return 0;
    const uintptr_t at[] = {program_counter(context), caller(context, block->current->fiber)};
    for (int i = 0; i < 2; ++i)
        if (at[i] - kernel->begin < kernel->bytes) return at[i];
    return 0;
}

// Whether the instruction is one that needs an address that is a multiple of 16: movaps, movdqa, addps, ...
static int is_of_vector(const void *context) {
#if defined(__x86_64__)
    const unsigned char *code = (const unsigned char *)program_counter(context);
    code += *code == 0x66;
    code += (*code & 0xf0) == 0x40;
    const unsigned char what = code[1];
    return *code == 0x0f && ((what >= 0x51 && what <= 0x5f) || memchr("\x28\x29\x2b\x6f\x7f\xe7", what, 6));
#else
    (void)context;
    return 0;
#endif
}

// Whether the instruction is the one that compilers put where the program cannot go on.
static int is_trap(const void *context) {
#if defined(__x86_64__)
    return !memcmp((const char *)program_counter(context), "\x0f\x0b", 2); // ud2
#else
    (void)context;
    return 0;
#endif
}

static unsigned access_kind(const void *context) { // 0: unknown
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return at->uc_mcontext.gregs[REG_ERR] & 2 ? EMU_WRITES : EMU_READS;
#else
    (void)at;
    return 0;
#endif
}
static const char *verb(const void *context) {
    const unsigned kind = access_kind(context);
    return !kind ? "accessed" : kind & EMU_WRITES ? "wrote to" : "read from";
}

// --- Faults that are not a kernel's --------------------------------------------------------------------------------

static void end_process(int number, const siginfo_t *info) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    emu_tell_ignored();
    sigaction(number, &standard, NULL);
    if (info->si_code <= 0) raise(number); // it was sent; otherwise the instruction is repeated after the return
}

// A handler may return without having done anything (faulthandler's, once it is disabled), and the same fault comes
// again.
static int useless_handlers(const siginfo_t *info) {
    static _Atomic(void *) address;
    static atomic_int repeats;
    if (info->si_code <= 0) return 0;
    if (atomic_exchange(&address, info->si_addr) != info->si_addr) atomic_store(&repeats, 0);
    return atomic_fetch_add(&repeats, 1) / MOST_REPEATS;
}

static void pass_on(int number, siginfo_t *info, void *context) {
    int i = 0;
    while (FAULTS[i] != number) ++i;
    const int tried = passing + useless_handlers(info);
    const struct sigaction *to = tried ? &first[i] : &latest[i];
    const int is_action = to->sa_flags & SA_SIGINFO;
    if (tried > 1 || (!is_action && to->sa_handler == SIG_DFL)) {
        end_process(number, info);
    } else if (!is_action && to->sa_handler == SIG_IGN) {
        if (info->si_code > 0) end_process(number, info); // a real fault cannot be ignored
    } else {
        ++passing;
        if (is_action)
            to->sa_sigaction(number, info, context);
        else
            to->sa_handler(number);
        --passing;
    }
}

// --- Faults of kernels
// -----------------------------------------------------------------------------------------------

// The error of a wild access; returns its code.
static int describe_access(emu_block *block, const siginfo_t *info, const void *context) {
    const uintptr_t address = (uintptr_t)info->si_addr;
    char *text = block->fail_text, near[100];
    enum { SIZE = sizeof block->fail_text };
    if (info->si_code == SI_KERNEL && is_of_vector(context)) { // the processor does not say which address
        snprintf(text, SIZE, "the thread accessed a vector at an address that is not a multiple of its 16 bytes");
        return cudaErrorMisalignedAddress;
    }
    if (info->si_code == SI_KERNEL) {
        snprintf(text, SIZE, "the thread accessed an address that no memory can have");
    } else if (emu_stacks_guard(&block->stacks, address)) {
        snprintf(text, SIZE, EMU_STACK_OVERFLOW, block->stacks.stack_bytes);
        return cudaErrorHardwareStackError;
    } else if (emu_shared_explain(block, address, near, sizeof near)) {
        const int no_dynamic = !block->shared.bytes && address - (uintptr_t)block->shared.end < 1 << 16;
        snprintf(text, SIZE, "the thread %s a variable %s%s", verb(context), near,
                 no_dynamic ? ": the launch asks for none" : "");
    } else {
        block->fail_address = address < 1 << 16 ? 0 : address;
        snprintf(text, SIZE, "the thread %s address 0x%llx%s", verb(context), (unsigned long long)address,
                 address < 1 << 16 ? ", which is a null pointer" : "");
    }
    return cudaErrorIllegalAddress;
}

static UNCHECKED void on_fault(int number, siginfo_t *info, void *context) {
    emu_block *block = emu_current;
    if (!block || !(block->inside || block->recover) || info->si_code <= 0) {
        const uintptr_t address = number == SIGSEGV && info->si_code == SEGV_ACCERR ? (uintptr_t)info->si_addr : 0;
        if (!address || !emu_host_fault(address, access_kind(context), program_counter(context)))
            pass_on(number, info, context);
        return;
    }
    block->fail_file = NULL;
    block->fail_address = 0;
    block->fail_code_at = code_of_kernel(block, context);
    block->fail_thread = block->current ? emu_threadIdx.index : (emu_dim3){0, 0, 0};
    if (number == SIGSEGV || number == SIGBUS) {
        block->fail_code = describe_access(block, info, context);
    } else if (number == SIGFPE) {
        block->fail_code = cudaErrorLaunchFailure;
        snprintf(block->fail_text, sizeof block->fail_text,
                 "an integer was divided by zero, or the quotient is too large for its type");
    } else {
        block->fail_code = cudaErrorIllegalInstruction;
        snprintf(block->fail_text, sizeof block->fail_text, "the thread executed an illegal instruction%s",
                 is_trap(context)
                     ? ", which compilers put where there is no result: at a division by 0, or an access "
                       "by a null pointer"
                     : "");
    }
    block->failed = 1;
    if (block->recover) siglongjmp(*block->recover, 1);
    emu_block_abandon(block);
}

// --- Loops that do not end
// -------------------------------------------------------------------------------------------

// The signal to a thread that is to stop. Its default action is to ignore it, so one that comes too late does
// nothing.
enum { STOP = SIGURG };
static struct sigaction other_stop; // what our handler replaced

// Where a function that the kernel has called returns to, if the kernel is to stop. (It returns there without a call,
// so the stack is not aligned as after one.)
#if defined(__x86_64__)
#define UNALIGNED __attribute__((force_align_arg_pointer))
#else
#define UNALIGNED
#endif
static UNCHECKED UNALIGNED _Noreturn void stop_here(void) {
    emu_block_abandon(emu_current);
}

// The libraries that pass a C++ exception on: they follow return addresses to find who catches it.
static const char *const THROWING[][2] = {{"libgcc_s.so.1", "_Unwind_RaiseException"},
                                          {"libstdc++.so.6", "__cxa_throw"},
                                          {"libc++abi.so.1", "__cxa_throw"}};
enum { THROW = sizeof THROWING / sizeof *THROWING };
static emu_code throwing[THROW];
static pthread_once_t throwing_once = PTHREAD_ONCE_INIT;

static void find_throwing(void) {
    for (int i = 0; i < THROW; ++i) {
        void *library = dlopen(THROWING[i][0], RTLD_LAZY | RTLD_NOLOAD);
        if (!library) continue;
        throwing[i] = emu_code_around(dlsym(library, THROWING[i][1]), NULL);
        dlclose(library); // it was loaded before and stays loaded
    }
}

static int is_in(const emu_code *code, uintptr_t address) {
    return address - code->begin < code->bytes;
}
static int throws(uintptr_t address) {
    for (int i = 0; i < THROW; ++i)
        if (is_in(&throwing[i], address)) return 1;
    return 0;
}

// Whether the address is in the kernel's code, after a call.
static int is_return(const emu_code *kernel, uintptr_t address) {
    if (!is_in(kernel, address) || address - kernel->begin < 8) return 0;
#if defined(__x86_64__)
    const unsigned char *code = (const unsigned char *)address;
    int found = code[-5] == 0xe8;
    for (int bytes = 2; bytes < 8; ++bytes) found |= code[-bytes] == 0xff && (code[1 - bytes] & 0x38) == 0x10;
    return found;
#elif defined(__aarch64__)
    const uint32_t before = address % 4 ? 0 : ((const uint32_t *)address)[-1];
    return (before & 0xfc000000) == 0x94000000 || (before & 0xfffffc1f) == 0xd63f0000;
#else
    return 0;
#endif
}

// A function that the kernel has called, of the core or the C library, may hold a lock, so it is not left but goes on
// until it returns: of the return addresses on the stack, the first one that is in the kernel's code is replaced.
static UNCHECKED void stop_on_return(const emu_block *block, ucontext_t *at) {
    const emu_code *kernel = &block->grid->launch->code;
    const emu_fiber *fiber = block->current->fiber;
    const uintptr_t sp = stack_pointer(at), stop = (uintptr_t)stop_here;
    // Between two fibers, or while an exception is passed on, a later signal stops the kernel.
    if (!fiber || sp - (uintptr_t)fiber->low >= fiber->size || throws(program_counter(at))) return;
#if defined(__aarch64__)
    if (is_return(kernel, (uintptr_t)at->uc_mcontext.regs[30])) at->uc_mcontext.regs[30] = stop;
#endif
    uintptr_t *word = (uintptr_t *)(sp & ~(uintptr_t)7), *const end = (uintptr_t *)(fiber->low + fiber->size);
    while (word < end && !throws(*word) && !is_return(kernel, *word)) ++word;
    if (word < end && !throws(*word)) *word = stop;
}

static UNCHECKED void on_stop(int number, siginfo_t *info, void *context) {
    emu_block *block = emu_current;
    if (block && block->inside && emu_block_stopped(block)) {
        if (is_in(&block->grid->launch->code, program_counter(context))) emu_block_abandon(block);
        stop_on_return(block, context);
    }
    if (block) return;
    if (other_stop.sa_flags & SA_SIGINFO)
        other_stop.sa_sigaction(number, info, context);
    else if (other_stop.sa_handler != SIG_DFL && other_stop.sa_handler != SIG_IGN)
        other_stop.sa_handler(number);
}

void emu_fault_interrupt(pthread_t thread) {
    struct sigaction now,
        ours = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
    pthread_mutex_lock(&lock);
    if (!sigaction(STOP, NULL, &now) && now.sa_sigaction != on_stop) {
        other_stop = now;
        sigaction(STOP, &ours, NULL);
    }
    pthread_mutex_unlock(&lock);
    pthread_kill(thread, STOP);
}

// --- The handler of faults
// -------------------------------------------------------------------------------------------

// A system call costs a tenth of a launch, so the handlers of the other signals are checked only every 16th time,
// unless that of the first has been replaced: other libraries replace all of them.
void emu_fault_catch(void) {
    struct sigaction now, ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    static atomic_uint launches;
    pthread_once(&throwing_once, find_throwing);
    const int all = atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed) % 16 == 0;
    if (!all && !sigaction(FAULTS[0], NULL, &now) && now.sa_sigaction == on_fault) return;
    for (int i = 0; i < SIGNALS; ++i) {
        if (sigaction(FAULTS[i], NULL, &now) || now.sa_sigaction == on_fault) continue;
        pthread_mutex_lock(&lock);
        if (!sigaction(FAULTS[i], NULL, &now) && now.sa_sigaction != on_fault) {
            static int known[SIGNALS];
            if (!known[i]) first[i] = now;
            known[i] = 1;
            latest[i] = now;
            sigaction(FAULTS[i], &ours, NULL);
        }
        pthread_mutex_unlock(&lock);
    }
}

void emu_fault_fork(void) {
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static pthread_key_t stack_key; // frees a thread's signal stack when the thread ends
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void free_stack(void *memory) {
    const stack_t none = {.ss_flags = SS_DISABLE, .ss_size = SIGNAL_STACK};
    sigaltstack(&none, NULL);
    munmap(memory, SIGNAL_STACK);
}
static void make_stack_key(void) {
    pthread_key_create(&stack_key, free_stack);
}

void emu_fault_prepare_thread(void) {
    stack_t now;
    if (!sigaltstack(NULL, &now) && !(now.ss_flags & SS_DISABLE)) return; // there is one, ours or a sanitizer's
    pthread_once(&stack_once, make_stack_key);
    void *memory =
        mmap(NULL, SIGNAL_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return; // without it, a stack that overflows ends the process
    const stack_t stack = {.ss_sp = memory, .ss_size = SIGNAL_STACK};
    if (!pthread_setspecific(stack_key, memory)) {
        if (!sigaltstack(&stack, NULL)) return; // unmapped when the thread ends
        (void)pthread_setspecific(stack_key, NULL);
    }
    munmap(memory, SIGNAL_STACK);
}

// --- assert --------------------------------------------------------------------------------------------------------

void emu_assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
    static const char IN_LOOPS[] = "emu_loops_"; // before the name of a kernel that runs all threads of a block
    emu_block *block = emu_current;
    const char *const word = strstr(function, IN_LOOPS);
    char name[256];
    if (word) {
        snprintf(name, sizeof name, "%.*s%s", (int)(word - function), function, word + sizeof IN_LOOPS - 1);
        function = name;
    }
    if (!block || !block->inside) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
        abort();
    }
    const emu_dim3 at = block->index, thread = emu_threadIdx.index;
    if (!emu_current_config()->silent && !emu_tool_takes_failures() && !atomic_exchange(&block->grid->asserted, 1))
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                function, at.x, at.y, at.z, thread.x, thread.y, thread.z, expression);
    emu_block_fail_as(cudaErrorAssert, file, (int)line, "%s: assertion `%s` failed", function, expression);
}
