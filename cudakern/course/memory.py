"""Exercises of notebook 03: what a warp asks of memory."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole

_LOADS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
_STORES = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"
FOUR = (
    Target(_LOADS, 4, "sectors per request of the loads"),
    Target(_STORES, 4, "sectors per request of the stores"),
)


def row_factors(a: Any, by: Any, b: Any, rows: int, columns: int) -> None:
    b[:] = a * by[:, None]


def column_factors(a: Any, by: Any, b: Any, rows: int, columns: int) -> None:
    b[:] = a * by


def split_points(points: Any, x: Any, y: Any, z: Any) -> None:
    x[:], y[:], z[:] = points.T


def copy4(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n]


def copy4_whole(x: Any, y: Any, n: int) -> None:
    y[: n // 4 * 4] = x[: n // 4 * 4]


def transpose_tile(a: Any, b: Any, rows: int, columns: int) -> None:
    b[:] = a.T


def not_turned(a: Any, b: Any, rows: int, columns: int) -> None:
    for i in range(0, rows, 8):
        for j in range(0, columns, 8):
            b[j : j + 8, i : i + 8] = a[i : i + 8, j : j + 8]


def row_sums(x: Any, sums: Any) -> None:
    sums[:] = x.sum(axis=1)


def histogram(x: Any, counts: Any, n: int) -> None:
    counts += np.bincount(x[:n], minlength=counts.size).astype(counts.dtype)


def gather_rows(table: Any, rows: Any, y: Any, n: int) -> None:
    y[:n] = table[rows[:n]]


def gather_wrong_rows(table: Any, rows: Any, y: Any, n: int) -> None:
    y[:n] = table[:n]


def binomial(x: Any, y: Any, n: int) -> None:
    y[:n] = np.convolve(x[: n + 4], [1, 4, 6, 4, 1], "valid")


def by_warp(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n]
    for _ in range(6):
        y[:n:2] = y[:n:2] ** 2 % 101
        y[1:n:2] = (3 * y[1:n:2] + 1) % 97


EXERCISES = (
    Exercise(
        "row_factors",
        (("y * blockDim.y + threadIdx.y;\n    int column = blockIdx.x * blockDim.x + threadIdx.x", "x * blockDim.x + threadIdx.x;\n    int column = blockIdx.y * blockDim.y + threadIdx.y"),),
        """
__global__ void row_factors(const float *a, const float *by, float *b, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns)
        b[row * columns + column] = by[row] * a[row * columns + column];
}
""",
        row_factors,
        (
            Launch((2, 2), (4, 4), (whole(36).reshape(6, 6), whole(6), untouched(36).reshape(6, 6), 6, 6)),
            Launch((1, 8), (32, 4), (whole(1024).reshape(32, 32), whole(32), untouched(1024).reshape(32, 32), 32, 32)),
        ),
        (
            Hint("Threads that are neighbors in x should access neighbors in memory, which are in one row: the column comes from x.", "target"),
            Hint("Element (row, column) is multiplied by the factor of its row.", like=column_factors),
            Hint("Test both coordinates, row < rows and column < columns: beyond the last column, the next row begins.", "idle"),
            Hint("The row comes from y and the column from x. Row `row` begins at element row * columns, and each of its elements is multiplied by by[row]."),
        ),
        "Both kernels do the same, and both use a grid of two dimensions. Only which dimension goes along a row differs, and with it the sectors.",
        (
            Wrong("threadIdx.y;", "threadIdx.x;", "row comes from y"),
            Wrong("by[row]", "by[column]", "factor of its row"),
            Wrong(" && column < columns", "", "next row begins"),
            Wrong("row * columns + column", "row * 8 + column", r"begins at element row \* columns"),
        ),
        FOUR,
    ),
    Exercise(
        "split_points",
        """
__global__ void split_points(const float *points, float *x, float *y, float *z) {
    int i = blockIdx.x * 32 + threadIdx.x;
    x[i] = points[3 * i];
    y[i] = points[3 * i + 1];
    z[i] = points[3 * i + 2];
}
""",
        """
