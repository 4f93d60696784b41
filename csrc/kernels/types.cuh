// The one place where dtype codes become C++ types: visit(T{}) with the type of that code.
#ifndef CK_TYPES_CUH
#define CK_TYPES_CUH

#include "element.cuh"
#include "call.h"

inline int no_kernel_for(int dtype, const char *operation, ck_error *error) {
    return ck_fail(error, CK_BAD_TYPE, operation, "no kernel for %s: a row lists a type that its run lacks",
                   ck_dtype_name(dtype));
}

// Bools and integers, signed ones as unsigned: sums, differences and products are the same bits with a sign and
// without, and by definition they wrap without one. Operations that compare have their own.
template <typename Visit> int with_integer_type(int dtype, const char *operation, ck_error *error, Visit visit) {
    switch (dtype) {
    case CK_BOOL: return visit(bool8{});
    case CK_INT8:
    case CK_UINT8: return visit(uint8_t{});
    case CK_INT16:
    case CK_UINT16: return visit(uint16_t{});
    case CK_INT32:
    case CK_UINT32: return visit(uint32_t{});
    case CK_INT64:
    case CK_UINT64: return visit(uint64_t{});
    }
    return no_kernel_for(dtype, operation, error);
}

// All types, integers as above.
template <typename Visit> int with_any_type(int dtype, const char *operation, ck_error *error, Visit visit) {
    switch (dtype) {
    case CK_FLOAT16: return visit(__half{});
    case CK_BFLOAT16: return visit(__nv_bfloat16{});
    case CK_FLOAT32: return visit(float{});
    case CK_FLOAT64: return visit(double{});
    case CK_COMPLEX64: return visit(complex<float>{});
    case CK_COMPLEX128: return visit(complex<double>{});
    }
    return with_integer_type(dtype, operation, error, visit);
}

// The types of the documents.
template <typename Visit> int with_main_type(int dtype, const char *operation, ck_error *error, Visit visit) {
    switch (dtype) {
    case CK_INT32: return visit(uint32_t{});
    case CK_INT64: return visit(uint64_t{});
    case CK_FLOAT32: return visit(float{});
    case CK_FLOAT64: return visit(double{});
    }
    return no_kernel_for(dtype, operation, error);
}

#endif
