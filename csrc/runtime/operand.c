// Transfers of an operand to the device and back. Its layout there, and the copies that it takes, are computed in
// layout.c.
#include <stdlib.h>
#include <string.h>

#include "kernels/strided_copy.h"
#include "operand.h"
#include "ring.h"

static int is_broadcast(const ck_view *view, int axis) {
    return view->shape[axis] > 1 && view->strides[axis] == 0;
}

// --- layout ------------------------------------------------------------------------------------------------------
// A layout for strides that no copy of rows or columns brings to the device: without gaps, in the memory's order.
static int lay_out_in_memory_order(ck_operand *operand, int is_output, const ck_layout *layout) {
    ck_packing packing;
    ck_view_pack(operand->array, &packing);
    operand->landed = packing.view;
    operand->lowest = packing.lowest;
    operand->first = packing.first;
    operand->blocks = packing.blocks;
    operand->is_packed = !ck_layout_holds(layout, &packing.view, is_output);
    operand->copied = (ck_stack){.matrices = 1,
                                 .rows = 1,
                                 .padded_rows = 1,
                                 .row_bytes = packing.bytes,
                                 .padded_row_bytes = packing.bytes,
                                 .pitch = packing.bytes,
                                 .bytes = packing.bytes};
    return CK_OK;
}

// Determines the layout of an array that is copied from or to the host.
static int lay_out_host_array(ck_operand *operand, int is_output, int number, const ck_layout *layout,
                              ck_error *error) {
    static const ck_layout nothing_asked = {0};
    const ck_view *array = operand->array;
    const int n = array->ndim;
    const int64_t item = (int64_t)ck_dtype_size(array->dtype);
    unsigned kept = 0;
    if (array->swapped)
        return ck_fail(error, CK_BAD_VALUE,
                       "operand %d has a byte order other than this machine's. Convert it with "
                       "x.astype(x.dtype.newbyteorder('='))",
                       number);
    for (int i = 0; i < n; i++) kept |= (unsigned)is_broadcast(array, i) << i;
    const int gaps = n >= 1 && array->shape[n - 1] > 1 && !(kept >> (n - 1) & 1) && array->strides[n - 1] != item;
    const int one_row = n < 2 || array->shape[n - 2] == 1 || kept >> (n - 2) & 1;
    const int by_columns = gaps && !one_row && array->strides[n - 2] == item;
    if (gaps && !by_columns && !(one_row && n >= 2) && !ck_view_is_empty(array))
        return lay_out_in_memory_order(operand, is_output, layout);

    // The layout may require that broadcast axes be expanded, or that an array be in the other order.
    const unsigned columns = n >= 1 ? 1u << (n - 1) : 0, rows = n >= 2 ? 1u << (n - 2) : 0;
    operand->is_packed = (layout->contiguous && (kept != 0 || by_columns)) ||
                         ((layout->column_multiple > 1 || layout->pitch) && (kept & columns)) ||
                         (layout->boxed && (kept & rows)) || (layout->row_multiple > 1 && (kept & rows)) ||
                         layout->lines == (by_columns ? CK_ROWS : CK_COLUMNS);
    operand->landed = *array;
    operand->landed.data = NULL;
    operand->lowest = array->data;
    operand->first = 0;
    CK_TRY(ck_layout_place(operand->is_packed ? &nothing_asked : layout, kept, by_columns, number, &operand->landed,
                           &operand->copied, error));
    ck_blocks_between(array, &operand->landed, &operand->blocks);
    return CK_OK;
}

// The array is treated as if its gathered copy were at the array's lowest address.
static void see_gathered(ck_operand *operand) {
    const ck_packing *packing = &operand->packing;
    operand->seen = packing->view;
    operand->seen.data = packing->lowest + packing->first;
    operand->array = &operand->seen;
}

// The elements as one axis, from the lowest address on; not if there are gaps, or elements that share memory.
static void see_as_one_axis(ck_operand *operand) {
    const ck_view *array = operand->array;
    ck_packing packing;
    if (ck_view_is_contiguous(array)) return;
    ck_view_pack(array, &packing);
    for (int i = 0; i < array->ndim; i++)
        if (array->shape[i] != 1 && (array->strides[i] == 0 || array->strides[i] != packing.view.strides[i])) return;
    const int64_t item = (int64_t)ck_dtype_size(array->dtype);
    operand->seen = (ck_view){.data = packing.lowest, .dtype = array->dtype, .ndim = 1, .swapped = array->swapped};
    operand->seen.shape[0] = (int64_t)packing.bytes / item;
    operand->seen.strides[0] = item;
    operand->array = &operand->seen;
}

