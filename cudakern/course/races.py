"""Exercises of notebook 10: kernels with a race, to be mended."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Wrong, untouched, whole


def total(x: Any, sums: Any, n: int) -> None:
    sums[0] += x[:n].sum()


def steps(x: Any, y: Any) -> None:
    y[:] = np.diff(x, prepend=x[:1])


def distances(x: Any, sums: Any, n: int) -> None:
    sums[:] = np.abs(x[:, None] - x).sum(axis=1)


def from_first(x: Any, y: Any) -> None:
    y[:] = (x.reshape(-1, 32) - x[::32, None]).ravel()


def smooth(x: Any, y: Any, n: int) -> None:
    y[1:-1] = x[:-2] + x[1:-1] + x[2:]


def sum_of_blocks(x: Any, partial: Any, done: Any, result: Any) -> None:
    partial[:] = x.reshape(partial.size, -1).sum(axis=1)
    done[0] = partial.size
    result[0] = x.sum()


EXERCISES = (
    Exercise(
        "total",
        """
__global__ void total(const int *x, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[0] += x[i];
}
""",
        """
__global__ void total(const int *x, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[0], x[i]);
}
""",
        total,
        (
            Launch(2, 32, (whole(64, dtype=np.int32), np.zeros(1, np.int32), 60)),
            Launch(4, 256, (whole(1024, dtype=np.int32), np.full(1, 7, np.int32), 1000)),
        ),
        (
            Hint("Each x[i] with i < n must be added once, and no other element.", "result"),
            Hint(
                "One operation must read, add and write, so that no other thread comes between: atomicAdd(&sum[0], "
                "x[i])."
            ),
        ),
        (
            "An atomic addition is whole: additions happen one after another, in any order. For many elements, "
            "let each warp or block add its own first, and send one atomic addition for all of them."
        ),
        (Wrong("atomicAdd(", "atomicAdd_block(", r"leave _block out"),),
        about=("atomicAdd",),
    ),
    Exercise(
        "steps",
        """
__global__ void steps(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    y[t] = t > 0 ? x[t] - tile[t - 1] : 0;
}
""",
        """
__global__ void steps(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = t > 0 ? x[t] - tile[t - 1] : 0;
}
""",
        steps,
        (Launch(1, 64, (whole(64, 1000, np.int32), untouched(64, np.int32))),),
        (
            Hint("y[t] is x[t] less the element before it, and y[0] is 0.", "result"),
            Hint(
                "Between line 5 and line 6, all threads must wait for all others: threads 31 and 32 are in different "
                "warps, so __syncwarp() is not enough."
            ),
        ),
        (
            "After __syncthreads(), the whole tile has been written. __syncwarp() would leave one race: thread 32"
            " reads what thread 31 of another warp writes."
        ),
        (Wrong("__syncthreads();", "__syncwarp();", r"different warps"),),
        about=("__syncthreads()",),
    ),
    Exercise(
        "distances",
        """
__global__ void distances(const int *x, int *sums, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int first = 0; first < n; first += 64) {
        tile[t] = x[first + t];
        __syncthreads();
        for (int j = 0; j < 64; ++j) sum += abs(x[i] - tile[j]);
    }
    sums[i] = sum;
}
""",
        """
__global__ void distances(const int *x, int *sums, int n) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = 0;
    for (int first = 0; first < n; first += 64) {
        tile[t] = x[first + t];
        __syncthreads();
        for (int j = 0; j < 64; ++j) sum += abs(x[i] - tile[j]);
        __syncthreads();
    }
    sums[i] = sum;
}
""",
        distances,
        (
            Launch(2, 64, (whole(128, 100, np.int32), untouched(128, np.int32), 128)),
            Launch(1, 64, (whole(64, 100, np.int32), untouched(64, np.int32), 64)),
        ),
        (
            Hint("sums[i] is the sum of the distances from x[i] to all n elements.", "result"),
            Hint(
                "Nobody may write to the tile again before all have read it. That takes a second barrier, within the "
                "loop, after the reading."
            ),
        ),
        (
            "The first barrier separates writing from reading, the second one reading from the next writing. With"
            " two tiles in turn, one barrier would be enough."
        ),
        (Wrong("        __syncthreads();\n        for", "        for", r"distances.cu:[67]: .*tile"),),
        about=("__syncthreads()",),
    ),
    Exercise(
        "from_first",
        """
