// Events: what kernels do and what happens to memory, for tools that watch it (a checker, counters).
//
//   tool --emu_subscribe(&table, tool)--> core: for each launch that begins from now on
//
//   launch_begin
//      block_begin --> thread_begin ... access, barrier, warp, async ... thread_end --> block_end
//   launch_end                                          copy, allocate, release: also when no kernel runs
//
// Without a tool, nothing of this costs time: barriers keep their quick path, and threads their trampoline.
//
// What is reported. The core reports what it does itself: barriers, operations of warps, asynchronous copies and
// products and the memory that they read and write, texture reads, copies, allocations. The loads, stores and atomic
// operations of a kernel's own code are reported if its library has been compiled to call emu_access() for each of
// them.
//
// When. One tool can subscribe at a time. It hears of launches that begin after emu_subscribe() has returned, not of
// those that run already. emu_unsubscribe() waits for the launches that it hears of; afterwards, no callback runs. A
// kernel that is skipped, because one before it in its stream failed, does not begin.
//
// From which thread. launch_begin and launch_end come from the stream's thread, the first before and the last after
// all other events of the launch. The events of a block, or of the blocks of a cluster, come from one OS thread, one
// after another, in the order in which things happen there. Several blocks may run at once, on different OS threads.
// A copy comes from the thread that carries it out, just before it does; `allocate` before the allocating call
// returns, and `release` before the memory can be used again.
//
// What a callback may do. It runs on the stack of the emulated thread, which has 128 KB and is the kernel's too, so
// it should use no more than a few KB. It may call emu_source_lines(), emu_memory_at() and emu_calls_of_program(),
// and the functions of the C library. In `access`, if the access is EMU_BY_THREAD, and in `barrier` at
// EMU_BARRIER_ARRIVES, it may also call emu_fail(), which ends the kernel with an error and does not return, and in
// the former emu_yield(), which lets other threads run. It must call no other function of the core. A fault in a
// callback is reported as the kernel's.
//
// An unfinished thread (its kernel failed or was canceled) has no thread_end; its block has a block_end all the same.
#ifndef EMULATOR_EVENTS_H
#define EMULATOR_EVENTS_H

#include "device_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- Where ---------------------------------------------------------------------------------------------------------

typedef struct emu_launch_event { // stays at its address from launch_begin to launch_end
    uint64_t number;              // 1, 2, ... of the launches that tools have heard of
    const char *kernel;           // its name: "tiled<float, 16>"
    const void *function;
    const void *arguments; // the arguments' bytes; parameters[i] says where each is
    const emu_parameter *parameters;
    unsigned parameter_count;
    emu_dim3 grid, block, cluster;
    size_t dynamic_shared; // bytes
    int cooperative, device;
    unsigned long long stream; // as cudaStreamGetId
    uint64_t order;            // of an emu_order_event
    void *own;                 // the tool's, NULL at first
} emu_launch_event;

// Addresses in shared memory: each block has its own ones in all events, also the blocks of a cluster, whose code
// finds static shared variables at one and the same address. An access to another block's memory has that block's
// address.
typedef struct emu_block_event { // stays at its address from block_begin to block_end
    emu_launch_event *launch;
    uint64_t number; // x + grid.x * (y + grid.y * z)
    emu_dim3 index;
    int rank;                     // in its cluster
    const char *shared, *statics; // dynamic shared memory; the static shared variables of the kernel's library
    size_t shared_bytes, static_bytes;
    void *own; // the tool's, NULL at first
} emu_block_event;

typedef struct emu_where {
    emu_block_event *block;
    int thread;       // its linear index in the block (modulo 32: its lane); -1: no thread in particular
    int line;         // in `file`
    const char *file; // NULL: unknown
    uintptr_t code;   // if the file is unknown: an address in the instruction, for emu_source_lines(); 0: unknown
} emu_where;

// --- What ----------------------------------------------------------------------------------------------------------

