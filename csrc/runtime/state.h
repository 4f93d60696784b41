// Internal to the runtime: its state, and the macros for CUDA calls. All other files use this header.
#ifndef CK_STATE_H
#define CK_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime.h"

// --- status.c ----------------------------------------------------------------------------------------------------
// For a call whose failure the caller handles: sets `code` to the result, or to the failure that a test requested.
#define CK_CUDA_CODE(code, call) (((code) = ck_injected_fault(#call)) == cudaSuccess ? ((code) = (call)) : (code))

// For a call that releases something. The call is made even if a test requested a failure; otherwise the test itself
// would cause a leak.
#define CK_RELEASE(error, call)                                                                                      \
    do {                                                                                                             \
        cudaError_t ck_fault_ = ck_injected_fault(#call);                                                            \
        cudaError_t ck_code_ = (call);                                                                               \
        if (ck_fault_ != cudaSuccess) ck_code_ = ck_fault_;                                                          \
        if (ck_code_ != cudaSuccess) ck_fail_cuda((error), ck_code_, #call);                                         \
    } while (0)

// 1: the code is a failure of earlier work, not of the call that reports it.
int ck_is_late(int code);

// The number of failures of earlier work that were reported, and of interrupted waits: kernels may have been stopped
// halfway.
unsigned ck_failures(void);

// --- the state ---------------------------------------------------------------------------------------------------
enum { CK_EVENTS = 6 };

typedef struct ck_block {
    void *data;
    size_t bytes;
    unsigned clear; // not 0: all bytes were 0 when ck_failures() was clear - 1, and are while it still is
} ck_block;

// A non-blocking stream with the events that time a call on it. One call at a time owns it.
typedef struct ck_stream {
    cudaStream_t stream;
    cudaEvent_t events[CK_EVENTS];
    struct ck_stream *next;
} ck_stream;

typedef struct ck_launches ck_launches;     // launches.c: launches on a stream that may not have finished
typedef struct ck_symbol_use ck_symbol_use; // symbols.c
typedef struct ck_texture ck_texture;       // textures.c

typedef struct ck_device ck_device;
struct ck_device {
    int index;
    cudaMemPool_t pool; // NULL: the device has no pools, so memory comes from cudaMalloc
    atomic_size_t live; // bytes in allocations of the runtime
    ck_stream *idle;    // protected by ck_runtime.lock
    struct ck_device *next;
    ck_limits limits;          // protected by ck_runtime.lock
    int limits_known;          // likewise; 1: `limits` is set
    int limits_version;        // likewise; incremented when limits are forgotten, so that older values are not stored
    struct ck_kept *kept;      // pool.c; NULL: freed blocks go to the pool at once
    struct ck_ring *ring;      // ring.c
    struct ck_uses *uses;      // order.c
    struct ck_launch_log *log; // launches.c
    struct ck_textures *textures;
    void (*reclaim)(ck_device *device); // frees device memory that is kept outside the pool; waits
};

// Freed results that are kept for the next ones: warm.c.
enum { CK_MOST_WARM = 64 };
typedef struct ck_warm {
    size_t limit, bytes;           // bytes: of the kept blocks
    int is_set, count;             // is_set: 1 if the limit is known
    ck_block blocks[CK_MOST_WARM]; // the oldest first
} ck_warm;

struct ck_runtime {
    pthread_mutex_t lock;           // protects the free streams and limits of devices, and additions of devices
    _Atomic(ck_device *) devices;   // created at the first use of a device, never removed
    atomic_int calls;               // calls in progress; the runtime is not destroyed while there are any
    atomic_int memories;            // memories that exist; the runtime is not destroyed while there are any
    atomic_ullong threads;          // order.c: the number of threads that have used their per-thread default stream
    pthread_key_t number_of_thread; // order.c
    unsigned generation;            // incremented in the child of a fork; older resources belong to the parent
    ck_memory *leaving;             // memory.c; protected by lock
    struct ck_pinned *pinned;       // pinned.c; protected by lock
    ck_warm warm;                   // protected by lock
    ck_set *sets;                   // set.c; protected by lock
    const ck_bystander *bystander;  // NULL: waits for `lock` are not announced
    pthread_mutex_t symbols_lock;   // symbols.c; taken before `lock`, never while `lock` is held
    ck_symbol_use *symbols;         // likewise; protected by symbols_lock
    // Creates the parts of a new device that belong to files above device.c.
    int (*furnish)(ck_device *device, ck_error *error);
};

// --- device.c ----------------------------------------------------------------------------------------------------
// Acquire and release the runtime's lock.
void ck_lock(ck_runtime *runtime);
void ck_unlock(ck_runtime *runtime);
// The state of a device, which must be the thread's current device. Created at the first use.
int ck_runtime_device(ck_runtime *runtime, int index, ck_device **device, ck_error *error);
ck_device *ck_runtime_find(ck_runtime *runtime, int index); // NULL: not used yet

// --- pool.c ------------------------------------------------------------------------------------------------------
// Stream-ordered memory. Zero bytes give a valid pointer too. The pool's device must be current.
int ck_pool_allocate(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error);
void ck_pool_free(ck_device *device, ck_block *block, cudaStream_t stream, ck_error *error);
int ck_pool_create(ck_device *device, ck_error *error);
void ck_pool_destroy(ck_device *device);
// A block whose bytes are all zero when the stream reaches it. A caller that leaves them zero keeps block->clear, and
// the next one need not clear them; any other caller sets it to 0 before it frees the block.
int ck_pool_allocate_clear(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error);
// Returns unused memory to the device.
cudaError_t ck_pool_give_back(ck_device *device);

// --- settings.c --------------------------------------------------------------------------------------------------
// Sets `value` to the number in an environment variable, if it is set.
int ck_setting(const char *name, int64_t least, int64_t most, int64_t *value, ck_error *error);

// --- set.c -------------------------------------------------------------------------------------------------------
void ck_sets_free(ck_runtime *runtime); // at the end of the runtime
// A set of a table that another file has loaded; `library` identifies it.
int ck_set_add(ck_runtime *runtime, void *library, const char *path, const ck_set_table *table, ck_set **added,
               ck_error *error);

#endif
