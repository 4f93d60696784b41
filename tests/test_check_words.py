"""The words of findings: which element, of which array, how long it is, and what would mend the kernel."""

import re

import numpy as np
import pytest

import cudakern as ck
from cudakern.insight import checker
from cudakern.insight.advice import Race
from cudakern.insight.declared import declared, lines_of, operator_of, shape_of, uses
from cudakern.insight.findings import finding
from own_kernels import floats

pytestmark = pytest.mark.usefixtures("emulator")


def ints(n=64):
    return np.zeros(n, np.int32)


# --- elements ---------------------------------------------------------------------------------------------------------
ELEMENTS = r"""
struct Particle { float x, y, z, w; };
#define ROWS 4
constexpr int COLUMNS = 2 * ROWS;
__constant__ float weights[5];
__device__ float table[3][4];
__global__ void structs(Particle *p) { p[threadIdx.x].w = 1; }
__global__ void one_row(int *y, int i) {
    __shared__ int tile[ROWS][COLUMNS];
    for (int j = 0; j < 12; ++j) (&tile[0][0])[j] = j;
    y[0] = (&tile[0][0])[i];
}
__global__ void rows(int *y, int i) {
    __shared__ int tile[ROWS][COLUMNS];
    y[0] = tile[i / 100][i % 100];
}
__global__ void left(int *y, int i) {
    __shared__ int tile[64], count[2];
    tile[i] = y[0];
}
__global__ void adds(int *y, int i) {
    __shared__ int tile[64];
    ++tile[i];
}
__global__ void constant(float *y, int i) { y[0] = weights[i]; }
__global__ void by_two(int i) { (&table[0][0])[i] = threadIdx.x; }
__global__ void dynamic(float *y, int i) {
    extern __shared__ float scratch[];
    scratch[i] = y[0];
}
__global__ void scalar(int *y) {
    __shared__ int sum, other[3];
    y[0] = sum;
}
template <int N> __global__ void square(int *y) {
    __shared__ int tile[N][N], row[N];
    y[0] = tile[1][2] + row[3];
}
template <typename T, int WIDTH = 8> __global__ void wide(int *y) {
    __shared__ T tile[2][WIDTH], other[WIDTH];
    T *p = tile[0];
    y[0] = p[9];
}
template <typename T> __global__ void typed(T *y) { y[8] = 1; }
struct Both { float position[3], velocity[3]; };
__global__ void members(Both *b, int i) { b->position[i] += b->velocity[i]; }
__global__ void before(const float *y, float *z) {
    unsigned i = threadIdx.x;
    z[i] = y[i - 1];
}
"""


@pytest.fixture(scope="module")
def elements():
    with ck.checking():  # for which alone it is compiled
        return ck.compile(ELEMENTS)


def of(launch, *arguments):
    (finding,) = ck.check(launch, *arguments)
    return finding.message


def test_elements_of_structs_are_counted_by_their_size(elements):
    assert of(elements.structs[1, 5], ck.zeros(16, "f4")) == "thread 4 writes p[4]; p has 4 elements"


def test_shared_arrays_have_the_indices_of_their_declaration(elements):
    assert of(elements.one_row[1, 1], ints(), 13) == "thread 0 reads tile[1][5], which has not been written"
    assert of(elements.one_row[1, 1], ints(), 32) == "thread 0 reads tile[4][0]; tile has 4 x 8 ints"
    assert of(elements.scalar[1, 1], ints()) == "thread 0 reads sum, which has not been written"


def test_arguments_of_templates_are_lengths(elements):
    found = ck.check(elements["square<8>"][1, 1], ints())
    assert {re.search(r"reads (.*),", one.message)[1] for one in found} == {"tile[1][2]", "row[3]"}
    assert "reads tile[1][1]," in of(elements["wide<short, 8>"][1, 1], ints())


def test_shapes_that_the_source_does_not_tell_are_not_guessed():
    found = checker.Found()
    found.kind, found.space, found.parameter = checker.KINDS.index("uninitialised"), checker.SHARED, -1
    found.kernel, found.variable, found.offset, found.length = b"square", b"tile", 40, 256
    found.access.bytes, found.shape[:], found.grid[:] = 4, (1, 1, 1), (1, 1, 1)
    source = ["template <int N> __global__ void square() {", "__shared__ int tile[N][N];", "}"]
    assert "reads element 10 of tile," in finding(found, (), source).message
    found.kernel = b"square<8>"
    assert "reads tile[1][2]," in finding(found, (), source).message


def test_a_bad_index_names_its_array(elements):
    message = of(elements.rows[1, 1], ints(), 8)
    assert message == "thread 0 reads tile[i / 100][8]; a row of tile has 8 ints"
    assert of(elements.rows[1, 1], ints(), 400) == "thread 0 reads tile[4][i % 100]; tile has 4 rows"
    assert of(elements.left[1, 1], ints(), 64) == "thread 0 writes tile[64]; tile has 64 ints"
    assert of(elements.adds[1, 1], ints(), -1) == "thread 0 updates tile[-1]; tile has 64 ints"
    assert of(elements.constant[1, 1], floats(1), 5) == "thread 0 reads weights[5]; weights has 5 floats"
    several = "uses element 3 of an array of the type float [3], b->position or b->velocity"
    assert several in of(elements.members[1, 1], ck.zeros(12, "f4"), 3)


def test_variables_of_the_device_have_their_type(elements):
    assert of(elements.by_two[1, 2], 6).startswith("thread 1 writes table[1][2], which thread 0 writes in line")


def test_dynamic_shared_memory_has_the_name_of_the_only_such_array(elements):
    launch = elements.dynamic[1, 1, 64]
    assert of(launch, floats(1), 16) == "thread 0 writes scratch[16]; the launch gives it 64 bytes, 16 floats"


def test_elements_of_a_template(elements):
    assert of(elements["typed<short>"][1, 1], np.zeros(8, "i2")) == "thread 0 writes y[8]; y has 8 shorts"
    assert of(elements["typed<float>"][1, 1], np.zeros(8, "f4")) == "thread 0 writes y[8]; y has 8 floats"


