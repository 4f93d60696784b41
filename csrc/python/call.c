// execute, error_depth and work: Python's arguments to a request of the runtime, its report to a dictionary.
#include <string.h>

#include "python.h"

int check_count(const char *usage, Py_ssize_t count, Py_ssize_t wanted) {
    if (count == wanted) return 0;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, %zd were given", usage, wanted, count);
    return -1;
}

int read_int(PyObject *object, const char *what, int *value) {
    const long number = PyLong_AsLong(object);
    if (number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, object);
        } else if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Format(PyExc_ValueError, "%s is %R, which no int holds", what, object);
        }
        return -1;
    }
    if (number < INT_MIN || number > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%s is %R, which no int holds", what, object);
        return -1;
    }
    *value = (int)number;
    return 0;
}

static const char *read_text(PyObject *object, const char *what) {
    if (!PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a str, not %R", what, object);
        return NULL;
    }
    return PyUnicode_AsUTF8AndSize(object, NULL);
}

// A tuple of integers; returns how many, -1 with an exception set.
static int read_integers(PyObject *object, const char *what, int limit, int64_t *values) {
    if (!PyTuple_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s must be a tuple of integers, not %R", what, object);
        return -1;
    }
    const Py_ssize_t count = PyTuple_Size(object);
    if (count > limit) {
        PyErr_Format(PyExc_ValueError, "%s has %zd items, at most %d are taken", what, count, limit);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *number = PyNumber_Index(PyTuple_GetItem(object, i));
        if (number == NULL) return -1;
        values[i] = PyLong_AsLongLong(number);
        Py_DECREF(number);
        if (values[i] == -1 && PyErr_Occurred()) {
            if (PyErr_ExceptionMatches(PyExc_OverflowError))
                PyErr_Format(PyExc_ValueError, "%s has the item %R, which 64 bits do not hold", what,
                             PyTuple_GetItem(object, i));
            return -1;
        }
    }
    return (int)count;
}

// Fills views (no data, no gaps) from a tuple of shapes; returns how many, -1 with an exception set.
static int read_shapes(PyObject *shapes, ck_view *views) {
    if (!PyTuple_Check(shapes) || PyTuple_Size(shapes) > CK_MAX_VIEWS) {
        PyErr_Format(PyExc_TypeError, "shapes must be a tuple of at most %d tuples of integers, not %R", CK_MAX_VIEWS,
                     shapes);
        return -1;
    }
    const int count = (int)PyTuple_Size(shapes);
    for (int i = 0; i < count; i++) {
        const int ndim = read_integers(PyTuple_GetItem(shapes, i), "a shape", CK_MAX_DIMS, views[i].shape);
        if (ndim < 0) return -1;
        for (int axis = 0; axis < ndim; axis++) {
            if (views[i].shape[axis] >= 0) continue;
            PyErr_Format(PyExc_ValueError, "a shape has the negative length %lld", (long long)views[i].shape[axis]);
            return -1;
        }
        views[i].ndim = ndim;
    }
    return count;
}

static void set_dtype(ck_view *view, int dtype) {
    int64_t stride = (int64_t)ck_dtype_size(dtype);
    view->dtype = dtype;
    for (int axis = view->ndim - 1; axis >= 0; axis--) {
        view->strides[axis] = stride;
        // A question may be about an array that no memory holds; nobody follows its strides.
        if (__builtin_mul_overflow(stride, view->shape[axis], &stride)) stride = INT64_MAX;
    }
}

static int read_dtype(PyObject *object, int *dtype) {
    const char *name = read_text(object, "a dtype's name");
    if (name == NULL) return -1;
    *dtype = ck_dtype_from_name(name);
    if (*dtype >= 0) return 0;
    PyErr_Format(PyExc_TypeError, "there is no type '%s' here: take a NumPy name such as 'float32'", name);
    return -1;
}

// --- execute -----------------------------------------------------------------------------------------------------
// While the runtime waits, the thread has given up Python; a look at the signals takes it back for a moment.
static int check_signals(void *argument) {
    PyThreadState **saved = argument;
    PyEval_RestoreThread(*saved);
    // A handler that raised is asked no second time: its exception is on its way.
    const int interrupted = PyErr_Occurred() != NULL || PyErr_CheckSignals() != 0;
    *saved = PyEval_SaveThread();
    return interrupted;
}

