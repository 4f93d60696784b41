// Leaving Python while something may wait. While the runtime waits, the thread has given up Python; a look at the
// signals takes it back for a moment, so that Ctrl-C works.
#include "python.h"

static int check_signals(void *argument) {
    outside *outside = argument;
    PyEval_RestoreThread(outside->thread);
    // A handler that raised is asked no second time: its exception is on its way.
    const int interrupted = PyErr_Occurred() != NULL || PyErr_CheckSignals() != 0;
    outside->thread = PyEval_SaveThread();
    return interrupted;
}

void outside_begin(outside *outside, module_state *state) {
    outside->state = state;
    outside->waiter = (ck_waiter){check_signals, outside};
    // The interpreter may end while a daemon thread is out here: a runtime with calls in it is not destroyed.
    ck_runtime_enter(state->runtime);
    outside->thread = PyEval_SaveThread();
}

int outside_end(outside *outside, int status, const ck_error *error) {
    PyEval_RestoreThread(outside->thread);
    ck_runtime_leave(outside->state->runtime);
    if (PyErr_Occurred()) return -1; // a handler raised: its exception comes before what the call has to say
    if (status == CK_OK) return 0;
    errors_raise(outside->state, error);
    return -1;
}
