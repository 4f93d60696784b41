// Declarations that both sides of the core share. README.md says which file does what.
#ifndef EMULATOR_CORE_INTERNAL_H
#define EMULATOR_CORE_INTERNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/core.h"

enum { EMU_WARP = 32, EMU_MAX_THREADS = 1024, EMU_MAX_CLUSTER = 8, EMU_MESSAGE = 1024 };

// --- config.c: settings, made by environment variable or emu_configure() ----------------------------------------
typedef enum emu_order { EMU_ORDER_FIXED, EMU_ORDER_REVERSED, EMU_ORDER_SEEDED } emu_order;

typedef struct emu_config {
    emu_order order;           // of blocks in a grid and threads in a block
    uint64_t seed;             // for EMU_ORDER_SEEDED
    int workers;               // OS threads that run blocks; 0: one per core
    int devices;               // number of emulated devices
    size_t memory;             // bytes per device; 0: as many as the chip has
    char chip[32];             // "H200", ...
    size_t stack_bytes;        // per emulated thread
    int silent;                // errors of kernels are not printed
    long long fail_allocation; // the n-th device allocation from now fails; 0: none
} emu_config;

const emu_config *emu_current_config(void);

// --- system.c: services of the operating system for both sides ----------------------------------------------------
int emu_start_thread(void *(*entry)(void *), void *argument); // detached; 0 or an errno
uint64_t emu_now_ns(void);
// Guard pages split mappings, of which a process may have 65,530 by default. Stacks may use a quarter of them for
// guard pages, and so may device memory: two for each page.
int emu_guard_pages(void);
// Keeps the library that contains the address loaded until the process ends. Returns 0 if no library contains it.
int emu_keep_loaded(const void *address);
// Whether a variable is in memory that is no part of its library's file.
int emu_begins_as_zeros(const void *address);
// A kernel's demangled name, looked up by its address with dladdr. This is why kernels are exported symbols.
void emu_kernel_name(const void *function, char *name, size_t size);
// The machine code of the library or program that contains the function.
typedef struct emu_code {
    uintptr_t begin;
    size_t bytes;
} emu_code;
// Its thread-local variables, which the static shared ones are.
typedef struct emu_module {
    size_t number, bytes, align; // 0 bytes: it has none
    size_t first;                // they begin so many bytes after a multiple of `align`
    const void *image;           // what the first `image_bytes` are at the start; the rest is zeros
    size_t image_bytes;
    int can_be_placed; // its code finds them where the core has placed them
} emu_module;
emu_code emu_code_around(const void *function, emu_module *module); // `module` may be NULL
// shared.c: whether the module can be placed, by a function that gives the address of one of its variables.
int emu_statics_can_be_placed(const emu_module *module, void *(*variable)(void));
int emu_is_library(const char *file); // lines.c: whether a source is one of CCCL's

// --- closed.c: code that is no kernel's accesses memory; `after`: as for emu_access()
void emu_host_access(const void *address, size_t bytes, unsigned kind, const void *after);
// Code that is no kernel's has faulted: 1 if it may go on. Does not return if the host has touched device memory.
int emu_host_fault(uintptr_t address, unsigned kind, uintptr_t code);

// --- lines.c: emu_source_lines()
const char *emu_as_given(const char *file); // a file's name, from the current folder if it is below that
void emu_source_lines_fork(void);           // in the child of a fork(), where another thread may have held its lock

// --- grid.c: runs one grid to its end on the worker threads; called by a stream's thread -------------------------
// A launch that has passed the checks of launch.c.
typedef struct emu_grid_launch {
    emu_trampoline trampoline;
    const void *function, *arguments; // the kernel, and its arguments in the layout of its parameters
    size_t argument_bytes;
    const emu_parameter *parameters;
    unsigned parameter_count;
    emu_code code;            // with the kernel's
    const emu_module *module; // of the kernel
    emu_dim3 grid, block;
    size_t dynamic_shared;
    int cooperative;
    emu_dim3 cluster; // blocks of a cluster
    int device;
    unsigned long long stream; // its id
    void *operation;           // of the stream: for what the kernel launches itself
    uintptr_t call;            // an address in the code of a program's <<<>>>; 0: unknown
} emu_grid_launch;

typedef struct emu_grid_error {
    char message[EMU_MESSAGE]; // rule, kernel, source line, block and thread
    uintptr_t address;         // that must not be accessed; 0: the error is not about one
} emu_grid_error;

// Returns 0 or a cudaError_t. `cancel` is polled at block starts, thread starts, barriers and warp operations; once
// it is nonzero, the grid is abandoned and the call returns EMU_CANCELLED.
enum { EMU_CANCELLED = -1 };
int emu_grid_run(const emu_grid_launch *launch, const atomic_int *cancel, double clock_ghz, emu_grid_error *error);

// The launch of which the calling thread is a thread of a kernel; NULL: it is none.
const emu_grid_launch *emu_grid_running(void);

// Ends loops of kernels that are to stop and have been launched with this `cancel`: at once, or when a function that
// they have called returns. Returns how many OS threads run such kernels.
int emu_grid_interrupt(const atomic_int *cancel);

// Called in the child of a fork(), where the worker threads no longer exist.
void emu_grid_after_fork(void);

#endif
