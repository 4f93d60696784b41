// Inside the emulator core: what its files share.
//
//   host side                                        device side
//   errors.c   codes and words, for each OS thread   grid.c    blocks of a grid over the worker threads
//   config.c   CUDAKERN_EMULATOR_*, orders           block.c   one block: its threads, barriers, deadlocks
//   chips.c    chips, their multiprocessors
//   device.c   limits, current device                warp.c    masks: shuffles, votes, match, __syncwarp
//   memory.c   allocations, pools                    fiber.c   stacks and the switch between them
//   copy.c     copies and fills                      texel.c   what a texture read gives
//   texture.c  arrays and texture objects            print.c   printf
//                                                    async.c   copies that are waited for later
//   symbol.c   __constant__ and __device__ variables
//   kernel.c   handles, parameters, settings
//   launch.c   what a launch may ask for
//   stream.c   queues, workers               --->    system.c  threads, libraries, names, the time: for both
//   wait.c     waiting, errors, cancelling
//   event.c    marks in a queue
//   life.c     fork(), cudaDeviceReset, settings: above all of these
//
// The arrow is the one call between the two halves: emu_grid_run.
#ifndef EMULATOR_CORE_INTERNAL_H
#define EMULATOR_CORE_INTERNAL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator_core.h"

enum { EMU_WARP = 32, EMU_MAX_THREADS = 1024, EMU_MESSAGE = 1024 };

// --- config.c: what can be set, by environment variable or emu_configure() --------------------------------------
typedef enum emu_order { EMU_ORDER_FIXED, EMU_ORDER_REVERSED, EMU_ORDER_SEEDED } emu_order;

typedef struct emu_config {
    emu_order order;           // of blocks in a grid and threads in a block
    uint64_t seed;             // for EMU_ORDER_SEEDED
    int workers;               // OS threads that run blocks; 0: one a core
    int devices;               // emulated devices (before the first use)
    size_t memory;             // bytes of each device; 0: the chip's
    char chip[32];             // "H200", ...
    size_t stack_bytes;        // of an emulated thread
    long long fail_allocation; // the n-th device allocation from now fails; 0: none
} emu_config;

const emu_config *emu_current_config(void);

// --- system.c: what both sides ask of the operating system --------------------------------------------------------
int emu_start_thread(void *(*entry)(void *), void *argument); // detached; 0 or an errno
uint64_t emu_now_ns(void);
// The library that holds the address stays loaded until the process ends; 0: there is none.
int emu_keep_loaded(const void *address);
// A kernel's demangled name, from its address (dladdr): kernels are exported symbols for this reason.
void emu_kernel_name(const void *function, char *name, size_t size);

// --- grid.c: runs one grid to its end on the worker threads; called by a stream's thread -------------------------
// A launch that launch.c let pass.
typedef struct emu_grid_launch {
    emu_trampoline trampoline;
    const void *function, *arguments; // the kernel, and its arguments laid out as its parameters are
    emu_dim3 grid, block;
    size_t dynamic_shared;
    int cooperative;
} emu_grid_launch;

// Returns 0 or a cudaError_t; then `message` (EMU_MESSAGE bytes) says what happened: rule, kernel, source line,
// block, thread. `cancel` is polled at block starts, thread starts, barriers and warp operations; once nonzero the
// grid is abandoned and the call returns EMU_CANCELLED.
enum { EMU_CANCELLED = -1 };
int emu_grid_run(const emu_grid_launch *launch, const atomic_int *cancel, double clock_ghz, char *message);

// fork(): called in the child, where the worker threads no longer exist.
void emu_grid_after_fork(void);

#endif
