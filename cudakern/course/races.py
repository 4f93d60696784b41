"""Exercises of notebook 07: kernels with a race, to be mended."""

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


def first_index(x: Any, at: Any, key: int, n: int) -> None:
    at[0] = min([at[0], *np.flatnonzero(x[:n] == key)])


def soften(x: Any, y: Any, rounds: int) -> None:
    y[:] = x
    for _ in range(rounds):
        padded = np.pad(y, 1, mode="edge")
        y[:] = padded[:-2] + padded[2:]


def soften_once(x: Any, y: Any, rounds: int) -> None:
    soften(x, y, 1)


def warp_product(x: Any, y: Any) -> None:
    y[:] = x.reshape(-1, 32).prod(axis=1)


def hand_over(x: Any, between: Any, state: Any, y: Any) -> None:
    between[:] = 2 * x
    state[:] = 2, 1
    y[:] = between[::-1]


def symmetric(a: Any, n: int) -> None:
    a[:] = np.tril(a) + np.tril(a, -1).T


def symmetric_from_above(a: Any, n: int) -> None:
    a[:] = np.triu(a) + np.triu(a, 1).T


def solve_lower(a: Any, b: Any, x: Any, n: int) -> None:
    for i in range(n):
        x[i] = b[i] - a[i, :i] @ x[:i]


