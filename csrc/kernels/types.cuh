// Maps dtype codes to C++ types (parameters.cuh has the reverse). A visitor calls visit(T{}) with the type of the
// call's elements:
//
//     with_type<CK_FLOAT32, CK_FLOAT64>(call, error, [&](auto element) { using T = decltype(element); ... });
//
// The first parameters of each visitor are `call` and `error`, so that RUN of launch.cuh can use any of them.
#ifndef CK_TYPES_CUH
#define CK_TYPES_CUH

#include "call.h"
#include "element.cuh"
#include "numbers.cuh"

// EACH(code, element type)
#define CK_ELEMENTS(EACH)                                                                                            \
    EACH(BOOL, bool8)                                                                                                \
    EACH(INT8, int8_t)                                                                                               \
    EACH(UINT8, uint8_t)                                                                                             \
    EACH(INT16, int16_t)                                                                                             \
    EACH(UINT16, uint16_t)                                                                                           \
    EACH(INT32, int32_t)                                                                                             \
    EACH(UINT32, uint32_t)                                                                                           \
    EACH(INT64, int64_t)                                                                                             \
    EACH(UINT64, uint64_t)                                                                                           \
    EACH(FLOAT16, __half)                                                                                            \
    EACH(BFLOAT16, __nv_bfloat16)                                                                                    \
    EACH(FLOAT32, float)                                                                                             \
    EACH(FLOAT64, double)                                                                                            \
    EACH(COMPLEX64, complex<float>)                                                                                  \
    EACH(COMPLEX128, complex<double>)

template <int DTYPE> struct ck_element_of;
#define CK_ELEMENT(code, element)                                                                                    \
    template <> struct ck_element_of<CK_##code> { using type = element; };
CK_ELEMENTS(CK_ELEMENT)
#undef CK_ELEMENT

// Signed integers as unsigned ones. Sums, differences and products have the same bits with and without a sign, and
// unsigned integers wrap by definition. One kernel then serves both.
template <typename T, bool INTEGER = std::is_integral_v<T>> struct ck_unsigned { using type = T; };
template <typename T> struct ck_unsigned<T, true> { using type = std::make_unsigned_t<T>; };

// The type of sums of T: 64 bits for bools and integers, float for the half types, otherwise T itself.
template <typename T, typename Integer>
using accumulator = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, bool8>, Integer, number<T>>;

inline int no_kernel_for(int dtype, ck_error *error) {
    return ck_fail(error, CK_BAD_TYPE,
                   "no kernel for %s: this variant's table lists the type, but its run function does not support it",
                   ck_dtype_name(dtype));
}

template <int... DTYPES, typename Visit> int with_dtype(int dtype, ck_error *error, Visit visit) {
    int status = CK_OK;
    const bool known = ((dtype == DTYPES && (status = visit(typename ck_element_of<DTYPES>::type{}), true)) || ...);
    return known ? status : no_kernel_for(dtype, error);
}

template <int... DTYPES, typename Visit> int with_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_dtype<DTYPES...>(call->types.input, error, visit);
}

template <int... DTYPES, typename Visit> int with_unsigned_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_dtype<DTYPES...>(call->types.input, error, [&](auto element) {
        return visit(typename ck_unsigned<decltype(element)>::type{});
    });
}

#define CK_INTEGERS CK_BOOL, CK_INT8, CK_UINT8, CK_INT16, CK_UINT16, CK_INT32, CK_UINT32, CK_INT64, CK_UINT64

// Bools and integers, as unsigned types. Operations that compare elements have their own visitor.
template <typename Visit> int with_integer_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_unsigned_type<CK_INTEGERS>(call, error, visit);
}

template <typename Visit> int with_inexact_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_FLOAT16, CK_BFLOAT16, CK_FLOAT32, CK_FLOAT64, CK_COMPLEX64, CK_COMPLEX128>(call, error,
                                                                                                   visit);
}

inline bool is_integer(int dtype) {
    return dtype <= CK_UINT64;
}

template <typename Visit> int with_any_type(const ck_call *call, ck_error *error, Visit visit) {
    return is_integer(call->types.input) ? with_integer_type(call, error, visit)
                                         : with_inexact_type(call, error, visit);
}

template <typename Visit> int with_float_type(const ck_call *call, ck_error *error, Visit visit) {
    return with_type<CK_FLOAT32, CK_FLOAT64>(call, error, visit);
}

// For kernels of a single type.
template <typename T, typename Visit> int with_only(const ck_call *, ck_error *, Visit visit) {
    return visit(T{});
}

// For elements that are only copied or compared with 0, so that only their size matters.
template <typename Visit> int with_word(const ck_call *call, ck_error *error, Visit visit) {
    switch (ck_dtype_size(call->types.input)) {
    case 1: return visit(uint8_t{});
    case 2: return visit(uint16_t{});
    case 4: return visit(uint32_t{});
    case 8: return visit(uint64_t{});
    }
    return no_kernel_for(call->types.input, error);
}

#endif
