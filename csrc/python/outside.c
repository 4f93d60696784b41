// Releases Python's lock while a call may wait. To check for signals, the waiting thread reacquires the lock briefly,
// so that Ctrl-C works.
#include "python.h"

static int check_signals(void *argument) {
    outside *outside = argument;
    PyEval_RestoreThread(outside->thread);
    // If a handler has already raised, do not run handlers again: its exception is pending.
    const int interrupted = PyErr_Occurred() != NULL || PyErr_CheckSignals() != 0;
    outside->thread = PyEval_SaveThread();
    return interrupted;
}

void outside_begin(outside *outside, module_state *state) {
    outside->state = state;
    outside->waiter = (ck_waiter){check_signals, outside};
    // The interpreter may end while a daemon thread is in here; a runtime with running calls is not destroyed.
    ck_runtime_enter(state->runtime);
    outside->thread = PyEval_SaveThread();
}

int outside_end(outside *outside, int status, const ck_error *error) {
    PyEval_RestoreThread(outside->thread);
    ck_runtime_leave(outside->state->runtime);
    if (PyErr_Occurred()) return -1; // a handler's exception takes precedence over the call's error
    if (status == CK_OK) return 0;
    errors_raise(outside->state, error);
    return -1;
}
