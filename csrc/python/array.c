// Creates arrays on the device: in new memory, in another array's memory, in another library's memory.
#include "python.h"

// Reads strides from a tuple with as many items as the shape has axes. None: C order.
static int read_strides(PyObject *object, ck_view *described) {
    if (object == Py_None) return 0;
    const int count = read_integers(object, "strides", CK_MAX_DIMS, described->strides);
    if (count < 0) return -1;
    if (count == described->ndim) return 0;
    PyErr_Format(PyExc_ValueError, "%d strides do not match a shape of %d axes", count, described->ndim);
    return -1;
}

static int too_large(const ck_view *described) {
    PyObject *shape = make_integers(described->shape, described->ndim);
    if (shape != NULL)
        PyErr_Format(PyExc_ValueError,
                     "an array of shape %R and type %s is too large: its size in bytes exceeds the address space",
                     shape, ck_dtype_name(described->dtype));
    Py_XDECREF(shape);
    return -1;
}

// --- functions ---------------------------------------------------------------------------------------------------
static PyObject *empty(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_view described = {.data = NULL};
    ck_memory *memory = NULL;
    ck_error error = {0};
    cudaStream_t stream;
    outside outside;
    int dtype, device;
    if (check_count("empty(shape, dtype, device, stream)", count, 4) < 0 ||
        read_shape(arguments[0], &described) < 0 || read_dtype(arguments[1], &dtype) < 0 ||
        read_int(arguments[2], "device", &device) < 0 || read_stream(arguments[3], &stream) < 0)
        return NULL;
    ck_view_lay_out(&described, dtype);
    // As in NumPy, the size without axes of length 0 must not overflow either.
    int64_t bytes = (int64_t)ck_dtype_size(dtype);
    int no_element = 0;
    for (int axis = 0; axis < described.ndim; axis++) {
        no_element |= described.shape[axis] == 0;
        if (described.shape[axis] > 0 && __builtin_mul_overflow(bytes, described.shape[axis], &bytes))
            return too_large(&described), NULL;
    }
    outside_begin(&outside, state);
    const int status =
        ck_memory_allocate(state->runtime, device, no_element ? 0 : (size_t)bytes, stream, &memory, &error);
    if (outside_end(&outside, status, &error) < 0) {
        ck_memory_release(memory);
        return NULL;
    }
    described.data = ck_memory_data(memory);
    return view_create(state, memory, &described, 0, 0);
}

// Places the view's first element `offset` bytes after the base's, if all its elements are inside the memory.
static int place(ck_view *described, const ck_array *base, int64_t offset) {
    char *data = ck_memory_data(base->memory);
    const int64_t bytes = (int64_t)ck_memory_bytes(base->memory);
    int64_t start = (int64_t)((uintptr_t)base->view.data - (uintptr_t)data), low, high, first, last;
    int overflow = ck_view_reach(described, &low, &high) < 0 || __builtin_add_overflow(start, offset, &start);
    if (ck_view_is_empty(described)) { // any address inside the memory will do
        described->data = data + (overflow || start < 0 ? 0 : start > bytes ? bytes : start);
        return 0;
    }
    overflow = overflow || __builtin_add_overflow(start, low, &first) || __builtin_add_overflow(start, high, &last);
    if (overflow) return too_large(described);
    if (first >= 0 && last <= bytes) {
        described->data = data + start;
        return 0;
    }
    PyErr_Format(PyExc_ValueError, "the view spans bytes %lld to %lld, outside its memory of %lld bytes",
                 (long long)first, (long long)last, (long long)bytes);
    return -1;
}

