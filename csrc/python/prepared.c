// The fast path of a call: arrays on one device that a kernel takes without conversion.
//
//   call   kind of the arrays --memo--> Prepared --> do shapes and out fit? --> memory for the result --> ck_execute
//
// `call` returns NotImplemented if the memo does not contain the kind or something does not fit. Python then converts
// what can be converted, raises an error about what cannot, and prepares later calls of this kind. This file raises
// no errors about calls that it does not handle.
#include <string.h>

#include "python.h"

// A number that was passed instead of an array, in device memory. It is kept, because the next call often has the
// same.
typedef struct number {
    char value[16];
    view *view;
} number;

enum { MOST_NUMBERS = CK_MAX_VIEWS * (1 + CK_MAX_DIMS) };

// The shapes of the last call's inputs and of its result, one after another.
typedef struct shapes {
    int inputs; // how many of the numbers describe the inputs
    int64_t numbers[MOST_NUMBERS];
} shapes;

typedef struct prepared {
    PyObject_HEAD const ck_operation *operation;
    const ck_variant *variant;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_types types;
    unsigned alike;  // a mask: inputs that must have the same shape
    PyObject *shape; // a function that computes the result's shape from the inputs' shapes
    int out_needed;  // 1: a call without `out` is refused, in Python
    // Its slot in the module's `front` and its key there; NULL: it is not in `front`.
    struct prepared **place;
    PyObject *rule, *name; // of the variant
    unsigned long long kinds;
    // Data of the last call; a call takes it out while using it.
    _Atomic(shapes *) last;
    _Atomic(number *) kept[CK_MAX_VIEWS];
} prepared;

// The arrays of a call: inputs, then the result.
typedef struct arrays {
    view *held[CK_MAX_VIEWS]; // NULL: a number that is not in device memory yet
    ck_view views[CK_MAX_VIEWS];
    ck_memory *memories[CK_MAX_VIEWS];
    int count, device;
} arrays;

static void release(arrays *arrays) {
    while (arrays->count > 0) Py_XDECREF((PyObject *)arrays->held[--arrays->count]);
}

static void set(arrays *arrays, int i, view *array) { // takes over the reference
    arrays->held[i] = array;
    arrays->views[i] = array->array.view;
    arrays->memories[i] = array->array.memory;
}

static void add(arrays *arrays, view *array) {
    set(arrays, arrays->count++, array);
}

// DeviceArray is defined in Python, so it is available once cudakern is imported.
static void know_arrays(module_state *state) {
    if (atomic_load(&state->view_name) != NULL) return;
    PyObject *module = PyImport_ImportModule("cudakern.arrays.array"), *none_yet = NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, "DeviceArray") : NULL;
    PyObject *name = type ? PyUnicode_InternFromString("_view") : NULL;
    Py_XDECREF(module);
    if (name == NULL) PyErr_Clear();            // the interpreter is shutting down: no call takes the fast path
    if (name != NULL) state->array_type = type; // the same for every thread
    if (name == NULL || !atomic_compare_exchange_strong(&state->view_name, &none_yet, name)) {
        Py_XDECREF(name);
        Py_XDECREF(type);
    }
}

// Adds the View of a DeviceArray of this module; for other objects returns 0 without an exception.
static int take(module_state *state, PyObject *object, arrays *arrays) {
    PyObject *name = atomic_load(&state->view_name);
    if (name == NULL || !Py_IS_TYPE(object, (PyTypeObject *)state->array_type)) return 0;
    PyObject *attribute = PyObject_GetAttr(object, name);
    if (attribute != NULL && is_view(state, attribute)) {
        add(arrays, (view *)attribute);
        return 1;
    }
    Py_XDECREF(attribute);
    PyErr_Clear(); // an array whose initialization was not completed
    return 0;
}

// --- the kind of a call --------------------------------------------------------------------------------------------
enum { INTEGER = CK_DTYPE_COUNT, FLOAT = INTEGER | VIEW_CONTIGUOUS }; // Python's own numbers
enum { DEVICE_BITS = 16 };
_Static_assert((int)INTEGER < VIEW_CONTIGUOUS && (CK_MAX_VIEWS - 1) * VIEW_KIND_BITS + DEVICE_BITS <= 64,
               "all in a word");

