// The plain case of a call: arrays on one device that a kernel takes as they are.
//
//   call   kind of the arrays --memo--> Prepared --> do shapes and out fit? --> memory for a new result --> ck_execute
//
// It gives NotImplemented where the kind is new to the memo, or something does not fit: Python then converts what can be
// converted, says what is wrong with what cannot, and prepares the next call of the kind. Nothing here words an error for
// a call that is not plain.
#include "python.h"

typedef struct prepared {
    PyObject_HEAD const ck_operation *operation;
    const ck_variant *variant;
    int64_t parameters[CK_MAX_PARAMETERS];
    ck_types types;
    unsigned alike;  // a mask of inputs: they must have the result's shape; 0: `shape` tells it
    PyObject *shape; // the result's, a tuple, or a function of the inputs' shapes
    PyObject *entry; // what Python knows of calls of this kind
} prepared;

// The arrays of a call: inputs, then the result.
typedef struct arrays {
    view *held[CK_MAX_VIEWS];
    ck_view views[CK_MAX_VIEWS];
    ck_memory *memories[CK_MAX_VIEWS];
    int count;
} arrays;

static void release(arrays *arrays) {
    while (arrays->count > 0) Py_DECREF(arrays->held[--arrays->count]);
}

static void add(arrays *arrays, view *array) { // takes over the reference
    arrays->held[arrays->count] = array;
    arrays->views[arrays->count] = array->array.view;
    arrays->memories[arrays->count++] = array->array.memory;
}

// DeviceArray is Python's: it is there once cudakern is imported.
static void know_arrays(module_state *state) {
    if (state->view_name != NULL) return;
    PyObject *module = PyImport_ImportModule("cudakern._array");
    state->array_type = module ? PyObject_GetAttrString(module, "DeviceArray") : NULL;
    state->view_name = state->array_type ? PyUnicode_InternFromString("_view") : NULL;
    Py_XDECREF(module);
    if (state->view_name == NULL) PyErr_Clear(); // the interpreter is ending: no call is plain any more
}

// Adds the View of a DeviceArray of this module; 0 without an exception for anything else.
static int take(module_state *state, PyObject *object, arrays *arrays) {
    if (state->view_name == NULL || !Py_IS_TYPE(object, (PyTypeObject *)state->array_type)) return 0;
    PyObject *found = PyObject_GetAttr(object, state->view_name);
    if (found != NULL && is_view(state, found)) {
        add(arrays, (view *)found);
        return 1;
    }
    Py_XDECREF(found);
    PyErr_Clear(); // an array that was never finished
    return 0;
}

// --- the kind of a call --------------------------------------------------------------------------------------------
// What tells one kind of array from another, as far as a kernel may depend on it: type, gaps, and whether it is a
// number, a vector, a matrix, or has more axes.
enum { TYPE_BITS = 4, KIND_BITS = TYPE_BITS + 3, DEVICE_BITS = 16 };
_Static_assert(CK_DTYPE_COUNT <= 1 << TYPE_BITS && (CK_MAX_VIEWS - 1) * KIND_BITS + DEVICE_BITS <= 64,
               "all in a word");

static unsigned kind_of(const ck_view *view) {
    const unsigned axes = view->ndim < 3 ? (unsigned)view->ndim : 3;
    return (unsigned)view->dtype | (unsigned)ck_view_is_contiguous(view) << TYPE_BITS | axes << (TYPE_BITS + 1);
}

// 1: all are arrays of one device of this module. They are released by the caller in any case.
static int take_inputs(module_state *state, PyObject *inputs, arrays *arrays, unsigned long long *kinds) {
    const Py_ssize_t count = PyTuple_Check(inputs) ? PyTuple_Size(inputs) : 0;
    *kinds = 0;
    if (count < 1 || count >= CK_MAX_VIEWS) return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!take(state, PyTuple_GetItem(inputs, i), arrays) || arrays->held[i]->device != arrays->held[0]->device)
            return 0;
        *kinds = *kinds << KIND_BITS | kind_of(&arrays->views[i]);
    }
    *kinds = *kinds << DEVICE_BITS | (unsigned)arrays->held[0]->device;
    return arrays->held[0]->device < 1 << DEVICE_BITS;
}

// Integers and words are equal only if they are the same. (1.0 and True are equal to 1.)
static int are_plain(PyObject *parameters) {
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(parameters, &at, &name, &value))
        if (!PyLong_CheckExact(value) && !PyUnicode_CheckExact(value)) return 0;
    return 1;
}

