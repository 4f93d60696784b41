// Whole arrays: to the device, from it, within it.
//
//   host, contiguous <----------------------------------> device, contiguous      one copy
//   host, contiguous <--> temporary, contiguous <-------> device, any strides     a copy and a kernel
//
// The kernel is the strided copy, which also swaps bytes and converts types. A temporary is from the pool and goes
// back there in the stream's order. Each function is a frame (begin, order, end) around the part that enqueues.
#include "../kernels/strided_copy.h"
#include "backend.h"
#include "memory.h"

typedef struct transfer {
    ck_runtime *runtime;
    int index, previous, entered;
    ck_device *device;
    cudaStream_t stream;
    ck_launches *launches;
    ck_block temporary;
    ck_error *error;
} transfer;

static int begin(transfer *t) {
    atomic_fetch_add(&t->runtime->calls, 1);
    CK_TRY(ck_stream_check(t->stream, t->error));
    CK_TRY(ck_device_enter(t->index, &t->previous, t->error));
    t->entered = 1;
    CK_TRY(ck_runtime_device(t->runtime, t->index, &t->device, t->error));
    t->launches = ck_launches_of(t->device, t->stream);
    return CK_OK;
}

static int end(transfer *t) {
    ck_launches_explain(t->launches, t->error); // any call may be the one that reports a kernel's failure
    if (t->temporary.data != NULL) ck_pool_free(t->device, &t->temporary, t->stream, t->error);
    if (t->entered) ck_device_leave(t->index, t->previous, t->error);
    atomic_fetch_sub(&t->runtime->calls, 1);
    return t->error->code;
}

// --- views -------------------------------------------------------------------------------------------------------
// The same array without gaps and in this machine's byte order.
static ck_view packed(const ck_view *view, void *data) {
    ck_view result = *view;
    ck_view_lay_out(&result, view->dtype);
    result.data = data;
    result.swapped = 0;
    return result;
}

static int is_swapped(const ck_view *view) {
    return view->swapped && ck_dtype_size(view->dtype) > 1;
}

static int check_same(const ck_view *to, const ck_view *from, int types, const char *what, ck_error *error) {
    const int same = ck_view_same_shape(to, from) && (!types || to->dtype == from->dtype);
    return same ? CK_OK
                : ck_fail(error, CK_BAD_VALUE, what, "%s needs arrays of one shape%s", what,
                          types ? " and one type" : "");
}

// Where each element of one is the other's at the same place, a copy reads it before it writes it.
static int is_element_by_element(const ck_view *to, const ck_view *from) {
    int same = to->data == from->data && ck_dtype_size(to->dtype) == ck_dtype_size(from->dtype);
    for (int i = 0; i < to->ndim; i++) same &= to->shape[i] < 2 || to->strides[i] == from->strides[i];
    return same;
}

// --- parts that enqueue ------------------------------------------------------------------------------------------
// CUDA finds out by itself what another library's memory is.
static enum cudaMemcpyKind kind_of(const ck_memory *memory, enum cudaMemcpyKind kind) {
    return memory->foreign ? cudaMemcpyDefault : kind;
}

static int copy_by_kernel(transfer *t, const ck_view *to, const ck_view *from) {
    const ck_context context = {.device = t->index, .stream = t->stream, .launches = t->launches};
    return ck_strided_copy(to, from, &context, t->error);
}

static int take_temporary(transfer *t, const ck_view *like, ck_view *temporary) {
    CK_TRY(ck_pool_allocate(t->device, (size_t)ck_view_bytes(like), t->stream, &t->temporary, t->error));
    *temporary = packed(like, t->temporary.data);
    return CK_OK;
}

static int put(transfer *t, const ck_array *to, const ck_view *host) {
    const size_t bytes = (size_t)ck_view_bytes(host);
    ck_view temporary;
    if (ck_view_is_contiguous(&to->view) && is_swapped(host) == is_swapped(&to->view)) {
        CK_CUDA(t->error, cudaMemcpyAsync(to->view.data, host->data, bytes,
                                          kind_of(to->memory, cudaMemcpyHostToDevice), t->stream));
        return CK_OK;
    }
    CK_TRY(take_temporary(t, host, &temporary));
    temporary.swapped = host->swapped;
    CK_CUDA(t->error, cudaMemcpyAsync(temporary.data, host->data, bytes, cudaMemcpyHostToDevice, t->stream));
    return copy_by_kernel(t, &to->view, &temporary);
}

static int get(transfer *t, const ck_view *host, const ck_array *from) {
    const size_t bytes = (size_t)ck_view_bytes(host);
    ck_view temporary;
    if (ck_view_is_contiguous(&from->view) && is_swapped(host) == is_swapped(&from->view)) {
        CK_CUDA(t->error, cudaMemcpyAsync(host->data, from->view.data, bytes,
                                          kind_of(from->memory, cudaMemcpyDeviceToHost), t->stream));
        return CK_OK;
    }
    CK_TRY(take_temporary(t, host, &temporary));
    temporary.swapped = host->swapped;
    CK_TRY(copy_by_kernel(t, &temporary, &from->view));
    CK_CUDA(t->error, cudaMemcpyAsync(host->data, temporary.data, bytes, cudaMemcpyDeviceToHost, t->stream));
    return CK_OK;
}

