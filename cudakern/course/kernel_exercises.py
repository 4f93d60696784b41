"""The exercises that are kernels: solutions, a hint for each, and the same computation in NumPy.

A notebook sets `answer` to CUDA C++ and calls `check("name", answer)`, which compiles it, launches the kernel where its accesses
are checked, and compares every array with NumPy's. A wrong answer shows what is wrong, and the notebook goes on. Look below only
when you have tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import cudakern as ck

#: What a kernel does may depend on the order in which its threads run.
ORDERS = ("fixed", "reversed", "seed:1")


@dataclass(frozen=True)
class Launch:
    grid: Any
    block: Any
    inputs: tuple[Any, ...]


@dataclass(frozen=True)
class KernelExercise:
    name: str  # of the kernel
    launches: tuple[Launch, ...]
    numpy: Callable[..., None]  # changes the arrays as the kernel should
    hint: str
    why: str
    solution: str
    missing: str = ""  # what the notebook leaves out of it; "": the whole body
    mistakes: tuple[tuple[str, str], ...] = ()  # or (right, wrong): parts of it that the notebook has wrong
    result: str = ""  # the hint if only the results are wrong; "": the same
    about: tuple[str, ...] = ()  # what `why` is about: an answer may do without

    @property
    def begun(self) -> str:
        """The kernel that the reader mends; "" if there is none."""
        text = self.solution if self.mistakes else ""
        for right, wrong in self.mistakes:
            text = text.replace(right, wrong)
        return text

    def check(self, answer: object) -> tuple[bool | None, str, str]:
        """Whether the answer is right (None: not answered), a sentence, and the compiler's message if there is one."""
        if not isinstance(answer, str | None):
            return False, f"The answer is CUDA C++ in a string, not {answer!r:.60}.", ""
        body = self.solution.replace(self.missing, "") if self.missing else self.solution.partition("{")[0] + "{}"
        if answer is None or _code(answer) == _code(self.begun or body):
            what = "Add the missing lines" if self.missing else "Write the body of the kernel between the braces"
            what = "Mend the kernel" if self.begun else what
            return None, f"{what}, and run the cell again.", ""
        try:
            for order in ORDERS:
                if fault := self._fault(answer, order):
                    return False, fault, ""
            fault = "" if ck.backend().emulated else self._difference(answer)
        except ck.CompileError as error:
            return False, "The compiler does not accept it. Line 1 is the one with `answer =`.", str(error)
        except AttributeError as error:
            return False, f"The kernel's name must be {self.name}: {error}.", ""
        except (TypeError, ValueError, ck.CudaError) as error:
            return False, f"{error}.\n{self.hint}", ""
        if fault:
            return False, f"{fault}\n{self.result or self.hint}", ""
        is_other = self.about and not any(one in _code(answer) for one in self.about)
        return True, f"No race is left. Another way is {self.about[0]}. {self.why}" if is_other else self.why, ""

    def _fault(self, answer: str, order: str) -> str:
        """What the check finds, also if the results are right, or a result that is wrong; "" if there is neither."""
        differences: list[str] = []
        with _emulator(order):
            found = ck.check(lambda: differences.append(self._difference(answer)))
        difference = "".join(differences)
        if found:  # A race with wrong results may come from a wrong index, which the hint is about.
            return f"{found[0]}\n{self.hint}" if difference and found[0].kind == "race" else str(found[0])
        return f"{difference}\n{self.result or self.hint}" if difference else ""

    def _difference(self, answer: str) -> str:
        """The first result that differs from NumPy's; "" if none does."""
        kernel = ck.compile(answer, name="answer")[self.name]
        return next(filter(None, (self._difference_of(kernel, launch) for launch in self.launches)), "")

    def _difference_of(self, kernel: Any, launch: Launch) -> str:
        """The first element that differs from NumPy's; "" if none does."""
        results, expected = ([x.copy() if isinstance(x, np.ndarray) else x for x in launch.inputs] for _ in range(2))
        kernel[launch.grid, launch.block](*results)
        self.numpy(*expected)
        for declared, x, y in zip(kernel.parameters, results, expected, strict=True):
            wrong = np.flatnonzero(np.ravel(x) != np.ravel(y))
            if wrong.size:
                i, name = wrong[0], re.findall(r"\w+", declared)[-1]
                got, right = np.ravel(x)[i], np.ravel(y)[i]
                several = f" ({wrong.size:,} elements differ)" if wrong.size > 1 else ""
                return f"After {self.name}[{launch.grid}, {launch.block}], {name}[{i}] is {got}, not {right}{several}."
        return ""


def _code(text: str) -> str:
    """Without comments and spaces."""
    return re.sub(r"//.*|\s", "", text)


@contextmanager
def _emulator(order: str) -> Iterator[None]:
    ck.emulator.configure(order=order)
    try:
        with ck.use_backend("emulator"):
            yield
    finally:
        ck.emulator.configure(order="fixed")


