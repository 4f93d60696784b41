// Handlers for fork(): Python calls them before the fork, and after it in the parent and in the child.
#include "python.h"

#ifdef Py_GIL_DISABLED
// os.fork() first calls before_fork, which takes the runtime's lock, and then waits until every thread has detached from
// Python or is suspended. A thread that waits for the runtime's lock while attached is neither (observed with 3.13), so
// it detaches before waiting.
static void *leave_python(void) {
    return PyGILState_Check() ? PyEval_SaveThread() : NULL;
}

static void return_to_python(void *thread) {
    if (thread != NULL) PyEval_RestoreThread(thread);
}

static const ck_bystander fork_waits = {leave_python, return_to_python};
#endif

void prepare_for_forks(ck_runtime *runtime) {
#ifdef Py_GIL_DISABLED
    ck_runtime_set_bystander(runtime, &fork_waits);
#else
    (void)runtime; // not needed: only the thread that holds Python's lock can fork
#endif
}

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
    forget_calls(state_of(module)); // they may refer to the parent's device memory
    return none();
}

PyMethodDef fork_methods[] = {
    {"_before_fork", before_fork, METH_NOARGS, NULL},
    {"_after_fork_in_parent", after_fork_in_parent, METH_NOARGS, NULL},
    {"_after_fork_in_child", after_fork_in_child, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
