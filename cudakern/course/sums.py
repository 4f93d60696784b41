"""Exercises of notebook 04: sums."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def strided_sums(x: Any, sums: Any, n: int) -> None:
    for thread in range(sums.size):
        sums[thread] = x[thread : n : sums.size].sum()


def block_max(x: Any, result: Any) -> None:
    result[:] = x.reshape(-1, 256).max(axis=1)


def max_and_0(x: Any, result: Any) -> None:
    result[:] = x.reshape(-1, 256).max(axis=1, initial=0)


def max_of_first(x: Any, result: Any) -> None:
    result[:] = x[:256].max()


def warp_dot(x: Any, y: Any, result: Any, n: int) -> None:
    result[0] = x[:n] @ y[:n]


def block_sum(x: Any, sums: Any, n: int) -> None:
    sums[:] = np.pad(x[:n], (0, 128 * sums.size - n)).reshape(-1, 128).sum(axis=1)


def of_first_warp(x: Any, sums: Any, n: int) -> None:
    sums[:] = np.pad(x[:n], (0, 128 * sums.size - n)).reshape(-1, 128)[:, :32].sum(axis=1)


def packed_tree(x: Any, sums: Any) -> None:
    sums[:] = x.reshape(sums.size, -1).sum(axis=1)


def argmax(x: Any, at: Any) -> None:
    at[:] = x.reshape(-1, 32).argmax(axis=1)


def largest_at(*places: int) -> Any:
    x = whole(128, 5, np.int32)
    x[list(places)] = 9
    return x


def last_argmax(x: Any, at: Any) -> None:
    at[:] = 31 - x.reshape(-1, 32)[:, ::-1].argmax(axis=1)


def only_max(x: Any, at: Any) -> None:
    at[:] = x.reshape(-1, 32).max(axis=1)


def segments(x: Any, begins: Any, sums: Any, n: int) -> None:
    sums[:n] = [x[begins[i] : begins[i + 1]].sum() for i in range(n)]


def segments_too_long(x: Any, begins: Any, sums: Any, n: int) -> None:
    sums[:n] = [x[begins[i] : begins[i + 1] + 1].sum() for i in range(n)]


def count_above(x: Any, counts: Any, limit: int) -> None:
    counts[:] = (x.reshape(counts.size, -1) > limit).sum(axis=1)


def one_add(x: Any, result: Any, n: int) -> None:
    result[0] += x[:n].sum()


EXERCISES = (
    Exercise(
        "strided_sums",
        "",
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
            Launch(1, 8, (whole(30, dtype=np.int32), untouched(8, np.int32), 30)),
            Launch(2, 32, (whole(1000, dtype=np.int32), untouched(64, np.int32), 1000)),
            Launch(1, 32, (whole(32, dtype=np.int32), untouched(32, np.int32), 10)),
        ),
        (
            Hint("The elements end before n: test i < n.", "bounds", r"\bx\["),
            Hint("Thread t of T = gridDim.x * blockDim.x adds the elements t, t + T, t + 2 * T, ... that are less than n, and writes its sum even if it is 0."),
        ),
        "In every iteration, the 32 lanes of a warp read 32 neighbors: 4 sectors. With one contiguous chunk per thread it would be up to 32.",
        (
            Wrong("gridDim.x * blockDim.x)", "blockDim.x)", r"sums\[0\]"),
            Wrong("i < n", "i <= n", "test i < n"),
        ),
    ),
    Exercise(
        "block_max",
        "",
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
        (Launch(4, 256, (whole(1024, 1000, np.int32) - 1200, untouched(4, np.int32))),),
        (
            Hint("The tile of block b begins at element b * 256 of x.", like=max_of_first),
            Hint("The largest element may be negative: begin with an element, not with 0.", "result", like=max_and_0),
            Hint("Each step keeps the larger of two elements. The first step is half = 128, the last one half = 1.", "result"),
            Hint("Thread 0 of each block writes its result: result[blockIdx.x].", "global race|global bounds"),
            Hint("The tile has one element per thread: only the threads below half add one that is half further.", "bounds"),
            Hint(
                "Store one element per thread in shared memory. In each step, the threads below half = 128, 64, ..., 1 take the larger of tile[t] and tile[t + half]. A barrier must come before each step. Thread 0 writes the result.",
                "shared race|uninitialised",
            ),
        ),
        "A tree takes eight steps instead of 255, and a barrier before each of them. Any operation whose order does not matter fits into this tree: sums, products, the largest, the smallest.",
        (
            Wrong("__syncthreads();", "", r"which thread 0 .* A barrier must come before each step"),
            Wrong("__syncthreads();", "if (t < half) __syncthreads();", "has ended when the others .* out of the if"),
            Wrong("result[blockIdx.x]", "result[0]", "each block writes its result"),
            Wrong("if (t == 0) ", "if (t == 1) ", r"block_max.cu:10: thread 1 .* reads tile\[0\]"),
            Wrong("= tile[0]", "= max(0, tile[0])", "may be negative"),
        ),
    ),
    Exercise(
        "warp_dot",
        "",
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
            Hint("Only elements with i < n are multiplied.", "bounds"),
            Hint("Each lane adds its products, in a loop with step 32. Then sum += __shfl_down_sync(0xffffffff, sum, offset) for offset = 16, 8, 4, 2, 1 adds the sums of the lanes above, and lane 0 writes the result."),
        ),
        "Shuffles take five steps, without shared memory and without a barrier: the lanes exchange registers.",
        (
            Wrong("offset = 16", "offset = 8", r"result\[0\]"),
            Wrong("if (threadIdx.x == 0) ", "", r"warp_dot.cu:6: .*writes result\[0\].*lane 0 writes the result"),
        ),
    ),
    Exercise(
        "packed_tree",
        (("blockDim.x / 2; offset > 0; offset /", "1; offset < blockDim.x; offset *"), ("if (t < offset) tile[t] += tile[t", "int at = 2 * offset * t;\n        if (at < blockDim.x) tile[at] += tile[at"),),
        """
