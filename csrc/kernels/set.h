// A set: a group of kernels that were compiled in one way into a shared library, which exports `cudakern_set`.
//
//   library  --exports-->  cudakern_set --.-- operations: variant tables, each with plan() and run()
//                                          '-- kernels: single ones, which the runtime launches by name
//
// The package's own kernels are one set a backend. A set is loaded by csrc/runtime/set.c, which refuses one of another
// ABI version. What a set needs of the runtime is exported by the extension module that loads it (CK_EXPORTED).
#ifndef CK_SET_H
#define CK_SET_H

#include "variant.h"

#ifdef __cplusplus
extern "C" {
#endif

// A kernel's parameter: a pointer to elements of a dtype, or a value.
typedef enum ck_parameter_kind {
    CK_BY_VALUE,
    CK_READ_ONLY,
    CK_WRITTEN
} ck_parameter_kind; // CK_READ_ONLY: a pointer to const

typedef struct ck_kernel_parameter {
    ck_parameter_kind kind;
    int dtype;    // of the value, or of what the pointer points to; -1: no type that arrays have
    size_t bytes; // of the parameter itself
} ck_kernel_parameter;

typedef struct ck_set_kernel {
    const char *name;
    // A cudaError_t. A shared library asks its own CUDA runtime; a kernel that was loaded otherwise is in `closure`.
    int (*handle)(void *closure, cudaKernel_t *kernel);
    void *closure;
    const ck_kernel_parameter *parameters;
    int parameter_count;
} ck_set_kernel;

typedef struct ck_set_table {
    int abi;             // CK_ABI_VERSION: the first field of every version
    const char *backend; // backend_name() of the headers that it was compiled with
    const ck_operation *const *operations;
    int operation_count;
    const ck_set_kernel *kernels;
    int kernel_count;
} ck_set_table;

#ifdef __cplusplus
}
#endif
#endif
