// Layouts of arrays in memory: strides, padding, and the copies between two layouts.
//
// An array that the runtime lays out is a stack of matrices, one after another. Each matrix is stored by rows (or by
// columns, if a transposed matrix was copied from the host: then read "column" for "row" here and below):
//
//        <--- row_bytes --->
//        <---- padded_row_bytes ---->
//        <----------------- pitch -------------->
//       +-------------------+--------+-----------+
//       | the caller's rows | zeros  | never read|    rows
//       +-------------------+--------+           |
//       | zeros                      |           |    up to padded_rows
//       +----------------------------+-----------+
//
// A 1-D array is one row, and so is a single element. Zeros are written only for inputs. An axis with stride 0 takes
// the space of one element, whatever its length.
#include <string.h>

#include "operand.h"

int ck_view_is_empty(const ck_view *view) {
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] == 0) return 1;
    return 0;
}

int ck_view_is_contiguous(const ck_view *view) {
    int64_t expected = (int64_t)ck_dtype_size(view->dtype);
    if (ck_view_is_empty(view)) return 1;
    for (int i = view->ndim - 1; i >= 0; i--) {
        if (view->shape[i] == 1) continue;
        if (view->strides[i] != expected || __builtin_mul_overflow(expected, view->shape[i], &expected)) return 0;
    }
    return 1;
}

