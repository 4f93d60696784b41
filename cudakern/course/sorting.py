"""Exercises of notebook 09: sorting and scans."""

from typing import Any

import numpy as np

from .exercise import Exercise, Hint, Launch, Wrong, untouched, whole


def odd_even(x: Any, n: int) -> None:
    x[:n] = np.sort(x[:n])


def rank_sort(x: Any, y: Any, n: int) -> None:
    y[:n] = np.sort(x[:n])


def taken_from_rank(x: Any, y: Any, n: int) -> None:
    y[:n] = x[:n][np.argsort(np.argsort(x[:n], kind="stable"))]


def merge(a: Any, b: Any, y: Any, n: int) -> None:
    y[:] = np.sort(np.concatenate([a, b]))


def counting_sort(x: Any, y: Any, n: int) -> None:
    y[:n] = np.sort(x[:n])


def bitonic_step(x: Any, distance: int, length: int) -> None:
    for i in range(x.size):
        other = i ^ distance
        if i < other and (x[i] > x[other]) == (i & length == 0):
            x[i], x[other] = x[other], x[i]


def opposite_step(x: Any, distance: int, length: int) -> None:
    bitonic_step(x, distance, length)
    x[:] = x[np.arange(x.size) ^ distance]


def ascending_step(x: Any, distance: int, length: int) -> None:
    bitonic_step(x, distance, 2 * x.size)


def split_by_bit(x: Any, y: Any, bit: int) -> None:
    for first in range(0, x.size, 64):
        block = x[first : first + 64]
        y[first : first + 64] = block[np.argsort(block >> bit & 1, kind="stable")]


def split_by_lowest(x: Any, y: Any, bit: int) -> None:
    split_by_bit(x, y, 0)


def bin_begins(x: Any, begins: Any, n: int, bins: int) -> None:
    begins[: bins + 1] = np.searchsorted(x[:n], np.arange(bins + 1))


def warp_scan(x: Any, y: Any) -> None:
    y[:] = x.reshape(-1, 32).cumsum(axis=1).ravel()


def compact(x: Any, y: Any) -> None:
    for warp in range(0, x.size, 32):
        kept = x[warp : warp + 32]
        kept = kept[kept > 0]
        y[warp : warp + kept.size] = kept


def holes(x: Any, y: Any) -> None:
    y[:] = np.where(x > 0, x, y)


def block_scan(x: Any, y: Any) -> None:
    y[:] = x.reshape(-1, 64).cumsum(axis=1).ravel()


def sweep(x: Any, y: Any) -> None:
    rows = x.reshape(-1, 64)
    y[:] = (rows.cumsum(axis=1) - rows).ravel()


_TWO_BLOCKS = r"\(block (\d+), .*\(block (?!\1,)"