__global__ void packed_tree(const int *x, int *sums) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = x[blockIdx.x * blockDim.x + t];
    for (int offset = blockDim.x / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if (t < offset) tile[t] += tile[t + offset];
    }
    if (t == 0) sums[blockIdx.x] = tile[0];
}
""",
        packed_tree,
        (Launch(1, 16, (whole(16, dtype="i4"), untouched(1, "i4"))), Launch(2, 256, (whole(512, dtype="i4"), untouched(2, "i4")))),
        (
            Hint("Neighbors access words that are 2 * offset apart, and these share banks. Let thread t add words t and t + offset, with the largest offset first.", "target"),
            Hint("In a step, only the threads below offset add.", "shared race", "between the rounds"),
            Hint("Each step reads what the one before has written: a barrier comes before each.", "shared race"),
            Hint("In a step, only the threads below offset add, and the first offset is half the block.", "bounds|uninitialised"),
            Hint("Block b adds the elements from b * blockDim.x on.", "value", r"sums\[1\]"),
            Hint("The offsets are half the block, a quarter, and so on, down to 1.", "result"),
        ),
        "Both trees add the same number of times. But where neighbors read neighbors, 32 words are in 32 banks.",
        (
            Wrong("__syncthreads();", "", "barrier comes before each"),
            Wrong("if (t < offset) ", "", "only the threads below"),
            Wrong("offset > 0", "offset > 1", "down to 1"),
            Wrong("blockIdx.x * blockDim.x + t", "t", "from b \\* blockDim.x on"),
        ),
        (
            Target("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", 0, "bank conflicts of the loads"),
            Target("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", 0, "bank conflicts of the stores"),
        ),
    ),
    Exercise(
        "block_sum",
        """