typedef enum emu_space { EMU_SPACE_GLOBAL, EMU_SPACE_SHARED, EMU_SPACE_LOCAL, EMU_SPACES } emu_space;

typedef enum emu_agent { // who accesses memory
    EMU_BY_THREAD,       // the kernel's code
    EMU_BY_COPY,         // cp.async
    EMU_BY_TENSOR_LOAD,  // TMA
    EMU_BY_TENSOR_STORE, //
    EMU_BY_PRODUCT,      // wgmma
    EMU_BY_MATRIX,       // ldmatrix, stmatrix: the rows of each lane
    EMU_BY_MBARRIER,     // an operation on the mbarrier at that address
    EMU_BY_TEXTURE,      // the elements that a texture read takes into account
    EMU_BY_PRINT,        // printf: its format
    EMU_AGENTS
} emu_agent;

// With an emu_access_kind. A range need not be aligned. EMU_MISALIGNED announces an access: its address is no
// multiple of `bytes`, as the type that it has in the source needs.
enum { EMU_RANGE = 128, EMU_MISALIGNED = 256 };

typedef struct emu_access_event {
    uintptr_t address;
    size_t bytes;
    unsigned kind; // emu_access_kind, EMU_RANGE
    emu_space space;
    emu_agent by;
    uint64_t operation; // of an asynchronous operation: its number; EMU_BY_TEXTURE: of the element; else 0
} emu_access_event;

typedef enum emu_barrier_stage {
    EMU_BARRIER_STARTS,  // of an mbarrier: it is initialized
    EMU_BARRIER_ARRIVES, // the thread has come
    EMU_BARRIER_OPENS,   // all that must come have come; reported once, before the first one leaves
    EMU_BARRIER_LEAVES,  // the thread, which has waited, continues
    EMU_BARRIER_STAGES
} emu_barrier_stage;

typedef struct emu_barrier_event {
    emu_barrier kind;
    emu_barrier_stage stage;
    uintptr_t object; // the mbarrier; else 0
    int number; // of a numbered barrier; EMU_BARRIER_LEAVES of an mbarrier: the parity of the phase that is complete
    int count;  // of a numbered barrier: its threads; EMU_BARRIER_STARTS: the arrivals per phase
    int bytes;  // EMU_BARRIER_ARRIVES at an mbarrier: how many bytes of copies its phase waits for
} emu_barrier_event;

typedef struct emu_warp_event { // all lanes have come; before the operation
    emu_warp_kind kind;
    const char *name;     // "__shfl_sync", "mma.sync"
    unsigned mask, lanes; // the lanes that it names, and those of them that take part
} emu_warp_event;

typedef enum emu_async_stage {
    EMU_ASYNC_BEGINS,  // an operation
    EMU_ASYNC_COMMITS, // the thread's operations so far are a group
    EMU_ASYNC_WAITS,   // until at most `groups` of the thread's groups are unfinished
    EMU_ASYNC_ENDS,    // an operation has been carried out
    EMU_ASYNC_FENCES,  // EMU_BY_PRODUCT: wgmma_fence; EMU_BY_TENSOR_STORE: fence_async_proxy
    EMU_ASYNC_STAGES
} emu_async_stage;

// The operation of a warp (EMU_BY_PRODUCT) is reported for one of its threads. An operation that no thread waits for
// has no end.
typedef struct emu_async_event {
    emu_async_stage stage;
    emu_agent by;
    uint64_t operation; // EMU_ASYNC_BEGINS, EMU_ASYNC_ENDS: its number, unique within the launch
    uintptr_t mbarrier; // that counts its bytes; 0: none
    int groups;         // EMU_ASYNC_WAITS
    int reads_only;     // EMU_ASYNC_WAITS: until a tensor_store has read shared memory; it writes its array later
    int repeats; // EMU_ASYNC_BEGINS: a multicast, for the second block or a later one: its array is read only once
} emu_async_event;

