// The path of a call whose kind is known: arrays of the type that a kernel takes, in host memory or on one device.
//
//   call   kind of the arrays --memo--> Prepared --> shapes, layouts, out --> memory for the result --> ck_execute
//
// `call` returns NotImplemented if the memo does not contain the kind or something does not fit. Python then converts
// what can be converted, raises an error about what cannot, and prepares later calls of this kind. This file raises
// no errors about calls that it does not handle.
#include <stdlib.h>
#include <string.h>

#include "kind.h"

// A number that was passed instead of an array, in device memory. It is kept, because the next call often has the
// same.
typedef struct number {
    char value[16];
    view *view;
} number;

// How a kernel takes an array that does not have the axes that it expects: the shape, and for each of its axes the
// array's axis, counted from 1, or 0 if it is repeated.
typedef struct layout {
    int is_other; // 0: the kernel takes the array as it is
    int64_t axes[CK_MAX_DIMS];
    ck_view shape;
} layout;

// What Python computed from the shapes of the last call's inputs.
enum { MOST_NUMBERS = CK_MAX_VIEWS * (1 + CK_MAX_DIMS) };
typedef struct shapes {
    int count; // of the numbers that describe the inputs' shapes, one after another; -1: none
    int64_t numbers[MOST_NUMBERS];
    ck_view result; // its shape
    layout layouts[CK_MAX_VIEWS];
} shapes;

typedef struct prepared {
    PyObject_HEAD const ck_operation *operation;
    const ck_variant *variant;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_types types;
    PyObject *layouts; // a function of the inputs' shapes: the result's shape, and how the kernel takes each array
    int out_needed;    // 1: a call without `out` is refused, in Python
    // For host arrays: functions that make a result of some shape, and that say whether a call with so many bytes may
    // be too large (or None).
    PyObject *make, *exceeds;
    // Its slot in the module's `front` and its key there; NULL: it is not in `front`.
    struct prepared **place;
    PyObject *rule, *name; // of the variant
    unsigned long long kinds;
    // Data of the last call; a call takes it out while using it.
    _Atomic(shapes *) last;
    _Atomic(number *) kept[CK_MAX_VIEWS];
} prepared;

// --- the memo ------------------------------------------------------------------------------------------------------
static prepared *in_memo(module_state *state, PyObject *key) {
    PyObject *known = NULL;
    if (key == NULL) return NULL;
#ifdef Py_GIL_DISABLED // without Python's lock another thread may clear the memo in between
    (void)PyDict_GetItemRef(state->memo, key, &known);
#else
    known = PyDict_GetItemWithError(state->memo, key);
    Py_XINCREF(known);
#endif
    if (known != NULL && !Py_IS_TYPE(known, state->prepared_type)) Py_CLEAR(known);
    return (prepared *)known;
}

