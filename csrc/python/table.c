// A set's tables as Python objects.
#include "python.h"

int set_item(PyObject *dictionary, const char *key, PyObject *value) {
    int status = value ? PyDict_SetItemString(dictionary, key, value) : -1;
    Py_XDECREF(value);
    return status;
}

// Creates a tuple of `count` items by calling make(source, i).
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
    static const char *const names[] = {"cuda", "emulator"}; // in the order of the bits
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < 2; i++) {
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

static PyObject *make_variant(const void *source, Py_ssize_t index) {
    static const char *const orders[] = {"sequential", "tree", "compensated", "none"};
    const ck_variant *variant = &((const ck_operation *)source)->variants[index];
    Py_ssize_t parameters = 0, types = 0, kernels = 0;
    while (parameters < CK_MAX_PARAMETERS && variant->parameters[parameters].name != NULL) parameters++;
    while (types < CK_MAX_TYPES && variant->types[types].input >= 0) types++;
    while (kernels < CK_MAX_KERNELS && variant->kernels[kernels] != NULL) kernels++;
#define TRAIT(name) PyBool_FromLong((variant->traits & (name)) != 0)
    PyObject *dictionary =
        Py_BuildValue("{s:s,s:z,s:s,s:s,s:s,s:s,s:s,s:i}", "name", variant->name, "after", variant->after, "summary",
                      text(variant->summary), "lesson", text(variant->lesson), "origin", text(variant->origin),
                      "sum_order", orders[variant->sum_order], "finish",
                      variant->traits & CK_HOST_FINISH ? "host" : "kernel", "capability", variant->capability);
    if (dictionary == NULL ||
        set_item(dictionary, "parameters", make_tuple(parameters, make_parameter, variant)) < 0 ||
        set_item(dictionary, "types", make_tuple(types, make_types, variant)) < 0 ||
        set_item(dictionary, "kernels", make_tuple(kernels, make_kernel, variant)) < 0 ||
        set_item(dictionary, "backends", make_backends(variant->backends)) < 0 ||
        set_item(dictionary, "source", PyUnicode_FromString(text(variant->source))) < 0 ||
        set_item(dictionary, "deterministic", TRAIT(CK_DETERMINISTIC)) < 0 ||
        set_item(dictionary, "deterministic_integers", TRAIT(CK_DETERMINISTIC | CK_DETERMINISTIC_INTEGERS)) < 0 ||
        set_item(dictionary, "flushes_denormals", TRAIT(CK_FLUSHES_DENORMALS)) < 0 ||
        set_item(dictionary, "cuts_inputs", TRAIT(CK_CUTS_INPUTS)) < 0 ||
        set_item(dictionary, "compensated", PyBool_FromLong(variant->sum_order == CK_SUM_COMPENSATED)) < 0 ||
        set_item(dictionary, "reads_clock", TRAIT(CK_READS_CLOCK)) < 0 ||
        set_item(dictionary, "cooperative", TRAIT(CK_COOPERATIVE)) < 0 ||
        set_item(dictionary, "capability_exact", PyBool_FromLong(variant->capability_exact)) < 0)
        Py_CLEAR(dictionary);
#undef TRAIT
    return dictionary;
}

static PyObject *make_operation(const void *source, Py_ssize_t i) {
    const ck_operation *operation = ((const ck_operation *const *)source)[i];
    return Py_BuildValue("{s:s,s:s,s:i,s:i,s:N}", "name", operation->name, "summary", text(operation->summary),
                         "inputs", operation->inputs, "outputs", operation->outputs, "variants",
                         make_tuple(operation->variant_count, make_variant, operation));
}

PyObject *table_operations(const ck_set_table *table) {
    return make_tuple(table->operation_count, make_operation, table->operations);
}

static PyObject *make_kernel_parameter(const void *source, Py_ssize_t i) {
    static const char *const kinds[] = {"value", "reads", "writes"}; // in the order of ck_parameter_kind
    const ck_kernel_parameter *parameter = &((const ck_set_kernel *)source)->parameters[i];
    return Py_BuildValue("(szii)", kinds[parameter->kind],
                         parameter->dtype < 0 ? NULL : ck_dtype_name(parameter->dtype), parameter->bytes,
                         parameter->element_bytes);
}

static PyObject *make_set_kernel(const void *source, Py_ssize_t i) {
    const ck_set_kernel *kernel = &((const ck_set_kernel *)source)[i];
    return Py_BuildValue("(sN)", kernel->name, make_tuple(kernel->parameter_count, make_kernel_parameter, kernel));
}

PyObject *table_kernels(const ck_set_table *table) {
    return make_tuple(table->kernel_count, make_set_kernel, table->kernels);
}

static PyObject *make_extent(const void *source, Py_ssize_t i) {
    return PyLong_FromLongLong(((const ck_variable_type *)source)->shape[i]);
}

static PyObject *make_set_variable(const void *source, Py_ssize_t i) {
    const ck_set_variable *variable = &((const ck_set_variable *)source)[i];
    const ck_variable_type *type = &variable->type;
    return Py_BuildValue("(s(ziNN))", variable->name, type->dtype < 0 ? NULL : ck_dtype_name(type->dtype),
                         type->element_bytes, make_tuple(type->ndim < 0 ? 0 : type->ndim, make_extent, type),
                         PyBool_FromLong(type->is_const));
}

PyObject *table_variables(const ck_set_table *table) {
    return make_tuple(table->variable_count, make_set_variable, table->variables);
}