__global__ void split_points(const float *points, float *x, float *y, float *z) {
    __shared__ float tile[3 * 32];
    int t = threadIdx.x, first = blockIdx.x * 32;
    for (int j = t; j < 3 * 32; j += 32) tile[j] = points[3 * first + j];
    __syncthreads();
    x[first + t] = tile[3 * t];
    y[first + t] = tile[3 * t + 1];
    z[first + t] = tile[3 * t + 2];
}
""",
        split_points,
        (Launch(1, 32, (whole(96).reshape(32, 3), untouched(32), untouched(32), untouched(32))), Launch(3, 32, (whole(288).reshape(96, 3), untouched(96), untouched(96), untouched(96)))),
        (
            Hint("Each load takes one float of three, from 12 sectors. Load 32 neighbors three times into shared memory, and take the coordinates from there.", "target"),
            Hint("A thread reads what other lanes have loaded: wait for them first.", "shared race"),
            Hint("The coordinates of 32 points are 3 * 32 floats.", "shared bounds"),
            Hint("The points of block b begin at float 3 * 32 * b.", "bounds"),
            Hint("Point i has the floats 3 * i, 3 * i + 1 and 3 * i + 2.", "result"),
            Hint("96 floats are loaded by 32 threads, three each.", "uninitialised"),
        ),
        "The order in which a block fetches elements need not be that in which it uses them. In shared memory a stride of 3 costs nothing, because 3 is odd.",
        (
            Wrong("    __syncthreads();\n", "", "wait for them first"),
            Wrong("j < 3 * 32", "j < 2 * 32", "three each"),
            Wrong("tile[3 * t + 1]", "tile[t + 32]", "Point i has"),
            Wrong("points[3 * first + j]", "points[first + j]", "Point i has|begin at float"),
        ),
        FOUR,
    ),
    Exercise(
        "copy4",
        (("if (i < n / 4) ((float4 *)y)[i] = ((const float4 *)x)[i];\n    if (i < n % 4) y[n / 4 * 4 + i] = x[n / 4 * 4 + i", "for (int k = 4 * i; k < 4 * i + 4 && k < n; ++k) y[k] = x[k"),),
        """
__global__ void copy4(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) ((float4 *)y)[i] = ((const float4 *)x)[i];
    if (i < n % 4) y[n / 4 * 4 + i] = x[n / 4 * 4 + i];
}
""",
        copy4,
        (Launch(1, 8, (whole(30), untouched(30), 30)), Launch(2, 64, (whole(510), untouched(510), 510))),
        (
            Hint("Each thread loads four neighbors, one by one. ((const float4 *)x)[i] loads the four as one, and a warp gets 512 bytes with one request.", "target"),
            Hint("Of n elements, the last n % 4 are no whole float4: some threads must copy them one by one.", like=copy4_whole),
            Hint("((float4 *)y)[i] is float4 i, and there are n / 4 whole ones. The elements behind them, from n / 4 * 4 on, must be copied one by one.", "bounds"),
            Hint("Each element has one thread that copies it.", "race"),
            Hint("Element 4 * i + k of x is part k of float4 i.", "result"),
        ),
        "A request for 16 bytes per lane keeps four times as many bytes in flight. The price is a tail, and an address that is a multiple of 16.",
        (
            Wrong("    if (i < n % 4) y[n / 4 * 4 + i] = x[n / 4 * 4 + i];\n", "", "no whole float4"),
            Wrong("i < n / 4", "i < (n + 3) / 4", "n / 4 whole ones"),
            Wrong("i < n % 4", "i == n / 4", "n / 4 whole ones"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 5, "requests to load from global memory"),),
    ),
    Exercise(
        "transpose_tile",
        """
__global__ void transpose_tile(const float *a, float *b, int rows, int columns) {
    int column = blockIdx.x * 8 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}
""",
        """