// 1: all are arrays on one device of this module, or numbers. The caller must release them in any case.
static int take_inputs(module_state *state, PyObject *inputs, arrays *arrays, unsigned long long *kinds) {
    const Py_ssize_t count = PyTuple_Check(inputs) ? PyTuple_Size(inputs) : 0;
    *kinds = 0;
    arrays->device = -1;
    if (count < 1 || count >= CK_MAX_VIEWS) return 0;
    for (int i = 0; i < count; i++) {
        PyObject *input = PyTuple_GetItem(inputs, i);
        unsigned kind;
        if (PyFloat_CheckExact(input) || PyLong_CheckExact(input)) {
            arrays->held[i] = NULL;
            arrays->views[i] = (ck_view){.data = NULL};
            arrays->count++;
            kind = PyFloat_CheckExact(input) ? FLOAT : INTEGER;
        } else {
            if (!take(state, input, arrays)) return 0;
            if (arrays->device < 0) arrays->device = arrays->held[i]->device;
            if (arrays->device != arrays->held[i]->device) return 0;
            kind = arrays->held[i]->kind;
        }
        *kinds = *kinds << VIEW_KIND_BITS | kind;
    }
    *kinds = *kinds << DEVICE_BITS | (unsigned)arrays->device;
    return arrays->device >= 0 && arrays->device < 1 << DEVICE_BITS;
}

// Whether all parameters are integers or strings. Other objects may equal them and yet differ: 1.0 and True equal 1.
static int are_plain(PyObject *variant, PyObject *parameters) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    if (!PyUnicode_CheckExact(variant) || !PyDict_Check(parameters)) return 0;
    while (PyDict_Next(parameters, &at, &name, &value))
        if (!PyLong_CheckExact(value) && !PyUnicode_CheckExact(value)) return 0;
    return 1;
}

// (rule, variant, kinds, name, value, name, value...)
static PyObject *make_key(PyObject *rule, PyObject *variant, PyObject *parameters, unsigned long long kinds) {
    PyObject *key = PyTuple_New(3 + 2 * PyDict_Size(parameters)), *number = PyLong_FromUnsignedLongLong(kinds);
    PyObject *name, *value;
    Py_ssize_t at = 0, next = 3;
    if (key == NULL || number == NULL) {
        Py_XDECREF(key);
        Py_XDECREF(number);
        return NULL;
    }
    Py_INCREF(rule);
    Py_INCREF(variant);
    PyTuple_SetItem(key, 0, rule);
    PyTuple_SetItem(key, 1, variant);
    PyTuple_SetItem(key, 2, number);
    while (PyDict_Next(parameters, &at, &name, &value)) {
        Py_INCREF(name);
        Py_INCREF(value);
        PyTuple_SetItem(key, next++, name);
        PyTuple_SetItem(key, next++, value);
    }
    return key;
}

static PyObject *key(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    unsigned long long kinds;
    arrays arrays = {.count = 0};
    if (check_count("key(rule, variant, parameters, inputs)", count, 4) < 0) return NULL;
    if (!PyDict_Check(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "parameters must be a dict");
        return NULL;
    }
    know_arrays(state);
    const int is_plain = are_plain(arguments[1], arguments[2]) && take_inputs(state, arguments[3], &arrays, &kinds);
    release(&arrays);
    return is_plain ? make_key(arguments[0], arguments[1], arguments[2], kinds) : none();
}

// --- what is prepared for a kind -----------------------------------------------------------------------------------
static PyObject *prepare(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    int64_t values[CK_MAX_PARAMETERS];
    int dtype, inputs[CK_MAX_VIEWS];
    if (check_count("prepare(operation, variant, parameters, dtype, alike, shape, out_needed)", count, 7) < 0)
        return NULL;
    const ck_operation *operation;
    const ck_variant *variant = read_variant(state, arguments, &operation);
    if (variant == NULL) return NULL;
    const int parameters = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, values);
    const long alike = parameters < 0 ? -1 : PyLong_AsLong(arguments[4]);
    if (parameters < 0 || (alike == -1 && PyErr_Occurred()) || read_dtype(arguments[3], &dtype) < 0) return NULL;
    prepared *kind = PyObject_GC_New(prepared, state->prepared_type);
    if (kind == NULL) return NULL;
    kind->operation = operation;
    kind->variant = variant;
    kind->alike = (unsigned)alike;
    kind->place = NULL;
    kind->rule = kind->name = NULL;
    atomic_init(&kind->last, NULL);
    for (int i = 0; i < CK_MAX_VIEWS; i++) atomic_init(&kind->kept[i], NULL);
    kind->shape = arguments[5];
    kind->out_needed = arguments[6] == Py_True;
    Py_INCREF(kind->shape);
    PyObject_GC_Track(kind);
    for (int i = 0; i < operation->inputs; i++) inputs[i] = dtype;
    if (ck_check_types(operation, variant, inputs, operation->inputs, -1, &kind->types, &error) != CK_OK ||
        ck_check_parameters(operation, variant, values, parameters, kind->parameters, &error) != CK_OK) {
        Py_DECREF(kind);
        return errors_raise(state, &error);
    }
    return (PyObject *)kind;
}

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
    PyObject *key = make_key(rule, variant, parameters, kinds);
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

