// Shared declarations of the host side. README.md lists its files; stream.h declares the internals of the queues.
//
// Locks: a file has at most one lock (the files around stream.h share one), and no function takes a lock while it
// holds another. fork() takes all of them (life.c), so that a child never inherits a lock that another thread holds.
#ifndef EMULATOR_CORE_HOST_H
#define EMULATOR_CORE_HOST_H

#include <pthread.h>

#include "core.h"
#include "cuda_runtime_api.h"
#include "emulator/events.h"

// EMU_GRAIN: the alignment of device memory; sizes are rounded up to a multiple of it.
enum { EMU_MAX_DEVICES = 64, EMU_GRAIN = 256 };
enum { EMU_PRIORITY_GREATEST = -5 }; // of streams, down from 0; it has no effect

// The three calls around fork(): lock before it, unlock after it in the parent and in the child.
typedef enum emu_fork { EMU_FORK_PREPARE, EMU_FORK_PARENT, EMU_FORK_CHILD } emu_fork;
static inline void emu_fork_lock(emu_fork stage, pthread_mutex_t *lock) {
    stage == EMU_FORK_PREPARE ? pthread_mutex_lock(lock) : pthread_mutex_unlock(lock);
}

// --- errors.c ----------------------------------------------------------------------------------------------------
// Records code and message for the calling thread; returns the code.
int emu_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int emu_error_again(int code, const char *message); // the same of an error that has been told before
// Errors of kernels, which in a whole program every call returns once one that waits has told of them.
int emu_error_would_stay(void);
void emu_error_stays(int code, const char *message); // of a kernel; without effect for others than programs
int emu_error_is_there(void);
int emu_error_after_reset(void);  // 1: for cudaDeviceReset, the device is lost
int emu_error_told(void);         // after a wait
int emu_error_of_all_calls(void); // 0: there is none

typedef struct emu_error_watch {                                    // ignored.c
    void (*add)(int code, const char *message);                     // a call of a whole program has failed
    void (*refused)(int code, const char *message, uintptr_t call); // a launch; call: its code, 0: the API's
    void (*seen)(int code);                                         // the program knows of such errors; 0: of all
    void (*tell)(void);                                             // of those of which it does not
} emu_error_watch;
extern _Atomic(const emu_error_watch *) emu_error_watched;
void emu_error_seen(int code);
void emu_error_refused(int code, const char *message, uintptr_t call);
void emu_error_of_launches(int begins); // program.c tells of errors that this thread makes until it ends

// --- ignored.c ---------------------------------------------------------------------------------------------------
void emu_ignored_fork(emu_fork stage);

// --- config.c ----------------------------------------------------------------------------------------------------
const char *emu_config_problem(void); // the message on a malformed environment variable; NULL: none
int emu_allocation_should_fail(void); // decrements fail_allocation
size_t emu_parse_size(const char *text, int *ok);
int emu_change_config(const char *key, const char *value); // without waiting, unlike emu_configure
void emu_config_fork(emu_fork stage);

// --- launch.c ----------------------------------------------------------------------------------------------------
int emu_launch_request(const emu_launch *request, uintptr_t call); // what emu_launch_kernel does

// --- chips.c -----------------------------------------------------------------------------------------------------
typedef struct emu_multiprocessor { // the resources of a multiprocessor of one compute capability
    int capability, warps, blocks;  // 90 for 9.0; the most resident warps and blocks
    // Bytes of shared memory: in all; per block by opt-in; reserved by the system per block; allocation granularity.
    size_t shared, shared_per_block, shared_reserved, shared_piece;
    int registers, registers_per_block;
    int float_rate, double_rate; // multiply-adds per cycle
} emu_multiprocessor;

typedef struct emu_chip {
    const char *name, *full_name;
    const emu_multiprocessor *each;
    int multiprocessors, clock_khz, memory_clock_khz, bus_bits;
    size_t memory, l2;
    int async_engines;
} emu_chip;

