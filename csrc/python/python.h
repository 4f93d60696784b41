// What the extension module's files share.
//
//   module.c    the module: methods, state, devices, faults
//   call.c      execute, error_depth, work: Python's arguments to a request of the runtime
//   buffers.c   arrays by the buffer protocol: formats, shapes, strides
//   table.c     the variant table as dictionaries
//   errors.c    the one place where a status becomes an exception
//
// The files are compiled twice, into cudakern._cuda and cudakern._emulator; nothing in them knows which.
#ifndef CK_PYTHON_H
#define CK_PYTHON_H

// One build serves every Python from 3.11. Free-threaded Pythons have no limited API; there it is built for one.
#include <pyconfig.h>
#if !defined(Py_GIL_DISABLED) && !defined(Py_LIMITED_API)
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include "../runtime/runtime.h"

typedef struct module_state {
    ck_runtime *runtime;
    PyObject *cuda_error, *out_of_memory; // cudakern._errors': both modules raise the same classes
} module_state;

static inline module_state *state_of(PyObject *module) {
    return (module_state *)PyModule_GetState(module);
}

// --- errors.c ----------------------------------------------------------------------------------------------------
int errors_import(module_state *state);                             // -1: an exception is set
PyObject *errors_raise(module_state *state, const ck_error *error); // sets it, returns NULL

// --- buffers.c ---------------------------------------------------------------------------------------------------
// The arrays of a call. A buffer held keeps its array's memory where it is, until buffers_release.
typedef struct buffers {
    Py_buffer held[CK_MAX_VIEWS];
    ck_view views[CK_MAX_VIEWS];
    int count;
} buffers;
// Adds the arrays of a tuple, `role` being "input" or "output"; outputs must be writable. -1: an exception is set.
int buffers_take(buffers *buffers, PyObject *arrays, const char *role, int writable);
void buffers_release(buffers *buffers);

// --- table.c -----------------------------------------------------------------------------------------------------
PyObject *table_operations(void);
const ck_operation *table_find(const char *name, ck_error *error);
// Adds to a dictionary and gives up the reference; -1 when the value is NULL or there is no memory.
int set_item(PyObject *dictionary, const char *key, PyObject *value);

// --- call.c ------------------------------------------------------------------------------------------------------
PyObject *call_execute(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *call_error_depth(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
PyObject *call_work(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
// TypeError unless exactly `wanted` arguments were given, which `usage` names.
int check_count(const char *usage, Py_ssize_t count, Py_ssize_t wanted);
int read_int(PyObject *object, const char *what, int *value);

#endif
