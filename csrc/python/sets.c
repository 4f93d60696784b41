// Set, a group of kernels that was loaded from a shared library, and the launch of one of its kernels.
//
// The package's own kernels are the set lib/kernels_BACKEND.so, next to the module, which loads it when it is
// imported. A call names another set for its operation if it is to run kernels that were compiled in another way.
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <string.h>

#include "backend.h"
#include "python.h"

int load_package_set(module_state *state) {
    ck_error error = {0};
    char path[4096];
    Dl_info here;
    if (!dladdr((void *)(uintptr_t)load_package_set, &here) || here.dli_fname == NULL) {
        PyErr_SetString(PyExc_ImportError, "cannot find the module's own file, next to which its kernels are stored");
        return -1;
    }
    const char *slash = strrchr(here.dli_fname, '/');
    PyOS_snprintf(path, sizeof path, "%.*slib/kernels_%s.so", slash ? (int)(slash - here.dli_fname) + 1 : 0,
                  here.dli_fname, backend_name());
    if (ck_set_load(state->runtime, path, &state->package, &error) == CK_OK) return 0;
    PyErr_SetString(PyExc_ImportError, error.message);
    return -1;
}

static PyObject *load_set(PyObject *module, PyObject *argument) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_set *loaded = NULL;
    const char *path = read_text(argument, "path");
    if (path == NULL) return NULL;
    outside outside;
    outside_begin(&outside, state);
    const int status = ck_set_load(state->runtime, path, &loaded, &error);
    if (outside_end(&outside, status, &error) < 0) return NULL;
    set *fresh = PyObject_New(set, state->set_type);
    if (fresh != NULL) fresh->set = loaded;
    return (PyObject *)fresh;
}

// Pairs of texts from a tuple of tuples, which must live as long as the pairs. NULL: an exception is set.
static ck_program_name *read_names(PyObject *object, int *count) {
    if (!PyTuple_Check(object)) {
        PyErr_Format(PyExc_TypeError, "names must be a tuple of pairs, not %R", object);
        return NULL;
    }
    *count = (int)PyTuple_Size(object);
    ck_program_name *names = PyMem_Calloc((size_t)*count + 1, sizeof *names);
    if (names == NULL) return (ck_program_name *)PyErr_NoMemory();
    for (int i = 0; i < *count; i++) {
        if (PyArg_ParseTuple(PyTuple_GetItem(object, i), "ss", &names[i].name, &names[i].linkers)) continue;
        PyMem_Free(names);
        return NULL;
    }
    return names;
}

static PyObject *load_program(PyObject *module, PyObject *const *items, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_set *loaded = NULL;
    int device;
    if (check_count("load_program(path, image, kernels, variables, device)", count, 5) < 0) return NULL;
    ck_program_names names = {.path = read_text(items[0], "path")};
    if (names.path == NULL || read_int(items[4], "device", &device) < 0) return NULL;
    if (!PyBytes_Check(items[1])) {
        PyErr_Format(PyExc_TypeError, "image must be bytes, not %R", items[1]);
        return NULL;
    }
    ck_program_name *kernels = read_names(items[2], &names.kernel_count);
    ck_program_name *variables = kernels != NULL ? read_names(items[3], &names.variable_count) : NULL;
    set *fresh = NULL;
    if (variables != NULL) {
        names.kernels = kernels;
        names.variables = variables;
        const char *image = PyBytes_AsString(items[1]);
        outside outside;
        outside_begin(&outside, state);
        const int status = ck_set_load_image(state->runtime, image, &names, device, &loaded, &error);
        if (outside_end(&outside, status, &error) == 0) fresh = PyObject_New(set, state->set_type);
        if (fresh != NULL) fresh->set = loaded;
    }
    PyMem_Free(kernels);
    PyMem_Free(variables);
    return (PyObject *)fresh;
}

// --- a launch ----------------------------------------------------------------------------------------------------
enum { MAX_ARGUMENTS = 64, MAX_VALUE = 1024 }; // parameters, and bytes of all values