EXERCISES = (
    Exercise(
        "total",
        (("atomicAdd(&sum[0], x[i])", "sum[0] += x[i]"),),
        """
__global__ void total(const int *x, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[0], x[i]);
}
""",
        total,
        (Launch(2, 32, (whole(64, dtype=np.int32), np.zeros(1, np.int32), 60)), Launch(4, 256, (whole(1024, dtype=np.int32), np.full(1, 7, np.int32), 1000))),
        (
            Hint("Each x[i] with i < n must be added once, and no other element.", "result"),
            Hint("One operation must read, add and write, so that no other thread comes between: atomicAdd(&sum[0], x[i]).", "race"),
            Hint("All elements are added to one word, sum[0].", "bounds"),
        ),
        "An atomic addition is whole: additions happen one after another, in any order. For many elements, let each warp or block add its own first, and send one atomic addition for all of them.",
        (
            Wrong("atomicAdd(", "atomicAdd_block(", r"leave _block out"),
            Wrong("if (i < n) ", "", "and no other element"),
        ),
        about=("atomicAdd",),
    ),
    Exercise(
        "steps",
        (("    __syncthreads();\n", ""),),
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
            Hint("y[t] is x[t] less the element before it, and y[0] is 0.", "result|bounds"),
            Hint("Between writing and reading the tile, all threads must wait for all others: threads 31 and 32 are in different warps, so __syncwarp() is not enough."),
        ),
        "After __syncthreads(), the whole tile has been written. __syncwarp() would leave one race: thread 32 reads what thread 31 of another warp writes.",
        (
            Wrong("__syncthreads();", "__syncwarp();", r"different warps"),
            Wrong("tile[t - 1] : 0", "tile[t - 1] : x[t]", r"y\[0\] is 0"),
        ),
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
        (Launch(2, 64, (whole(128, 100, np.int32), untouched(128, np.int32), 128)), Launch(1, 64, (whole(64, 100, np.int32), untouched(64, np.int32), 64))),
        (
            Hint("sums[i] is the sum of the distances from x[i] to all n elements.", "result"),
            Hint("The tile is read when all threads have written to it: a barrier comes between.", "race", r"writes tile.* reads in"),
            Hint("Nobody may write to the tile again before all have read it. That takes a second barrier, within the loop, after the reading.", "shared race"),
        ),
        "One barrier separates writing from reading, another one reading from the next writing. With two tiles in turn, the first is enough.",
        (
            Wrong("        __syncthreads();\n        for", "        for", "when all threads have written to it"),
            Wrong("tile[j])", "tile[t])", "sum of the distances"),
        ),
        about=("__syncthreads()",),
    ),
    Exercise(
        "from_first",
        (("    __syncwarp();\n", ""),),
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
            Hint("In each warp, lane 0 writes the word of its warp.", "uninitialised"),
            Hint("Each warp has a word of its own: first[warp].", "race", "one warp only"),
            Hint("The lanes of one warp must wait for each other between writing and reading.", "race"),
            Hint("Each warp has a word of its own: two in all.", "bounds"),
        ),
        "__syncwarp() makes the lanes of a warp wait for each other, and what they wrote visible to each other. __syncthreads() is right, too, but makes warps wait that share nothing.",
        (
            Wrong("__syncwarp();", "if (lane == 0) __syncwarp();", "out of the if"),
            Wrong("x[t] - first[warp]", "first[warp] - x[t]", "less the first element"),
        ),
        about=("__syncwarp()", "__syncthreads()"),
    ),
    Exercise(
        "smooth",
        (("x[i - 1] + x[i] + x[i + 1] : x[i]", "y[i - 1] + y[i] + y[i + 1] : y[i];\n    __syncthreads()"),),
        """
__global__ void smooth(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i > 0 && i < n - 1 ? x[i - 1] + x[i] + x[i + 1] : x[i];
    y[i] = sum;
}
""",
        smooth,
        (Launch(2, 32, (whole(64, 100, np.int32), whole(64, 100, np.int32), 64)), Launch(1, 64, (whole(64, 100, np.int32), whole(64, 100, np.int32), 64))),
        (
            Hint("y[i] is the sum of x[i - 1], x[i] and x[i + 1], and x[i] itself at both ends.", "result|bounds"),
            Hint("Nobody writes to x. A thread that reads x[i - 1], x[i] and x[i + 1] and writes y[i] has no race with any other."),
        ),
        "Each element of y now has one writer and no other reader, so the kernel needs no barrier. To smooth again, launch it again with the arrays exchanged: a launch waits for the one before it.",
        (
            Wrong("x[i - 1]", "y[i - 1]", r"Nobody writes to x"),
            Wrong("x[i + 1] : x[i]", "x[i + 1] : 0", "itself at both ends"),
        ),
    ),
    Exercise(
        "sum_of_blocks",
        (("        __threadfence();\n", ""),),
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
        (Launch(8, 32, (whole(256, 100, np.int32), untouched(8, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))),),
        (
            Hint("The last block adds the partial sums: the one before which gridDim.x - 1 others have counted.", "missing"),
            Hint("partial has the sum of each block, done[0] is their number, and sum[0] the sum of all.", "result"),
            Hint("Each block has a partial sum of its own: partial[blockIdx.x].", "race", "writes partial.* writes in"),
            Hint("Counting must be one step: atomicAdd(done, 1) returns how many blocks have counted before.", "race", r"done\["),
            Hint("Blocks end in any order: the one that counts last adds, before == gridDim.x - 1.", "race", r"writes partial.* reads in"),
            Hint("The same thread must write its partial sum, then call __threadfence(), and then count.", "global race"),
            Hint("The threads of a block wait for each other before they add to of_block, before it is read, and before `before` is.", "shared race"),
        ),
        "Who sees that a block has counted now also sees its partial sum. Thread 0 of the last block learns it from its own atomicAdd; if other threads read the partial sums, the barrier after the counting tells them.",
        (
            Wrong("__threadfence();\n        before = atomicAdd(done, 1);", "before = atomicAdd(done, 1);\n        __threadfence();", r"and then count"),
            Wrong("atomicAdd(done, 1)", "done[0]++", "Counting must be one step"),
            Wrong("before == gridDim", "blockIdx.x == gridDim", "the one that counts last"),
            Wrong("b < gridDim.x; ++b", "b < gridDim.x - 1; ++b", "the sum of all"),
        ),
        about=("__threadfence()",),
    ),
    Exercise(
        "first_index",
        ((") atomicMin(&at[0], i)", " && i < at[0]) at[0] = i"),),
        """
__global__ void first_index(const int *x, int *at, int key, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] == key) atomicMin(&at[0], i);
}
""",
        first_index,
        (Launch(2, 8, (whole(14, 4, "i4"), np.full(1, 14, "i4"), 2, 14)), Launch(2, 64, (whole(120, 20, "i4"), np.full(1, 120, "i4"), 6, 120)), Launch(2, 8, (np.arange(16, dtype="i4"), np.full(1, 16, "i4"), 15, 16))),
        (
            Hint("Comparing and writing must be one step, or a larger index may be written last: atomicMin(&at[0], i).", "race"),
            Hint("A thread whose i is n or more has no element.", "bounds"),
            Hint("at[0] becomes the smallest i with x[i] == key, if there is one.", "result"),
        ),
        "Minima can be taken in any order, so the smallest index stays, whichever thread comes last.",
        (
            Wrong("atomicMin(&at[0], i)", "at[0] = min(at[0], i)", "must be one step"),
            Wrong("atomicMin", "atomicMax", "smallest i"),
            Wrong("i < n && ", "", "no element"),
            Wrong("i < n && ", "i < n - 1 && ", "smallest i"),
            Wrong("blockIdx.x * blockDim.x + ", "", "smallest i"),
            Wrong("threadIdx.x;", "threadIdx.x + 1;", "no element|smallest i"),
        ),
        about=("atomicMin",),
    ),
    Exercise(
        "soften",
        """
__global__ void soften(const int *x, int *y, int rounds) {
    __shared__ int tile[64];
    int t = threadIdx.x, left = max(t - 1, 0), right = min(t + 1, 63);
    tile[t] = x[t];
    for (int round = 0; round < rounds; ++round) {
        __syncthreads();
        tile[t] = tile[left] + tile[right];
    }
    y[t] = tile[t];
}
""",
        """
__global__ void soften(const int *x, int *y, int rounds) {
    __shared__ int tile[2][64];
    int t = threadIdx.x, left = max(t - 1, 0), right = min(t + 1, 63);
    tile[0][t] = x[t];
    for (int round = 0; round < rounds; ++round) {
        const int *old = tile[round % 2];
        __syncthreads();
        tile[(round + 1) % 2][t] = old[left] + old[right];
    }
    y[t] = tile[rounds % 2][t];
}
""",
        soften,
        (Launch(1, 64, (whole(64, dtype="i4"), untouched(64, "i4"), 1)), Launch(1, 64, (whole(64, dtype="i4"), untouched(64, "i4"), 4))),
        (
            Hint("A barrier of the block comes between writing a tile and reading it, once in each round.", "race", r"tile\[\d+\]\[\d+\]"),
            Hint("A thread changes an element that its neighbors may still have to read. Use two tiles: each round reads the one and writes the other, and then they change places.", "race", r"tile\[\d+\]"),
            Hint("Each round must read the tile that the round before has written.", like=soften_once),
            Hint("A round reads the tile that nobody has written yet.", "uninitialised"),
            Hint("In each round, an element becomes the sum of its two neighbors. At the ends, it is its own neighbor.", "result"),
        ),
        "With two tiles, one barrier per round is enough: nobody writes what somebody still reads.",
        (
            Wrong("        __syncthreads();\n", "", "barrier of the block"),
            Wrong("tile[(round + 1) % 2][t]", "tile[round % 2][t]", "written yet"),
            Wrong("tile[rounds % 2][t]", "tile[1][t]", "becomes the sum|before has written"),
            Wrong("__syncthreads();", "__syncwarp();", "barrier of the block"),
        ),
    ),
    Exercise(
        "warp_product",
        ((" {\n        __syncwarp();", ""), ("    }\n", ""),),
        """
__global__ void warp_product(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x, lane = t % 32;
    tile[t] = x[t];
    for (int half = 16; half > 0; half /= 2) {
        __syncwarp();
        if (lane < half) tile[t] *= tile[t + half];
    }
    if (lane == 0) y[t / 32] = tile[t];
}
""",
        warp_product,
        (Launch(1, 32, (whole(32, 2, "i4") + 1, untouched(1, "i4"))), Launch(1, 64, (whole(64, 2, "i4") + 1, untouched(2, "i4")))),
        (
            Hint("Only the lanes below half multiply.", "shared race", "between the rounds"),
            Hint("The lanes of a warp need not run in step. Before each step, all of them wait: __syncwarp(), for all lanes.", "shared race"),
            Hint("Each step multiplies two elements. The steps have half = 16, 8, 4, 2 and 1.", "result"),
            Hint("y has one element per warp, which its lane 0 writes.", "missing"),
            Hint("y has one element per warp, which its lane 0 writes.", "bounds", r"\by\["),
            Hint("Only the lanes below half multiply: tile[t + half] must be in the tile.", "bounds"),
        ),
        "Older programs left the barrier out, because the lanes of a warp ran in step. Since Volta they need not. __syncwarp() costs next to nothing.",
        (
            Wrong("        __syncwarp();\n        if (lane < half)", "        if (lane < half) __syncwarp((1u << half) - 1);\n        if (lane < half)", "for all lanes"),
            Wrong("half = 16", "half = 8", "half = 16"),
            Wrong("if (lane < half) ", "", "Only the lanes"),
        ),
        about=("__syncwarp()", "__syncthreads()"),
    ),
    Exercise(
        "hand_over",
        """
__global__ void hand_over(const int *x, int *between, int *state, int *y) {
    __shared__ int ticket;
    int t = threadIdx.x;
    if (t == 0) {
        ticket = blockIdx.x;
        atomicAdd(&state[0], 1);
    }
    __syncthreads();
    if (ticket == 0) {
        between[t] = 2 * x[t];
        __threadfence();
        __syncthreads();
        if (t == 0) atomicExch(&state[1], 1);
    } else {
        if (t == 0) {
            while (atomicAdd(&state[1], 0) == 0) {}
            __threadfence();
        }
        __syncthreads();
        y[t] = between[blockDim.x - 1 - t];
    }
}
""",
        """
__global__ void hand_over(const int *x, int *between, int *state, int *y) {
    __shared__ int ticket;
    int t = threadIdx.x;
    if (t == 0) ticket = atomicAdd(&state[0], 1);
    __syncthreads();
    if (ticket == 0) {
        between[t] = 2 * x[t];
        __threadfence();
        __syncthreads();
        if (t == 0) atomicExch(&state[1], 1);
    } else {
        if (t == 0) {
            while (atomicAdd(&state[1], 0) == 0) {}
            __threadfence();
        }
        __syncthreads();
        y[t] = between[blockDim.x - 1 - t];
    }
}
""",
        hand_over,
        (
            Launch(2, 8, (whole(8, dtype="i4"), np.zeros(8, "i4"), np.zeros(2, "i4"), untouched(8, "i4"))),
            Launch(2, 64, (whole(64, dtype="i4"), np.zeros(64, "i4"), np.zeros(2, "i4"), untouched(64, "i4"))),
        ),
        (
            Hint("Block 1 may run first, and block 0 only when block 1 has ended. The block that comes first must be the one that writes: atomicAdd(&state[0], 1) gives it ticket 0.", "error", "for ever"),
            Hint("Thread 0 draws one ticket for its block, and the others learn it after a barrier.", "race", "ticket"),
            Hint("The block that writes: all write, each calls __threadfence(), a barrier, and one sets the flag. The block that reads: one sees the flag and calls __threadfence(), a barrier, and all read.", "race"),
            Hint("state[0] counts the tickets, state[1] is the flag, and y[t] is between[blockDim.x - 1 - t].", "result|bounds"),
        ),
        "A block may wait only for one that has already begun. Tickets number the blocks in the order in which they begin, whatever their blockIdx.",
        (
            Wrong("ticket = atomicAdd(&state[0], 1)", "ticket = blockIdx.x, atomicAdd(&state[0], 1)", "may run first"),
            Wrong("        __threadfence();\n        __syncthreads();\n        if", "        __syncthreads();\n        if", "The block that writes"),
            Wrong("        __syncthreads();\n        y[t]", "        y[t]", "The block that reads"),
            Wrong("    __syncthreads();\n    if (ticket", "    if (ticket", "after a barrier"),
        ),
        about=("atomicAdd(&state[0]",),
    ),
    Exercise(
        "symmetric",
        (("column < row)", "column < n)"),),
        """
__global__ void symmetric(int *a, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < row) a[column * n + row] = a[row * n + column];
}
""",
        symmetric,
        (Launch((1, 1), (5, 5), (whole(25, dtype="i4").reshape(5, 5), 5)), Launch((2, 2), (8, 8), (whole(169, dtype="i4").reshape(13, 13), 13))),
        (
            Hint("Elements (row, column) and (column, row) are exchanged by two threads at once. Only those below the diagonal, column < row, should be copied.", "race"),
            Hint("The triangle below the diagonal is the one to keep.", like=symmetric_from_above),
            Hint("Only elements with row < n exist.", "bounds"),
            Hint("Each element above the diagonal becomes equal to its mirror image below.", "result"),
        ),
        "In place, an element is either read or written: as only one half is copied, no thread reads what another one writes.",
        (
            Wrong("column < row)", "column > row && column < n)", "the one to keep"),
            Wrong("row < n && ", "", "row < n exist"),
        ),
    ),
    Exercise(
        "solve_lower",
        """
__global__ void solve_lower(const int *a, const int *b, int *x, int n) {
    __shared__ int known;
    int row = threadIdx.x, value = b[row];
    for (int k = 0; k < n; ++k) {
        if (row == k) known = value;
        if (row > k) {
            __syncthreads();
            value -= a[row * n + k] * known;
        }
    }
    x[row] = value;
}
""",
        """
__global__ void solve_lower(const int *a, const int *b, int *x, int n) {
    __shared__ int known;
    int row = threadIdx.x, value = b[row];
    for (int k = 0; k < n; ++k) {
        if (row == k) known = value;
        __syncthreads();
        if (row > k) value -= a[row * n + k] * known;
        __syncthreads();
    }
    x[row] = value;
}
""",
        solve_lower,
        (
            Launch(1, 5, (np.tril(whole(25, 3, "i4").reshape(5, 5)), whole(5, dtype="i4"), untouched(5, "i4"), 5)),
            Launch(1, 40, (np.tril(whole(1600, 3, "i4").reshape(40, 40) * (np.arange(1600).reshape(40, 40) % 7 == 0)), whole(40, dtype="i4"), untouched(40, "i4"), 40)),
        ),
        (
            Hint("x[k] must be stored before others use it, and used by all before the next one replaces it: two barriers in each round.", "shared race"),
            Hint("x[row] is b[row] less a[row * n + k] times what row k has found, `known`, for each k < row.", "result"),
        ),
        "Each round needs the one before, so there are n of them, and in each all remaining rows go on at once. Such a chain is what limits this kernel.",
        (
            Wrong("        __syncthreads();\n    }", "    }", "two barriers"),
            Wrong("        __syncthreads();\n        if (row > k)", "        if (row > k)", "two barriers"),
            Wrong("if (row > k)", "if (row >= k)", "for each k < row"),
        ),
    ),
)  # fmt: skip