__global__ void block_sum(const int *x, int *sums, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    int sum = i < n ? x[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
""",
        """
__global__ void block_sum(const int *x, int *sums, int n) {
    __shared__ int of_warp[4];
    int i = blockIdx.x * 128 + threadIdx.x;
    int sum = i < n ? x[i] : 0;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
}
""",
        block_sum,
        (Launch(1, 128, (whole(120, dtype="i4"), untouched(1, "i4"), 120)), Launch(2, 128, (whole(256, dtype="i4"), untouched(2, "i4"), 200))),
        (
            Hint("This is the sum of the first warp. Lane 0 of each of the four warps should leave its sum in shared memory.", like=of_first_warp),
            Hint("Thread 0 reads the sums of other warps: only after a barrier of the block.", "shared race"),
            Hint("A thread without an element takes part in the shuffles, with 0.", "bounds", r"\bx\["),
            Hint("Four warps need four words of shared memory, one for each.", "bounds"),
            Hint("Block b adds the x[i] from i = 128 * b on, with i < n. Each warp's sum is written once, by its lane 0, and all four are added.", "result"),
            Hint("Some warp has not written its sum.", "uninitialised"),
        ),
        "Registers first, then shared memory, takes one barrier and four words per block, where a tree in shared memory takes a barrier per step.",
        (
            Wrong("__syncthreads();", "__syncwarp();", "barrier of the block"),
            Wrong("threadIdx.x % 32 == 0", "threadIdx.x == 0", "Lane 0 of each of the four"),
            Wrong("i < n ? x[i] : 0", "x[i]", "with 0"),
            Wrong(" + of_warp[3]", "", "all four"),
        ),
    ),
    Exercise(
        "one_add",
        """
__global__ void one_add(const int *x, int *result, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&result[0], x[i]);
}
""",
        """
__global__ void one_add(const int *x, int *result, int n) {
    __shared__ int of_block;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    if (i < n) atomicAdd(&of_block, x[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&result[0], of_block);
}
""",
        one_add,
        (Launch(2, 8, (whole(14, dtype="i4"), np.full(1, 3, "i4"), 14)), Launch(4, 64, (whole(256, dtype="i4"), np.zeros(1, "i4"), 250))),
        (
            Hint("All threads of the grid take turns at one word of global memory. Let those of a block add in shared memory, and one of them send the sum.", "target"),
            Hint("The blocks of the grid meet at result[0]: there, too, the addition must be atomic.", "race", r"result\[0\]"),
            Hint("Several threads add to the sum of the block at once: there, too, the addition must be atomic.", "shared race", "instead of"),
            Hint("Between clearing the sum, adding to it and reading it, all threads of the block wait.", "shared race"),
            Hint("Threads without an element add nothing, but they reach the barriers.", "bounds"),
            Hint("Shared memory has no values at first: one thread writes 0.", "uninitialised"),
            Hint("What is added once per block is added once: by one thread. But every x[i] with i < n must be.", "result"),
        ),
        "Atomic additions in shared memory stay on the multiprocessor. Only one per block crosses the chip.",
        (
            Wrong("    if (threadIdx.x == 0) of_block = 0;\n", "", "one thread writes 0"),
            Wrong("of_block = 0;\n    __syncthreads();", "of_block = 0;", "all threads of the block wait"),
            Wrong("if (threadIdx.x == 0) atomicAdd(&result[0], of_block)", "atomicAdd(&result[0], of_block)", "by one thread"),
            Wrong("if (threadIdx.x == 0) atomicAdd(&result[0], of_block)", "if (threadIdx.x == 0) result[0] += of_block", "must be atomic"),
        ),
        (Target("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", 4, "sectors of atomic additions to global memory"),),
    ),
    Exercise(
        "argmax",
        """
__global__ void argmax(const int *x, int *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int most = x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        most = max(most, __shfl_down_sync(0xffffffff, most, offset));
    if (i % 32 == 0) at[i / 32] = most;
}
""",
        """
__global__ void argmax(const int *x, int *at) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int most = x[i], where = i % 32;
    for (int offset = 16; offset > 0; offset /= 2) {
        int other = __shfl_down_sync(0xffffffff, most, offset);
        int there = __shfl_down_sync(0xffffffff, where, offset);
        if (other > most || (other == most && there < where)) {
            most = other;
            where = there;
        }
    }
    if (i % 32 == 0) at[i / 32] = where;
}
""",
        argmax,
        (Launch(1, 32, (whole(32, dtype="i4"), untouched(1, "i4"))), Launch(2, 64, (largest_at(0, 52, 81, 89, 127) - 2000, untouched(4, "i4")))),
        (
            Hint("This is the largest element itself. Its lane must go with it through the shuffles, in a second variable.", like=only_max),
            Hint("Of several largest elements, the last one has won. The first one should.", like=last_argmax),
            Hint("at has one element per warp, which its lane 0 writes: at[i / 32].", "missing|bounds", r"\bat\["),
            Hint("at is the lane of the largest element, from 0 to 31. Where two elements are equal, the one in the lower lane wins.", "result"),
        ),
        "A value and its lane must travel together from lane to lane. The rule for equal elements makes the result independent of the order of comparisons.",
        (
            Wrong(" || (other == most && there < where)", "", "lower lane wins"),
            Wrong("offset = 16", "offset = 8", "lane of the largest"),
            Wrong("i % 32 == 0", "i % 32 == 1", "lane of the largest"),
            Wrong("there < where", "there > where", "last one has won"),
            Wrong("            where = there;\n", "", "lower lane wins"),
            Wrong("        int there = __shfl_down_sync(0xffffffff, where, offset);\n        if (other > most || (other == most && there < where)) {\n",
                  "        if (other >= most) {\n            int there = __shfl_down_sync(0xffffffff, where, offset);\n", "neither in an if"),
        ),
    ),
    Exercise(
        "segments",
        ((">= n) return;\n    int sum = 0;\n    for (int j = begins[i]; j < begins[i + 1]; ++j) sum += x[j];\n    sums[i] = sum", "< n) sums[i] = x[begins[i]]"),),
        """
__global__ void segments(const int *x, const int *begins, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int j = begins[i]; j < begins[i + 1]; ++j) sum += x[j];
    sums[i] = sum;
}
""",
        segments,
        (
            Launch(1, 8, (whole(20, dtype="i4") + 1, np.array([0, 3, 3, 8, 12, 13, 20], "i4"), untouched(6, "i4"), 6)),
            Launch(2, 32, (whole(160, dtype="i4"), np.minimum(np.arange(41, dtype="i4") * 4 + 1, 160).astype("i4"), untouched(40, "i4"), 40)),
        ),
        (
            Hint("A segment ends before the next one begins: j < begins[i + 1].", "bounds", r"reads x\["),
            Hint("A segment ends before the next one begins: j < begins[i + 1].", like=segments_too_long),
            Hint("There are n segments, and n + 1 elements of begins.", "bounds"),
            Hint("Each thread adds its own segment, from begins[i] up to begins[i + 1]. An empty segment has the sum 0.", "result"),
            Hint("Each thread has a segment of its own.", "race"),
        ),
        "One array of begins describes rows of any length, also empty ones. Sparse matrices are stored that way.",
        (
            Wrong("j < begins[i + 1]", "j <= begins[i + 1]", "ends before the next"),
            Wrong("if (i >= n) return;", "", "n segments"),
            Wrong("int sum = 0;", "int sum = x[begins[i]];", "An empty segment|ends before"),
            Wrong("begins[i + 1]; ++j", "begins[i]; ++j", "adds its own segment"),
        ),
    ),
    Exercise(
        "count_above",
        (("int count = __syncthreads_count(x[i] > limit);\n    if (threadIdx.x == 0) counts[blockIdx.x] = count", "if (x[i] > limit) counts[blockIdx.x] += 1"),),
        """
