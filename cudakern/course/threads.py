"""Exercises of notebook 02: threads, blocks and grids."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Target, Wrong, untouched, whole


def squares(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n] ** 2


def add_to_all(x: Any, by: int, n: int) -> None:
    x[:n] += by


def mirror(image: Any, out: Any, width: int, height: int) -> None:
    rows = image.ravel()[: width * height].reshape(height, width)
    out.reshape(-1)[: width * height] = rows[:, ::-1].ravel()


def reverse_blocks(x: Any) -> None:
    x[:] = x.reshape(-1, 64)[:, ::-1].ravel()


def saxpy(a: float, x: Any, y: Any, n: int) -> None:
    y[:n] += a * x[:n]


def times(a: float, x: Any, y: Any, n: int) -> None:
    y[:n] = a * x[:n]


def _neighbors(mode: Any, x: Any, y: Any, n: int) -> None:
    padded = np.pad(x[:n], 1, mode=mode)
    y[:n] = padded[:-2] + padded[1:-1] + padded[2:]


neighbors = partial(_neighbors, "edge")
around = partial(_neighbors, "wrap")
with_zeros = partial(_neighbors, "constant")


def volume(v: Any, nx: int, ny: int, nz: int) -> None:
    z, y, x = np.indices((nz, ny, nx))
    v[:] = np.ravel(100 * z + 10 * y + x)


def lanes(warp: Any, lane: Any) -> None:
    lanes_of_grid(warp, lane, 40 if warp.size == 80 else 96)


def lanes_of_grid(warp: Any, lane: Any, block: int = 1024) -> None:
    warp[:], lane[:] = np.divmod(np.arange(warp.size) % block, 32)


def votes(x: Any, counts: Any, n: int) -> None:
    counts[:] = np.pad(x[:n] > 4, (0, 32 * counts.size - n)).reshape(-1, 32).sum(axis=1)


def vote_masks(x: Any, counts: Any, n: int) -> None:
    yes = np.pad(x[:n] > 4, (0, 32 * counts.size - n))
    counts[:] = np.packbits(yes, bitorder="little").view("i4")


def slopes(x: Any, y: Any) -> None:
    y[:] = np.diff(x.reshape(-1, 32), append=x[31::32, None]).ravel()


def slopes_up(x: Any, y: Any) -> None:
    y[:] = -np.diff(x.reshape(-1, 32), prepend=x[::32, None]).ravel()


def above_min(x: Any, y: Any) -> None:
    rows = x.reshape(-1, 32)
    y[:] = (rows - rows.min(axis=1, keepdims=True)).ravel()


def only_min(x: Any, y: Any) -> None:
    y[:] = x.reshape(-1, 32).min(axis=1).repeat(32)


def above_those_behind(x: Any, y: Any) -> None:
    for i in range(x.size):  # a lane adds nothing new once it has met the last one
        y[i] = x[i] - x[i : i // 32 * 32 + 32].min()


def _times(which: Callable[[Any], int], x: Any, y: Any) -> None:
    for warp in range(0, x.size, 32):
        row = x[warp : warp + 32]
        y[warp : warp + 32] = row * row[which(np.flatnonzero(row))]


times_first = partial(_times, lambda found: found[0])
times_last = partial(_times, lambda found: found[-1])
times_second = partial(_times, lambda found: found[0] + 1)
times_lane_0 = partial(_times, lambda found: 0)


def stencil(x: Any, y: Any, n: int) -> None:
    y[:n] = np.convolve(x[:n], np.ones(5, x.dtype), "same")


EXERCISES = (
    Exercise(
        "squares",
        "",
        """
