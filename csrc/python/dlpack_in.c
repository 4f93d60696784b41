// Imports arrays of other libraries: converts a DLPack capsule to a View.
//
// A refused tensor stays in its capsule, for other consumers or for the capsule's destructor. A tensor of another
// major version is taken and deleted, which is all that the specification allows.
#include <string.h>

#include "python.h"

#include "backend.h"
#include "dlpack.h"

// Calls the deleter with Python's lock held, which deleters of Python libraries may need. Does nothing once the
// interpreter shuts down.
static void delete_versioned(void *owner) {
    dl_versioned *managed = owner;
    if (managed->deleter == NULL || !Py_IsInitialized()) return;
    const PyGILState_STATE held = PyGILState_Ensure();
    managed->deleter(managed);
    PyGILState_Release(held);
}

static void delete_old(void *owner) {
    dl_old *managed = owner;
    if (managed->deleter == NULL || !Py_IsInitialized()) return;
    const PyGILState_STATE held = PyGILState_Ensure();
    managed->deleter(managed);
    PyGILState_Release(held);
}

// --- checks ------------------------------------------------------------------------------------------------------
static int check_device(const dl_tensor *tensor, int device) {
    const int32_t type = tensor->device.type, index = tensor->device.index;
    if (backend_memory_is_host() ? type == DL_CPU : type == DL_CUDA && index == device) return 0;
    if (backend_memory_is_host())
        PyErr_Format(
            PyExc_BufferError,
            "the tensor is in memory of DLPack device type %d, but the emulator accepts CPU memory (1) only; copy it "
            "to the host first",
            (int)type);
    else if (type == DL_CUDA)
        PyErr_Format(PyExc_BufferError,
                     "the tensor is on CUDA device %d, but it was requested on device %d; copy it there", (int)index,
                     device);
    else
        PyErr_Format(PyExc_BufferError,
                     "the tensor is in %s (DLPack device type %d), but only CUDA device memory (2) is accepted; %s",
                     type == DL_CPU            ? "host memory"
                     : type == DL_CUDA_HOST    ? "page-locked host memory"
                     : type == DL_CUDA_MANAGED ? "managed memory"
                                               : "another kind of memory",
                     (int)type,
                     type == DL_CPU || type == DL_CUDA_HOST
                         ? "convert it with numpy.from_dlpack, then cudakern.asarray"
                         : "copy it to an ordinary CUDA array first");
    return -1;
}

static int find_dtype(const dl_tensor *tensor, int *dtype) {
    uint8_t code, bits;
    for (*dtype = 0; *dtype < CK_DTYPE_COUNT; ++*dtype) {
        dl_dtype_of(*dtype, &code, &bits);
        if (tensor->dtype.lanes == 1 && tensor->dtype.code == code && tensor->dtype.bits == bits) return 0;
    }
    PyErr_Format(
        PyExc_BufferError,
        "the tensor's elements have DLPack type code %d, %d bits and %d lanes; supported are bool, integers, "
        "float16, bfloat16, float32, float64, complex64 and complex128 with one lane",
        (int)tensor->dtype.code, (int)tensor->dtype.bits, (int)tensor->dtype.lanes);
    return -1;
}

static int malformed(const char *what) {
    PyErr_Format(PyExc_ValueError, "the tensor is malformed: %s", what);
    return -1;
}

// Reads shape and strides (in bytes); low and high are those of ck_view_reach.
static int read_axes(const dl_tensor *tensor, ck_view *view, int64_t *low, int64_t *high) {
    const int ndim = (int)tensor->ndim;
    int64_t elements = 1;
    if (ndim < 0) return malformed("its number of axes is negative");
    if (ndim > CK_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "the tensor has %d axes; at most %d are allowed. Reshape it", ndim,
                     CK_MAX_DIMS);
        return -1;
    }
    if (ndim > 0 && tensor->shape == NULL) return malformed("it has no shape");
    view->ndim = ndim;
    for (int axis = 0; axis < ndim; axis++) {
        view->shape[axis] = tensor->shape[axis];
        if (view->shape[axis] < 0) return malformed("its shape has a negative length");
    }
    ck_view_lay_out(view, view->dtype);
    const int64_t size = (int64_t)ck_dtype_size(view->dtype);
    for (int axis = 0; axis < ndim; axis++) {
        if (tensor->strides != NULL && __builtin_mul_overflow(tensor->strides[axis], size, &view->strides[axis]))
            return malformed("a stride exceeds the address space");
        if (view->shape[axis] > 0 && __builtin_mul_overflow(elements, view->shape[axis], &elements))
            return malformed("it has more elements than 63 bits can count");
    }
    if (ck_view_reach(view, low, high) < 0) return malformed("its shape and strides exceed the address space");
    return 0;
}

// Reads the address of the first element. The range of all elements must be within the address space.
static int read_data(const dl_tensor *tensor, ck_view *view, int64_t low, int64_t high) {
    uintptr_t first, end;
    if (low == high) {
        view->data = tensor->data;
        return 0;
    }
    if (tensor->data == NULL) return malformed("it has elements but no data");
    if (__builtin_add_overflow((uintptr_t)tensor->data, tensor->byte_offset, &first) || first < (uintptr_t)-low ||
        __builtin_add_overflow(first, (uintptr_t)high, &end) || end > INTPTR_MAX)
        return malformed("its data extends beyond the address space");
    view->data = (void *)first;
    return 0;
}