typedef struct emu_copy_event { // `height` rows of `width` bytes
    void *to;
    const void *from; // NULL: all bytes become `value`
    size_t to_pitch, from_pitch, width, height;
    int value;
    unsigned long long stream; // as cudaStreamGetId
    uint64_t order;            // of an emu_order_event
    int host_waits;            // for this copy, before the call returns
} emu_copy_event;

// What the host does that orders work in streams. Work is known by its `order`, which grows from one piece of work to
// the next; a stream carries its work out in this order. Work in the legacy stream of a device comes after all that
// has been queued in the device's blocking streams, and before all that is queued there later.
typedef enum emu_order_kind {
    EMU_ORDER_WORK,   // the host queues a launch or a copy, or what has no events of its own
    EMU_ORDER_RECORD, // ... a mark: the event stands for all work before it in its stream
    EMU_ORDER_WAIT,   // all later work of the stream comes after what the event stands for now
    EMU_ORDER_STREAM, // the host has waited for a stream (the legacy one: also for the blocking ones),
    EMU_ORDER_EVENT,  // ... an event,
    EMU_ORDER_DEVICE, // ... all streams of a device (-1: of all devices)
    EMU_ORDER_CALLS,  // queued work begins that calls a function of the host's
    EMU_ORDER_KINDS
} emu_order_kind;
typedef struct emu_order_event {
    emu_order_kind kind;
    uint64_t order;                     // EMU_ORDER_WORK, EMU_ORDER_CALLS
    unsigned long long stream;          // as cudaStreamGetId; 0: none
    int device, is_legacy, is_blocking; // of the stream
    const void *event;
    uintptr_t call; // EMU_ORDER_WORK: an address in the code of a program's <<<>>>; 0: the work is no such launch
} emu_order_event;

typedef enum emu_memory_kind {
    EMU_MEMORY_DEVICE,
    EMU_MEMORY_PINNED,
    EMU_MEMORY_REGISTERED, // host memory by cudaHostRegister
    EMU_MEMORY_SYMBOL,     // a __device__ or __constant__ variable, from its first use by the host on
    EMU_MEMORY_HEAP,       // malloc in a kernel
    EMU_MEMORY_MANAGED,    // cudaMallocManaged: device memory that the host may use, too
    EMU_MEMORY_KINDS
} emu_memory_kind;

typedef struct emu_memory_event {
    uintptr_t address;
    size_t bytes; // 0 if a kernel frees memory
    emu_memory_kind kind;
    int device;          // of EMU_MEMORY_DEVICE and EMU_MEMORY_MANAGED
    const emu_where *at; // of EMU_MEMORY_HEAP: the thread; else NULL
    uintptr_t code;      // in the call by which the host has allocated it, for emu_source_lines(); 0: unknown
} emu_memory_event;

// Code of a whole program that is no kernel's accesses memory of the kind EMU_MEMORY_DEVICE. Unless it stands in for
// the device, the program ends by SIGSEGV when the tool has been told, as on a GPU. If that code reports its
// accesses: also of memory that the host and the device share, and of EMU_MEMORY_SYMBOL, which on a GPU is a variable
// of the host's own.
typedef struct emu_host_event {
    uintptr_t address;
    size_t bytes;
    unsigned kind;           // emu_access_kind, EMU_RANGE; 0: unknown
    uintptr_t code;          // an address in the instruction, for emu_source_lines()
    emu_memory_event memory; // the allocation
    int stands_in;
} emu_host_event;

