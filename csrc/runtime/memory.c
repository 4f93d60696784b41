// Memory that outlives a call: its references and its release.
//
//   last reference gone --.-- own memory, used only on the default stream --> freed in the default stream's order
//                         |-- own memory, used elsewhere --> freed in the service stream's order, after all uses
//                         |-- own memory, lent to a library whose streams are unknown --> waits for the device
//                         '-- another library's --> its owner is notified after the device has finished with it: such
//                             memories wait in ck_runtime.leaving, which every later call in this file checks
//
// Only the third case waits. In the child of a fork, memory that the parent created is not touched: only its record
// is freed, since the device memory belongs to the parent.
#include "memory.h"

#include <stdlib.h>

#include "backend.h"
#include "stream.h"

static int create(ck_runtime *runtime, ck_memory **result, ck_error *error) {
    ck_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for an array's record");
    atomic_init(&memory->references, 1);
    memory->runtime = runtime;
    memory->generation = runtime->generation;
    atomic_fetch_add(&runtime->memories, 1);
    *result = memory;
    return CK_OK;
}

static void destroy(ck_memory *memory) {
    ck_runtime *runtime = memory->runtime;
    free(memory);
    atomic_fetch_sub(&runtime->memories, 1);
}

static int allocate(ck_memory *memory, int index, size_t bytes, cudaStream_t stream, ck_error *error) {
    const ck_access access = {memory, 1};
    CK_TRY(ck_stream_check(stream, error));
    CK_TRY(ck_runtime_device(memory->runtime, index, &memory->device, error));
    CK_TRY(ck_pool_allocate(memory->device, bytes, stream, &memory->block, error));
    // The memory must not be used before the stream has reached this point, so the allocation counts as a write.
    if (ck_order_after(&access, 1, stream, error) != CK_OK)
        ck_pool_free(memory->device, &memory->block, stream, error);
    return error->code;
}

int ck_memory_allocate(ck_runtime *runtime, int index, size_t bytes, cudaStream_t stream, ck_memory **result,
                       ck_error *error) {
    ck_memory *memory;
    int previous = index;
    ck_memory_sweep(runtime);
    CK_TRY(create(runtime, &memory, error));
    if (ck_device_enter(index, &previous, error) == CK_OK) {
        allocate(memory, index, bytes, stream, error);
        ck_device_leave(index, previous, error);
    }
    if (error->code == CK_OK)
        *result = memory;
    else if (memory->block.data != NULL)
        ck_memory_release(memory);
    else
        destroy(memory);
    return error->code;
}

int ck_memory_adopt(ck_runtime *runtime, int index, void *data, size_t bytes, void (*release)(void *), void *owner,
                    ck_memory **result, ck_error *error) {
    ck_memory *memory;
    int previous = index;
    ck_memory_sweep(runtime);
    CK_TRY(create(runtime, &memory, error));
    memory->block = (ck_block){data, bytes, 0};
    memory->foreign = 1;
    if (ck_device_enter(index, &previous, error) == CK_OK) {
        ck_runtime_device(runtime, index, &memory->device, error);
        ck_device_leave(index, previous, error);
    }
    if (error->code != CK_OK) {
        destroy(memory);
        return error->code;
    }
    memory->release = release;
    memory->owner = owner;
    *result = memory;
    return CK_OK;
}

void ck_memory_retain(ck_memory *memory) {
    atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
}

void *ck_memory_data(const ck_memory *memory) {
    return memory->block.data;
}

size_t ck_memory_bytes(const ck_memory *memory) {
    return memory->block.bytes;
}

int ck_memory_device(const ck_memory *memory) {
    return memory->device->index;
}

int ck_memory_apart(const ck_memory *a, const ck_memory *b) {
    return a != b && !a->foreign && !b->foreign;
}

int ck_memory_may_wait(const ck_memory *memory) {
    return atomic_load(&memory->references) == 1 &&
           (atomic_load(&memory->exported) || (!memory->foreign && memory->device->pool == NULL));
}