def test_an_unsigned_index_below_zero(elements):
    (finding,) = ck.check(elements.before[1, 4], floats(4), floats(4))
    assert finding.message == "thread 0 reads y[4294967295]; y has 4 floats"
    assert finding.advice.startswith("As an unsigned number, -1 is 4,294,967,295")


POINTERS = """
__global__ void rows(float **rows, int n) { rows[threadIdx.x][n] = 1; }
struct Image { float *data; int width; };
__global__ void image(Image image) { image.data[threadIdx.x] += 1; image.data[0] += 1; }
__global__ void asserts(float *y) { if (y[0] == 0) __trap(); }
__global__ void copies(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void bytes(float *y, int n) { memset(y, 0, n); }
__global__ void four(float *y, int n) { *(float4 *)(y + n) = make_float4(1, 1, 1, 1); }
__global__ void last(float *y, int n) {
    for (int i = threadIdx.x; i <= n; i += 4) y[i] = 1;
}
__global__ void rectangle(float *y, int h, int w) {
    int r = threadIdx.y, c = threadIdx.x;
    if (r < h && c < w) y[r * w + c] = 1;
}
__global__ void whole(float *y, int w) {
    int r = threadIdx.y, c = threadIdx.x;
    y[r * w + c] = 1;
}
__global__ void tested(float *y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = 1;
}
"""


@pytest.fixture(scope="module")
def pointers():
    with ck.checking():
        return ck.compile(POINTERS)


def test_a_table_of_pointers_is_not_the_array_behind_one(pointers):
    arrays = [np.from_dlpack(ck.zeros(8, "f4")) for _ in range(2)]
    table = np.array([x.ctypes.data for x in arrays], np.uint64)
    (finding,) = ck.check(pointers.rows[1, 2], table, 1 << 30)
    assert re.search(r"^thread 0 writes address 0x\w+, which is in none of the launch's arrays$", finding.message)
    assert finding.advice.startswith("Each pointer in rows must be that of an array on the device")
    found = ck.check(pointers.rows[1, 3], table, 0)
    assert found[0].message == "thread 2 reads rows[2]; rows has 2 pointers"


def test_an_array_behind_a_pointer_in_a_struct_is_named_as_in_the_line(pointers):
    x = np.from_dlpack(ck.zeros(8, "f4"))
    image = np.array((x.ctypes.data, 8), np.dtype([("data", "u8"), ("width", "i4")], align=True))[()]
    found = {one.kind: one for one in ck.check(pointers.image[1, 9], image)}
    assert found["bounds"].message == "thread 8 reads image.data[8]; image.data has 8 floats"
    assert "reads image.data[0], which thread 0 writes" in found["race"].message
    assert found["race"].advice == "Use atomicAdd instead of +=."


def test_an_error_without_advice(pointers):
    (finding,) = ck.check(pointers.asserts[1, 4], np.zeros(1, np.float32))
    assert (finding.kind, finding.advice) == ("error", "")
    assert finding.message == "thread 0: the kernel called __trap()"


def test_an_empty_array(pointers):
    (finding,) = ck.check(pointers.copies[1, 2], floats(0), floats(2))
    assert finding.message == "thread 0 reads x[0]; x is empty"
    assert finding.advice == "No thread may access an empty array: test its length first."


def test_accesses_to_several_elements(pointers):
    message = of(pointers.bytes[1, 1], floats(17), 70)
    assert message == "thread 0 writes 70 bytes from y[0] on; y has 17 floats, 68 bytes"
    assert of(pointers.four[1, 1], floats(18), 16) == "thread 0 writes y[16] to y[19]; y has 18 floats"


def test_the_test_of_an_index_may_be_wrong(pointers):
    (finding,) = ck.check(pointers.last[1, 4], floats(8), 8)
    assert finding.advice == "Its last element is y[7]: perhaps <= should be <. Otherwise test the index first."
    (finding,) = ck.check(pointers.tested[1, 32], floats(8), 10)
    assert finding.advice.startswith(
        "There is a test, which lets this thread pass: compare the index with the length of"
    )


def test_the_tests_of_rows_and_columns_may_be_wrong(pointers):
    (finding,) = ck.check(pointers.rectangle[1, (4, 4)], floats(12), 4, 4)
    assert finding.advice == "There are tests of r and c, which let this thread pass: compare them with the shape of y."
    (finding,) = ck.check(pointers.whole[1, (4, 4)], floats(12), 4)
    assert finding.advice == "Its last element is y[11]: test r and c first."


def test_a_launch_without_dynamic_shared_memory(elements):
    (finding,) = ck.check(elements.dynamic[1, 1], floats(1), 3)
    assert finding.message == "thread 0 writes scratch[3]; the launch gives it 0 bytes"
    assert re.search(r"gives it none: pass its size in bytes, dynamic\[grid, block, bytes\] or shared=", finding.advice)
    (finding,) = ck.check(elements.dynamic[1, 1, 4], floats(1), 3)
    assert finding.advice.startswith("Launch with more shared memory, dynamic[grid, block, bytes], or")


# --- declarations and lines -------------------------------------------------------------------------------------------
SOURCE = """
#define N 32
constexpr int M = 2 * N, K = 3;
template <int T> __global__ void f(const float *x, float (*p)[4]) {
    __shared__ float tile[T][N + 1], s[M]; // other[9]
    extern __shared__ float dynamic[];
    __shared__ int mean, count;
    __shared__ __align__(16) unsigned char bytes[4][8];
    int bins[8] = {0};
    for (int i = 0; i < 3; ++i) s[i] = x[i];
    return s[3];
}
struct P { float position[3]; int n; };
"""


def test_declarations_are_read():
    shapes = {one.name: one.shape for one in declared(tuple(SOURCE.splitlines()))}
    assert shapes == {
        "tile": (-1, 33), "s": (64,), "dynamic": (-1,), "mean": (), "count": (), "bytes": (4, 8), "bins": (8,),
        "position": (3,),
    }  # fmt: skip
    assert shape_of("tile", 4 * 33 * 16, SOURCE.splitlines(), 5) == ("float", (16, 33), 4)
    assert shape_of("tile", 4 * 33 * 16 + 4, SOURCE.splitlines(), 5) is None
    twice = ["void f() {", "__shared__ int a[2][8];", "}", "void g() { __shared__ int a[4][4]; }"]
    assert shape_of("a", 64, twice, 4) == ("int", (4, 4), 4)
    assert shape_of("a", 64, ["void f() {", twice[1], "{ __shared__ int a[4][4]; }", "}"], 2) is None


