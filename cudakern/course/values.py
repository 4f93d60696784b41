"""Exercises of notebook 10: where values live."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def pack_bits(flags: Any, words: Any, n: int) -> None:
    words[:n] = np.packbits(flags[: 32 * n], bitorder="little").view("u4")


def pack_backwards(flags: Any, words: Any, n: int) -> None:
    words[:n] = np.packbits(flags[: 32 * n].reshape(-1, 32)[:, ::-1], bitorder="little").view("u4")


def shared_table(x: Any, table: Any, y: Any, n: int) -> None:
    y[:n] = table[x[:n]]


def moving_sum(x: Any, y: Any, rows: int, columns: int) -> None:
    y[:] = np.cumsum(x, axis=0)
    y[4:] -= np.cumsum(x, axis=0)[:-4]


def running_sum(x: Any, y: Any, rows: int, columns: int) -> None:
    y[:] = np.cumsum(x, axis=0)


def bincount(x: Any, counts: Any) -> None:
    counts += np.bincount(x, minlength=counts.size).astype(counts.dtype)


def one_per_group(x: Any, counts: Any) -> None:
    for warp in range(0, x.size, 32):
        counts[np.unique(x[warp : warp + 32])] += 1


def largest(x: Any, result: Any, n: int) -> None:
    result[0] = max(result[0], x[:n].max())


def largest_of_bits(x: Any, result: Any, n: int) -> None:
    result.view("i4")[0] = max(result.view("i4")[0], x[:n].view("i4").max())


RISING = np.sort(whole(60, 1000)) - 2000

EXERCISES = (
    Exercise(
        "pack_bits",
        """
__global__ void pack_bits(const unsigned char *flags, unsigned *words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    words[i] = 0;
    for (int k = 0; k < 32; ++k) words[i] |= (unsigned)flags[32 * i + k] << k;
}
""",
        """
__global__ void pack_bits(const unsigned char *flags, unsigned *words, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = 0;
    for (int k = 0; k < 32; ++k) word |= (unsigned)flags[32 * i + k] << k;
    words[i] = word;
}
""",
        pack_bits,
        (Launch(1, 2, (whole(32, 2, "u1"), untouched(1, "i4").view("u4"), 1)), Launch(2, 8, (whole(480, 2, "u1"), untouched(15, "i4").view("u4"), 15))),
        (
            Hint("Each flag takes a trip to global memory and back. Collect the bits in a variable of the thread, and store it once.", "target"),
            Hint("Flag 0 is the lowest bit of its word.", like=pack_backwards),
            Hint("All threads share this word: give each a variable of its own.", "race"),
            Hint("Bit k of words[i] is flags[32 * i + k], for k from 0 to 31.", "result"),
            Hint("There are n words, and 32 * n flags.", "bounds"),
        ),
        "A variable of the thread is a register. The compiler may not do this by itself, because the store could change a flag: both are memory.",
        (
            Wrong("<< k", "<< (31 - k)", "lowest bit"),
            Wrong("k < 32", "k < 31", "from 0 to 31"),
            Wrong("if (i >= n) return;", "", "32 \\* n flags"),
            Wrong("words[i] = word", "words[0] = word", "of its own"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 2, "requests to store to global memory"),),
    ),
    Exercise(
        "shared_table",
        """
__global__ void shared_table(const int *x, const int *table, int *y, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = table[x[i]];
}
""",
        """
