// execute, error_depth and work: convert Python's arguments to a request of the runtime, and its report to a
// dictionary.
#include <string.h>

#include "python.h"

// --- execute -----------------------------------------------------------------------------------------------------
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

static PyObject *make_launches(const ck_measure *measure) {
    PyObject *result = PyTuple_New(measure->launch_count);
    for (int i = 0; result != NULL && i < measure->launch_count; i++) {
        PyObject *launch = Py_BuildValue("(sL)", measure->launches[i].name, (long long)measure->launches[i].ns);
        if (launch == NULL || PyTuple_SetItem(result, i, launch) < 0) Py_CLEAR(result);
    }
    return result;
}

PyObject *make_report(const ck_measure *measure) {
    const ck_plan *plan = &measure->plan;
    PyObject *report = Py_BuildValue(
        "{s:L,s:L,s:L,s:L,s:L,s:d,s:d,s:L,s:L,s:L,s:L,s:n,s:n,s:i,s:(III),s:(III)}", "kernel_ns",
        (long long)measure->kernel_ns, "to_device_ns", (long long)measure->to_device_ns, "to_host_ns",
        (long long)measure->to_host_ns, "whole_ns", (long long)measure->whole_ns, "finish_ns",
        (long long)measure->finish_ns, "flops", measure->work.flops, "bytes", measure->work.bytes, "bytes_to_device",
        (long long)measure->bytes_to_device, "bytes_to_host", (long long)measure->bytes_to_host, "bytes_gathered",
        (long long)measure->bytes_gathered, "partials", (long long)plan->partials, "shared_bytes",
        (Py_ssize_t)plan->shared_bytes, "workspace_bytes", (Py_ssize_t)plan->workspace_bytes, "launched",
        measure->launched, "grid", plan->grid[0], plan->grid[1], plan->grid[2], "block", plan->block[0],
        plan->block[1], plan->block[2]);
    if (report != NULL && set_item(report, "clocks", make_clocks(measure)) < 0) Py_CLEAR(report);
    if (report != NULL && set_item(report, "launches", make_launches(measure)) < 0) Py_CLEAR(report);
    return report;
}

// The arrays of a call: all are on the host, or all are on the device.
typedef struct arrays {
    ck_view views[CK_MAX_VIEWS];
    ck_memory *memories[CK_MAX_VIEWS]; // of arrays on the device
    buffers buffers;                   // of arrays on the host
    int count, on_device;
} arrays;

static int take_view(arrays *arrays, const view *array, const char *role, int number, int writable, int device) {
    if (writable && check_writable(array, role, number) < 0) return -1;
    if (array->device != device) {
        PyErr_Format(PyExc_ValueError, "%s is on device %d, but the call runs on device %d; copy it there first",
                     label_of(role, number).text, array->device, device);
        return -1;
    }
    arrays->views[arrays->count] = array->array.view;
    arrays->memories[arrays->count++] = array->array.memory;
    return 0;
}

// Adds the arrays of a tuple, `role` being "input" or "output". -1: an exception is set.
static int take_arrays(const module_state *state, arrays *arrays, PyObject *tuple, const char *role, int writable,
                       int device) {
    if (!PyTuple_Check(tuple)) {
        PyErr_Format(PyExc_TypeError, "%ss must be a tuple of arrays", role);
        return -1;
    }
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > CK_MAX_VIEWS - arrays->count) {
        PyErr_Format(PyExc_ValueError, "%zd %ss exceed a call's limit of %d arrays", count, role, CK_MAX_VIEWS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *array = PyTuple_GetItem(tuple, i);
        const int on_device = is_view(state, array);
        if (arrays->count == 0) arrays->on_device = on_device;
        if (on_device != arrays->on_device) {
            // Report objects that are neither kind of array first; otherwise the two kinds are mixed.
            if (!on_device && !PyTuple_Check(array) && !PyObject_CheckBuffer(array))
                return read_view(state, array, label_of(role, (int)i).text) == NULL ? -1 : 0;
            PyErr_Format(PyExc_TypeError,
                         "%s is %s, but the arrays before it are %s; all arrays of a call must be on the same side",
                         label_of(role, (int)i).text, on_device ? "on the device" : "on the host",
                         on_device ? "on the host" : "on the device");
            return -1;
        }
        if (on_device) {
            if (take_view(arrays, (view *)array, role, (int)i, writable, device) < 0) return -1;
        } else {
            if (buffers_take(&arrays->buffers, array, role, (int)i, writable, &arrays->views[arrays->count]) < 0)
                return -1;
            arrays->count++;
        }
    }
    return 0;
}