typedef enum emu_failure_kind {
    EMU_FAILURE_KERNEL,  // a kernel has ended with an error, or what it has written beyond an array was found
    EMU_FAILURE_REFUSED, // of a whole program: a launch,
    EMU_FAILURE_NOT_RUN, // ... or one that does not run because an earlier kernel has failed,
    EMU_FAILURE_IGNORED, // ... or another call that has failed, of which the program has not learned
    EMU_FAILURE_KINDS
} emu_failure_kind;
typedef struct emu_failure_event {
    emu_failure_kind kind;
    int code;             // a cudaError_t
    const char *message;  // which names the kernel; of EMU_FAILURE_KERNEL also the line, the block and the thread
    emu_dim3 grid, block; // of EMU_FAILURE_KERNEL
    uintptr_t call;       // of EMU_FAILURE_REFUSED and EMU_FAILURE_IGNORED: an address in it; 0: unknown
} emu_failure_event;
// Tells of calls that a program has ignored so far: for a tool that reports before the process ends, when the core
// does it.
EMU_API void emu_tell_ignored(void);

// --- The table -----------------------------------------------------------------------------------------------------

// A callback that is NULL is not called. Later versions add callbacks at the end; `size` tells which of them the tool
// knows.
typedef struct emu_events {
    size_t size; // sizeof(emu_events)
    void (*launch_begin)(void *tool, emu_launch_event *launch);
    void (*launch_end)(void *tool, emu_launch_event *launch, int code); // 0, a cudaError_t, or -1: canceled
    int (*block_begin)(void *tool, emu_block_event *block); // 0: no events of this block but its end, at full speed
    void (*block_end)(void *tool, emu_block_event *block, int complete); // 0: it failed or was canceled
    void (*thread_begin)(void *tool, const emu_where *at);
    void (*thread_end)(void *tool, const emu_where *at);
    void (*access)(void *tool, const emu_where *at, const emu_access_event *access);
    void (*barrier)(void *tool, const emu_where *at, const emu_barrier_event *barrier);
    void (*warp)(void *tool, const emu_where *at, const emu_warp_event *warp); // at: one of the lanes
    void (*async)(void *tool, const emu_where *at, const emu_async_event *async);
    void (*copy)(void *tool, const emu_copy_event *copy);
    void (*allocate)(void *tool, const emu_memory_event *memory);
    void (*release)(void *tool, const emu_memory_event *memory);
    void (*fence)(void *tool, const emu_where *at, unsigned scope); // a bit of an emu_access_kind; 0: the device
    // An index is outside of the `count` elements of an array whose type is known ("float [32]"). The kernel then
    // ends.
    void (*index)(void *tool, const emu_where *at, int64_t index, const char *type);
    // Blocks run one after another, in their order; those of a cooperative grid take turns at its barriers.
    uintptr_t one_at_a_time;
    // From the thread that queues or has waited. It must not call any function of the core.
    void (*order)(void *tool, const emu_order_event *order);
    // Of blocks that take turns, those of a cluster or of a cooperative grid: this one runs from now on.
    void (*block_continue)(void *tool, emu_block_event *block);
    // From the thread that notices it: of a kernel, after its launch_end. Without this callback, the core prints it.
    // It must call no function of the core.
    void (*failure)(void *tool, const emu_failure_event *failure);
    void (*host)(void *tool, const emu_host_event *access);
} emu_events;

// A cudaError_t, as all functions for the host. The core copies the table.
EMU_API int emu_subscribe(const emu_events *events, void *tool);
EMU_API int emu_unsubscribe(void *tool);

// The allocation that contains an address, also one that was made before the tool subscribed; 0: there is none. (Not
// those of malloc in kernels.)
EMU_API int emu_memory_at(const void *address, emu_memory_event *memory);
// The calls on the stack that are of no library of ours, at most so many, the innermost first: an address in each,
// for emu_source_lines(). Returns how many.
EMU_API size_t emu_calls_of_program(uintptr_t *calls, size_t most);
// As emu_fail(), for an access to no memory of the device: the error is cudaErrorIllegalAddress.
EMU_API void emu_fail_at_address(const char *what) __attribute__((noreturn));

