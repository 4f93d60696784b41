// The arrays of a call, and its kind: for kind.c and prepared.c.
#ifndef CK_KIND_H
#define CK_KIND_H

#include "python.h"

// The arrays of a call: inputs, then the result.
typedef struct arrays {
    view *held[CK_MAX_VIEWS]; // on the device; NULL: a number that is not in device memory yet
    ck_view views[CK_MAX_VIEWS];
    ck_memory *memories[CK_MAX_VIEWS];
    int count, device, on_host;
    buffers buffers; // on the host
    char numbers[CK_MAX_VIEWS][16];
} arrays;

// The caller must release the arrays in any case.
void arrays_release(arrays *arrays);
void arrays_set(arrays *arrays, int i, view *array); // takes over the reference
void arrays_add(arrays *arrays, view *array);        // likewise
// Add an array, but none of a subclass; for other objects they return 0 without an exception.
int arrays_take_device(module_state *state, PyObject *object, arrays *arrays); // a DeviceArray of this module
int arrays_take_host(module_state *state, PyObject *object, int writable, arrays *arrays); // a NumPy array
// 1: all are NumPy arrays and numbers, or all are arrays on one device of this module and numbers; device: -1, or for
// host arrays where they go.
int arrays_take_inputs(module_state *state, PyObject *inputs, int device, arrays *arrays, unsigned long long *kinds);
// Whether all parameters are integers or strings. Other objects may equal them and yet differ: 1.0 and True equal 1.
int kind_is_exact(PyObject *variant, PyObject *parameters);
PyObject *kind_key(PyObject *rule, PyObject *variant, PyObject *parameters, unsigned long long kinds);

#endif