// --- host and device ---------------------------------------------------------------------------------------------
// Between the host array and the device's; returns when the host array may be used again.
static int exchange(transfer *t, const ck_view *host, const ck_array *array, int upload, const ck_waiter *waiter) {
    const ck_access access = {array->memory, upload};
    CK_TRY(begin(t));
    CK_TRY(ck_order_before(&access, 1, t->stream, t->error));
    // A copy of ordinary memory holds this thread until its turn comes. Wait first where a wait can be broken off.
    if (backend_wait_can_be_interrupted()) CK_TRY(ck_wait(t->stream, t->launches, waiter, t->error));
    int status = upload ? put(t, array, host) : get(t, host, array);
    const int noted = ck_order_after(&access, 1, t->stream, t->error);
    if (status == CK_OK) status = noted;
    if (status == CK_OK) status = ck_wait(t->stream, t->launches, waiter, t->error);
    // A copy may still be on its way from or to the caller's array (a wait that was broken off has given it up).
    if (status != CK_OK && status != CK_INTERRUPTED) (void)backend_settle();
    return status;
}

int ck_array_upload(ck_runtime *runtime, const ck_array *to, const ck_view *host, cudaStream_t stream,
                    const ck_waiter *waiter, ck_error *error) {
    transfer t = {.runtime = runtime, .index = ck_memory_device(to->memory), .stream = stream, .error = error};
    CK_TRY(check_same(&to->view, host, 1, "upload", error));
    if (ck_view_is_empty(host)) return CK_OK;
    exchange(&t, host, to, 1, waiter);
    return end(&t);
}

int ck_array_download(ck_runtime *runtime, const ck_view *host, const ck_array *from, cudaStream_t stream,
                      const ck_waiter *waiter, ck_error *error) {
    transfer t = {.runtime = runtime, .index = ck_memory_device(from->memory), .stream = stream, .error = error};
    CK_TRY(check_same(host, &from->view, 1, "download", error));
    if (ck_view_is_empty(host)) return CK_OK;
    exchange(&t, host, from, 0, waiter);
    return end(&t);
}

// --- device to device --------------------------------------------------------------------------------------------
static int move(transfer *t, const ck_array *to, const ck_array *from) {
    ck_view temporary;
    if (is_element_by_element(&to->view, &from->view)) {
        if (to->view.dtype == from->view.dtype && is_swapped(&to->view) == is_swapped(&from->view)) return CK_OK;
    } else if (ck_view_overlap(&to->view, &from->view)) {
        CK_TRY(take_temporary(t, &from->view, &temporary));
        CK_TRY(copy_by_kernel(t, &temporary, &from->view));
        return copy_by_kernel(t, &to->view, &temporary);
    } else if (to->view.dtype == from->view.dtype && ck_view_is_contiguous(&to->view) &&
               ck_view_is_contiguous(&from->view) && is_swapped(&to->view) == is_swapped(&from->view)) {
        const int foreign = to->memory->foreign || from->memory->foreign;
        CK_CUDA(t->error, cudaMemcpyAsync(to->view.data, from->view.data, (size_t)ck_view_bytes(&to->view),
                                          foreign ? cudaMemcpyDefault : cudaMemcpyDeviceToDevice, t->stream));
        return CK_OK;
    }
    return copy_by_kernel(t, &to->view, &from->view);
}

static int copy_here(transfer *t, const ck_array *to, const ck_array *from) {
    const ck_access accesses[2] = {{from->memory, 0}, {to->memory, 1}};
    CK_TRY(begin(t));
    CK_TRY(ck_order_before(accesses, 2, t->stream, t->error));
    const int status = move(t, to, from);
    const int noted = ck_order_after(accesses, 2, t->stream, t->error);
    return status != CK_OK ? status : noted;
}

int ck_array_copy(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                  ck_error *error) {
    CK_TRY(check_same(&to->view, &from->view, 0, "copy", error));
    if (ck_view_is_empty(&to->view)) return CK_OK;
    if (ck_memory_device(to->memory) != ck_memory_device(from->memory))
        return ck_copy_across(runtime, to, from, stream, error);
    transfer t = {.runtime = runtime, .index = ck_memory_device(to->memory), .stream = stream, .error = error};
    copy_here(&t, to, from);
    return end(&t);
}

// --- fill --------------------------------------------------------------------------------------------------------
static int set(transfer *t, const ck_array *to, const void *value) {
    const unsigned char *bytes = value;
    const size_t item = ck_dtype_size(to->view.dtype);
    int same = 1;
    for (size_t i = 1; i < item; i++) same &= bytes[i] == bytes[0];
    if (same && !to->memory->foreign && ck_view_is_contiguous(&to->view)) { // cudaMemset does not take all memory
        CK_CUDA(t->error, cudaMemsetAsync(to->view.data, bytes[0], (size_t)ck_view_bytes(&to->view), t->stream));
        return CK_OK;
    }
    const ck_context context = {.device = t->index, .stream = t->stream, .launches = t->launches};
    return ck_strided_fill(&to->view, value, &context, t->error);
}

static int fill(transfer *t, const ck_array *to, const void *value) {
    const ck_access access = {to->memory, 1};
    CK_TRY(begin(t));
    CK_TRY(ck_order_before(&access, 1, t->stream, t->error));
    const int status = set(t, to, value);
    const int noted = ck_order_after(&access, 1, t->stream, t->error);
    return status != CK_OK ? status : noted;
}

int ck_array_fill(ck_runtime *runtime, const ck_array *to, const void *value, cudaStream_t stream, ck_error *error) {
    if (ck_view_is_empty(&to->view)) return CK_OK;
    transfer t = {.runtime = runtime, .index = ck_memory_device(to->memory), .stream = stream, .error = error};
    fill(&t, to, value);
    return end(&t);
}
