// Who comes after whom, where another library uses the same memory: the runtime knows our uses, these tell it of
// others'.
#include "python.h"

// Enters the device, orders, and leaves it.
static PyObject *order(module_state *state, const view *view, cudaStream_t stream, int writes,
                       int (*how)(const ck_access *, int, cudaStream_t, ck_error *)) {
    const ck_access access = {view->array.memory, writes};
    ck_error error = {0};
    int previous = view->device;
    outside outside;
    outside_begin(&outside, state);
    if (ck_device_enter(view->device, &previous, &error) == CK_OK) {
        how(&access, 1, stream, &error);
        ck_device_leave(view->device, previous, &error);
    }
    return outside_end(&outside, error.code, &error) < 0 ? NULL : none();
}

static PyObject *wait_for(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    cudaStream_t stream;
    if (check_count("wait_for(view, stream)", count, 2) < 0) return NULL;
    const view *view = read_view(state, arguments[0], "view");
    if (view == NULL || read_stream(arguments[1], &stream) < 0) return NULL;
    // Whoever gets the memory may write it, unless it is read-only: then reads under way come before that too.
    return order(state, view, stream, !view->read_only, ck_order_before);
}

static PyObject *used_in(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    cudaStream_t stream;
    if (check_count("used_in(view, stream, writes)", count, 3) < 0) return NULL;
    const view *view = read_view(state, arguments[0], "view");
    if (view == NULL || read_stream(arguments[1], &stream) < 0) return NULL;
    const int writes = PyObject_IsTrue(arguments[2]);
    return writes < 0 ? NULL : order(state, view, stream, writes, ck_order_after);
}

static PyObject *exported(PyObject *module, PyObject *argument) {
    const view *view = read_view(state_of(module), argument, "view");
    if (view == NULL) return NULL;
    ck_memory_export(view->array.memory);
    return none();
}

PyMethodDef exchange_methods[] = {
    {"wait_for", FAST(wait_for),
     PyDoc_STR("wait_for(view, stream, /)\n--\n\nWhat is enqueued in the stream from now on finds the array's uses "
               "so far done (of a read-only one: its last write). Does not wait.")},
    {"used_in", FAST(used_in),
     PyDoc_STR("used_in(view, stream, writes, /)\n--\n\nAnother library has enqueued work on this memory in the "
               "stream: later uses here come after it.")},
    {"exported", exported, METH_O,
     PyDoc_STR(
         "exported(view, /)\n--\n\nAnother library may use the memory in streams of its own, until it lets go.")},
    {NULL, NULL, 0, NULL},
};