// For libraries of kernels that report what their own code does: the calling thread accesses these bytes. `after` is
// the address of the instruction after the access, as __builtin_return_address(0) gives it in a function that is
// called for it.
EMU_API void emu_access(const void *address, size_t bytes, unsigned kind, const void *after);

// For a tool that takes one block at a time: while it has set emu_threadIdx.direct in the OS thread of the block,
// such libraries call its `access` in place of emu_access(), which it may call. They leave out accesses of which the
// tool need not hear: to the `unheard` bytes while that thread runs, and aligned reads of 4 to 16 bytes in a
// line of memory whose tag in its page is for_launch, for_block or for_block + 1 + the number of the thread's warp.
typedef struct emu_unheard { // (all bytes while the core itself reports what the code does)
    uintptr_t begin;
    size_t bytes;
    unsigned thread;
} emu_unheard;
enum { EMU_LINE = 32, EMU_PAGE = 4096, EMU_PAGES = 1024 };
typedef struct emu_page {
    uintptr_t begin;
    uint32_t *tags; // of its lines
} emu_page;
typedef struct emu_path { // of a thread: the basic blocks of code that it has entered, and its accesses there
    uint64_t *next, *end; // next < end; next[EMU_NOTES]: an access's address
    uintptr_t base;       // of the stack pointers that are noted: within 1 MB below all of the thread's
    uintptr_t local;      // memory whose accesses are not noted, but reported if there is an `access`
    size_t local_bytes;
} emu_path;
// What is noted of a block of code: an address in it; above, where the stack pointer is, which tells calls apart. Of
// an access of 2 ** n bytes: the address of the instruction after it; above, its kind and n, which are less.
enum { EMU_CODE_BITS = 48, EMU_NOTES = (1 << 12) + 8, EMU_NOTED_KINDS = 31 };
#define EMU_NOTE(kind, n, after) ((uint64_t)((kind) | (n) << 5) << EMU_CODE_BITS | (uintptr_t)(after))
typedef struct emu_direct {
    void (*access)(const void *address, size_t bytes, unsigned kind, const void *after);
    emu_unheard unheard;
    uint32_t for_launch, for_block;
    const emu_page *pages; // pages[n % EMU_PAGES]: the nth page of all memory, or another one
    emu_path *paths;       // by thread of the block; NULL: nobody wants them
    void (*full)(void);    // the current thread's path has come to its end; makes room
} emu_direct;

// Which thread is current. Kernels know the first member as threadIdx.
typedef struct emu_here {
    emu_dim3 index;
    uint16_t thread, slot;
    const emu_direct *direct; // NULL: none
} emu_here;
extern EMU_API __thread emu_here emu_threadIdx __attribute__((tls_model("initial-exec")));

// The current thread's local memory: its stack.
EMU_API uintptr_t emu_local(size_t *bytes);

// The first block of malloc in kernels that is in use and begins behind an address (0: the first one of all), and its
// bytes; 0: there is none.
EMU_API uintptr_t emu_heap_block_after(uintptr_t address, size_t *bytes);

// malloc and free in kernels, for libraries that know where they are called.
EMU_API void *emu_heap_malloc_at(size_t bytes, const void *after);
EMU_API void emu_heap_free_at(void *pointer, const void *after);

// The same, if they check the indices of arrays: tells the tool, and ends the kernel.
EMU_API void emu_index_fails(int64_t index, const char *type, const char *file, int line);

// The source lines of instructions, as far as debug information (-g1) and binutils' addr2line are there; line 0:
// unknown. Of inlined functions, it is the innermost call that is not in the emulator's headers. One process is
// started per library, however many addresses there are.
typedef struct emu_line {
    int line;
    char file[200];
} emu_line;
EMU_API void emu_source_lines(const uintptr_t *code, size_t count, emu_line *lines);
// The same, but of functions of CCCL that are inlined it is the call in the user's source.
EMU_API void emu_user_lines(const uintptr_t *code, size_t count, emu_line *lines);

#ifdef __cplusplus
}
#endif
#endif