def test_what_a_line_does():
    found = uses("slope[y * 32 + x] = tile[y][x + 1] - p.tile[b[y]][x]; atomicAdd(&bins[i], 1); f(&s[3]); ++q->r[3].w")
    assert [(one.path, one.indices, one.verb) for one in found] == [
        ("slope", ("y * 32 + x",), "writes"),
        ("tile", ("y", "x + 1"), "reads"),
        ("p.tile", ("b[y]", "x"), "reads"),
        ("b", ("y",), "reads"),
        ("bins", ("i",), "atomically updates"),
        ("s", ("3",), "takes the address of"),
        ("q->r", ("3",), "updates"),
    ]
    lines = {"+=": "sum[0] += x[i];", "=": "if (i < n) *sum = x;", "++": "int s = sum++;", "|=": "sum |= 3;"}
    lines |= {"": "sum[i] = 0, sum[i] += 1; if (a == sum[0]) return;"}
    assert {operator_of(line, "sum"): line for line in lines.values()} == lines


# --- advice -----------------------------------------------------------------------------------------------------------
#: The body of a kernel, how many blocks and threads it has, and the advice for each of its races.
IN_WARPS = r"__syncthreads\(\) \(or __syncwarp\(\), if only lanes of one warp meet here\)"
RACES = {
    "add": ("y[0] += t;", 2, 64, r"Use atomicAdd instead of \+=\."),
    "take": ("int i = y[0]++;\ny[1 + i] = t;", 2, 1, r"Use atomicAdd\(&y\[0\], 1\) instead of \+\+; it returns"),
    "count": ("for (int i = t; i < 64; i += 64) y[0]++;", 1, 64, r"Use atomicAdd instead of \+\+\.$"),
    "two updates": ("y[t] -= 1; y[0] -= 2;", 1, 64, r"Use atomicSub instead of -="),
    "two steps": (
        "s[t] = s[t + 64] = t;\n__syncthreads();\nif (t < 32) s[t] += s[t + 32];\nif (t < 16) s[t] += s[t + 16];",
        1, 64, r"between lines 6 and 7\.",
    ),
    "or": ("y[t / 32] |= 1u << t;", 1, 32, r"Use atomicOr instead of \|=\."),
    "times": ("y[0] *= 2;", 1, 2, r"Let one thread update it, or use atomicCAS in a loop: .* does \*=\."),
    "largest": ("y[0] = max(y[0], t);", 2, 1, r"Use atomicMax\.$"),
    "test": ("if (t > y[0] - 1) y[0] = t;", 1, 2, "The test and the write must be one step"),
    "write": ("y[0] = t;", 2, 1, "Let one block write it, or give each block an element of its own"),
    "in place": ("y[t] = y[t + 1];", 2, 32, r"y\[t \+ 1\] may be the old or the new .* the old one, write to another"),
    "shift": ("s[t] = t;\n__syncthreads();\ns[t] = s[t + 1];", 1, 64, f"it into a variable first; then {IN_WARPS}"),
    "tree": (
        "s[t] = s[t + 64] = t;\n__syncthreads();\nfor (int d = 32; d; d /= 2)\nif (t < d) s[t] += s[t + d];",
        1, 64, f"{IN_WARPS} between the rounds of the loop",
    ),
    "barrier": ("s[t] = t;\ny[g] = s[63 - t];", 1, 64, r"__syncthreads\(\) between lines 4 and 5\."),
    "warp": ("s[t] = t;\ny[g] = s[31 - t];", 1, 32, r"__syncwarp\(\) \(in larger blocks __syncthreads\(\)\) between"),
    "either": ("s[t] = t;\ny[g] = s[t ^ 1];", 1, 64, f"{IN_WARPS} between lines 4 and 5"),
    "only a warp": ("s[t] = t;\n__syncwarp();\ny[g] = s[63 - t];", 1, 64, r"__syncwarp\(\) in line 5 waits for one"),
    "loop": (
        "for (int i = 0; i < 2; ++i) {\ns[t] = i;\n__syncthreads();\ny[g] = s[63 - t];\n}",
        1, 64, r"The barrier between lines 5 and 7 is not enough in a loop: another one .* end, __syncthreads\(\)\.",
    ),
    "branches": ("if (t < 32) s[t] = t;\nelse y[g] = s[63 - t];", 1, 64, "at a barrier that both reach"),
    "two launches": ("y[g] = t;\n__syncthreads();\ny[99] = y[127 - g];", 2, 64, "threads of one block only: use two"),
    "overwritten": ("int v = y[127 - g];\n__syncthreads();\ny[g] = v;", 2, 64, "one block only: write to another"),
    "mixed": ("y[0] = 0;\natomicAdd(&y[0], 1);", 2, 1, "Set it before the launch, or in an earlier one"),
    "released": ("atomicAdd(&y[0], 1);\ny[0] = 0;", 2, 1, "Write it with atomicExch in line 5"),
    "peeked": ("atomicAdd(&y[0], 1);\ny[1 + g] = y[0];", 2, 1, "Use the value that atomicAdd returns"),
    "flag": (
        "if (g == 0) { y[1] = 5; atomicExch(&y[0], 1); }\nif (g == 1)\nif (atomicAdd(&y[0], 0)) y[2] = y[1];",
        2, 1, r"If an atomic operation orders the two, __threadfence\(\) must come before it in the writer, and after",
    ),
    "fence of the block": (
        "if (g == 0) { y[1] = 5; __threadfence_block(); atomicExch(&y[0], 1); }\nif (g == 1)\n"
        "if (atomicAdd(&y[0], 0)) { __threadfence(); y[2] = y[1]; }",
        2, 1, r"__threadfence_block\(\) reaches one block only: use __threadfence\(\)\.",
    ),
    "lock": (
        "while (atomicCAS(&y[0], 0, 1)) {}\ny[1] += t;\natomicExch(&y[0], 0);",
        2, 1, r"Use atomicAdd instead of \+=\. If a lock is to order them: __threadfence\(\) after taking and before",
    ),
    "place": (
        "int at = *y;\ny[1 + at] = t;\n*y = at + 1;",
        2, 1, r"Use at = atomicAdd\(y, 1\) instead of lines 4 and 6: it returns the old value",
    ),
    "place in brackets": ("s[y[0]++] = t;", 2, 1, r"Use atomicAdd\(&y\[0\], 1\) instead of \+\+; it returns the old"),
    "place and count": (
        "s[*y] = t;\n*y += 1;", 2, 1, r"Use the old value that atomicAdd\(y, 1\) returns, instead of lines 4 and 5\.",
    ),
    "one statement": ("y[0] = y[0] + t;", 2, 1, r"Use atomicAdd\(&y\[0\], t\): reading and writing must be one step\."),
    "turned": ("y[0] = t + y[0];", 2, 1, r"Use atomicAdd\(&y\[0\], t\): reading and writing must be one step\."),
    "not one operation": ("y[0] = y[0] - t + 3;", 2, 1, "^Reading and writing must be one step: use one"),
    "in two lines": ("int v = y[0] * t;\ny[0] = v;", 2, 1, "^Reading and writing must be one step: use one"),
    "statement of two lines": ("y[0]\n+= t;", 2, 1, r"Use atomicAdd instead of \+=\."),
    "same value": ("y[0] = 1;", 1, 64, "^That all write the same value does not .* use atomicExch"),
    "in each round": ("for (int r = 0; r < 2; ++r) s[0] = r;", 1, 64, "^Let one thread write it, or give each"),
    "larger one": ("y[0] = t > y[0] ? t : y[0];", 1, 64, r"^Use atomicMax\.$"),
    "smaller one": ("y[0] = (y[0] <= -t) ? y[0] : -t;", 1, 64, r"^Use atomicMin\.$"),
    "next": ("int i = y[0] - 1;\ny[0] = i;", 1, 32, r"^Use atomicSub\(&y\[0\], 1\) instead of lines 4 and 5: it"),
    "one thread counts": ("s[t] = y[0];\nif (t == 0) y[0]++;", 2, 32, r"^Other threads .* change it in a later"),
    "flag read plainly": (
        "if (g == 0) { __threadfence(); atomicExch(y, 1); }\nif (g == 1 && *y) y[1] = 1;",
        2, 1, r"^Read it atomically in line 5, too: atomicAdd\(y, 0\)\.",
    ),
    "else": ("s[t] = t;\nint v; if (t) v = 1; else v = 2;\ny[g] = v * s[63 - t];", 1, 64, "between lines 4 and 6"),
    "head": ("y[1 + g] = *y;\natomicExch(y, g);", 2, 1, "Use the value that atomicExch returns in line 5 instead of"),
    "sums of others": (
        "atomicAdd(&y[g], 1);\n__syncthreads();\nint v = 0;\nfor (int b = 0; b < g; ++b) v += y[b];\ny[9 + g] = v;",
        2, 1, "Read it in a later launch: no barrier of a block waits",
    ),
    "chain": ("y[g] = (g ? y[g - 1] : 0) + t;", 2, 1, r"so y\[g - 1\] may be .* one launch per step, or a barrier"),
    "chain in a block": ("y[t] = (t ? y[t - 1] : 0) + t;", 1, 32, r"If the new one, this is work for one thread\."),
    "plain flag": (
        "if (g == 0) { __threadfence(); *y = 1; }\nif (g == 1)\nif (atomicAdd(y, 0)) { __threadfence(); y[1] = 1; }",
        2, 1, r"^Write it with atomicExch in line 4\.",
    ),
    "plain flag without a fence": (
        "if (g == 0) *y = 1;\nif (g == 1)\nif (atomicAdd(y, 0)) y[1] = 1;",
        2, 1, r"^Write it with atomicExch in line 4, after a __threadfence\(\)\.",
    ),
    "smallest": ("if (y[0] > -t)\n{\ny[0] = -t;\n}", 1, 64, r"one step: use atomicMin\."),
    "same element": ("y[t] = g;", 2, 1, r"^Let one block write it"),
    "row": ("int c = g % 3, n = 2;\ny[t * n + c] = 1;", 1, 64, "c must be less than n: test it, or correct"),
    "sum of a row": ("int c = g % 3, n = 2;\ny[t * n + c] += 1;", 1, 64, r"index\. Otherwise use atomicAdd\."),
    "step of a loop": ("for (int i = t; i < 64; i += 8) y[i] += 1;", 1, 32, "^If each .*, see where the loop over i"),
    "overlap": ("int i = blockIdx.x * 16 + t;\ny[i] = t;", 2, 32, r"^If .* correct i: two threads have the same blo"),
    "swaps": (
        "for (int r = 0; r < 4; ++r) {\nint i = 2 * t + r % 2;\nif (y[i] >= y[i + 1]) {\ny[i] = r, y[i + 1] = 1;\n}\n}",
        1, 32, r"^__syncwarp\(\) .* between the rounds of the loop, outside of the if",
    ),
    "in a branch": ("if (t < 60) {\ns[t] = t;\ny[t] = s[59 - t];\n}", 1, 64, "lines 5 and 6, outside of the if"),
    "one per block": ("if (threadIdx.x == 0) y[sizeof(int)] += 1;", 2, 1, r"^Use atomicAdd instead of \+=\.$"),
    "uniform": ("if (blockIdx.x == 0) {\ns[t] = t;\ny[t] = s[63 - t];\n}", 2, 64, r"between lines 5 and 6\.$"),
    "added by all": (
        "if (t == 0) s[0] = 1;\n__syncthreads();\ny[0] += s[0];", 1, 64, r"same s\[0\]: let one thread of each block",
    ),
    "mask": ("s[t] = t;\nif (t < 8) __syncwarp(0xff);\ny[g] = s[31 - t];", 1, 32, r"\(0xff\) .* lanes of its mask"),
    "after a loop": (
        "for (int i = 0; i < 2; ++i) y[64 + t] = i;\ns[t] = t;\n__syncwarp();\ny[g] = s[63 - t];",
        1, 64, r"__syncwarp\(\) in line 6 waits for one warp only",
    ),
    "one line": ("s[t] = t; y[g] = s[63 - t];", 1, 64, r"^__syncthreads\(\) between the two statements in line 4"),
    "one line that declares": (
        "__shared__ int n; if (t == 3) n = t; y[g] = n;", 1, 64, r"^__sync.* between the two statements in line 4",
    ),
    "one line of a loop": (
        "for (int i = 0; i < 2; ++i) {\nif (t == i) s[0] = t; if (t > i) y[g] = s[0];\n}",
        1, 64, r"statements in line 5, where all threads reach it, and another one at the end of the loop\.",
    ),
    "one line that reads first": ("int v = s[63 - t]; s[t] = v;", 1, 64, "between the two statements in line 4"),
    "one line of one step": ("int v = y[0] * t; y[0] = v;", 1, 64, "one step"),
    "of a block": ("y[g] = t;\n__syncthreads();\ns[t] = y[127 - g];", 2, 64, "^__syncthreads.. waits for the threads"),
}  # fmt: skip


