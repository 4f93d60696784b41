// Element types: one list of sizes and names.
#include <string.h>

#include "../kernels/call.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[CK_DTYPE_COUNT] = {
    [CK_BOOL] = {"bool", 1},       [CK_INT8] = {"int8", 1},           [CK_UINT8] = {"uint8", 1},
    [CK_INT16] = {"int16", 2},     [CK_UINT16] = {"uint16", 2},       [CK_INT32] = {"int32", 4},
    [CK_UINT32] = {"uint32", 4},   [CK_INT64] = {"int64", 8},         [CK_UINT64] = {"uint64", 8},
    [CK_FLOAT16] = {"float16", 2}, [CK_BFLOAT16] = {"bfloat16", 2},   [CK_FLOAT32] = {"float32", 4},
    [CK_FLOAT64] = {"float64", 8}, [CK_COMPLEX64] = {"complex64", 8}, [CK_COMPLEX128] = {"complex128", 16},
};

static int known(int dtype) {
    return dtype >= 0 && dtype < CK_DTYPE_COUNT;
}

size_t ck_dtype_size(int dtype) {
    return known(dtype) ? dtypes[dtype].size : 0;
}

const char *ck_dtype_name(int dtype) {
    return known(dtype) ? dtypes[dtype].name : "unknown";
}

int ck_dtype_from_name(const char *name) {
    for (int dtype = 0; dtype < CK_DTYPE_COUNT; ++dtype)
        if (strcmp(dtypes[dtype].name, name) == 0) return dtype;
    return -1;
}