static PyObject *make_clocks(const ck_measure *measure) {
    const Py_ssize_t count = measure->clocks ? (Py_ssize_t)measure->plan.clock_blocks : 0;
    PyObject *clocks = PyTuple_New(count);
    for (Py_ssize_t i = 0; clocks != NULL && i < count; i++) {
        const ck_clock *clock = &measure->clocks[i];
        PyObject *item =
            Py_BuildValue("(LLLL)", clock->cycle_start, clock->cycle_end, clock->ns_start, clock->ns_end);
        if (item == NULL || PyTuple_SetItem(clocks, i, item) < 0) Py_CLEAR(clocks);
    }
    return clocks;
}

static PyObject *make_report(const ck_measure *measure) {
    const ck_plan *plan = &measure->plan;
    PyObject *report = Py_BuildValue(
        "{s:L,s:L,s:L,s:L,s:L,s:d,s:d,s:L,s:L,s:L,s:n,s:n,s:(III),s:(III)}", "kernel_ns",
        (long long)measure->kernel_ns, "to_device_ns", (long long)measure->to_device_ns, "to_host_ns",
        (long long)measure->to_host_ns, "whole_ns", (long long)measure->whole_ns, "finish_ns",
        (long long)measure->finish_ns, "flops", measure->work.flops, "bytes", measure->work.bytes, "bytes_to_device",
        (long long)measure->bytes_to_device, "bytes_to_host", (long long)measure->bytes_to_host, "partials",
        (long long)plan->partials, "shared_bytes", (Py_ssize_t)plan->shared_bytes, "workspace_bytes",
        (Py_ssize_t)plan->workspace_bytes, "grid", plan->grid[0], plan->grid[1], plan->grid[2], "block",
        plan->block[0], plan->block[1], plan->block[2]);
    if (report != NULL && set_item(report, "clocks", make_clocks(measure)) < 0) Py_CLEAR(report);
    return report;
}

static PyObject *run_request(module_state *state, ck_request *request, int measured) {
    ck_error error = {0};
    ck_measure measure = {0};
    PyThreadState *saved = PyEval_SaveThread();
    request->interrupted = check_signals;
    request->interrupted_arg = &saved;
    request->measure = measured ? &measure : NULL;
    const int status = ck_execute(state->runtime, request, &error);
    PyEval_RestoreThread(saved);
    PyObject *result = NULL;
    if (PyErr_Occurred()) {
        // A handler raised while a failed call was being given up: that exception comes first.
    } else if (status != CK_OK) {
        errors_raise(state, &error);
    } else if (measured) {
        result = make_report(&measure);
    } else {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    ck_measure_clear(&measure);
    return result;
}

PyObject *call_execute(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_request request = {0};
    ck_error error = {0};
    int64_t parameters[CK_MAX_PARAMETERS];
    buffers buffers = {.count = 0};
    PyObject *result = NULL;
    if (check_count("execute(operation, variant, parameters, inputs, outputs, device, measure)", count, 7) < 0)
        return NULL;
    const char *operation = read_text(arguments[0], "operation");
    const char *variant = operation ? read_text(arguments[1], "variant") : NULL;
    if (variant == NULL) return NULL;
    request.operation = table_find(operation, &error);
    if (request.operation != NULL) request.variant = ck_find_variant(request.operation, variant, &error);
    if (request.variant == NULL) return errors_raise(state, &error);
    request.parameters = parameters;
    request.parameter_count = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, parameters);
    const int measured = request.parameter_count < 0 ? -1 : PyObject_IsTrue(arguments[6]);
    if (measured < 0 || read_int(arguments[5], "device", &request.device) < 0) return NULL;
    if (buffers_take(&buffers, arguments[3], "input", 0) == 0) {
        const int inputs = buffers.count;
        if (buffers_take(&buffers, arguments[4], "output", 1) == 0) {
            if (inputs != request.operation->inputs) {
                PyErr_Format(PyExc_TypeError, "%s takes %d inputs, %d were given", operation,
                             request.operation->inputs, inputs);
            } else {
                request.views = buffers.views;
                request.view_count = buffers.count;
                result = run_request(state, &request, measured);
            }
        }
    }
    buffers_release(&buffers);
    return result;
}

