// Copies between arrays: to the device, from it, within it.
#include "python.h"

// Returns 0 if the host's array is suitable for a transfer: of the same shape and type.
static int check_host(const ck_view *host, const char *role, const ck_view *device) {
    if (!ck_view_same_shape(host, device)) {
        PyObject *host_shape = make_integers(host->shape, host->ndim);
        PyObject *expected = host_shape ? make_integers(device->shape, device->ndim) : NULL;
        if (expected != NULL)
            PyErr_Format(PyExc_ValueError, "%s has shape %R, but the array on the device has shape %R", role,
                         host_shape, expected);
        Py_XDECREF(host_shape);
        Py_XDECREF(expected);
        return -1;
    }
    if (host->dtype != device->dtype) {
        PyErr_Format(PyExc_TypeError,
                     "%s has type %s, but the array on the device has type %s. Convert it with .astype()", role,
                     ck_dtype_name(host->dtype), ck_dtype_name(device->dtype));
        return -1;
    }
    return 0;
}

// Copies between host and device. `there` is the array on the device, whichever of the two is written.
static PyObject *exchange(PyObject *module, PyObject *there, PyObject *here, PyObject *stream_argument, int upload) {
    const char *role = upload ? "source" : "into"; // the role of the host's array
    module_state *state = state_of(module);
    buffers buffers = {.count = 0};
    ck_view host;
    ck_error error = {0};
    cudaStream_t stream;
    outside outside;
    PyObject *result = NULL;
    const view *view = read_view(state, there, upload ? "to" : "source");
    if (view == NULL || (upload && check_writable(view, "to", -1) < 0) || read_stream(stream_argument, &stream) < 0)
        return NULL;
    const ck_array *array = &view->array;
    if (buffers_take(&buffers, here, role, -1, !upload, &host) == 0 && check_host(&host, role, &array->view) == 0) {
        outside_begin(&outside, state);
        const int status = upload ? ck_array_upload(state->runtime, array, &host, stream, &outside.waiter, &error)
                                  : ck_array_download(state->runtime, &host, array, stream, &outside.waiter, &error);
        if (outside_end(&outside, status, &error) == 0) result = none();
    }
    buffers_release(&buffers);
    return result;
}

static PyObject *upload(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (check_count("upload(to, source, stream)", count, 3) < 0) return NULL;
    return exchange(module, arguments[0], arguments[1], arguments[2], 1);
}

static PyObject *download(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (check_count("download(into, source, stream)", count, 3) < 0) return NULL;
    return exchange(module, arguments[1], arguments[0], arguments[2], 0);
}

static PyObject *copy(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    cudaStream_t stream;
    outside outside;
    if (check_count("copy(to, source, stream)", count, 3) < 0) return NULL;
    const view *to = read_view(state, arguments[0], "to");
    const view *source = to ? read_view(state, arguments[1], "source") : NULL;
    if (source == NULL || check_writable(to, "to", -1) < 0 || read_stream(arguments[2], &stream) < 0) return NULL;
    if (!ck_view_same_shape(&to->array.view, &source->array.view)) {
        PyErr_Format(PyExc_ValueError, "source and to must have the same shape, but they are %R and %R", source, to);
        return NULL;
    }
    outside_begin(&outside, state);
    const int status = ck_array_copy(state->runtime, &to->array, &source->array, stream, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *fill(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    cudaStream_t stream;
    outside outside;
    char *value;
    Py_ssize_t size;
    if (check_count("fill(to, value, stream)", count, 3) < 0) return NULL;
    const view *to = read_view(state, arguments[0], "to");
    if (to == NULL || check_writable(to, "to", -1) < 0 || PyBytes_AsStringAndSize(arguments[1], &value, &size) < 0 ||
        read_stream(arguments[2], &stream) < 0)
        return NULL;
    const size_t expected = ck_dtype_size(to->array.view.dtype);
    if ((size_t)size != expected) {
        PyErr_Format(PyExc_ValueError, "value has %zd bytes, but an element of %s has %zu", size,
                     ck_dtype_name(to->array.view.dtype), expected);
        return NULL;
    }
    outside_begin(&outside, state);
    const int status = ck_array_fill(state->runtime, &to->array, value, stream, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

PyMethodDef transfer_methods[] = {
    {"upload", FAST(upload),
     PyDoc_STR("upload(to, source, stream, /)\n--\n\nHost to device; source: a buffer of the same shape and type, of "
               "any strides and byte order. Returns when source may be used again.")},
    {"download", FAST(download),
     PyDoc_STR("download(into, source, stream, /)\n--\n\nDevice to host; returns when the copy is complete. into: a "
               "writable buffer, as for upload, of which no two elements share memory.")},
    {"copy", FAST(copy),
     PyDoc_STR("copy(to, source, stream, /)\n--\n\nEnqueues a copy from device to device; converts types as astype "
               "does. The "
               "shapes must be equal.")},
    {"fill", FAST(fill),
     PyDoc_STR(
         "fill(to, value, stream, /)\n--\n\nSets every element to value, the bytes of one element in native order.")},
    {NULL, NULL, 0, NULL},
};
