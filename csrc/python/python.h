// Shared declarations of the extension module.
//
//   module.c      the module: state, types, functions, the backend, faults on request
//   arguments.c   converts Python's numbers, names and tuples to C
//   operation.c   finds the operation and the variant of a call, in the set that it names
//   outside.c     releases Python's lock while a call may wait; handles Ctrl-C meanwhile
//   errors.c      converts a status to an exception; no other file does
//   table.c       the tables of a set as dictionaries
//   sets.c        Set: the package's kernels and other sets; a launch of a single kernel
//   buffers.c     host arrays through the buffer protocol: formats, shapes, strides
//   call.c        execute, error_depth, work: convert arguments to a request of the runtime
//   kind.c        the arrays of a call, and the kind of call; kind.h
//   prepared.c    the path of calls of a known kind, on arrays of one type, in host memory or on one device
//   view.c        the type View, an array on the device
//   array.c       creates Views: empty, view, adopt
//   transfers.c   copies between arrays: upload, download, copy, fill
//   pinned.c      page-locked host memory
//   warm.c        host memory for large results, which the next results get again
//   dlpack_out.c  exports our arrays as DLPack capsules; dlpack.h: the structures
//   dlpack_in.c   imports DLPack capsules of other libraries
//   exchange.c    orders our uses of memory and another library's
//   streams.c     streams and events
//   devices.c     devices: their properties and pools
//   fork.c        handlers for fork()
//
// The files are compiled twice, into cudakern._cuda and cudakern._emulator, without any difference in the source.
// Each lists its functions, with their docstrings, in a table at its end; module.c adds the tables to the module.
#ifndef CK_PYTHON_H
#define CK_PYTHON_H

// One build works with every Python from 3.11 (limited API). Free-threaded Pythons have no limited API, so each
// version needs its own build.
#include <pyconfig.h>
#if !defined(Py_GIL_DISABLED) && !defined(Py_LIMITED_API)
#define Py_LIMITED_API 0x030B0000
#endif
#include <Python.h>

#include <stdatomic.h>

#include "../runtime/runtime.h"

#ifndef CK_MODULE
#error "compile with -DCK_MODULE=_cuda or -DCK_MODULE=_emulator"
#endif
#define QUOTE_(a) #a
#define QUOTE(a)  QUOTE_(a)

// The functions that a file adds to the module.
#define FAST(function) (PyCFunction)(void (*)(void))(function), METH_FASTCALL
extern PyMethodDef array_methods[], call_methods[], device_methods[], dlpack_in_methods[], dlpack_out_methods[],
    exchange_methods[], fork_methods[], kind_methods[], pinned_methods[], prepared_methods[], set_methods[],
    stream_methods[], warm_methods[], transfer_methods[];

typedef struct module_state {
    ck_runtime *runtime;
    ck_set *package;                      // the package's own kernels
    PyObject *cuda_error, *out_of_memory; // cudakern._errors': both modules raise the same classes
    PyTypeObject *view_type, *pinned_type, *prepared_type, *set_type, *warm_type;
    PyObject *array_type;          // Python's DeviceArray; set before view_name
    PyObject *host_type;           // NumPy's ndarray; likewise
    _Atomic(PyObject *) view_name; // "_view"; NULL: not needed yet
    PyObject *memo;                // a dict: the kind of a call --> what an earlier call of that kind prepared
    struct prepared *front[64];    // entries found without a key; each removes itself when it is deallocated
} module_state;

static inline module_state *state_of(PyObject *module) {
    return (module_state *)PyModule_GetState(module);
}

static inline PyObject *none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

// --- errors.c ----------------------------------------------------------------------------------------------------
int errors_import(module_state *state);                             // -1: an exception is set
PyObject *errors_raise(module_state *state, const ck_error *error); // sets it, returns NULL
PyObject *
readable(const char *words); // a str; bytes that are not UTF-8 (settings, cut texts) become escapes such as \xff

// --- fork.c ------------------------------------------------------------------------------------------------------
void prepare_for_forks(ck_runtime *runtime);

// --- outside.c ---------------------------------------------------------------------------------------------------
// Enclose code that may wait or calls CUDA: other Python threads run meanwhile, and the runtime is not destroyed.
typedef struct outside {
    module_state *state;
    PyThreadState *thread;
    ck_waiter waiter; // checks for Ctrl-C, for functions that take a waiter
} outside;
void outside_begin(outside *outside, module_state *state);
// 0: success; -1: an exception is set, from the status or by a signal handler.
int outside_end(outside *outside, int status, const ck_error *error);

