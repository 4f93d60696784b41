// The arrays of a call, on one device or in host memory, and its kind: the key under which the memo has what was
// prepared for it.
#include "kind.h"

#include <string.h>

void arrays_release(arrays *arrays) {
    while (arrays->count > 0 && !arrays->on_host) Py_XDECREF((PyObject *)arrays->held[--arrays->count]);
    buffers_release(&arrays->buffers);
}

void arrays_set(arrays *arrays, int i, view *array) {
    arrays->held[i] = array;
    arrays->views[i] = array->array.view;
    arrays->memories[i] = array->array.memory;
}

void arrays_add(arrays *arrays, view *array) {
    arrays_set(arrays, arrays->count++, array);
}

static PyObject *attribute_of(const char *name, const char *attribute) {
    PyObject *module = PyImport_ImportModule(name);
    PyObject *object = module ? PyObject_GetAttrString(module, attribute) : NULL;
    Py_XDECREF(module);
    return object;
}

// DeviceArray is defined in Python, so it is available once cudakern is imported.
static void know_arrays(module_state *state) {
    if (atomic_load(&state->view_name) != NULL) return;
    PyObject *none_yet = NULL, *type = attribute_of("cudakern.arrays.array", "DeviceArray");
    PyObject *host = type ? attribute_of("numpy", "ndarray") : NULL;
    PyObject *name = host ? PyUnicode_InternFromString("_view") : NULL;
    if (name == NULL) PyErr_Clear(); // the interpreter is shutting down: no call takes this path
    if (name != NULL) {              // the same for every thread
        state->array_type = type;
        state->host_type = host;
    }
    if (name == NULL || !atomic_compare_exchange_strong(&state->view_name, &none_yet, name)) {
        Py_XDECREF(name);
        Py_XDECREF(type);
        Py_XDECREF(host);
    }
}

int arrays_take_device(module_state *state, PyObject *object, arrays *arrays) {
    PyObject *name = atomic_load(&state->view_name);
    if (name == NULL || !Py_IS_TYPE(object, (PyTypeObject *)state->array_type)) return 0;
    PyObject *attribute = PyObject_GetAttr(object, name);
    if (attribute != NULL && is_view(state, attribute)) {
        arrays_add(arrays, (view *)attribute);
        return 1;
    }
    Py_XDECREF(attribute);
    PyErr_Clear(); // an array whose initialization was not completed
    return 0;
}

int arrays_take_host(module_state *state, PyObject *object, int writable, arrays *arrays) {
    if (atomic_load(&state->view_name) == NULL || !Py_IS_TYPE(object, (PyTypeObject *)state->host_type)) return 0;
    const int i = arrays->count;
    if (buffers_take(&arrays->buffers, object, "array", i, writable, &arrays->views[i]) < 0) {
        PyErr_Clear(); // a type that kernels do not take, too many axes, or read-only
        return 0;
    }
    arrays->count++;
    return !arrays->views[i].swapped;
}

// --- the kind of a call --------------------------------------------------------------------------------------------
// For each input its type and number of axes (0, 1, 2 or more), then the device, and whether the arrays are on the
// host. The number of axes is not needed, but calls with matrices and with stacks of them then remember a shape each.
enum { INTEGER = CK_DTYPE_COUNT, FLOAT }; // Python's own numbers
enum { KIND_AXES = 5, KIND_LONG_LONG = 7, KIND_BITS = 8, DEVICE_BITS = 16 };
_Static_assert((int)FLOAT < 1 << KIND_AXES && (CK_MAX_VIEWS - 1) * KIND_BITS + DEVICE_BITS + 1 <= 64,
               "all in a word");

static unsigned kind_of(const arrays *arrays, int i) {
    const ck_view *view = &arrays->views[i];
    // On most systems, long and long long are the same for C but not for NumPy, whose results differ.
    const char *format = arrays->on_host ? arrays->buffers.held[arrays->buffers.count - 1].format : NULL;
    const int is_long_long = format != NULL && *format != '\0' && strchr("qQ", format[strlen(format) - 1]) != NULL;
    return (unsigned)view->dtype | (view->ndim < 3 ? (unsigned)view->ndim : 3u) << KIND_AXES |
           (unsigned)is_long_long << KIND_LONG_LONG;
}