static PyObject *make_key(PyObject *rule, PyObject *variant, PyObject *parameters, unsigned long long kinds) {
    PyObject *number = PyLong_FromUnsignedLongLong(kinds), *key = NULL;
    if (number != NULL && PyDict_Size(parameters) == 0) {
        key = PyTuple_Pack(3, rule, variant, number);
    } else if (number != NULL) {
        PyObject *items = PyDict_Items(parameters), *tuple = items ? PyList_AsTuple(items) : NULL;
        if (tuple != NULL) key = PyTuple_Pack(4, rule, variant, number, tuple);
        Py_XDECREF(items);
        Py_XDECREF(tuple);
    }
    Py_XDECREF(number);
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
    const int known = are_plain(arguments[2]) && take_inputs(state, arguments[3], &arrays, &kinds);
    release(&arrays);
    return known ? make_key(arguments[0], arguments[1], arguments[2], kinds) : none();
}

// --- what is prepared for a kind -----------------------------------------------------------------------------------
static PyObject *prepare(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    int64_t given[CK_MAX_PARAMETERS];
    int dtype, inputs[CK_MAX_VIEWS];
    if (check_count("prepare(operation, variant, parameters, dtype, alike, shape, entry)", count, 7) < 0) return NULL;
    const char *name = read_text(arguments[0], "operation");
    const char *row = name ? read_text(arguments[1], "variant") : NULL;
    if (row == NULL) return NULL;
    const ck_operation *operation = ck_set_operation(state->package, name, &error);
    const ck_variant *variant = operation ? ck_find_variant(operation, row, &error) : NULL;
    if (variant == NULL) return errors_raise(state, &error);
    const int parameters = read_integers(arguments[2], "parameters", CK_MAX_PARAMETERS, given);
    const long alike = parameters < 0 ? -1 : PyLong_AsLong(arguments[4]);
    if (parameters < 0 || (alike == -1 && PyErr_Occurred()) || read_dtype(arguments[3], &dtype) < 0) return NULL;
    prepared *made = PyObject_GC_New(prepared, state->prepared_type);
    if (made == NULL) return NULL;
    made->operation = operation;
    made->variant = variant;
    made->alike = (unsigned)alike;
    made->shape = arguments[5];
    made->entry = arguments[6];
    Py_INCREF(made->shape);
    Py_INCREF(made->entry);
    PyObject_GC_Track(made);
    for (int i = 0; i < operation->inputs; i++) inputs[i] = dtype;
    if (ck_check_types(operation, variant, inputs, operation->inputs, -1, &made->types, &error) != CK_OK ||
        ck_check_parameters(operation, variant, given, parameters, made->parameters, &error) != CK_OK) {
        Py_DECREF(made);
        return errors_raise(state, &error);
    }
    return (PyObject *)made;
}

// The Prepared of a kind, a new reference; NULL: none, or an exception is set.
static prepared *find(module_state *state, PyObject *key) {
    PyObject *found = NULL;
    if (key == NULL) return NULL;
#ifdef Py_GIL_DISABLED // without its lock another thread may empty the memo in between
    (void)PyDict_GetItemRef(state->memo, key, &found);
#else
    found = PyDict_GetItemWithError(state->memo, key);
    Py_XINCREF(found);
#endif
    if (found != NULL && !Py_IS_TYPE(found, state->prepared_type)) Py_CLEAR(found);
    return (prepared *)found;
}

// --- call ----------------------------------------------------------------------------------------------------------
// The result's shape. 1: there it is; 0: the inputs' shapes do not go together so.
static int shape_of(const prepared *prepared, const arrays *arrays, ck_view *result) {
    if (prepared->alike != 0) {
        int first = 0;
        while (!(prepared->alike >> first & 1)) first++;
        for (int i = first + 1; i < arrays->count; i++)
            if (prepared->alike >> i & 1 && !ck_view_same_shape(&arrays->views[i], &arrays->views[first])) return 0;
        *result = arrays->views[first];
        return 1;
    }
    PyObject *shape = prepared->shape;
    if (PyTuple_Check(shape)) {
        Py_INCREF(shape);
    } else {
        PyObject *shapes = PyTuple_New(arrays->count);
        for (int i = 0; shapes != NULL && i < arrays->count; i++) {
            PyObject *of = make_integers(arrays->views[i].shape, arrays->views[i].ndim);
            if (of == NULL || PyTuple_SetItem(shapes, i, of) < 0) Py_CLEAR(shapes);
        }
        shape = shapes ? PyObject_Call(prepared->shape, shapes, NULL) : NULL;
        Py_XDECREF(shapes);
    }
    const int read = shape ? read_shape(shape, result) : -1;
    Py_XDECREF(shape);
    if (read < 0 && PyErr_ExceptionMatches(PyExc_ValueError)) PyErr_Clear(); // Python says it, in its order
    return read == 0;
}

