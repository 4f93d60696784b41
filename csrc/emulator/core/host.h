// What the host side's files share (core.h lists them; stream.h has what is behind the queues).
//
// Locks: a file has one at most (those around stream.h share theirs), and no function takes a lock while it holds
// another one. fork() takes them all (life.c), so that a child never inherits one half way.
#ifndef EMULATOR_CORE_HOST_H
#define EMULATOR_CORE_HOST_H

#include "core.h"
#include "cuda_runtime_api.h"

enum { EMU_MAX_DEVICES = 64, EMU_GRAIN = 256 }; // EMU_GRAIN: alignment of device memory, and what sizes round up to

// What happens to a lock around fork().
typedef enum emu_fork { EMU_FORK_PREPARE, EMU_FORK_PARENT, EMU_FORK_CHILD } emu_fork;

// --- errors.c ----------------------------------------------------------------------------------------------------
// Notes code and words for the calling thread; returns the code.
int emu_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// --- config.c ----------------------------------------------------------------------------------------------------
const char *emu_config_problem(void); // a malformed environment variable, in words; NULL: none
int emu_allocation_should_fail(void); // counts fail_allocation down
size_t emu_parse_size(const char *text, int *ok);
int emu_change_config(const char *key, const char *value); // emu_configure, which waits before
void emu_config_fork(emu_fork stage);

// --- chips.c -----------------------------------------------------------------------------------------------------
typedef struct emu_multiprocessor { // what a multiprocessor of a compute capability has
    int capability, warps, blocks;  // 90 is 9.0; warps and blocks that it holds at once
    size_t shared, shared_per_block, shared_reserved, shared_piece; // a block by opt-in; kept by the system, a block
    int registers, registers_per_block;
    int float_rate, double_rate; // multiply-adds a cycle
} emu_multiprocessor;

typedef struct emu_chip {
    const char *name, *full_name;
    const emu_multiprocessor *each;
    int multiprocessors, clock_khz, memory_clock_khz, bus_bits;
    size_t memory, l2;
    int async_engines;
} emu_chip;

const emu_chip *emu_find_chip(const char *name); // NULL: unknown
void emu_list_chips(char *text, size_t size);

// --- device.c ----------------------------------------------------------------------------------------------------
typedef struct emu_limits { // the same on all chips
    int warp, block_threads, block_dim[3];
    unsigned grid_dim[3];
    size_t shared_per_block, constant, pitch;
    int texture_1d, texture_2d[2], texture_3d[3];
    int texture_1d_layered[2], texture_2d_layered[3]; // the last number: layers
    int texture_alignment, texture_pitch_alignment, surface_alignment;
} emu_limits;
extern const emu_limits EMU_LIMITS;

const emu_chip *emu_chip_now(void);
size_t emu_device_memory(void);    // bytes that each device has
size_t emu_half_of_computer(void); // bytes of memory
int emu_enter(int *device);        // the calling thread's device, or why there is none
int emu_check_device(int device, const char *call);
void emu_drop_peers(int device); // cudaDeviceReset

// --- texture.c ---------------------------------------------------------------------------------------------------
void emu_drop_textures(int device); // cudaDeviceReset: arrays and textures become invalid
void emu_texture_fork(emu_fork stage);

// --- kernel.c ----------------------------------------------------------------------------------------------------
typedef struct emu_kernel { // what a handle points to
    const void *function;
    _Atomic(const emu_signature *) signature; // NULL: only the address has been named so far
    atomic_size_t shared;                     // dynamic shared memory that a block may have
    _Atomic(char *) name;                     // the linker's; NULL: nobody has asked for it
} emu_kernel;

static inline const emu_signature *emu_kernel_signature(const emu_kernel *kernel) {
    return atomic_load_explicit(&kernel->signature, memory_order_acquire);
}
static inline size_t emu_kernel_shared(const emu_kernel *kernel) {
    return atomic_load_explicit(&kernel->shared, memory_order_relaxed);
}

// The kernel that `call` names by its handle or host function; else an error. A function of a library that is not
// known yet becomes known by its address.
int emu_find_kernel(const void *function, const char *call, emu_kernel **found);
int emu_find_typed_kernel(const void *function, const char *call, emu_kernel **found); // one that has a signature
int emu_check_version(uint32_t version); // of the interface that a library was built against
void emu_kernel_fork(emu_fork stage);

// --- memory.c ----------------------------------------------------------------------------------------------------
typedef struct emu_allocation {
    uintptr_t base;
    size_t bytes;
    int dying;     // its release has been asked for
    int device;    // -1: host memory
    int is_symbol; // a __constant__ or __device__ variable
} emu_allocation;

int emu_find_allocation(const void *pointer, emu_allocation *found); // the one that holds the address; 0: none
void emu_release_device(int device);                                 // every allocation of the device
void emu_memory_fork(emu_fork stage);

// --- print.c -----------------------------------------------------------------------------------------------------
void emu_print_flush(void); // what kernels have printed so far, to standard output; no lock held
void emu_print_fork(emu_fork stage);

// --- stream.c ----------------------------------------------------------------------------------------------------
typedef void (*emu_work)(void *data);

// How work gets done in its place in the stream's order.
typedef enum emu_manner {
    EMU_HERE,   // by the calling thread, when the stream has come to it; the call waits
    EMU_LATER,  // by the stream's thread
    EMU_EITHER, // by the calling thread if the stream has nothing to do, else by the stream's thread
} emu_manner;

// Copies `bytes` of data along. `always`: even when it is given up (memory must be given back).
int emu_submit(void *stream, emu_work work, const void *data, size_t bytes, emu_manner manner, int always);
int emu_stream_device(void *stream, int *device); // checks the handle
void emu_drop_streams(int device);                // cudaDeviceReset: handles become invalid
void emu_stream_fork(emu_fork stage);

// --- wait.c ------------------------------------------------------------------------------------------------------
void emu_wait_idle(int device); // for what is queued now; -1: all devices; leaves errors where they are
int emu_collect(void *stream);  // after waiting: the error that a synchronising call reports

#endif