@pytest.fixture(scope="module")
def races():
    """All kernels in one program, each with a file of its own, of which line 4 is the body's first."""
    parts = []
    for i, (body, *_) in enumerate(RACES.values()):
        head = f'#line 1 "race_{i}.cu"\n__global__ void race_{i}(int *y) {{\n    __shared__ int s[129];\n'
        parts.append(f"{head}    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;\n{body}\n}}\n")
    with ck.checking():
        return ck.compile("".join(parts))


@pytest.mark.parametrize("name", RACES)
def test_the_advice_fits_the_race(races, name):
    _, blocks, threads, advice = RACES[name]
    kernel = f"race_{[*RACES].index(name)}"
    found = ck.check(races[kernel][blocks, threads], ck.zeros(200, "i4"))
    assert {(one.kind, one.file) for one in found} == {("race", f"{kernel}.cu")}, str(found)
    assert any(re.search(advice, one.advice) for one in found), str(found)
    assert all(re.match(r"[A-Z_].*[^.]\.$", one.advice) for one in found)


FUNCTIONS = r"""
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;
__global__ void lock(int *y) { while (atomicCAS(y, 0, 1)) {} atomicExch(y, 0); }
__global__ void sets(int *y) { y[0] = threadIdx.x; }
namespace inner {
    __global__ void adds(int *y) {
        y[0] += threadIdx.x;
    }
}
__global__ void all_blocks(int *y) {
    int i = threadIdx.x;
    y[i] = 1;
}
__global__ void index_of_a_beginner(int *y) { y[blockIdx.x + threadIdx.x] = 1; }
__device__ void put(int *s, int i, int v) { s[i] = v; }
__device__ int get(int *s, int i) { return s[i]; }
__global__ void once(int *y) {
    __shared__ int s[64];
    put(s, threadIdx.x, 1);
    y[threadIdx.x] = get(s, 63 - threadIdx.x);
}
__global__ void twice(int *y) {
    __shared__ int s[64];
    put(s, threadIdx.x, 1);
    put(s, 63 - threadIdx.x, 2);
    y[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void tiles(int *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    tile.sync();
    y[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void shuffles(int *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    if (threadIdx.x < 8) y[threadIdx.x] = tile.shfl_down(3, 4);
}
__global__ void votes(int *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    if (threadIdx.x % 16 < 8) tile.sync();
    else y[threadIdx.x] = tile.any(y[0]);
}
__global__ void barriers(int *y) {
    auto block = cg::this_thread_block();
    if (threadIdx.x < 8) block.sync();
    else cg::sync(block);
    y[threadIdx.x] = 1;
}
__global__ void scoped(int *y) {
    cuda::atomic_ref<int, cuda::thread_scope_block> sum(*y);
    sum.fetch_add(1);
}
"""