__global__ void shared_table(const int *x, const int *table, int *y, int n) {
    __shared__ int tile[128];
    for (int k = threadIdx.x; k < 128; k += blockDim.x) tile[k] = table[k];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[x[i]];
}
""",
        shared_table,
        (Launch(1, 8, (whole(16, 128, "i4"), whole(128, 1000, "i4"), untouched(16, "i4"), 16)), Launch(1, 64, (whole(512, 128, "i4"), whole(128, 1000, "i4"), untouched(512, "i4"), 512))),
        (
            Hint("32 random entries of the table are up to 32 sectors. Copy the table to shared memory first, with neighbors reading neighbors.", "target"),
            Hint("Who loads an entry and who uses it are different threads: wait between.", "shared race"),
            Hint("The table has 128 entries, and a block may have fewer threads: load it in a loop.", "uninitialised"),
            Hint("The table has 128 entries, x and y have n elements.", "bounds"),
            Hint("y[i] is entry x[i] of the table.", "result"),
        ),
        "Shared memory has 32 banks for 32 lanes, wherever they read. It pays off when each entry is used several times by the block.",
        (
            Wrong("for (int k = threadIdx.x; k < 128; k += blockDim.x) tile[k]", "int k = threadIdx.x;\n    tile[k]", "load it in a loop"),
            Wrong("    __syncthreads();\n", "", "wait between"),
            Wrong("k < 128", "k <= 128", "128 entries"),
            Wrong("tile[x[i]]", "table[x[i]] + 0 * tile[0]", "up to 32 sectors"),
        ),
        (Target("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 4, "sectors per request of the loads"),),
    ),
    Exercise(
        "moving_sum",
        """
__global__ void moving_sum(const int *x, int *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (int row = 0; row < rows; ++row) {
        int sum = 0;
        for (int r = max(row - 3, 0); r <= row; ++r) sum += x[r * columns + column];
        y[row * columns + column] = sum;
    }
}
""",
        """
__global__ void moving_sum(const int *x, int *y, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    int before[3] = {};
    for (int row = 0; row < rows; ++row) {
        int value = x[row * columns + column];
        y[row * columns + column] = before[0] + before[1] + before[2] + value;
        before[0] = before[1];
        before[1] = before[2];
        before[2] = value;
    }
}
""",
        moving_sum,
        (
            Launch(1, 8, (whole(30, dtype="i4").reshape(5, 6), untouched(30, "i4").reshape(5, 6), 5, 6)),
            Launch(2, 32, (whole(600, dtype="i4").reshape(10, 60), untouched(600, "i4").reshape(10, 60), 10, 60)),
        ),
        (
            Hint("Each element is loaded four times. Keep the three before in variables of the thread, and move them on in each row.", "target"),
            Hint("This sum keeps growing: the element four rows above must leave it.", like=running_sum),
            Hint("There are `columns` columns: the other threads do nothing.", "idle"),
            Hint("There are `rows` rows of `columns` elements, and each column has one thread.", "bounds|race"),
            Hint("y[row] is the sum of x[row] and the three elements above it, as far as they exist.", "result"),
        ),
        "Variables, and arrays whose indices are constants, live in registers. A ring with a moving index would be in local memory.",
        (
            Wrong("        before[0] = before[1];\n        before[1] = before[2];\n        before[2] = value;", "        before[0] += value;", "keeps growing"),
            Wrong("before[0] = before[1];\n        before[1] = before[2];", "before[1] = before[2];\n        before[0] = before[1];", "three elements above"),
            Wrong("if (column >= columns) return;", "", "other threads do nothing"),
            Wrong("int value = x[row * columns + column];", "int value = x[row * columns + column];\n        if (row > 2) before[0] = x[(row - 3) * columns + column];", "Keep the three"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 20, "requests to load from global memory"),),
    ),
    Exercise(
        "bincount",
        (("unsigned equal = __match_any_sync(0xffffffff, x[i]);\n    if (i % 32 == __ffs(equal) - 1) atomicAdd(&counts[x[i]], __popc(equal)", "atomicAdd(&counts[x[i]], 1"),),
        """
