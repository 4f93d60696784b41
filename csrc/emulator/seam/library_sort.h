// The sort of the CUDA toolkit's library, which only nvcc can compile, so it is not available here. csrc/gpu has a
// file of the same name with the same functions.
#ifndef LIBRARY_SORT_H
#define LIBRARY_SORT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

enum library_keys { LIBRARY_UINT32, LIBRARY_INT32, LIBRARY_FLOAT32 };

static inline cudaError_t library_sort_bytes(library_keys, int64_t, size_t *bytes) {
    *bytes = 0;
    return cudaErrorNotSupported;
}

static inline cudaError_t library_sort(library_keys, int64_t, const void *, void *, void *, size_t, cudaStream_t) {
    return cudaErrorNotSupported;
}

#endif
