// Internal to the runtime: a memory, and the order of its uses.
#ifndef CK_MEMORY_H
#define CK_MEMORY_H

#include "state.h"

enum { CK_READS = 8 }; // reads that are recorded since the last write, one per stream; more are merged

typedef struct ck_uses ck_uses; // of a device

// The identity of a stream. CUDA may reuse the handle of a destroyed stream, but never its id.
typedef struct ck_place {
    enum { CK_NOWHERE, CK_DEFAULT_STREAM, CK_OWN_STREAM, CK_A_STREAM } kind;
    unsigned long long id; // for CK_OWN_STREAM, the number of the thread
} ck_place;

// An event that is recorded once for all memories of a call.
typedef struct ck_mark {
    cudaEvent_t event;
    int references;
    struct ck_mark *next; // in the free list
} ck_mark;

typedef struct ck_use {
    ck_place place;   // CK_NOWHERE: no use
    ck_place awaited; // the last stream that waits for this use
    ck_mark *mark;    // NULL on the default stream
    uint64_t number;  // counts the uses on the device
} ck_use;

struct ck_memory {
    atomic_int references;
    atomic_int exported;
    ck_runtime *runtime;
    unsigned generation; // of the runtime, when this memory was created
    ck_device *device;
    ck_block block;
    int foreign;             // 0: from the pool
    void (*release)(void *); // may be NULL
    void *owner;
    int read_count; // protected, like the uses, by the lock of device->uses
    ck_use write, reads[CK_READS];
    struct ck_memory *next; // in ck_runtime.leaving
    ck_mark *leaves;        // in that list: the owner may be notified after this mark
};

// --- memory.c ----------------------------------------------------------------------------------------------------
void ck_memory_sweep(ck_runtime *runtime); // notifies waiting owners whose memory the device has finished with

// --- order.c -----------------------------------------------------------------------------------------------------
int ck_uses_create(ck_device *device, ck_error *error);
void ck_uses_destroy(ck_device *device); // the device must be current
// The service stream: a non-blocking stream of the runtime, for work that must follow other streams without a wait on
// the host.
int ck_service_stream(ck_device *device, cudaStream_t *stream, ck_error *error);
// ck_order_before, which also sets `here`, and ck_order_after in the same stream, which uses it.
int ck_order_before_at(const ck_access *accesses, int count, cudaStream_t stream, ck_place *here, ck_error *error);
int ck_order_after_at(const ck_access *accesses, int count, cudaStream_t stream, const ck_place *here,
                      ck_error *error);
int ck_uses_any(ck_memory *memory);
int ck_uses_on_default_only(ck_memory *memory);
void ck_uses_forget(ck_memory *memory);
// Records a mark in a stream of the device. The caller must drop it.
int ck_mark_record(ck_device *device, cudaStream_t stream, ck_mark **mark, ck_error *error);
void ck_mark_drop(ck_device *device, ck_mark *mark); // does nothing if mark is NULL
// Fails if the memory was created by another process, before a fork.
int ck_memory_check(const ck_memory *memory, ck_error *error);

#endif
