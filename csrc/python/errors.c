// Converts a status to a Python exception; no other file does.
#include <string.h>

#include "../size_in_words.h"
#include "backend.h"
#include "python.h"

int errors_import(module_state *state) {
    PyObject *errors = PyImport_ImportModule("cudakern._errors");
    if (errors == NULL) return -1;
    state->cuda_error = PyObject_GetAttrString(errors, "CudaError");
    state->out_of_memory = state->cuda_error ? PyObject_GetAttrString(errors, "OutOfMemoryError") : NULL;
    Py_DECREF(errors);
    return state->out_of_memory ? 0 : -1;
}

PyObject *readable(const char *words) {
    return PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "backslashreplace");
}

static void raise_in_words(PyObject *class, const char *words) {
    PyObject *text = readable(words);
    if (text != NULL) PyErr_SetObject(class, text);
    Py_XDECREF(text);
}

// Raises class(message, **keywords); takes over the reference to the keywords.
static void raise_with(PyObject *class, const char *message, PyObject *keywords) {
    PyObject *arguments = keywords ? Py_BuildValue("(N)", readable(message)) : NULL;
    PyObject *exception = arguments ? PyObject_Call(class, arguments, keywords) : NULL;
    if (exception != NULL) PyErr_SetObject(class, exception);
    Py_XDECREF(exception);
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
}

static void raise_cuda(module_state *state, const ck_error *error) {
    const cudaError_t code = (cudaError_t)error->code;
    const char *name = cudaGetErrorName(code);
    if (code != cudaErrorMemoryAllocation) {
        raise_with(state->cuda_error, error->message, Py_BuildValue("{s:s,s:i}", "name", name, "code", error->code));
        return;
    }
    char message[sizeof error->message + 160];
    if (error->bytes > 0)
        PyOS_snprintf(message, sizeof message,
                      error->bytes > error->bytes_free ? "The device is out of memory: %s requested, %s free. %s"
                      : backend_memory_is_host()
                          ? "The host is out of memory: %s requested, and the device would have %s free. %s"
                          : "The device has no contiguous block of %s, although %s are free. %s",
                      ck_size_in_words(error->bytes).text, ck_size_in_words(error->bytes_free).text, error->message);
    else
        PyOS_snprintf(message, sizeof message, "%s", error->message);
    raise_with(state->out_of_memory, message,
               Py_BuildValue("{s:s,s:i,s:n,s:n}", "name", name, "code", error->code, "bytes",
                             (Py_ssize_t)error->bytes, "bytes_free", (Py_ssize_t)error->bytes_free));
}

PyObject *errors_raise(module_state *state, const ck_error *error) {
    switch (error->code) {
    case CK_OK: PyErr_SetString(PyExc_SystemError, "a call failed without reporting an error"); break;
    case CK_BAD_TYPE: raise_in_words(PyExc_TypeError, error->message); break;
    case CK_BAD_VALUE: raise_in_words(PyExc_ValueError, error->message); break;
    case CK_NO_HOST_MEMORY: raise_in_words(PyExc_MemoryError, error->message); break;
    case CK_NOT_SUPPORTED: raise_in_words(PyExc_NotImplementedError, error->message); break;
    case CK_INTERRUPTED: // usually the signal's handler has raised an exception
        if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
        break;
    default:
        if (error->code > 0)
            raise_cuda(state, error);
        else
            PyErr_Format(PyExc_SystemError, "status %d: %s", error->code, error->message);
    }
    return NULL;
}
