"""Exercises of notebook 03: sums."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Wrong, untouched, whole


def strided_sums(x: Any, sums: Any, n: int) -> None:
    for thread in range(sums.size):
        sums[thread] = x[thread : n : sums.size].sum()


def block_max(x: Any, result: Any) -> None:
    result[:] = x.reshape(-1, 256).max(axis=1)


def warp_dot(x: Any, y: Any, result: Any, n: int) -> None:
    result[0] = x[:n] @ y[:n]


EXERCISES = (
    Exercise(
        "strided_sums",
        """
__global__ void strided_sums(const int *x, int *sums, int n) {
}
""",
        """
__global__ void strided_sums(const int *x, int *sums, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sums[t] = sum;
}
""",
        strided_sums,
        (
            Launch(2, 32, (whole(1000, dtype=np.int32), untouched(64, np.int32), 1000)),
            Launch(1, 32, (whole(32, dtype=np.int32), untouched(32, np.int32), 10)),
        ),
        (
            Hint(
                "Thread t of T = gridDim.x * blockDim.x adds the elements t, t + T, t + 2 * T, ... that are less than"
                " n, and writes its sum even if it is 0."
            ),
        ),
        (
            "In every iteration, the 32 lanes of a warp read 32 neighbors: 4 sectors. With one contiguous chunk "
            "per thread it would be up to 32."
        ),
        (Wrong("gridDim.x * blockDim.x)", "blockDim.x)", r"sums\[0\]"),),
    ),
    Exercise(
        "block_max",
        """
__global__ void block_max(const int *x, int *result) {
}
""",
        """
__global__ void block_max(const int *x, int *result) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * 256 + t];
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) tile[t] = max(tile[t], tile[t + half]);
    }
    if (t == 0) result[blockIdx.x] = tile[0];
}
""",
        block_max,
        (Launch(4, 256, (whole(1024, 1_000_000, np.int32), untouched(4, np.int32))),),
        (
            Hint(
                "Store one element per thread in shared memory. In each step, the threads below half = 128, 64, ..., "
                "1 take the larger of tile[t] and tile[t + half]. A barrier must come before each step, and all "
                "threads must reach it, so it is outside the if. Thread 0 writes the result."
            ),
        ),
        (
            "Eight steps instead of 255, and a barrier before each of them. Any operation whose order does not "
            "matter fits into this tree: sums, products, the largest, the smallest."
        ),
        (
            Wrong("__syncthreads();", "", r"between lines 5 and 8.* A barrier must come before each step"),
            Wrong("if (t == 0) ", "if (t == 1) ", r"block_max.cu:10: thread 1 .* reads tile\[0\]"),
        ),
    ),
    Exercise(
        "warp_dot",
        """
__global__ void warp_dot(const int *x, const int *y, int *result, int n) {
}
""",
        """
__global__ void warp_dot(const int *x, const int *y, int *result, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) result[0] = sum;
}
""",
        warp_dot,
        (
            Launch(1, 32, (whole(1000, dtype=np.int32), whole(1000, 7, np.int32), untouched(1, np.int32), 1000)),
            Launch(1, 32, (whole(32, dtype=np.int32), whole(32, 7, np.int32), untouched(1, np.int32), 9)),
        ),
        (
            Hint(
                "Each lane adds its products, in a loop with step 32. Then sum += __shfl_down_sync(0xffffffff, sum, "
                "offset) for offset = 16, 8, 4, 2, 1 adds the sums of the lanes above, and lane 0 writes the result."
            ),
        ),
        ("Five steps, without shared memory and without a barrier: the lanes exchange registers."),
        (
            Wrong("offset = 16", "offset = 8", r"result\[0\]"),
            Wrong("if (threadIdx.x == 0) ", "", r"warp_dot.cu:6: .*writes result\[0\].*lane 0 writes the result"),
        ),
    ),
)