__global__ void bincount(const int *x, int *counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned equal = __match_any_sync(0xffffffff, x[i]);
    if (i % 32 == __ffs(equal) - 1) atomicAdd(&counts[x[i]], __popc(equal));
}
""",
        bincount,
        (Launch(1, 32, (whole(32, 4, "i4"), np.zeros(4, "i4"))), Launch(2, 64, (whole(128, 2, "i4") * 8, np.zeros(16, "i4")))),
        (
            Hint("Lanes with equal elements take turns. __match_any_sync(0xffffffff, x[i]) names the lanes with the same element: one of them can add for all.", "target"),
            Hint("One lane of each group adds, and it must add for all: the number of bits, __popc(equal).", like=one_per_group),
            Hint("x[i] names the count, for the warp as a whole.", "bounds", r"counts\["),
            Hint("Several warps add to the same count: use atomicAdd.", "race"),
            Hint("Of each group of equal lanes, one adds their number. The lowest is __ffs(equal) - 1.", "result"),
        ),
        "Where lanes agree first, one atomic operation per group is left. It helps most where atomics are slowest: if many elements are equal.",
        (
            Wrong("__popc(equal)", "1", "must add for all"),
            Wrong("__ffs(equal) - 1", "__ffs(equal)", "The lowest is"),
            Wrong("if (i % 32 == __ffs(equal) - 1) ", "", "one adds their number"),
            Wrong("atomicAdd(&counts[x[i]], __popc(equal))", "counts[x[i]] += __popc(equal)", "use atomicAdd"),
        ),
        (Target("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 8, "sectors of atomic additions"),),
    ),
    Exercise(
        "largest",
        """
__global__ void largest(const float *x, float *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > result[0]) result[0] = x[i];
}
""",
        """
__global__ void largest(const float *x, float *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int *word = (int *)result, old = atomicAdd(word, 0);
    while (x[i] > __int_as_float(old)) {
        int seen = atomicCAS(word, old, __float_as_int(x[i]));
        if (seen == old) break;
        old = seen;
    }
}
""",
        largest,
        (Launch(2, 8, (whole(13) - 4, np.full(1, -9, "f4"), 13)), Launch(2, 32, (RISING, np.full(1, -9999, "f4"), 60)), Launch(2, 32, (RISING[::-1].copy(), np.full(1, -9999, "f4"), 60))),
        (
            Hint("Between comparing and writing, another thread may have written more. atomicCAS(word, old, new) writes only if the word is still old, and returns what it was: try again until it was.", "race"),
            Hint("Another thread may change the word after it was read. atomicCAS(word, old, new) then writes nothing, and returns what it found: compare again, and try again until it returns `old`.", "lost"),
            Hint("The bits of negative floats, read as integers, are in the opposite order, so atomicMax of ints is not right for them.", like=largest_of_bits),
            Hint("Compare x[i] with the word as the float that it is, __int_as_float(old), and again with what was seen if the word has changed.", "result"),
            Hint("Only elements below n exist.", "bounds"),
        ),
        "Compare and swap makes any update atomic: read, compute, and write only if nobody came between.",
        (
            Wrong("    int *word = (int *)result, old = atomicAdd(word, 0);\n    while (x[i] > __int_as_float(old)) {\n        int seen = atomicCAS(word, old, __float_as_int(x[i]));\n        if (seen == old) break;\n        old = seen;\n    }\n",
                  "    atomicMax((int *)result, __float_as_int(x[i]));\n", "opposite order"),
            Wrong("x[i] > __int_as_float(old)", "x[i] > (float)old", "as the float"),
            Wrong("if (i >= n) return;", "", "below n exist"),
            Wrong("i >= n", "i >= n - 1", r"result\[0\] is"),
            Wrong("while (x[i] > __int_as_float(old)) {\n        int seen = atomicCAS(word, old, __float_as_int(x[i]));\n        if (seen == old) break;\n        old = seen;\n    }", "if (x[i] > __int_as_float(old)) atomicCAS(word, old, __float_as_int(x[i]));", "try again until|if the word has changed"),
            Wrong("while (x[i] > __int_as_float(old)) {\n        int seen = atomicCAS(word, old, __float_as_int(x[i]));\n        if (seen == old) break;\n        old = seen;\n    }", "if (x[i] > __int_as_float(old)) atomicExch(word, __float_as_int(x[i]));", "as the float|try again until"),
            Wrong("atomicCAS(word, old, __float_as_int(x[i]));", "old;\n        result[0] = x[i];", "atomicCAS"),
        ),
    ),
)  # fmt: skip
