// Streams and events. In Python they are integers: 0 and 1 are the default stream, 2 the thread's own default stream,
// all others are handles.
#include <stdio.h>

#include "python.h"

// Reads a device and then handles, with the given names. The runtime checks whether the handles are valid.
static int take(const char *usage, PyObject *const *arguments, Py_ssize_t count, int *device, uintptr_t *handles,
                const char *first, const char *second) {
    if (check_count(usage, count, second == NULL ? 2 : 3) < 0 || read_int(arguments[0], "device", device) < 0 ||
        read_handle(arguments[1], first, &handles[0]) < 0)
        return -1;
    return second == NULL ? 0 : read_handle(arguments[2], second, &handles[1]);
}

#define STREAM(handle) ck_stream_of((int64_t)(handle))
#define EVENT(handle)  ((cudaEvent_t)(handle))

static PyObject *stream_create(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    cudaStream_t stream = NULL;
    ck_error error = {0};
    outside outside;
    int device, priority;
    if (check_count("stream_create(device, priority)", count, 2) < 0 ||
        read_int(arguments[0], "device", &device) < 0 || read_int(arguments[1], "priority", &priority) < 0)
        return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_stream_create(device, priority, &stream, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromVoidPtr(stream);
}

static PyObject *stream_destroy(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device;
    if (take("stream_destroy(device, stream)", arguments, count, &device, &handle, "stream", NULL) < 0) return NULL;
    outside_begin(&outside, state);
    const int status = ck_stream_close(state->runtime, device, STREAM(handle), &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *stream_synchronize(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device;
    if (take("stream_synchronize(device, stream)", arguments, count, &device, &handle, "stream", NULL) < 0)
        return NULL;
    outside_begin(&outside, state);
    const int status = ck_stream_wait(state->runtime, device, STREAM(handle), &outside.waiter, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *stream_done(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device, done = 0;
    if (take("stream_done(device, stream)", arguments, count, &device, &handle, "stream", NULL) < 0) return NULL;
    outside_begin(&outside, state);
    const int status = ck_stream_done(state->runtime, device, STREAM(handle), &done, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *stream_wait_event(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t handles[2];
    int device;
    if (take("stream_wait_event(device, stream, event)", arguments, count, &device, handles, "stream", "event") < 0)
        return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_stream_wait_event(device, STREAM(handles[0]), EVENT(handles[1]), &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *synchronize(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    int device;
    if (read_int(argument, "device", &device) < 0) return NULL;
    outside_begin(&outside, state);
    const int status = ck_device_wait(state->runtime, device, &outside.waiter, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

// Flushes what the device's printf left in C's stdout. Another thread may hold its lock, so release Python's lock
// first.
static PyObject *flush_output(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS
    fflush(stdout);
    Py_END_ALLOW_THREADS
    return none();
}

static PyObject *event_create(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    cudaEvent_t event = NULL;
    ck_error error = {0};
    outside outside;
    int device;
    if (check_count("event_create(device, timing)", count, 2) < 0 || read_int(arguments[0], "device", &device) < 0)
        return NULL;
    const int timing = PyObject_IsTrue(arguments[1]);
    if (timing < 0) return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_event_create(device, timing, &event, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromVoidPtr(event);
}

static PyObject *event_destroy(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device;
    if (take("event_destroy(device, event)", arguments, count, &device, &handle, "event", NULL) < 0) return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_event_close(device, EVENT(handle), &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *event_record(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t handles[2];
    int device;
    if (take("event_record(device, event, stream)", arguments, count, &device, handles, "event", "stream") < 0)
        return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_event_record(device, EVENT(handles[0]), STREAM(handles[1]), &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *event_synchronize(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device;
    if (take("event_synchronize(device, event)", arguments, count, &device, &handle, "event", NULL) < 0) return NULL;
    outside_begin(&outside, state);
    const int status = ck_event_wait(state->runtime, device, EVENT(handle), &outside.waiter, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *event_done(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t handle;
    int device, done = 0;
    if (take("event_done(device, event)", arguments, count, &device, &handle, "event", NULL) < 0) return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_event_done(device, EVENT(handle), &done, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyBool_FromLong(done);
}

static PyObject *event_elapsed(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    ck_error error = {0};
    outside outside;
    uintptr_t handles[2];
    double milliseconds = 0;
    int device;
    if (take("event_elapsed(device, first, last)", arguments, count, &device, handles, "first", "last") < 0)
        return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_event_elapsed(device, EVENT(handles[0]), EVENT(handles[1]), &milliseconds, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyFloat_FromDouble(milliseconds);
}

PyMethodDef stream_methods[] = {
    {"stream_create", FAST(stream_create),
     PyDoc_STR("stream_create(device, priority, /)\n--\n\nA new stream that does not wait for the default stream.")},
    {"stream_destroy", FAST(stream_destroy),
     PyDoc_STR(
         "stream_destroy(device, stream, /)\n--\n\nDestroys the stream; work enqueued in it is still completed.")},
    {"stream_synchronize", FAST(stream_synchronize),
     PyDoc_STR("stream_synchronize(device, stream, /)\n--\n\nWaits for all that was enqueued in the stream.")},
    {"stream_done", FAST(stream_done),
     PyDoc_STR("stream_done(device, stream, /)\n--\n\nTrue if all work in the stream is complete. Does not wait.")},
    {"stream_wait_event", FAST(stream_wait_event),
     PyDoc_STR("stream_wait_event(device, stream, event, /)\n--\n\n"
               "Work enqueued in the stream from now on waits for the event. The call itself does not wait.")},
    {"synchronize", synchronize, METH_O,
     PyDoc_STR("synchronize(device, /)\n--\n\nWaits for all work of the device.")},
    {"flush_output", flush_output, METH_NOARGS,
     PyDoc_STR("flush_output()\n--\n\nFlushes C's buffer of standard output.")},
    {"event_create", FAST(event_create),
     PyDoc_STR("event_create(device, timing, /)\n--\n\nA new event; event_elapsed requires timing.")},
    {"event_destroy", FAST(event_destroy), PyDoc_STR("event_destroy(device, event, /)\n--\n\nDestroys the event.")},
    {"event_record", FAST(event_record),
     PyDoc_STR("event_record(device, event, stream, /)\n--\n\nThe event completes when all work enqueued so far is "
               "complete.")},
    {"event_synchronize", FAST(event_synchronize),
     PyDoc_STR("event_synchronize(device, event, /)\n--\n\nWaits until the event is complete.")},
    {"event_done", FAST(event_done),
     PyDoc_STR("event_done(device, event, /)\n--\n\nTrue if the event is complete or was never recorded.")},
    {"event_elapsed", FAST(event_elapsed),
     PyDoc_STR("event_elapsed(device, first, last, /)\n--\n\nMilliseconds between two complete events.")},
    {NULL, NULL, 0, NULL},
};
