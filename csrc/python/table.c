// The variant table as Python sees it. The build writes operations.inc, a line OPERATION(name) for each folder of
// kernels; nothing else lists them.
#include <string.h>

#include "python.h"

#define OPERATION(name) extern const ck_operation ck_operation_##name;
#include "operations.inc"
#undef OPERATION

static const ck_operation *const all_operations[] = {
#define OPERATION(name) &ck_operation_##name,
#include "operations.inc"
#undef OPERATION
};
enum { OPERATION_COUNT = sizeof all_operations / sizeof *all_operations };

const ck_operation *table_find(const char *name, ck_error *error) {
    for (int i = 0; i < OPERATION_COUNT; i++)
        if (strcmp(all_operations[i]->name, name) == 0) return all_operations[i];
    char known[800] = ""; // written only now: every call comes here
    for (int i = 0; i < OPERATION_COUNT; i++) {
        const size_t used = strlen(known);
        PyOS_snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", all_operations[i]->name);
    }
    ck_fail(error, CK_BAD_VALUE, "operation", "There is no operation '%.64s'. There are %s", name, known);
    return NULL;
}

int set_item(PyObject *dictionary, const char *key, PyObject *value) {
    int status = value ? PyDict_SetItemString(dictionary, key, value) : -1;
    Py_XDECREF(value);
    return status;
}

// A tuple of `count` items that `make(source, i)` makes.
static PyObject *make_tuple(Py_ssize_t count, PyObject *(*make)(const void *, Py_ssize_t), const void *source) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *item = make(source, i);
        if (item == NULL || PyTuple_SetItem(tuple, i, item) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *make_choice(const void *source, Py_ssize_t i) {
    return PyLong_FromLongLong(((const ck_parameter *)source)->choices[i]);
}

static PyObject *make_word(const void *source, Py_ssize_t i) {
    return PyUnicode_FromString(((const ck_parameter *)source)->words[i]);
}

static PyObject *make_parameter(const void *source, Py_ssize_t i) {
    const ck_parameter *parameter = &((const ck_variant *)source)->parameters[i];
    const int words = parameter->words[0] != NULL ? parameter->choice_count : 0;
    return Py_BuildValue(
        "{s:s,s:L,s:N,s:L,s:L,s:L,s:s,s:N}", "name", parameter->name, "default", (long long)parameter->fallback,
        "choices", make_tuple(parameter->choice_count, make_choice, parameter), "low", (long long)parameter->low,
        "high", (long long)parameter->high, "step", (long long)parameter->step, "unit",
        parameter->unit ? parameter->unit : "", "words", make_tuple(words, make_word, parameter));
}

static PyObject *make_types(const void *source, Py_ssize_t i) {
    const ck_types *types = &((const ck_variant *)source)->types[i];
    return Py_BuildValue("(sss)", ck_dtype_name(types->input), ck_dtype_name(types->accumulator),
                         ck_dtype_name(types->output));
}

static PyObject *make_kernel(const void *source, Py_ssize_t i) {
    return PyUnicode_FromString(((const ck_variant *)source)->kernels[i]);
}

static PyObject *make_backends(unsigned backends) {
    static const char *const names[] = {"cuda", "emulator", "host"}; // in the order of the bits
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < 3; i++) {
        if (!(backends & 1u << i)) continue;
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == NULL || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    PyObject *tuple = list ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    return tuple;
}

static const char *text(const char *maybe) {
    return maybe ? maybe : "";
}

static PyObject *make_row(const void *source, Py_ssize_t index) {
    static const char *const orders[] = {"sequential", "tree", "compensated", "none"};
    const ck_variant *row = &((const ck_operation *)source)->variants[index];
    Py_ssize_t parameters = 0, types = 0, kernels = 0;
    while (parameters < CK_MAX_PARAMETERS && row->parameters[parameters].name != NULL) parameters++;
    while (types < CK_MAX_TYPES && row->types[types].input >= 0) types++;
    while (kernels < CK_MAX_KERNELS && row->kernels[kernels] != NULL) kernels++;
#define TRAIT(name) PyBool_FromLong((row->traits & (name)) != 0)
    PyObject *made = Py_BuildValue("{s:s,s:z,s:s,s:s,s:s,s:s,s:s,s:i}", "name", row->name, "after", row->after,
                                   "summary", text(row->summary), "lesson", text(row->lesson), "origin",
                                   text(row->origin), "sum_order", orders[row->sum_order], "finish",
                                   row->traits & CK_HOST_FINISH ? "host" : "kernel", "capability", row->capability);
    if (made == NULL || set_item(made, "parameters", make_tuple(parameters, make_parameter, row)) < 0 ||
        set_item(made, "types", make_tuple(types, make_types, row)) < 0 ||
        set_item(made, "kernels", make_tuple(kernels, make_kernel, row)) < 0 ||
        set_item(made, "backends", make_backends(row->backends)) < 0 ||
        set_item(made, "source", PyUnicode_FromString(text(row->source))) < 0 ||
        set_item(made, "deterministic", TRAIT(CK_DETERMINISTIC)) < 0 ||
        set_item(made, "deterministic_integers", TRAIT(CK_DETERMINISTIC | CK_DETERMINISTIC_INTEGERS)) < 0 ||
        set_item(made, "flushes_denormals", TRAIT(CK_FLUSHES_DENORMALS)) < 0 ||
        set_item(made, "compensated", PyBool_FromLong(row->sum_order == CK_SUM_COMPENSATED)) < 0 ||
        set_item(made, "reads_clock", TRAIT(CK_READS_CLOCK)) < 0 ||
        set_item(made, "cooperative", TRAIT(CK_COOPERATIVE)) < 0 ||
        set_item(made, "capability_exact", PyBool_FromLong(row->capability_exact)) < 0)
        Py_CLEAR(made);
#undef TRAIT
    return made;
}

static PyObject *make_operation(const void *source, Py_ssize_t i) {
    const ck_operation *operation = ((const ck_operation *const *)source)[i];
    return Py_BuildValue("{s:s,s:s,s:i,s:i,s:N}", "name", operation->name, "summary", text(operation->summary),
                         "inputs", operation->inputs, "outputs", operation->outputs, "variants",
                         make_tuple(operation->variant_count, make_row, operation));
}

PyObject *table_operations(void) {
    return make_tuple(OPERATION_COUNT, make_operation, all_operations);
}
