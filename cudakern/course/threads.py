"""Exercises of notebook 02: threads, blocks and grids."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Wrong, untouched, whole


def squares(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n] ** 2


def add_to_all(x: Any, by: int, n: int) -> None:
    x[:n] += by


def mirror(image: Any, out: Any, width: int, height: int) -> None:
    rows = image[: width * height].reshape(height, width)
    out[: width * height] = rows[:, ::-1].ravel()


def reverse_blocks(x: Any) -> None:
    x[:] = x.reshape(-1, 64)[:, ::-1].ravel()


EXERCISES = (
    Exercise(
        "squares",
        """
__global__ void squares(const float *x, float *y, int n) {
}
""",
        """
__global__ void squares(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
""",
        squares,
        (
            Launch(1, 32, (whole(32), untouched(32), 32)),
            Launch(4, 256, (whole(1024), untouched(1024), 1000)),
        ),
        (
            Hint(
                "The element of a thread is blockIdx.x * blockDim.x + threadIdx.x. A thread whose element is n or "
                "more must not write: test i < n."
            ),
        ),
        (
            "With n = 1000, 24 of the 1024 threads do nothing. Without the test they would write beyond the end "
            "of the array, into memory that may belong to something else."
        ),
        (
            Wrong("if (i < n) ", "", r"y\[1000\] is .*, not -1.0 .* test i < n"),
            Wrong("i < n", "i <= n", r"y\[1000\]"),
            Wrong(
                "blockIdx.x * blockDim.x + ", "", r"squares.cu:4: .* y\[0\], which thread 0 .*The element of a thread"
            ),
            Wrong("int n", "int count", r"does not accept it.*squares.cu:4:13: error: .*n"),
            Wrong("squares(", "square(", r"name must be squares: unknown kernel 'squares'"),
            Wrong("float", "double", r"must be a float64 array, not float32"),
            Wrong("i < n", "i < n && __ballot_sync(1, 1)", r"the mask must contain the calling lane"),
            Wrong(
                "y[i] = x[i] * x[i];",
                "y[i] = x[i] * x[i], y[0] = x[0] * x[0];",
                r"squares.cu:4: .*y\[0\], .*orders the",
            ),
        ),
    ),
    Exercise(
        "add_to_all",
        """
__global__ void add_to_all(int *x, int by, int n) {
}
""",
        """
__global__ void add_to_all(int *x, int by, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += by;
}
""",
        add_to_all,
        (
            Launch(2, 32, (whole(1024, dtype=np.int32), 3, 1000)),
            Launch(4, 256, (whole(1024, dtype=np.int32), -1, 100)),
        ),
        (
            Hint(
                "A thread begins with its own element, and each turn of the loop goes on by the number of threads in "
                "the whole grid, gridDim.x * blockDim.x, while the element is less than n."
            ),
        ),
        (
            "Such a loop over the grid is right for every grid and every n. For n less than the number of "
            "threads, it is the test i < n."
        ),
        (
            Wrong("; i += gridDim.x * blockDim.x)", "; i = n)", r"After add_to_all\[2, 32\], x\[64\]"),
            Wrong("gridDim.x * ", "", r"x\[32\], which .* nothing orders the two.*goes on by the number of threads"),
        ),
    ),
    Exercise(
        "mirror",
        """
__global__ void mirror(const unsigned char *image, unsigned char *out, int width, int height) {
}
""",
        """
__global__ void mirror(const unsigned char *image, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + width - 1 - x] = image[y * width + x];
}
""",
        mirror,
        (Launch((5, 4), (16, 16), (whole(80 * 64, 250, np.uint8), np.full(80 * 64, 255, np.uint8), 76, 62)),),
        (
            Hint(
                "x comes from blockIdx.x, y from blockIdx.y. Pixel (x, y) is element y * width + x, and its mirror "
                "image is element y * width + width - 1 - x. Test both x < width and y < height."
            ),
        ),
        (
            "5 x 4 blocks of 16 x 16 threads are 80 x 64 threads for 76 x 62 pixels: threads overlap on the right"
            " and below."
        ),
        (
            Wrong(" && y < height", "", r"out\[4712\] is .*, not 255"),
            Wrong(" + width - 1 - x]", " + x]", r"out\[0\]"),
        ),
    ),
    Exercise(
        "reverse_blocks",
        """
__global__ void reverse_blocks(int *x) {
}
""",
        """
__global__ void reverse_blocks(int *x) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = tile[63 - threadIdx.x];
}
""",
        reverse_blocks,
        (Launch(4, 64, (whole(256, 1000, np.int32),)),),
        (
            Hint(
                "Thread t stores its element in tile[t] and then reads tile[63 - t], which another thread stores. "
                "Between the two, all threads must wait: __syncthreads()."
            ),
        ),
        (
            "After the barrier, the whole tile has been written. (Without shared memory, a thread could overwrite"
            " an element that another one has not read yet.)"
        ),
        (Wrong("__syncthreads();", "", r"__syncthreads\(\) between lines 5 and 7.*all threads must wait"),),
    ),
)