// --- import ------------------------------------------------------------------------------------------------------
typedef struct arrival {
    dl_versioned *versioned; // either this one is set, or the next
    dl_old *old;
    const dl_tensor *tensor;
    int read_only;
} arrival;

// Reads the capsule. -1: not a DLPack capsule, or one whose contents must not be accessed.
static int open_capsule(PyObject *capsule, arrival *arrival) {
    if (!PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError, "expected a DLPack capsule, as x.__dlpack__() returns, not %R", capsule);
        return -1;
    }
    if (PyCapsule_IsValid(capsule, DL_NAME_OLD)) {
        arrival->old = PyCapsule_GetPointer(capsule, DL_NAME_OLD);
        arrival->tensor = &arrival->old->tensor;
        return 0;
    }
    if (PyCapsule_IsValid(capsule, DL_NAME_VERSIONED)) {
        dl_versioned *managed = arrival->versioned = PyCapsule_GetPointer(capsule, DL_NAME_VERSIONED);
        if (managed->version.major == DL_MAJOR) {
            arrival->tensor = &managed->tensor;
            arrival->read_only = (managed->flags & DL_READ_ONLY) != 0;
            return 0;
        }
        const unsigned major = managed->version.major, minor = managed->version.minor;
        if (PyCapsule_SetName(capsule, "used_" DL_NAME_VERSIONED) < 0) return -1;
        if (managed->deleter != NULL) managed->deleter(managed);
        PyErr_Format(PyExc_BufferError,
                     "the tensor has DLPack version %u.%u, but only version %d is supported; request it with "
                     "max_version=(%d, %d)",
                     major, minor, DL_MAJOR, DL_MAJOR, DL_MINOR);
        return -1;
    }
    const char *name = PyCapsule_GetName(capsule);
    if (name == NULL && PyErr_Occurred()) return -1;
    if (name != NULL && (strcmp(name, "used_" DL_NAME_OLD) == 0 || strcmp(name, "used_" DL_NAME_VERSIONED) == 0))
        PyErr_SetString(PyExc_ValueError,
                        "this DLPack capsule has already been used; call __dlpack__() again for a new one");
    else
        PyErr_Format(PyExc_ValueError,
                     "a capsule named '%.100s' is not a DLPack capsule, which is named '%s' or '%s'",
                     name ? name : "", DL_NAME_VERSIONED, DL_NAME_OLD);
    return -1;
}

static PyObject *import(module_state *state, PyObject *capsule, int device) {
    arrival arrival = {NULL, NULL, NULL, 0};
    ck_view described = {.data = NULL};
    ck_memory *memory = NULL;
    ck_error error = {0};
    int64_t low, high;
    if (open_capsule(capsule, &arrival) < 0) return NULL;
    const dl_tensor *tensor = arrival.tensor;
    if (check_device(tensor, device) < 0 || find_dtype(tensor, &described.dtype) < 0 ||
        read_axes(tensor, &described, &low, &high) < 0 || read_data(tensor, &described, low, high) < 0)
        return NULL;
    view *result = view_allocate(state); // an error from here on leaves the capsule unchanged
    if (result == NULL) return NULL;
    void *first = low == high ? described.data : (char *)described.data + low;
    // Python's lock is held, so no other thread can take the tensor from the capsule meanwhile.
    if (ck_memory_adopt(
            state->runtime, device, first, (size_t)(high - low), arrival.versioned ? delete_versioned : delete_old,
            arrival.versioned ? (void *)arrival.versioned : (void *)arrival.old, &memory, &error) != CK_OK) {
        Py_DECREF(result);
        return errors_raise(state, &error);
    }
    view_fill(result, memory, &described, arrival.read_only, 1);
    PyCapsule_SetName(capsule, arrival.versioned ? "used_" DL_NAME_VERSIONED
                                                 : "used_" DL_NAME_OLD); // cannot fail: the capsule is valid
    return (PyObject *)result;
}

static PyObject *dlpack_import(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    PyObject *result;
    int device;
    if (check_count("dlpack_import(capsule, device)", count, 2) < 0 || read_int(arguments[1], "device", &device) < 0)
        return NULL;
#ifdef Py_GIL_DISABLED // Python has no global lock here, so use the capsule's
    Py_BEGIN_CRITICAL_SECTION(arguments[0]);
#endif
    result = import(state_of(module), arguments[0], device);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return result;
}

PyMethodDef dlpack_in_methods[] = {
    {"dlpack_import", FAST(dlpack_import),
     PyDoc_STR("dlpack_import(capsule, device, /)\n--\n\nConverts the tensor of a capsule to a View and marks the "
               "capsule as used. A tensor that is refused, by BufferError or ValueError, stays in its capsule.")},
    {NULL, NULL, 0, NULL},
};