int arrays_take_inputs(module_state *state, PyObject *inputs, int device, arrays *arrays, unsigned long long *kinds) {
    const Py_ssize_t count = PyTuple_Check(inputs) ? PyTuple_Size(inputs) : 0;
    int numbers = 0;
    *kinds = 0;
    arrays->count = arrays->buffers.count = 0;
    arrays->device = device;
    arrays->on_host = device >= 0;
    if (count < 1 || count >= CK_MAX_VIEWS) return 0;
    for (int i = 0; i < count; i++) {
        PyObject *input = PyTuple_GetItem(inputs, i);
        unsigned kind;
        if (PyFloat_CheckExact(input) || PyLong_CheckExact(input)) {
            arrays->held[i] = NULL;
            arrays->views[i] = (ck_view){.data = NULL};
            arrays->count++;
            numbers++;
            kind = PyFloat_CheckExact(input) ? FLOAT : INTEGER;
        } else if (arrays->on_host) {
            if (!arrays_take_host(state, input, 0, arrays)) return 0;
            kind = kind_of(arrays, i);
        } else {
            if (!arrays_take_device(state, input, arrays)) return 0;
            if (arrays->device < 0) arrays->device = arrays->held[i]->device;
            if (arrays->device != arrays->held[i]->device) return 0;
            kind = kind_of(arrays, i);
        }
        *kinds = *kinds << KIND_BITS | kind;
    }
    *kinds = (*kinds << DEVICE_BITS | (unsigned)arrays->device) << 1 | (unsigned)arrays->on_host;
    return numbers < count && arrays->device < 1 << DEVICE_BITS;
}

int kind_is_exact(PyObject *variant, PyObject *parameters) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (!PyUnicode_CheckExact(variant) || !PyDict_Check(parameters)) return 0;
    while (PyDict_Next(parameters, &at, &name, &value))
        if (!PyLong_CheckExact(value) && !PyUnicode_CheckExact(value)) return 0;
    return 1;
}

// (rule, variant, kinds, name, value, name, value...)
PyObject *kind_key(PyObject *rule, PyObject *variant, PyObject *parameters, unsigned long long kinds) {
    PyObject *key = PyTuple_New(3 + 2 * PyDict_Size(parameters)), *number = PyLong_FromUnsignedLongLong(kinds);
    PyObject *name, *value;
    Py_ssize_t at = 0, next = 3;
    if (key == NULL || number == NULL) {
        Py_XDECREF(key);
        Py_XDECREF(number);
        return NULL;
    }
    Py_INCREF(rule);
    Py_INCREF(variant);
    PyTuple_SetItem(key, 0, rule);
    PyTuple_SetItem(key, 1, variant);
    PyTuple_SetItem(key, 2, number);
    while (PyDict_Next(parameters, &at, &name, &value)) {
        Py_INCREF(name);
        Py_INCREF(value);
        PyTuple_SetItem(key, next++, name);
        PyTuple_SetItem(key, next++, value);
    }
    return key;
}

static PyObject *key(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    unsigned long long kinds;
    arrays arrays; // not initialized, because it is large
    int device;
    if (check_count("key(rule, variant, parameters, inputs, device)", count, 5) < 0 ||
        read_int(arguments[4], "device", &device) < 0)
        return NULL;
    if (!PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "parameters must be a dict");
        return NULL;
    }
    know_arrays(state);
    const int is_known =
        arrays_take_inputs(state, arguments[3], device, &arrays, &kinds) && kind_is_exact(arguments[1], arguments[2]);
    arrays_release(&arrays);
    return is_known ? kind_key(arguments[0], arguments[1], arguments[2], kinds) : none();
}

PyMethodDef kind_methods[] = {
    {"key", FAST(key),
     PyDoc_STR("key(rule, variant, parameters, inputs, device, /)\n--\n\n"
               "The kind of a call on arrays of one device of this module (device: -1) or on NumPy arrays; None for "
               "other inputs.")},
    {NULL, NULL, 0, NULL},
};