static PyObject *view_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_view described = {.data = NULL};
    int64_t offset;
    int dtype;
    if (check_count("view(base, offset, shape, strides, dtype)", count, 5) < 0) return NULL;
    const view *base = read_view(state, arguments[0], "base");
    if (base == NULL) return NULL;
    offset = PyLong_AsLongLong(arguments[1]);
    if (offset == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_ValueError, "offset is %R, which does not fit in 64 bits", arguments[1]);
        return NULL;
    }
    if (read_shape(arguments[2], &described) < 0 || read_dtype(arguments[4], &dtype) < 0) return NULL;
    ck_view_lay_out(&described, dtype);
    if (read_strides(arguments[3], &described) < 0) return NULL;
    if (place(&described, &base->array, offset) < 0) return NULL;
    ck_memory_retain(base->array.memory);
    return view_create(state, base->array.memory, &described, base->read_only, base->foreign);
}

static PyObject *adopt(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_view described = {.data = NULL};
    ck_memory *memory = NULL;
    ck_error error = {0};
    outside outside;
    int64_t low, high;
    uintptr_t pointer, end;
    int dtype, device;
    if (check_count("adopt(owner, pointer, shape, strides, dtype, device, read_only)", count, 7) < 0 ||
        read_handle(arguments[1], "pointer", &pointer) < 0 || read_shape(arguments[2], &described) < 0 ||
        read_dtype(arguments[4], &dtype) < 0 || read_int(arguments[5], "device", &device) < 0)
        return NULL;
    const int read_only = PyObject_IsTrue(arguments[6]);
    if (read_only < 0) return NULL;
    ck_view_lay_out(&described, dtype);
    if (read_strides(arguments[3], &described) < 0) return NULL;
    if (ck_view_reach(&described, &low, &high) < 0) return too_large(&described), NULL;
    if (pointer == 0 && low != high) {
        PyErr_SetString(PyExc_ValueError, "pointer is 0, but the array has elements");
        return NULL;
    }
    if (pointer < (uintptr_t)-low || __builtin_add_overflow(pointer, (uintptr_t)high, &end)) {
        PyErr_Format(PyExc_ValueError,
                     "the array spans bytes %lld to %lld relative to its pointer %R, outside the address space",
                     (long long)low, (long long)high, arguments[1]);
        return NULL;
    }
    described.data = (void *)pointer;
    Py_INCREF(arguments[0]);
    outside_begin(&outside, state);
    const int status = ck_memory_adopt(state->runtime, device, (void *)(pointer - (uintptr_t)-low),
                                       (size_t)(high - low), release_object, arguments[0], &memory, &error);
    if (outside_end(&outside, status, &error) < 0) {
        if (status == CK_OK)
            ck_memory_release(memory);
        else
            Py_DECREF(arguments[0]);
        return NULL;
    }
    return view_create(state, memory, &described, read_only, 1);
}

static PyObject *overlap(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    const module_state *state = state_of(module);
    if (check_count("overlap(a, b)", count, 2) < 0) return NULL;
    const view *a = read_view(state, arguments[0], "a");
    const view *b = a ? read_view(state, arguments[1], "b") : NULL;
    return b ? PyBool_FromLong(ck_view_overlap(&a->array.view, &b->array.view)) : NULL;
}

PyMethodDef array_methods[] = {
    {"empty", FAST(empty),
     PyDoc_STR("empty(shape, dtype, device, stream, /)\n--\n\nNew memory as a View in C order; not initialized.")},
    {"view", FAST(view_of),
     PyDoc_STR("view(base, offset, shape, strides, dtype, /)\n--\n\n"
               "A View of the same memory; offset in bytes from base.pointer. ValueError if it extends outside.")},
    {"adopt", FAST(adopt),
     PyDoc_STR("adopt(owner, pointer, shape, strides, dtype, device, read_only, /)\n--\n\n"
               "Another library's memory as a View; keeps a reference to owner as long as the memory is in use.")},
    {"overlap", FAST(overlap),
     PyDoc_STR("overlap(a, b, /)\n--\n\nTrue if the ranges of addresses overlap, so a and b may have common bytes.")},
    {NULL, NULL, 0, NULL},
};
