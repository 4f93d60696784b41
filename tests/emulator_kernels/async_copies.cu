// Asynchronous copies: cp.async in groups, and what happens where a wait is missing. test_async_copies.py has the
// model.
#include "kernels.h"

#include "async_copy.cuh"

// Each thread copies `count` words of BYTES in groups of one, zeros from `inside` on, and waits for all but WAIT
// groups. Then it stores what it can rely on, and -1 in place of words that may still be missing.
template <int BYTES, int WAIT> __global__ void copies(const int *in, int count, int inside, int *out) {
    DYNAMIC_SHARED(int, tile);
    constexpr int WORDS = BYTES / 4;
    int *own = tile + threadIdx.x * count * WORDS;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * count;
    for (int i = 0; i < count; ++i) {
        cp_async<BYTES>(own + i * WORDS, in + (first + i) * WORDS, first + i < inside ? BYTES : 0);
        cp_async_commit();
    }
    cp_async_wait<WAIT>();
    for (int i = 0; i < count * WORDS; ++i) out[first * WORDS + i] = i < (count - WAIT) * WORDS ? own[i] : -1;
    cp_async_wait<0>();
}
#define COPIES(bytes, wait)                                                                                          \
    ENTRY run_copies_##bytes##_##wait(const Shape *shape, const int *in, int count, int inside, int *out) {          \
        return launch(shape, copies<bytes, wait>, in, count, inside, out);                                           \
    }
COPIES(4, 0)
COPIES(8, 0)
COPIES(16, 0)
COPIES(4, 2)
COPIES(16, 1)

// A pipeline of two stages over the block's tiles, with copies by other threads: the sum of all of them.
__global__ void pipeline(const float *in, int tiles, float *out) {
    __shared__ float stage[2][64];
    const int t = threadIdx.x, other = (t + 17) % 64;
    float sum = 0;
    cp_async<4>(&stage[0][t], in + t);
    cp_async_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) cp_async<4>(&stage[(i + 1) % 2][t], in + (i + 1) * 64 + t);
        cp_async_commit();
        cp_async_wait<1>();
        __syncthreads();
        sum += stage[i % 2][other];
        __syncthreads();
    }
    out[t] = sum;
}
ENTRY run_pipeline(const Shape *shape, const float *in, int tiles, float *out) {
    return launch(shape, pipeline, in, tiles, out);
}

// Copies of 16 bytes that read 0 to 16 of them, and fill up with zeros.
__global__ void parts(const unsigned char *in, unsigned char *out) {
    __shared__ __align__(16) unsigned char tile[17][16];
    const int t = threadIdx.x;
    cp_async<16>(tile[t], in + 16 * t, t);
    cp_async_commit();
    cp_async_wait<0>();
    for (int i = 0; i < 16; ++i) out[16 * t + i] = tile[t][i];
}
ENTRY run_parts(const Shape *shape, const unsigned char *in, unsigned char *out) {
    return launch(shape, parts, in, out);
}

// The same without the wait: the emulator shows NaN.
__global__ void no_wait(const float *in, float *out) {
    __shared__ float stage[64];
    cp_async<4>(&stage[threadIdx.x], in + threadIdx.x);
    cp_async_commit();
    __syncthreads();
    out[threadIdx.x] = stage[threadIdx.x];
}
ENTRY run_no_wait(const Shape *shape, const float *in, float *out) {
    return launch(shape, no_wait, in, out);
}

// A wait that leaves out the group that is read.
__global__ void waits_for_too_few(const float *in, float *out) {
    __shared__ float stage[64];
    cp_async<4>(&stage[threadIdx.x], in + threadIdx.x);
    cp_async_commit();
    cp_async_wait<1>();
    out[threadIdx.x] = stage[threadIdx.x];
}
ENTRY run_waits_for_too_few(const Shape *shape, const float *in, float *out) {
    return launch(shape, waits_for_too_few, in, out);
}

__global__ void misaligned(const float *in, float *out) {
    __shared__ float stage[64];
    cp_async<16>(&stage[0], in + 1); // HERE: misaligned
    cp_async_wait<0>();
    out[threadIdx.x] = stage[0];
}
ENTRY run_misaligned(const Shape *shape, const float *in, float *out) {
    return launch(shape, misaligned, in, out);
}

__global__ void misaligned_and_empty(const float *in, float *out) {
    __shared__ float stage[64];
    cp_async<16>(&stage[0], in + 1, 0); // HERE: misaligned_and_empty
    cp_async_wait<0>();
    out[threadIdx.x] = stage[0];
}
ENTRY run_misaligned_and_empty(const Shape *shape, const float *in, float *out) {
    return launch(shape, misaligned_and_empty, in, out);
}
