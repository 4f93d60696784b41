// Around fork(): Python calls these before it, and after it on both sides.
#include "python.h"

static PyObject *before_fork(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_runtime_before_fork(state_of(module)->runtime);
    return none();
}

static PyObject *after_fork_in_parent(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_runtime_after_fork(state_of(module)->runtime, 0);
    return none();
}

static PyObject *after_fork_in_child(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_runtime_after_fork(state_of(module)->runtime, 1);
    forget_calls(state_of(module)); // what they keep may be in the parent's device memory
    return none();
}

PyMethodDef fork_methods[] = {
    {"_before_fork", before_fork, METH_NOARGS, NULL},
    {"_after_fork_in_parent", after_fork_in_parent, METH_NOARGS, NULL},
    {"_after_fork_in_child", after_fork_in_child, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
