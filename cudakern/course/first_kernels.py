"""Exercises of notebook 01, the first kernels."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def add_one(x: Any, n: int) -> None:
    x[:n] += 1


def add_one_by_thread(x: Any, n: int) -> None:
    x[:1] += 1


def times(x: Any, y: Any, by: float, n: int) -> None:
    y[:n] = by * x[:n]


def reverse(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n][::-1]


def numbers(block: Any, thread: Any, n: int) -> None:
    block[:n], thread[:n] = np.divmod(range(n), 8 if n < 64 else 64)  # by the number of threads per block


def copy(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n]


_INDEX = "blockIdx.x * blockDim.x + threadIdx.x"
_GUARD = "The last block has more threads than there are elements left. A thread whose i is n or more must do nothing."
_ALL = "Every thread uses an element of its own: its index is blockIdx.x * blockDim.x + threadIdx.x."

EXERCISES = (
    Exercise(
        "add_one",
        (("x[i]", "x[0]"),),
        """
__global__ void add_one(float *x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] += 1;
}
""",
        add_one,
        (Launch(1, 8, (whole(8), 6)), Launch(1, 256, (whole(256), 200))),
        (
            Hint("All threads add to x[0] here. Each thread should add to an element of its own: x[i].", like=add_one_by_thread),
            Hint("Without the test i < n, threads touch elements that are not theirs.", "outside"),
            Hint("Thread i adds 1 to x[i], once, if i is less than n.", "result"),
            Hint("The threads run at the same time. Let each one have an element of its own: x[i].", "race"),
            Hint("The index of a thread's element is i, and only those below n exist.", "bounds"),
        ),
        "256 threads ran the same lines, each with another i. No loop is needed: the threads are the loop.",
        (
            Wrong("if (i < n) ", "", "elements that are not theirs"),
            Wrong("x[i]", "x[i + 1]", r"x\[0\]"),
            Wrong("x[i]", "x[n - 1]", "an element of its own"),
            Wrong("+= 1", "+ 1", "does not accept it|x\\[0\\]"),
            Wrong("+= 1", "+= i", "adds 1 to"),
            Wrong("+= 1", "= 1", "are the same"),
            Wrong("float *x", "double *x", r"not float32\. The parameters are \(float \*x, int n\)"),
        ),
    ),
    Exercise(
        "times",
        """
__global__ void times(const float *x, float *y, float by, int n) {
    int i = threadIdx.x;
    y[i] = by * x[i];
}
""",
        f"""
__global__ void times(const float *x, float *y, float by, int n) {{
    int i = {_INDEX};
    if (i < n) y[i] = by * x[i];
}}
""",
        times,
        (Launch(2, 4, (whole(6), untouched(6), 3.0, 6)), Launch(4, 256, (whole(1000), untouched(1000), 0.5, 1000))),
        (
            Hint(_GUARD, "idle"),
            Hint("y[i] becomes by * x[i]. " + _ALL, "value"),
            Hint(_ALL),
        ),
        "A grid consists of whole blocks, so it often has more threads than elements. The test keeps the others away.",
        (
            Wrong("if (i < n) ", "", "must do nothing"),
            Wrong("i < n", "i <= n", "must do nothing"),
            Wrong(_INDEX, "threadIdx.x", "All blocks use the same elements"),
            Wrong(_INDEX, "blockIdx.x + threadIdx.x", "an element of its own"),
            Wrong("by * x[i]", "x[i]", "After times"),
        ),
    ),
    Exercise(
        "numbers",
        """
__global__ void numbers(int *block, int *thread, int n) {
    int i = 0;
    if (i < n) {
        block[i] = blockIdx.x;
        thread[i] = threadIdx.x;
    }
}
""",
        f"""
__global__ void numbers(int *block, int *thread, int n) {{
    int i = {_INDEX};
    if (i < n) {{
        block[i] = blockIdx.x;
        thread[i] = threadIdx.x;
    }}
}}
""",
        numbers,
        (Launch(2, 8, (untouched(16, "i4"), untouched(16, "i4"), 14)), Launch(4, 64, (untouched(256, "i4"), untouched(256, "i4"), 200))),
        (
            Hint(_GUARD, "idle|outside"),
            Hint(_ALL + " It stores blockIdx.x in block[i], and threadIdx.x in thread[i].", "value"),
            Hint(_ALL),
        ),
        "Threads of a block have consecutive indices, and so do the blocks: i goes through the grid in order.",
        (
            Wrong(_INDEX, "threadIdx.x", "an element of its own"),
            Wrong(_INDEX, "threadIdx.x * gridDim.x + blockIdx.x", "an element of its own"),
            Wrong("i < n", "i <= n", "must do nothing"),
            Wrong("blockDim.x", "64", "an element of its own"),
            Wrong("= blockIdx.x;\n        thread[i] = threadIdx.x", "= i / 64;\n        thread[i] = i % 64", "stores blockIdx.x"),
        ),
    ),
    Exercise(
        "reverse",
        """
__global__ void reverse(const float *x, float *y, int n) {
    // Thread i: y[i] is the element that is as far from the end of x as i is from its beginning.
}
""",
        f"""
__global__ void reverse(const float *x, float *y, int n) {{
    int i = {_INDEX};
    if (i < n) y[i] = x[n - 1 - i];
}}
""",
        reverse,
        (Launch(2, 8, (whole(13), untouched(13), 13)), Launch(4, 128, (whole(512), untouched(512), 400))),
        (
            Hint("The last element is x[n - 1]: x[n - i] is one too far.", "bounds", r"reads x\[(13|400)\]"),
            Hint(_GUARD, "idle"),
            Hint("The opposite of element 0 is element n - 1, so that of element i is n - 1 - i.", "bounds|result"),
            Hint(_ALL, "race"),
        ),
        "x and y are different arrays, so no thread can overwrite what another one still has to read.",
        (
            Wrong("n - 1 - i", "n - i", "n - 1"),
            Wrong("n - 1 - i", "i", "opposite of element 0"),
            Wrong("if (i < n) ", "", "must do nothing"),
            Wrong("y[i] = x[n - 1 - i]", "y[n - 1 - i] = x[n - 1 - i]", "opposite of element 0"),
        ),
    ),
    Exercise(
        "copy",
        """
__global__ void copy(const float *x, float *y, int n) {
    int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = first; i < first + each && i < n; ++i)
        y[i] = x[i];
}
""",
        """
__global__ void copy(const float *x, float *y, int n) {
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        y[i] = x[i];
}
""",
        copy,
        (Launch(1, 8, (whole(32), untouched(32), 32)), Launch(2, 64, (whole(4096), untouched(4096), 4096))),
        (
            Hint("In each round of the loop, the 32 threads of a warp should access 32 neighbors: thread 0 begins with element 0, thread 1 with element 1, and each goes on by the number of threads in the grid.", "target"),
            Hint("Each element must be copied once: begin with the thread's index, and go on by gridDim.x * blockDim.x.", "result"),
            Hint("Two threads copy the same element: go on by the number of threads in the whole grid.", "race"),
            Hint("The loop ends where i is n.", "bounds"),
        ),
        "Both kernels copy the same elements. But memory is fetched in sectors of 32 bytes: where neighbors in a warp read neighbors, 32 floats are 4 sectors; where each reads a place of its own, they are 32.",
        (
            Wrong("i += threads", "i += blockDim.x", "the whole grid"),
            Wrong("i < n", "i <= n", "where i is n"),
            Wrong("i += threads", "i = n", "Each element must be copied"),
        ),
        (Target("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4, "sectors per request of the loads"),),
    ),
)  # fmt: skip
