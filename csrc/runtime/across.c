// From one device to another.
//
//   source's service stream   [after the last write] --ready--.              .--[a read, noted]
//   `stream`, of the target          [after its last uses] ---'--[copy]--read'
//
// The copy takes memory without gaps at both ends; what has gaps is packed first, and unpacked after, on its own
// device. The source's own streams go on meanwhile: our stream there comes after the array's last write, and whoever
// writes it next comes after the copy, by way of that stream.
#include "backend.h"
#include "memory.h"

static int is_plain(const ck_view *view) {
    return ck_view_is_contiguous(view) && !view->swapped;
}

// New memory on the array's device with its shape, without gaps.
static int make_plain(ck_runtime *runtime, const ck_array *like, cudaStream_t stream, ck_array *plain,
                      ck_error *error) {
    plain->view = like->view;
    plain->view.swapped = 0;
    ck_view_lay_out(&plain->view, like->view.dtype);
    CK_TRY(ck_memory_allocate(runtime, ck_memory_device(like->memory), (size_t)ck_view_bytes(&plain->view), stream,
                              &plain->memory, error));
    plain->view.data = ck_memory_data(plain->memory);
    return CK_OK;
}

// --- memory without gaps -----------------------------------------------------------------------------------------
typedef struct crossing {
    const ck_array *to, *from;
    cudaStream_t stream, service;
    ck_mark *ready, *read;
    ck_error *error;
} crossing;

static int enqueue(crossing *c) { // on the target's device
    ck_memory *to = c->to->memory, *from = c->from->memory;
    void *target = c->to->view.data, *source = c->from->view.data;
    const size_t bytes = (size_t)ck_view_bytes(&c->to->view);
    CK_CUDA(c->error, cudaStreamWaitEvent(c->stream, c->ready->event, 0));
    // Pools' memory is not open to other devices, and cudaMemcpyPeerAsync needs no opening. It takes no host's memory.
    if (backend_memory_is_host() && (to->foreign || from->foreign))
        CK_CUDA(c->error, cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, c->stream));
    else
        CK_CUDA(c->error,
                cudaMemcpyPeerAsync(target, to->device->index, source, from->device->index, bytes, c->stream));
    return ck_mark_record(to->device, c->stream, &c->read, c->error);
}

static int write_target(crossing *c) { // on the target's device
    const ck_access access = {c->to->memory, 1};
    CK_TRY(ck_order_before(&access, 1, c->stream, c->error));
    const int status = enqueue(c);
    const int noted = ck_order_after(&access, 1, c->stream, c->error);
    if (status != CK_OK) (void)backend_settle(); // the source's device may have no mark to wait for
    return status != CK_OK ? status : noted;
}

static int cross(crossing *c) { // on the source's device
    ck_device *device = c->from->memory->device;
    const ck_access access = {c->from->memory, 0};
    const int target = ck_memory_device(c->to->memory);
    int previous = target, status;
    CK_TRY(ck_service_stream(device, &c->service, c->error));
    CK_TRY(ck_order_before(&access, 1, c->service, c->error));
    CK_TRY(ck_mark_record(device, c->service, &c->ready, c->error));
    CK_TRY(ck_device_enter(target, &previous, c->error));
    status = write_target(c);
    ck_device_leave(target, previous, c->error);
    CK_TRY(status);
    // From here on the copy is on its way.
    cudaError_t code;
    if (CK_CUDA_CODE(code, cudaStreamWaitEvent(c->service, c->read->event, 0)) != cudaSuccess) {
        ck_fail_cuda(c->error, code, "cudaStreamWaitEvent(service, read->event, 0)");
        (void)cudaEventSynchronize(c->read->event);
    }
    ck_order_after(&access, 1, c->service, c->error);
    return c->error->code;
}

static int copy_plain(const ck_array *to, const ck_array *from, cudaStream_t stream, ck_error *error) {
    crossing c = {.to = to, .from = from, .stream = stream, .error = error};
    const int source = ck_memory_device(from->memory);
    int previous = source;
    CK_TRY(ck_device_enter(source, &previous, error));
    cross(&c);
    if (c.ready != NULL) ck_mark_drop(from->memory->device, c.ready);
    if (c.read != NULL) ck_mark_drop(to->memory->device, c.read);
    ck_device_leave(source, previous, error);
    return error->code;
}

// --- any arrays --------------------------------------------------------------------------------------------------
int ck_copy_across(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                   ck_error *error) {
    ck_array source = *from, target = *to;
    int status = CK_OK;
    CK_TRY(ck_memory_check(to->memory, error));
    CK_TRY(ck_memory_check(from->memory, error));
    if (to->view.dtype != from->view.dtype)
        return ck_fail(
            error, CK_BAD_TYPE, "copy",
            "a copy from device %d to device %d keeps the type: %s is not %s. Convert on one of them first: "
            "x.astype('%s')",
            ck_memory_device(from->memory), ck_memory_device(to->memory), ck_dtype_name(from->view.dtype),
            ck_dtype_name(to->view.dtype), ck_dtype_name(to->view.dtype));
    source.memory = target.memory = NULL; // of ours, where there are gaps
    if (!is_plain(&from->view)) {
        status = make_plain(runtime, from, NULL, &source, error);
        if (status == CK_OK) status = ck_array_copy(runtime, &source, from, NULL, error);
    }
    if (status == CK_OK && !is_plain(&to->view)) status = make_plain(runtime, to, stream, &target, error);
    if (status == CK_OK)
        status = copy_plain(target.memory ? &target : to, source.memory ? &source : from, stream, error);
    if (status == CK_OK && target.memory != NULL) status = ck_array_copy(runtime, to, &target, stream, error);
    ck_memory_release(source.memory);
    ck_memory_release(target.memory);
    return status;
}
