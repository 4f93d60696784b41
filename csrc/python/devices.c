// Devices: their number, their properties, and their pools.
#include <string.h>

#include "python.h"

// The first call starts the driver, which takes time, so Python's lock is released.
static PyObject *device_count(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_error error = {0};
    outside outside;
    int count = 0;
    outside_begin(&outside, state_of(module));
    const int status = ck_device_count(&count, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromLong(count);
}

static PyObject *why_not(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    ck_error error = {0};
    int device, status;
    Py_BEGIN_ALLOW_THREADS
    status = ck_device_choose(&device, &error);
    Py_END_ALLOW_THREADS
    if (status == CK_OK) return PyUnicode_FromString("");
    const char *name = cudaGetErrorName((cudaError_t)error.code);
    if (strncmp(error.message, name, strlen(name)) == 0) return readable(error.message);
    return PyUnicode_FromFormat("%s: %s", name, error.message);
}

static PyObject *ask_which(PyObject *module, int (*ask)(int *, ck_error *)) {
    ck_error error = {0};
    outside outside;
    int device = 0;
    outside_begin(&outside, state_of(module));
    const int status = ask(&device, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromLong(device);
}

static PyObject *choose_device(PyObject *module, PyObject *unused) {
    (void)unused;
    return ask_which(module, ck_device_choose);
}

static PyObject *current_device(PyObject *module, PyObject *unused) {
    (void)unused;
    return ask_which(module, ck_device_current);
}

static PyObject *pointer_device(PyObject *module, PyObject *argument) {
    ck_error error = {0};
    outside outside;
    uintptr_t pointer;
    int device = -1;
    if (read_handle(argument, "pointer", &pointer) < 0) return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_device_of_pointer((const void *)pointer, &device, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromLong(device);
}

static int is_flag(const char *name) {
    static const char *const flags[] = {"copies_overlap",     "kernel_timeout",     "maps_host_memory",
                                        "compute_preemption", "tcc_driver",         "cooperative",
                                        "concurrent_kernels", "unified_addressing", "ecc",
                                        "memory_pools",       "integrated",         "managed_memory"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i], name) == 0) return 1;
    return 0;
}

static PyObject *make_properties(const ck_properties *properties) {
    PyObject *dictionary = Py_BuildValue("{s:s,s:s,s:n,s:n,s:i,s:i}", "name", properties->name, "pci_bus_id",
                                         properties->pci_bus_id, "memory_bytes", (Py_ssize_t)properties->memory_bytes,
                                         "memory_free", (Py_ssize_t)properties->memory_free, "driver_version",
                                         properties->driver_version, "runtime_version", properties->runtime_version);
    for (int i = 0; dictionary != NULL && i < CK_PROPERTY_COUNT;) {
        const char *name = ck_property_names[i], *dot = strchr(name, '.');
        const int *value = &properties->values[i];
        char tuple[64];
        int used = 1;
        PyObject *item;
        if (dot == NULL) {
            item = is_flag(name) ? PyBool_FromLong(*value) : PyLong_FromLong(*value);
        } else { // consecutive "a.0", "a.1", ... become the tuple "a"
            PyOS_snprintf(tuple, sizeof tuple, "%.*s", (int)(dot - name), name);
            while (i + used < CK_PROPERTY_COUNT && strncmp(ck_property_names[i + used], name, dot - name + 1) == 0)
                used++;
            item = used == 2 ? Py_BuildValue("(ii)", value[0], value[1])
                             : Py_BuildValue("(iii)", value[0], value[1], value[2]);
            name = tuple;
        }
        if (set_item(dictionary, name, item) < 0) Py_CLEAR(dictionary);
        i += used;
    }
    return dictionary;
}

static PyObject *device_properties(PyObject *module, PyObject *argument) {
    ck_error error = {0};
    ck_properties properties;
    outside outside;
    int device;
    if (read_int(argument, "device", &device) < 0) return NULL;
    outside_begin(&outside, state_of(module));
    const int status = ck_device_properties(device, &properties, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : make_properties(&properties);
}

// Called whenever a variant's availability is checked; the runtime caches the result.
static PyObject *capability(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_limits limits;
    outside outside;
    int device;
    if (read_int(argument, "device", &device) < 0) return NULL;
    outside_begin(&outside, state);
    const int status = ck_runtime_limits(state->runtime, device, &limits, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : PyLong_FromLong(limits.capability);
}

static PyObject *trim(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    outside outside;
    int device;
    if (read_int(argument, "device", &device) < 0) return NULL;
    forget_calls(state);
    outside_begin(&outside, state);
    const int status = ck_runtime_trim(state->runtime, device, &error);
    return outside_end(&outside, status, &error) < 0 ? NULL : none();
}

static PyObject *pool_used(PyObject *module, PyObject *argument) {
    int device;
    size_t bytes;
    if (read_int(argument, "device", &device) < 0) return NULL;
    ck_runtime *runtime = state_of(module)->runtime;
    Py_BEGIN_ALLOW_THREADS // the runtime's lock is held while a device is being initialized
    bytes = ck_pool_used(runtime, device);
    Py_END_ALLOW_THREADS
    return PyLong_FromSize_t(bytes);
}

PyMethodDef device_methods[] = {
    {"device_count", device_count, METH_NOARGS,
     PyDoc_STR("device_count()\n--\n\nThe number of devices; 0 without a driver.")},
    {"why_not", why_not, METH_NOARGS,
     PyDoc_STR(
         "why_not()\n--\n\nWhy no device can be used, beginning with CUDA's name of the error; '' if one can.")},
    {"capability", capability, METH_O,
     PyDoc_STR("capability(device, /)\n--\n\nThe device's compute capability: 90 is 9.0.")},
    {"device_properties", device_properties, METH_O,
     PyDoc_STR("device_properties(device, /)\n--\n\nThe device's properties as a dict.")},
    {"current_device", current_device, METH_NOARGS,
     PyDoc_STR("current_device()\n--\n\nThis thread's current device.")},
    {"choose_device", choose_device, METH_NOARGS,
     PyDoc_STR("choose_device()\n--\n\nThe current device if it is suitable, else the first that is.")},
    {"pointer_device", pointer_device, METH_O,
     PyDoc_STR("pointer_device(pointer, /)\n--\n\nThe device whose memory is at that address; -1: no device's.")},
    {"trim", trim, METH_O,
     PyDoc_STR("trim(device, /)\n--\n\nReturns free memory to the device and to the system, and clears the memo.")},
    {"pool_used", pool_used, METH_O,
     PyDoc_STR("pool_used(device, /)\n--\n\nBytes of device memory in use by arrays and running calls.")},
    {NULL, NULL, 0, NULL},
};
