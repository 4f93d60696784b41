// Page-locked host memory, read and written by kernels where it lies.
#include "kernels.h"

__global__ void add_one(const int *in, int *out, int n) {
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x))
        out[i] = in[i] + 1;
}
ENTRY run_add_one(const Shape *shape, const int *in, int *out, int n) {
    return launch(shape, add_one, in, out, n);
}

// Counts in one word of the host's. Of the device's scope: one of the system's is promised in the host's memory only
// where cudaDevAttrHostNativeAtomicSupported is 1, and memcheck calls it an invalid access elsewhere.
__global__ void count_up(unsigned *word) {
    atomicAdd(word, 1u);
}
ENTRY run_count_up(const Shape *shape, unsigned *word) {
    return launch(shape, count_up, word);
}