int read_measure(PyObject *object) {
    const int measured = PyObject_IsTrue(object);
    return measured > 0 && PyLong_Check(object) && PyLong_AsLong(object) == 2 ? 2 : measured;
}

static PyObject *run_request(module_state *state, ck_request *request, int measured, ck_error *error) {
    ck_measure measure;
    outside outside;
    if (measured) memset(&measure, 0, sizeof measure);
    outside_begin(&outside, state);
    request->waiter = outside.waiter;
    measure.by_launch = measured == 2;
    request->measure = measured ? &measure : NULL;
    const int status = ck_execute(state->runtime, request, error);
    if (outside_end(&outside, status, error) == 0) {
        if (!measured) return none();
        PyObject *report = make_report(&measure);
        ck_measure_clear(&measure);
        return report;
    }
    if (measured) ck_measure_clear(&measure);
    return NULL;
}

// Reads the arguments that execute and kernels have in common into a request. The caller must release the buffers,
// even if this fails.
typedef struct call_data {
    ck_request request;
    arrays arrays;
    int64_t parameters[CK_MAX_PARAMETERS];
} call_data;

static int read_call(module_state *state, PyObject *const *arguments, call_data *call_data) {
    ck_request *request = &call_data->request;
    arrays *arrays = &call_data->arrays;
    memset(request, 0, sizeof *request);
    arrays->count = arrays->on_device = arrays->buffers.count = 0;
    request->variant = read_variant(state, arguments, &request->operation);
    if (request->variant == NULL) return -1;
    request->parameters = call_data->parameters;
    request->parameter_count = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, call_data->parameters);
    if (request->parameter_count < 0 || read_int(arguments[5], "device", &request->device) < 0 ||
        take_arrays(state, arrays, arguments[3], "input", 0, request->device) < 0)
        return -1;
    const int inputs = arrays->count;
    if (take_arrays(state, arrays, arguments[4], "output", 1, request->device) < 0) return -1;
    if (inputs != request->operation->inputs) {
        PyErr_Format(PyExc_TypeError, "%s takes %d inputs, not %d", request->operation->name,
                     request->operation->inputs, inputs);
        return -1;
    }
    request->views = arrays->views;
    request->view_count = arrays->count;
    request->memories = arrays->on_device ? arrays->memories : NULL;
    return 0;
}

static PyObject *execute(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error; // not initialized, because it is large, like the arrays
    call_data call_data;
    PyObject *result = NULL;
    if (check_count("execute(operation, variant, parameters, inputs, outputs, device, measure, stream)", count, 8) <
        0)
        return NULL;
    ck_error_clear(&error);
    const int read = read_call(state, arguments, &call_data);
    const int measured = read < 0 ? -1 : read_measure(arguments[6]);
    if (measured >= 0 && read_stream(arguments[7], &call_data.request.stream) == 0)
        result = run_request(state, &call_data.request, measured, &error);
    buffers_release(&call_data.arrays.buffers);
    return result;
}

