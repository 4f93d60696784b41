// Kernels whose own loads and stores are reported: with -fsanitize=thread, g++ calls a function for each of them, and
// those here call the emulator's emu_access(). test_events.py compiles this file so. (Callbacks for atomic operations
// would also have to carry these out.)
#include "kernels.h"

#include <emulator/events.h>

#include "tensor_core.cuh"

#define CALLBACK extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"))) void
#define ACCESS(name, bytes, kind)                                                                                    \
    CALLBACK __tsan_##name##bytes(void *address) {                                                                   \
        emu_access(address, bytes, kind, __builtin_return_address(0));                                               \
    }
#define ACCESSES(bytes)                                                                                              \
    ACCESS(read, bytes, EMU_READS)                                                                                   \
    ACCESS(write, bytes, EMU_WRITES)                                                                                 \
    ACCESS(unaligned_read, bytes, EMU_READS) /* these are clang's */                                                 \
    ACCESS(unaligned_write, bytes, EMU_WRITES)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
CALLBACK __tsan_read_range(void *address, size_t bytes) {
    emu_access(address, bytes, EMU_READS, __builtin_return_address(0));
}
CALLBACK __tsan_write_range(void *address, size_t bytes) {
    emu_access(address, bytes, EMU_WRITES, __builtin_return_address(0));
}
CALLBACK __tsan_atomic_thread_fence(int) { // (__threadfence reports itself)
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CALLBACK __tsan_atomic_signal_fence(int) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
CALLBACK __tsan_init() {}
CALLBACK __tsan_func_entry(void *) {}
CALLBACK __tsan_func_exit() {}

__global__ void neighbors(const int *in, int *out) {
    __shared__ int tile[32];
    const int t = threadIdx.x;
    tile[t] = in[t]; // HERE: fill
    __syncthreads();
    out[32 * blockIdx.x + t] = tile[t ^ 1]; // HERE: take
}
ENTRY run_neighbors(const Shape *shape, const int *in, int *out) {
    return launch(shape, neighbors, in, out);
}

// The core reports the rows that ldmatrix reads; the code that reads them, for all lanes at once, must not.
__global__ void matrix(unsigned *out) {
    __shared__ __align__(16) unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    unsigned words[1];
    ldmatrix<1, false>(words, tile + threadIdx.x % 8 * 4);
    out[threadIdx.x] = words[0];
}
ENTRY run_matrix(const Shape *shape, unsigned *out) {
    return launch(shape, matrix, out);
}

__global__ void blocks_of_the_heap(int *out) {
    int *block = static_cast<int *>(malloc(12));
    block[0] = 7;
    out[threadIdx.x] = block[0];
    free(block);
}
ENTRY run_heap(const Shape *shape, int *out) {
    return launch(shape, blocks_of_the_heap, out);
}

__global__ void fences(int *out) {
    out[threadIdx.x] = 1;
    __threadfence_block();  // HERE: block
    __threadfence();        // HERE: device
    __threadfence_system(); // HERE: system
}
ENTRY run_fences(const Shape *shape, int *out) {
    return launch(shape, fences, out);
}

// What a compiler's check of an index calls (-fsanitize=bounds).
__global__ void bad_index(int *out, int index) {
    if (threadIdx.x == 3) emu_index_fails(index, "int [8]", __FILE__, __LINE__); // HERE: index
    out[threadIdx.x] = 1;
}
ENTRY run_bad_index(const Shape *shape, int *out, int index) {
    return launch(shape, bad_index, out, index);
}

// Runs until the host says so.
__global__ void meet_the_host(volatile int *begun, const volatile int *go) {
    *begun = 1;
    while (!*go) __nanosleep(1000);
}
ENTRY run_meet_the_host(const Shape *shape, int *begun, const int *go) {
    return launch(shape, meet_the_host, begun, go);
}