@pytest.fixture(scope="module")
def program():
    with ck.checking():
        return ck.compile(FUNCTIONS)


@pytest.mark.parametrize(
    "kernel, blocks, threads, lines, message, advice",
    [
        ("sets", 2, 1, (6,), "writes y", "Let one block write it"),
        ("inner::adds", 2, 1, (9,), "reads y", r"Use atomicAdd instead of \+=\.$"),
        ("all_blocks", 2, 4, (14,), "writes y", "No index contains blockIdx, so all blocks use the same elements"),
        ("index_of_a_beginner", 2, 4, (16,), "writes y", r"^blockIdx.x \+ threadIdx.x is not the number of a thread"),
        ("once", 1, 64, (17, 18), "s", r"^__syncthreads\(\) between lines 21 and 22\.$"),
        ("twice", 1, 64, (17,), "writes s", r"^__syncthreads\(\) between the calls of put, in lines 26 and 27; that"),
        ("tiles", 1, 32, (33, 35), "s", r"^tile\.sync\(\) in line 34 waits for the threads of its group only"),
        ("shuffles", 1, 32, (39,), r"^thread 4: .*; tile\.shfl_down\(\): lane 4 reads from lane 8", "Let it take part"),
        ("votes", 1, 32, (43, 44), r"group .* tile\.sync\(\) waits .* tile\.any\(\) in line 44$", "Let all threads"),
        ("barriers", 1, 32, (48, 49), r"thread 8 reached cg::sync\(block\), .* wait at block\.sync\(\) in", "Move"),
        ("scoped", 2, 1, (54,), "with a scope of one block only", "use cuda::thread_scope_device"),
    ],
)  # fmt: skip
def test_only_the_kernel_and_its_functions_matter(program, kernel, blocks, threads, lines, message, advice):
    found = ck.check(program[kernel][blocks, threads], ck.zeros(64, "i4"))
    (one,) = [one for one in found if one.lines == lines]
    assert re.search(message, one.message), str(one)
    assert re.search(advice, one.advice), str(one)


