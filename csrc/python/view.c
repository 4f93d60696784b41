// The type View, an array on the device, and the functions by which the other files access it.
//
//   View ---> ck_memory ---> device memory of ours, or an owner in another library that is released at the end
//
// Several Views share one memory. It is released with the last of them, or when the last work or export that uses it
// ends.
#include <string.h>

#include "python.h"

// --- creation and release ----------------------------------------------------------------------------------------
view *view_allocate(module_state *state) {
    if (state->view_type == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "arrays cannot be created because the interpreter is shutting down");
        return NULL;
    }
    view *fresh = PyObject_New(view, state->view_type);
    if (fresh != NULL) fresh->array.memory = NULL;
    return fresh;
}

void view_fill(view *view, ck_memory *memory, const ck_view *described, int read_only, int foreign) {
    view->array.memory = memory;
    view->array.view = *described;
    view->device = ck_memory_device(memory);
    view->read_only = read_only;
    view->foreign = foreign;
}

PyObject *view_create(module_state *state, ck_memory *memory, const ck_view *described, int read_only, int foreign) {
    view *fresh = view_allocate(state);
    if (fresh != NULL)
        view_fill(fresh, memory, described, read_only, foreign);
    else
        ck_memory_release(memory);
    return (PyObject *)fresh;
}

static void view_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ck_memory *memory = ((view *)self)->array.memory;
    if (memory != NULL && ck_memory_may_wait(memory)) {
        Py_BEGIN_ALLOW_THREADS
        ck_memory_release(memory);
        Py_END_ALLOW_THREADS
    } else { // the common case, which is so short that releasing Python's lock does not pay
        ck_memory_release(memory);
    }
    PyObject_Free(self);
    Py_DECREF(type); // an instance holds its heap type
}

void release_object(void *object) {
    if (!Py_IsInitialized()) return; // the interpreter is shutting down or has ended; the exiting process frees it
    const PyGILState_STATE held = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(held);
}

// --- attributes --------------------------------------------------------------------------------------------------
static const ck_view *described(PyObject *self) {
    return &((view *)self)->array.view;
}

static int64_t element_count(const ck_view *view) {
    int64_t count = 1;
    for (int axis = 0; axis < view->ndim; axis++)
        if (__builtin_mul_overflow(count, view->shape[axis], &count)) return INT64_MAX; // broadcast to a huge shape
    return count;
}

static PyObject *get_shape(PyObject *self, void *unused) {
    (void)unused;
    return make_integers(described(self)->shape, described(self)->ndim);
}

static PyObject *get_strides(PyObject *self, void *unused) {
    (void)unused;
    return make_integers(described(self)->strides, described(self)->ndim);
}

static PyObject *get_dtype(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_InternFromString(ck_dtype_name(described(self)->dtype));
}

static PyObject *get_pointer(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(described(self)->data);
}

static PyObject *get_nbytes(PyObject *self, void *unused) {
    (void)unused;
    PyObject *count = PyLong_FromLongLong(element_count(described(self)));
    PyObject *size = PyLong_FromSize_t(ck_dtype_size(described(self)->dtype));
    PyObject *bytes = count && size ? PyNumber_Multiply(count, size) : NULL;
    Py_XDECREF(count);
    Py_XDECREF(size);
    return bytes;
}

static PyObject *get_device(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(((view *)self)->device);
}

static PyObject *get_read_only(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((view *)self)->read_only);
}

static PyObject *get_foreign(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(((view *)self)->foreign);
}

static PyObject *get_contiguous(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(ck_view_is_contiguous(described(self)));
}

static PyObject *view_repr(PyObject *self) {
    PyObject *shape = get_shape(self, NULL), *strides = shape ? get_strides(self, NULL) : NULL, *text = NULL;
    if (strides != NULL)
        text = PyUnicode_FromFormat("<cudakern." QUOTE(CK_MODULE) ".View %s %R, strides %R, device %d, %p%s%s>",
                                    ck_dtype_name(described(self)->dtype), shape, strides, ((view *)self)->device,
                                    described(self)->data, ((view *)self)->read_only ? ", read-only" : "",
                                    ((view *)self)->foreign ? ", foreign" : "");
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    return text;
}

// --- arguments ---------------------------------------------------------------------------------------------------
static view *explain_no_view(PyObject *object, const char *what) {
    PyObject *type = PyType_GetQualName(Py_TYPE(object));
    PyObject *home = type ? PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__module__") : NULL;
    const char *module = home && PyUnicode_Check(home) ? PyUnicode_AsUTF8AndSize(home, NULL) : NULL;
    if (module != NULL && strncmp(module, "cudakern.", 9) == 0 && PyUnicode_CompareWithASCIIString(type, "View") == 0)
        PyErr_Format(PyExc_TypeError,
                     "%s is an array of another backend (%s), but this is cudakern.%s; copy it to the host first",
                     what, module, QUOTE(CK_MODULE));
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s is a %S, not a View of cudakern.%s", what, type, QUOTE(CK_MODULE));
    Py_XDECREF(type);
    Py_XDECREF(home);
    return NULL;
}

view *read_view(const module_state *state, PyObject *object, const char *what) {
    return is_view(state, object) ? (view *)object : explain_no_view(object, what);
}

int check_writable(const view *view, const char *role, int number) {
    if (view->read_only) {
        PyErr_Format(PyExc_ValueError, "%s is read-only. Pass a writable array, such as a copy of it",
                     label_of(role, number).text);
        return -1;
    }
    for (int axis = 0; axis < view->array.view.ndim && !ck_view_is_empty(&view->array.view); axis++) {
        if (view->array.view.strides[axis] != 0 || view->array.view.shape[axis] < 2) continue;
        PyErr_Format(PyExc_ValueError,
                     "%s has %lld elements along axis %d that share their memory, because it was broadcast, so it "
                     "cannot be written. Pass a copy of it",
                     label_of(role, number).text, (long long)view->array.view.shape[axis], axis);
        return -1;
    }
    return 0;
}

// --- the type ----------------------------------------------------------------------------------------------------
static PyGetSetDef view_attributes[] = {
    {"shape", get_shape, NULL, PyDoc_STR("Lengths of the axes."), NULL},
    {"strides", get_strides, NULL, PyDoc_STR("Bytes from one element to the next, along each axis."), NULL},
    {"dtype", get_dtype, NULL, PyDoc_STR("The elements' type: NumPy's name, or 'bfloat16'."), NULL},
    {"pointer", get_pointer, NULL, PyDoc_STR("Address of the first element (index 0 in every axis)."), NULL},
    {"nbytes", get_nbytes, NULL, PyDoc_STR("The size of the elements in bytes, not of the memory."), NULL},
    {"device", get_device, NULL, PyDoc_STR("Index of the device."), NULL},
    {"read_only", get_read_only, NULL, PyDoc_STR("True if this package may not write to it."), NULL},
    {"foreign", get_foreign, NULL, PyDoc_STR("True for another library's memory."), NULL},
    {"contiguous", get_contiguous, NULL, PyDoc_STR("True if contiguous in C order."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject *make_view_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("Device memory as an array; it never changes.")},
        {Py_tp_dealloc, (void *)view_dealloc},
        {Py_tp_repr, (void *)view_repr},
        {Py_tp_getset, view_attributes},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "cudakern." QUOTE(CK_MODULE) ".View",
        .basicsize = sizeof(view),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
