"""Exercises of notebook 05: matrices."""

from typing import Any

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def times_transposed(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> None:
    c.reshape(-1)[: m * n] = (a.ravel()[: m * k].reshape(m, k) @ b.ravel()[: n * k].reshape(n, k).T).ravel()


def tiled(a: Any, b: Any, c: Any, n: int) -> None:
    c.reshape(-1)[: n * n] = (a.ravel()[: n * n].reshape(n, n) @ b.ravel()[: n * n].reshape(n, n)).ravel()


def matrix_vector(a: Any, x: Any, y: Any, rows: int, columns: int) -> None:
    y[:rows] = a @ x


def first_products(a: Any, x: Any, y: Any, rows: int, columns: int) -> None:
    y[:rows] = a[:, ::32] @ x[::32]


def vector_matrix(a: Any, x: Any, y: Any, rows: int, columns: int) -> None:
    y[:columns] = x @ a


def two_rows(a: Any, b: Any, c: Any, n: int) -> None:
    c[:] = a @ b


def rectangles(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> None:
    c[:] = a @ b


def small_products(a: Any, b: Any, c: Any, n: int) -> None:
    c[:n] = a[:n] @ b[:n]


EXERCISES = (
    Exercise(
        "times_transposed",
        "",
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
        (
            Launch(1, (4, 4), (whole(6).reshape(3, 2), whole(8).reshape(4, 2), untouched(12).reshape(3, 4), 3, 4, 2)),
            Launch((3, 2), (8, 8), (whole(24 * 16), whole(24 * 24), untouched(24 * 16), 13, 21, 10)),
        ),
        (
            Hint("Threads beyond the last row or column of c do nothing: test row < m and column < n.", "idle"),
            Hint("c[row * n + column] is the sum of a[row * k + i] * b[column * k + i] over i from 0 to k - 1, because row `column` of b is a column of its transpose."),
        ),
        "Both operands are read along their rows. Threads that are neighbors in a warp read elements that are k words apart, so this form needs tiles even more than the ordinary product.",
        (
            Wrong("if (row >= m || column >= n) return;", "", "test row < m"),
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
            Launch(1, (8, 8), (whole(36).reshape(6, 6), whole(37)[1:].reshape(6, 6), untouched(36).reshape(6, 6), 6)),
            Launch((3, 3), (8, 8), (whole(20 * 20), whole(20 * 20 + 1)[:-1], untouched(24 * 24), 20)),
            Launch((2, 2), (8, 8), (whole(16 * 16), whole(16 * 16 + 1)[:-1], untouched(16 * 16), 16)),
        ),
        (
            Hint("The sums were right: nothing but the two barriers is missing.", "result"),
            Hint("Only elements with row < n and column < n exist: in a row, the next one begins behind column n - 1.", "global race|bounds"),
            Hint("When may a thread read a tile: when all threads have written to it. When may it write to a tile again: when all threads have read it. Each of the two needs a barrier, within the loop over the tiles.", "shared race|uninitialised"),
        ),
        "One barrier separates writing from reading, another one reading from the next writing. All threads must reach both, also those outside the matrix.",
        (
            Wrong("__syncthreads();\n        for", "for", r"tiled.cu:8: .* tile_a.* in line 10.*needs a barrier"),
            Wrong("        __syncthreads();\n    }", "    }", r"tiled.cu:11: .* tile_a.* in line 8.*needs a barrier"),
            Wrong("    float sum = 0;", "    if (row >= n || column >= n) return;\n    float sum = 0;", "let none return before it"),
        ),
        about=("__syncthreads()",),
    ),
    Exercise(
        "matrix_vector",
        """
__global__ void matrix_vector(const float *a, const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < columns; ++k) sum += a[row * columns + k] * x[k];
    y[row] = sum;
}
""",
        """
__global__ void matrix_vector(const float *a, const float *x, float *y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int k = lane; k < columns; k += 32) sum += a[row * columns + k] * x[k];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}
""",
        matrix_vector,
        (Launch(1, 32, (whole(32).reshape(1, 32), whole(32), untouched(1), 1, 32)), Launch(9, 64, (whole(640).reshape(16, 40), whole(40), untouched(16), 16, 40))),
        (
            Hint("In each round, 32 threads access 32 rows. Let a warp take a row: its lanes read neighbors, and add their sums by shuffles.", "target"),
            Hint("This is lane 0's part of the sum: the parts of the 32 lanes must be added.", like=first_products),
            Hint("One lane of each warp writes the row's result.", "race"),
            Hint("Warp w of the grid takes row w, and there are `rows` of them, each from a[row * columns] on.", "bounds"),
            Hint("y[row] is the sum of a[row * columns + k] * x[k] over all k: lane l takes k = l, l + 32, l + 64, ...", "result"),
        ),
        "Which threads share a row decides how a matrix is read. Here, 32 lanes read 128 bytes in a row.",
        (
            Wrong("    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);\n", "", "lane 0's part"),
            Wrong("if (lane == 0) ", "", "One lane of each warp"),
            Wrong("    if (row >= rows) return;\n", "", "Warp w of the grid"),
            Wrong("k += 32", "k += 64", "over all k"),
        ),
        (Target("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4, "sectors per request of the loads"),),
    ),
    Exercise(
        "vector_matrix",
        """
__global__ void vector_matrix(const float *a, const float *x, float *y, int rows, int columns) {
    int column = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (column >= columns) return;
    float sum = 0;
    for (int k = lane; k < rows; k += 32) sum += x[k] * a[k * columns + column];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[column] = sum;
}
""",
        """
__global__ void vector_matrix(const float *a, const float *x, float *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (int k = 0; k < rows; ++k) sum += x[k] * a[k * columns + column];
    y[column] = sum;
}
""",
        vector_matrix,
        (Launch(6, 32, (whole(24).reshape(4, 6), whole(4), untouched(6), 4, 6)), Launch(32, 32, (whole(320).reshape(10, 32), whole(10), untouched(32), 10, 32))),
        (
            Hint("The lanes read down a column, which are elements of different rows. One thread per column is better here: then 32 threads read 32 neighbors.", "target"),
            Hint("There are `columns` results: the other threads do nothing.", "idle"),
            Hint("x has an element for each row: x[k].", "bounds", r"\bx\["),
            Hint("Element k of column `column` is a[k * columns + column].", "result|bounds"),
            Hint("Each column has one thread that writes its sum.", "race"),
        ),
        "The same product with the matrix on the other side, and now a thread per result is the good form: follow the rows.",
        (
            Wrong("if (column >= columns) return;", "", "other threads do nothing"),
            Wrong("a[k * columns + column]", "a[column * columns + k]", "Element k of column"),
            Wrong("k < rows", "k < columns", "has an element for each row"),
        ),
        (Target("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4, "sectors per request of the loads"),),
    ),
    Exercise(
        "rectangles",
        """
__global__ void rectangles(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float tile_a[4][4], tile_b[4][4];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 4 + tx, row = blockIdx.y * 4 + ty;
    float sum = 0;
    for (int first = 0; first < k; first += 4) {
        tile_a[ty][tx] = a[row * k + first + tx];
        tile_b[ty][tx] = b[(first + ty) * n + column];
        __syncthreads();
        for (int i = 0; i < 4; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
""",
        """
__global__ void rectangles(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float tile_a[4][4], tile_b[4][4];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 4 + tx, row = blockIdx.y * 4 + ty;
    float sum = 0;
    for (int first = 0; first < k; first += 4) {
        tile_a[ty][tx] = row < m && first + tx < k ? a[row * k + first + tx] : 0;
        tile_b[ty][tx] = first + ty < k && column < n ? b[(first + ty) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 4; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
""",
        rectangles,
        (
            Launch((1, 1), (4, 4), (whole(15).reshape(3, 5), whole(20).reshape(5, 4), untouched(12).reshape(3, 4), 3, 4, 5)),
            Launch((3, 2), (4, 4), (whole(42).reshape(7, 6), whole(54).reshape(6, 9), untouched(63).reshape(7, 9), 7, 9, 6)),
        ),
        (
            Hint("An element of a tile outside the matrix must be 0. a has m rows and k columns, b has k rows and n columns.", "bounds", r"reads"),
            Hint("Only elements with row < m and column < n belong to c: beyond the last column, the next row begins.", "idle"),
            Hint("All threads wait, also those outside c: before a tile is read, and before it is written again.", "shared race"),
            Hint("All threads load and wait, also those outside c: others need what they load.", "uninitialised"),
            Hint("c[row * n + column] is the sum of tile_a[ty][i] * tile_b[i][tx] over all tiles, of which the last one may contain 0 where the matrix has ended: test the row and the column."),
        ),
        "The zeros add nothing to the sums, so the inner loop needs no test. Threads outside c work as well: they load, and wait with the others.",
        (
            Wrong("row < m && first + tx < k ? a[row * k + first + tx] : 0", "row < m ? a[row * k + first + tx] : 0", "must be 0"),
            Wrong("if (row < m && column < n) c", "c", "belong to c"),
            Wrong("    float sum = 0;\n", "    float sum = 0;\n    if (row >= m || column >= n) return;\n", "let none return before it"),
            Wrong("first + ty < k && column < n ? ", "first + ty < k ? ", "must be 0"),
        ),
    ),
    Exercise(
        "two_rows",
        """
__global__ void two_rows(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[8][8], tile_b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sums[2] = {};
    for (int k = 0; k < n; k += 8) {
        for (int r = 0; r < 2; ++r) {
            tile_a[ty + 4 * r][tx] = a[(row + 4 * r) * n + k + tx];
            tile_b[ty + 4 * r][tx] = b[(k + ty + 4 * r) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < 8; ++i) sums[0] += tile_a[ty][i] * tile_b[i][tx];
        for (int i = 0; i < 8; ++i) sums[1] += tile_a[ty + 4][i] * tile_b[i][tx];
        __syncthreads();
    }
    for (int r = 0; r < 2; ++r) c[(row + 4 * r) * n + column] = sums[r];
}
""",
        """
__global__ void two_rows(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[8][8], tile_b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sums[2] = {};
    for (int k = 0; k < n; k += 8) {
        for (int r = 0; r < 2; ++r) {
            tile_a[ty + 4 * r][tx] = a[(row + 4 * r) * n + k + tx];
            tile_b[ty + 4 * r][tx] = b[(k + ty + 4 * r) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < 8; ++i) {
            float of_b = tile_b[i][tx];
            sums[0] += tile_a[ty][i] * of_b;
            sums[1] += tile_a[ty + 4][i] * of_b;
        }
        __syncthreads();
    }
    for (int r = 0; r < 2; ++r) c[(row + 4 * r) * n + column] = sums[r];
}
""",
        two_rows,
        (
            Launch((1, 1), (8, 4), (whole(64).reshape(8, 8), whole(65)[:64].reshape(8, 8), untouched(64).reshape(8, 8), 8)),
            Launch((2, 2), (8, 4), (whole(256).reshape(16, 16), whole(257)[:256].reshape(16, 16), untouched(256).reshape(16, 16), 16)),
        ),
        (
            Hint("Both results of a thread are in one column, so both need tile_b[i][tx]. Load it once per i, and use it for both.", "target"),
            Hint("The second result is 4 rows below the first, and each is the sum of all n products.", "result|global race"),
            Hint("Both barriers are needed: before the tiles are read, and before they are written again.", "shared race"),
        ),
        "Each value from shared memory now serves two multiply-adds. With 8 x 8 results per thread it serves eight, which is how fast products are made.",
        (
            Wrong("            float of_b = tile_b[i][tx];\n            sums[0] += tile_a[ty][i] * of_b;\n", "            sums[0] += tile_a[ty][i] * tile_b[i][tx];\n        }\n        for (int i = 0; i < 8; ++i) {\n            float of_b = tile_b[i][tx];\n", "Load it once"),
            Wrong("tile_a[ty + 4][i]", "tile_a[ty][i]", "4 rows below"),
            Wrong("        __syncthreads();\n    }", "    }", "Both barriers"),
        ),
        (Target("smsp__sass_inst_executed_op_shared_ld.sum", 96, "requests to load from shared memory"),),
    ),
    Exercise(
        "small_products",
        """
__global__ void small_products(const float *a, const float *b, float *c, int n) {
    int matrix = blockIdx.x * blockDim.x + threadIdx.x;
    if (matrix >= n) return;
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column) {
            float sum = 0;
            for (int k = 0; k < 4; ++k) sum += a[16 * matrix + 4 * row + k] * b[16 * matrix + 4 * k + column];
            c[16 * matrix + 4 * row + column] = sum;
        }
}
""",
        """
__global__ void small_products(const float *a, const float *b, float *c, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int matrix = t / 16, row = t / 4 % 4, column = t % 4;
    if (matrix >= n) return;
    float sum = 0;
    for (int k = 0; k < 4; ++k) sum += a[16 * matrix + 4 * row + k] * b[16 * matrix + 4 * k + column];
    c[16 * matrix + 4 * row + column] = sum;
}
""",
        small_products,
        (
            Launch(1, 32, (whole(32).reshape(2, 4, 4), whole(33)[:32].reshape(2, 4, 4), untouched(32).reshape(2, 4, 4), 2)),
            Launch(3, 64, (whole(160).reshape(10, 4, 4), whole(161)[:160].reshape(10, 4, 4), untouched(160).reshape(10, 4, 4), 10)),
        ),
        (
            Hint("A thread with a matrix of its own reads 64 bytes from its neighbor's. Give each matrix 16 threads, one per element of the result.", "target"),
            Hint("n matrices have 16 * n results: the other threads do nothing.", "idle"),
            Hint("t / 16 is the matrix, t / 4 % 4 the row and t % 4 the column: each result has one thread.", "race"),
            Hint("c[16 * matrix + 4 * row + column] is the product of a's row and b's column of the same matrix. Each row has 4 elements.", "result|bounds"),
        ),
        "Many small problems are one large grid: what matters is that neighbors in a warp work on neighbors in memory.",
        (
            Wrong("t / 4 % 4", "t / 4", "product of"),
            Wrong("if (matrix >= n) return;", "", "other threads do nothing"),
            Wrong("4 * k + column]", "4 * column + k]", "a's row and b's column"),
            Wrong("row = t / 4 % 4, column = t % 4", "row = t % 4, column = t % 4", "each result has one thread"),
        ),
        (Target("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", 4, "sectors per request of the stores"),),
    ),
)  # fmt: skip