__global__ void squares(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i];
}
""",
        squares,
        (Launch(1, 32, (whole(32), untouched(32), 32)), Launch(4, 256, (whole(1024), untouched(1024), 1000))),
        (
            Hint("A thread whose element is n or more must not write: test i < n.", "idle|outside"),
            Hint("y[i] is x[i] times itself.", "value"),
            Hint("The element of a thread is blockIdx.x * blockDim.x + threadIdx.x. A thread whose element is n or more must not write: test i < n."),
        ),
        "With n = 1000, 24 of the 1024 threads do nothing. Without a test they would write beyond the end of the array, into memory that may belong to something else.",
        (
            Wrong("if (i < n) ", "", r"y\[1000\] is .*, not -1.0 .* test i < n"),
            Wrong("i < n", "i <= n", r"y\[1000\]"),
            Wrong("blockIdx.x * blockDim.x + ", "", r"squares.cu:4: .* y\[0\], which thread 0 .*All blocks use the same elements"),
            Wrong("int n", "int count", r"does not accept it.*squares.cu:4:.* error: .*n"),
            Wrong("squares(", "square(", r"name must be squares: unknown kernel 'squares'"),
            Wrong("float", "double", r"must be a float64 array, not float32"),
            Wrong("i < n", "i < n && __ballot_sync(1, 1)", r"the mask must contain the calling lane"),
            Wrong("y[i] = x[i] * x[i];", "y[i] = x[i] * x[i], y[0] = x[0] * x[0];", r"squares.cu:4: .*y\[0\], .*orders the"),
        ),
    ),
    Exercise(
        "add_to_all",
        "",
        """
__global__ void add_to_all(int *x, int by, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] += by;
}
""",
        add_to_all,
        (Launch(1, 8, (whole(32, dtype=np.int32), 3, 29)), Launch(2, 32, (whole(1024, dtype=np.int32), 3, 1000)), Launch(4, 256, (whole(1024, dtype=np.int32), -1, 100))),
        (
            Hint("The elements from n on stay as they are, and the loop ends there: test i < n.", "bounds|outside"),
            Hint("Each element below n becomes larger by `by`, once.", "value"),
            Hint("Two threads add to one element. Go on by the number of threads in the whole grid, gridDim.x * blockDim.x.", "race"),
            Hint("A thread begins with its own element, and each turn of the loop goes on by the number of threads in the whole grid, gridDim.x * blockDim.x, while the element is less than n."),
        ),
        "Such a loop over the grid is right for every grid and every n. For n less than the number of threads, it is the test i < n.",
        (
            Wrong("; i += gridDim.x * blockDim.x)", "; i = n)", r"After add_to_all\[1, 8\] with .*, x\[8\]"),
            Wrong("gridDim.x * ", "", r"x\[32\], which .* nothing orders the two.*Go on by the number of threads"),
        ),
    ),
    Exercise(
        "mirror",
        "",
        """
__global__ void mirror(const unsigned char *image, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + width - 1 - x] = image[y * width + x];
}
""",
        mirror,
        (
            Launch(1, (8, 4), (whole(24, 99, np.uint8).reshape(4, 6), np.full((4, 6), 255, np.uint8), 6, 4)),
            Launch((5, 4), (16, 16), (whole(80 * 64, 250, np.uint8), np.full(80 * 64, 255, np.uint8), 76, 62)),
        ),
        (
            Hint("The mirror image of the first pixel of a row, x = 0, is the last one, width - 1. So that of x is width - 1 - x.", "bounds", r"thread \(0, "),
            Hint("There are threads to the right of the picture and below it, and beyond the end of a row, the next one begins: test both x < width and y < height.", "idle|outside"),
            Hint("A row has `width` pixels, so pixel (x, y) is element y * width + x.", "race"),
            Hint("x comes from blockIdx.x, y from blockIdx.y. Pixel (x, y) is element y * width + x, and its mirror image is element y * width + width - 1 - x. Test both x < width and y < height."),
        ),
        "For 76 x 62 pixels, 5 x 4 blocks of 16 x 16 threads are 80 x 64 threads: some are beyond the right edge and below the picture.",
        (
            Wrong("width - 1 - x", "width - x", "first pixel of a row"),
            Wrong(" && y < height", "", r"out\[4712\] is .*, not 255"),
            Wrong(" + width - 1 - x]", " + x]", r"out\[0\]"),
        ),
    ),
    Exercise(
        "reverse_blocks",
        "",
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
            Hint("Let the elements go through an array that the block shares: __shared__ int tile[64].", "target"),
            Hint("The last element of a tile of 64 is tile[63]: thread t takes tile[63 - t].", "bounds", "tile"),
            Hint("The first thread takes the last element of the tile: thread t takes tile[63 - t].", "result"),
            Hint("An element must be in the tile before another thread overwrites it. Block b has the elements from 64 * b on.", "global race|global bounds"),
            Hint("Thread t stores its element in tile[t] and then reads tile[63 - t], which another thread stores. Between the two, all threads must wait: __syncthreads()."),
        ),
        "All elements are read before the barrier and written after it. Without it, a thread could overwrite an element that another one has not read yet.",
        (
            Wrong("__syncthreads();", "", "nothing orders the two.*all threads must wait"),
            Wrong("__shared__ int", "int", "a variable of its own"),
            Wrong("blockIdx.x * 64 + ", "", "All blocks use the same elements"),
            Wrong("63 - threadIdx.x", "64 - threadIdx.x", r"tile\[63\]: thread t"),
            Wrong("__syncthreads();", "if (threadIdx.x < 32) __syncthreads();", "out of the if"),
            Wrong("__shared__ int tile[64];\n    int i = blockIdx.x * 64 + threadIdx.x;\n    tile[threadIdx.x] = x[i];\n    __syncthreads();\n    x[i] = tile[63 - threadIdx.x];",
                  "int first = blockIdx.x * 64, value = x[first + 63 - threadIdx.x];\n    __syncthreads();\n    x[first + threadIdx.x] = value;", "go through an array that the block shares"),
        ),
        (Target("smsp__sass_inst_executed_op_shared_ld.sum", np.inf, "loads from shared memory", least=1),),
    ),
    Exercise(
        "saxpy",
        (("int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) ", "for (int i = 0; i < n; ++i)\n        "),),
        """
