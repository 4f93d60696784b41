// An operand on its way: how it lies on the device, the copy there, the copy back.
//
//        <--- row_bytes --->
//        <---- padded_row_bytes ---->
//        <------------ device_pitch ------------>
//       +-------------------+--------+-----------+
//       | the caller's rows | zeros  | never read|    rows
//       +-------------------+--------+           |
//       | zeros                      |           |    up to padded_rows
//       +----------------------------+-----------+
//
// A 1-D array is one row; an array of more than two dimensions, or of none, is one row without padding. Zeros are
// written for inputs only.
#include <string.h>

#include "runtime.h"

static int64_t round_up(int64_t value, int64_t multiple) {
    return multiple > 1 ? (value + multiple - 1) / multiple * multiple : value;
}

int ck_operand_layout(const ck_view *host, int number, int row_multiple, int column_multiple, int pitched,
                      ck_operand *operand, ck_error *error) {
    const int64_t item = (int64_t)ck_dtype_size(host->dtype);
    int64_t elements = 1, bytes;
    *operand = (ck_operand){.host = *host, .device = *host};
    operand->device.data = NULL;
    if (host->swapped)
        return ck_fail(error, CK_BAD_VALUE, "layout",
                       "operand %d has its bytes in the other order. Convert it: x.astype(x.dtype.newbyteorder('='))",
                       number);
    int empty = 0;
    for (int i = 0; i < host->ndim; i++) empty |= host->shape[i] == 0;
    for (int i = 0; i < host->ndim && !empty; i++)
        if (__builtin_mul_overflow(elements, host->shape[i], &elements)) elements = INT64_MAX;
    if (empty) elements = 0;

    const int matrix = host->ndim == 2;
    int64_t rows = matrix ? host->shape[0] : 1, columns = matrix ? host->shape[1] : elements;
    const int padded = host->ndim == 1 || matrix;
    operand->padded_rows = matrix ? round_up(rows, row_multiple) : 1;
    const int64_t padded_columns = padded ? round_up(columns, column_multiple) : columns;
    if (__builtin_mul_overflow(padded_columns, item, &bytes) || bytes > INT64_MAX - CK_PITCH ||
        __builtin_mul_overflow(pitched && matrix ? round_up(bytes, CK_PITCH) : bytes, operand->padded_rows,
                               &elements))
        return ck_fail(error, CK_BAD_VALUE, "layout", "operand %d has more bytes than an address can count", number);
    operand->rows = empty ? 0 : rows;
    operand->row_bytes = (size_t)(columns * item);
    operand->padded_row_bytes = (size_t)bytes;
    operand->device_pitch = (size_t)(pitched && matrix ? round_up(bytes, CK_PITCH) : bytes);
    operand->host_pitch = operand->row_bytes;

    // The caller's strides: any distance between the rows of a matrix, else no gaps.
    int64_t expected = item;
    for (int i = host->ndim - 1; i >= 0 && !empty; i--) {
        const int free_distance = matrix && i == 0 && host->strides[0] >= expected;
        if (host->shape[i] > 1 && host->strides[i] != expected && !free_distance)
            return ck_fail(error, CK_BAD_VALUE, "layout",
                           "operand %d has stride %lld in axis %d, expected %lld%s. Make it contiguous: "
                           "np.ascontiguousarray(x)",
                           number, (long long)host->strides[i], i, (long long)expected,
                           matrix && i == 0 ? " or more" : "");
        if (host->shape[i] > 1 && free_distance) operand->host_pitch = (size_t)host->strides[0];
        expected *= host->shape[i];
    }
    int64_t stride = item;
    for (int i = host->ndim - 1; i >= 0; i--) {
        operand->device.strides[i] = stride;
        stride *= host->shape[i];
    }
    if (matrix) operand->device.strides[0] = (int64_t)operand->device_pitch;
    return CK_OK;
}

int ck_operand_allocate(ck_operand *operand, ck_device *device, cudaStream_t stream, ck_error *error) {
    CK_TRY(ck_pool_allocate(device, operand->device_pitch * (size_t)operand->padded_rows, stream, &operand->memory,
                            error));
    operand->device.data = operand->memory.data;
    return CK_OK;
}

int64_t ck_operand_bytes(const ck_operand *operand) {
    return operand->rows * (int64_t)operand->row_bytes;
}

static int copy(const ck_operand *operand, int inwards, cudaStream_t stream, ck_error *error) {
    const size_t rows = (size_t)operand->rows, width = operand->row_bytes;
    void *host = operand->host.data, *device = operand->memory.data;
    if (rows * width == 0) return CK_OK;
    if (rows == 1 || (operand->host_pitch == width && operand->device_pitch == width)) {
        if (inwards)
            CK_CUDA(error, cudaMemcpyAsync(device, host, rows * width, cudaMemcpyHostToDevice, stream));
        else
            CK_CUDA(error, cudaMemcpyAsync(host, device, rows * width, cudaMemcpyDeviceToHost, stream));
        return CK_OK;
    }
    const size_t host_pitch = operand->host_pitch, pitch = operand->device_pitch;
    if (inwards)
        CK_CUDA(error,
                cudaMemcpy2DAsync(device, pitch, host, host_pitch, width, rows, cudaMemcpyHostToDevice, stream));
    else
        CK_CUDA(error,
                cudaMemcpy2DAsync(host, host_pitch, device, pitch, width, rows, cudaMemcpyDeviceToHost, stream));
    return CK_OK;
}

int ck_operand_copy_in(const ck_operand *operand, cudaStream_t stream, ck_error *error) {
    char *start = operand->memory.data;
    const size_t width = operand->padded_row_bytes - operand->row_bytes, pitch = operand->device_pitch;
    const size_t rows = (size_t)operand->rows, missing = (size_t)operand->padded_rows - rows;
    CK_TRY(copy(operand, 1, stream, error));
    if (width > 0 && rows > 0)
        CK_CUDA(error, cudaMemset2DAsync(start + operand->row_bytes, pitch, 0, width, rows, stream));
    if (missing > 0 && pitch > 0) CK_CUDA(error, cudaMemsetAsync(start + rows * pitch, 0, missing * pitch, stream));
    return CK_OK;
}

int ck_operand_copy_out(const ck_operand *operand, cudaStream_t stream, ck_error *error) {
    return copy(operand, 0, stream, error);
}
