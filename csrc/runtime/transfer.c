// Copies of whole arrays: to the device, from it, within it, and to another device.
//
//   host, contiguous <----------------------------------> device, contiguous      one copy
//   host, long rows <-----------------------------------> device, long rows       a copy with gaps
//   host, any strides <--> temporary, without gaps <----> device, any strides     a copy and a kernel
//
// Without a ring, a host array that is neither contiguous nor in a few long pieces is copied within host memory
// first, or last (pieces.c).
//
// In the temporary, the axes have the order that they have in the host's memory. The kernel is the strided copy,
// which also swaps bytes and converts types. A temporary comes from the pool and is freed in the order of the stream.
// Each function is a frame (begin, order, end) around the part that enqueues.
#include <stdlib.h>

#include "backend.h"
#include "frame.h"
#include "kernels/strided_copy.h"
#include "memory.h"
#include "ring.h"

// Bytes of a row from which a copy with gaps is faster than a temporary and a kernel.
enum { LONG_ROW = 256 };

typedef struct transfer {
    ck_frame frame;
    ck_block temporary;
    const ck_array *to, *from;
    const ck_view *host; // the caller's array, or its gathered copy
    const void *value;
    const ck_waiter *waiter;
} transfer;

static int begin(transfer *t, cudaStream_t stream) {
    CK_TRY(ck_frame_begin(&t->frame));
    return ck_frame_use(&t->frame, stream);
}

static int end(transfer *t) {
    ck_launches_explain(t->frame.launches, t->frame.error); // a wait may have reported the failure of a kernel
    if (t->temporary.data != NULL) ck_pool_free(t->frame.device, &t->temporary, t->frame.stream, t->frame.error);
    return ck_frame_end(&t->frame);
}

// --- views -------------------------------------------------------------------------------------------------------
// A contiguous view of the same shape and type, in this machine's byte order.
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
                : ck_fail(error, CK_BAD_VALUE, "%s needs arrays of equal shape%s", what, types ? " and type" : "");
}

// True if each element of one array is the element of the other array at the same index. A copy then reads each
// element before it writes it, so it needs no temporary.
static int is_element_by_element(const ck_view *to, const ck_view *from) {
    int same = to->data == from->data && ck_dtype_size(to->dtype) == ck_dtype_size(from->dtype);
    for (int i = 0; i < to->ndim; i++) same &= to->shape[i] < 2 || to->strides[i] == from->strides[i];
    return same;
}

// --- parts that enqueue ------------------------------------------------------------------------------------------
// For another library's memory, CUDA determines the kind itself.
static enum cudaMemcpyKind kind_of(const ck_memory *memory, enum cudaMemcpyKind kind) {
    return memory->foreign ? cudaMemcpyDefault : kind;
}

static int copy_by_kernel(transfer *t, const ck_view *to, const ck_view *from) {
    const ck_context context = ck_frame_context(&t->frame);
    return ck_strided_copy(to, from, &context, t->frame.error);
}

static int copy_bytes(transfer *t, void *to, const void *from, int64_t bytes, enum cudaMemcpyKind kind) {
    CK_CUDA(t->frame.error, cudaMemcpyAsync(to, from, (size_t)bytes, kind, t->frame.stream));
    return CK_OK;
}

// True, with the blocks, if the copy needs no temporary: see the picture. On the device no axis may go backwards or
// be repeated, no rows may overlap (another library's array can have such strides), and short rows must have the
// order of the host's memory.
static int blocks_between(const ck_view *host, const ck_view *device, ck_blocks *blocks) {
    if (is_swapped(host) != is_swapped(device)) return 0;
    if (ck_view_is_contiguous(host) && ck_view_is_contiguous(device)) {
        *blocks = (ck_blocks){.run = (size_t)ck_view_bytes(host)};
        return 1;
    }
    ck_blocks_between(host, device, blocks);
    for (int i = 0; i < device->ndim; i++)
        if (device->shape[i] > 1 && device->strides[i] == 0) return 0;
    int64_t end = (int64_t)blocks->run;
    for (int i = blocks->axis_count - 1; i >= 0; i--) {
        if (blocks->axes[i].device < end) return 0;
        end += blocks->axes[i].device * (blocks->axes[i].length - 1);
    }
    if (blocks->run >= LONG_ROW) return 1;
    int64_t least = (int64_t)blocks->run;
    for (int i = blocks->axis_count - 1; i >= 0; least = blocks->axes[i--].host)
        if (blocks->axes[i].host < least) return 0;
    return !ck_view_is_contiguous(host);
}

