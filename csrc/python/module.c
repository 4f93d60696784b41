// The extension module: its state, its types, its functions. Built as cudakern._cuda and cudakern._emulator.
#include "python.h"

#include "backend.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

enum { INTERFACE_VERSION = 11 }; // must match cudakern/_native.py

// --- the table, the backend --------------------------------------------------------------------------------------
static PyObject *operations(PyObject *module, PyObject *unused) {
    (void)unused;
    return table_operations(ck_set_table_of(state_of(module)->package));
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
    if ((key = read_text(arguments[0], "the setting")) == NULL || (value = read_text(arguments[1], key)) == NULL)
        return NULL;
    cudaError_t code;
    char detail[600] = "";
    Py_BEGIN_ALLOW_THREADS // it waits for running kernels, whose threads may need the interpreter
    code = (cudaError_t)backend_configure(key, value);
    if (code != cudaSuccess) {
        backend_error_detail(detail, sizeof detail);
        (void)cudaGetLastError();
    }
    Py_END_ALLOW_THREADS
    if (code == cudaSuccess) {
        ck_runtime_forget_limits(state_of(module)->runtime);
        forget_calls(state_of(module)); // the device may now have another chip
        return none();
    }
    ck_error error = {0};
    if (code == cudaErrorNotSupported)
        ck_fail(&error, CK_NOT_SUPPORTED, "The backend %s has no settings; only the emulator has the setting %s",
                backend_name(), key);
    else if (code == cudaErrorInvalidValue)
        ck_fail(&error, CK_BAD_VALUE, "cannot set %.60s=%.100s%s%s", key, value, *detail ? ": " : "", detail);
    else
        ck_fail(&error, (int)code, "%s: cannot set %.60s=%.100s%s%s", cudaGetErrorName(code), key, value,
                *detail ? ": " : "", detail);
    return errors_raise(state_of(module), &error);
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
                     "inject_fault(%d, %d): n must be at least 1 (or 0 for no fault), and code the code of an error",
                     n, code);
        return NULL;
    }
    ck_fault_set(n, code);
    return none();
}

static PyObject *fault_count(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLongLong(ck_fault_count());
}

// --- the module --------------------------------------------------------------------------------------------------
static PyMethodDef methods[] = {
    {"operations", operations, METH_NOARGS,
     PyDoc_STR("operations()\n--\n\nThe variant table: one dict per operation, with its variants in the order of the "
               "ladder.")},
    {"configure", FAST(configure), PyDoc_STR("configure(key, value, /)\n--\n\nChanges a setting of the emulator.")},
    {"backend_name", name_of_backend, METH_NOARGS, PyDoc_STR("backend_name()\n--\n\n'cuda' or 'emulator'.")},
    {"emulated", emulated, METH_NOARGS, PyDoc_STR("emulated()\n--\n\nTrue if kernels run on the CPU.")},
    {"inject_fault", FAST(inject_fault),
     PyDoc_STR("inject_fault(n, code, /)\n--\n\nThe n-th guarded call from now fails with code; 0: none.")},
    {"fault_count", fault_count, METH_NOARGS,
     PyDoc_STR("fault_count()\n--\n\nGuarded calls since inject_fault was called.")},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef *const all_methods[] = {
    array_methods,    call_methods,   device_methods,   dlpack_in_methods, dlpack_out_methods,
    exchange_methods, fork_methods,   kind_methods,     pinned_methods,    prepared_methods,
    set_methods,      stream_methods, transfer_methods, warm_methods,
};

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

// Objects are released with PyGILState_Ensure, which works with the main interpreter only. NumPy, which the package
// needs, supports only one interpreter, too.
static int refuse_subinterpreter(void) {
    const int64_t id = PyInterpreterState_GetID(PyInterpreterState_Get());
    if (id == 0) return 0;
    if (id > 0)
        PyErr_Format(PyExc_ImportError,
                     "cudakern.%s works in the main interpreter only, but this is subinterpreter %lld. Use threads "
                     "(calls release Python's lock) or processes",
                     QUOTE(CK_MODULE), (long long)id);
    return -1;
}

static int exec_module(PyObject *module) {
    module_state *state = state_of(module);
    if (refuse_subinterpreter() < 0) return -1;
    state->runtime = ck_runtime_create();
    if (state->runtime == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    prepare_for_forks(state->runtime);
    if (errors_import(state) < 0 || PyModule_AddObjectRef(module, "CudaError", state->cuda_error) < 0 ||
        PyModule_AddObjectRef(module, "OutOfMemoryError", state->out_of_memory) < 0 ||
        PyModule_AddIntConstant(module, "exact_capability", ck_exact_capability()) < 0 ||
        PyModule_AddIntConstant(module, "interface_version", INTERFACE_VERSION) < 0)
        return -1;
    if ((state->view_type = make_view_type(module)) == NULL || PyModule_AddType(module, state->view_type) < 0 ||
        (state->pinned_type = make_pinned_type(module)) == NULL ||
        (state->warm_type = make_warm_type(module)) == NULL ||
        (state->prepared_type = make_prepared_type(module)) == NULL ||
        (state->set_type = make_set_type(module)) == NULL || load_package_set(state) < 0 ||
        (state->memo = PyDict_New()) == NULL || PyModule_AddObjectRef(module, "memo", state->memo) < 0)
        return -1;
    for (size_t i = 0; i < sizeof all_methods / sizeof *all_methods; i++)
        if (PyModule_AddFunctions(module, all_methods[i]) < 0) return -1;
    return register_at_fork(module);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg) {
    module_state *state = state_of(module);
    if (state == NULL) return 0;
    Py_VISIT(state->cuda_error);
    Py_VISIT(state->out_of_memory);
    Py_VISIT(state->view_type);
    Py_VISIT(state->pinned_type);
    Py_VISIT(state->warm_type);
    Py_VISIT(state->prepared_type);
    Py_VISIT(state->set_type);
    Py_VISIT(state->array_type);
    Py_VISIT(state->host_type);
    Py_VISIT(state->memo);
    return 0;
}

static int clear_module(PyObject *module) {
    module_state *state = state_of(module);
    if (state == NULL) return 0;
    Py_CLEAR(state->cuda_error);
    Py_CLEAR(state->out_of_memory);
    Py_CLEAR(state->view_type);
    Py_CLEAR(state->pinned_type);
    Py_CLEAR(state->warm_type);
    Py_CLEAR(state->prepared_type);
    Py_CLEAR(state->set_type);
    Py_CLEAR(state->array_type);
    Py_CLEAR(state->host_type);
    Py_XDECREF(atomic_exchange(&state->view_name, NULL));
    forget_calls(state);
    Py_CLEAR(state->memo);
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
#ifdef Py_mod_gil // from 3.13 on; shared state is protected by locks and atomics
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