@pytest.mark.parametrize(
    "blocks, kinds, advice",
    [
        (1, (checker.WRITES, checker.WRITES), "__syncthreads() must come between the two."),
        (
            2,
            (checker.READS, checker.WRITES),
            "Blocks run in any order: use two launches, or give each block elements of",
        ),
        (
            2,
            (checker.READS, checker.READS | checker.WRITES | checker.ATOMIC),
            "Use the value that the atomic operation",
        ),
    ],
)
def test_without_the_source_the_advice_says_less(blocks, kinds, advice):
    found = checker.Found()
    found.grid[:], found.shape[:] = (blocks, 1, 1), (64, 1, 1)
    found.access.kind, found.other.kind = kinds
    found.access.thread[:], found.other.thread[:] = (0, 0, 0), (32, 0, 0)
    found.access.block[0] = blocks - 1
    found.access.line.line, found.other.line.line = 7, 5
    assert Race(found, "y", False, ()).advice().startswith(advice)


#: A kernel of that name with its file, its blocks and threads, its arguments, and the advice for its lines.
WHOLE = {
    "local_of_other": (
        """__global__ void local_of_other(int *y) {
            __shared__ int *p; int v[2] = {1, 2};
            if (threadIdx.x == 0) p = v;
            __syncthreads();
            y[threadIdx.x] = p[1];
        }""",
        1, 4, lambda: [ints()], {(5,): "^The pointer may .* to another thread"},
    ),
    "garbage": (
        """struct Four { float x, y, z, w; };
        __device__ float sum(const Four &a) { return a.x + a.w; }
        __global__ void garbage(float *y, const int *index, const Four *table) {
            y[threadIdx.x] = sum(table[index[threadIdx.x]]);
        }""",
        1, 1, lambda: [floats(4), np.full(4, 1 << 24, "i4"), floats(64)], {(2,): "the index is far too large"},
    ),
    "in_one_of_two_blocks": (
        """__global__ void in_one_of_two_blocks(int *y) {
            int t = threadIdx.x, base = blockIdx.x * 16;
            y[base + t] = 1;
            y[base + 7 - t] = 2;
        }""",
        2, 8, lambda: [ints()], {(3, 4): "^Threads run in any order: let one thread write each element"},
    ),
    "copied": (
        """#include <cooperative_groups.h>
        #include <cooperative_groups/memcpy_async.h>
        namespace cg = cooperative_groups;
        __global__ void copied(const float *x, float *y) {
            __shared__ float tile[64];
            auto block = cg::this_thread_block();
            cg::memcpy_async(block, tile, x, sizeof(tile));
            y[threadIdx.x] = tile[63 - threadIdx.x];
        }""",
        1, 64, lambda: [floats(64), floats(64)], {(8,): "^If the copy that begins in line 7 is to fill it, wait"},
    ),
    "copied_by_others": (
        """#include <cuda_pipeline.h>
        __global__ void copied_by_others(const float *x, float *y) {
            __shared__ float tile[64];
            __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            y[threadIdx.x] = tile[63 - threadIdx.x];
        }""",
        1, 64, lambda: [floats(64), floats(64)], {(7,): r"^If the .* line 4 is to fill it, __syncthreads\(\) must"},
    ),
    "copied_and_waited": (
        """#include <cuda_pipeline.h>
        __global__ void copied_and_waited(const float *x, float *y) {
            __shared__ float tile[64];
            if (threadIdx.x) __pipeline_memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], 4);
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            y[threadIdx.x] = tile[63 - threadIdx.x];
        }""",
        1, 64, lambda: [floats(64), floats(64)], {(8,): "^Shared memory has no values at first: let"},
    ),
    "breadth_first": (
        """__global__ void breadth_first(const int *start, const int *edges, int *cost, int *upd, int *first) {
            int t = blockIdx.x * blockDim.x + threadIdx.x;
            for (int i = start[t]; i < start[t + 1]; i++) {
                int id = edges[i];
                cost[id] = cost[t] + 1;
                upd[id] = 1;
                if (first[id] < 0)
                    first[id] = first[t] + 1;
            }
        }""",
        1, 3, lambda: [np.arange(0, 8, 2, "i4"), np.array([3, 4] * 3, "i4"), ints(), ints(), np.full(64, -1, "i4")],
        {
            (5,): "^Let one thread write it, or give each",
            (6,): r"^That all write the same value .* atomicExch\.$",
            (7, 8): r"must be one step: use atomicCAS\.$",
        },
    ),
    "gather": (
        """__global__ void gather(const int *start, const int *edges, int *value) {
            int t = threadIdx.x;
            for (int i = start[t]; i < start[t + 1]; i++) {
                int v = value[edges[i]];
                value[t] = v;
            }
        }""",
        1, 3, lambda: [np.arange(0, 8, 2, "i4"), np.array([0, 1] * 3, "i4"), ints()],
        {(4, 5): r"^No barrier in the loop of line 3 can order them: .* another array\.$"},
    ),
    "scan": (
        """__global__ void scan(int *y) {
            volatile __shared__ int s[128];
            int at = 64 + threadIdx.x;
            s[at - 64] = 0;
            s[at] = 1;
            for (int d = 1; d < 64; d *= 2) {
                __syncthreads();
                int sum = s[at] + s[at - d];
                s[at] = sum;
            }
            y[threadIdx.x] = s[at];
        }""",
        1, 64, lambda: [ints()], {(8, 9): r"^__syncthreads\(\) .* between lines 8 and 9\.$"},
    ),
    "locked": (
        """__global__ void locked(int *lock, int *count, float *value) {
            while (atomicCAS(lock, 0, 1) != 0);
            *count = *count + 1;
            *value = *value * 2;
            __threadfence();
            atomicExch(lock, 0);
        }""",
        8, 1, lambda: [ints(), ints(), floats(1)], {(3,): r"If a lock is to order", (4,): "If a lock is to order"},
    ),
    "insert": (
        """struct Slot { unsigned key, value; };
        __global__ void insert(Slot *h, const unsigned *keys) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            unsigned slot = 0;
            while (true) {
                unsigned old = h[slot].key;
                if (old == 0) h[slot].key = keys[i];
                if (old == 0 || old == keys[i]) return;
                slot = slot + 1;
            }
        }""",
        3, 2, lambda: [np.zeros(32, "u4"), np.arange(1, 7, dtype="u4")], {(6, 7): r"one step: use atomicCAS\.$"},
    ),
    "cleared": (
        """__global__ void cleared(int *y) {
            __shared__ int flag;
            if (threadIdx.x == 0) flag = 1;
            __syncthreads();
            int old = flag;
            if (threadIdx.x == 0 && old) flag = 0;
            y[threadIdx.x] = old;
        }""",
        1, 64, lambda: [ints()], {(5, 6): r"^__syncthreads\(\) .*between lines 5 and 6"},
    ),
    "scope_of_a_block": (
        """#include <cuda/atomic>
        __global__ void scope_of_a_block(int *f, int *d, int *y) {
            cuda::atomic_ref<int, cuda::thread_scope_block> r(*f);
            if (blockIdx.x == 0) { *d = 42; r.store(1, cuda::memory_order_release); }
            else { while (r.load(cuda::memory_order_acquire) == 0); y[blockIdx.x] = *d; }
        }""",
        2, 1, lambda: [ints(), ints(), ints()],
        {(4, 5): "^cuda::thread_scope_block (is for the|orders) threads of one block"},
    ),
    "largest": (
        """__global__ void largest(const int *x, int *m) {
            int old = *m, assumed;
            do {
                assumed = old;
                if (assumed >= x[threadIdx.x]) break;
                old = atomicCAS(m, assumed, x[threadIdx.x]);
            } while (assumed != old);
        }""",
        1, 64, lambda: [np.arange(64, dtype="i4"), ints(1)],
        {(2, 6): r"^Read it atomically in line 2, too: atomicAdd\(m, 0\), or by a volatile pointer\.$"},
    ),
    "hook": (
        """__global__ void hook(int *p, const int *u, const int *v) {
            int a = u[threadIdx.x], b = v[threadIdx.x];
            while (p[a] != a) { p[a] = p[p[a]];
                a = p[a]; }
            while (p[b] != b) b = p[b];
            if (a > b) atomicCAS(&p[a], a, b);
            else if (b > a) atomicCAS(&p[b], b, a);
        }""",
        1, 7, lambda: [np.arange(20, dtype="i4"), np.array([5, 5, 7, 5, 9, 7, 9], "i4"),
                       np.array([3, 2, 5, 1, 7, 0, 5], "i4")],
        {
            (3, 6): r"^Read it atomically in line 3, too: atomicAdd\(&p\[a\], 0\)",
            (3, 5): "^atomicCAS changes it at the same time: access it atomically in lines 3 and 5",
        },
    ),
    "both_ways": (
        """__global__ void both_ways(int *sum) {
            if (threadIdx.x % 2) atomicAdd(sum, 1);
            else *sum += 1;
        }""",
        1, 64, lambda: [ints()], {(2, 3): r"^Use atomicAdd instead of \+= in line 3, too\.$"},
    ),
    "held": (
        """__global__ void held(int *lock, int *d) {
            while (atomicCAS(lock, 0, 1));
            __threadfence();
            d[0]++;
            __syncthreads();
            __threadfence();
            atomicExch(lock, 0);
        }""",
        1, 64, lambda: [ints(), ints()], {(2,): "^If it is a lock, its holder must release it before it"},
    ),
    "from_lane_0": (
        """__global__ void from_lane_0(int *y) {
            if (threadIdx.x > 0) y[threadIdx.x] = __shfl_sync(__activemask(), 1, 0);
        }""",
        1, 32, lambda: [ints()], {(2,): r"^Add it to the mask, or read from a lane .* __ffs\(mask\) - 1\.$"},
    ),
    "not_in_its_mask": (
        """__global__ void not_in_its_mask(int *y) {
            y[threadIdx.x] = __shfl_sync(2, 1, 1);
        }""",
        1, 32, lambda: [ints()], {(2,): r"^Add this lane to the mask, or let only the lanes of the mask call it\.$"},
    ),
    "maximum": (
        """__global__ void maximum(const float *x, float *y, int n) {
            float m;
            int k;
            for (int j = 0; j < n; j++) m = fmaxf(m, x[j]);
            for (int j = 0; j < n; j++)
                k = min(k, j);
            y[threadIdx.x] = m + k;
        }""",
        1, 32, lambda: [floats(32), floats(32), 32],
        {(4,): r"^Begin with a value, such as the first element or -INFINITY\.$", (6,): r"as the first element\.$"},
    ),
}  # fmt: skip