void ck_memory_export(ck_memory *memory) {
    atomic_store(&memory->exported, 1);
}

// --- the end -----------------------------------------------------------------------------------------------------
// Makes the service stream of the device come after every use of the memory.
static int come_after_all(ck_memory *memory, cudaStream_t *service, ck_error *error) {
    const ck_access access = {memory, 1};
    CK_TRY(ck_service_stream(memory->device, service, error));
    return ck_order_before(&access, 1, *service, error);
}

static void give_back(ck_memory *memory, ck_error *error) { // to the pool
    cudaStream_t stream = NULL;
    int wait = atomic_load(&memory->exported);
    if (!wait && !ck_uses_on_default_only(memory)) wait = come_after_all(memory, &stream, error) != CK_OK;
    if (wait) {
        CK_RELEASE(error, (cudaError_t)backend_settle());
        stream = NULL;
    }
    ck_pool_free(memory->device, &memory->block, stream, error);
    ck_uses_forget(memory);
}

static void say_farewell(ck_memory *memory) {
    if (memory->release != NULL) memory->release(memory->owner);
    destroy(memory);
}

// For another library's memory. Returns 1 if the device may still use it, so that its owner must wait; otherwise 0.
static int must_wait(ck_memory *memory, ck_error *error) {
    ck_runtime *runtime = memory->runtime;
    cudaStream_t service;
    const int lent = atomic_load(&memory->exported); // a third library received it from this one and may use it too
    if (!lent && !ck_uses_any(memory)) return 0;
    const int marked = !lent && come_after_all(memory, &service, error) == CK_OK &&
                       ck_mark_record(memory->device, service, &memory->leaves, error) == CK_OK;
    ck_uses_forget(memory);
    if (!marked) {
        CK_RELEASE(error, (cudaError_t)backend_settle());
        return 0;
    }
    ck_lock(runtime);
    memory->next = runtime->leaving;
    runtime->leaving = memory;
    ck_unlock(runtime);
    return 1;
}

void ck_memory_release(ck_memory *memory) {
    if (memory == NULL || atomic_fetch_sub(&memory->references, 1) != 1) return;
    ck_runtime *runtime = memory->runtime;
    ck_error ignored = {0};
    int previous = 0, waits = 0;
    atomic_fetch_add(&runtime->calls, 1);
    if (memory->generation == runtime->generation) {
        const int index = memory->device->index;
        // If the device cannot be entered, it has failed or the process is exiting, and the calls below fail too.
        const int entered = ck_device_enter(index, &previous, &ignored) == CK_OK;
        if (memory->foreign)
            waits = must_wait(memory, &ignored);
        else
            give_back(memory, &ignored);
        if (entered) ck_device_leave(index, previous, &ignored);
    }
    if (!waits) say_farewell(memory);
    ck_memory_sweep(runtime);
    atomic_fetch_sub(&runtime->calls, 1);
}

void ck_memory_sweep(ck_runtime *runtime) {
    ck_memory *left = NULL, **last = &left, *gone = NULL;
    ck_lock(runtime);
    ck_memory *memory = runtime->leaving;
    runtime->leaving = NULL;
    ck_unlock(runtime);
    for (ck_memory *next; memory != NULL; memory = next) {
        next = memory->next;
        // No macro around this call: only its result matters, and a failure means that nothing is running any more.
        if (cudaEventQuery(memory->leaves->event) == cudaErrorNotReady) {
            *last = memory;
            last = &memory->next;
        } else {
            memory->next = gone;
            gone = memory;
        }
    }
    *last = NULL;
    if (left != NULL) {
        ck_lock(runtime);
        *last = runtime->leaving;
        runtime->leaving = left;
        ck_unlock(runtime);
    }
    for (; gone != NULL; gone = memory) {
        memory = gone->next;
        ck_mark_drop(gone->device, gone->leaves);
        say_farewell(gone);
    }
}
