// The extension module. Built as cudakern._cuda and cudakern._emulator; -DCK_MODULE=_cuda gives the name.
#include <string.h>

#include "backend.h"
#include "python.h"

#ifndef CK_MODULE
#error "compile with -DCK_MODULE=_cuda or -DCK_MODULE=_emulator"
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
#define QUOTE_(a)    #a
#define QUOTE(a)     QUOTE_(a)

enum { INTERFACE_VERSION = 1 };

static PyObject *none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

// --- the table, the backend --------------------------------------------------------------------------------------
static PyObject *operations(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return table_operations();
}

static PyObject *name_of_backend(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyUnicode_FromString(backend_name());
}

static PyObject *emulated(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyBool_FromLong(backend_is_emulated());
}

static PyObject *configure(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    const char *key, *value;
    if (check_count("configure(key, value)", count, 2) < 0) return NULL;
    if (!PyUnicode_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "configure(key, value) takes two str");
        return NULL;
    }
    if ((key = PyUnicode_AsUTF8AndSize(arguments[0], NULL)) == NULL ||
        (value = PyUnicode_AsUTF8AndSize(arguments[1], NULL)) == NULL)
        return NULL;
    cudaError_t code;
    char detail[600] = "";
    Py_BEGIN_ALLOW_THREADS // it waits for kernels that run: their threads may need the interpreter
    code = (cudaError_t)backend_configure(key, value);
    if (code != cudaSuccess) {
        backend_error_detail(detail, sizeof detail);
        (void)cudaGetLastError();
    }
    Py_END_ALLOW_THREADS
    if (code == cudaSuccess) return none();
    ck_error error = {0};
    if (code == cudaErrorNotSupported)
        ck_fail(&error, CK_NOT_SUPPORTED, "configure",
                "The backend %s has nothing to configure: it is the emulator's %s", backend_name(), key);
    else if (code == cudaErrorInvalidValue)
        ck_fail(&error, CK_BAD_VALUE, "configure", "%.60s=%.100s is not possible%s%s", key, value,
                *detail ? ": " : "", detail);
    else
        ck_fail(&error, (int)code, "configure", "%s: %.60s=%.100s is not possible%s%s", cudaGetErrorName(code), key,
                value, *detail ? ": " : "", detail);
    return errors_raise(state_of(module), &error);
}

// --- devices -----------------------------------------------------------------------------------------------------
// The first question starts the driver, which takes a while: other threads go on.
static PyObject *device_count(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    int count;
    Py_BEGIN_ALLOW_THREADS
    count = ck_device_count();
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(count);
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
    if (strncmp(error.message, name, strlen(name)) == 0) return PyUnicode_FromString(error.message);
    return PyUnicode_FromFormat("%s: %s", name, error.message);
}

static PyObject *choose_device(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_error error = {0};
    int device = 0, status;
    Py_BEGIN_ALLOW_THREADS
    status = ck_device_choose(&device, &error);
    Py_END_ALLOW_THREADS
    return status == CK_OK ? PyLong_FromLong(device) : errors_raise(state_of(module), &error);
}

static PyObject *current_device(PyObject *module, PyObject *unused) {
    (void)unused;
    ck_error error = {0};
    int device = 0, status;
    Py_BEGIN_ALLOW_THREADS
    status = ck_device_current(&device, &error);
    Py_END_ALLOW_THREADS
    return status == CK_OK ? PyLong_FromLong(device) : errors_raise(state_of(module), &error);
}

static int is_flag(const char *name) {
    static const char *const flags[] = {"cooperative",  "concurrent_kernels", "unified_addressing", "ecc",
                                        "memory_pools", "integrated",         "managed_memory"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i], name) == 0) return 1;
    return 0;
}