const emu_chip *emu_find_chip(const char *name); // NULL: unknown name
void emu_list_chips(char *text, size_t size);

// --- device.c ----------------------------------------------------------------------------------------------------
typedef struct emu_limits { // the same on all chips
    int warp, block_threads, block_dim[3];
    unsigned grid_dim[3];
    size_t shared_per_block, constant, pitch;
    int texture_1d, texture_2d[2], texture_3d[3];
    int texture_1d_layered[2], texture_2d_layered[3]; // the last item: the number of layers
    int texture_alignment, texture_pitch_alignment, surface_alignment;
} emu_limits;
extern const emu_limits EMU_LIMITS;

const emu_chip *emu_chip_now(void);
size_t emu_device_memory(void);    // bytes per device
size_t emu_half_of_computer(void); // half of the computer's memory in bytes
int emu_enter(int *device);        // the calling thread's device; an error if it does not exist
int emu_check_device(int device, const char *call);
void emu_drop_peers(int device); // for cudaDeviceReset

// --- texture.c ---------------------------------------------------------------------------------------------------
void emu_drop_textures(int device); // for cudaDeviceReset: arrays and textures become invalid
void emu_texture_fork(emu_fork stage);

// --- kernel.c ----------------------------------------------------------------------------------------------------
typedef struct emu_kernel { // a handle points to one
    const void *function;
    emu_code code;
    emu_module module;
    _Atomic(const emu_signature *) signature; // NULL: only the address is known so far
    emu_bounds bounds;
    atomic_size_t shared; // the most dynamic shared memory per block
    _Atomic(char *) name; // the mangled name; NULL until it is first requested
} emu_kernel;

static inline const emu_signature *emu_kernel_signature(const emu_kernel *kernel) {
    return atomic_load_explicit(&kernel->signature, memory_order_acquire);
}
int emu_kernel_threads(const emu_kernel *kernel); // the most per block
static inline size_t emu_kernel_shared(const emu_kernel *kernel) {
    return atomic_load_explicit(&kernel->shared, memory_order_relaxed);
}

// Finds a kernel by its handle or host function; `call` is the CUDA function, for the error message. An unknown
// function of a library is registered by its address.
int emu_find_kernel(const void *function, const char *call, emu_kernel **result);
int emu_find_typed_kernel(const void *function, const char *call, emu_kernel **result); // fails without a signature
int emu_check_version(uint32_t version); // the version of the interface that a library was built against
void emu_kernel_fork(emu_fork stage);

// --- memory.c ----------------------------------------------------------------------------------------------------
typedef struct emu_allocation {
    uintptr_t base;
    size_t bytes;
    int dying;     // its release has been requested
    int device;    // -1: host memory
    int is_symbol; // a __constant__ or __device__ variable; 2: all managed variables of a library
} emu_allocation;

int emu_malloc_for(void **pointer, size_t bytes, uintptr_t caller);
int emu_malloc_for_graph(void **pointer, size_t bytes); // allowed in a capture; cudaFreeAsync can free it
int emu_find_allocation(const void *pointer, emu_allocation *result); // the one that contains the address; 0: none
void emu_release_device(int device);                                  // frees every allocation of the device
void emu_memory_fork(emu_fork stage);
// --- table.c (table.h) -------------------------------------------------------------------------------------------
// After a kernel: whether canaries around the allocations that its arguments point to were overwritten, which `text`
// then says.
int emu_memory_check(const void *arguments, size_t bytes, char *text, size_t size);
// For calls that wait: checks more allocations, and records and returns the error of one that was damaged.
int emu_memory_problem(int device);

// What is at an address that a kernel must not access, as the end of a sentence: ", 4 bytes beyond the end of ...".
void emu_memory_explain(uintptr_t address, char *text, size_t size);