__global__ void saxpy(float a, const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
""",
        saxpy,
        (Launch(2, 8, (2.0, whole(13), whole(14)[:13], 13)), Launch(4, 64, (3.0, whole(256), whole(257)[:256], 200))),
        (
            Hint("y[i] is added, too: the new y[i] is a * x[i] plus the old one.", like=times),
            Hint("More threads run than there are elements: test i < n.", "bounds"),
            Hint("Each y[i] with i < n becomes a * x[i] + y[i], once.", "result"),
            Hint("Two threads have the same i: it is blockIdx.x * blockDim.x + threadIdx.x.", "race"),
        ),
        "A loop whose rounds do not depend on each other becomes a grid: its body stays, and its counter is the thread's index.",
        (
            Wrong("if (i < n) ", "for (int i = 0; i < n; ++i) ", "Every thread does the work of all"),
            Wrong(" + y[i]", "", r"plus the old one"),
            Wrong("if (i < n) ", "", "test i < n"),
            Wrong("if (i < n) y[i] = a * x[i] + y[i];", "if (i < n) y[i] += a * x[i] + y[i];", "once"),
        ),
    ),
    Exercise(
        "neighbors",
        (("max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)", "i - 1] + x[i] + x[i + 1"),),
        """
__global__ void neighbors(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)];
}
""",
        neighbors,
        (Launch(2, 8, (whole(12, dtype="i4"), untouched(12, "i4"), 12)), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4"), 128))),
        (
            Hint("A thread whose i is n or more must do nothing.", "idle"),
            Hint("Thread 0 has no left neighbor. Let it use element 0 instead: max(i - 1, 0).", "bounds", r"x\[-1\]|before"),
            Hint("The last element has no right neighbor. Let it use itself instead: min(i + 1, n - 1).", "bounds", r"\bx\["),
            Hint("At the ends, the missing neighbor counts as the element itself, not as the one at the other end.", like=around),
            Hint("At the ends, the missing neighbor counts as the element itself, not as 0.", like=with_zeros),
            Hint("y[i] is the sum of x[i] and its two neighbors. At the ends, the element itself counts for the missing one.", "result"),
        ),
        "An index that is clamped, as by max(i - 1, 0), stays in the array, and no thread needs a branch of its own.",
        (
            Wrong("if (i < n) ", "", "i is n or more"),
            Wrong("max(i - 1, 0)", "i - 1", r"max\(i - 1, 0\)"),
            Wrong("min(i + 1, n - 1)", "i + 1", r"min\(i \+ 1, n - 1\)"),
            Wrong("x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]", "x[(i + n - 1) % n] + x[i] + x[(i + 1) % n]", "the other end"),
            Wrong("x[max(i - 1, 0)] + x[i] + x[min(i + 1, n - 1)]", "(i ? x[i - 1] : 0) + x[i] + (i + 1 < n ? x[i + 1] : 0)", "not as 0"),
        ),
    ),
    Exercise(
        "volume",
        (("int z = blockIdx.z * blockDim.z + threadIdx.z;\n    if (x < nx && y < ny && z < nz) v[(z * ny + y) * nx + x] = 100 * z +", "if (x < nx && y < ny) v[y * nx + x] ="),),
        """
