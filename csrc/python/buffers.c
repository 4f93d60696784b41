// Host arrays through the buffer protocol, without NumPy in C.
//
// The same type may have several formats ("l" or "q", "=i"), so the kind of the format and the item's size decide.
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

// Returns 0 if the format is supported.
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

int buffer_dtype(const Py_buffer *buffer) {
    ck_view view;
    return parse_format(buffer->format, buffer->itemsize, &view) == 0 && !view.swapped ? view.dtype : -1;
}

static int describe(const Py_buffer *buffer, const char *role, int number, ck_view *view) {
    if (parse_format(buffer->format, buffer->itemsize, view) < 0) {
        PyErr_Format(PyExc_TypeError,
                     "%s has the buffer format '%s' with items of %zd bytes; supported are bool, integers, float16, "
                     "float32, float64, complex64 and complex128",
                     label_of(role, number).text, buffer->format ? buffer->format : "B", buffer->itemsize);
        return -1;
    }
    if (buffer->ndim > CK_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s has %d dimensions; at most %d are allowed. Reshape it",
                     label_of(role, number).text, buffer->ndim, CK_MAX_DIMS);
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
    return 0;
}

// bfloat16 has no buffer format, so its arrays are passed as a pair: uint16 and the name.
static int split_pair(PyObject **array, const char *role, int number, int *dtype) {
    *dtype = -1;
    if (!PyTuple_Check(*array)) return 0;
    PyObject *name = PyTuple_Size(*array) == 2 ? PyTuple_GetItem(*array, 1) : NULL;
    if (name == NULL || !PyUnicode_Check(name) || PyUnicode_CompareWithASCIIString(name, "bfloat16") != 0) {
        PyErr_Format(PyExc_TypeError, "%s is a tuple but not a pair (array of uint16, 'bfloat16'): %R",
                     label_of(role, number).text, *array);
        return -1;
    }
    *dtype = CK_BFLOAT16;
    *array = PyTuple_GetItem(*array, 0);
    return 0;
}

static int explain_no_buffer(PyObject *array, const char *role, int number) {
    PyObject *type = PyType_GetQualName(Py_TYPE(array));
    if (type != NULL)
        PyErr_Format(PyExc_TypeError, "%s is a %U, not an array. Convert it with numpy.asarray(x)",
                     label_of(role, number).text, type);
    Py_XDECREF(type);
    return -1;
}

int buffers_take(buffers *buffers, PyObject *array, const char *role, int number, int writable, ck_view *view) {
    Py_buffer *buffer = &buffers->held[buffers->count];
    int dtype;
    if (split_pair(&array, role, number, &dtype) < 0) return -1;
    if (PyObject_GetBuffer(array, buffer, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) < 0) {
        if (!PyObject_CheckBuffer(array)) return explain_no_buffer(array, role, number);
        if (!writable) return -1;
        PyErr_Clear();
        if (PyObject_GetBuffer(array, buffer, PyBUF_RECORDS_RO) < 0) return -1;
        PyBuffer_Release(buffer);
        PyErr_Format(PyExc_ValueError, "%s is read-only. Pass a writable array", label_of(role, number).text);
        return -1;
    }
    buffers->count++;
    if (describe(buffer, role, number, view) < 0) return -1;
    if (dtype < 0) return 0;
    if (view->dtype != CK_UINT16) {
        PyErr_Format(PyExc_TypeError, "%s is an array of %s; pass bfloat16 values as an array of uint16",
                     label_of(role, number).text, ck_dtype_name(view->dtype));
        return -1;
    }
    view->dtype = dtype;
    return 0;
}

void buffers_release(buffers *buffers) {
    while (buffers->count > 0) PyBuffer_Release(&buffers->held[--buffers->count]);
}