__global__ void transpose_tile(const float *a, float *b, int rows, int columns) {
    __shared__ float tile[8][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    if (row < rows && column < columns) tile[ty][tx] = a[row * columns + column];
    __syncthreads();
    column = blockIdx.y * 8 + tx, row = blockIdx.x * 8 + ty;
    if (row < columns && column < rows) b[row * rows + column] = tile[tx][ty];
}
""",
        transpose_tile,
        (Launch((1, 1), (8, 8), (whole(36).reshape(6, 6), untouched(36).reshape(6, 6), 6, 6)), Launch((2, 3), (8, 8), (whole(384).reshape(24, 16), untouched(384).reshape(16, 24), 24, 16))),
        (
            Hint("The stores of a warp go to 8 rows of b, 4 elements each. Leave the tile in shared memory, and let threads that are neighbors in x write neighbors of one row of b.", "target"),
            Hint("The tiles are where they belong, but each is still as in a: write tile[tx][ty].", like=not_turned),
            Hint("A thread writes what another one has loaded: a barrier must be between.", "shared race"),
            Hint("Test the row and the column before a is read, and again before b is written: b has `columns` rows of `rows` elements.", "global bounds"),
            Hint("A thread writes an element that none has loaded. Where does the block's tile belong in b?", "uninitialised"),
            Hint("The tile of block (x, y) in a is tile (y, x) of b.", "result|global race"),
        ),
        "Both the loads and the stores go along rows now. The turn happens in shared memory, where rows of 9 words instead of 8 keep a column's words in different banks.",
        (
            Wrong("    __syncthreads();\n", "", "a barrier must be between"),
            Wrong("tile[tx][ty];", "tile[ty][tx];", "each is still as in a|none has loaded"),
            Wrong("column = blockIdx.y * 8 + tx, row = blockIdx.x * 8 + ty;", "column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;", "Where does|is tile"),
            Wrong("row < columns && column < rows", "row < rows && column < columns", "Test the row|none has loaded|is tile"),
        ),
        FOUR,
    ),
    Exercise(
        "row_sums",
        (("tile[32][9]", "tile[32][8]"),),
        """
__global__ void row_sums(const float *x, float *sums) {
    __shared__ float tile[32][9];
    int t = threadIdx.x, first = blockIdx.x * 32;
    for (int j = t; j < 32 * 8; j += 32) tile[j / 8][j % 8] = x[first * 8 + j];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += tile[t][k];
    sums[first + t] = sum;
}
""",
        row_sums,
        (Launch(1, 32, (whole(256).reshape(32, 8), untouched(32))), Launch(2, 32, (whole(512).reshape(64, 8), untouched(64)))),
        (
            Hint("The sums must come from the tile: a lane that reads a row of x takes a sector of its own.", "target", "sectors"),
            Hint("Rows of 8 words: the rows of lanes 0 and 4 begin in the same bank. With rows of 9 words, 32 lanes begin in 32 banks.", "target"),
            Hint("A thread adds what other threads have loaded: wait for them first.", "shared race"),
            Hint("Element j of the rows is element j % 8 of row j / 8. Each has 8 elements, whatever the length of the tile's rows.", "result"),
            Hint("Only 8 elements of each row of the tile are loaded: the last one is unused.", "uninitialised", r"\[8\]"),
            Hint("The threads load 32 * 8 elements, for 32 rows of the tile.", "uninitialised"),
            Hint("The tile has 32 rows of 8 elements, and one unused.", "bounds"),
        ),
        "Rows of 9 words, or another odd number, begin in 32 different banks: the declaration is all that needs to change.",
        (
            Wrong("tile[t][k]", "x[(first + t) * 8 + k]", "must come from the tile"),
            Wrong("tile[32][9]", "tile[32][16]", "32 banks"),
            Wrong("k < 8", "k < 9", "the last one is unused"),
            Wrong("    __syncthreads();\n", "", "wait for them first"),
        ),
        (FOUR[0], Target("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0, "bank conflicts of the loads")),
    ),
    Exercise(
        "histogram",
        """
__global__ void histogram(const int *x, int *counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&counts[x[i]], 1);
}
""",
        """