// Most calls pass the same string objects as the last call of their kind, so they are found by address, without a
// key.
static prepared **front_of(module_state *state, PyObject *rule, PyObject *variant, unsigned long long kinds) {
    const uint64_t words = (uintptr_t)rule * 3 ^ (uintptr_t)variant;
    return &state->front[(words / 16 ^ kinds) * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

static void leave_front(prepared *prepared) {
    if (prepared->place != NULL) *prepared->place = NULL;
    prepared->place = NULL;
    Py_CLEAR(prepared->rule);
    Py_CLEAR(prepared->name);
}

#ifdef Py_GIL_DISABLED
enum { HAS_FRONT = 0 }; // without Python's lock another thread may remove a Prepared in between
#else
enum { HAS_FRONT = 1 };
#endif

static void stand_in_front(prepared *prepared, struct prepared **place, PyObject *rule, PyObject *variant,
                           unsigned long long kinds) {
    leave_front(prepared);
    if (*place != NULL) leave_front(*place);
    Py_INCREF(rule);
    Py_INCREF(variant);
    prepared->rule = rule;
    prepared->name = variant;
    prepared->kinds = kinds;
    prepared->place = place;
    *place = prepared;
}

// Returns the Prepared of a kind as a new reference; NULL: not found, or an exception is set.
static prepared *find(module_state *state, PyObject *rule, PyObject *variant, PyObject *parameters,
                      unsigned long long kinds) {
    prepared **place = front_of(state, rule, variant, kinds), *kind = *place;
    const int plain = PyDict_Size(parameters) == 0;
    if (plain && kind != NULL && kind->rule == rule && kind->name == variant && kind->kinds == kinds) {
        Py_INCREF((PyObject *)kind);
        return kind;
    }
    PyObject *key = kind_key(rule, variant, parameters, kinds);
    kind = in_memo(state, key);
    Py_XDECREF(key);
    if (HAS_FRONT && plain && kind != NULL) stand_in_front(kind, place, rule, variant, kinds);
    return kind;
}

// Clearing only the memo would leave a Prepared in `front` as long as other threads' calls reference it.
void forget_calls(module_state *state) {
    for (size_t i = 0; i < sizeof state->front / sizeof *state->front; i++)
        if (state->front[i] != NULL) leave_front(state->front[i]);
    if (state->memo != NULL) PyDict_Clear(state->memo);
}

// --- shapes and layouts --------------------------------------------------------------------------------------------
// Writes the number of axes and the lengths; returns how many numbers it wrote.
static int write_shape(const ck_view *view, int64_t *numbers) {
    numbers[0] = view->ndim;
    for (int i = 0; i < view->ndim; i++) numbers[1 + i] = view->shape[i];
    return 1 + view->ndim;
}

// None, or a pair of a shape and axes. -1: an exception is set.
static int read_layout(PyObject *object, int axes, layout *layout) {
    layout->is_other = object != Py_None;
    if (!layout->is_other) return 0;
    const int is_pair = PyTuple_Check(object) && PyTuple_Size(object) == 2;
    if (is_pair && read_shape(PyTuple_GetItem(object, 0), &layout->shape) < 0) return -1;
    const int count = is_pair ? read_integers(PyTuple_GetItem(object, 1), "axes", CK_MAX_DIMS, layout->axes) : -1;
    int fits = count >= 0 && count == layout->shape.ndim;
    for (int i = 0; i < count; i++) fits &= layout->axes[i] >= 0 && layout->axes[i] <= axes;
    if (!fits && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "not a layout of an array of %d axes: %R", axes, object);
    return fits ? 0 : -1;
}

// Reads the result's shape and the layouts of all arrays. -1: an exception is set.
static int read_layouts(PyObject *answer, const arrays *arrays, shapes *shapes) {
    PyObject *layouts = PyTuple_Check(answer) && PyTuple_Size(answer) == 2 ? PyTuple_GetItem(answer, 1) : NULL;
    if (layouts == NULL || !PyTuple_Check(layouts) || PyTuple_Size(layouts) != arrays->count + 1) {
        PyErr_Format(PyExc_TypeError, "not a shape and the layouts of %d arrays: %R", arrays->count + 1, answer);
        return -1;
    }
    if (read_shape(PyTuple_GetItem(answer, 0), &shapes->result) < 0) return -1;
    for (int i = 0; i <= arrays->count; i++) {
        const int axes = i < arrays->count ? arrays->views[i].ndim : shapes->result.ndim;
        if (read_layout(PyTuple_GetItem(layouts, i), axes, &shapes->layouts[i]) < 0) return -1;
    }
    return 0;
}

// Calls Python's function. 0: the shapes do not fit together, or an exception is set.
static int ask_for_layouts(const prepared *prepared, const arrays *arrays, shapes *shapes) {
    PyObject *inputs = PyTuple_New(arrays->count);
    for (int i = 0; inputs != NULL && i < arrays->count; i++) {
        PyObject *of = make_integers(arrays->views[i].shape, arrays->views[i].ndim);
        if (of == NULL || PyTuple_SetItem(inputs, i, of) < 0) Py_CLEAR(inputs);
    }
    PyObject *answer = inputs ? PyObject_Call(prepared->layouts, inputs, NULL) : NULL;
    const int read = answer ? read_layouts(answer, arrays, shapes) : -1;
    Py_XDECREF(inputs);
    Py_XDECREF(answer);
    if (read < 0 && PyErr_ExceptionMatches(PyExc_ValueError)) PyErr_Clear(); // Python's slow path raises it
    return read == 0;
}

static void lay_out(const layout *layout, ck_view *view) {
    if (!layout->is_other) return;
    ck_view other = layout->shape;
    other.data = view->data;
    other.dtype = view->dtype;
    other.swapped = view->swapped;
    for (int i = 0; i < other.ndim; i++)
        other.strides[i] = layout->axes[i] == 0 ? 0 : view->strides[layout->axes[i] - 1];
    *view = other;
}

// Writes the result's shape and its layout, and lays out the inputs. 0: they do not fit together, or an exception is
// set.
static int arrange(prepared *prepared, arrays *arrays, ck_view *result, layout *results) {
    int64_t key[MOST_NUMBERS];
    int count = 0;
    for (int i = 0; i < arrays->count; i++) count += write_shape(&arrays->views[i], &key[count]);
    shapes *last = atomic_exchange(&prepared->last, NULL);
    if (last == NULL && (last = PyMem_Calloc(1, sizeof *last)) == NULL) return PyErr_NoMemory() != NULL;
    int fits = last->count == count && memcmp(last->numbers, key, sizeof *key * (size_t)count) == 0;
    if (!fits) {
        fits = ask_for_layouts(prepared, arrays, last);
        last->count = fits ? count : -1;
        memcpy(last->numbers, key, sizeof *key * (size_t)count);
    }
    if (fits) {
        result->ndim = last->result.ndim;
        memcpy(result->shape, last->result.shape, sizeof *result->shape * (size_t)result->ndim);
        for (int i = 0; i < arrays->count; i++) lay_out(&last->layouts[i], &arrays->views[i]);
        results->is_other = last->layouts[arrays->count].is_other;
        if (results->is_other) *results = last->layouts[arrays->count];
    }
    PyMem_Free(atomic_exchange(&prepared->last, last));
    return fits;
}

// --- what is prepared for a kind -----------------------------------------------------------------------------------
static PyObject *prepare(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    int64_t values[CK_MAX_PARAMETERS];
    int dtype, inputs[CK_MAX_VIEWS];
    arrays arrays = {0};
    ck_view result;
    layout results;
    if (check_count("prepare(operation, variant, parameters, dtype, shapes, layouts, out_needed, make, exceeds)",
                    count, 9) < 0)
        return NULL;
    const ck_operation *operation;
    const ck_variant *variant = read_variant(state, arguments, &operation);
    if (variant == NULL) return NULL;
    const int parameters = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, values);
    if (parameters < 0 || read_dtype(arguments[3], &dtype) < 0 ||
        (arrays.count = read_shapes(arguments[4], arrays.views)) < 0)
        return NULL;
    prepared *kind = PyObject_GC_New(prepared, state->prepared_type);
    if (kind == NULL) return NULL;
    kind->operation = operation;
    kind->variant = variant;
    kind->place = NULL;
    kind->rule = kind->name = NULL;
    atomic_init(&kind->last, NULL);
    for (int i = 0; i < CK_MAX_VIEWS; i++) atomic_init(&kind->kept[i], NULL);
    kind->layouts = arguments[5];
    kind->out_needed = arguments[6] == Py_True;
    kind->make = arguments[7];
    kind->exceeds = arguments[8];
    Py_INCREF(kind->layouts);
    Py_INCREF(kind->make);
    Py_INCREF(kind->exceeds);
    PyObject_GC_Track(kind);
    for (int i = 0; i < operation->inputs; i++) inputs[i] = dtype;
    if (ck_check_types(operation, variant, inputs, operation->inputs, -1, &kind->types, &error) != CK_OK ||
        ck_check_parameters(operation, variant, values, parameters, kind->parameters, &error) != CK_OK) {
        Py_DECREF(kind);
        return errors_raise(state, &error);
    }
    // The next call most likely has the same shapes. Other shapes than an operation takes do not fit later either.
    if (!arrange(kind, &arrays, &result, &results) && PyErr_Occurred()) Py_CLEAR(kind);
    return (PyObject *)kind;
}

// --- numbers -------------------------------------------------------------------------------------------------------
static void drop(number *number) {
    if (number == NULL) return;
    Py_XDECREF((PyObject *)number->view);
    PyMem_Free(number);
}

static number *make_number(module_state *state, int dtype, const char value[16], int device, cudaStream_t stream) {
    number *number = PyMem_Calloc(1, sizeof *number);
    view *array = number ? view_allocate(state) : NULL;
    if (array == NULL) {
        PyMem_Free(number);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    memcpy(number->value, value, sizeof number->value);
    number->view = array;
    ck_error error = {0};
    ck_memory *memory = NULL;
    ck_view described = {.ndim = 0};
    outside outside;
    ck_view_lay_out(&described, dtype);
    outside_begin(&outside, state);
    int status = ck_memory_allocate(state->runtime, device, ck_dtype_size(dtype), stream, &memory, &error);
    if (status == CK_OK) {
        described.data = ck_memory_data(memory);
        view_fill(array, memory, &described, 1, 0);
        status = ck_array_fill(state->runtime, &array->array, value, stream, &error);
    }
    if (outside_end(&outside, status, &error) == 0) return number;
    drop(number);
    return NULL;
}

// Converts numbers, and copies them to the device if the arrays are there. 1: done; 0: a number does not fit the
// arrays' type; -1: an exception is set.
static int place_numbers(module_state *state, prepared *prepared, PyObject *inputs, arrays *arrays,
                         cudaStream_t stream) {
    const int dtype = prepared->types.input;
    const int count = (int)PyTuple_Size(inputs);
    for (int i = 0; i < count; i++) {
        PyObject *input = PyTuple_GetItem(inputs, i);
        char *value = arrays->numbers[i];
        if (!PyFloat_CheckExact(input) && !PyLong_CheckExact(input)) continue;
        memset(value, 0, sizeof arrays->numbers[i]);
        if (!write_number(input, dtype, value)) return 0;
        if (arrays->on_host) {
            arrays->views[i] = (ck_view){.data = value, .dtype = dtype};
            continue;
        }
        number *number = atomic_exchange(&prepared->kept[i], NULL);
        if (number != NULL && memcmp(number->value, value, sizeof number->value) != 0) {
            drop(number);
            number = NULL;
        }
        if (number == NULL) number = make_number(state, dtype, value, arrays->device, stream);
        if (number == NULL) return -1;
        Py_INCREF((PyObject *)number->view);
        arrays_set(arrays, i, number->view);
        drop(atomic_exchange(&prepared->kept[i], number));
    }
    return 1;
}

// --- the result ----------------------------------------------------------------------------------------------------
// 1: no two elements share memory, because each stride exceeds the range of all smaller ones.
static int are_distinct(const ck_view *view) {
    if (ck_view_is_contiguous(view)) return 1;
    for (int i = 0; i < view->ndim; i++) {
        int64_t range = (int64_t)ck_dtype_size(view->dtype), step = llabs(view->strides[i]);
        for (int j = 0; j < view->ndim; j++)
            if (j != i && view->shape[j] > 1 && llabs(view->strides[j]) <= step)
                range += llabs(view->strides[j]) * (view->shape[j] - 1);
        if (view->shape[i] > 1 && step < range) return 0;
    }
    return 1;
}

// 1: the kernel can write its result directly into this array.
static int take_output(module_state *state, const prepared *prepared, PyObject *out, const ck_view *result,
                       arrays *arrays) {
    const int inputs = arrays->count;
    if (!(arrays->on_host ? arrays_take_host(state, out, 1, arrays) : arrays_take_device(state, out, arrays)))
        return 0;
    const ck_view *target = &arrays->views[inputs];
    int fits = target->dtype == prepared->types.output && ck_view_same_shape(target, result) && are_distinct(target);
    if (arrays->on_host) return fits && !ck_view_is_empty(target); // the device has copies of the inputs
    fits = fits && arrays->held[inputs]->device == arrays->device && !arrays->held[inputs]->read_only;
    for (int i = 0; i < inputs && fits; i++)
        fits = ck_memory_apart(arrays->memories[i], arrays->memories[inputs]) ||
               !ck_view_overlap(target, &arrays->views[i]);
    return fits;
}

// Adds the bytes of an array of this shape. 0: the sum exceeds the address space.
static int add_bytes(const ck_view *view, int dtype, int64_t *sum) {
    int64_t bytes = (int64_t)ck_dtype_size(dtype);
    for (int i = 0; i < view->ndim; i++)
        if (__builtin_mul_overflow(bytes, view->shape[i], &bytes)) return 0;
    return !__builtin_add_overflow(*sum, bytes, sum);
}

// 1: host arrays of so many bytes certainly fit into the limit of memory; 0: perhaps not, or an exception is set.
static int is_small(const prepared *prepared, int64_t bytes) {
    if (prepared->exceeds == Py_None) return 1;
    PyObject *answer = PyObject_CallFunction(prepared->exceeds, "L", (long long)bytes);
    const int exceeds = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return exceeds == 0;
}

// A new array on the host, which is added to the arrays; NULL: an exception is set.
static PyObject *make_result(const prepared *prepared, const ck_view *result, arrays *arrays) {
    PyObject *shape = make_integers(result->shape, result->ndim);
    PyObject *array = shape ? PyObject_CallFunctionObjArgs(prepared->make, shape, NULL) : NULL;
    Py_XDECREF(shape);
    if (array != NULL && buffers_take(&arrays->buffers, array, "result", -1, 1, &arrays->views[arrays->count]) < 0)
        Py_CLEAR(array);
    arrays->count += array != NULL;
    return array;
}

// --- call ----------------------------------------------------------------------------------------------------------
// Allocates memory for a new result on the device, then makes the call. -1: an exception is set.
static int enqueue(module_state *state, const prepared *prepared, arrays *arrays, ck_view *result,
                   const layout *results, view *array, cudaStream_t stream) {
    ck_error error; // not initialized, because it is large
    const int device = arrays->device;
    outside outside;
    ck_error_clear(&error);
    outside_begin(&outside, state);
    int status = CK_OK;
    if (array != NULL) {
        ck_memory *memory = NULL;
        ck_view_lay_out(result, prepared->types.output);
        status = ck_memory_allocate(state->runtime, device, (size_t)ck_view_bytes(result), stream, &memory, &error);
        if (status == CK_OK) {
            result->data = ck_memory_data(memory);
            view_fill(array, memory, result, 0, 0);
            arrays_add(arrays, array);
        }
    }
    const ck_request request = {.operation = prepared->operation,
                                .variant = prepared->variant,
                                .parameters = prepared->parameters,
                                .types = &prepared->types,
                                .views = arrays->views,
                                .view_count = arrays->count,
                                .memories = arrays->on_host ? NULL : arrays->memories,
                                .stream = stream,
                                .device = device,
                                .waiter = outside.waiter};
    if (status == CK_OK) {
        lay_out(results, &arrays->views[arrays->count - 1]);
        status = ck_execute(state->runtime, &request, &error);
    }
    return outside_end(&outside, status, &error);
}

// The result of a call on host arrays: `out`, or the new array, or a NumPy scalar instead of an array without axes.
static PyObject *call_on_host(module_state *state, const prepared *prepared, arrays *arrays, ck_view *result,
                              const layout *results, PyObject *out) {
    PyObject *answer = out;
    if (out == Py_None)
        answer = make_result(prepared, result, arrays);
    else
        Py_INCREF(out);
    if (answer != NULL && enqueue(state, prepared, arrays, result, results, NULL, NULL) < 0) Py_CLEAR(answer);
    if (answer == NULL || out != Py_None || result->ndim > 0) return answer;
    PyObject *index = PyTuple_New(0), *scalar = index ? PyObject_GetItem(answer, index) : NULL;
    Py_XDECREF(index);
    Py_DECREF(answer);
    return scalar;
}

static PyObject *call_on_device(module_state *state, PyObject *module, const prepared *prepared, arrays *arrays,
                                ck_view *result, const layout *results, PyObject *out, cudaStream_t stream) {
    PyObject *answer = NULL;
    view *array = out == Py_None ? view_allocate(state) : NULL;
    if (out == Py_None && array == NULL) return NULL;
    if (enqueue(state, prepared, arrays, result, results, array, stream) == 0) {
        answer = out;
        if (array != NULL)
            answer = PyObject_CallFunctionObjArgs(state->array_type, (PyObject *)array, module, NULL);
        else
            Py_INCREF(answer);
    }
    if (array != NULL && array->array.memory == NULL) Py_DECREF(array); // otherwise `arrays` holds the reference
    return answer;
}

static PyObject *call(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    PyObject *const inputs = count == 7 ? arguments[3] : NULL, *const out = count == 7 ? arguments[4] : NULL;
    PyObject *answer = NULL;
    prepared *prepared = NULL;
    unsigned long long kinds;
    arrays arrays; // not initialized, because it is large
    layout results;
    ck_view result;
    cudaStream_t stream;
    int device;
    if (check_count("call(rule, variant, parameters, inputs, out, stream, device)", count, 7) < 0 ||
        read_stream(arguments[5], &stream) < 0 || read_int(arguments[6], "device", &device) < 0)
        return NULL;
    if (arrays_take_inputs(state, inputs, device, &arrays, &kinds) && kind_is_exact(arguments[1], arguments[2]))
        prepared = find(state, arguments[0], arguments[1], arguments[2], kinds);
    int fits = prepared != NULL && place_numbers(state, prepared, inputs, &arrays, stream) > 0;
    int64_t bytes = 0;
    for (int i = 0; fits && i < arrays.count; i++) fits = add_bytes(&arrays.views[i], prepared->types.input, &bytes);
    fits = fits && arrange(prepared, &arrays, &result, &results) &&
           add_bytes(&result, prepared->types.output, &bytes) && is_small(prepared, bytes);
    if (fits) fits = out != Py_None ? take_output(state, prepared, out, &result, &arrays) : !prepared->out_needed;
    if (fits) {
        result.swapped = 0;
        answer = arrays.on_host ? call_on_host(state, prepared, &arrays, &result, &results, out)
                                : call_on_device(state, module, prepared, &arrays, &result, &results, out, stream);
    } else if (!PyErr_Occurred()) {
        answer = Py_NotImplemented;
        Py_INCREF(answer);
    }
    arrays_release(&arrays);
    Py_XDECREF((PyObject *)prepared);
    return answer;
}

// --- the type ------------------------------------------------------------------------------------------------------
static int prepared_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((prepared *)self)->layouts);
    Py_VISIT(((prepared *)self)->make);
    Py_VISIT(((prepared *)self)->exceeds);
    for (int i = 0; i < CK_MAX_VIEWS; i++) {
        const number *number = atomic_load(&((prepared *)self)->kept[i]);
        if (number != NULL) Py_VISIT(number->view);
    }
    return 0;
}