__global__ void from_first(const int *x, int *y) {
    __shared__ int first[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (lane == 0) first[warp] = x[t];
    y[t] = x[t] - first[warp];
}
""",
        """
__global__ void from_first(const int *x, int *y) {
    __shared__ int first[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (lane == 0) first[warp] = x[t];
    __syncwarp();
    y[t] = x[t] - first[warp];
}
""",
        from_first,
        (Launch(1, 64, (whole(64, 1000, np.int32), untouched(64, np.int32))),),
        (
            Hint("y[t] is x[t] less the first element of its warp.", "result"),
            Hint(
                "The lanes of one warp must wait for each other between writing and reading, and all of them: not "
                "within the if."
            ),
        ),
        (
            "__syncwarp() makes the lanes of a warp wait for each other, and what they wrote visible to each "
            "other. __syncthreads() is right, too, but makes warps wait that share nothing."
        ),
        (Wrong("__syncwarp();", "if (lane == 0) __syncwarp();", r"not within the if"),),
        about=("__syncwarp()", "__syncthreads()"),
    ),
    Exercise(
        "smooth",
        """
__global__ void smooth(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i > 0 && i < n - 1 ? y[i - 1] + y[i] + y[i + 1] : y[i];
    __syncthreads();
    y[i] = sum;
}
""",
        """
__global__ void smooth(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i > 0 && i < n - 1 ? x[i - 1] + x[i] + x[i + 1] : x[i];
    y[i] = sum;
}
""",
        smooth,
        (
            Launch(2, 32, (whole(64, 100, np.int32), whole(64, 100, np.int32), 64)),
            Launch(1, 64, (whole(64, 100, np.int32), whole(64, 100, np.int32), 64)),
        ),
        (
            Hint("y[i] is the sum of x[i - 1], x[i] and x[i + 1], and x[i] itself at both ends.", "result"),
            Hint(
                "Nobody writes to x. A thread that reads x[i - 1], x[i] and x[i + 1] and writes y[i] has no race with"
                " any other."
            ),
        ),
        (
            "Each element of y now has one writer and no other reader, so the kernel does not even need its "
            "barrier. To smooth again, launch it again with the arrays exchanged: a launch waits for the one "
            "before it."
        ),
        (Wrong("x[i - 1]", "y[i - 1]", r"Nobody writes to x"),),
    ),
    Exercise(
        "sum_of_blocks",
        """
__global__ void sum_of_blocks(const int *x, int *partial, int *done, int *sum) {
    __shared__ int of_block, before;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    atomicAdd(&of_block, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = of_block;
        before = atomicAdd(done, 1);
    }
    __syncthreads();
    if (before == gridDim.x - 1 && threadIdx.x == 0) {
        sum[0] = 0;
        for (int b = 0; b < gridDim.x; ++b) sum[0] += partial[b];
    }
}
""",
        """
__global__ void sum_of_blocks(const int *x, int *partial, int *done, int *sum) {
    __shared__ int of_block, before;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    atomicAdd(&of_block, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = of_block;
        __threadfence();
        before = atomicAdd(done, 1);
    }
    __syncthreads();
    if (before == gridDim.x - 1 && threadIdx.x == 0) {
        sum[0] = 0;
        for (int b = 0; b < gridDim.x; ++b) sum[0] += partial[b];
    }
}
""",
        sum_of_blocks,
        (
            Launch(
                8,
                32,
                (
                    whole(256, 100, np.int32),
                    untouched(8, np.int32),
                    np.zeros(1, np.int32),
                    np.zeros(1, np.int32),
                ),
            ),
        ),
        (
            Hint("partial has the sum of each block, done[0] is their number, and sum[0] the sum of all.", "result"),
            Hint("The same thread must write its partial sum, then call __threadfence(), and then count."),
        ),
        (
            "Who sees that a block has counted now also sees its partial sum. Thread 0 of the last block learns "
            "it from its own atomicAdd; if other threads read the partial sums, the barrier after the counting "
            "tells them."
        ),
        (
            Wrong(
                "__threadfence();\n        before = atomicAdd(done, 1);",
                "before = atomicAdd(done, 1);\n        __threadfence();",
                r"and then count",
            ),
        ),
        about=("__threadfence()",),
    ),
)