__global__ void volume(int *v, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) v[(z * ny + y) * nx + x] = 100 * z + 10 * y + x;
}
""",
        volume,
        (Launch((1, 1, 2), (4, 2, 2), (untouched(24, "i4"), 3, 2, 4)), Launch((2, 2, 1), (4, 4, 4), (untouched(8 * 5 * 3, "i4"), 8, 5, 3))),
        (
            Hint("Each of the three coordinates has a limit of its own, nx, ny and nz: beyond the end of a row, the next one begins.", "idle"),
            Hint("Threads that differ only in z write the same element: z belongs in the index, too.", "race", r"thread \((\d+), (\d+), \d+\) of block .* thread \(\1, \2, \d+\)"),
            Hint("A layer has ny rows of nx elements, so z * ny + y rows come before a thread's row. An element becomes 100 * z + 10 * y + x."),
        ),
        "Memory has one dimension. With each further one, multiply what there is by the next length and add the next coordinate.",
        (
            Wrong("(z * ny + y) * nx + x", "y * nx + x", "z belongs in the index"),
            Wrong("(z * ny + y) * nx + x", "(x * ny + y) * nz + z", "so z \\* ny \\+ y rows"),
            Wrong("(z * ny + y) * nx + x", "(z * nx + y) * ny + x", "so z \\* ny \\+ y rows"),
            Wrong("x < nx && y < ny", "x < ny && y < nx", "ny rows of nx"),
            Wrong(" && z < nz", "", "limit of its own"),
            Wrong("x < nx && ", "", "limit of its own"),
        ),
    ),
    Exercise(
        "lanes",
        (("    int t = threadIdx.y * blockDim.x + threadIdx.x;\n", ""), ("t / 32", "threadIdx.y"), ("t % 32", "threadIdx.x")),
        """
__global__ void lanes(int *warp, int *lane) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    warp[i] = t / 32;
    lane[i] = t % 32;
}
""",
        lanes,
        (Launch(2, (8, 5), (untouched(80, "i4"), untouched(80, "i4"))), Launch(3, (16, 6), (untouched(288, "i4"), untouched(288, "i4")))),
        (
            Hint("Each block begins with a warp of its own. Number the threads of the block, not those of the grid: t = threadIdx.y * blockDim.x + threadIdx.x.", like=lanes_of_grid),
            Hint("threadIdx.x counts the threads of one row of the block. A warp goes on into the next row: its threads are 32 in a row of t = threadIdx.y * blockDim.x + threadIdx.x.", "result"),
            Hint("i is right as it is: each thread of the grid has another one.", "race|bounds"),
        ),
        "The threads of a block are numbered along x first, and 32 of them are a warp. Its rows do not matter to the hardware, and no warp has threads of two blocks.",
        (
            Wrong("t % 32", "threadIdx.x % 32", "goes on into the next row"),
            Wrong("t / 32", "threadIdx.x / 32", "goes on into the next row"),
            Wrong("t = threadIdx.y * blockDim.x + threadIdx.x", "t = threadIdx.x", "goes on into the next row"),
            Wrong("t = threadIdx.y * blockDim.x + threadIdx.x", "t = threadIdx.x * blockDim.y + threadIdx.y", "goes on into the next row"),
            Wrong("t = threadIdx.y * blockDim.x + threadIdx.x", "t = i", "begins with a warp of its own"),
            Wrong("(blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x", "blockIdx.x * blockDim.x", "i is right as it is"),
        ),
    ),
    Exercise(
        "votes",
        """
__global__ void votes(const int *x, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 32 == 0) {
        int count = 0;
        for (int j = 0; j < 32; ++j) count += x[i + j] > 4;
        counts[i / 32] = count;
    }
}
""",
        """