static PyObject *make_properties(const ck_properties *properties) {
    PyObject *made = Py_BuildValue("{s:s,s:s,s:n,s:n,s:i,s:i}", "name", properties->name, "pci_bus_id",
                                   properties->pci_bus_id, "memory_bytes", (Py_ssize_t)properties->memory_bytes,
                                   "memory_free", (Py_ssize_t)properties->memory_free, "driver_version",
                                   properties->driver_version, "runtime_version", properties->runtime_version);
    for (int i = 0; made != NULL && i < CK_PROPERTY_COUNT;) {
        const char *name = ck_property_names[i], *dot = strchr(name, '.');
        const int *value = &properties->values[i];
        char tuple[64];
        int used = 1;
        PyObject *item;
        if (dot == NULL) {
            item = is_flag(name) ? PyBool_FromLong(*value) : PyLong_FromLong(*value);
        } else { // "a.0", "a.1", ... side by side make the tuple "a"
            PyOS_snprintf(tuple, sizeof tuple, "%.*s", (int)(dot - name), name);
            while (i + used < CK_PROPERTY_COUNT && strncmp(ck_property_names[i + used], name, dot - name + 1) == 0)
                used++;
            item = used == 2 ? Py_BuildValue("(ii)", value[0], value[1])
                             : Py_BuildValue("(iii)", value[0], value[1], value[2]);
            name = tuple;
        }
        if (set_item(made, name, item) < 0) Py_CLEAR(made);
        i += used;
    }
    return made;
}

static PyObject *device_properties(PyObject *module, PyObject *argument) {
    ck_error error = {0};
    ck_properties properties;
    int device, status;
    if (read_int(argument, "device", &device) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = ck_device_properties(device, &properties, &error);
    Py_END_ALLOW_THREADS
    return status == CK_OK ? make_properties(&properties) : errors_raise(state_of(module), &error);
}

static PyObject *trim(PyObject *module, PyObject *argument) {
    ck_error error = {0};
    int device, status;
    if (read_int(argument, "device", &device) < 0) return NULL;
    ck_runtime *runtime = state_of(module)->runtime;
    Py_BEGIN_ALLOW_THREADS
    status = ck_pool_trim(runtime, device, &error);
    Py_END_ALLOW_THREADS
    return status == CK_OK ? none() : errors_raise(state_of(module), &error);
}

static PyObject *pool_used(PyObject *module, PyObject *argument) {
    int device;
    size_t bytes;
    if (read_int(argument, "device", &device) < 0) return NULL;
    ck_runtime *runtime = state_of(module)->runtime;
    Py_BEGIN_ALLOW_THREADS // a device that is being made holds the lock
    bytes = ck_pool_used(runtime, device);
    Py_END_ALLOW_THREADS
    return PyLong_FromSize_t(bytes);
}

// --- for tests ---------------------------------------------------------------------------------------------------
static PyObject *inject_fault(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    int n, code;
    (void)module;
    if (check_count("inject_fault(n, code)", count, 2) < 0 || read_int(arguments[0], "n", &n) < 0 ||
        read_int(arguments[1], "code", &code) < 0)
        return NULL;
    if (n < 0 || code <= 0) {
        PyErr_Format(PyExc_ValueError,
                     "inject_fault(%d, %d): n counts from 1 (0: none), and a code is that of an error", n, code);
        return NULL;
    }
    ck_fault_set(n, code);
    return none();
}

static PyObject *fault_count(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLongLong(ck_fault_count());
}

// --- fork() ------------------------------------------------------------------------------------------------------
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
    return none();
}