// 1: the result can be written straight into this array.
static int take_output(module_state *state, const prepared *prepared, PyObject *out, const ck_view *result,
                       arrays *arrays) {
    const int inputs = arrays->count;
    if (!take(state, out, arrays)) return 0;
    const view *array = arrays->held[inputs];
    const ck_view *target = &array->array.view;
    int fits = array->device == arrays->held[0]->device && target->dtype == prepared->types.output &&
               !array->read_only && ck_view_same_shape(target, result) && ck_view_is_contiguous(target);
    for (int i = 0; i < inputs; i++) fits = fits && !ck_view_overlap(target, &arrays->views[i]);
    return fits;
}

// 1: a new array of that shape is one that memory may have.
static int can_be(const ck_view *result) {
    int64_t bytes = 16;
    for (int i = 0; i < result->ndim; i++)
        if (__builtin_mul_overflow(bytes, result->shape[i], &bytes)) return 0;
    return 1;
}

// Enqueues the call; the memory of a new result is taken first. -1: an exception is set.
static int enqueue(module_state *state, const prepared *prepared, arrays *arrays, ck_view *result, view *made,
                   cudaStream_t stream) {
    ck_error error; // large: what is not used is not cleared
    const int device = arrays->held[0]->device;
    outside outside;
    ck_error_clear(&error);
    outside_begin(&outside, state);
    int status = CK_OK;
    if (made != NULL) {
        ck_memory *memory = NULL;
        ck_view_lay_out(result, prepared->types.output);
        status = ck_memory_allocate(state->runtime, device, (size_t)ck_view_bytes(result), stream, &memory, &error);
        if (status == CK_OK) {
            result->data = ck_memory_data(memory);
            view_fill(made, memory, result, 0, 0);
            add(arrays, made);
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
    PyObject *key = NULL, *answer = NULL;
    prepared *prepared = NULL;
    unsigned long long kinds;
    arrays arrays;
    ck_view result;
    view *made = NULL;
    cudaStream_t stream;
    if (check_count("call(rule, variant, parameters, inputs, out, stream)", count, 6) < 0 ||
        read_stream(arguments[5], &stream) < 0)
        return NULL;
    arrays.count = 0;
    if (take_inputs(state, arguments[3], &arrays, &kinds) && are_plain(arguments[2])) {
        key = make_key(arguments[0], arguments[1], arguments[2], kinds);
        prepared = find(state, key);
    }
    int fits = prepared != NULL && shape_of(prepared, &arrays, &result);
    if (fits) fits = out != Py_None ? take_output(state, prepared, out, &result, &arrays) : can_be(&result);
    if (fits && out == Py_None) made = view_allocate(state);
    if (fits && (out != Py_None || made != NULL)) {
        result.swapped = 0;
        if (enqueue(state, prepared, &arrays, &result, made, stream) == 0) {
            answer = out;
            if (made != NULL)
                answer = PyObject_CallFunctionObjArgs(state->array_type, (PyObject *)made, module, NULL);
            else
                Py_INCREF(answer);
        }
        if (made != NULL && made->array.memory == NULL) Py_DECREF(made); // else it is among the arrays
    } else if (!PyErr_Occurred()) {
        answer = Py_NotImplemented;
        Py_INCREF(answer);
    }
    release(&arrays);
    Py_XDECREF(key);
    Py_XDECREF((PyObject *)prepared);
    return answer;
}

// --- the type ------------------------------------------------------------------------------------------------------
static int prepared_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((prepared *)self)->shape);
    Py_VISIT(((prepared *)self)->entry);
    return 0;
}

static int prepared_clear(PyObject *self) {
    Py_CLEAR(((prepared *)self)->shape);
    Py_CLEAR(((prepared *)self)->entry);
    return 0;
}

static void prepared_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    prepared_clear(self);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyObject *get_entry(PyObject *self, void *unused) {
    PyObject *entry = ((prepared *)self)->entry;
    (void)unused;
    if (entry == NULL) return none();
    Py_INCREF(entry);
    return entry;
}

static PyGetSetDef prepared_attributes[] = {
    {"entry", get_entry, NULL, PyDoc_STR("What Python knows of calls of this kind."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject *make_prepared_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("A variant and its parameters, checked for inputs of one type.")},
        {Py_tp_dealloc, (void *)prepared_dealloc},
        {Py_tp_traverse, (void *)prepared_traverse},
        {Py_tp_clear, (void *)prepared_clear},
        {Py_tp_getset, prepared_attributes},
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
     PyDoc_STR(
         "prepare(operation, variant, parameters, dtype, alike, shape, entry, /)\n--\n\n"
         "What call needs, for memo: alike, a mask of inputs that must have the result's shape, or shape, a tuple "
         "or a function of the inputs' shapes.")},
    {"call", FAST(call),
     PyDoc_STR("call(rule, variant, parameters, inputs, out, stream, /)\n--\n\n"
               "A call on DeviceArrays, enqueued; NotImplemented unless its kind is prepared and the arrays fit.")},
    {NULL, NULL, 0, NULL},
};