def _whole(length: int, high: int = 10, dtype: Any = np.float32) -> Any:
    """Integers from 0 to high - 1, whose sums floats contain exactly."""
    return np.random.default_rng(length).integers(0, high, length).astype(dtype)


def _untouched(length: int, dtype: Any = np.float32) -> Any:
    """A result that is longer than needed: elements that no thread may write stay -1."""
    return np.full(length, -1, dtype)


# --- 02_first_steps --------------------------------------------------------------------------------------------------
def squares(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n] ** 2


def add_to_all(x: Any, by: int, n: int) -> None:
    x[:n] += by


def mirror(image: Any, out: Any, width: int, height: int) -> None:
    rows = image[: width * height].reshape(height, width)
    out[: width * height] = rows[:, ::-1].ravel()


def reverse_blocks(x: Any) -> None:
    x[:] = x.reshape(-1, 64)[:, ::-1].ravel()


# --- 03_sum_of_squares -----------------------------------------------------------------------------------------------
def strided_sums(x: Any, sums: Any, n: int) -> None:
    for thread in range(sums.size):
        sums[thread] = x[thread : n : sums.size].sum()


def block_max(x: Any, result: Any) -> None:
    result[:] = x.reshape(-1, 256).max(axis=1)


def warp_dot(x: Any, y: Any, result: Any, n: int) -> None:
    result[0] = x[:n] @ y[:n]


# --- 04_matrix_multiplication ----------------------------------------------------------------------------------------
def transpose(a: Any, b: Any, rows: int, columns: int) -> None:
    b[: rows * columns] = a[: rows * columns].reshape(rows, columns).T.ravel()