static int register_at_fork(PyObject *module) {
    PyObject *os = PyImport_ImportModule("os");
    PyObject *function = os ? PyObject_GetAttrString(os, "register_at_fork") : NULL;
    PyObject *keywords = function ? PyDict_New() : NULL, *nothing = keywords ? PyTuple_New(0) : NULL;
    PyObject *done = NULL;
    if (nothing != NULL && set_item(keywords, "before", PyObject_GetAttrString(module, "_before_fork")) == 0 &&
        set_item(keywords, "after_in_parent", PyObject_GetAttrString(module, "_after_fork_in_parent")) == 0 &&
        set_item(keywords, "after_in_child", PyObject_GetAttrString(module, "_after_fork_in_child")) == 0)
        done = PyObject_Call(function, nothing, keywords);
    Py_XDECREF(nothing);
    Py_XDECREF(keywords);
    Py_XDECREF(function);
    Py_XDECREF(os);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

// --- the module --------------------------------------------------------------------------------------------------
#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL

static PyMethodDef methods[] = {
    {"operations", operations, METH_NOARGS,
     PyDoc_STR("operations()\n--\n\nThe variant table: a dict an operation, its rows in the order of the ladder.")},
    {"execute", FAST(call_execute),
     PyDoc_STR("execute(operation, variant, parameters, inputs, outputs, device, measure, /)\n--\n\n"
               "Runs a variant on arrays of the host. With measure true it returns times and sizes.")},
    {"error_depth", FAST(call_error_depth),
     PyDoc_STR("error_depth(operation, variant, parameters, dtypes, shapes, /)\n--\n\n"
               "f(n) of the row's error bound: roundings on the longest path to a result.")},
    {"work", FAST(call_work),
     PyDoc_STR("work(operation, shapes, dtype, /)\n--\n\n(FLOPs, least bytes moved) of the operation.")},
    {"device_count", device_count, METH_NOARGS,
     PyDoc_STR("device_count()\n--\n\nDevices that CUDA counts; 0 without a driver.")},
    {"why_not", why_not, METH_NOARGS,
     PyDoc_STR("why_not()\n--\n\nWhy no device can be used, CUDA's name for it first; '' if one can.")},
    {"device_properties", device_properties, METH_O,
     PyDoc_STR("device_properties(device, /)\n--\n\nWhat the device says of itself.")},
    {"current_device", current_device, METH_NOARGS,
     PyDoc_STR("current_device()\n--\n\nThis thread's current device.")},
    {"choose_device", choose_device, METH_NOARGS,
     PyDoc_STR("choose_device()\n--\n\nThe current device if it is suitable, else the first that is.")},
    {"configure", FAST(configure), PyDoc_STR("configure(key, value, /)\n--\n\nA setting of the emulator.")},
    {"inject_fault", FAST(inject_fault),
     PyDoc_STR("inject_fault(n, code, /)\n--\n\nThe n-th guarded call from now fails with code; 0: none.")},
    {"fault_count", fault_count, METH_NOARGS,
     PyDoc_STR("fault_count()\n--\n\nGuarded calls since inject_fault was called.")},
    {"trim", trim, METH_O, PyDoc_STR("trim(device, /)\n--\n\nGives pooled memory that is free back to the device.")},
    {"pool_used", pool_used, METH_O,
     PyDoc_STR("pool_used(device, /)\n--\n\nBytes of device memory in use by calls that are running.")},
    {"backend_name", name_of_backend, METH_NOARGS, PyDoc_STR("backend_name()\n--\n\n'cuda' or 'emulator'.")},
    {"emulated", emulated, METH_NOARGS, PyDoc_STR("emulated()\n--\n\nTrue if kernels run on the CPU.")},
    {"_before_fork", before_fork, METH_NOARGS, NULL},
    {"_after_fork_in_parent", after_fork_in_parent, METH_NOARGS, NULL},
    {"_after_fork_in_child", after_fork_in_child, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int exec_module(PyObject *module) {
    module_state *state = state_of(module);
    state->runtime = ck_runtime_create();
    if (state->runtime == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (errors_import(state) < 0 || PyModule_AddObjectRef(module, "CudaError", state->cuda_error) < 0 ||
        PyModule_AddObjectRef(module, "OutOfMemoryError", state->out_of_memory) < 0 ||
        PyModule_AddIntConstant(module, "interface_version", INTERFACE_VERSION) < 0)
        return -1;
    return register_at_fork(module);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg) {
    module_state *state = state_of(module);
    if (state == NULL) return 0;
    Py_VISIT(state->cuda_error);
    Py_VISIT(state->out_of_memory);
    return 0;
}

static int clear_module(PyObject *module) {
    module_state *state = state_of(module);
    if (state == NULL) return 0;
    Py_CLEAR(state->cuda_error);
    Py_CLEAR(state->out_of_memory);
    return 0;
}

static void free_module(void *module) {
    module_state *state = state_of(module);
    if (state == NULL) return;
    clear_module(module);
    ck_runtime_destroy(state->runtime);
    state->runtime = NULL;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)exec_module},
#ifdef Py_mod_gil // 3.13: lists and counters have their locks and atomics
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "cudakern." QUOTE(CK_MODULE),
    .m_doc = "Kernels of cudakern, and the runtime that runs them, for one backend.",
    .m_size = sizeof(module_state),
    .m_methods = methods,
    .m_slots = slots,
    .m_traverse = traverse_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PASTE(PyInit_, CK_MODULE)(void) {
    return PyModuleDef_Init(&definition);
}