// --- call ----------------------------------------------------------------------------------------------------------
// Writes the number of axes and the lengths; returns how many numbers it wrote.
static int write_shape(const ck_view *view, int64_t *numbers) {
    numbers[0] = view->ndim;
    for (int i = 0; i < view->ndim; i++) numbers[1 + i] = view->shape[i];
    return 1 + view->ndim;
}

static int are_alike(const prepared *prepared, const arrays *arrays) {
    const ck_view *first = NULL;
    for (int i = 0; i < arrays->count; i++) {
        if (!(prepared->alike >> i & 1)) continue;
        if (first != NULL && !ck_view_same_shape(first, &arrays->views[i])) return 0;
        first = &arrays->views[i];
    }
    return 1;
}

// Calls Python's function. 1: `result` is set; 0: the shapes do not fit together, or an exception is set.
static int ask_for_shape(const prepared *prepared, const arrays *arrays, ck_view *result) {
    PyObject *shapes = PyTuple_New(arrays->count);
    for (int i = 0; shapes != NULL && i < arrays->count; i++) {
        PyObject *of = make_integers(arrays->views[i].shape, arrays->views[i].ndim);
        if (of == NULL || PyTuple_SetItem(shapes, i, of) < 0) Py_CLEAR(shapes);
    }
    PyObject *shape = shapes ? PyObject_Call(prepared->shape, shapes, NULL) : NULL;
    const int read = shape ? read_shape(shape, result) : -1;
    Py_XDECREF(shapes);
    Py_XDECREF(shape);
    if (read < 0 && PyErr_ExceptionMatches(PyExc_ValueError)) PyErr_Clear(); // Python's slow path raises it
    return read == 0;
}

// Writes the result's shape to `result`; returns as ask_for_shape does.
static int shape_of(prepared *prepared, const arrays *arrays, ck_view *result) {
    int64_t key[MOST_NUMBERS];
    int count = 0, known = 1;
    if (!are_alike(prepared, arrays)) return 0; // before calling the function, which the slow path would call again
    for (int i = 0; i < arrays->count; i++) count += write_shape(&arrays->views[i], &key[count]);
    shapes *last = atomic_exchange(&prepared->last, NULL);
    if (last != NULL && last->inputs == count && memcmp(last->numbers, key, sizeof *key * (size_t)count) == 0) {
        result->ndim = (int)last->numbers[count];
        memcpy(result->shape, &last->numbers[count + 1], sizeof *key * (size_t)result->ndim);
    } else {
        known = ask_for_shape(prepared, arrays, result);
        if (last == NULL) last = PyMem_Calloc(1, sizeof *last);
        if (last != NULL) {
            last->inputs = known ? count : -1;
            memcpy(last->numbers, key, sizeof *key * (size_t)count);
            if (known) write_shape(result, &last->numbers[count]);
        }
    }
    PyMem_Free(atomic_exchange(&prepared->last, last));
    return known;
}

// 1: the kernel can write its result directly into this array.
static int take_output(module_state *state, const prepared *prepared, PyObject *out, const ck_view *result,
                       arrays *arrays) {
    const int inputs = arrays->count;
    if (!take(state, out, arrays)) return 0;
    const view *array = arrays->held[inputs];
    const ck_view *target = &array->array.view;
    int fits = array->device == arrays->device && target->dtype == prepared->types.output && !array->read_only &&
               (array->kind & VIEW_CONTIGUOUS) != 0 && ck_view_same_shape(target, result);
    for (int i = 0; i < inputs && fits; i++)
        fits = arrays->held[i] == NULL || ck_memory_apart(arrays->memories[i], arrays->memories[inputs]) ||
               !ck_view_overlap(target, &arrays->views[i]);
    return fits;
}

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

// Copies numbers to the device. 1: done; 0: a number does not fit the arrays' type; -1: an exception is set.
static int place_numbers(module_state *state, prepared *prepared, PyObject *inputs, arrays *arrays,
                         cudaStream_t stream) {
    const int dtype = prepared->types.input;
    const int count = (int)PyTuple_Size(inputs);
    for (int i = 0; i < count; i++) {
        char value[16] = {0};
        if (arrays->held[i] != NULL) continue;
        if (!write_number(PyTuple_GetItem(inputs, i), dtype, value)) return 0;
        number *number = atomic_exchange(&prepared->kept[i], NULL);
        if (number != NULL && memcmp(number->value, value, sizeof value) != 0) {
            drop(number);
            number = NULL;
        }
        if (number == NULL) number = make_number(state, dtype, value, arrays->device, stream);
        if (number == NULL) return -1;
        Py_INCREF((PyObject *)number->view);
        set(arrays, i, number->view);
        drop(atomic_exchange(&prepared->kept[i], number));
    }
    return 1;
}

