// What the extension module's files share.
//
//   module.c      the module: state, types, functions, the backend, faults on request
//   arguments.c   Python's numbers, names and tuples to C's
//   outside.c     leaving Python while something may wait; Ctrl-C meanwhile
//   errors.c      the one place where a status becomes an exception
//   table.c       the tables of a set as dictionaries
//   sets.c        Set: the package's kernels and other sets; a launch of a single kernel
//   buffers.c     arrays of the host, by the buffer protocol: formats, shapes, strides
//   call.c        execute, error_depth, work: Python's arguments to a request of the runtime
//   prepared.c    the plain case of a call: arrays on one device that a kernel takes as they are
//   view.c        View, the array on the device: the type
//   array.c       Views made: empty, view, adopt
//   transfers.c   what moves between arrays: upload, download, copy, fill
//   pinned.c      page-locked host memory
//   dlpack_out.c  our arrays for other libraries     dlpack.h: the structures
//   dlpack_in.c   other libraries' arrays for us
//   exchange.c    who comes after whom where another library uses the same memory
//   streams.c     streams and events
//   devices.c     devices: which, what they are, their pools
//   fork.c        around fork()
//
// The files are compiled twice, into cudakern._cuda and cudakern._emulator; nothing in them knows which. Each lists
// its functions, with their docstrings, in a table at its end; module.c adds the tables to the module.
#ifndef CK_PYTHON_H
#define CK_PYTHON_H

// One build serves every Python from 3.11. Free-threaded Pythons have no limited API; there it is built for one.
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
    exchange_methods[], fork_methods[], pinned_methods[], prepared_methods[], set_methods[], stream_methods[],
    transfer_methods[];

typedef struct module_state {
    ck_runtime *runtime;
    ck_set *package;                      // the package's own kernels
    PyObject *cuda_error, *out_of_memory; // cudakern._errors': both modules raise the same classes
    PyTypeObject *view_type, *pinned_type, *prepared_type, *set_type;
    PyObject *array_type;          // Python's DeviceArray; set before view_name
    _Atomic(PyObject *) view_name; // "_view"; NULL: not needed yet
    PyObject *memo;                // a dict: the kind of a call --> what an earlier call of that kind prepared
    struct prepared *front[64];    // some of it, found by addresses; each takes itself out when it goes
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
PyObject *readable(const char *words); // a str; bytes that are no UTF-8, of a setting, or one that was cut, as \xff

// --- fork.c ------------------------------------------------------------------------------------------------------
void prepare_for_forks(ck_runtime *runtime);

// --- outside.c ---------------------------------------------------------------------------------------------------
// Around what may wait or calls CUDA: other Python threads go on meanwhile, and the runtime stays.
typedef struct outside {
    module_state *state;
    PyThreadState *thread;
    ck_waiter waiter; // looks after Ctrl-C, for functions that take one
} outside;
void outside_begin(outside *outside, module_state *state);
// 0: all is well; -1: an exception is set, from the status or from a signal's handler.
int outside_end(outside *outside, int status, const ck_error *error);

// --- arguments.c -------------------------------------------------------------------------------------------------
// All return -1 (or NULL) with an exception set when the object is none of what is wanted; `what` names it there.
typedef struct label {
    char text[32];
} label;
label label_of(const char *role, int number);                            // "input 1"; the role alone where number < 0
int check_count(const char *usage, Py_ssize_t count, Py_ssize_t wanted); // TypeError; `usage` names the arguments
int read_int(PyObject *object, const char *what, int *value);
int read_handle(PyObject *object, const char *what, uintptr_t *value); // a stream, an event, an address
int read_stream(PyObject *object, cudaStream_t *stream);
const char *read_text(PyObject *object, const char *what);
// Of the package's set, by the names of the operation and of the variant; NULL: an exception is set.
const ck_variant *read_variant(module_state *state, PyObject *const names[2], const ck_operation **operation);
int read_integers(PyObject *object, const char *what, int limit, int64_t *values); // how many
int read_shape(PyObject *object, ck_view *view);                                   // shape and ndim
int read_dtype(PyObject *object, int *dtype);
int write_number(PyObject *object, int dtype, void *value); // 1: an int or a float, and the type has it; no exception
PyObject *make_integers(const int64_t *values, int count);  // a tuple

// --- buffers.c ---------------------------------------------------------------------------------------------------
// The host's arrays of a call. A buffer held keeps its array's memory where it is, until buffers_release.
typedef struct buffers {
    Py_buffer held[CK_MAX_VIEWS];
    int count;
} buffers;
// The array, or the pair (array, "bfloat16"), as a view.
int buffers_take(buffers *buffers, PyObject *array, const char *role, int number, int writable, ck_view *view);
// The dtype of a buffer's items; -1: none of ours, or not in this machine's order.
int buffer_dtype(const Py_buffer *buffer);
void buffers_release(buffers *buffers);

// --- call.c ------------------------------------------------------------------------------------------------------
int read_measure(PyObject *object);               // 0: nothing is timed; 1: the call; 2: each launch too; -1: failed
PyObject *make_report(const ck_measure *measure); // a dictionary

// --- table.c -----------------------------------------------------------------------------------------------------
PyObject *table_operations(const ck_set_table *table); // a dictionary an operation
PyObject *table_kernels(const ck_set_table *table);    // (name, parameters) a kernel
// Adds to a dictionary and gives up the reference; -1 when the value is NULL or there is no memory.
int set_item(PyObject *dictionary, const char *key, PyObject *value);

// --- view.c ------------------------------------------------------------------------------------------------------
// Python's View. Nothing in it changes once it is made, so it needs no lock.
// What tells one kind of array from another, as far as a kernel may depend on it: type, gaps, and whether it is a
// number, a vector, a matrix, or has more axes.
enum { VIEW_CONTIGUOUS = 1 << 4, VIEW_AXES = 5, VIEW_KIND_BITS = 7 };

typedef struct view {
    PyObject_HEAD ck_array array; // holds a reference to the memory
    int device;
    int read_only;
    int foreign; // another library's memory
    unsigned kind;
} view;

PyTypeObject *make_view_type(PyObject *module);
// Takes over the caller's reference to the memory, whatever happens.
PyObject *view_create(module_state *state, ck_memory *memory, const ck_view *described, int read_only, int foreign);
// An instance without memory, for whoever must not fail later; view_fill takes over the reference to the memory.
view *view_allocate(module_state *state);
void view_fill(view *view, ck_memory *memory, const ck_view *described, int read_only, int foreign);
static inline int is_view(const module_state *state, PyObject *object) {
    return Py_IS_TYPE(object, state->view_type);
}
view *read_view(const module_state *state, PyObject *object, const char *what); // borrowed
int check_writable(const view *view, const char *role, int number);             // ValueError unless it can be written
// For objects that keep another's memory: with Python's lock, and not at all once the interpreter goes down.
void release_object(void *object);

// --- sets.c ------------------------------------------------------------------------------------------------------
PyTypeObject *make_set_type(PyObject *module);
int load_package_set(module_state *state); // -1: ImportError is set

// --- prepared.c --------------------------------------------------------------------------------------------------
PyTypeObject *make_prepared_type(PyObject *module);
void forget_calls(module_state *state); // what earlier calls prepared, and the numbers that it keeps on devices

// --- pinned.c ----------------------------------------------------------------------------------------------------
PyTypeObject *make_pinned_type(PyObject *module);

#endif
