// For a file of single kernels that is compiled into a set of its own. The file ends with CK_SET:
//
//     __global__ void add_one(const float *x, float *y, int n) { ... }
//
//     CK_SET(CK_KERNEL(add_one))
//
// A template is named with its arguments: CK_KERNEL(scale<float>). The description of each parameter follows from its
// type.
#ifndef CK_SET_CUH
#define CK_SET_CUH

#include "backend.h"
#include "launch.cuh"
#include "set.h"
#include "types.cuh"

// C++ types that are not in the list of element types but have the layout of one that is.
template <> constexpr int ck_dtype_of<bool> = CK_BOOL;
template <> constexpr int ck_dtype_of<long long> = CK_INT64;
template <> constexpr int ck_dtype_of<unsigned long long> = CK_UINT64;

// (The outermost const of a parameter is not part of the kernel's type.)
template <typename P> constexpr ck_kernel_parameter ck_parameter_of() {
    using Element = std::remove_pointer_t<P>;
    constexpr ck_parameter_kind kind = !std::is_pointer<P>::value      ? CK_BY_VALUE
                                       : std::is_const<Element>::value ? CK_READ_ONLY
                                                                       : CK_WRITTEN;
    return {kind, ck_dtype_of<std::remove_cv_t<Element>>, sizeof(P)};
}

template <typename... P> struct ck_parameters {
    static constexpr ck_kernel_parameter of[sizeof...(P) + 1] = {ck_parameter_of<P>()...};
};

template <typename... P>
constexpr ck_set_kernel ck_describe(const char *name, int (*handle)(void *, cudaKernel_t *), void (*)(P...)) {
    return {name, handle, nullptr, ck_parameters<P...>::of, static_cast<int>(sizeof...(P))};
}

#define CK_KERNEL(...)                                                                                               \
    ck_describe(                                                                                                     \
        #__VA_ARGS__,                                                                                                \
        [](void *, cudaKernel_t *handle) -> int { return ck_answer(cudaGetKernel(handle, __VA_ARGS__)); },           \
        __VA_ARGS__)

#define CK_SET(...)                                                                                                  \
    static const ck_set_kernel ck_kernels_of_the_set[] = {__VA_ARGS__};                                              \
    extern "C" {                                                                                                     \
    CK_EXPORTED extern const ck_set_table cudakern_set;                                                              \
    const ck_set_table cudakern_set = {                                                                              \
        CK_ABI_VERSION,                                                                                              \
        backend_name(),                                                                                              \
        NULL,                                                                                                        \
        0,                                                                                                           \
        ck_kernels_of_the_set,                                                                                       \
        static_cast<int>(sizeof ck_kernels_of_the_set / sizeof *ck_kernels_of_the_set)};                             \
    }

#endif