// 1: a new array of this shape does not exceed the address space.
static int can_be(const ck_view *result) {
    int64_t bytes = 16;
    for (int i = 0; i < result->ndim; i++)
        if (__builtin_mul_overflow(bytes, result->shape[i], &bytes)) return 0;
    return 1;
}

// Allocates memory for a new result, then enqueues the call. -1: an exception is set.
static int enqueue(module_state *state, const prepared *prepared, arrays *arrays, ck_view *result, view *array,
                   cudaStream_t stream) {
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
            add(arrays, array);
        }
    }
    const ck_request request = {.operation = prepared->operation,
                                .variant = prepared->variant,
                                .parameters = prepared->parameters,
                                .types = &prepared->types,
                                .views = arrays->views,
                                .view_count = arrays->count,
                                .memories = arrays->memories,
                                .stream = stream,
                                .device = device,
                                .waiter = outside.waiter};
    if (status == CK_OK) status = ck_execute(state->runtime, &request, &error);
    return outside_end(&outside, status, &error);
}

static PyObject *call(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    PyObject *const out = count == 6 ? arguments[4] : NULL;
    PyObject *answer = NULL;
    prepared *prepared = NULL;
    unsigned long long kinds;
    arrays arrays;
    ck_view result;
    view *array = NULL;
    cudaStream_t stream;
    if (check_count("call(rule, variant, parameters, inputs, out, stream)", count, 6) < 0 ||
        read_stream(arguments[5], &stream) < 0)
        return NULL;
    arrays.count = 0;
    if (take_inputs(state, arguments[3], &arrays, &kinds) && are_plain(arguments[1], arguments[2]))
        prepared = find(state, arguments[0], arguments[1], arguments[2], kinds);
    int fits = prepared != NULL && shape_of(prepared, &arrays, &result);
    if (fits)
        fits = out != Py_None ? take_output(state, prepared, out, &result, &arrays)
                              : !prepared->out_needed && can_be(&result);
    if (fits) fits = place_numbers(state, prepared, arguments[3], &arrays, stream) > 0;
    if (fits && out == Py_None) array = view_allocate(state);
    if (fits && (out != Py_None || array != NULL)) {
        result.swapped = 0;
        if (enqueue(state, prepared, &arrays, &result, array, stream) == 0) {
            answer = out;
            if (array != NULL)
                answer = PyObject_CallFunctionObjArgs(state->array_type, (PyObject *)array, module, NULL);
            else
                Py_INCREF(answer);
        }
        if (array != NULL && array->array.memory == NULL) Py_DECREF(array); // otherwise `arrays` holds the reference
    } else if (!PyErr_Occurred()) {
        answer = Py_NotImplemented;
        Py_INCREF(answer);
    }
    release(&arrays);
    Py_XDECREF((PyObject *)prepared);
    return answer;
}

// --- the type ------------------------------------------------------------------------------------------------------
static int prepared_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((prepared *)self)->shape);
    for (int i = 0; i < CK_MAX_VIEWS; i++) {
        const number *number = atomic_load(&((prepared *)self)->kept[i]);
        if (number != NULL) Py_VISIT(number->view);
    }
    return 0;
}

static int prepared_clear(PyObject *self) {
    leave_front((prepared *)self);
    Py_CLEAR(((prepared *)self)->shape);
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
    {"key", FAST(key),
     PyDoc_STR("key(rule, variant, parameters, inputs, /)\n--\n\n"
               "The kind of a call on arrays of one device of this module; None for other inputs.")},
    {"prepare", FAST(prepare),
     PyDoc_STR("prepare(operation, variant, parameters, dtype, alike, shape, out_needed, /)\n--\n\n"
               "An entry of memo for call: alike is a mask of inputs that must have the same shape; shape is a "
               "function that computes the result's shape from the inputs' shapes.")},
    {"call", FAST(call),
     PyDoc_STR("call(rule, variant, parameters, inputs, out, stream, /)\n--\n\n"
               "Enqueues a call with DeviceArrays; NotImplemented unless its kind is prepared and the arrays fit.")},
    {NULL, NULL, 0, NULL},
};