def times_transposed(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> None:
    c[: m * n] = (a[: m * k].reshape(m, k) @ b[: n * k].reshape(n, k).T).ravel()


def tiled(a: Any, b: Any, c: Any, n: int) -> None:
    c[: n * n] = (a[: n * n].reshape(n, n) @ b[: n * n].reshape(n, n)).ravel()


# --- 10_races --------------------------------------------------------------------------------------------------------
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


KERNELS = {
    # --- 02_first_steps ----------------------------------------------------------------------------------------------
    "squares": KernelExercise(
        "squares",
        (
            Launch(1, 32, (_whole(32), _untouched(32), 32)),
            Launch(4, 256, (_whole(1024), _untouched(1024), 1000)),
        ),
        squares,
        "The element of a thread is blockIdx.x * blockDim.x + threadIdx.x. A thread whose element is n or more must not "
        "write: test i < n.",
        "With n = 1000, 24 of the 1024 threads do nothing. Without the test they would write beyond the end of the "
        "array, into memory that may belong to something else.",
        r"""
__global__ void squares(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
""",
    ),
    "add_to_all": KernelExercise(
        "add_to_all",
        (
            Launch(2, 32, (_whole(1024, dtype=np.int32), 3, 1000)),
            Launch(4, 256, (_whole(1024, dtype=np.int32), -1, 100)),
        ),
        add_to_all,
        "A thread begins with its own element, and each turn of the loop goes on by the number of threads in the whole "
        "grid, gridDim.x * blockDim.x, while the element is less than n.",
        "Such a loop over the grid is right for every grid and every n. For n less than the number of threads, it is the "
        "test i < n.",
        r"""
__global__ void add_to_all(int *x, int by, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += by;
}
""",
    ),
    "mirror": KernelExercise(
        "mirror",
        (Launch((5, 4), (16, 16), (_whole(80 * 64, 250, np.uint8), np.full(80 * 64, 255, np.uint8), 76, 62)),),
        mirror,
        "x comes from blockIdx.x, y from blockIdx.y. Pixel (x, y) is element y * width + x, and its mirror image is "
        "element y * width + width - 1 - x. Test both x < width and y < height.",
        "5 x 4 blocks of 16 x 16 threads are 80 x 64 threads for 76 x 62 pixels: threads overlap on the right and below.",
        r"""
__global__ void mirror(const unsigned char *image, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + width - 1 - x] = image[y * width + x];
}
""",
    ),
    "reverse_blocks": KernelExercise(
        "reverse_blocks",
        (Launch(4, 64, (_whole(256, 1000, np.int32),)),),
        reverse_blocks,
        "Thread t stores its element in tile[t] and then reads tile[63 - t], which another thread stores. Between the two, all "
        "threads must wait: __syncthreads().",
        "After the barrier, the whole tile has been written. (Without shared memory, a thread could overwrite an element "
        "that another one has not read yet.)",
        r"""
__global__ void reverse_blocks(int *x) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    x[i] = tile[63 - threadIdx.x];
}
""",
    ),
    # --- 03_sum_of_squares -------------------------------------------------------------------------------------------
    "strided_sums": KernelExercise(
        "strided_sums",
        (
            Launch(2, 32, (_whole(1000, dtype=np.int32), _untouched(64, np.int32), 1000)),
            Launch(1, 32, (_whole(32, dtype=np.int32), _untouched(32, np.int32), 10)),
        ),
        strided_sums,
        "Thread t of T = gridDim.x * blockDim.x adds the elements t, t + T, t + 2 * T, ... that are less than n, and writes its sum even "
        "if it is 0.",
        "In every iteration, the 32 lanes of a warp read 32 neighbors: 4 sectors. With one contiguous chunk per thread it would be up "
        "to 32.",
        r"""
__global__ void strided_sums(const int *x, int *sums, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    for (int i = t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    sums[t] = sum;
}
""",
    ),
    "block_max": KernelExercise(
        "block_max",
        (Launch(4, 256, (_whole(1024, 1_000_000, np.int32), _untouched(4, np.int32))),),
        block_max,
        "Store one element per thread in shared memory. In each step, the threads below half = 128, 64, ..., 1 take the "
        "larger of tile[t] and tile[t + half]. A barrier must come before each step, and all threads must reach it, so it is "
        "outside the if. Thread 0 writes the result.",
        "Eight steps instead of 255, and a barrier before each of them. Any operation whose order does not matter fits "
        "into this tree: sums, products, the largest, the smallest.",
        r"""
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
    ),
    "warp_dot": KernelExercise(
        "warp_dot",
        (
            Launch(1, 32, (_whole(1000, dtype=np.int32), _whole(1000, 7, np.int32), _untouched(1, np.int32), 1000)),
            Launch(1, 32, (_whole(32, dtype=np.int32), _whole(32, 7, np.int32), _untouched(1, np.int32), 9)),
        ),
        warp_dot,
        "Each lane adds its products, in a loop with step 32. Then sum += __shfl_down_sync(0xffffffff, sum, offset) for "
        "offset = 16, 8, 4, 2, 1 adds the sums of the lanes above, and lane 0 writes the result.",
        "Five steps, without shared memory and without a barrier: the lanes exchange registers.",
        r"""
__global__ void warp_dot(const int *x, const int *y, int *result, int n) {
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += x[i] * y[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x == 0) result[0] = sum;
}
""",
    ),
    # --- 04_matrix_multiplication ------------------------------------------------------------------------------------
    "transpose": KernelExercise(
        "transpose",
        (Launch((3, 2), (16, 16), (_whole(48 * 32, 100), _untouched(48 * 32), 20, 37)),),
        transpose,
        "Element (row, column) of a is a[row * columns + column]. The rows of b have `rows` elements, so it goes to "
        "b[column * rows + row]. Test both coordinates.",
        "The reads of a warp are neighbors, and its writes are `rows` elements apart. Tiles in shared memory would make both "
        "contiguous.",
        r"""
__global__ void transpose(const float *a, float *b, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) b[column * rows + row] = a[row * columns + column];
}
""",
    ),
    "times_transposed": KernelExercise(
        "times_transposed",
        (Launch((3, 2), (8, 8), (_whole(24 * 16), _whole(24 * 24), _untouched(24 * 16), 13, 21, 10)),),
        times_transposed,
        "c[row * n + column] is the sum of a[row * k + i] * b[column * k + i] over i from 0 to k - 1, because row `column` of b "
        "is a column of its transpose. Test row < m and column < n.",
        "Both operands are read along their rows. Two threads that are neighbors in x read elements of b that are k words apart, so "
        "this form needs tiles even more than the ordinary product.",
        r"""
__global__ void times_transposed(const float *a, const float *b, float *c, int m, int n, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
    c[row * n + column] = sum;
}
""",
    ),
    "tiled": KernelExercise(
        "tiled",
        (
            Launch((3, 3), (8, 8), (_whole(20 * 20), _whole(20 * 20 + 1)[:-1], _untouched(24 * 24), 20)),
            Launch((2, 2), (8, 8), (_whole(16 * 16), _whole(16 * 16 + 1)[:-1], _untouched(16 * 16), 16)),
        ),
        tiled,
        "When may a thread read a tile: when all threads have written to it. When may it write to a tile again: when all "
        "threads have read it. Each of the two needs a barrier, within the loop over the tiles.",
        "The first barrier separates writing from reading, the second one reading from the next writing. All threads reach "
        "both, also those outside the matrix.",
        r"""
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
        missing="__syncthreads();",
    ),
    # --- 10_races ----------------------------------------------------------------------------------------------------
    "total": KernelExercise(
        "total",
        (
            Launch(2, 32, (_whole(64, dtype=np.int32), np.zeros(1, np.int32), 60)),
            Launch(4, 256, (_whole(1024, dtype=np.int32), np.full(1, 7, np.int32), 1000)),
        ),
        total,
        "One operation must read, add and write, so that no other thread comes between: atomicAdd(&sum[0], x[i]).",
        "An atomic addition is whole: additions happen one after another, in any order. For many elements, let each warp or block add "
        "its own first, and send one atomic addition for all of them.",
        r"""
__global__ void total(const int *x, int *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum[0], x[i]);
}
""",
        mistakes=(("atomicAdd(&sum[0], x[i])", "sum[0] += x[i]"),),
        result="Each x[i] with i < n must be added once, and no other element.",
        about=("atomicAdd",),
    ),
    "steps": KernelExercise(
        "steps",
        (Launch(1, 64, (_whole(64, 1000, np.int32), _untouched(64, np.int32))),),
        steps,
        "Between line 5 and line 6, all threads must wait for all others: threads 31 and 32 are in different warps, so __syncwarp() is "
        "not enough.",
        "After __syncthreads(), the whole tile has been written. __syncwarp() would leave one race: thread 32 reads what thread 31 of "
        "another warp writes.",
        r"""
__global__ void steps(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = t > 0 ? x[t] - tile[t - 1] : 0;
}
""",
        mistakes=(("    __syncthreads();\n", ""),),
        result="y[t] is x[t] less the element before it, and y[0] is 0.",
        about=("__syncthreads()",),
    ),
    "distances": KernelExercise(
        "distances",
        (
            Launch(2, 64, (_whole(128, 100, np.int32), _untouched(128, np.int32), 128)),
            Launch(1, 64, (_whole(64, 100, np.int32), _untouched(64, np.int32), 64)),
        ),
        distances,
        "Nobody may write to the tile again before all have read it. That takes a second barrier, within the loop, after the reading.",
        "The first barrier separates writing from reading, the second one reading from the next writing. With two tiles in turn, one "
        "barrier would be enough.",
        r"""
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
        mistakes=(("        __syncthreads();\n    }", "    }"),),
        result="sums[i] is the sum of the distances from x[i] to all n elements.",
        about=("__syncthreads()",),
    ),
    "from_first": KernelExercise(
        "from_first",
        (Launch(1, 64, (_whole(64, 1000, np.int32), _untouched(64, np.int32))),),
        from_first,
        "The lanes of one warp must wait for each other between writing and reading, and all of them: not within the if.",
        "__syncwarp() makes the lanes of a warp wait for each other, and what they wrote visible to each other. __syncthreads() is right, "
        "too, but makes warps wait that share nothing.",
        r"""
__global__ void from_first(const int *x, int *y) {
    __shared__ int first[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (lane == 0) first[warp] = x[t];
    __syncwarp();
    y[t] = x[t] - first[warp];
}
""",
        mistakes=(("    __syncwarp();\n", ""),),
        result="y[t] is x[t] less the first element of its warp.",
        about=("__syncwarp()", "__syncthreads()"),
    ),
    "smooth": KernelExercise(
        "smooth",
        (
            Launch(2, 32, (_whole(64, 100, np.int32), _whole(64, 100, np.int32), 64)),
            Launch(1, 64, (_whole(64, 100, np.int32), _whole(64, 100, np.int32), 64)),
        ),
        smooth,
        "Nobody writes to x. A thread that reads x[i - 1], x[i] and x[i + 1] and writes y[i] has no race with any other.",
        "Each element of y now has one writer and no other reader, so the kernel does not even need its barrier. To smooth again, launch it "
        "again with the arrays exchanged: a launch waits for the one before it.",
        r"""
__global__ void smooth(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = i > 0 && i < n - 1 ? x[i - 1] + x[i] + x[i + 1] : x[i];
    y[i] = sum;
}
""",
        mistakes=(
            ("x[i - 1] + x[i] + x[i + 1] : x[i];\n", "y[i - 1] + y[i] + y[i + 1] : y[i];\n    __syncthreads();\n"),
        ),
        result="y[i] is the sum of x[i - 1], x[i] and x[i + 1], and x[i] itself at both ends.",
    ),
    "sum_of_blocks": KernelExercise(
        "sum_of_blocks",
        (
            Launch(
                8,
                32,
                (
                    _whole(256, 100, np.int32),
                    _untouched(8, np.int32),
                    np.zeros(1, np.int32),
                    np.zeros(1, np.int32),
                ),
            ),
        ),
        sum_of_blocks,
        "The same thread must write its partial sum, then call __threadfence(), and then count.",
        "Who sees that a block has counted now also sees its partial sum. Thread 0 of the last block learns it from its own atomicAdd; if other "
        "threads read the partial sums, the barrier after the counting tells them.",
        r"""
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
        mistakes=(("        __threadfence();\n", ""),),
        result="partial has the sum of each block, done[0] is their number, and sum[0] the sum of all.",
        about=("__threadfence()",),
    ),
}
