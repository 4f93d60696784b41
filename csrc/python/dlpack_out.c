// Exports our arrays to other libraries: converts a View to a DLPack capsule.
//
// What the consumer holds references the memory but no Python object, so it can be deleted on any thread, without
// Python's lock, and after the interpreter has ended.
#include <stdlib.h>

#include "python.h"

#include "backend.h"
#include "dlpack.h"

typedef struct parcel {
    union {
        dl_versioned versioned;
        dl_old old;
    } managed; // must be the first member: its address is that of the parcel
    ck_memory *memory;
    int64_t shape[CK_MAX_DIMS], strides[CK_MAX_DIMS];
} parcel;

static void delete_parcel(parcel *parcel) {
    ck_memory_release(parcel->memory);
    free(parcel);
}

static void delete_versioned(dl_versioned *managed) {
    if (managed != NULL) delete_parcel(managed->manager);
}

static void delete_old(dl_old *managed) {
    if (managed != NULL) delete_parcel(managed->manager);
}

// If the capsule still has its original name, no consumer has taken the tensor.
static void destroy_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, DL_NAME_VERSIONED))
        delete_versioned(PyCapsule_GetPointer(capsule, DL_NAME_VERSIONED));
    else if (PyCapsule_IsValid(capsule, DL_NAME_OLD))
        delete_old(PyCapsule_GetPointer(capsule, DL_NAME_OLD));
}

static void describe_device(int device, int32_t *type, int32_t *index) {
    *type = backend_memory_is_host() ? DL_CPU : DL_CUDA;
    *index = backend_memory_is_host() ? 0 : device;
}

static PyObject *dlpack_device(PyObject *module, PyObject *argument) {
    int device;
    int32_t type, index;
    (void)module;
    if (read_int(argument, "device", &device) < 0) return NULL;
    describe_device(device, &type, &index);
    return Py_BuildValue("(ii)", (int)type, (int)index);
}

static int describe(const view *view, parcel *parcel, dl_tensor *tensor) {
    const ck_view *array = &view->array.view;
    const int64_t size = (int64_t)ck_dtype_size(array->dtype);
    for (int axis = 0; axis < array->ndim; axis++) {
        parcel->shape[axis] = array->shape[axis];
        parcel->strides[axis] = array->strides[axis] / size;
        if (array->strides[axis] % size == 0 || array->shape[axis] < 2) continue;
        PyErr_Format(PyExc_BufferError,
                     "DLPack counts strides in elements, but along axis %d elements of %lld bytes are %lld bytes "
                     "apart. Pass a copy",
                     axis, (long long)size, (long long)array->strides[axis]);
        return -1;
    }
    *tensor = (dl_tensor){.data = ck_view_is_empty(array) ? NULL : array->data,
                          .ndim = array->ndim,
                          .dtype = {.lanes = 1},
                          .shape = parcel->shape,
                          .strides = parcel->strides,
                          .byte_offset = 0};
    dl_dtype_of(array->dtype, &tensor->dtype.code, &tensor->dtype.bits);
    describe_device(view->device, &tensor->device.type, &tensor->device.index);
    return 0;
}

static PyObject *dlpack_export(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    if (check_count("dlpack_export(view, versioned, copied)", count, 3) < 0) return NULL;
    const view *view = read_view(state_of(module), arguments[0], "view");
    const int versioned = view ? PyObject_IsTrue(arguments[1]) : -1;
    const int copied = versioned >= 0 ? PyObject_IsTrue(arguments[2]) : -1;
    if (copied < 0) return NULL;
    if (view->read_only && !versioned) {
        PyErr_SetString(PyExc_BufferError,
                        "the array is read-only, which DLPack can express only from version 1.0 on; request "
                        "max_version=(1, 0) or pass a copy");
        return NULL;
    }
    parcel *package = malloc(sizeof *package);
    if (package == NULL) return PyErr_NoMemory();
    dl_tensor tensor;
    if (describe(view, package, &tensor) < 0) {
        free(package);
        return NULL;
    }
    if (versioned)
        package->managed.versioned = (dl_versioned){
            .version = {DL_MAJOR, DL_MINOR},
            .manager = package,
            .deleter = delete_versioned,
            .flags = (view->read_only ? DL_READ_ONLY : 0) | (copied ? DL_IS_COPIED : 0),
            .tensor = tensor,
        };
    else
        package->managed.old = (dl_old){.tensor = tensor, .manager = package, .deleter = delete_old};
    package->memory = view->array.memory;
    ck_memory_retain(package->memory);
    // On a GPU the consumer uses streams of its own and does not report when its work ends; on the host its work has
    // ended when it calls the deleter.
    if (!backend_memory_is_host()) ck_memory_export(package->memory);
    PyObject *capsule = PyCapsule_New(package, versioned ? DL_NAME_VERSIONED : DL_NAME_OLD, destroy_capsule);
    if (capsule == NULL) delete_parcel(package);
    return capsule;
}

PyMethodDef dlpack_out_methods[] = {
    {"dlpack_device", dlpack_device, METH_O,
     PyDoc_STR("dlpack_device(device, /)\n--\n\nDLPack's numbers (type, index) of the device.")},
    {"dlpack_export", FAST(dlpack_export),
     PyDoc_STR("dlpack_export(view, versioned, copied, /)\n--\n\n"
               "A capsule, 'dltensor_versioned' or 'dltensor', which keeps the memory until its consumer is done.")},
    {NULL, NULL, 0, NULL},
};