def test_an_array_that_a_launch_was_to_write_which_did_not_finish():
    text = """__global__ void ends(int *y) {
        if (threadIdx.x < 32) { __syncthreads(); y[threadIdx.x] = 1; }
        else {
            __syncthreads(); y[threadIdx.x] = 2; }
    }
    __global__ void reads(const int *y, int *w) { w[threadIdx.x] = y[threadIdx.x]; }"""

    def launches():
        y, w = ck.empty(64, "i4"), ck.empty(64, "i4")
        program.reads[1, 64](y, w)
        program.ends[1, 64](y)
        program.reads[1, 64](ck.empty(64, "i4"), w)

    with ck.checking():
        program = ck.compile(text)
    before, error = ck.check(launches)
    assert (before.advice[:5], error.kind) == ("Fill ", "barrier")

    def later():
        y, w = ck.empty(64, "i4"), ck.empty(64, "i4")
        program.ends[1, 64](y)
        program.reads[1, 64](y, w)

    _, after = ck.check(later)
    assert after.advice.startswith("The earlier launch of ends did not finish: mend that first. If it does not write")


def test_a_cooperative_kernel_can_wait_for_all_blocks():
    text = """#include <cooperative_groups.h>
        __global__ void grid(int *sum, int *y) {
            auto all = cooperative_groups::this_grid();
            if (all.thread_rank() == 0) *sum = 0;
            __syncthreads();
            atomicAdd(sum, 1);
            all.sync();
            y[all.thread_rank()] = *sum;
        }"""
    with ck.checking():
        program = ck.compile(text)
    found = ck.check(program.grid, 2, 32, ints(1), ints(), cooperative=True)
    assert {one.advice for one in found if one.lines == (4, 6)} == {
        "__syncthreads() in line 5 waits for the threads of one block only: use all.sync()."
    }
    with ck.checking():
        program = ck.compile(text.replace("__syncthreads();", ""))
    found = ck.check(program.grid, 2, 32, ints(1), ints(), cooperative=True)
    assert "all.sync() between lines 4 and 6, where all threads reach it." in {one.advice for one in found}