int ck_operand_layout(ck_operand *operand, ck_device *owner, const ck_view *array, int on_host, int is_output,
                      int number, const ck_layout *layout, ck_view *device, ck_error *error) {
    operand->array = array;
    operand->owner = owner;
    operand->device = device;
    operand->on_host = on_host;
    operand->is_in_pieces = on_host && ck_pieces_of(array, owner, &operand->packing);
    operand->block = NULL;
    operand->copy = operand->pack = (ck_block){0};
    if (operand->is_in_pieces) see_gathered(operand);
    if (layout->contiguous == CK_IN_ANY_ORDER) see_as_one_axis(operand);
    array = operand->array;
    if (array == &operand->seen) *device = *array;
    for (int i = 0; i < array->ndim && is_output; i++)
        if (is_broadcast(array, i) && !ck_view_is_empty(array))
            return ck_fail(error, CK_BAD_VALUE,
                           "operand %d is an output with stride 0 in axis %d, so several results would overwrite "
                           "each other. Pass an array that is not broadcast",
                           number, i);
    if (on_host) {
        CK_TRY(lay_out_host_array(operand, is_output, number, layout, error));
        *device = operand->landed;
    } else {
        operand->is_packed = !ck_layout_holds(layout, array, is_output);
        device->data = array->data; // the other fields are already set
        // Of an empty array nothing is read, but copies of nothing need an aligned address, too. Without strides, a
        // stack of many such axes is one axis, as that of a host array.
        if (!is_output && ck_view_is_empty(array)) {
            device->data = NULL;
            memset(device->strides, 0, sizeof device->strides);
        }
    }
    if (!operand->is_packed) return CK_OK;
    unsigned kept = 0; // a stack that repeats one matrix stays so, with stride 0
    for (int i = 0; i < array->ndim - 2 && !layout->contiguous; i++) kept |= (unsigned)is_broadcast(array, i) << i;
    device->swapped = 0;
    return ck_layout_place(layout, kept, layout->lines == CK_COLUMNS, number, device, &operand->packed, error);
}

int64_t ck_operand_bytes(const ck_operand *operand) {
    int64_t bytes = (int64_t)operand->blocks.run;
    for (int i = 0; i < operand->blocks.axis_count; i++) bytes *= operand->blocks.axes[i].length;
    return bytes;
}

// --- memory ------------------------------------------------------------------------------------------------------
int ck_operand_allocate(ck_operand *operand, cudaStream_t stream, ck_error *error) {
    if (operand->on_host) {
        CK_TRY(ck_pool_allocate(operand->owner, operand->copied.bytes, stream, &operand->copy, error));
        operand->landed.data = operand->device->data = (char *)operand->copy.data + operand->first;
    }
    if (operand->is_packed) {
        CK_TRY(ck_pool_allocate(operand->owner, operand->packed.bytes, stream, &operand->pack, error));
        operand->device->data = operand->pack.data;
    }
    return CK_OK;
}

void ck_operand_free(ck_operand *operand, cudaStream_t stream, ck_error *error) {
    ck_pool_free(operand->owner, &operand->copy, stream, error);
    ck_pool_free(operand->owner, &operand->pack, stream, error);
    free(operand->block);
}

int ck_operand_clear(const ck_operand *operand, const ck_context *context, ck_error *error) {
    static const char zero[16] = {0};
    const ck_view *view = operand->device;
    size_t bytes = operand->is_packed ? operand->packed.bytes : operand->copied.bytes;
    if (ck_view_is_empty(view)) return CK_OK;
    if (!operand->on_host && !operand->is_packed) {
        if (!ck_view_is_contiguous(view)) return ck_strided_fill(view, zero, context, error);
        bytes = (size_t)ck_view_bytes(view);
    }
    CK_CUDA(error, cudaMemsetAsync(view->data, 0, bytes, context->stream));
    return CK_OK;
}

// --- copies between host and device ------------------------------------------------------------------------------
// Copies `count` pieces of `width` bytes with the given distances between them, in one call of CUDA.
static int copy_pieces(char *to, int64_t to_pitch, const char *from, int64_t from_pitch, size_t width, int64_t count,
                       enum cudaMemcpyKind kind, cudaStream_t stream, ck_error *error) {
    if (count == 1)
        CK_CUDA(error, cudaMemcpyAsync(to, from, width, kind, stream));
    else
        CK_CUDA(error, cudaMemcpy2DAsync(to, (size_t)to_pitch, from, (size_t)from_pitch, width, (size_t)count, kind,
                                         stream));
    return CK_OK;
}