// --- questions about a row ---------------------------------------------------------------------------------------
PyObject *call_error_depth(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_view views[CK_MAX_VIEWS] = {0};
    ck_limits limits;
    int64_t given[CK_MAX_PARAMETERS], filled[CK_MAX_PARAMETERS] = {0};
    int dtypes[CK_MAX_VIEWS];
    if (check_count("error_depth(operation, variant, parameters, dtypes, shapes)", count, 5) < 0) return NULL;
    const char *name = read_text(arguments[0], "operation");
    const char *row = name ? read_text(arguments[1], "variant") : NULL;
    if (row == NULL) return NULL;
    const ck_operation *operation = table_find(name, &error);
    const ck_variant *variant = operation ? ck_find_variant(operation, row, &error) : NULL;
    if (variant == NULL) return errors_raise(state, &error);
    const int parameters = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, given);
    if (parameters < 0) return NULL;
    const int shapes = read_shapes(arguments[4], views);
    if (shapes < 0) return NULL;
    if (!PyTuple_Check(arguments[3]) || PyTuple_Size(arguments[3]) < operation->inputs ||
        shapes < operation->inputs) {
        PyErr_Format(PyExc_TypeError, "error_depth of %s needs the dtypes and the shapes of its %d inputs, as tuples",
                     name, operation->inputs);
        return NULL;
    }
    for (int i = 0; i < operation->inputs; i++)
        if (read_dtype(PyTuple_GetItem(arguments[3], i), &dtypes[i]) < 0) return NULL;
    ck_call call = {.views = views, .view_count = shapes, .parameters = filled, .limits = &limits};
    if (ck_check_types(operation, variant, dtypes, operation->inputs, -1, &call.types, &error) != CK_OK ||
        ck_check_parameters(operation, variant, given, parameters, filled, &error) != CK_OK)
        return errors_raise(state, &error);
    // Where a row takes its blocks from the chip, the bound depends on it. It is asked for without a device, too.
    ck_error ignored = {0};
    int device;
    if (ck_device_choose(&device, &ignored) != CK_OK || ck_device_limits(device, &limits, &ignored) != CK_OK)
        ck_device_nominal_limits(&limits);
    for (int i = 0; i < shapes; i++) set_dtype(&views[i], i < operation->inputs ? dtypes[i] : call.types.output);
    return PyFloat_FromDouble(variant->depth ? variant->depth(&call) : 0.0);
}

PyObject *call_work(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_view views[CK_MAX_VIEWS] = {0};
    ck_limits limits;
    ck_work work = {0, 0};
    int64_t parameters[CK_MAX_PARAMETERS] = {0};
    int dtype;
    if (check_count("work(operation, shapes, dtype)", count, 3) < 0) return NULL;
    const char *name = read_text(arguments[0], "operation");
    if (name == NULL) return NULL;
    const ck_operation *operation = table_find(name, &error);
    if (operation == NULL) return errors_raise(state, &error);
    const int shapes = read_shapes(arguments[1], views);
    if (shapes < 0 || read_dtype(arguments[2], &dtype) < 0) return NULL;
    if (shapes < operation->inputs) {
        PyErr_Format(PyExc_TypeError, "work of %s needs the shapes of its %d inputs", name, operation->inputs);
        return NULL;
    }
    ck_device_nominal_limits(&limits);
    ck_call call = {.views = views, .view_count = shapes, .parameters = parameters, .limits = &limits};
    call.types = (ck_types){dtype, dtype, dtype};
    for (int i = operation->variant_count - 1; i >= 0; i--) { // the result's type, as the first row has it
        const ck_types *types = operation->variants[i].types;
        for (int k = 0; k < CK_MAX_TYPES && types[k].input >= 0; k++)
            if (types[k].input == dtype) call.types = types[k];
    }
    for (int i = 0; i < shapes; i++) set_dtype(&views[i], i < operation->inputs ? dtype : call.types.output);
    if (operation->work != NULL) operation->work(&call, &work);
    return Py_BuildValue("(dd)", work.flops, work.bytes);
}
