// __constant__ and __device__ variables: what kernels read of them, what the host copies to and from them.
#include "kernels.h"

__constant__ float scale = 2.5f;
__constant__ int table[100]; // zeros
__constant__ struct Pair {
    char tag;
    double value;
} pair = {7, 0.125};
__device__ int counter = 40;
__device__ int cells[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};

// Before each read it may be busy for a while: what is copied behind it in its stream must not show.
__global__ void read_symbols(unsigned long long pause_ns, double *out) {
    const unsigned long long start = global_timer_ns();
    while (global_timer_ns() - start < pause_ns) {}
    if (threadIdx.x == 0) out[0] = scale, out[1] = pair.tag, out[2] = pair.value, out[3] = counter;
    for (int i = (int)threadIdx.x; i < 100; i += (int)blockDim.x) out[4 + i] = table[i];
}
ENTRY run_read_symbols(const Shape *shape, unsigned long long pause_ns, double *out) {
    return launch(shape, read_symbols, pause_ns, out);
}

__global__ void count() {
    atomicAdd(&counter, 1);
    if (threadIdx.x < 12) atomicAdd(&cells[threadIdx.x / 4][threadIdx.x % 4], 100);
}
ENTRY run_count(const Shape *shape) {
    return launch(shape, count);
}

// By address, as a kernel sees what the host was given.
__global__ void read_address(const int *from, int n, int *out) {
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) out[i] = from[i];
}
ENTRY run_read_address(const Shape *shape, const int *from, int n, int *out) {
    return launch(shape, read_address, from, n, out);
}

enum { SCALE, TABLE, PAIR, COUNTER, CELLS, NO_SYMBOL };

#define FOR_EACH_SYMBOL(call)                                                                                        \
    switch (which) {                                                                                                 \
    case SCALE: return call(scale);                                                                                  \
    case TABLE: return call(table);                                                                                  \
    case PAIR: return call(pair);                                                                                    \
    case COUNTER: return call(counter);                                                                              \
    case CELLS: return call(cells);                                                                                  \
    default: return call(*(int *)elsewhere);                                                                         \
    }

ENTRY symbol_address(void **address, int which, void *elsewhere){
#define CALL(symbol) cudaGetSymbolAddress(address, symbol)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
} ENTRY symbol_size(size_t *bytes, int which, void *elsewhere){
#define CALL(symbol) cudaGetSymbolSize(bytes, symbol)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
} ENTRY to_symbol(int which, void *elsewhere, const void *from, size_t bytes, size_t offset, int kind){
#define CALL(symbol) cudaMemcpyToSymbol(symbol, from, bytes, offset, (cudaMemcpyKind)kind)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
} ENTRY to_symbol_async(int which, void *elsewhere, const void *from, size_t bytes, size_t offset, int kind,
                        cudaStream_t stream){
#define CALL(symbol) cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, (cudaMemcpyKind)kind, stream)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
} ENTRY from_symbol(void *to, int which, void *elsewhere, size_t bytes, size_t offset, int kind){
#define CALL(symbol) cudaMemcpyFromSymbol(to, symbol, bytes, offset, (cudaMemcpyKind)kind)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
} ENTRY from_symbol_async(void *to, int which, void *elsewhere, size_t bytes, size_t offset, int kind,
                          cudaStream_t stream){
#define CALL(symbol) cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, (cudaMemcpyKind)kind, stream)
    FOR_EACH_SYMBOL(CALL)
#undef CALL
}

// The defaults: from the beginning, between host and device.
ENTRY scale_round(float *value) {
    int code = cudaMemcpyToSymbol(scale, value, sizeof scale);
    *value = 0;
    return code == cudaSuccess ? cudaMemcpyFromSymbol(value, scale, sizeof scale) : code;
}
// As C names symbols, by address; and an address that is none.
ENTRY symbol_as_in_c(float *value, size_t *bytes) {
    const void *symbol = &scale;
    int code = cudaMemcpyFromSymbol(value, symbol, sizeof scale);
    return code == cudaSuccess ? cudaGetSymbolSize(bytes, symbol) : code;
}
