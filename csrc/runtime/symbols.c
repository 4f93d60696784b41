// Constant memory: inputs that a row wants in its __constant__ variables are copied there before it runs.
//
//   stream A  [copy x -> table][run]--mark--.
//   stream B                                 '--wait--[copy y -> table][run]--mark
//
// A variable is one for all calls on its device, so the runs that use it come one after another there, whatever their
// streams; no host thread waits for a run. Between the copy and the mark no other call may enqueue its own copy: that
// is what the lock is for. It is held while one call enqueues, by calls that use such variables only; no wait for the
// device happens under it.
#include <stdlib.h>

#include "backend.h"
#include "memory.h"

struct ck_symbol_use {
    const void *address;
    ck_device *device; // that the mark is of: where the variable was used last
    ck_mark *mark;     // NULL: not used yet
    struct ck_symbol_use *next;
};

static int use_of(ck_runtime *runtime, const void *address, ck_symbol_use **found, ck_error *error) { // lock held
    ck_symbol_use *use = runtime->symbols;
    while (use != NULL && use->address != address) use = use->next;
    if (use == NULL) {
        use = calloc(1, sizeof *use);
        if (use == NULL) return ck_fail(error, CK_NO_HOST_MEMORY, "calloc", "no memory for a symbol's record");
        use->address = address;
        use->next = runtime->symbols;
        runtime->symbols = use;
    }
    *found = use;
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

static int fill(ck_runtime *runtime, const ck_symbol *symbol, const ck_view *view, const ck_context *context,
                ck_symbol_use **use, ck_error *error) {
    void *address = NULL;
    size_t room = 0;
    CK_CUDA(error, (cudaError_t)symbol->find(&address, &room));
    const int64_t bytes = ck_view_bytes(view);
    if (bytes > (int64_t)room || !ck_view_is_contiguous(view))
        return ck_fail(error, CK_BAD_VALUE, "constant memory",
                       "operand %d is %lld bytes%s, and the row's __constant__ variable takes %zu without gaps",
                       symbol->view, (long long)bytes, ck_view_is_contiguous(view) ? "" : ", with gaps", room);
    CK_TRY(use_of(runtime, address, use, error));
    if ((*use)->mark != NULL) CK_CUDA(error, cudaStreamWaitEvent(context->stream, (*use)->mark->event, 0));
    forget(*use); // the stream comes after it now, and has a mark of its own at the end
    if (bytes > 0)
        CK_CUDA(error,
                cudaMemcpyAsync(address, view->data, (size_t)bytes, cudaMemcpyDeviceToDevice, context->stream));
    return CK_OK;
}

int ck_symbols_fill(ck_runtime *runtime, const ck_plan *plan, const ck_view *views, const ck_context *context,
                    ck_symbol_use *uses[CK_MAX_SYMBOLS], ck_error *error) {
    for (int i = 0; i < CK_MAX_SYMBOLS; i++) uses[i] = NULL;
    if (plan->symbols[0].find == NULL) return CK_OK;
    pthread_mutex_lock(&runtime->symbols_lock);
    for (int i = 0; i < CK_MAX_SYMBOLS && plan->symbols[i].find != NULL; i++)
        CK_TRY(fill(runtime, &plan->symbols[i], &views[plan->symbols[i].view], context, &uses[i], error));
    return CK_OK;
}

static int note(ck_device *device, ck_symbol_use *use, const ck_context *context, ck_error *error) {
    ck_mark *mark;
    if (use->mark != NULL) return CK_OK; // this call failed before it came to it: what was, holds
    CK_TRY(ck_mark_record(device, context->stream, &mark, error));
    use->device = device;
    use->mark = mark;
    return CK_OK;
}

int ck_symbols_used(ck_runtime *runtime, const ck_plan *plan, ck_device *device, const ck_context *context,
                    ck_symbol_use *const uses[CK_MAX_SYMBOLS], ck_error *error) {
    if (plan->symbols[0].find == NULL) return CK_OK;
    int status = CK_OK;
    for (int i = 0; i < CK_MAX_SYMBOLS; i++)
        if (uses[i] != NULL && note(device, uses[i], context, error) != CK_OK) status = error->code;
    if (status != CK_OK) (void)backend_settle(); // nothing is under way unnoted
    pthread_mutex_unlock(&runtime->symbols_lock);
    return status;
}