// --- what a call would launch ------------------------------------------------------------------------------------
// A sweep: a tuple of pairs (threads per block, bytes of dynamic shared memory).
static int read_sweep(PyObject *pairs, ck_sweep *sweep) {
    if (!PyTuple_Check(pairs) || PyTuple_Size(pairs) > CK_MAX_SWEEP) {
        PyErr_Format(PyExc_TypeError, "sweep must be a tuple of at most %d pairs (threads, shared bytes)",
                     CK_MAX_SWEEP);
        return -1;
    }
    sweep->count = (int)PyTuple_Size(pairs);
    for (int i = 0; i < sweep->count; i++) {
        int64_t pair[2];
        const int read = read_integers(PyTuple_GetItem(pairs, i), "a pair of sweep", 2, pair);
        if (read < 0) return -1;
        if (read != 2 || pair[0] < 1 || pair[0] > INT32_MAX || pair[1] < 0) {
            PyErr_SetString(
                PyExc_ValueError,
                "each pair in sweep must be (threads, shared bytes), with threads at least 1 and bytes at least 0");
            return -1;
        }
        sweep->threads[i] = pair[0];
        sweep->shared[i] = pair[1];
    }
    return 0;
}

static PyObject *make_kernel(const ck_listed_kernel *kernel, int sweep) {
    PyObject *dictionary = Py_BuildValue(
        "{s:s,s:s,s:i,s:(III),s:(III),s:n,s:i,s:i,s:i,s:i,s:n,s:n,s:n,s:n,s:i,s:(ii)}", "name", kernel->name,
        "symbol", kernel->symbol, "launches", kernel->launches, "grid", kernel->grid[0], kernel->grid[1],
        kernel->grid[2], "block", kernel->block[0], kernel->block[1], kernel->block[2], "dynamic_shared",
        (Py_ssize_t)kernel->dynamic_shared, "registers", kernel->registers, "max_threads", kernel->max_threads,
        "binary_version", kernel->binary_version, "ptx_version", kernel->ptx_version, "static_shared",
        (Py_ssize_t)kernel->static_shared, "local_bytes", (Py_ssize_t)kernel->local_bytes, "constant_bytes",
        (Py_ssize_t)kernel->constant_bytes, "max_dynamic_shared", (Py_ssize_t)kernel->max_dynamic_shared,
        "active_blocks", kernel->active_blocks, "potential", kernel->potential_grid, kernel->potential_block);
    int64_t swept[CK_MAX_SWEEP];
    for (int i = 0; i < sweep; i++) swept[i] = kernel->swept[i];
    if (dictionary == NULL || set_item(dictionary, "cooperative", PyBool_FromLong(kernel->cooperative)) < 0 ||
        set_item(dictionary, "swept", make_integers(swept, sweep)) < 0)
        Py_CLEAR(dictionary);
    return dictionary;
}

// (number in the call, grid, block, shared bytes, the arguments' values as bytes, or None)
static PyObject *make_listed_launch(const ck_listed_launch *launch, int number) {
    PyObject *values = launch->sizes == NULL ? Py_NewRef(Py_None) : PyList_New(0);
    const char *next = (const char *)launch->values;
    for (const int *size = launch->sizes; values != NULL && size != NULL && *size > 0; next += *size++) {
        PyObject *value = PyBytes_FromStringAndSize(next, *size);
        if (value == NULL || PyList_Append(values, value) < 0) Py_CLEAR(values);
        Py_XDECREF(value);
    }
    if (values == NULL) return NULL;
    return Py_BuildValue("i(III)(III)nN", number, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                         launch->block[1], launch->block[2], (Py_ssize_t)launch->dynamic_shared, values);
}

static PyObject *make_listed_launches(const ck_listing *listing, int kernel) {
    PyObject *launches = PyList_New(0);
    for (int i = 0; launches != NULL && i < listing->launch_count; i++) {
        if (listing->launches[i].kernel != kernel) continue;
        PyObject *launch = make_listed_launch(&listing->launches[i], i);
        if (launch == NULL || PyList_Append(launches, launch) < 0) Py_CLEAR(launches);
        Py_XDECREF(launch);
    }
    return launches;
}

