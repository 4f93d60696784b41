// What a set of kernels and the runtime agree on: the version of their interface, the element types of arrays, and
// the descriptions of a kernel's parameters and of variables. No other header is needed, so that any compiler of
// kernels can read this one.
#ifndef CK_ABI_H
#define CK_ABI_H

// The version of this file, call.h, variant.h and set.h. Loading a table or a set of another version is an error.
enum { CK_ABI_VERSION = 5 };

typedef enum ck_dtype {
    CK_BOOL,
    CK_INT8,
    CK_UINT8,
    CK_INT16,
    CK_UINT16,
    CK_INT32,
    CK_UINT32,
    CK_INT64,
    CK_UINT64,
    CK_FLOAT16,
    CK_BFLOAT16,
    CK_FLOAT32,
    CK_FLOAT64,
    CK_COMPLEX64,
    CK_COMPLEX128,
    CK_DTYPE_COUNT
} ck_dtype;

// A parameter of a kernel: a pointer to elements of a dtype, or a value.
typedef enum ck_parameter_kind {
    CK_BY_VALUE,
    CK_READ_ONLY, // a pointer to const
    CK_WRITTEN
} ck_parameter_kind;

typedef struct ck_kernel_parameter {
    ck_parameter_kind kind;
    int dtype;     // of the value, or of the elements that the pointer points to; -1: another type, such as a struct
    int bytes;     // of the parameter itself
    int alignment; // of the parameter itself
    int element_bytes; // of an element that the pointer points to; 0: void, or a value
} ck_kernel_parameter;

// A kernel of a program that is compiled at run time: its parameters, as the compiler writes them into the code.
enum { CK_MAX_DESCRIBED = 64 };
typedef struct ck_described_kernel {
    int count;
    ck_kernel_parameter of[CK_MAX_DESCRIBED];
} ck_described_kernel;

enum { CK_MAX_VARIABLE_DIMS = 4 };
typedef struct ck_variable_type {
    int dtype; // of the elements; -1: another type
    int element_bytes;
    int is_const;
    int ndim; // -1: more than CK_MAX_VARIABLE_DIMS; 0: not an array
    long long shape[CK_MAX_VARIABLE_DIMS];
} ck_variable_type;

#endif