// --- closed.c ----------------------------------------------------------------------------------------------------
// Around whatever accesses device memory.
void emu_device_begin(void);
void emu_device_end(void);
// From now on, the host may not, and `then` is called if it does; 1: it may go on. (`event` lacks the allocation, and
// has its kind only if it is a symbol.)
typedef int (*emu_host_touched)(emu_host_event *event, int is_fault);
void emu_close(emu_host_touched then);
typedef enum emu_watched { EMU_WATCHED_DEVICE, EMU_WATCHED_VARIABLE, EMU_WATCHED_HOST } emu_watched;
void emu_host_watch(uintptr_t begin, size_t bytes, emu_watched what); // tell of the host's accesses to this memory

// --- symbol.c ----------------------------------------------------------------------------------------------------
void emu_reset_variables(void);                                     // for cudaDeviceReset
int emu_variable_at(const void *address, emu_memory_event *memory); // one of a program's __device__ variables
void emu_symbol_fork(emu_fork stage);

// --- region.c (region.h) -----------------------------------------------------------------------------------------
void emu_region_fork(emu_fork stage);

// --- tools.c -----------------------------------------------------------------------------------------------------
void emu_tool_fork(emu_fork stage);

// --- print.c -----------------------------------------------------------------------------------------------------
void emu_print_flush(void); // writes what kernels have printed so far to standard output; call without a lock held
void emu_print_fork(emu_fork stage);

// --- heap.c ------------------------------------------------------------------------------------------------------
void emu_heap_fork(emu_fork stage);
void emu_heap_drop(void);
size_t emu_heap_limit(void); // bytes
int emu_heap_set_limit(size_t bytes);

// --- graph.c, exec.c, capture.c (graph.h) -----------------------------------------------------------------------
void emu_graph_fork(emu_fork stage);
void emu_exec_fork(emu_fork stage);
void emu_capture_fork(emu_fork stage);

// While streams are captured: what capture.c does in place of a call. If a function returns 1, the call ends with
// *code. NULL: nothing is captured.
typedef struct emu_capture_calls {
    int (*node)(void *stream, struct cudaGraphNodeParams *what, const void *attributes, unsigned count, int *code);
    int (*refuse)(void *stream, const char *call, int *code); // what a captured stream cannot do
    int (*unsafe)(const char *call, int *code);               // what must not be called during a capture
    int (*record)(void *event, void *stream, int *code);
    int (*wait)(void *stream, void *event, int *code);
    int (*event)(void *event, const char *call, int *code); // what cannot be done with an event of a captured stream
} emu_capture_calls;
extern _Atomic(const emu_capture_calls *) emu_capture_now; // stream.c
static inline const emu_capture_calls *emu_capturing(void) {
    return atomic_load_explicit(&emu_capture_now, memory_order_acquire);
}

// --- stream.c ----------------------------------------------------------------------------------------------------
typedef void (*emu_work)(void *data);

// Which thread does the work when the stream reaches it.
typedef enum emu_manner {
    EMU_HERE,   // the calling thread; the call waits until the stream reaches the work
    EMU_LATER,  // the stream's thread
    EMU_EITHER, // the calling thread if the stream is idle, else the stream's thread
} emu_manner;

// Copies `bytes` bytes of `data` into the queue. `always`: the work is done even if it is canceled (frees must be).
int emu_submit(void *stream, emu_work work, const void *data, size_t bytes, emu_manner manner, int always);
int emu_stream_device(void *stream, int *device); // checks the handle
void emu_drop_streams(int device);                // for cudaDeviceReset: handles become invalid
void emu_drop_events(int device);                 // event.c; likewise
void emu_launch_not_run(const void *function);    // tells of it: in a program of which a kernel has failed
void emu_stream_fork(emu_fork stage);

// --- wait.c ------------------------------------------------------------------------------------------------------
void emu_tell_waited(void *stream); // the tool that watches: the host has waited for the stream
void emu_wait_idle(int device);     // waits for what is queued now (-1: on all devices); errors stay pending
int emu_collect(void *stream);      // after waiting: the error that a synchronizing call reports

#endif
