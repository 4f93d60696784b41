"""Exercises of notebook 11: from NumPy to the GPU and back."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole

#: One store per warp: 500 elements are 16 warps.
STORES = Target("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 16, "stores of a warp")


def squared_distance(x: Any, y: Any, out: Any, n: int) -> None:
    out[:n] = (x[:n] - y[:n]) ** 2


def brightness(pixels: Any, out: Any, n: int) -> None:
    out[:n] = pixels[:n].astype(np.float32) / np.float32(256)


def every_nth(x: Any, y: Any, stride: int, n: int) -> None:
    y[:n] = x[::stride][:n]


def first_ones(x: Any, y: Any, stride: int, n: int) -> None:
    y[:n] = x[:n]


def transpose(a: Any, b: Any, rows: int, columns: int) -> None:
    b.reshape(-1)[: rows * columns] = a.ravel()[: rows * columns].reshape(rows, columns).T.ravel()


EXERCISES = (
    Exercise(
        "squared_distance",
        (("float difference = x[i] - y[i];\n    out[i] = difference * difference", "out[i] = x[i] - y[i];\n    out[i] = out[i] * out[i]"),),
        """
__global__ void squared_distance(const float *x, const float *y, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float difference = x[i] - y[i];
    out[i] = difference * difference;
}
""",
        squared_distance,
        (Launch(2, 8, (whole(12), whole(12)[::-1].copy(), untouched(12), 12)), Launch(4, 128, (whole(500), whole(500, 7), untouched(500), 500))),
        (
            Hint("Keep the difference in a variable of the thread, and store its square once.", "target"),
            Hint("out[i] is (x[i] - y[i]) times itself.", "result"),
            Hint("A thread whose i is n or more must return first.", "bounds"),
        ),
        "A variable of the thread is in a register, which costs nothing to read again. What NumPy does in two passes over memory, with an array in between, one kernel does in one.",
        (
            Wrong("difference * difference", "difference", r"times itself"),
            Wrong("i >= n", "i > n", r"n or more must return"),
            Wrong("out[i] = difference * difference", "out[i] = difference; out[i] *= difference", r"a variable of the thread"),
        ),
        (STORES,),
    ),
    Exercise(
        "brightness",
        (("unsigned char", "float"), (".0f", ""),),
        """
__global__ void brightness(const unsigned char *pixels, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = pixels[i] / 256.0f;
}
""",
        brightness,
        (Launch(2, 8, (whole(16, 256, np.uint8), untouched(16), 14)), Launch(3, 256, (whole(700, 256, np.uint8), untouched(700), 700))),
        (
            Hint("NumPy's uint8 is C's unsigned char: that is what the pointer points to.", "arguments"),
            Hint("An integer divided by an integer is an integer: divide by 256.0f.", like=lambda pixels, out, n: out[:n].fill(0)),
            Hint("A signed char ends at 127: NumPy's uint8 is C's unsigned char.", "value", r"\] is -"),
            Hint("A thread whose i is n or more must do nothing.", "outside|bounds"),
            Hint("out[i] is pixels[i] divided by 256, as a float.", "result"),
        ),
        "The type of a pointer must be that of the array's elements. Four times fewer bytes are read than for floats.",
        (
            Wrong("unsigned char", "float", r"unsigned char: that"),
            Wrong("256.0f", "256", r"An integer divided by an integer"),
            Wrong("unsigned char", "signed char", "ends at 127"),
        ),
    ),
    Exercise(
        "every_nth",
        ((" * stride", ""),),
        """
__global__ void every_nth(const float *x, float *y, int stride, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i * stride];
}
""",
        every_nth,
        (Launch(1, 8, (whole(18), untouched(6), 3, 6)), Launch(2, 64, (whole(500), untouched(100), 5, 100)), Launch(2, 64, (whole(100), untouched(100), 1, 100))),
        (
            Hint("This copies the first n elements. Element i of y is `stride` elements further in x than element i - 1.", like=first_ones),
            Hint("y has no gaps: y[i] comes from x[i * stride].", "bounds", "writes"),
            Hint("The last element that is needed is x[(n - 1) * stride].", "bounds"),
            Hint("Element i of y is x[i * stride].", "result"),
        ),
        "So do NumPy's views find their elements: a beginning, and a stride per axis. A kernel that takes strides needs no copy of a view; but neighbors in the warp are then no neighbors in memory.",
        (
            Wrong("i * stride", "i + stride", r"x\[i \* stride\]"),
            Wrong("i < n", "i < n * stride", r"\(n - 1\) \* stride"),
            Wrong("i * stride", "stride", r"x\[i \* stride\]"),
        ),
    ),
    Exercise(
        "transpose",
        "",
        """
__global__ void transpose(const float *a, float *b, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}
""",
        transpose,
        (Launch(1, (8, 4), (whole(24).reshape(4, 6), untouched(24).reshape(6, 4), 4, 6)), Launch((3, 2), (16, 16), (whole(48 * 32, 100), untouched(48 * 32), 20, 37))),
        (
            Hint("Threads beyond the last row or column do nothing: test row < rows and column < columns.", "idle"),
            Hint("Element (row, column) of a is a[row * columns + column]. The rows of b have `rows` elements, so it goes to b[column * rows + row]."),
        ),
        "Where the reads of a warp are neighbors, its writes are `rows` elements apart. Tiles in shared memory would make both contiguous.",
        (
            Wrong("row < rows && ", "", r"transpose.cu:5: .* b\[20\].*test row < rows"),
            Wrong("column * rows + row", "column * columns + row", "rows of b have `rows` elements"),
        ),
    ),
)  # fmt: skip
