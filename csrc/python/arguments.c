// Converts Python's numbers, names and tuples to C.
#include <math.h>
#include <string.h>

#include "python.h"

int check_count(const char *usage, Py_ssize_t count, Py_ssize_t expected) {
    if (count == expected) return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", usage, expected, count);
    return -1;
}

label label_of(const char *role, int number) {
    label label;
    if (number < 0)
        PyOS_snprintf(label.text, sizeof label.text, "%s", role);
    else
        PyOS_snprintf(label.text, sizeof label.text, "%s %d", role, number);
    return label;
}

// --- numbers and names -------------------------------------------------------------------------------------------
// Replaces Python's exception by our message if the object is not an integer or is too large.
static int explain(PyObject *object, const char *what, const char *holder) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, object);
    else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s is %R, which %s", what, object, holder);
    return -1;
}

int read_int(PyObject *object, const char *what, int *value) {
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred()) return explain(object, what, "does not fit in 32 bits");
    if (number < INT_MIN || number > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is %R, which does not fit in 32 bits", what, object);
        return -1;
    }
    *value = (int)number;
    return 0;
}

int read_handle(PyObject *object, const char *what, uintptr_t *value) {
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return explain(object, what, "");
    const unsigned long long handle = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (handle == (unsigned long long)-1 && PyErr_Occurred())
        return explain(object, what, "is negative or needs more than 64 bits");
    *value = (uintptr_t)handle;
    return 0;
}

int read_stream(PyObject *object, cudaStream_t *stream) {
    uintptr_t handle;
    if (read_handle(object, "stream", &handle) < 0) return -1;
    *stream = ck_stream_of((int64_t)handle);
    return 0;
}

int write_number(PyObject *object, int dtype, void *value) {
    const int is_signed = dtype == CK_INT8 || dtype == CK_INT16 || dtype == CK_INT32 || dtype == CK_INT64;
    const int is_unsigned = dtype == CK_UINT8 || dtype == CK_UINT16 || dtype == CK_UINT32 || dtype == CK_UINT64;
    if (!PyLong_Check(object) && !PyFloat_Check(object)) return 0;
    if (dtype == CK_FLOAT32 || dtype == CK_FLOAT64 || dtype == CK_COMPLEX64 || dtype == CK_COMPLEX128) {
        const double doubles[2] = {PyFloat_AsDouble(object), 0};
        const float singles[2] = {(float)doubles[0], 0};
        const int narrow = dtype == CK_FLOAT32 || dtype == CK_COMPLEX64;
        if (narrow && isinf(singles[0]) && !isinf(doubles[0])) return 0; // Python's conversion warns of this
        memcpy(value, narrow ? (const void *)singles : (const void *)doubles, ck_dtype_size(dtype));
    } else if (PyLong_Check(object) && (is_signed || is_unsigned || dtype == CK_BOOL)) {
        const size_t bytes = ck_dtype_size(dtype);
        const int bits = dtype == CK_BOOL ? 1 : 8 * (int)bytes;
        const long long number = is_signed ? PyLong_AsLongLong(object) : (long long)PyLong_AsUnsignedLongLong(object);
        const unsigned long long rest = is_signed   ? (unsigned long long)((number >> (bits - 1)) ^ (number >> 63))
                                        : bits < 64 ? (unsigned long long)number >> bits
                                                    : 0;
        if (rest != 0) {
            PyErr_Clear(); // a negative number for an unsigned type
            return 0;
        }
        memcpy(value, &number, bytes); // (every processor that CUDA supports is little-endian)
    } else {
        return 0;
    }
    if (PyErr_Occurred() == NULL) return 1;
    PyErr_Clear(); // too large
    return 0;
}

const char *read_text(PyObject *object, const char *what) {
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", what, object);
        return NULL;
    }
    Py_ssize_t bytes = 0;
    const char *text = PyUnicode_AsUTF8AndSize(object, &bytes);
    if (text != NULL && strlen(text) == (size_t)bytes) return text;
    if (text == NULL) { // lone surrogates, by which Python represents bytes that are not UTF-8
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Format(PyExc_ValueError, "%s contains characters that UTF-8 cannot encode: %R", what, object);
        return NULL;
    }
    PyErr_Format(PyExc_ValueError, "%s contains a null character: %R", what, object);
    return NULL;
}

int read_integers(PyObject *object, const char *what, int limit, int64_t *values) {
    if (!PyTuple_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple of integers, not %R", what, object);
        return -1;
    }
    const Py_ssize_t count = PyTuple_Size(object);
    if (count > limit) {
        PyErr_Format(PyExc_ValueError, "%s has %zd items; at most %d are allowed", what, count, limit);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(object, i);
        values[i] = PyLong_AsLongLong(item);
        if (values[i] != -1 || !PyErr_Occurred()) continue;
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError, "%s must contain integers, not %R", what, item);
        else if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_ValueError, "%s contains %R, which does not fit in 64 bits", what, item);
        return -1;
    }
    return (int)count;
}

int read_shape(PyObject *object, ck_view *view) {
    if (PyTuple_Check(object) && PyTuple_Size(object) > CK_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "a shape has %zd axes; at most %d are allowed. Reshape the array",
                     PyTuple_Size(object), CK_MAX_DIMS);
        return -1;
    }
    const int ndim = read_integers(object, "a shape", CK_MAX_DIMS, view->shape);
    if (ndim < 0) return -1;
    for (int axis = 0; axis < ndim; axis++) {
        if (view->shape[axis] >= 0) continue;
        PyErr_Format(PyExc_ValueError, "a shape has the negative length %lld", (long long)view->shape[axis]);
        return -1;
    }
    view->ndim = ndim;
    return 0;
}

int read_shapes(PyObject *shapes, ck_view *views) {
    if (!PyTuple_Check(shapes) || PyTuple_Size(shapes) > CK_MAX_VIEWS) {
        PyErr_Format(PyExc_TypeError, "shapes must be a tuple of at most %d tuples of integers, not %R", CK_MAX_VIEWS,
                     shapes);
        return -1;
    }
    const int count = (int)PyTuple_Size(shapes);
    for (int i = 0; i < count; i++)
        if (read_shape(PyTuple_GetItem(shapes, i), &views[i]) < 0) return -1;
    return count;
}

int read_dtype(PyObject *object, int *dtype) {
    const char *name = read_text(object, "a dtype's name");
    if (name == NULL) return -1;
    *dtype = ck_dtype_from_name(name);
    if (*dtype >= 0) return 0;
    PyErr_Format(PyExc_TypeError, "unknown dtype '%s'; use a NumPy name such as 'float32'", name);
    return -1;
}

PyObject *make_integers(const int64_t *values, int count) {
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(values[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}