typedef struct arguments {
    void *addresses[MAX_ARGUMENTS];
    ck_memory *memories[MAX_ARGUMENTS];
    void *pointers[MAX_ARGUMENTS];
    _Alignas(16) char values[MAX_VALUE];
    size_t used; // of values
} arguments;

// Messages count arguments from 1, as people do.
static int read_array(const module_state *state, PyObject *object, const ck_kernel_parameter *parameter, int number,
                      int device, arguments *arguments) {
    arguments->addresses[number] = &arguments->pointers[number];
    arguments->pointers[number] = NULL;
    if (object == Py_None) return 0;
    const view *array = read_view(state, object, label_of("argument", number + 1).text);
    if (array == NULL) return -1;
    const ck_view *described = &array->array.view;
    if (parameter->kind == CK_WRITTEN && check_writable(array, "argument", number + 1) < 0) return -1;
    if (array->device != device) {
        PyErr_Format(PyExc_ValueError,
                     "argument %d is on device %d, but the launch is on device %d; copy it there first", number + 1,
                     array->device, device);
        return -1;
    }
    const int bytes =
        parameter->element_bytes == 1 && ck_dtype_size(described->dtype) == 1; // characters are any of them
    if (parameter->dtype >= 0 && parameter->dtype != described->dtype && !bytes) {
        PyErr_Format(PyExc_TypeError, "argument %d is an array of %s, but the parameter is a pointer to %s",
                     number + 1, ck_dtype_name(described->dtype), ck_dtype_name(parameter->dtype));
        return -1;
    }
    if (!ck_view_is_contiguous(described)) {
        PyErr_Format(PyExc_ValueError, "argument %d is not contiguous in C order. Pass a contiguous copy of it",
                     number + 1);
        return -1;
    }
    arguments->pointers[number] = described->data;
    arguments->memories[number] = array->array.memory;
    return 0;
}

static int refuse_value(PyObject *object, const ck_kernel_parameter *parameter, int number) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "argument %d is %R, but the parameter is a value of %s, %d bytes long", number + 1,
                 object, parameter->dtype >= 0 ? ck_dtype_name(parameter->dtype) : "a type that is not built in",
                 parameter->bytes);
    return -1;
}

static int read_value(PyObject *object, const ck_kernel_parameter *parameter, int number, arguments *arguments) {
    Py_buffer buffer;
    const size_t at = (arguments->used + 15) / 16 * 16;
    if (at + (size_t)parameter->bytes > MAX_VALUE) {
        PyErr_Format(PyExc_ValueError,
                     "the arguments passed by value exceed %d bytes in all. Pass a pointer to an array of them",
                     MAX_VALUE);
        return -1;
    }
    char *value = arguments->values + at;
    arguments->used = at + (size_t)parameter->bytes;
    arguments->addresses[number] = value;
    if (write_number(object, parameter->dtype, value)) return 0;
    if (PyLong_Check(object) || PyFloat_Check(object)) return refuse_value(object, parameter, number);
    // A NumPy scalar must have the parameter's type. For a parameter of a type that is not built in, any scalar of
    // the right size is accepted.
    if (PyObject_GetBuffer(object, &buffer, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0)
        return refuse_value(object, parameter, number);
    const int dtype = parameter->dtype == CK_BFLOAT16 ? CK_UINT16 : parameter->dtype; // bfloat16 has no buffer format
    const int fits = buffer.len == (Py_ssize_t)parameter->bytes && (dtype < 0 || buffer_dtype(&buffer) == dtype);
    if (fits) memcpy(value, buffer.buf, parameter->bytes);
    PyBuffer_Release(&buffer);
    return fits ? 0 : refuse_value(object, parameter, number);
}

static int read_arguments(const module_state *state, PyObject *objects, const ck_set_kernel *kernel, int device,
                          arguments *arguments) {
    if (!PyTuple_Check(objects) || PyTuple_Size(objects) != kernel->parameter_count) {
        PyErr_Format(PyExc_TypeError, "%s has %d parameters and needs a tuple of as many arguments, not %R",
                     kernel->name, kernel->parameter_count, objects);
        return -1;
    }
    if (kernel->parameter_count > MAX_ARGUMENTS) {
        PyErr_Format(PyExc_ValueError, "%s has %d parameters; at most %d are allowed. Pass a struct of several",
                     kernel->name, kernel->parameter_count, MAX_ARGUMENTS);
        return -1;
    }
    memset(arguments->memories, 0, sizeof arguments->memories);
    arguments->used = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const ck_kernel_parameter *parameter = &kernel->parameters[i];
        PyObject *object = PyTuple_GetItem(objects, i);
        const int read = parameter->kind == CK_BY_VALUE ? read_value(object, parameter, i, arguments)
                                                        : read_array(state, object, parameter, i, device, arguments);
        if (read < 0) return -1;
    }
    return 0;
}

