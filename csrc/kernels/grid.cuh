// The index of a thread in a one-dimensional grid, and grids for arrays that are treated as a single row of elements.
#ifndef CK_GRID_CUH
#define CK_GRID_CUH

#include <stdint.h>

#include <cuda_runtime.h>

#include "sizes.h"
#include "call.h"

// 64 bits, because a grid may have more than 2^31 threads.
__device__ __forceinline__ int64_t grid_thread() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t grid_threads() {
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

inline int64_t elements_of(const ck_view &view) {
    int64_t n = 1;
    for (int d = 0; d < view.ndim; ++d) n = product(n, view.shape[d]);
    return n;
}

// The number of elements of the first array, which most operations process.
inline int64_t length(const ck_call *call) {
    return elements_of(call->views[0]);
}

// Python broadcasts the arrays to one shape, but a direct caller of the C module may not. A kernel would access
// memory past the end of the shortest array.
inline int check_same_elements(const ck_call *call, ck_error *error) {
    const int64_t n = elements_of(call->views[0]);
    for (int i = 1; i < call->view_count; ++i)
        if (elements_of(call->views[i]) != n)
            return ck_fail(error, CK_BAD_VALUE, "array %d has %lld elements, but array 0 has %lld", i,
                           static_cast<long long>(elements_of(call->views[i])), static_cast<long long>(n));
    return CK_OK;
}

// A grid of `blocks` blocks. For an empty array, one block is launched, which finds nothing to do.
inline int plan_row(const ck_call *call, ck_plan *plan, ck_error *error, int64_t blocks, int64_t threads) {
    *plan = ck_plan{};
    if (threads < 1 || threads > call->limits->max_threads_per_block)
        return ck_fail(error, CK_BAD_VALUE, "threads=%lld, but a block on this device has 1 to %d threads",
                       static_cast<long long>(threads), call->limits->max_threads_per_block);
    if (blocks > call->limits->max_grid[0])
        return ck_fail(error, CK_BAD_VALUE, "the call needs %lld blocks, but a grid on this device has at most %lld",
                       static_cast<long long>(blocks), static_cast<long long>(call->limits->max_grid[0]));
    plan->grid[0] = static_cast<unsigned>(blocks > 0 ? blocks : 1);
    plan->block[0] = static_cast<unsigned>(threads);
    plan->grid[1] = plan->grid[2] = plan->block[1] = plan->block[2] = 1;
    for (int i = 0; i < call->view_count; ++i) plan->layout[i].contiguous = 1;
    return CK_OK;
}

// The number of blocks that fills the chip with 2048 threads per multiprocessor, or fewer if there is less work.
inline int64_t blocks_for_chip(const ck_call *call, int64_t work, int64_t threads) {
    return smaller(divide_up(work, threads), call->limits->multiprocessors * divide_up(2048, threads));
}

#endif
