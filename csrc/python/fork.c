// Handlers for fork(): Python calls them before the fork, and after it in the parent and in the child.
#include "python.h"

// os.fork() calls before_fork, which takes the runtime's lock, and then other handlers. Those that are written in
// Python may give up Python's lock, so that another thread runs, and waits for the runtime's lock: it must give up
// Python's lock first, or neither goes on. (A free-threaded Python waits until every thread has detached from it or
// is suspended, and a thread that waits for the runtime's lock while attached is neither.)
//
// The limited API lacks PyGILState_Check, but every Python has it so far.
extern int PyGILState_Check(void) __attribute__((weak));

static void *leave_python(void) {
    return PyGILState_Check != NULL && PyGILState_Check() ? PyEval_SaveThread() : NULL;
}

static void return_to_python(void *thread) {
    if (thread != NULL) PyEval_RestoreThread(thread);
}

void prepare_for_forks(ck_runtime *runtime) {
    static const ck_bystander fork_waits = {leave_python, return_to_python};
    ck_runtime_set_bystander(runtime, &fork_waits);
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