static int copy_host(transfer *t, const ck_blocks *blocks, char *host, void *device, enum cudaMemcpyKind kind) {
    return ck_blocks_copy(t->frame.device, blocks, host, device, t->to != NULL, kind, t->frame.stream,
                          t->frame.error);
}

static int take_temporary(transfer *t, const ck_view *like, ck_view *temporary) {
    CK_TRY(ck_pool_allocate(t->frame.device, (size_t)ck_view_bytes(like), t->frame.stream, &t->temporary,
                            t->frame.error));
    *temporary = packed(like, t->temporary.data);
    return CK_OK;
}

static int take_packing(transfer *t, ck_packing *packing) {
    ck_view_pack(t->host, packing);
    CK_TRY(ck_pool_allocate(t->frame.device, packing->bytes, t->frame.stream, &t->temporary, t->frame.error));
    packing->view.data = (char *)t->temporary.data + packing->first;
    return CK_OK;
}

static int put(transfer *t) {
    const ck_array *to = t->to;
    ck_packing packing;
    ck_blocks blocks;
    if (blocks_between(t->host, &to->view, &blocks))
        return copy_host(t, &blocks, t->host->data, to->view.data, kind_of(to->memory, cudaMemcpyHostToDevice));
    CK_TRY(take_packing(t, &packing));
    CK_TRY(copy_host(t, &packing.blocks, packing.lowest, t->temporary.data, cudaMemcpyHostToDevice));
    return copy_by_kernel(t, &to->view, &packing.view);
}

static int get(transfer *t) {
    const ck_array *from = t->from;
    ck_packing packing;
    ck_blocks blocks;
    if (blocks_between(t->host, &from->view, &blocks))
        return copy_host(t, &blocks, t->host->data, from->view.data, kind_of(from->memory, cudaMemcpyDeviceToHost));
    CK_TRY(take_packing(t, &packing));
    CK_TRY(copy_by_kernel(t, &packing.view, &from->view));
    return copy_host(t, &packing.blocks, packing.lowest, t->temporary.data, cudaMemcpyDeviceToHost);
}

// --- host and device ---------------------------------------------------------------------------------------------
static int exchange(transfer *t) {
    // A copy from or to pageable memory blocks this thread until the stream reaches it. If waits can be interrupted,
    // wait first; also if other threads would wait for the ring meanwhile.
    if (backend_wait_can_be_interrupted() || ck_ring_takes(t->frame.device, ck_view_bytes(t->host)))
        CK_TRY(ck_wait(t->frame.stream, t->frame.launches, t->waiter, t->frame.error));
    return t->to != NULL ? put(t) : get(t);
}

static int exchange_and_wait(transfer *t, const ck_access *access) {
    CK_TRY(ck_frame_before(&t->frame, access, 1));
    int status = ck_frame_after(&t->frame, access, 1, exchange(t));
    if (status == CK_OK) status = ck_wait(t->frame.stream, t->frame.launches, t->waiter, t->frame.error);
    // A copy from or to the host array may still be running (but not after an interrupted wait, which gave it up).
    if (status != CK_OK && status != CK_INTERRUPTED) (void)backend_settle();
    return status;
}

