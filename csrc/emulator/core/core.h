// Inside the emulator core: what its files share.
//
//   host side                                     device side
//   device.c   chips, limits, current device      grid.c    blocks of a grid over the worker threads
//   memory.c   allocations, copies, pools         block.c   one block: its threads, barriers, deadlocks
//   stream.c   queues, workers, events      --->  warp.c    masks: shuffles, votes, match, __syncwarp
//   config.c   CUDAKERN_EMULATOR_*, orders        fiber.c   stacks and the switch between them
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

// --- grid.c: runs one grid to its end on the worker threads; called by a stream's thread -------------------------
// Returns 0 or a cudaError_t; then `message` (EMU_MESSAGE bytes) says what happened: rule, kernel, source line,
// block, thread. `cancel` is polled at block starts, thread starts, barriers and warp operations; once nonzero the
// grid is abandoned and the call returns cudaErrorLaunchFailure-like code EMU_CANCELLED.
enum { EMU_CANCELLED = -1 };
int emu_grid_run(const emu_launch *launch, const atomic_int *cancel, double clock_ghz, char *message);

// How many blocks a cooperative launch may have on this computer (each has an OS thread of its own).
int emu_grid_cooperative_limit(void);

// The kernel's demangled name, from its address (dladdr): kernels are exported symbols for this reason.
void emu_kernel_name(const void *function, char *name, size_t size);

// fork(): called in the child, where the worker threads no longer exist.
void emu_grid_after_fork(void);
void emu_streams_after_fork(void);

#endif