PyObject *make_kernels(const ck_listing *listing) {
    PyObject *kernels = PyTuple_New(listing->count);
    for (int i = 0; kernels != NULL && i < listing->count; i++) {
        PyObject *kernel = make_kernel(&listing->kernels[i], listing->sweep.count);
        if (kernel != NULL &&
            (set_item(kernel, "each", make_listed_launches(listing, i)) < 0 ||
             set_item(kernel, "workspace", PyLong_FromSize_t(listing->workspace_bytes)) < 0 ||
             set_item(kernel, "partials", PyLong_FromLongLong(listing->partials)) < 0 ||
             set_item(kernel, "bytes", make_integers(listing->view_bytes, listing->view_count)) < 0))
            Py_CLEAR(kernel);
        if (kernel == NULL || PyTuple_SetItem(kernels, i, kernel) < 0) Py_CLEAR(kernels);
    }
    return kernels;
}

static PyObject *kernels(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    call_data call_data;
    PyObject *result = NULL;
    if (check_count("kernels(operation, variant, parameters, inputs, outputs, device, sweep)", count, 7) < 0)
        return NULL;
    ck_listing *listing = PyMem_Malloc(sizeof *listing);
    if (listing == NULL) return PyErr_NoMemory();
    if (read_call(state, arguments, &call_data) == 0 && read_sweep(arguments[6], &listing->sweep) == 0) {
        outside outside;
        outside_begin(&outside, state);
        const int status = ck_list(state->runtime, &call_data.request, listing, &error);
        if (outside_end(&outside, status, &error) == 0) result = make_kernels(listing);
    }
    buffers_release(&call_data.arrays.buffers);
    PyMem_Free(listing);
    return result;
}

static PyObject *memory_needed(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    call_data call_data;
    PyObject *result = NULL;
    if (check_count("memory_needed(operation, variant, parameters, inputs, outputs, device, on_device)", count, 7) <
        0)
        return NULL;
    const int on_device = PyObject_IsTrue(arguments[6]);
    if (on_device >= 0 && read_call(state, arguments, &call_data) == 0) {
        outside outside;
        size_t bytes = 0;
        // Host arrays stand for arrays on the device: only their shapes, strides and types matter here.
        if (on_device) call_data.request.memories = call_data.arrays.memories;
        outside_begin(&outside, state);
        const int status = ck_memory_needed(state->runtime, &call_data.request, &bytes, &error);
        if (outside_end(&outside, status, &error) == 0) result = PyLong_FromSize_t(bytes);
    }
    if (on_device >= 0) buffers_release(&call_data.arrays.buffers);
    return result;
}

// --- questions about a variant -----------------------------------------------------------------------------------
static PyObject *error_depth(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_view views[CK_MAX_VIEWS] = {0};
    ck_limits limits;
    int64_t values[CK_MAX_PARAMETERS], filled[CK_MAX_PARAMETERS] = {0};
    int dtypes[CK_MAX_VIEWS];
    if (check_count("error_depth(operation, variant, parameters, dtypes, shapes)", count, 5) < 0) return NULL;
    const ck_operation *operation;
    const ck_variant *variant = read_variant(state, arguments, &operation);
    if (variant == NULL) return NULL;
    const int parameters = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, values);
    if (parameters < 0) return NULL;
    const int shapes = read_shapes(arguments[4], views);
    if (shapes < 0) return NULL;
    if (!PyTuple_Check(arguments[3]) || PyTuple_Size(arguments[3]) < operation->inputs ||
        shapes < operation->inputs) {
        PyErr_Format(PyExc_TypeError, "error_depth of %s needs the dtypes and the shapes of its %d inputs, as tuples",
                     operation->name, operation->inputs);
        return NULL;
    }
    for (int i = 0; i < operation->inputs; i++)
        if (read_dtype(PyTuple_GetItem(arguments[3], i), &dtypes[i]) < 0) return NULL;
    ck_call call = {.views = views, .view_count = shapes, .parameters = filled, .limits = &limits};
    if (ck_check_types(operation, variant, dtypes, operation->inputs, -1, &call.types, &error) != CK_OK ||
        ck_check_parameters(operation, variant, values, parameters, filled, &error) != CK_OK)
        return errors_raise(state, &error);
    // If a variant's number of blocks depends on the chip, so does the bound. Without a device, nominal limits are
    // used.
    ck_error ignored = {0};
    int device;
    if (ck_device_choose(&device, &ignored) != CK_OK || ck_device_limits(device, &limits, &ignored) != CK_OK)
        ck_device_nominal_limits(&limits);
    for (int i = 0; i < shapes; i++)
        ck_view_lay_out(&views[i], i < operation->inputs ? dtypes[i] : call.types.output);
    return PyFloat_FromDouble(variant->depth ? variant->depth(&call) : 0.0);
}