int ck_view_same_shape(const ck_view *a, const ck_view *b) {
    return a->ndim == b->ndim && memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

int64_t ck_view_bytes(const ck_view *view) {
    int64_t bytes = (int64_t)ck_dtype_size(view->dtype);
    for (int i = 0; i < view->ndim; i++) bytes *= view->shape[i];
    return bytes;
}

void ck_view_lay_out(ck_view *view, int dtype) {
    int64_t stride = (int64_t)ck_dtype_size(dtype);
    view->dtype = dtype;
    for (int i = view->ndim - 1; i >= 0; i--) {
        view->strides[i] = stride;
        const int64_t length = view->shape[i] > 0 ? view->shape[i] : 1;
        if (__builtin_mul_overflow(stride, length, &stride)) stride = INT64_MAX;
    }
}

int ck_view_reach(const ck_view *view, int64_t *low, int64_t *high) {
    *low = *high = 0;
    if (ck_view_is_empty(view)) return 0;
    for (int i = 0; i < view->ndim; i++) {
        int64_t span, *end;
        if (__builtin_mul_overflow(view->strides[i], view->shape[i] - 1, &span)) return -1;
        end = span < 0 ? low : high;
        if (__builtin_add_overflow(*end, span, end)) return -1;
    }
    int64_t whole;
    return __builtin_add_overflow(*high, (int64_t)ck_dtype_size(view->dtype), high) ||
                   __builtin_sub_overflow(*high, *low, &whole)
               ? -1
               : 0;
}

int ck_view_overlap(const ck_view *a, const ck_view *b) {
    const ck_view *views[2] = {a, b};
    uintptr_t first[2], last[2];
    for (int i = 0; i < 2; i++) {
        int64_t low, high;
        ck_view_reach(views[i], &low, &high); // cannot fail: this was checked when the view was created
        if (low == high) return 0;
        first[i] = (uintptr_t)views[i]->data + (uintptr_t)low;
        last[i] = (uintptr_t)views[i]->data + (uintptr_t)high;
    }
    return first[0] < last[1] && first[1] < last[0];
}

static int is_multiple(int64_t length, int of) {
    return of <= 1 || length % of == 0;
}

// True if rows (or columns) are contiguous and start at multiples of the pitch, the first one at a multiple of 16 at
// least.
static int is_pitched(const ck_view *view, int pitch, ck_lines lines) {
    const int64_t item = (int64_t)ck_dtype_size(view->dtype), least = pitch < 16 ? pitch : 16;
    const int64_t *shape = &view->shape[view->ndim - 2], *strides = &view->strides[view->ndim - 2];
    if ((uintptr_t)view->data % (uintptr_t)least != 0) return 0;
    for (int i = 0; i < view->ndim - 2; i++)
        if (view->shape[i] != 1 && view->strides[i] % least != 0) return 0;
    return (lines != CK_COLUMNS && ck_view_rows_have_pitch(view, pitch)) ||
           (lines != CK_ROWS && (shape[0] == 1 || strides[0] == item) && (shape[1] == 1 || strides[1] % pitch == 0));
}

int ck_view_rows_have_pitch(const ck_view *view, int pitch) {
    const int n = view->ndim;
    return (view->shape[n - 1] == 1 || view->strides[n - 1] == (int64_t)ck_dtype_size(view->dtype)) &&
           (view->shape[n - 2] == 1 || view->strides[n - 2] % pitch == 0);
}

int ck_view_stack_axis(const ck_view *view, int64_t *length, int64_t *stride) {
    *length = 1;
    *stride = 0;
    for (int i = view->ndim - 3; i >= 0; i--) {
        if (view->shape[i] == 1 || view->strides[i] == 0) continue;
        if (*length == 1) *stride = view->strides[i];
        if (view->strides[i] != *stride * *length) return 0;
        *length *= view->shape[i];
    }
    return *stride >= 0;
}

static int is_boxed(const ck_view *view) {
    int64_t length, stride;
    for (int i = view->ndim - 2; i < view->ndim; i++)
        if (view->shape[i] != 1 && view->strides[i] <= 0) return 0;
    return ck_view_stack_axis(view, &length, &stride);
}

int ck_layout_holds(const ck_layout *layout, const ck_view *view, int is_output) {
    const uint64_t item = ck_dtype_size(view->dtype);
    uint64_t places = (uintptr_t)view->data;
    const int n = view->ndim;
    if (ck_view_is_empty(view)) return 1; // it is neither read nor written
    for (int i = 0; i < n; i++) {
        if (view->shape[i] == 1) continue;
        places |= (uint64_t)view->strides[i];
        if (is_output && view->strides[i] < 0)
            return 0; // kernels may assume that strides of outputs are not negative
    }
    if ((places & (item - 1)) != 0 || view->swapped) return 0; // element sizes are powers of two
    if (layout->contiguous && !ck_view_is_contiguous(view)) return 0;
    if (n >= 1 && !is_multiple(view->shape[n - 1], layout->column_multiple)) return 0;
    if (n < 2) return 1;
    return is_multiple(view->shape[n - 2], layout->row_multiple) &&
           (layout->pitch == 0 || is_pitched(view, layout->pitch, layout->lines)) &&
           (!layout->boxed || is_boxed(view));
}

// --- memory of the runtime ---------------------------------------------------------------------------------------
// Both functions change the value in place. They return 0 if the result overflows.
static int times(int64_t *value, int64_t by) {
    return !__builtin_mul_overflow(*value, by, value);
}
static int round_up(int64_t *value, int64_t multiple) {
    if (multiple <= 1) return 1;
    if (*value > INT64_MAX - multiple) return 0;
    *value = (*value + multiple - 1) / multiple * multiple;
    return 1;
}

// TMA fetches rows in lines of 128 bytes: rows of ours start at such lines.
static int pitch_of_copies(const ck_layout *layout) {
    return layout->boxed && layout->pitch < 128 ? 128 : layout->pitch;
}

int ck_layout_place(const ck_layout *layout, unsigned kept, int by_columns, int number, ck_view *view,
                    ck_stack *stack, ck_error *error) {
    const int n = view->ndim, inner = by_columns ? n - 2 : n - 1, outer = by_columns ? n - 1 : n - 2;
    const int64_t item = (int64_t)ck_dtype_size(view->dtype);
    int64_t lengths[CK_MAX_DIMS + 2];
    *stack = (ck_stack){0};
    for (int i = 0; i < n; i++) {
        lengths[i] = kept >> i & 1 ? 1 : view->shape[i];
        view->strides[i] = 0;
    }
    if (ck_view_is_empty(view)) return CK_OK;

    const int64_t rows = n >= 2 ? lengths[outer] : 1;
    int64_t bytes = n >= 1 ? lengths[inner] : 1, padded_rows = rows, matrices = 1;
    const int64_t columns = bytes;
    const int along = by_columns ? layout->row_multiple : layout->column_multiple;
    const int across = by_columns ? layout->column_multiple : layout->row_multiple;
    int fits = (n < 1 || round_up(&bytes, along)) && (n < 2 || round_up(&padded_rows, across)) && times(&bytes, item);
    const int64_t padded_row_bytes = bytes;
    fits = fits && (n < 2 || layout->pitch == 0 || round_up(&bytes, pitch_of_copies(layout)));
    const int64_t pitch = bytes;
    fits = fits && times(&bytes, padded_rows);
    for (int i = n - 3; fits && i >= 0; i--) {
        view->strides[i] = kept >> i & 1 ? 0 : bytes;
        fits = times(&bytes, lengths[i]) && times(&matrices, lengths[i]);
    }
    if (!fits)
        return ck_fail(error, CK_BAD_VALUE,
                       "operand %d would be too large on the device: its size in bytes does not fit in 64 bits",
                       number);
    if (n >= 2) view->strides[outer] = kept >> outer & 1 ? 0 : pitch;
    if (n >= 1) view->strides[inner] = kept >> inner & 1 ? 0 : item;
    *stack = (ck_stack){.matrices = matrices,
                        .rows = rows,
                        .padded_rows = padded_rows,
                        .row_bytes = (size_t)(columns * item),
                        .padded_row_bytes = (size_t)padded_row_bytes,
                        .pitch = (size_t)pitch,
                        .bytes = (size_t)bytes};
    return CK_OK;
}

// --- copies ------------------------------------------------------------------------------------------------------
void ck_blocks_between(const ck_view *host, const ck_view *device, ck_blocks *blocks) {
    ck_axis *axes = blocks->axes;
    int count = 0;
    *blocks = (ck_blocks){.run = ck_view_is_empty(host) ? 0 : ck_dtype_size(host->dtype)};
    if (blocks->run == 0) return;
    for (int i = 0; i < host->ndim; i++)
        if (host->shape[i] > 1 && device->strides[i] != 0)
            axes[count++] = (ck_axis){host->shape[i], host->strides[i], device->strides[i]};
    for (int i = 1; i < count; i++) // in the order of the device's memory
        for (int j = i; j > 0 && axes[j].device > axes[j - 1].device; j--) {
            const ck_axis axis = axes[j];
            axes[j] = axes[j - 1];
            axes[j - 1] = axis;
        }
    while (count > 0 && axes[count - 1].host == (int64_t)blocks->run &&
           axes[count - 1].device == axes[count - 1].host)
        blocks->run *= (size_t)axes[--count].length;
    for (int i = count - 2; i >= 0; i--) {
        const ck_axis inner = axes[i + 1];
        if (axes[i].host != inner.host * inner.length || axes[i].device != inner.device * inner.length) continue;
        axes[i] = (ck_axis){axes[i].length * inner.length, inner.host, inner.device};
        memmove(&axes[i + 1], &axes[i + 2], (size_t)(count - i - 2) * sizeof *axes);
        count--;
    }
    blocks->axis_count = count;
}

int ck_blocks_axis(const ck_blocks *blocks) {
    int longest = -1;
    for (int i = 0; i < blocks->axis_count; i++) {
        const ck_axis *axis = &blocks->axes[i];
        if (axis->host < (int64_t)blocks->run || axis->host > CK_LONGEST_PITCH || axis->device > CK_LONGEST_PITCH)
            continue;
        if (longest < 0 || axis->length > blocks->axes[longest].length) longest = i;
    }
    return longest;
}

void ck_view_pack(const ck_view *host, ck_packing *packing) {
    const int64_t item = (int64_t)ck_dtype_size(host->dtype);
    ck_view ascending = *host, copy = *host; // both as if no axis went backwards
    int64_t low, high, bytes = item;
    unsigned done = 0;
    ck_view_reach(host, &low, &high); // cannot fail: this was checked when the view was created
    for (int i = 0; i < host->ndim; i++)
        if (host->strides[i] < 0) ascending.strides[i] = -host->strides[i];
    for (int count = 0; count < host->ndim; count++) {
        // The smallest stride that is left, and of equal ones that of the last axis.
        int next = -1;
        for (int i = host->ndim - 1; i >= 0; i--)
            if (!(done >> i & 1) && (next < 0 || ascending.strides[i] < ascending.strides[next])) next = i;
        done |= 1u << next;
        copy.strides[next] = ascending.strides[next] == 0 ? 0 : bytes;
        if (ascending.strides[next] != 0) bytes *= host->shape[next];
    }
    *packing = (ck_packing){.view = copy, .lowest = (char *)host->data + low, .bytes = (size_t)bytes};
    ck_blocks_between(&ascending, &copy, &packing->blocks);
    for (int i = 0; i < host->ndim; i++)
        if (host->strides[i] < 0 && host->shape[i] > 1) {
            packing->view.strides[i] = -copy.strides[i];
            packing->first += copy.strides[i] * (host->shape[i] - 1);
        }
    packing->view.data = NULL;
    packing->view.swapped = host->swapped;
}