// --- arguments.c -------------------------------------------------------------------------------------------------
// If the object is unsuitable, all of these return -1 (or NULL) with an exception set, which contains `what`.
typedef struct label {
    char text[32];
} label;
label label_of(const char *role, int number); // "input 1"; the role alone where number < 0
int check_count(const char *usage, Py_ssize_t count, Py_ssize_t expected); // TypeError; `usage` names the arguments
int read_int(PyObject *object, const char *what, int *value);
int read_handle(PyObject *object, const char *what, uintptr_t *value); // a stream, an event, an address
int read_stream(PyObject *object, cudaStream_t *stream);
const char *read_text(PyObject *object, const char *what);
int read_integers(PyObject *object, const char *what, int limit, int64_t *values); // returns their number
int read_shape(PyObject *object, ck_view *view);                                   // shape and ndim
int read_shapes(PyObject *shapes, ck_view *views);                                 // of a tuple; returns their number
int read_dtype(PyObject *object, int *dtype);
int write_number(PyObject *object, int dtype, void *value); // 1: an int or float that the type can hold; else 0
PyObject *make_integers(const int64_t *values, int count);  // a tuple

// --- operation.c -------------------------------------------------------------------------------------------------
typedef struct set {           // the type Set
    PyObject_HEAD ck_set *set; // never unloaded, so there is nothing to release
} set;
// All of these return NULL with an exception set.
const ck_set *read_set(const module_state *state, PyObject *object);
// Finds an operation: by its name in the package's set, by a tuple (Set, name) in another one.
const ck_operation *read_operation(module_state *state, PyObject *object);
// The same for a variant, by operation and name.
const ck_variant *read_variant(module_state *state, PyObject *const names[2], const ck_operation **operation);

// --- buffers.c ---------------------------------------------------------------------------------------------------
// The host arrays of a call. While a buffer is held, its array cannot be moved or resized; buffers_release ends this.
typedef struct buffers {
    Py_buffer held[CK_MAX_VIEWS];
    int count;
} buffers;
// Describes an array, or a pair (array, "bfloat16"), as a view.
int buffers_take(buffers *buffers, PyObject *array, const char *role, int number, int writable, ck_view *view);
// The dtype of a buffer's items; -1: an unsupported type or byte order.
int buffer_dtype(const Py_buffer *buffer);
void buffers_release(buffers *buffers);

// --- call.c ------------------------------------------------------------------------------------------------------
int read_measure(PyObject *object); // 0: no timing; 1: time the call; 2: each launch too; -1: exception
PyObject *make_report(const ck_measure *measure);
PyObject *make_kernels(const ck_listing *listing); // a tuple of dictionaries // a dictionary

// --- table.c -----------------------------------------------------------------------------------------------------
PyObject *table_operations(const ck_set_table *table); // one dictionary per operation
PyObject *table_kernels(const ck_set_table *table);
PyObject *table_variables(const ck_set_table *table); // one pair (name, parameters) per kernel
// Adds to a dictionary and takes over the reference; -1 if the value is NULL or memory is exhausted.
int set_item(PyObject *dictionary, const char *key, PyObject *value);

// --- view.c ------------------------------------------------------------------------------------------------------
// Python's View. It never changes after its creation, so it needs no lock.
typedef struct view {
    PyObject_HEAD ck_array array; // holds a reference to the memory
    int device;
    int read_only;
    int foreign; // the memory belongs to another library
} view;

PyTypeObject *make_view_type(PyObject *module);
// Takes over the caller's reference to the memory, even if it fails.
PyObject *view_create(module_state *state, ck_memory *memory, const ck_view *described, int read_only, int foreign);
// Creates an instance without memory, so that the later view_fill cannot fail. view_fill takes over the reference to
// the memory.
view *view_allocate(module_state *state);
void view_fill(view *view, ck_memory *memory, const ck_view *described, int read_only, int foreign);
static inline int is_view(const module_state *state, PyObject *object) {
    return Py_IS_TYPE(object, state->view_type);
}
view *read_view(const module_state *state, PyObject *object, const char *what); // a borrowed reference
int check_writable(const view *view, const char *role, int number);             // ValueError unless it can be written
// Releases the owner of imported memory with Python's lock held; does nothing once the interpreter shuts down.
void release_object(void *object);

// --- sets.c ------------------------------------------------------------------------------------------------------
PyTypeObject *make_set_type(PyObject *module);
int load_package_set(module_state *state); // -1: ImportError is set

// --- prepared.c --------------------------------------------------------------------------------------------------
PyTypeObject *make_prepared_type(PyObject *module);
void forget_calls(module_state *state); // drops what earlier calls prepared, including numbers in device memory

// --- pinned.c ----------------------------------------------------------------------------------------------------
PyTypeObject *make_pinned_type(PyObject *module);

// --- warm.c ------------------------------------------------------------------------------------------------------
PyTypeObject *make_warm_type(PyObject *module);

#endif