@pytest.fixture(scope="module")
def whole():
    parts = [f'#line 1 "{name}.cu"\n{text}\n' for name, (text, *_) in WHOLE.items()]
    with ck.checking():
        return ck.compile("".join(parts))


@pytest.mark.parametrize("name", WHOLE)
def test_the_advice_fits_the_whole_kernel(whole, name):
    _, blocks, threads, arguments, advice = WHOLE[name]
    found = ck.check(whole[name][blocks, threads], *arguments())
    for lines, words in advice.items():
        at = [one.advice for one in found if one.lines == lines]
        assert at, str(found)
        assert all(re.search(words, one) for one in at), str(found)


def test_lines_belong_to_the_file_that_a_directive_names():
    text = 'a\n#line 7 "other.cu"\nb\nc\n#line 3\nd'
    assert lines_of("kernels.cu", "kernels.cu", text) == ["a"]
    assert lines_of("other.cu", "kernels.cu", text) == ["", "", "d", "", "", "", "b", "c"]
    assert lines_of("third.cu", "kernels.cu", text) == []


def test_steps_of_one_warp_in_a_branch():
    program = ck.compile(
        """
        __global__ void sum(const float *x, float *y) {
            __shared__ float s[64];
            int t = threadIdx.x;
            s[t] = x[t];
            __syncthreads();
            if (t < 32) {
                s[t] += s[t + 32];
                s[t] += s[t + 16];
                s[t] += s[t + 8];
            }
            if (t < 8) y[t] = s[t];
        }
        """
    )
    found = ck.check(program.sum[1, 64], np.ones(64, "f4"), np.zeros(8, "f4"))
    assert len(found) == 2
    assert all("__syncwarp() between lines" in one.advice and "in the if" in one.advice for one in found)


TWINS = r"""
__global__ void queue(int *next, const float *x, float *y, int n) {
    __shared__ int job;
    while (true) {
        FIRST
        if (threadIdx.x == 0) job = atomicAdd(next, 1);
        __syncthreads();
        if (job >= n) break;
        y[job * 64 + threadIdx.x] = x[job * 64 + threadIdx.x] * 2;
    }
}
__global__ void half(int *y, int n) {
    int v = threadIdx.x;
    if (v < n) v += __shfl_down_sync(0xffffffff, v, 8);
    y[threadIdx.x] = v;
}
__global__ void product(const int *row, const int *col, const float *v, const float *x, float *y) {
    float sum = 0;
    for (int j = row[threadIdx.x]; j < row[threadIdx.x + 1]; ++j) sum += v[j] * x[col[j]];
    y[threadIdx.x] = sum;
}
__global__ void xyz(float *p, int n) { for (int i = 0; i < n; ++i) p[4 * threadIdx.x + i] = i; }
__global__ void norm(const float4 *p, float *y) { float4 v = p[threadIdx.x]; y[threadIdx.x] = v.x * v.x + v.w * v.w; }
__global__ void ws(const float *p, float *y) { y[threadIdx.x] += p[4 * threadIdx.x + 3]; }
"""


@pytest.fixture(scope="module", params=["", "__syncthreads();"], ids=["wrong", "right"])
def twin(request):
    with ck.checking():
        return ck.compile(TWINS.replace("FIRST", request.param)), bool(request.param)


def test_a_queue_of_work_without_its_first_barrier(twin):
    program, is_right = twin
    findings = ck.check(program.queue[3, 64], np.zeros(1, "i4"), np.ones(640, "f4"), np.zeros(640, "f4"), 10)
    assert (not findings) == is_right
    if not is_right:
        assert "is not enough in a loop: another one must come at its end, __syncthreads()" in findings[0].advice


def test_a_lane_that_does_not_call_a_shuffle(twin):
    program, is_right = twin
    findings = ck.check(program.half[1, 32], np.zeros(32, "i4"), 32 if is_right else 16)
    assert [one.kind for one in findings] == ["warp"] * (not is_right)
    assert is_right or "lane 8 reads from lane 16, which has ended without calling it" in findings[0].message
    if not is_right:
        (one,) = ck.check(program.half[1, 16], np.zeros(16, "i4"), 16)
        assert "lane 8 reads from lane 16, which does not exist" in one.message


def test_far_from_all_arrays_the_wild_index_is_named(twin):
    program, is_right = twin
    row, col = np.arange(5, dtype="i4"), np.array([0, 1, 3 if is_right else 1_000_000_000, 3], "i4")
    findings = ck.check(program.product[1, 4], row, col, *np.ones((2, 4), "f4"), np.zeros(4, "f4"))
    assert [one.kind for one in findings] == ["bounds"] * (not is_right)
    if not is_right:
        # Where x happens to be the nearest array, the element is named.
        far = r"x\[col\[j\]\] at address 0x\w+, which is in none of"
        assert re.match(rf"thread 2 reads ({far}|x\[1000000000\]; x has 4 floats)", findings[0].message)
        assert re.search("test (it|the index) first", findings[0].advice)


def test_what_is_read_with_a_vector_may_still_have_no_value(twin):
    """As a part of a vector, which may be a struct with padding, it is none of the findings; by itself, it is one."""
    program, is_right = twin

    def steps():
        p = ck.empty(256, "f4")
        y = ck.zeros(64, "f4")
        program.xyz[1, 64](p, 4 if is_right else 3)
        program.norm[1, 64](p, y)
        program.ws[1, 64](p, y)

    findings = ck.check(steps)
    assert [(one.kind, one.kernel) for one in findings] == [("uninitialised", "ws")] * (not is_right)
