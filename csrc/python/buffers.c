// Arrays by the buffer protocol: no NumPy in C.
//
// Formats vary for the same type ("l" or "q", "=i", ">f", "Zf"): the kind and the item's size decide.
#include <string.h>

#include "python.h"

static const struct {
    char kind;
    int size, dtype;
} formats[] = {
    {'?', 1, CK_BOOL},      {'i', 1, CK_INT8},        {'u', 1, CK_UINT8},   {'i', 2, CK_INT16},
    {'u', 2, CK_UINT16},    {'i', 4, CK_INT32},       {'u', 4, CK_UINT32},  {'i', 8, CK_INT64},
    {'u', 8, CK_UINT64},    {'f', 2, CK_FLOAT16},     {'f', 4, CK_FLOAT32}, {'f', 8, CK_FLOAT64},
    {'c', 8, CK_COMPLEX64}, {'c', 16, CK_COMPLEX128},
};

// 0 when the format is one of ours.
static int parse_format(const char *format, Py_ssize_t size, ck_view *view) {
    const int little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    int other_order = 0;
    char kind = 0;
    if (format == NULL) format = "B";
    if (*format == '<' || *format == '>' || *format == '!')
        other_order = (*format++ == '<') != little;
    else if (*format == '=' || *format == '@')
        format++;
    if (*format != '\0' && strchr("bhilqn", *format)) kind = 'i';
    if (*format != '\0' && strchr("BHILQN", *format)) kind = 'u';
    if (*format != '\0' && strchr("efd", *format)) kind = 'f';
    if (*format == '?') kind = '?';
    if (*format == 'Z' && format[1] != '\0' && strchr("fd", format[1])) kind = 'c', format++;
    if (kind == 0 || format[1] != '\0') return -1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].kind != kind || formats[i].size != size) continue;
        view->dtype = formats[i].dtype;
        view->swapped = other_order && size > 1;
        return 0;
    }
    return -1;
}

static int describe(const Py_buffer *buffer, const char *role, int number, int writable, ck_view *view) {
    memset(view, 0, sizeof *view);
    if (parse_format(buffer->format, buffer->itemsize, view) < 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s %d has the buffer format '%s' with items of %zd bytes. Taken are bool, integers, float16, "
                     "float32, float64, complex64 and complex128",
                     role, number, buffer->format ? buffer->format : "B", buffer->itemsize);
        return -1;
    }
    if (buffer->ndim > CK_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s %d has %d dimensions, at most %d are taken. Reshape it", role, number,
                     buffer->ndim, CK_MAX_DIMS);
        return -1;
    }
    view->data = buffer->buf;
    view->ndim = buffer->ndim;
    Py_ssize_t stride = buffer->itemsize;
    for (int i = buffer->ndim - 1; i >= 0; i--) {
        view->shape[i] = buffer->shape[i];
        view->strides[i] = buffer->strides ? buffer->strides[i] : stride;
        stride *= buffer->shape[i];
    }
    // Copies take any address; what the host writes itself, the sum of partial results, it writes as an element.
    if (writable && (uintptr_t)view->data % (size_t)(buffer->itemsize > 8 ? 8 : buffer->itemsize) != 0) {
        PyErr_Format(PyExc_ValueError, "%s %d is not aligned. Make it so: np.require(x, requirements='A')", role,
                     number);
        return -1;
    }
    return 0;
}

static int take_one(buffers *buffers, PyObject *array, const char *role, int number, int writable) {
    Py_buffer *buffer = &buffers->held[buffers->count];
    if (PyObject_GetBuffer(array, buffer, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0) {
        if (!PyObject_CheckBuffer(array)) {
            PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(array), "__name__");
            PyErr_Format(PyExc_TypeError, "%s %d is a %V, not an array: take numpy.asarray(x)", role, number, type,
                         "?");
            Py_XDECREF(type);
            return -1;
        }
        if (!writable) return -1;
        PyErr_Clear();
        if (PyObject_GetBuffer(array, buffer, PyBUF_RECORDS_RO) < 0) return -1;
        PyBuffer_Release(buffer);
        PyErr_Format(PyExc_ValueError, "%s %d is read-only. Give an array that can be written", role, number);
        return -1;
    }
    buffers->count++;
    return describe(buffer, role, number, writable, &buffers->views[buffers->count - 1]);
}

int buffers_take(buffers *buffers, PyObject *arrays, const char *role, int writable) {
    if (!PyTuple_Check(arrays)) {
        PyErr_Format(PyExc_TypeError, "%ss must be a tuple of arrays", role);
        return -1;
    }
    const Py_ssize_t count = PyTuple_Size(arrays);
    if (count > CK_MAX_VIEWS - buffers->count) {
        PyErr_Format(PyExc_ValueError, "%zd %ss were given; a call has at most %d arrays", count, role, CK_MAX_VIEWS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (take_one(buffers, PyTuple_GetItem(arrays, i), role, (int)i, writable) < 0) return -1;
    return 0;
}

void buffers_release(buffers *buffers) {
    while (buffers->count > 0) PyBuffer_Release(&buffers->held[--buffers->count]);
}
