// Warm host memory for a large result, as an object with the buffer protocol: its last user gives it back.
#include "python.h"

typedef struct warm {
    PyObject_HEAD module_state *state; // valid because the instance references its type, and the type its module
    void *data;
    size_t bytes; // of the block
    Py_ssize_t nbytes;
} warm;

static int warm_getbuffer(PyObject *self, Py_buffer *buffer, int flags) {
    return PyBuffer_FillInfo(buffer, self, ((warm *)self)->data, ((warm *)self)->nbytes, 0, flags);
}

static void warm_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    const warm block = *(warm *)self;
    if (block.data != NULL) {
        Py_BEGIN_ALLOW_THREADS // the system takes some time to unmap memory
        ck_warm_give(block.state->runtime, block.data, block.bytes);
        Py_END_ALLOW_THREADS
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *make_warm(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    const Py_ssize_t nbytes = PyNumber_AsSsize_t(argument, PyExc_OverflowError);
    if (nbytes == -1 && PyErr_Occurred()) return NULL;
    if (nbytes < 1) {
        PyErr_Format(PyExc_ValueError, "nbytes must be at least 1, but is %zd", nbytes);
        return NULL;
    }
    if (state->warm_type == NULL) return none(); // the interpreter is shutting down
    warm *fresh = PyObject_New(warm, state->warm_type);
    if (fresh == NULL) return NULL;
    fresh->state = state;
    fresh->nbytes = nbytes;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = ck_warm_take(state->runtime, (size_t)nbytes, &fresh->data, &fresh->bytes, &error);
    Py_END_ALLOW_THREADS
    if (fresh->data != NULL) return (PyObject *)fresh;
    Py_DECREF(fresh);
    return status == CK_OK ? none() : errors_raise(state, &error);
}

static PyObject *warm_kept(PyObject *module, PyObject *unused) {
    (void)unused;
    return PyLong_FromSize_t(ck_warm_kept(state_of(module)->runtime));
}

PyMethodDef warm_methods[] = {
    {"warm", make_warm, METH_O,
     PyDoc_STR(
         "warm(nbytes, /)\n--\n\nHost memory for a result: an object with the buffer protocol, whose memory the "
         "next result gets when its last user is done. None: take ordinary memory.")},
    {"warm_kept", warm_kept, METH_NOARGS,
     PyDoc_STR("warm_kept()\n--\n\nBytes of freed results that are kept for the next ones.")},
    {NULL, NULL, 0, NULL},
};

PyTypeObject *make_warm_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("Warm host memory.")},
        {Py_tp_dealloc, (void *)warm_dealloc},
        {Py_bf_getbuffer, (void *)warm_getbuffer},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "cudakern." QUOTE(CK_MODULE) ".Warm",
        .basicsize = sizeof(warm),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}