static int read_sizes(PyObject *object, const char *what, unsigned sizes[3]) {
    int64_t items[3] = {1, 1, 1};
    const int count = read_integers(object, what, 3, items);
    if (count < 0) return -1;
    for (int i = 0; i < 3; i++) {
        if (count == 0 || items[i] < 1 || items[i] > UINT32_MAX) {
            PyErr_Format(PyExc_ValueError, "%s must be one to three integers of at least 1, not %R", what, object);
            return -1;
        }
        sizes[i] = (unsigned)items[i];
    }
    return 0;
}

// The set, the kernel, the grid, the block and the bytes of shared memory, which come first in both functions below.
static int read_kernel(module_state *state, PyObject *const *items, ck_kernel_request *request) {
    ck_error error = {0};
    const ck_set *of = read_set(state, items[0]);
    const char *name = of != NULL ? read_text(items[1], "kernel") : NULL;
    if (name == NULL) return -1;
    request->kernel = ck_set_kernel_of(of, name, &error);
    if (request->kernel == NULL) {
        errors_raise(state, &error);
        return -1;
    }
    const Py_ssize_t shared = PyLong_AsSsize_t(items[4]);
    if (shared == -1 && PyErr_Occurred()) return -1;
    if (shared < 0 || shared > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "shared must be a number of bytes of at least 0, not %zd", shared);
        return -1;
    }
    request->shared_bytes = (size_t)shared;
    return read_sizes(items[2], "grid", request->grid) < 0 ? -1 : read_sizes(items[3], "block", request->block);
}

static PyObject *launch(PyObject *module, PyObject *const *items, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_kernel_request request = {.kernel = NULL};
    arguments arguments;
    if (check_count("launch(set, kernel, grid, block, shared, cooperative, arguments, device, measure, stream)",
                    count, 10) < 0 ||
        read_kernel(state, items, &request) < 0)
        return NULL;
    request.cooperative = PyObject_IsTrue(items[5]);
    request.arguments = arguments.addresses;
    request.memories = arguments.memories;
    const int measured = read_measure(items[8]);
    if (measured < 0 || request.cooperative < 0 || read_int(items[7], "device", &request.device) < 0 ||
        read_stream(items[9], &request.stream) < 0 ||
        read_arguments(state, items[6], request.kernel, request.device, &arguments) < 0)
        return NULL;
    ck_measure measure = {.by_launch = measured == 2};
    outside outside;
    outside_begin(&outside, state);
    request.waiter = outside.waiter;
    request.measure = measured ? &measure : NULL;
    const int status = ck_launch_kernel(state->runtime, &request, &error);
    PyObject *result = NULL;
    if (outside_end(&outside, status, &error) == 0) result = measured ? make_report(&measure) : none();
    ck_measure_clear(&measure);
    return result;
}

