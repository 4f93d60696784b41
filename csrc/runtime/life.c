// The life of the runtime: creation, end, fork, trimming. Functions that concern all parts of the runtime are in this
// file, above all others, so that no part needs to know the parts that are built on it.
//
//   life.c --furnish--> device.c, at the first use of a device:         creates uses, launches, textures, ring, pool
//          --reclaim--> pool.c, when device memory runs short:          frees kept textures
#define _POSIX_C_SOURCE 200809L // recursive mutexes, under plain C11
#include <stdlib.h>

#include "bindings.h"
#include "memory.h"
#include "ring.h"
#include "stream.h"

// --- the parts of a device ---------------------------------------------------------------------------------------
static void clear(ck_device *device) {
    ck_textures_destroy(device);
    ck_uses_destroy(device);
    ck_launches_destroy(device);
    ck_ring_destroy(device);
    ck_pool_destroy(device);
}

static int furnish(ck_device *device, ck_error *error) {
    device->reclaim = ck_textures_trim;
    int status = ck_uses_create(device, error);
    if (status == CK_OK) status = ck_launches_create(device, error);
    if (status == CK_OK) status = ck_textures_create(device, error);
    if (status == CK_OK) status = ck_ring_create(device, error);
    if (status == CK_OK) status = ck_pool_create(device, error);
    if (status != CK_OK) clear(device);
    return status;
}

static void end(ck_device *device) {
    ck_error ignored = {0};
    int previous = device->index;
    const int entered = ck_device_enter(device->index, &previous, &ignored);
    for (ck_stream *stream = device->idle, *next; stream != NULL; stream = next) {
        next = stream->next;
        ck_stream_destroy(stream);
    }
    clear(device);
    if (entered == CK_OK) ck_device_leave(device->index, previous, &ignored);
    free(device);
}

// --- the runtime -------------------------------------------------------------------------------------------------
static int make_locks(ck_runtime *runtime) { // 0: success
    pthread_mutexattr_t recursive;           // a call takes symbols_lock once for each of its symbols
    if (pthread_mutexattr_init(&recursive) != 0) return -1;
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    const int status =
        pthread_mutex_init(&runtime->lock, NULL) | pthread_mutex_init(&runtime->symbols_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return status;
}

ck_runtime *ck_runtime_create(void) {
    ck_runtime *runtime = calloc(1, sizeof *runtime);
    if (runtime != NULL && (make_locks(runtime) != 0 || pthread_key_create(&runtime->number_of_thread, NULL) != 0)) {
        free(runtime);
        runtime = NULL;
    }
    if (runtime == NULL) return NULL;
    runtime->furnish = furnish;
    // A runtime may be at the address of an earlier one, so the numbers of threads do not start from 0 again.
    atomic_init(&runtime->threads, (unsigned long long)ck_now_ns());
    return runtime;
}

void ck_runtime_destroy(ck_runtime *runtime) {
    // A daemon thread may be inside a call while the interpreter exits, or an array may outlive the module. The end
    // of the process then frees everything.
    if (runtime == NULL) return;
    ck_memory_sweep(runtime);
    if (atomic_load(&runtime->calls) > 0 || atomic_load(&runtime->memories) > 0) return;
    ck_warm_trim(runtime);
    ck_symbols_free(runtime);
    ck_sets_free(runtime);
    for (ck_device *device = runtime->devices, *next; device != NULL; device = next) {
        next = device->next;
        end(device);
    }
    pthread_key_delete(runtime->number_of_thread);
    pthread_mutex_destroy(&runtime->symbols_lock);
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}

void ck_runtime_set_bystander(ck_runtime *runtime, const ck_bystander *bystander) {
    runtime->bystander = bystander;
}

void ck_runtime_enter(ck_runtime *runtime) {
    atomic_fetch_add(&runtime->calls, 1);
}

void ck_runtime_leave(ck_runtime *runtime) {
    atomic_fetch_sub(&runtime->calls, 1);
}

void ck_runtime_before_fork(ck_runtime *runtime) {
    pthread_mutex_lock(&runtime->symbols_lock);
    ck_lock(runtime);
}

void ck_runtime_after_fork(ck_runtime *runtime, int in_child) {
    if (!in_child) {
        ck_unlock(runtime);
        pthread_mutex_unlock(&runtime->symbols_lock);
        return;
    }
    // The threads that used the parent's streams do not exist in the child. Their resources are abandoned on purpose,
    // and so are owners that wait for the parent's device. Each memory records the generation in which it was
    // created.
    (void)make_locks(runtime);
    runtime->symbols = NULL;
    runtime->generation++;
    atomic_store(&runtime->devices, NULL);
    runtime->leaving = NULL;
    runtime->pinned = NULL;
    atomic_store(&runtime->calls, 0);
}

// --- trim --------------------------------------------------------------------------------------------------------
int ck_runtime_trim(ck_runtime *runtime, int index, ck_error *error) {
    ck_device *device = ck_runtime_find(runtime, index);
    ck_warm_trim(runtime);
    if (device == NULL) return CK_OK;
    int previous = index;
    ck_memory_sweep(runtime);
    CK_TRY(ck_device_enter(index, &previous, error));
    cudaError_t code;
    if (CK_CUDA_CODE(code, ck_pool_give_back(device)) != cudaSuccess)
        ck_fail_cuda(error, code, "cudaMemPoolTrimTo(pool, 0)");
    ck_ring_trim(device);
    ck_device_leave(index, previous, error);
    return error->code;
}
