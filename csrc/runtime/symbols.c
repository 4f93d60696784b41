// Bindings in constant memory: before a variant runs, inputs are copied to its __constant__ variables.
//
//   stream A  [copy x -> table][run]--mark--.
//   stream B                                 '--wait--[copy y -> table][run]--mark
//
// All calls on a device share one instance of a variable, so runs that use it are executed one after another there,
// even if their streams differ; no host thread waits. Between the copy and the mark, no other call may enqueue a copy
// of its own: this is the purpose of the lock. Only calls that use such variables take it, while they enqueue; none
// of them waits for the device while it holds the lock.
#include <stdlib.h>

#include "backend.h"
#include "bindings.h"
#include "memory.h"

struct ck_symbol_use {
    const void *address;
    ck_device *device; // the device where the variable was last used, and of the mark
    ck_mark *mark;     // recorded after the last use; NULL: not used yet
    struct ck_symbol_use *next;
};

static int use_of(ck_runtime *runtime, const void *address, ck_symbol_use **result, ck_error *error) { // lock held
    ck_symbol_use *use = runtime->symbols;
    while (use != NULL && use->address != address) use = use->next;
    if (use == NULL) {
        use = calloc(1, sizeof *use);
        if (use == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "not enough host memory for a symbol's record");
        use->address = address;
        use->next = runtime->symbols;
        runtime->symbols = use;
    }
    *result = use;
    return CK_OK;
}

static void forget(ck_symbol_use *use) {
    if (use->mark != NULL) ck_mark_drop(use->device, use->mark);
    use->mark = NULL;
}

void ck_symbols_free(ck_runtime *runtime) {
    for (ck_symbol_use *use = runtime->symbols, *next; use != NULL; use = next) {
        next = use->next;
        forget(use);
        free(use);
    }
    runtime->symbols = NULL;
}

static int fill(ck_held *held, void *address, size_t room, ck_error *error) { // lock held
    const ck_view *view = held->view;
    const int64_t bytes = ck_view_bytes(view);
    ck_symbol_use *use = NULL;
    if (bytes > (int64_t)room || !ck_view_is_contiguous(view))
        return ck_fail(
            error, CK_BAD_VALUE,
            "operand %d has %lld bytes%s, but the variant's __constant__ variable holds at most %zu contiguous bytes",
            held->binding->view, (long long)bytes, ck_view_is_contiguous(view) ? "" : " and is not contiguous", room);
    CK_TRY(use_of(held->runtime, address, &use, error));
    held->resource = use;
    if (use->mark != NULL) CK_CUDA(error, cudaStreamWaitEvent(held->stream, use->mark->event, 0));
    forget(use); // the stream now comes after the mark, and records its own at the end
    if (bytes > 0)
        CK_CUDA(error, cudaMemcpyAsync(address, view->data, (size_t)bytes, cudaMemcpyDeviceToDevice, held->stream));
    return CK_OK;
}

int ck_symbol_acquire(ck_held *held, ck_bound *bound, ck_error *error) {
    void *address = NULL;
    size_t room = 0;
    (void)bound; // the kernel accesses the variable by its name
    CK_CUDA(error, (cudaError_t)held->binding->of.symbol.find(&address, &room));
    pthread_mutex_lock(&held->runtime->symbols_lock); // once for each symbol of the call
    const int status = fill(held, address, room, error);
    if (held->resource == NULL) pthread_mutex_unlock(&held->runtime->symbols_lock);
    return status;
}

static int note(ck_held *held, ck_error *error) {
    ck_symbol_use *use = held->resource;
    ck_mark *mark;
    if (use->mark != NULL)
        return CK_OK; // this call failed before it used the variable, so the previous mark remains valid
    CK_TRY(ck_mark_record(held->device, held->stream, &mark, error));
    use->device = held->device;
    use->mark = mark;
    return CK_OK;
}

int ck_symbol_release(ck_held *held, ck_error *error) {
    const int status = note(held, error);
    if (status != CK_OK) (void)backend_settle(); // no work without a mark may remain unfinished
    pthread_mutex_unlock(&held->runtime->symbols_lock);
    return status;
}
