// The sort of the CUDA toolkit's library (CUB), which only nvcc can compile. The emulator has a file of the same name
// whose functions report that the sort is not available; the include path selects one of the files.
#ifndef LIBRARY_SORT_H
#define LIBRARY_SORT_H

#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime_api.h>

enum library_keys { LIBRARY_UINT32, LIBRARY_INT32, LIBRARY_FLOAT32 };

// The bytes of device memory that a sort of n keys needs in addition to the keys.
cudaError_t library_sort_bytes(library_keys type, int64_t n, size_t *bytes);

// Enqueues the sort of n keys from `keys` to `sorted` without waiting. Floats are sorted by their bits: NaNs with the
// sign bit come first, and -0.0 and 0.0 are equal.
cudaError_t library_sort(library_keys type, int64_t n, const void *keys, void *sorted, void *temporary, size_t bytes,
                         cudaStream_t stream);

#endif
