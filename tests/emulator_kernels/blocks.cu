// Threads of a block: indices, barriers, early returns, static and dynamic shared memory, local state across
// barriers.
#include "kernels.h"

constexpr int MOST = 1024;

// Every thread notes who it is; the place comes from the indices alone.
__global__ void indices(int *out) {
    unsigned blocks = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned threads = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int *mine = out + 7 * (blocks * blockDim.x * blockDim.y * blockDim.z + threads);
    mine[0] = threadIdx.x, mine[1] = threadIdx.y, mine[2] = threadIdx.z;
    mine[3] = blockIdx.x, mine[4] = blockIdx.y, mine[5] = blockIdx.z;
    mine[6] = warpSize;
}
ENTRY run_indices(const Shape *shape, int *out) {
    return launch(shape, indices, out);
}

// Every `leave`-th thread returns before the barrier (0: none): a barrier counts the living only.
__global__ void reverse(int *out, int leave) {
    __shared__ int tile[MOST];
    int t = threadIdx.x, n = blockDim.x, other = n - 1 - t;
    if (leave && t % leave == 0) return;
    tile[t] = 3 * t + blockIdx.x;
    __syncthreads();
    out[blockIdx.x * n + t] = leave && other % leave == 0 ? -2 : tile[other];
}
ENTRY run_reverse(const Shape *shape, int *out, int leave) {
    return launch(shape, reverse, out, leave);
}

// One warp leaves after each barrier: the last one passes them all alone. (Within a warp all must come to a barrier
// or none: a GPU would wait for ever.)
__global__ void leave_warp_by_warp(int *out) {
    int passed = 0;
    for (unsigned t = 0; t < threadIdx.x / 32; ++t) {
        __syncthreads();
        ++passed;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = passed;
}
ENTRY run_leave_warp_by_warp(const Shape *shape, int *out) {
    return launch(shape, leave_warp_by_warp, out);
}

__global__ void barrier_votes(const int *in, int *out) {
    int t = threadIdx.x;
    int count = __syncthreads_count(in[t]);
    int all = __syncthreads_and(in[t]);
    int any = __syncthreads_or(in[t]);
    out[3 * t] = count, out[3 * t + 1] = all != 0, out[3 * t + 2] = any != 0;
}
ENTRY run_barrier_votes(const Shape *shape, const int *in, int *out) {
    return launch(shape, barrier_votes, in, out);
}

// Prefix sum of a block: locals (one an array, so that it lives on the stack) survive every barrier.
template <typename T> __global__ void scan_dynamic(const T *in, T *out) {
    DYNAMIC_SHARED(T, tile);
    int t = threadIdx.x, n = blockDim.x;
    T history[12];
    int round = 0;
    T value = in[blockIdx.x * n + t];
    for (int step = 1; step < n; step *= 2, ++round) {
        tile[t] = value;
        __syncthreads();
        history[round] = t >= step ? tile[t - step] : T(0);
        __syncthreads();
        value += history[round];
    }
    T again = in[blockIdx.x * n + t];
    for (int i = 0; i < round; ++i) again += history[i];
    out[blockIdx.x * n + t] = again;
}
ENTRY run_scan_int(const Shape *shape, const int *in, int *out) {
    return launch(shape, scan_dynamic<int>, in, out);
}
ENTRY run_scan_double(const Shape *shape, const double *in, double *out) {
    return launch(shape, scan_dynamic<double>, in, out);
}

// Static shared memory in a template: each instance has its own, and each block too.
template <typename T, int N> __global__ void transpose_square(const T *in, T *out) {
    __shared__ T tile[N][N + 1];
    const T *from = in + blockIdx.x * N * N;
    tile[threadIdx.y][threadIdx.x] = from[threadIdx.y * N + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * N * N + threadIdx.y * N + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
ENTRY run_transpose_float(const Shape *shape, const float *in, float *out) {
    return launch(shape, transpose_square<float, 32>, in, out);
}
ENTRY run_transpose_double(const Shape *shape, const double *in, double *out) {
    return launch(shape, transpose_square<double, 8>, in, out);
}

// No barrier where one is needed: each thread reads what its left neighbour wrote. It works when threads run in
// order of their index, and not when they run the other way.
__global__ void missing_barrier(int *out) {
    __shared__ int tile[MOST];
    int t = threadIdx.x;
    tile[t] = -1;
    __syncthreads();
    tile[t] = t;
    out[t] = t ? tile[t - 1] : 0;
}
ENTRY run_missing_barrier(const Shape *shape, int *out) {
    return launch(shape, missing_barrier, out);
}

// In which order blocks began: a ticket each. With one worker it is the configured order.
__global__ void tickets(unsigned *counter, int *out) {
    out[blockIdx.x] = (int)atomicAdd(counter, 1u);
}
ENTRY run_tickets(const Shape *shape, unsigned *counter, int *out) {
    return launch(shape, tickets, counter, out);
}

// Blocks that wait for each other's arrival: it ends early only if at least two of them run at once. The wait is
// bounded by time, so that a device with a single core answers too.
__global__ void meet(unsigned *counter, int *out, unsigned long long patience_ns) {
    atomicAdd(counter, 1u);
    unsigned long long start = global_timer_ns();
    unsigned seen;
    do {
        seen = atomicAdd(counter, 0u);
    } while (seen < gridDim.x && global_timer_ns() - start < patience_ns);
    out[blockIdx.x] = (int)seen;
}
ENTRY run_meet(const Shape *shape, unsigned *counter, int *out, unsigned long long patience_ns) {
    return launch(shape, meet, counter, out, patience_ns);
}

// Clocks: cycles of this multiprocessor, nanoseconds common to all, each read twice around a barrier.
__global__ void clocks(long long *out) {
    long long *mine = out + 5 * (blockIdx.x * blockDim.x + threadIdx.x);
    mine[0] = clock64();
    mine[2] = (long long)global_timer_ns();
    long long sink = 0;
    for (int i = 0; i < 200; ++i) sink += clock();
    __syncthreads();
    mine[1] = clock64();
    mine[3] = (long long)global_timer_ns();
    mine[4] = sink;
}
ENTRY run_clocks(const Shape *shape, long long *out) {
    return launch(shape, clocks, out);
}
