// Orders work when another library uses the same memory. The runtime knows our uses; these functions report the other
// library's.
#include "python.h"

// Calls the ordering function with the device current.
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
    // The other library may write the memory unless it is read-only. So it must wait for our pending reads, too.
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
     PyDoc_STR("wait_for(view, stream, /)\n--\n\nWork enqueued in the stream from now on waits for the array's uses "
               "so far (if it is read-only: for the last write). The call itself does not wait.")},
    {"used_in", FAST(used_in),
     PyDoc_STR("used_in(view, stream, writes, /)\n--\n\nAnother library has enqueued work on this memory in the "
               "stream; later uses here wait for it.")},
    {"exported", exported, METH_O,
     PyDoc_STR("exported(view, /)\n--\n\nFrom now on another library may use the memory in streams of its own.")},
    {NULL, NULL, 0, NULL},
};
