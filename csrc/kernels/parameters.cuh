// The types of parameters and variables as data: ck_parameters<P...>::of is a kernel's list, ck_variable_of<T>()
// describes a variable. Needs no header of the C++ library, because NVRTC has none.
#ifndef CK_PARAMETERS_CUH
#define CK_PARAMETERS_CUH

#include "abi.h"

struct __half; // cuda_fp16.h and cuda_bf16.h, if the kernels use them
struct __nv_bfloat16;

template <typename T> struct ck_plain { using type = T; };
template <typename T> struct ck_plain<const T> { using type = T; };
template <typename T> struct ck_plain<volatile T> { using type = T; };
template <typename T> struct ck_plain<const volatile T> { using type = T; };

template <typename T> inline constexpr int ck_dtype_of = -1;
template <> inline constexpr int ck_dtype_of<bool> = CK_BOOL;
template <> inline constexpr int ck_dtype_of<signed char> = CK_INT8;
template <> inline constexpr int ck_dtype_of<unsigned char> = CK_UINT8;
template <> inline constexpr int ck_dtype_of<char> = CK_INT8;
template <> inline constexpr int ck_dtype_of<short> = CK_INT16;
template <> inline constexpr int ck_dtype_of<unsigned short> = CK_UINT16;
template <> inline constexpr int ck_dtype_of<int> = CK_INT32;
template <> inline constexpr int ck_dtype_of<unsigned> = CK_UINT32;
template <> inline constexpr int ck_dtype_of<long> = sizeof(long) == 8 ? CK_INT64 : CK_INT32;
template <> inline constexpr int ck_dtype_of<unsigned long> = sizeof(long) == 8 ? CK_UINT64 : CK_UINT32;
template <> inline constexpr int ck_dtype_of<long long> = CK_INT64;
template <> inline constexpr int ck_dtype_of<unsigned long long> = CK_UINT64;
template <> inline constexpr int ck_dtype_of<__half> = CK_FLOAT16;
template <> inline constexpr int ck_dtype_of<__nv_bfloat16> = CK_BFLOAT16;
template <> inline constexpr int ck_dtype_of<float> = CK_FLOAT32;
template <> inline constexpr int ck_dtype_of<double> = CK_FLOAT64;

template <typename T> struct ck_size_of { static constexpr int value = sizeof(T); };
template <> struct ck_size_of<void> { static constexpr int value = 0; };

template <typename P> struct ck_parameter_of {
    static constexpr ck_kernel_parameter of = {CK_BY_VALUE, ck_dtype_of<P>, sizeof(P), alignof(P), 0};
};
template <typename E> struct ck_parameter_of<E *> {
    using element = typename ck_plain<E>::type;
    static constexpr ck_kernel_parameter of = {CK_WRITTEN, ck_dtype_of<element>, sizeof(E *), alignof(E *),
                                               ck_size_of<element>::value};
};
template <typename E> struct ck_parameter_of<const E *> {
    using element = typename ck_plain<E>::type;
    static constexpr ck_kernel_parameter of = {CK_READ_ONLY, ck_dtype_of<element>, sizeof(E *), alignof(E *),
                                               ck_size_of<element>::value};
};

// (One more than there are parameters, because no array may be empty.)
template <typename... P> struct ck_parameters {
    static constexpr int count = sizeof...(P);
    static constexpr ck_kernel_parameter of[sizeof...(P) + 1] = {ck_parameter_of<P>::of...};
};

// A kernel's type as the initializer of a ck_described_kernel.
template <typename K> struct ck_signature;
template <typename... P> struct ck_signature<void (*)(P...)> {
    static_assert(sizeof...(P) <= CK_MAX_DESCRIBED, "a kernel may have at most 64 parameters");
    static constexpr ck_described_kernel of = {sizeof...(P), {ck_parameter_of<P>::of...}};
};

template <typename T> struct ck_variable {
    __host__ __device__ static constexpr void describe(ck_variable_type &type) {
        using element = typename ck_plain<T>::type;
        type.dtype = ck_dtype_of<element>;
        type.element_bytes = sizeof(element);
    }
};
template <typename T> struct ck_variable<const T> {
    __host__ __device__ static constexpr void describe(ck_variable_type &type) {
        ck_variable<T>::describe(type);
        type.is_const = 1;
    }
};
template <typename T, decltype(sizeof(0)) N> struct ck_variable<T[N]> {
    __host__ __device__ static constexpr void describe(ck_variable_type &type) {
        if (type.ndim >= 0 && type.ndim < CK_MAX_VARIABLE_DIMS)
            type.shape[type.ndim++] = N;
        else
            type.ndim = -1;
        ck_variable<T>::describe(type);
    }
};
template <typename T, decltype(sizeof(0)) N> struct ck_variable<const T[N]> {
    __host__ __device__ static constexpr void describe(ck_variable_type &type) {
        ck_variable<T[N]>::describe(type);
        type.is_const = 1;
    }
};
template <typename T> __host__ __device__ constexpr ck_variable_type ck_variable_of() {
    ck_variable_type type = {};
    ck_variable<T>::describe(type);
    return type;
}

#endif