static PyObject *list_kernel(PyObject *module, PyObject *const *items, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    ck_kernel_request request = {.kernel = NULL};
    PyObject *result = NULL;
    if (check_count("list_kernel(set, kernel, grid, block, shared, device)", count, 6) < 0 ||
        read_kernel(state, items, &request) < 0 || read_int(items[5], "device", &request.device) < 0)
        return NULL;
    ck_listing *listing = PyMem_Malloc(sizeof *listing);
    if (listing == NULL) return PyErr_NoMemory();
    listing->sweep.count = 0;
    outside outside;
    outside_begin(&outside, state);
    const int status = ck_list_kernel(state->runtime, &request, listing, &error);
    if (outside_end(&outside, status, &error) == 0) result = make_kernels(listing);
    PyMem_Free(listing);
    return result;
}

static PyObject *variable(PyObject *module, PyObject *const *items, Py_ssize_t count) {
    module_state *state = state_of(module);
    ck_error error = {0};
    int device;
    void *address = NULL;
    size_t bytes = 0;
    if (check_count("variable(set, name, device)", count, 3) < 0) return NULL;
    const ck_set *of = read_set(state, items[0]);
    const char *name = of != NULL ? read_text(items[1], "name") : NULL;
    if (name == NULL || read_int(items[2], "device", &device) < 0) return NULL;
    if (ck_set_variable_at(of, name, device, &address, &bytes, &error) != CK_OK) return errors_raise(state, &error);
    return Py_BuildValue("(Nn)", PyLong_FromVoidPtr(address), (Py_ssize_t)bytes);
}

// --- the type ----------------------------------------------------------------------------------------------------
static void set_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *get_path(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_DecodeFSDefault(ck_set_path(((set *)self)->set));
}

static PyObject *get_operations(PyObject *self, void *unused) {
    (void)unused;
    return table_operations(ck_set_table_of(((set *)self)->set));
}

static PyObject *get_kernels(PyObject *self, void *unused) {
    (void)unused;
    return table_kernels(ck_set_table_of(((set *)self)->set));
}

static PyObject *get_variables(PyObject *self, void *unused) {
    (void)unused;
    return table_variables(ck_set_table_of(((set *)self)->set));
}

static PyGetSetDef set_attributes[] = {
    {"path", get_path, NULL, PyDoc_STR("The file from which it was loaded."), NULL},
    {"operations", get_operations, NULL, PyDoc_STR("Its variant tables, as operations() returns them."), NULL},
    {"kernels", get_kernels, NULL,
     PyDoc_STR("(name, ((\"value\", \"reads\" or \"writes\", dtype or None, bytes, bytes of an element)...))."),
     NULL},
    {"variables", get_variables, NULL,
     PyDoc_STR("(name, (dtype or None, bytes of an element, shape, whether it is const))."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject *make_set_type(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)PyDoc_STR("Kernels of a shared library, which stays loaded until the process ends.")},
        {Py_tp_dealloc, (void *)set_dealloc},
        {Py_tp_getset, set_attributes},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "cudakern." QUOTE(CK_MODULE) ".Set",
        .basicsize = sizeof(set),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
        .slots = slots,
    };
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, &spec, NULL);
}

PyMethodDef set_methods[] = {
    {"load_set", load_set, METH_O,
     PyDoc_STR("load_set(path, /)\n--\n\nThe kernels of a shared library that exports cudakern_set.")},
    {"load_program", FAST(load_program),
     PyDoc_STR("load_program(path, image, kernels, variables, device, /)\n--\n\n"
               "The set of code for a GPU, with pairs (name, linker's name) of its kernels and variables.")},
    {"launch", FAST(launch),
     PyDoc_STR("launch(set, kernel, grid, block, shared, cooperative, arguments, device, measure, stream, /)\n--\n\n"
               "Launches one kernel with Views and values, ordered after earlier uses of the arrays.")},
    {"list_kernel", FAST(list_kernel),
     PyDoc_STR("list_kernel(set, kernel, grid, block, shared, device, /)\n--\n\nA launch, as kernels() lists it.")},
    {"variable", FAST(variable),
     PyDoc_STR("variable(set, name, device, /)\n--\n\nThe address of a variable on a device, and its bytes.")},
    {NULL, NULL, 0, NULL},
};