// 0: CUDA or the ring copies the host array as it lies; 1: a copy of it, which the packing then describes. Its axes
// have the order that they have on the device (unless elements are repeated there).
static int is_gathered(const transfer *t, ck_packing *pieces) {
    const ck_view *host = t->host;
    if (ck_view_is_contiguous(host)) return 0;
    ck_view_pack(host, pieces);
    if (ck_ring_takes(t->frame.device, (int64_t)pieces->bytes)) return 0;
    const ck_view *device = t->to != NULL ? &t->to->view : &t->from->view;
    if (blocks_between(host, device, &pieces->blocks) && !ck_pieces_are_many(&pieces->blocks)) return 0;
    ck_view_pack(device, pieces);
    if (pieces->bytes != (size_t)ck_view_bytes(host)) pieces->view = packed(host, NULL);
    for (int i = 0; i < host->ndim; i++)
        if (pieces->view.strides[i] < 0) pieces->view.strides[i] = -pieces->view.strides[i];
    pieces->view.swapped = host->swapped;
    pieces->lowest = host->data;
    pieces->bytes = (size_t)ck_view_bytes(host);
    ck_blocks_between(host, &pieces->view, &pieces->blocks);
    return pieces->blocks.axis_count > 0; // 0: it has that order already
}

// Copies between the host array and the device array. Returns when the host array may be used again.
static int exchange_array(transfer *t, cudaStream_t stream) {
    const ck_access access = {t->to != NULL ? t->to->memory : t->from->memory, t->to != NULL};
    ck_packing pieces;
    char *block;
    CK_TRY(begin(t, stream));
    if (!is_gathered(t, &pieces)) return exchange_and_wait(t, &access);
    CK_TRY(ck_pieces_allocate(&pieces, &block, t->frame.error));
    pieces.view.data = block;
    t->host = &pieces.view;
    if (t->to != NULL) ck_pieces_copy(&pieces, block, 1);
    const int status = exchange_and_wait(t, &access);
    if (t->to == NULL && status == CK_OK) ck_pieces_copy(&pieces, block, 0);
    free(block);
    return status;
}

int ck_array_upload(ck_runtime *runtime, const ck_array *to, const ck_view *host, cudaStream_t stream,
                    const ck_waiter *waiter, ck_error *error) {
    transfer t = {.frame = {.runtime = runtime, .index = ck_memory_device(to->memory), .error = error},
                  .to = to,
                  .host = host,
                  .waiter = waiter};
    CK_TRY(check_same(&to->view, host, 1, "upload", error));
    if (ck_view_is_empty(host)) return CK_OK;
    exchange_array(&t, stream);
    return end(&t);
}

int ck_array_download(ck_runtime *runtime, const ck_view *host, const ck_array *from, cudaStream_t stream,
                      const ck_waiter *waiter, ck_error *error) {
    transfer t = {.frame = {.runtime = runtime, .index = ck_memory_device(from->memory), .error = error},
                  .from = from,
                  .host = host,
                  .waiter = waiter};
    CK_TRY(check_same(host, &from->view, 1, "download", error));
    if (ck_view_is_empty(host)) return CK_OK;
    exchange_array(&t, stream);
    return end(&t);
}

// --- device to device --------------------------------------------------------------------------------------------
static int move(transfer *t) {
    const ck_array *to = t->to, *from = t->from;
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
        return copy_bytes(t, to->view.data, from->view.data, ck_view_bytes(&to->view),
                          foreign ? cudaMemcpyDefault : cudaMemcpyDeviceToDevice);
    }
    return copy_by_kernel(t, &to->view, &from->view);
}

static int copy_within(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                       ck_error *error) {
    transfer t = {
        .frame = {.runtime = runtime, .index = ck_memory_device(to->memory), .error = error}, .to = to, .from = from};
    const ck_access accesses[2] = {{from->memory, 0}, {to->memory, 1}};
    if (begin(&t, stream) == CK_OK && ck_frame_before(&t.frame, accesses, 2) == CK_OK)
        ck_frame_after(&t.frame, accesses, 2, move(&t));
    return end(&t);
}

// --- from one device to another ----------------------------------------------------------------------------------
//   source's service stream   [after the last write] --ready--.              .--[recorded as a read]
//   `stream`, of the target          [after its last uses] ---'--[copy]--read'
//
// The copy needs contiguous memory on both devices. An array with gaps is packed before the copy, or unpacked after
// it, on its own device. The streams of the source device are not blocked: the service stream there comes after the
// array's last write, and the next write comes after the copy, because it waits for the service stream.
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
    // Other devices have no access to the memory of a pool, but cudaMemcpyPeerAsync does not need it. It does not
    // accept host memory.
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
    if (status != CK_OK) (void)backend_settle(); // the source device may have no mark to wait for
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
    // From here on, the copy is enqueued.
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

