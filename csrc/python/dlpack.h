// DLPack's structures, from its specification (version 1; those of earlier versions are called "old" here). An array
// is passed from one library to another as a capsule with one of them, named "dltensor_versioned" or "dltensor". The
// consumer renames the capsule to "used_..." and calls the deleter once when it no longer needs the array.
#ifndef CK_DLPACK_H
#define CK_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 };                   // device_type
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 }; // code
enum { DL_MAJOR = 1, DL_MINOR = 0 };                                                        // version
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };                                                // flags

#define DL_NAME_VERSIONED "dltensor_versioned"
#define DL_NAME_OLD       "dltensor"

typedef struct dl_tensor {
    void *data;
    struct {
        int32_t type, index;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes; // elements per vector
    } dtype;
    int64_t *shape;
    int64_t *strides; // in elements; NULL, in old ones: C order
    uint64_t byte_offset;
} dl_tensor;

typedef struct dl_old {
    dl_tensor tensor;
    void *manager;
    void (*deleter)(struct dl_old *); // may be NULL
} dl_old;

typedef struct dl_versioned {
    struct {
        uint32_t major, minor;
    } version; // with another major version, only the first three members have the same meaning
    void *manager;
    void (*deleter)(struct dl_versioned *); // may be NULL
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;

// DLPack's code and bits of one of our types.
static inline void dl_dtype_of(int dtype, uint8_t *code, uint8_t *bits) {
    static const uint8_t codes[CK_DTYPE_COUNT] = {
        [CK_BOOL] = DL_BOOL,     [CK_INT8] = DL_INT,          [CK_UINT8] = DL_UINT,         [CK_INT16] = DL_INT,
        [CK_UINT16] = DL_UINT,   [CK_INT32] = DL_INT,         [CK_UINT32] = DL_UINT,        [CK_INT64] = DL_INT,
        [CK_UINT64] = DL_UINT,   [CK_FLOAT16] = DL_FLOAT,     [CK_BFLOAT16] = DL_BFLOAT,    [CK_FLOAT32] = DL_FLOAT,
        [CK_FLOAT64] = DL_FLOAT, [CK_COMPLEX64] = DL_COMPLEX, [CK_COMPLEX128] = DL_COMPLEX,
    };
    *code = codes[dtype];
    *bits = (uint8_t)(8 * ck_dtype_size(dtype));
}

#endif