static int prepared_clear(PyObject *self) {
    leave_front((prepared *)self);
    Py_CLEAR(((prepared *)self)->layouts);
    Py_CLEAR(((prepared *)self)->make);
    Py_CLEAR(((prepared *)self)->exceeds);
    PyMem_Free(atomic_exchange(&((prepared *)self)->last, NULL));
    for (int i = 0; i < CK_MAX_VIEWS; i++) drop(atomic_exchange(&((prepared *)self)->kept[i], NULL));
    return 0;
}

static void prepared_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    prepared_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

PyTypeObject *make_prepared_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("A variant and its parameters, checked for inputs of one type.")},
        {Py_tp_dealloc, (void *)prepared_dealloc},
        {Py_tp_traverse, (void *)prepared_traverse},
        {Py_tp_clear, (void *)prepared_clear},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "cudakern." QUOTE(CK_MODULE) ".Prepared",
        .basicsize = sizeof(prepared),
        .flags =
            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

PyMethodDef prepared_methods[] = {
    {"prepare", FAST(prepare),
     PyDoc_STR(
         "prepare(operation, variant, parameters, dtype, shapes, layouts, out_needed, make, exceeds, /)\n--\n\n"
         "An entry of memo for call. layouts is a function of the inputs' shapes, here shapes. It gives the result's "
         "shape and, for each input and the result, None or a pair: the shape with which the kernel takes it, and "
         "for each of its axes the array's axis, counted from 1 (0: it is repeated).")},
    {"call", FAST(call),
     PyDoc_STR(
         "call(rule, variant, parameters, inputs, out, stream, device, /)\n--\n\n"
         "Enqueues a call with DeviceArrays (device: -1), or makes one with NumPy arrays; NotImplemented unless "
         "its kind is prepared and the arrays fit.")},
    {NULL, NULL, 0, NULL},
};