EXERCISES = (
    Exercise(
        "odd_even",
        """
__global__ void odd_even(int *x, int n) {
    for (int round = 0; round < n; ++round) {
        int i = 2 * threadIdx.x + round % 2;
        if (i + 1 < n && x[i] > x[i + 1]) {
            int other = x[i];
            x[i] = x[i + 1];
            x[i + 1] = other;
            __syncthreads();
        }
    }
}
""",
        """
__global__ void odd_even(int *x, int n) {
    for (int round = 0; round < n; ++round) {
        int i = 2 * threadIdx.x + round % 2;
        if (i + 1 < n && x[i] > x[i + 1]) {
            int other = x[i];
            x[i] = x[i + 1];
            x[i + 1] = other;
        }
        __syncthreads();
    }
}
""",
        odd_even,
        (Launch(1, 4, (whole(8, 90, "i4"), 7)), Launch(1, 40, (whole(80, 1000, "i4"), 77))),
        (
            Hint("No two pairs of a round share an element: thread t has the one that begins at 2 * t or, in odd rounds, at 2 * t + 1.", "race", r"thread (\d+) \w+ x\[\1\]"),
            Hint("A pair of this round shares elements with pairs of the next one, so all threads must wait at the end of each round: also those that exchange nothing.", "race"),
            Hint("The last pair begins at element n - 2: test i + 1 < n.", "bounds"),
            Hint("The smaller element of a pair belongs in front.", "result", "opposite order"),
            Hint("After n rounds, in turn with the pairs (0, 1), (2, 3), ... and (1, 2), (3, 4), ..., all n elements are in order, and the others as they were.", "result"),
        ),
        "The pairs of one round have nothing in common, so they need no order. The rounds do, and a barrier of the block gives it.",
        (
            Wrong("        __syncthreads();\n", "", "wait at the end of each round"),
            Wrong("__syncthreads();", "__syncwarp();", "wait at the end of each round"),
            Wrong("i + 1 < n", "i < n", "element n - 2|the others as they were"),
            Wrong("round % 2", "0", "After n rounds"),
            Wrong("2 * threadIdx.x", "threadIdx.x", "No two pairs"),
        ),
    ),
    Exercise(
        "rank_sort",
        ((" || (x[j] == x[i] && j < i)", ""),),
        """
__global__ void rank_sort(const int *x, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, rank = 0;
    if (i >= n) return;
    for (int j = 0; j < n; ++j) rank += x[j] < x[i] || (x[j] == x[i] && j < i);
    y[rank] = x[i];
}
""",
        rank_sort,
        (Launch(2, 4, (whole(7, 6, "i4"), untouched(7, "i4"), 7)), Launch(2, 32, (whole(60, 50, "i4"), untouched(60, "i4"), 60))),
        (
            Hint("The rank is the number of smaller elements.", "result", "opposite order"),
            Hint("Two elements have the same rank. Count all smaller elements, and of equal ones those with a smaller index.", "race"),
            Hint("The rank is the place to which x[i] goes, not the one from which an element comes: y[rank] = x[i].", like=taken_from_rank),
            Hint("y[rank] is x[i], where the rank is the number of elements before x[i]. Of two equal ones, let the one with the smaller index come first.", "result", "not"),
            Hint("A thread whose i is n or more has no element.", "idle"),
            Hint("x and y have n elements. The rank is at most n - 1, since none is counted for itself.", "bounds"),
        ),
        "Each element finds its place alone: n² comparisons, but no thread waits. For a few elements per block this is fast.",
        (
            Wrong(" || (x[j] == x[i] && j < i)", " || x[j] == x[i]", "none is counted"),
            Wrong("j < i)", "j <= i)", "none is counted"),
            Wrong("y[rank] = x[i];", "y[i] = x[rank];", "place to which"),
            Wrong("if (i >= n) return;", "", "has no element"),
        ),
    ),
    Exercise(
        "merge",
        """
__global__ void merge(const int *a, const int *b, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int before_a = 0, before_b = 0;  // how many elements of b come before a[i], and of a before b[i]
    y[i + before_a] = a[i];
    y[i + before_b] = b[i];
}
""",
        """
__device__ int count_before(const int *x, int n, int key, bool equal_too) {
    int first = 0, last = n;
    while (first < last) {
        int middle = (first + last) / 2;
        if (x[middle] < key || (equal_too && x[middle] == key)) first = middle + 1;
        else last = middle;
    }
    return first;
}

__global__ void merge(const int *a, const int *b, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int before_a = count_before(b, n, a[i], false), before_b = count_before(a, n, b[i], true);
    y[i + before_a] = a[i];
    y[i + before_b] = b[i];
}
""",
        merge,
        (
            Launch(2, 4, (np.sort(whole(7, 20, "i4")), np.sort(whole(8, 20, "i4")[:7]), untouched(14, "i4"), 7)),
            Launch(2, 32, (np.sort(whole(50, 40, "i4")), np.sort(whole(51, 40, "i4")[:50]), untouched(100, "i4"), 50)),
        ),
        (
            Hint("Two elements come to the same place. That of a[i] is i plus the number of elements of b below it; that of b[i] is i plus the number of elements of a below it, or equal to it.", "race"),
            Hint("A thread whose i is n or more has no elements.", "idle"),
            Hint("A search ends with first == last, which is the number of elements before the key: from 0 up to n.", "bounds"),
            Hint("The place of a[i] is i, for the elements of a before it, plus the number of elements of b before it, which a binary search finds. Likewise for b[i].", "result"),
        ),
        "No thread waits for another one: with binary searches, a merge that is serial on a CPU becomes 2n searches of log n steps each.",
        (
            Wrong("b[i], true", "b[i], false", "Two elements come to the same place"),
            Wrong("a[i], false", "a[i], true", "Two elements come|The place of"),
            Wrong("last = n;", "last = n - 1;", "Two elements come|The place of"),
            Wrong("if (i >= n) return;", "", "has no elements"),
        ),
    ),
    Exercise(
        "counting_sort",
        """
__global__ void counting_sort(const int *x, int *y, int n) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    // counts[k] is how often k occurs. Where does the first k belong in y, and the next one?
}
""",
        """
__global__ void counting_sort(const int *x, int *y, int n) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) atomicAdd(&counts[x[i]], 1);
    __syncthreads();
    if (t == 0)
        for (int k = 0, sum = 0; k < 8; ++k) {
            int count = counts[k];
            counts[k] = sum;
            sum += count;
        }
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) y[atomicAdd(&counts[x[i]], 1)] = x[i];
}
""",
        counting_sort,
        (Launch(1, 8, (whole(20, 8, "i4"), untouched(20, "i4"), 20)), Launch(1, 64, (whole(150, 8, "i4"), untouched(150, "i4"), 150))),
        (
            Hint("There are 8 counts: threads 0 to 7 clear them.", "shared bounds"),
            Hint("Only elements below n exist.", "bounds", r"\bx\["),
            Hint("The first k belongs behind all smaller keys: at the sum of the counts before counts[k]. That of k itself is not among them.", "bounds"),
            Hint("A place is given to one key. atomicAdd returns the place, and moves it on for the next one.", "race", r"y\[|instead of \+\+"),
            Hint("Several threads find the same key at once: count with atomicAdd.", "shared race", r"instead of \+="),
            Hint("The counting, the sums and the placing must follow one another: a barrier of the block after each.", "shared race"),
            Hint("Turn each count into the sum of the counts before it. Then key x[i] goes to place atomicAdd(&counts[x[i]], 1).", "result"),
        ),
        "No two keys need to be compared. The exclusive sums of the counts say where each bin begins, and an atomic addition gives the places out.",
        (
            Wrong("            counts[k] = sum;\n            sum += count;", "            sum += count;\n            counts[k] = sum;", "not among them"),
            Wrong("if (t < 8) counts", "counts", "threads 0 to 7"),
            Wrong("        }\n    __syncthreads();", "        }", "follow one another|given to one key"),
            Wrong("y[atomicAdd(&counts[x[i]], 1)]", "y[counts[x[i]]++]", "given to one key"),
            Wrong("if (t < 8) counts[t] = 0;\n    __syncthreads();", "if (t < 8) counts[t] = 0;", "follow one another"),
        ),
    ),
    Exercise(
        "bitonic_step",
        (("^ distance;\n    bool ascending = (i & length) == 0;\n    if (i < other && (x[i] > x[other]) == ascending", "+ distance;\n    if (x[i] > x[other]"),),
        """
__global__ void bitonic_step(int *x, int distance, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int other = i ^ distance;
    bool ascending = (i & length) == 0;
    if (i < other && (x[i] > x[other]) == ascending) {
        int value = x[i];
        x[i] = x[other];
        x[other] = value;
    }
}
""",
        bitonic_step,
        (Launch(2, 8, (np.random.default_rng(3).permutation(16).astype("i4"), 2, 4)), Launch(2, 32, (np.random.default_rng(4).permutation(64).astype("i4"), 8, 16))),
        (
            Hint("The other element of a pair is at i ^ distance, which is always in the array. With +, an element is in two pairs.", "bounds"),
            Hint("Both threads of a pair work on it. Only the one with i < other should.", "race"),
            Hint("Each pair is in the opposite order. If (i & length) == 0 for its lower index i, the smaller element belongs at i.", like=opposite_step),
            Hint("Groups of `length` elements are ordered upwards and downwards in turn: upwards where (i & length) == 0.", like=ascending_step),
            Hint("The other element of a pair is at i ^ distance. A pair with (i & length) == 0 becomes ascending, another one descending.", "result"),
        ),
        "Each pair has two threads, of which the lower one does the work. With lengths that double and distances that halve, such launches sort an array.",
        (
            Wrong("i < other && ", "", "Only the one"),
            Wrong("i ^ distance", "i + distance", "in two pairs"),
            Wrong("(i & length) == 0", "true", "upwards and downwards in turn"),
            Wrong("(i & length) == 0", "(i & length) != 0", "opposite order"),
            Wrong("i < other", "i > other", "opposite order"),
            Wrong("i ^ distance", "i ^ length", r"is at i \^ distance"),
        ),
    ),
    Exercise(
        "split_by_bit",
        """
__global__ void split_by_bit(const int *x, int *y, int bit) {
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
    bool one = x[i] >> bit & 1;
    unsigned ones = __ballot_sync(0xffffffff, one);
    int ones_before = __popc(ones & ((1u << lane) - 1));
    int zeros_before = lane - ones_before, zeros = 32 - __popc(ones);
    y[i - lane + (one ? zeros + ones_before : zeros_before)] = x[i];
}
""",
        """
__global__ void split_by_bit(const int *x, int *y, int bit) {
    __shared__ int of_warp[2];
    int t = threadIdx.x, lane = t % 32, i = blockIdx.x * 64 + t;
    bool one = x[i] >> bit & 1;
    unsigned ones = __ballot_sync(0xffffffff, one);
    int ones_before = __popc(ones & ((1u << lane) - 1));
    if (lane == 0) of_warp[t / 32] = __popc(ones);
    __syncthreads();
    if (t >= 32) ones_before += of_warp[0];
    int zeros_before = t - ones_before, zeros = 64 - of_warp[0] - of_warp[1];
    y[i - t + (one ? zeros + ones_before : zeros_before)] = x[i];
}
""",
        split_by_bit,
        (Launch(1, 64, (whole(64, 8, "i4"), untouched(64, "i4"), 0)), Launch(2, 64, (whole(128, 8, "i4"), untouched(128, "i4"), 2))),
        (
            Hint("The digit to look at is bit `bit`: shift the key first.", like=split_by_lowest),
            Hint("A warp must know how many ones the other warp has. Lane 0 of each leaves the number in shared memory, with a barrier before others read it.", "race", "of_|shared|barrier|sync"),
            Hint("Each block has 64 places of its own, from i - t on.", "race", _TWO_BLOCKS),
            Hint("Two keys come to the same place: count all ones of the block before a key, and all its zeros.", "race"),
            Hint("Each warp must leave its number of ones in shared memory.", "uninitialised"),
            Hint("Each warp is split by itself. In the block, the zeros of both warps come first: count the ones of the first warp before those of the second.", "result"),
            Hint("The places of a block are those of its own 64 elements, and a key does not count itself.", "global bounds"),
        ),
        "The keys with a 0 come first, and those with equal bits keep their order. One such pass for each bit, from the lowest on, sorts the keys.",
        (
            Wrong("    if (t >= 32) ones_before += of_warp[0];\n", "", "Two keys come"),
            Wrong("    __syncthreads();\n", "", "with a barrier before"),
            Wrong("y[i - t + ", "y[", "from i - t on"),
            Wrong("x[i] >> bit & 1", "x[i] & 1", "shift the key"),
            Wrong("zeros + ones_before : zeros_before", "ones_before : 64 - zeros + zeros_before", "zeros of both warps"),
        ),
    ),
    Exercise(
        "bin_begins",
        ((" n) return;\n    int before = i > 0 ? x[i - 1] : -1, own = i < n ? x[i] : bins;\n    for (int k = before + 1; k <= own; ++k) begins[k", "= n) return;\n    if (x[i] != x[i - 1]) begins[x[i]"),),
        """
__global__ void bin_begins(const int *x, int *begins, int n, int bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    int before = i > 0 ? x[i - 1] : -1, own = i < n ? x[i] : bins;
    for (int k = before + 1; k <= own; ++k) begins[k] = i;
}
""",
        bin_begins,
        (Launch(2, 8, (np.array([0, 0, 1, 1, 1, 3, 3, 4, 6, 6, 6], "i4"), untouched(9, "i4"), 11, 8)), Launch(2, 64, (np.sort(whole(100, 40, "i4")), untouched(45, "i4"), 100, 42))),
        (
            Hint("Element 0 has no element before it: its bin, and empty ones before it, begin at 0.", "bounds", r"x\[-1\]"),
            Hint("The bins behind that of the element before, up to its own, begin at i: from before + 1 to own.", "bounds", r"begins\[-1\]"),
            Hint("There are n elements, and bins + 1 begins: the last one is the end of the last bin.", "bounds"),
            Hint("Each bin's begin is written by one thread: the one whose element is the first that is not below it.", "race"),
            Hint("An empty bin begins where the next one does. Where x goes from 4 to 7, begins[5], begins[6] and begins[7] are the same. The last begins are n.", "result"),
        ),
        "In a sorted array, a bin begins where the key changes. Each thread looks at two keys, and the whole takes one pass.",
        (
            Wrong("int k = before + 1", "int k = own", "written by one thread"),
            Wrong("if (i > n) return;", "if (i >= n) return;", "The last begins are n"),
            Wrong("i > 0 ? x[i - 1] : -1", "min(max(x[i - 1], -1), bins)", "no element before it"),
            Wrong("int k = before + 1", "int k = before", "from before"),
        ),
    ),
    Exercise(
        "warp_scan",
        (("if (lane >= offset) ", ""),),
        """
__global__ void warp_scan(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
    int sum = x[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        int left = __shfl_up_sync(0xffffffff, sum, offset);
        if (lane >= offset) sum += left;
    }
    y[i] = sum;
}
""",
        warp_scan,
        (Launch(1, 32, (whole(32, dtype="i4") + 1, untouched(32, "i4"))), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4")))),
        (
            Hint("y[i] contains x[i], too. This sum ends with the lane before it.", "result", "element before it"),
            Hint("A lane that has no lane `offset` below it gets its own value back, and must not add it: test lane >= offset.", "result", r"y\[0\]"),
            Hint("__shfl_up_sync brings the sum of the lane `offset` below. The offsets are 1, 2, 4, 8 and 16: what a lane adds covers twice as many elements each time.", "result"),
        ),
        "Five steps are enough, without a barrier: after the step with offset d, each lane has the sum of the 2d elements that end with its own.",
        (
            Wrong("lane >= offset", "lane > offset", "The offsets are"),
            Wrong("y[i] = sum", "y[i] = sum - x[i]", "ends with the lane before it"),
            Wrong("int left = __shfl_up_sync(0xffffffff, sum, offset);\n        if (lane >= offset) sum += left;",
                  "if (lane >= offset) sum += __shfl_up_sync(0xffffffff, sum, offset);", "neither in an if"),
            Wrong("offset *= 2", "offset += 1", "The offsets are"),
        ),
    ),
    Exercise(
        "compact",
        (("unsigned kept = __ballot_sync(0xffffffff, x[i] > 0);\n    int place = __popc(kept & ((1u << lane) - 1))", "int place = lane"),),
        """
__global__ void compact(const int *x, int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
    unsigned kept = __ballot_sync(0xffffffff, x[i] > 0);
    int place = __popc(kept & ((1u << lane) - 1));
    if (x[i] > 0) y[i - lane + place] = x[i];
}
""",
        compact,
        (Launch(1, 32, (whole(32, 4, "i4") * (np.arange(32) % 3 > 0), untouched(32, "i4"))), Launch(2, 64, (whole(128, 3, "i4"), untouched(128, "i4")))),
        (
            Hint("Elements have stayed where they were. An element's place is the number of lanes below its own that keep theirs.", like=holes),
            Hint("Each warp has 32 places of its own, from i - lane on.", "race", _TWO_BLOCKS),
            Hint("Only lanes that keep their element write it. __popc(kept) counts all of them. Count those below: keep only the lower `lane` bits, kept & ((1u << lane) - 1).", "race"),
            Hint("The first element that is kept belongs at place 0: a lane does not count itself.", "result", r"is -1, not"),
            Hint("y[i - lane + place] = x[i], where place is the number of lower lanes with an element above 0.", "result"),
        ),
        "A vote tells every lane what all others do, so each can find its place without asking another one.",
        (
            Wrong("kept & ((1u << lane) - 1)", "kept", "keep only the lower"),
            Wrong("(1u << lane) - 1", "(2u << lane) - 1", "does not count itself"),
            Wrong("__popc(kept & ((1u << lane) - 1))", "lane", "stayed where they were"),
        ),
    ),
    Exercise(
        "block_scan",
        (("int left = t >= offset ? tile[t - offset] : 0;\n        __syncthreads();\n        tile[t] += left", "if (t >= offset) tile[t] += tile[t - offset]"),),
        """
__global__ void block_scan(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = x[i];
    for (int offset = 1; offset < 64; offset *= 2) {
        __syncthreads();
        int left = t >= offset ? tile[t - offset] : 0;
        __syncthreads();
        tile[t] += left;
    }
    y[i] = tile[t];
}
""",
        block_scan,
        (Launch(1, 64, (whole(64, dtype="i4"), untouched(64, "i4"))), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4")))),
        (
            Hint("A barrier comes before tile[t - offset] is read, and another one before a thread changes it. Read into a register, wait, and then add.", "shared race"),
            Hint("tile[t - offset] exists only where t >= offset.", "bounds"),
            Hint("A thread that has no element `offset` before its own adds nothing.", "result", r"y\[0\]"),
            Hint("y[i] is the sum of the block's elements up to x[i]. The offsets are 1, 2, 4, ..., 32.", "result"),
        ),
        "Where threads read words that others are about to change, a step needs two barriers, one after the writing and one after the reading, or two tiles in turn.",
        (
            Wrong("        __syncthreads();\n        tile[t] += left;", "        tile[t] += left;", "Read into a register"),
            Wrong("t >= offset ? tile[t - offset] : 0", "tile[t - offset]", "only where"),
            Wrong("offset < 64", "offset < 32", "The offsets are"),
            Wrong("        __syncthreads();\n        tile[t] += left;", "        if (t >= offset) {\n            __syncthreads();\n            tile[t] += left;\n        }", "must reach the barrier"),
        ),
    ),
    Exercise(
        "sweep",
        """
__global__ void sweep(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = x[i];
    for (int d = 1; d < 64; d *= 2) {  // up: each pair's sum goes to its right element
        __syncthreads();
        int right = 2 * d * (t + 1) - 1;
        if (right < 64) tile[right] += tile[right - d];
    }
    __syncthreads();
    // down: the last element becomes 0; then, from the widest pairs to the narrowest, ...
    y[i] = tile[t];
}
""",
        """
__global__ void sweep(const int *x, int *y) {
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = x[i];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        int right = 2 * d * (t + 1) - 1;
        if (right < 64) tile[right] += tile[right - d];
    }
    __syncthreads();
    if (t == 0) tile[63] = 0;
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        int right = 2 * d * (t + 1) - 1;
        if (right < 64) {
            int left = tile[right - d];
            tile[right - d] = tile[right];
            tile[right] += left;
        }
    }
    __syncthreads();
    y[i] = tile[t];
}
""",
        sweep,
        (Launch(1, 64, (whole(64, dtype="i4"), untouched(64, "i4"))), Launch(2, 64, (whole(128, dtype="i4"), untouched(128, "i4")))),
        (
            Hint("This sum contains x[i] itself: those before it are wanted.", "result", "element behind it"),
            Hint("The sums begin before a thread's own element, so the first one is 0: has tile[63] become 0 after the way up?", "result", "too large by"),
            Hint("On the way down, d goes from 32 to 1: the left element of a pair gets the right one's value, and the right one the sum of both.", "result"),
            Hint("There must be a barrier before each step, in both directions, and before the tile is read.", "shared race"),
            Hint("Pairs exist only where right < 64.", "bounds"),
        ),
        "Up and down take about 2n additions, where the scan with offsets takes n log n, but twice as many steps.",
        (
            Wrong("    if (t == 0) tile[63] = 0;\n", "", r"tile\[63\] become 0"),
            Wrong("            tile[right] += left;\n", "", "sum of both"),
            Wrong("d = 32; d > 0; d /= 2", "d = 1; d < 64; d *= 2", "from 32 to 1"),
            Wrong("    }\n    __syncthreads();\n    y[i]", "    }\n    y[i]", "before the tile is read"),
            Wrong("tile[right - d] = tile[right];\n            tile[right] += left;", "tile[right] += left;\n            tile[right - d] = tile[right];", "right one's value"),
        ),
    ),
)  # fmt: skip
