// For a file of single kernels that is compiled into a set of its own. The file ends with CK_SET:
//
//     __global__ void add_one(const float *x, float *y, int n) { ... }
//
//     CK_SET(CK_KERNEL(add_one))
//
// A template is named with its arguments: CK_KERNEL(scale<float>). Descriptions follow from the types. Everything
// here has the prefix ck_, because the file's own names are in the same namespace. (cudakern.compile writes what
// CK_SET does, and lists variables too.)
#ifndef CK_SET_CUH
#define CK_SET_CUH

#include <cuda_runtime.h>

#include "parameters.cuh"
#include "set.h"

#ifndef CK_BACKEND // compile() defines it: a user's folder may have a backend.h
#include "backend.h"
#define CK_BACKEND backend_name()
#endif

// An error code to return to cudakern's runtime, which uses another instance of the CUDA runtime. This instance's
// last error is cleared, so that a later call does not report it.
inline int ck_set_answer(cudaError_t code) {
    if (code != cudaSuccess) (void)cudaGetLastError();
    return static_cast<int>(code);
}

// (The outermost const of a parameter is not part of the kernel's type.)
template <typename... P>
constexpr ck_set_kernel ck_describe(const char *name, int (*handle)(void *, cudaKernel_t *), void (*)(P...)) {
    return {name, handle, nullptr, ck_parameters<P...>::of, static_cast<int>(sizeof...(P))};
}

#define CK_KERNEL(...)                                                                                               \
    ck_describe(                                                                                                     \
        #__VA_ARGS__,                                                                                                \
        [](void *, cudaKernel_t *ck_handle) -> int { return ck_set_answer(cudaGetKernel(ck_handle, __VA_ARGS__)); }, \
        __VA_ARGS__)

#define CK_VARIABLE(...)                                                                                             \
    {                                                                                                                \
#__VA_ARGS__,                                                                                                   \
     [](void *, void **ck_address, size_t *ck_bytes) -> int {                                                        \
         const cudaError_t ck_code = cudaGetSymbolAddress(ck_address, __VA_ARGS__);                                  \
         return ck_set_answer(ck_code == cudaSuccess ? cudaGetSymbolSize(ck_bytes, __VA_ARGS__) : ck_code);          \
     },                                                                                                              \
     nullptr,                                                                                                        \
     ck_variable_of<decltype(__VA_ARGS__)>()    \
    }

// Each list ends with an empty item, because no array may be empty.
#define CK_SET(...)                                                                                                  \
    static const ck_set_kernel ck_kernels_of_the_set[] = {__VA_ARGS__, {}};                                          \
    static const ck_set_variable ck_variables_of_the_set[] = {{}};                                                   \
    CK_SET_TABLE

#define CK_SET_TABLE                                                                                                 \
    extern "C" {                                                                                                     \
    __attribute__((visibility("default"))) extern const ck_set_table cudakern_set;                                   \
    const ck_set_table cudakern_set = {                                                                              \
        CK_ABI_VERSION,                                                                                              \
        CK_BACKEND,                                                                                                  \
        NULL,                                                                                                        \
        0,                                                                                                           \
        ck_kernels_of_the_set,                                                                                       \
        static_cast<int>(sizeof ck_kernels_of_the_set / sizeof *ck_kernels_of_the_set) - 1,                          \
        ck_variables_of_the_set,                                                                                     \
        static_cast<int>(sizeof ck_variables_of_the_set / sizeof *ck_variables_of_the_set) - 1};                     \
    }

#endif
