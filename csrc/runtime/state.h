// Inside the runtime: its state, and how it calls CUDA. What the files below all others share.
#ifndef CK_STATE_H
#define CK_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime.h"

// --- status.c ----------------------------------------------------------------------------------------------------
// For a call whose failure the caller looks at: `code` gets the result, or the fault that a test asked for.
#define CK_CUDA_CODE(code, call) (((code) = ck_injected_fault(#call)) == cudaSuccess ? ((code) = (call)) : (code))

// For a call that gives something back: it is made even when a test lets it fail, else the test would be the leak.
#define CK_RELEASE(error, call)                                                                                      \
    do {                                                                                                             \
        cudaError_t ck_asked_ = ck_injected_fault(#call);                                                            \
        cudaError_t ck_code_ = (call);                                                                               \
        if (ck_asked_ != cudaSuccess) ck_code_ = ck_asked_;                                                          \
        if (ck_code_ != cudaSuccess) ck_fail_cuda((error), ck_code_, #call);                                         \
    } while (0)

// 1: a failure of something that ran, not of the call that reports it.
int ck_is_late(int code);

// --- the state ---------------------------------------------------------------------------------------------------
enum { CK_EVENTS = 6 };

// A non-blocking stream with the events that time a call on it. One call at a time owns it.
typedef struct ck_stream {
    cudaStream_t stream;
    cudaEvent_t events[CK_EVENTS];
    struct ck_stream *next;
} ck_stream;

typedef struct ck_launches ck_launches;     // launches.c: what a stream was given and is not known to be done
typedef struct ck_symbol_use ck_symbol_use; // symbols.c
typedef struct ck_texture ck_texture;       // textures.c

typedef struct ck_device ck_device;
struct ck_device {
    int index;
    cudaMemPool_t pool; // NULL: the device has no pools, memory comes from cudaMalloc
    atomic_size_t live; // bytes in allocations of ours
    ck_stream *idle;    // guarded by ck_runtime.lock
    struct ck_device *next;
    ck_limits limits;          // guarded by ck_runtime.lock
    int limits_known;          // likewise; 1: `limits` are the device's
    int limits_asked;          // likewise; grows when they are forgotten: an answer on its way is not kept then
    struct ck_kept *kept;      // pool.c; NULL: freed blocks go to the pool at once
    struct ck_uses *uses;      // order.c
    struct ck_launch_log *log; // launches.c
    struct ck_textures *textures;
    void (*reclaim)(ck_device *device); // gives back what is kept of the device's memory besides the pool; waits
};

struct ck_runtime {
    pthread_mutex_t lock;          // the devices' free streams and limits, and who adds a device
    _Atomic(ck_device *) devices;  // made at a device's first use, kept to the end
    atomic_int calls;              // running now: a runtime in use is never destroyed
    atomic_int memories;           // alive: neither is one that they belong to
    atomic_ullong threads;         // order.c: that had a stream of their own, counted
    unsigned generation;           // grows in the child of a fork: what was made before is its parent's
    ck_memory *leaving;            // memory.c; guarded by lock
    struct ck_pinned *pinned;      // pinned.c; guarded by lock
    ck_set *sets;                  // set.c; guarded by lock
    const ck_bystander *bystander; // NULL: nobody minds a thread that waits for `lock`
    pthread_mutex_t symbols_lock;  // symbols.c; taken before `lock`, never while that is held
    ck_symbol_use *symbols;        // likewise; guarded by symbols_lock
    // Makes all that the files above device.c keep for a device that is used for the first time.
    int (*furnish)(ck_device *device, ck_error *error);
};

// --- device.c ----------------------------------------------------------------------------------------------------
// Takes and returns the runtime's lock.
void ck_lock(ck_runtime *runtime);
void ck_unlock(ck_runtime *runtime);
// The state of a device (which must be the thread's current one), made when this is its first use.
int ck_runtime_device(ck_runtime *runtime, int index, ck_device **device, ck_error *error);
ck_device *ck_runtime_find(ck_runtime *runtime, int index); // NULL: not used yet

// --- pool.c ------------------------------------------------------------------------------------------------------
typedef struct ck_block {
    void *data;
    size_t bytes;
} ck_block;

// Memory in the stream's order. Zero bytes give a valid pointer too. The current device must be the pool's.
int ck_pool_allocate(ck_device *device, size_t bytes, cudaStream_t stream, ck_block *block, ck_error *error);
void ck_pool_free(ck_device *device, ck_block *block, cudaStream_t stream, ck_error *error);
int ck_pool_create(ck_device *device, ck_error *error);
void ck_pool_destroy(ck_device *device);
// Memory that nobody uses, back to the device.
cudaError_t ck_pool_give_back(ck_device *device);

// --- set.c -------------------------------------------------------------------------------------------------------
void ck_sets_free(ck_runtime *runtime); // the runtime ends

#endif