__global__ void votes(const int *x, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lanes = __ballot_sync(0xffffffff, i < n && x[i] > 4);
    if (i % 32 == 0) counts[i / 32] = __popc(lanes);
}
""",
        votes,
        (Launch(1, 32, (whole(20, dtype="i4"), untouched(1, "i4"), 20)), Launch(2, 64, (whole(100, dtype="i4"), untouched(4, "i4"), 100))),
        (
            Hint("Lane 0 reads the elements of all lanes. Let each lane read its own, and vote: __ballot_sync(0xffffffff, ...).", "target"),
            Hint("Let each lane read its own element and vote, instead of lane 0 for all. A lane without an element votes no.", "bounds", "lane|thread 0 "),
            Hint("The result of a vote has a bit per lane, and __popc counts its bits.", like=vote_masks),
            Hint("counts has one element per warp: lane 0 of warp w writes counts[w].", "bounds", "counts"),
            Hint("Each warp has a count, which its lane 0 writes: i % 32 == 0.", "missing"),
            Hint("Test i < n within the vote, before x[i] is read: i < n && x[i] > 4.", "bounds"),
            Hint("One lane of each warp should write the count.", "race"),
            Hint("counts has one element per warp: the number of its elements that are greater than 4.", "result"),
        ),
        "A vote asks all lanes at once. A lane that has no element votes no, and one that has ended counts as no.",
        (
            Wrong("__popc(lanes)", "lanes", "counts its bits"),
            Wrong("counts[i / 32]", "counts[i]", "one element per warp"),
            Wrong("i < n && ", "", "within the vote"),
            Wrong("if (i % 32 == 0) ", "", "One lane of each warp"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 4, "requests to load from global memory"),),
    ),
    Exercise(
        "slopes",
        (("int mine = x[i];\n    int next = __shfl_down_sync(0xffffffff, mine, 1);\n    y[i] = next - mine", "y[i] = i % 32 < 31 ? x[i + 1] - x[i] : 0"),),
        """
__global__ void slopes(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = x[i];
    int next = __shfl_down_sync(0xffffffff, mine, 1);
    y[i] = next - mine;
}
""",
        slopes,
        (Launch(1, 32, (whole(32, dtype="i4"), untouched(32, "i4"))), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4")))),
        (
            Hint("Each warp loads twice. The next element is already in a register of the next lane: __shfl_down_sync(0xffffffff, mine, 1).", "target"),
            Hint("__shfl_up_sync fetches the value of the lane below, and __shfl_down_sync that of the lane above.", like=slopes_up),
            Hint("y[i] is the next element of the same warp less x[i], and 0 for lane 31.", "result"),
        ),
        "A shuffle passes registers between the lanes of a warp. Lane 31, which has no lane above it, gets its own value.",
        (
            Wrong("__shfl_down_sync", "__shfl_up_sync", "that of the lane above"),
            Wrong("__shfl_down_sync(0xffffffff, mine, 1)", "i % 32 < 31 ? x[i + 1] : mine", "loads twice"),
            Wrong("    int next = __", "    int next = 0;\n    if (i % 32 < 31) next = __", "neither in an if"),
            Wrong("int next = __shfl_down_sync(0xffffffff, mine, 1);\n    y[i] = next - mine", "y[i] = i % 32 < 31 ? __shfl_down_sync(0xffffffff, mine, 1) - mine : 0", r"behind \?"),
            Wrong("next - mine", "mine - next", "less x"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 4, "requests to load from global memory"),),
    ),
    Exercise(
        "above_min",
        (("__shfl_xor_sync", "__shfl_down_sync"),),
        """
__global__ void above_min(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int least = x[i];
    for (int offset = 16; offset > 0; offset /= 2)
        least = min(least, __shfl_xor_sync(0xffffffff, least, offset));
    y[i] = x[i] - least;
}
""",
        above_min,
        (Launch(1, 32, (np.roll(whole(32, 90, "i4") + 5, 7), untouched(32, "i4"))), Launch(2, 64, (whole(128, 1000, "i4") + 5000, untouched(128, "i4")))),
        (
            Hint("y[i] is what x[i] has above the minimum.", like=only_min),
            Hint(
                "Only lane 0 knows the minimum of all lanes in the end. Let both lanes of a pair get the smaller value: __shfl_xor_sync(0xffffffff, least, offset) exchanges the values of lanes i and i ^ offset.",
                like=above_those_behind,
            ),
            Hint("y[i] is x[i] less the minimum.", "result", "-1 times"),
            Hint("Each lane must hear of all others: take the smaller value for the offsets 16, 8, 4, 2 and 1.", "result"),
        ),
        "With xor, the lanes of each pair exchange their values, so after five steps every lane has the result. With down, only lane 0 has it, and must tell it to the others.",
        (
            Wrong("offset = 16", "offset = 8", "for the offsets 16"),
            Wrong("x[i] - least", "least", "above the minimum"),
            Wrong("least = min(", "least = max(", "the smaller value"),
        ),
    ),
    Exercise(
        "times_first",
        (("__ffs(__ballot_sync(0xffffffff, x[i] != 0)) - 1", "0"),),
        """
