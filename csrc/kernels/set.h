// A set: a group of kernels that were compiled together into a shared library, which exports `cudakern_set`.
//
//   library  --exports-->  cudakern_set --.-- operations: variant tables, each with plan() and run()
//                                          '-- kernels: single kernels, which the runtime launches by name
//
// The package's own kernels are one set per backend. csrc/runtime/set.c loads sets; a set with another ABI version is
// an error. The functions of the runtime that a set needs are exported by the extension module that loads it
// (CK_EXPORTED).
#ifndef CK_SET_H
#define CK_SET_H

#include "variant.h"

#ifdef __cplusplus
extern "C" {
#endif

// A parameter of a kernel: a pointer to elements of a dtype, or a value.
typedef enum ck_parameter_kind {
    CK_BY_VALUE,
    CK_READ_ONLY,
    CK_WRITTEN
} ck_parameter_kind; // CK_READ_ONLY: a pointer to const

typedef struct ck_kernel_parameter {
    ck_parameter_kind kind;
    int dtype;    // of the value, or of the elements that the pointer points to; -1: not an element type of arrays
    size_t bytes; // of the parameter itself
} ck_kernel_parameter;

typedef struct ck_set_kernel {
    const char *name;
    // Returns a cudaError_t. A shared library gets the handle from its own CUDA runtime; for a kernel that was loaded
    // in another way, the handle is in `closure`.
    int (*handle)(void *closure, cudaKernel_t *kernel);
    void *closure;
    const ck_kernel_parameter *parameters;
    int parameter_count;
} ck_set_kernel;

typedef struct ck_set_table {
    int abi;             // CK_ABI_VERSION; the first field in every version
    const char *backend; // backend_name() of the headers that the set was compiled with
    const ck_operation *const *operations;
    int operation_count;
    const ck_set_kernel *kernels;
    int kernel_count;
} ck_set_table;

#ifdef __cplusplus
}
#endif
#endif