__global__ void histogram(const int *x, int *counts, int n) {
    __shared__ int of_block[8];
    if (threadIdx.x < 8) of_block[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&of_block[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);
}
""",
        histogram,
        (Launch(2, 8, (whole(30, 8, "i4"), np.zeros(8, "i4"), 30)), Launch(2, 64, (whole(600, 8, "i4"), np.zeros(8, "i4"), 580))),
        (
            Hint("Every element sends an atomic operation across the chip. Count in shared memory, and let each block add its 8 counts in the end.", "target"),
            Hint("The blocks share `counts`: they must add atomically there, too.", "race", r"counts\["),
            Hint("Several threads of a block find the same number at once: they must count atomically in shared memory, too.", "race", "instead of"),
            Hint("Clear the counts, wait, count, wait, and add them to those of the grid.", "shared race"),
            Hint("Shared memory has no values at first: 8 threads write a 0 each.", "uninitialised"),
            Hint("All 8 bins of a block are added to those of the grid: by 8 threads, one each.", "missing"),
            Hint("Each of the n elements adds 1 to the bin that it names, once: the blocks share the elements.", "result"),
            Hint("There are 8 bins, and of_block[x[i]] is that of element x[i]. Threads 0 to 7 clear them and add them, one each.", "shared bounds"),
            Hint("There are 8 bins: threads 0 to 7 add them, one each.", "bounds", r"counts\["),
            Hint("Only elements below n exist: test i < n.", "bounds"),
        ),
        "The block's own counts absorb all collisions. Global memory sees as many atomic operations as there are bins, not elements.",
        (
            Wrong("    if (threadIdx.x < 8) of_block[threadIdx.x] = 0;\n", "", "write a 0 each"),
            Wrong("atomicAdd(&of_block[x[i]], 1)", "of_block[x[i]] += 1", "count atomically"),
            Wrong("&of_block[x[i]]", "&of_block[i]", "that of element"),
            Wrong("i += gridDim.x * blockDim.x", "i += blockDim.x", "the blocks share"),
            Wrong("if (threadIdx.x < 8) atomicAdd", "if (threadIdx.x == 0) atomicAdd", "All 8 bins"),
            Wrong("    __syncthreads();\n    if (threadIdx.x < 8) atomicAdd", "    if (threadIdx.x < 8) atomicAdd", "Clear the counts, wait"),
            Wrong("atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x])", "counts[threadIdx.x] += of_block[threadIdx.x]", "atomically there, too"),
        ),
        (Target("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 2, "sectors of atomic additions to global memory"),),
    ),
    Exercise(
        "gather_rows",
        (("(blockIdx.x * blockDim.x + threadIdx.x) / 8, k = threadIdx.x % 8;\n    if (i < n", "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        for (int k = 0; k < 8; ++k"),),
        """
__global__ void gather_rows(const float *table, const int *rows, float *y, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 8, k = threadIdx.x % 8;
    if (i < n) y[i * 8 + k] = table[rows[i] * 8 + k];
}
""",
        gather_rows,
        (
            Launch(1, 32, (whole(32).reshape(4, 8), np.array([2, 0, 3], "i4"), untouched(24).reshape(3, 8), 3)),
            Launch(4, 64, (whole(400).reshape(50, 8), whole(32, 50, "i4"), untouched(256).reshape(32, 8), 32)),
        ),
        (
            Hint("In each round, 32 threads access 32 rows, which are 32 sectors. Let eight threads copy one row together, an element each.", "target"),
            Hint("Row i of y is row rows[i] of the table, not row i.", like=gather_wrong_rows),
            Hint("There are n rows to copy: test i < n.", "idle"),
            Hint("Eight threads in a row have the same i, so i is the thread's index divided by 8, and each of the eight its own k.", "race"),
            Hint("Thread t of the grid copies element k = t % 8 of row i = t / 8: from table[8 * rows[i] + k] to y[8 * i + k].", "bounds|result"),
        ),
        "The rows may be anywhere, but a row of 32 bytes is one sector, and eight lanes use all of it.",
        (
            Wrong("rows[i] * 8", "i * 8", "not row i"),
            Wrong("if (i < n) ", "", "test i < n"),
            Wrong(") / 8", ") / 32", "Thread t of the grid|Eight threads"),
            Wrong("k = threadIdx.x % 8", "k = threadIdx.x / 8", "Eight threads|Thread t"),
        ),
        FOUR,
    ),
    Exercise(
        "binomial",
        (("__constant__", "__device__"),),
        """
__constant__ int weights[5] = {1, 4, 6, 4, 1};

__global__ void binomial(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i >= n) return;
    for (int k = 0; k < 5; ++k) sum += weights[k] * x[i + k];
    y[i] = sum;
}
""",
        binomial,
        (Launch(2, 8, (whole(17, dtype="i4"), untouched(13, "i4"), 13)), Launch(2, 64, (whole(132, dtype="i4"), untouched(128, "i4"), 128))),
        (
            Hint("Half of the loads fetch the weights, which are the same for all threads. Declare them in constant memory: __constant__ instead of __device__.", "target"),
            Hint("y has n elements, x four more: test i < n.", "idle"),
            Hint("Every y[i] is the sum of weights[k] * x[i + k] over five k.", "result|bounds"),
            Hint("Each thread writes an element of its own.", "race"),
        ),
        "Constant memory has a cache of its own, which gives one word to all lanes at once. It suits tables that all lanes of a warp read at the same index.",
        (
            Wrong("__constant__ int", "__device__ volatile int", "Half of the loads"),
            Wrong("{1, 4, 6, 4, 1}", "{1, 4, 6, 4}", "over five k"),
            Wrong("if (i >= n) return;", "", "four more"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 20, "requests to load from global memory"),),
    ),
    Exercise(
        "by_warp",
        ((" < n / 2 ? 2 * t : 2 * (t - n / 2) + 1", ""),),
        """