int ck_blocks_copy(ck_device *owner, const ck_blocks *blocks, char *host, char *device, int to_device,
                   enum cudaMemcpyKind kind, cudaStream_t stream, ck_error *error) {
    int copied;
    CK_TRY(ck_ring_copy(owner, blocks, host, device, to_device, stream, &copied, error));
    if (copied) return CK_OK;
    const int chosen = ck_blocks_axis(blocks);
    const ck_axis pieces = chosen >= 0 ? blocks->axes[chosen] : (ck_axis){.length = 1};
    int64_t place[CK_MAX_DIMS + 1] = {0};
    for (int axis = 0; blocks->run > 0 && axis >= 0;) {
        if (to_device)
            CK_TRY(copy_pieces(device, pieces.device, host, pieces.host, blocks->run, pieces.length, kind, stream,
                               error));
        else
            CK_TRY(copy_pieces(host, pieces.host, device, pieces.device, blocks->run, pieces.length, kind, stream,
                               error));
        for (axis = blocks->axis_count - 1; axis >= 0;
             axis--) { // the next index, counted like the digits of a number
            if (axis == chosen) continue;
            const ck_axis *on = &blocks->axes[axis];
            host += on->host;
            device += on->device;
            if (++place[axis] < on->length) break;
            host -= on->host * on->length;
            device -= on->device * on->length;
            place[axis] = 0;
        }
    }
    return CK_OK;
}

static int copy_blocks(const ck_operand *operand, int to_device, cudaStream_t stream, ck_error *error) {
    return ck_blocks_copy(operand->owner, &operand->blocks, operand->lowest, operand->copy.data, to_device,
                          to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream, error);
}

static int zero_pieces(char *start, size_t pitch, size_t width, int64_t count, cudaStream_t stream, ck_error *error) {
    if (width == 0) return CK_OK;
    if (pitch == width) {
        CK_CUDA(error, cudaMemsetAsync(start, 0, width * (size_t)count, stream));
    } else if ((int64_t)pitch <= CK_LONGEST_PITCH) {
        CK_CUDA(error, cudaMemset2DAsync(start, pitch, 0, width, (size_t)count, stream));
    } else {
        for (int64_t i = 0; i < count; i++)
            CK_CUDA(error, cudaMemsetAsync(start + (size_t)i * pitch, 0, width, stream));
    }
    return CK_OK;
}

// Writes the zeros to the right of and below each matrix.
static int zero_margins(const ck_stack *stack, char *start, cudaStream_t stream, ck_error *error) {
    const size_t missing = (size_t)(stack->padded_rows - stack->rows) * stack->pitch;
    CK_TRY(zero_pieces(start + stack->row_bytes, stack->pitch, stack->padded_row_bytes - stack->row_bytes,
                       stack->matrices * stack->padded_rows, stream, error));
    return zero_pieces(start + (size_t)stack->rows * stack->pitch, (size_t)stack->padded_rows * stack->pitch, missing,
                       stack->matrices, stream, error);
}

// --- transfers ---------------------------------------------------------------------------------------------------
static int take_block(ck_operand *operand, ck_error *error) {
    if (!operand->is_in_pieces) return CK_OK;
    CK_TRY(ck_pieces_allocate(&operand->packing, &operand->block, error));
    operand->lowest = operand->block + (operand->lowest - operand->packing.lowest);
    return CK_OK;
}

int ck_operand_bring(ck_operand *operand, const ck_context *context, ck_error *error) {
    const ck_view *from = operand->array;
    if (ck_view_is_empty(from)) return CK_OK;
    if (operand->on_host) {
        CK_TRY(take_block(operand, error));
        if (operand->block != NULL) ck_pieces_copy(&operand->packing, operand->block, 1);
        CK_TRY(copy_blocks(operand, 1, context->stream, error));
        CK_TRY(zero_margins(&operand->copied, operand->copy.data, context->stream, error));
        from = &operand->landed;
    }
    if (!operand->is_packed) return CK_OK;
    const ck_stack *packed = &operand->packed;
    if (packed->padded_rows > packed->rows || packed->padded_row_bytes > packed->row_bytes)
        CK_CUDA(error, cudaMemsetAsync(operand->pack.data, 0, packed->bytes, context->stream));
    // A matrix that is repeated with stride 0 is copied once.
    ck_view to = *operand->device, source = *from;
    for (int i = 0; i < to.ndim; i++)
        if (to.strides[i] == 0) to.shape[i] = source.shape[i] = 1;
    return ck_strided_copy(&to, &source, context, error);
}

int ck_operand_unpack(const ck_operand *operand, const ck_context *context, ck_error *error) {
    if (!operand->is_packed || ck_view_is_empty(operand->array)) return CK_OK;
    return ck_strided_copy(operand->on_host ? &operand->landed : operand->array, operand->device, context, error);
}

int ck_operand_fetch(ck_operand *operand, cudaStream_t stream, ck_error *error) {
    CK_TRY(take_block(operand, error));
    return copy_blocks(operand, 0, stream, error);
}

void ck_operand_scatter(const ck_operand *operand) {
    if (operand->block != NULL) ck_pieces_copy(&operand->packing, operand->block, 0);
}
