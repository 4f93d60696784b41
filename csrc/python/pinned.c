// Page-locked host memory as an object with the buffer protocol; freed when its last user is done.
#include "python.h"

typedef struct pinned {
    PyObject_HEAD module_state *state; // valid because the instance references its type, and the type its module
    void *data;
    Py_ssize_t nbytes;
} pinned;

static int pinned_getbuffer(PyObject *self, Py_buffer *buffer, int flags) {
    return PyBuffer_FillInfo(buffer, self, ((pinned *)self)->data, ((pinned *)self)->nbytes, 0, flags);
}

static void pinned_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ck_runtime *runtime = ((pinned *)self)->state->runtime;
    void *data = ((pinned *)self)->data;
    if (data != NULL) {
        Py_BEGIN_ALLOW_THREADS // CUDA may wait for the device before it unlocks memory
        ck_pinned_free(runtime, data);
        Py_END_ALLOW_THREADS
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *pinned_repr(PyObject *self) {
    return PyUnicode_FromFormat("<cudakern." QUOTE(CK_MODULE) ".Pinned, %zd bytes, %p>", ((pinned *)self)->nbytes,
                                ((pinned *)self)->data);
}

static PyObject *make_pinned(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    PyObject *number = PyNumber_Index(argument);
    const Py_ssize_t nbytes = number ? PyLong_AsSsize_t(number) : -1;
    Py_XDECREF(number);
    if (nbytes == -1 && PyErr_Occurred()) return NULL;
    if (nbytes < 0) {
        PyErr_Format(PyExc_ValueError, "nbytes must not be negative, but is %zd", nbytes);
        return NULL;
    }
    if (state->pinned_type == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "memory cannot be allocated because the interpreter is shutting down");
        return NULL;
    }
    pinned *fresh = PyObject_New(pinned, state->pinned_type);
    if (fresh == NULL) return NULL;
    fresh->state = state;
    fresh->data = NULL;
    fresh->nbytes = nbytes;
    outside_begin(&outside, state);
    const int status = ck_pinned_allocate(state->runtime, nbytes > 0 ? (size_t)nbytes : 1, &fresh->data, &error);
    if (outside_end(&outside, status, &error) < 0) Py_CLEAR(fresh);
    return (PyObject *)fresh;
}

static PyObject *pinned_used(PyObject *module, PyObject *unused) {
    (void)unused;
    return PyLong_FromSize_t(ck_pinned_used(state_of(module)->runtime));
}

static PyObject *pinned_on_device(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t address;
    void *device_address = NULL;
    int device, previous;
    if (check_count("pinned_on_device(address, device)", count, 2) < 0 ||
        read_handle(arguments[0], "address", &address) < 0 || read_int(arguments[1], "device", &device) < 0)
        return NULL;
    outside_begin(&outside, state_of(module));
    if (ck_device_enter(device, &previous, &error) == CK_OK) {
        ck_pinned_on_device((void *)address, &device_address, &error);
        ck_device_leave(device, previous, &error);
    }
    return outside_end(&outside, error.code, &error) < 0 ? NULL : PyLong_FromVoidPtr(device_address);
}

PyMethodDef pinned_methods[] = {
    {"pinned", make_pinned, METH_O,
     PyDoc_STR("pinned(nbytes, /)\n--\n\nPage-locked host memory: an object with the buffer protocol, writable "
               "bytes, freed when its last user is done.")},
    {"pinned_on_device", FAST(pinned_on_device),
     PyDoc_STR("pinned_on_device(address, device, /)\n--\n\nThe device's address of page-locked memory.")},
    {"pinned_used", pinned_used, METH_NOARGS, PyDoc_STR("pinned_used()\n--\n\nBytes of page-locked memory in use.")},
    {NULL, NULL, 0, NULL},
};

PyTypeObject *make_pinned_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("Page-locked host memory.")},
        {Py_tp_dealloc, (void *)pinned_dealloc},
        {Py_tp_repr, (void *)pinned_repr},
        {Py_bf_getbuffer, (void *)pinned_getbuffer},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "cudakern." QUOTE(CK_MODULE) ".Pinned",
        .basicsize = sizeof(pinned),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