__global__ void by_warp(const int *x, int *y, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = t < n / 2 ? 2 * t : 2 * (t - n / 2) + 1;
    if (i >= n) return;
    int value = x[i];
    if (i % 2 == 0)
        for (int k = 0; k < 6; ++k) value = value * value % 101;
    else
        for (int k = 0; k < 6; ++k) value = (3 * value + 1) % 97;
    y[i] = value;
}
""",
        by_warp,
        (Launch(2, 8, (whole(16, dtype="i4"), untouched(16, "i4"), 16)), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4"), 128))),
        (
            Hint("Each warp has even and odd elements, so it executes both loops. Let the first half of the threads take the even elements, and the second half the odd ones.", "target"),
            Hint("Two threads take the same element.", "race"),
            Hint("Thread n / 2 takes element 1, and the one behind it element 3.", "bounds"),
            Hint("Even elements take the first loop and odd ones the second: test i, whichever thread takes it.", "value"),
            Hint("All n elements must be computed: 0, 2, 4, ... by the first half of the threads, and 1, 3, 5, ... by the second half.", "result"),
        ),
        "Which thread takes which element is yours to choose: where all lanes of a warp take the same branch, it executes one of the loops. (The price of such an order: every request touches twice as many sectors.)",
        (
            Wrong("if (i % 2 == 0)", "if (t % 2 == 0)", "test i, whichever"),
            Wrong("2 * (t - n / 2) + 1", "2 * t + 1", "All n elements|element 1"),
            Wrong("2 * (t - n / 2) + 1", "2 * (t - n / 2)", "same element"),
            Wrong("t < n / 2 ? 2 * t : 2 * (t - n / 2) + 1", "t ^ 1", "executes both loops"),
        ),
        (Target("smsp__sass_branch_targets_threads_divergent.sum", 0, "divergent branches"),),
    ),
)  # fmt: skip