__global__ void count_above(const int *x, int *counts, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(x[i] > limit);
    if (threadIdx.x == 0) counts[blockIdx.x] = count;
}
""",
        count_above,
        (Launch(2, 8, (whole(16, dtype="i4"), untouched(2, "i4"), 4)), Launch(2, 64, (whole(128, dtype="i4"), untouched(2, "i4"), 6))),
        (
            Hint("All threads change one word. __syncthreads_count(condition) is a barrier that returns for how many threads of the block the condition is true.", "race", "instead of"),
            Hint("Thread 0 of each block writes its count: counts[blockIdx.x].", "race|bounds", r"counts\["),
            Hint("counts[b] is for how many threads of block b x[i] > limit.", "result"),
        ),
        "A barrier can also count, or say whether all threads agree (__syncthreads_and) or any (__syncthreads_or).",
        (
            Wrong("int count = __syncthreads_count(x[i] > limit);", "int count = 0;\n    if (x[i] > limit) count = __syncthreads_count(1);", "must reach the barrier"),
            Wrong("counts[blockIdx.x] = count", "counts[blockIdx.x] += count", "assign it"),
            Wrong("if (threadIdx.x == 0) counts[blockIdx.x] = count;", "if (x[i] > limit) counts[blockIdx.x] += 1;", "All threads change"),
            Wrong("counts[blockIdx.x] = count", "counts[threadIdx.x] = count", "Thread 0 of each block"),
        ),
        about=("__syncthreads_count",),
    ),
)  # fmt: skip
