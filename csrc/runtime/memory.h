// Inside the runtime: a memory, and the order of its uses.
#ifndef CK_MEMORY_H
#define CK_MEMORY_H

#include "state.h"

enum { CK_READS = 8 }; // streams that read a memory since it was last written; more are merged

typedef struct ck_uses ck_uses; // of a device

// A stream as such: a handle may come again once its stream is destroyed, its id never does.
typedef struct ck_place {
    enum { CK_NOWHERE, CK_DEFAULT_STREAM, CK_OWN_STREAM, CK_A_STREAM } kind;
    unsigned long long id; // CK_OWN_STREAM: of the thread
} ck_place;

// An event that was recorded once, for all memories of a call.
typedef struct ck_mark {
    cudaEvent_t event;
    int references;
    struct ck_mark *next; // in the list of free ones
} ck_mark;

typedef struct ck_use {
    ck_place place;   // CK_NOWHERE: no use
    ck_place awaited; // the last stream that waits for it
    ck_mark *mark;    // NULL on the default stream
    uint64_t number;  // uses of the device are counted
} ck_use;

struct ck_memory {
    atomic_int references;
    atomic_int exported;
    ck_runtime *runtime;
    unsigned generation; // of the runtime, when it was made
    ck_device *device;
    ck_block block;
    int foreign;             // 0: from the pool
    void (*release)(void *); // may be NULL
    void *owner;
    int read_count; // this and the uses: guarded by the lock of device->uses
    ck_use write, reads[CK_READS];
    struct ck_memory *next; // in ck_runtime.leaving
    ck_mark *leaves;        // there: after this the owner may hear of it
};

// --- memory.c ----------------------------------------------------------------------------------------------------
void ck_memory_sweep(ck_runtime *runtime); // owners that wait for the device hear of what it has done by now

// --- order.c -----------------------------------------------------------------------------------------------------
int ck_uses_create(ck_device *device, ck_error *error);
void ck_uses_destroy(ck_device *device); // the device is the current one
// A non-blocking stream of ours, for what must come after other streams without anybody waiting.
int ck_service_stream(ck_device *device, cudaStream_t *stream, ck_error *error);
// ck_order_before, which fills `here` in, and ck_order_after in the same stream, which then need not ask for it.
int ck_order_before_at(const ck_access *accesses, int count, cudaStream_t stream, ck_place *here, ck_error *error);
int ck_order_after_at(const ck_access *accesses, int count, cudaStream_t stream, const ck_place *here,
                      ck_error *error);
int ck_uses_any(ck_memory *memory);
int ck_uses_on_default_only(ck_memory *memory);
void ck_uses_forget(ck_memory *memory);
// A mark in a stream of the device; the caller drops it.
int ck_mark_record(ck_device *device, cudaStream_t stream, ck_mark **mark, ck_error *error);
void ck_mark_drop(ck_device *device, ck_mark *mark); // NULL: nothing
// An error unless the process is the one that made it.
int ck_memory_check(const ck_memory *memory, ck_error *error);

#endif