static int is_plain(const ck_view *view) {
    return ck_view_is_contiguous(view) && !view->swapped;
}

// Allocates a contiguous array of the same shape on the same device.
static int make_plain(ck_runtime *runtime, const ck_array *like, cudaStream_t stream, ck_array *plain,
                      ck_error *error) {
    plain->view = packed(&like->view, NULL);
    CK_TRY(ck_memory_allocate(runtime, ck_memory_device(like->memory), (size_t)ck_view_bytes(&plain->view), stream,
                              &plain->memory, error));
    plain->view.data = ck_memory_data(plain->memory);
    return CK_OK;
}

static int copy_across(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                       ck_error *error) {
    ck_array source = *from, target = *to;
    int status = CK_OK;
    CK_TRY(ck_memory_check(to->memory, error));
    CK_TRY(ck_memory_check(from->memory, error));
    if (to->view.dtype != from->view.dtype)
        return ck_fail(
            error, CK_BAD_TYPE,
            "a copy from device %d to device %d cannot convert %s to %s. Convert on one of the devices first: "
            "x.astype('%s')",
            ck_memory_device(from->memory), ck_memory_device(to->memory), ck_dtype_name(from->view.dtype),
            ck_dtype_name(to->view.dtype), ck_dtype_name(to->view.dtype));
    source.memory = target.memory = NULL; // temporary memory, for arrays with gaps
    if (!is_plain(&from->view)) {
        status = make_plain(runtime, from, NULL, &source, error);
        if (status == CK_OK) status = copy_within(runtime, &source, from, NULL, error);
    }
    if (status == CK_OK && !is_plain(&to->view)) status = make_plain(runtime, to, stream, &target, error);
    if (status == CK_OK)
        status = copy_plain(target.memory ? &target : to, source.memory ? &source : from, stream, error);
    if (status == CK_OK && target.memory != NULL) status = copy_within(runtime, to, &target, stream, error);
    ck_memory_release(source.memory);
    ck_memory_release(target.memory);
    return status;
}

int ck_array_copy(ck_runtime *runtime, const ck_array *to, const ck_array *from, cudaStream_t stream,
                  ck_error *error) {
    CK_TRY(check_same(&to->view, &from->view, 0, "copy", error));
    if (ck_view_is_empty(&to->view)) return CK_OK;
    const int across = ck_memory_device(to->memory) != ck_memory_device(from->memory);
    return (across ? copy_across : copy_within)(runtime, to, from, stream, error);
}

// --- fill --------------------------------------------------------------------------------------------------------
static int set(transfer *t) {
    const ck_array *to = t->to;
    const unsigned char *bytes = t->value;
    const size_t item = ck_dtype_size(to->view.dtype);
    int same = 1;
    for (size_t i = 1; i < item; i++) same &= bytes[i] == bytes[0];
    if (same && !to->memory->foreign &&
        ck_view_is_contiguous(&to->view)) { // cudaMemset does not accept all kinds of memory
        CK_CUDA(t->frame.error,
                cudaMemsetAsync(to->view.data, bytes[0], (size_t)ck_view_bytes(&to->view), t->frame.stream));
        return CK_OK;
    }
    const ck_context context = ck_frame_context(&t->frame);
    return ck_strided_fill(&to->view, t->value, &context, t->frame.error);
}

int ck_array_fill(ck_runtime *runtime, const ck_array *to, const void *value, cudaStream_t stream, ck_error *error) {
    if (ck_view_is_empty(&to->view)) return CK_OK;
    transfer t = {.frame = {.runtime = runtime, .index = ck_memory_device(to->memory), .error = error},
                  .to = to,
                  .value = value};
    const ck_access access = {to->memory, 1};
    if (begin(&t, stream) == CK_OK && ck_frame_before(&t.frame, &access, 1) == CK_OK)
        ck_frame_after(&t.frame, &access, 1, set(&t));
    return end(&t);
}
