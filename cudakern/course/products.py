"""Exercises of notebook 04: matrices."""

from typing import Any

from .exercise import Exercise, Hint, Launch, Wrong, untouched, whole


def transpose(a: Any, b: Any, rows: int, columns: int) -> None:
    b[: rows * columns] = a[: rows * columns].reshape(rows, columns).T.ravel()


def times_transposed(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> None:
    c[: m * n] = (a[: m * k].reshape(m, k) @ b[: n * k].reshape(n, k).T).ravel()


def tiled(a: Any, b: Any, c: Any, n: int) -> None:
    c[: n * n] = (a[: n * n].reshape(n, n) @ b[: n * n].reshape(n, n)).ravel()


EXERCISES = (
    Exercise(
        "transpose",
        """
__global__ void transpose(const float *a, float *b, int rows, int columns) {
}
""",
        """
__global__ void transpose(const float *a, float *b, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}
""",
        transpose,
        (Launch((3, 2), (16, 16), (whole(48 * 32, 100), untouched(48 * 32), 20, 37)),),
        (
            Hint(
                "Element (row, column) of a is a[row * columns + column]. The rows of b have `rows` elements, so it "
                "goes to b[column * rows + row]. Test both coordinates."
            ),
        ),
        (
            "The reads of a warp are neighbors, and its writes are `rows` elements apart. Tiles in shared memory "
            "would make both contiguous."
        ),
        (
            Wrong("row < rows && ", "", r"transpose.cu:5: .* b\[20\].*Test both coordinates"),
            Wrong("column * rows + row", "column * columns + row", r"b\["),
        ),
    ),
    Exercise(
        "times_transposed",
        """
__global__ void times_transposed(const float *a, const float *b, float *c, int m, int n, int k) {
}
""",
        """
__global__ void times_transposed(const float *a, const float *b, float *c, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
    c[row * n + column] = sum;
}
""",
        times_transposed,
        (Launch((3, 2), (8, 8), (whole(24 * 16), whole(24 * 24), untouched(24 * 16), 13, 21, 10)),),
        (
            Hint(
                "c[row * n + column] is the sum of a[row * k + i] * b[column * k + i] over i from 0 to k - 1, because"
                " row `column` of b is a column of its transpose. Test row < m and column < n."
            ),
        ),
        (
            "Both operands are read along their rows. Two threads that are neighbors in x read elements of b that"
            " are k words apart, so this form needs tiles even more than the ordinary product."
        ),
        (
            Wrong("if (row >= m || column >= n) return;", "", r"c\["),
            Wrong("b[column * k + i]", "b[i * n + column]", r"c\[0\]"),
        ),
    ),
    Exercise(
        "tiled",
        """
__global__ void tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[8][8], tile_b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        tile_a[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
        tile_b[ty][tx] = k + ty < n && column < n ? b[(k + ty) * n + column] : 0;
        for (int i = 0; i < 8; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
""",
        """
__global__ void tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[8][8], tile_b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 8) {
        tile_a[ty][tx] = row < n && k + tx < n ? a[row * n + k + tx] : 0;
        tile_b[ty][tx] = k + ty < n && column < n ? b[(k + ty) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 8; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum;
}
""",
        tiled,
        (
            Launch((3, 3), (8, 8), (whole(20 * 20), whole(20 * 20 + 1)[:-1], untouched(24 * 24), 20)),
            Launch((2, 2), (8, 8), (whole(16 * 16), whole(16 * 16 + 1)[:-1], untouched(16 * 16), 16)),
        ),
        (
            Hint(
                "When may a thread read a tile: when all threads have written to it. When may it write to a tile "
                "again: when all threads have read it. Each of the two needs a barrier, within the loop over the "
                "tiles."
            ),
        ),
        (
            "The first barrier separates writing from reading, the second one reading from the next writing. All "
            "threads reach both, also those outside the matrix."
        ),
        (
            Wrong("__syncthreads();\n        for", "for", r"tiled.cu:8: .* tile_a.* in line 10.*needs a barrier"),
            Wrong("        __syncthreads();\n    }", "    }", r"tile_a.* between lines 8 and 11.*needs a barrier"),
        ),
    ),
)