__global__ void times_first(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int source = __ffs(__ballot_sync(0xffffffff, x[i] != 0)) - 1;
    y[i] = x[i] * __shfl_sync(0xffffffff, x[i], source);
}
""",
        times_first,
        (Launch(1, 32, (whole(32, dtype="i4") * (np.arange(32) > 6), untouched(32, "i4"))), Launch(2, 64, (-whole(128, dtype="i4") * (np.arange(128) % 32 > 9), untouched(128, "i4")))),
        (
            Hint("Lane 0 has a 0. Ask all lanes which of them has not, __ballot_sync(0xffffffff, x[i] != 0), and take the lowest of them.", like=times_lane_0),
            Hint("__ffs counts bits from 1: the lowest lane is one less.", like=times_second),
            Hint("__clz finds the highest bit that is set, and the first lane is the lowest one: __ffs.", like=times_last),
            Hint("All lanes vote, and all have a result: none may return before.", "missing"),
            Hint("y[i] is x[i] times the first element that is not 0.", "result", "the same"),
            Hint("source is the lowest lane whose bit is set in the vote.", "result"),
        ),
        "A vote can find the lane, and a shuffle take its value to all others. Nothing of this needs memory.",
        (
            Wrong(" - 1;", ";", "one less"),
            Wrong("__ffs(__ballot_sync(0xffffffff, x[i] != 0)) - 1", "31 - __clz(__ballot_sync(0xffffffff, x[i] != 0))", "lowest one"),
            Wrong("x[i] != 0)) - 1", "x[i] == 0)) - 1", "which of them has not"),
        ),
    ),
    Exercise(
        "stencil",
        """
__global__ void stencil(const int *x, int *y, int n) {
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x;
    tile[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = tile[t - 2] + tile[t - 1] + tile[t] + tile[t + 1] + tile[t + 2];
}
""",
        """
__global__ void stencil(const int *x, int *y, int n) {
    __shared__ int tile[64 + 4];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 2;
    tile[t] = i < n ? x[i] : 0;
    if (threadIdx.x < 2) {
        tile[t - 2] = i >= 2 ? x[i - 2] : 0;
        tile[t + 64] = i + 64 < n ? x[i + 64] : 0;
    }
    __syncthreads();
    if (i < n) y[i] = tile[t - 2] + tile[t - 1] + tile[t] + tile[t + 1] + tile[t + 2];
}
""",
        stencil,
        (Launch(2, 64, (whole(127, dtype="i4"), untouched(127, "i4"), 127)), Launch(1, 64, (whole(64, dtype="i4"), untouched(64, "i4"), 64)), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4"), 127))),
        (
            Hint("The tile needs two more elements on each side, 68 in all, so thread t's own element is tile[t + 2].", "bounds", "tile"),
            Hint("A thread whose i is n or more has no element: it loads 0, and writes nothing.", "idle"),
            Hint("Elements before the first one and behind the last one count as 0, and must not be read.", "bounds"),
            Hint("A thread reads what others have loaded: a barrier must be between.", "shared race"),
            Hint("Each element is loaded by five threads. Load it into the tile once, and the halo by two threads of the block.", "target"),
            Hint("y[i] is the sum of the five elements from x[i - 2] to x[i + 2], also where another block has them. Those that do not exist count as 0.", "result"),
            Hint("The tile has elements that no thread has loaded: the halo is two on each side.", "uninitialised"),
        ),
        "The block fetches its 64 elements and a halo of 4, where single threads would fetch 320.",
        (
            Wrong("__syncthreads();", "", "barrier must be between"),
            Wrong("        tile[t + 64] = i + 64 < n ? x[i + 64] : 0;\n", "", "halo is two on each side|count as 0"),
            Wrong("i >= 2 ? x[i - 2] : 0", "x[i - 2]", "must not be read"),
            Wrong("    if (i < n) y", "    y", "writes nothing"),
            Wrong("i + 64 < n", "i + 64 <= n", "must not be read"),
            Wrong("tile[64 + 4]", "tile[64]", "68 in all"),
            Wrong(": 0;\n    }\n    __syncthreads();", ": 0;\n        __syncthreads();\n    }", "out of the if"),
        ),
        (Target("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 8, "requests to load from global memory"),),
    ),
)  # fmt: skip
