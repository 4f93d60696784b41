// A set: a group of kernels that were compiled together into a shared library, which exports `cudakern_set`.
//
//   library  --exports-->  cudakern_set --.-- operations: variant tables, each with plan() and run()
//                                         |-- kernels: single kernels, which the runtime launches by name
//                                         '-- variables: __device__ and __constant__ ones, which the host may access
//
// The package's own kernels are one set per backend. csrc/runtime/set.c loads sets; a set with another ABI version is
// an error. The functions of the runtime that a set of variants needs are exported by the extension module that loads
// it (CK_EXPORTED).
#ifndef CK_SET_H
#define CK_SET_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ck_operation ck_operation; // variant.h

typedef struct ck_set_kernel {
    const char *name;
    // Returns a cudaError_t. A shared library gets the handle from its own CUDA runtime; for a kernel that was loaded
    // in another way, the handle is in `closure`.
    int (*handle)(void *closure, cudaKernel_t *kernel);
    void *closure;
    const ck_kernel_parameter *parameters;
    int parameter_count;
} ck_set_kernel;

typedef struct ck_set_variable {
    const char *name;
    int (*find)(void *closure, void **address, size_t *bytes); // on the current device; returns a cudaError_t
    void *closure;
    ck_variable_type type;
} ck_set_variable;

typedef struct ck_set_table {
    int abi;             // CK_ABI_VERSION; the first field in every version
    const char *backend; // backend_name() of the headers that the set was compiled with
    const ck_operation *const *operations;
    int operation_count;
    const ck_set_kernel *kernels;
    int kernel_count;
    const ck_set_variable *variables;
    int variable_count;
} ck_set_table;

#ifdef __cplusplus
}
#endif
#endif