static PyObject *work(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_view views[CK_MAX_VIEWS] = {0};
    ck_limits limits;
    ck_work least = {0, 0};
    int64_t parameters[CK_MAX_PARAMETERS] = {0};
    int dtype;
    if (check_count("work(operation, shapes, dtype)", count, 3) < 0) return NULL;
    const ck_operation *operation = read_operation(state, arguments[0]);
    if (operation == NULL) return NULL;
    const int shapes = read_shapes(arguments[1], views);
    if (shapes < 0 || read_dtype(arguments[2], &dtype) < 0) return NULL;
    if (shapes < operation->inputs) {
        PyErr_Format(PyExc_TypeError, "work of %s needs the shapes of its %d inputs", operation->name,
                     operation->inputs);
        return NULL;
    }
    ck_device_nominal_limits(&limits);
    ck_call call = {.views = views, .view_count = shapes, .parameters = parameters, .limits = &limits};
    call.types = (ck_types){dtype, dtype, dtype};
    for (int i = operation->variant_count - 1; i >= 0; i--) { // the result's type is that of the first variant
        const ck_types *types = operation->variants[i].types;
        for (int k = 0; k < CK_MAX_TYPES && types[k].input >= 0; k++)
            if (types[k].input == dtype) call.types = types[k];
    }
    for (int i = 0; i < shapes; i++) ck_view_lay_out(&views[i], i < operation->inputs ? dtype : call.types.output);
    if (operation->work != NULL) operation->work(&call, &least);
    return Py_BuildValue("(dd)", least.flops, least.bytes);
}

PyMethodDef call_methods[] = {
    {"execute", FAST(execute),
     PyDoc_STR(
         "execute(operation, variant, parameters, inputs, outputs, device, measure, stream, /)\n--\n\n"
         "Runs a variant. With host arrays it returns when the results are complete; with Views, when the work is "
         "enqueued in stream. If measure is true it returns times and sizes; if it is 2, also the time of each "
         "launch.")},
    {"kernels", FAST(kernels),
     PyDoc_STR("kernels(operation, variant, parameters, inputs, outputs, device, sweep, /)\n--\n\n"
               "The kernels that execute would launch, and the driver's data on each. Runs nothing.")},
    {"memory_needed", FAST(memory_needed),
     PyDoc_STR("memory_needed(operation, variant, parameters, inputs, outputs, device, on_device, /)\n--\n\n"
               "Bytes of device memory that execute would take. If on_device is true, the host arrays stand "
               "for arrays on the device with their shapes, strides and types, which do not count. Runs nothing.")},
    {"error_depth", FAST(error_depth),
     PyDoc_STR("error_depth(operation, variant, parameters, dtypes, shapes, /)\n--\n\n"
               "f(n) of the variant's error bound: roundings on the longest path to a result.")},
    {"work", FAST(work),
     PyDoc_STR("work(operation, shapes, dtype, /)\n--\n\n(FLOPs, least bytes moved) of the operation.")},
    {NULL, NULL, 0, NULL},
};
