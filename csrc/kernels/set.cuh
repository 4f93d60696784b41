// The end of a file of single kernels that is compiled into a set by itself:
//
//     __global__ void add_one(const float *x, float *y, int n) { ... }
//
//     CK_SET(CK_KERNEL(add_one))
//
// A template is named with its arguments: CK_KERNEL(scale<float>). What each parameter is follows from its type.
#ifndef CK_SET_CUH
#define CK_SET_CUH

#include "backend.h"
#include "launch.cuh"
#include "numbers.cuh"
#include "set.h"

template <typename T> constexpr int ck_dtype_of = -1;
template <> constexpr int ck_dtype_of<bool> = CK_BOOL;
template <> constexpr int ck_dtype_of<int8_t> = CK_INT8;
template <> constexpr int ck_dtype_of<uint8_t> = CK_UINT8;
template <> constexpr int ck_dtype_of<int16_t> = CK_INT16;
template <> constexpr int ck_dtype_of<uint16_t> = CK_UINT16;
template <> constexpr int ck_dtype_of<int32_t> = CK_INT32;
template <> constexpr int ck_dtype_of<uint32_t> = CK_UINT32;
template <> constexpr int ck_dtype_of<long> = CK_INT64;
template <> constexpr int ck_dtype_of<unsigned long> = CK_UINT64;
template <> constexpr int ck_dtype_of<long long> = CK_INT64;
template <> constexpr int ck_dtype_of<unsigned long long> = CK_UINT64;
template <> constexpr int ck_dtype_of<__half> = CK_FLOAT16;
template <> constexpr int ck_dtype_of<__nv_bfloat16> = CK_BFLOAT16;
template <> constexpr int ck_dtype_of<float> = CK_FLOAT32;
template <> constexpr int ck_dtype_of<double> = CK_FLOAT64;
template <> constexpr int ck_dtype_of<complex<float>> = CK_COMPLEX64;
template <> constexpr int ck_dtype_of<complex<double>> = CK_COMPLEX128;

// (A kernel's own parameters have lost their outermost const.)
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
