// The operation and the variant that a call names, and the set that has them.
#include "python.h"

const ck_set *read_set(const module_state *state, PyObject *object) {
    if (Py_IS_TYPE(object, state->set_type)) return ((set *)object)->set;
    PyErr_Format(PyExc_TypeError, "set must be a Set of cudakern." QUOTE(CK_MODULE) ", not %R", object);
    return NULL;
}

const ck_operation *read_operation(module_state *state, PyObject *object) {
    ck_error error; // not initialized, because it is large
    ck_error_clear(&error);
    const ck_set *set = state->package;
    if (PyTuple_Check(object) && PyTuple_Size(object) == 2) {
        if ((set = read_set(state, PyTuple_GetItem(object, 0))) == NULL) return NULL;
        object = PyTuple_GetItem(object, 1);
    }
    const char *name = read_text(object, "operation");
    if (name == NULL) return NULL;
    const ck_operation *operation = ck_set_operation(set, name, &error);
    if (operation == NULL) errors_raise(state, &error);
    return operation;
}

const ck_variant *read_variant(module_state *state, PyObject *const names[2], const ck_operation **operation) {
    ck_error error;
    ck_error_clear(&error);
    *operation = read_operation(state, names[0]);
    const char *which = *operation ? read_text(names[1], "variant") : NULL;
    if (which == NULL) return NULL;
    const ck_variant *variant = ck_find_variant(*operation, which, &error);
    if (variant == NULL) errors_raise(state, &error);
    return variant;
}
