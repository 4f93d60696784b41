"""What a trace shows: marked lines, and two traces side by side."""

import functools
import html
import json
import pickle

import numpy as np
import pytest

import cudakern as ck
from cudakern.insight import counts
from cudakern.insight.variants import trace_variant

TRANSPOSE = r"""
__global__ void transpose(const float *x, float *y, int n) {
    __shared__ float s[32][32];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    s[threadIdx.y][threadIdx.x] = x[r * n + c];
    __syncthreads();
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
"""


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    """As in a terminal that is wide enough."""
    monkeypatch.setenv("COLUMNS", "120")


compiled = functools.cache(ck.compile)


def traced(source, *arguments, grid=1, block=32, number=0):
    """Of the source's kernel of that number."""
    with ck.use_backend("emulator"):
        program = compiled(source)
        return ck.trace(program[program.kernels[number]][grid, block], *arguments)


def transposed(source):
    x = np.zeros((64, 64), np.float32)
    return traced(source, x, np.zeros_like(x), 64, grid=(2, 2), block=(32, 32))


@pytest.fixture(scope="module")
def square():
    return transposed(TRANSPOSE)


@pytest.fixture(scope="module")
def padded():
    return transposed(TRANSPOSE.replace("[32][32]", "[32][33]"))


def by_access(table, column):
    """A column's cells by the line and the access."""
    names = list(table.columns)
    return {(row[0], row[names.index("access")]): row[names.index(column)] for row in table.rows}


# --- by_line ---------------------------------------------------------------------------------------------------------
def test_costly_lines_are_marked(square, padded):
    table = square.by_line()
    assert [table.rows[i][:3] for i in table.marked] == [["> 7", "", "shared load"]]
    assert by_access(table, "cost")["> 7", "shared load"] == "91%"
    why = "line 7, shared load, 91% of the cost: up to 32 different words that lanes want at once are in one bank: "
    assert table.note.startswith(f"{why}32 wavefronts per request, 1 would do.")
    assert square.table().note.startswith(why)  # which is what a trace displays
    assert "> 7" in table.text()
    assert table.html().count("background:#ffe9a8") == len(table.columns)
    assert table.html().count("<br>") == table.note.count("\n") > 0
    assert not padded.by_line().marked
    assert "line" not in padded.by_line().note


REASONS = [
    ("y[i] = x[i];", ""),
    ("y[i] = x[2 * i];", "67% of the cost: neighboring lanes access 8 bytes apart: 8 sectors per request, 4 would"),
    ("y[i] = x[i + 1];", ""),  # five sectors, and no less would do but for the end of the array
    ("if (i == 0) for (int k = 0; k < 32; ++k) y[k] = x[k];", "100% of the cost: only 1 of 32 lanes takes part"),
    ("for (int k = 0; k < 32; ++k) y[i] = x[0];", ""),  # all lanes read one word
    ("y[i] = x[i * i % 61];", "separate pieces: "),
    ("y[i] = x[i / 16 * 40 + i % 16];", ""),  # two pieces of whole sectors
    ("y[i] = ((char *)x)[i / 16 * 40 + i % 16];", ""),  # one sector more than would do
    ("y[i] = ((char *)x)[i / 8 * 40 + i % 8];", "lies in 4 separate pieces: 4 sectors per request, 1 would do"),
    ("if (i % 2) y[i] = x[i];", "the lanes in between take no part: 4 sectors per request, 2 would do"),
]


@pytest.mark.parametrize("number", range(len(REASONS)))
def test_what_is_marked(number):
    text = "__global__ void k{}(const float *x, float *y) {{ int i = threadIdx.x; {} }}\n"
    texts = "".join(text.format(i, body) for i, (body, _) in enumerate(REASONS))  # compiled together
    why = REASONS[number][1]
    trace = traced(texts, np.zeros(64, "f4"), np.zeros(32, "f4"), number=number)
    loads = [line for line in trace.by_line().note.splitlines() if ", global load" in line]
    assert len(loads) == bool(why)
    assert all(why in line for line in loads)


@pytest.mark.parametrize(
    "body, remedy",
    [
        ("y[i] = x[i];", ""),
        ("y[i] = x[i + 1];", ""),
        ("y[i] = x[i * n];", "let threadIdx.x run along the contiguous axis"),
        ("y[i] = x[2 * i];", "let neighboring threads access neighboring elements"),
        ("y[i] = ((const float3 *)x)[i].y;", "store one array per member instead of an array of structs"),
        ("y[i] = ((const char *)x)[i / 8 * 40 + i % 8];", "let each warp access longer rows"),
        ("y[i] = x[i * i * i % 911];", "where data decides on the addresses, sort it first"),
        ("atomicAdd(y, x[i]);", "sum in each warp first"),
        (
            "__shared__ float s[32][32]; s[0][i] = x[i]; __syncwarp(); y[i] = s[i][0];",
            "pad each row of the shared array",
        ),
        ("__shared__ float s[32][33]; s[0][i] = x[i]; __syncwarp(); y[i] = s[i][0];", ""),
        ("if (i % 2) y[i] = x[i];", "let neighboring lanes take part"),
        ("if (i == 0) for (int k = 0; k < n; ++k) y[k] = x[k];", "let all lanes of the warp take part"),
    ],
)
def test_what_would_help(body, remedy):
    trace = traced(f"__global__ void k(const float *x, float *y, int n) {{ int i = threadIdx.x; {body} }}",
                   np.zeros(2048, "f4"), np.zeros(64, "f4"), 64)  # fmt: skip
    found = [line for line in trace.by_line().note.splitlines() if line.startswith("What would help")]
    assert len(found) == bool(remedy)
    assert all(line.startswith(f"What would help line 1: {remedy}") for line in found)
    assert all(line in html.unescape(trace.by_line().html()) for line in found)


def test_lanes_that_take_turns():
    source = """__global__ void k(float *y) {
        __shared__ float s[1];
        atomicAdd(y, 1.f);
        y[1] = atomicAdd(s, 2.f);
    }"""
    on_global, on_shared = sorted(traced(source, np.zeros(2, "f4")).table().note.splitlines()[:2])
    why = "of the cost: up to 32 lanes change one address, and take turns: 32 {} per request, 1 would do."
    assert on_global.startswith("line 3, global reduction, ")
    assert on_global.endswith(why.format("sectors"))
    assert on_shared.startswith("line 4, shared atomic, ")
    assert on_shared.endswith(why.format("wavefronts"))


def test_lines_with_the_same_reason_are_one_sentence():
    source = """__global__ void k(const float *x, float *y, float *z) {
        const int i = 8 * threadIdx.x;
        y[i] = x[i];
        z[i] = x[i] + x[i + 1];
    }"""
    note = traced(source, *(np.zeros(256, "f4") for _ in "xyz")).by_line().note
    why = "neighboring lanes access 32 bytes apart: 32 sectors per request, 4 would do."
    assert note.startswith(f"lines 3 and 4, global load and global store, 100% of the cost: {why}\n")


def test_what_else_a_note_says():
    source = """__constant__ float c[32];
    __global__ void k(float *y) {
        y[threadIdx.x] = c[threadIdx.x % 16];
        if (threadIdx.x > 3) y[threadIdx.x] += c[0];
        y[0] += 1;
    }"""
    note = traced(source, np.zeros(32, "f4")).by_line().note
    assert "line 3, constant load: up to 16 different words, which come one after another" in note
    assert "line 4, constant load" not in note
    assert "Predicate: an if so small" in note
    assert "0 bytes of shared" not in note


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_source_in_a_narrow_terminal(square, monkeypatch, columns):
    """Its lines are above their figures, as wide as the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = square.by_line().text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip() == "5     s[threadIdx.y][threadIdx.x] = x[r * n + c];")
    assert lines[at + 1].split()[:3] == ["global", "load", "128"]
    assert lines[at + 2].split()[:3] == ["shared", "store", "128"]
    assert any(line.split()[:4] == [">", "shared", "load", "128"] for line in lines)
    heads = next(line for line in lines if "requests" in line)
    assert heads.index("requests") + len("requests") == lines[at + 1].index("128") + 3
    assert max(map(len, lines)) <= max(columns, 67)
    assert ("hits" in " ".join(lines)) == (columns >= 80)
    monkeypatch.setenv("COLUMNS", "160")
    assert any("x[r * n + c];" in line and "global load" in line for line in square.by_line().text().splitlines())


# --- compare ---------------------------------------------------------------------------------------------------------
def test_two_traces_side_by_side(square, padded):
    compared = square.compare(padded)
    assert compared.figures["shared load wavefronts"] == (4096, 128)
    assert compared.figures["shared load bank conflicts"] == (3968, 0)
    assert compared.figures["bytes moved"] == (32768, 32768)
    assert "shared atomic requests" not in compared.figures  # 0 in both
    changed = {row[0]: row[-1] for row in compared.table().rows if row[-1] != "same"}
    gone = {
        "shared load wavefronts": "1/32",
        "wavefronts per shared load": "1/32",
        "shared load bank conflicts": "gone",
    }
    assert changed == gone
    assert compared.table().columns[1] == "transpose\n[(2, 2), (32, 32)] (first)"
    passes = "4,480 -> 512 passes (global sectors 1,024, shared wavefronts 4,224 -> 256)"
    assert compared.total == f"Total: the second costs 8.75 times less, {passes}."
    assert compared.table().note == compared.by_line().note == compared.total
    assert padded.compare(square).total.startswith("Total: the first costs 8.75 times less, 512 -> 4,480 passes")
    assert square.compare(square).total.startswith("Total: both cost the same, 4,480 passes")
    assert "background" in compared._repr_html_()
    json.dumps(compared.to_dict())


def test_lines_side_by_side(square, padded):
    table = square.compare(padded).by_line()
    assert by_access(table, "wavefronts")["7", "shared load"] == "4,096 -> 128"
    assert by_access(table, "sectors")["7", "global store"] == "512"
    assert [table.rows[i][2] for i in table.marked] == ["shared load"]


def test_lines_that_moved(square):
    """A line more at the beginning, one that is changed, and one that is only there."""
    other = TRANSPOSE.replace("    __shared__", "    // a tile\n    __shared__").replace("x[r * n + c]", "x[c * n + r]")
    other = other.replace("}\n", "    if (!n) y[0] = 1;\n    y[0] = 2;\n}\n")
    table = square.compare(transposed(other)).by_line()
    sectors = by_access(table, "sectors")
    assert sectors["5 -> 6", "global load"] == "512 -> 4,096"
    assert sectors["7 -> 8", "global store"] == "512"
    assert sectors["- -> 10", "global store"] == "- -> 128"


def test_lines_of_two_kernels_of_one_source():
    """Accesses of a kind match in their order, those of similar lines first."""
    source = (
        TRANSPOSE
        + """
__global__ void plain(const float *x, float *y, int n) {
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    y[c * n + r] = x[r * n + c];
}
"""
    )
    with ck.use_backend("emulator"):
        program, x = ck.compile(source), np.zeros((64, 64), np.float32)
        tiled, plain = (
            ck.trace(kernel[(2, 2), (32, 32)], x, np.zeros_like(x), 64) for kernel in (program.transpose, program.plain)
        )
    table = tiled.compare(plain).by_line()
    assert by_access(table, "sectors") == {
        ("5 -> 12", "global load"): "512",
        ("5 -> -", "shared store"): "",
        ("7 -> -", "shared load"): "",
        ("7 -> 12", "global store"): "512 -> 4,096",
    }
    text = "s[threadIdx.y][threadIdx.x] = x[r * n + c];"
    assert [row[1] for row in table.rows[:2]] == [f"{text}\n-> y[c * n + r] = x[r * n + c];", text]
    back = plain.compare(tiled).by_line()
    assert by_access(back, "sectors")["12 -> 7", "global store"] == "4,096 -> 512"
    assert [row[0] for row in tiled.compare(tiled).by_line().rows] == ["5", "5", "7", "7"]


def test_every_figure_has_a_short_name():
    source = """__global__ void k(float *x, double *y) {
        const int i = threadIdx.x;
        x[i] = x[i] * 2 + 1 + 3 * (x[0] + 1);
        y[i] = y[i] * 2 + 1 + 3 * (y[0] + 1);
    }"""
    compared = traced(source, np.zeros(32, "f4"), np.zeros(32)).compare(traced("__global__ void k() {}"))
    assert not [name for name in compared.figures if "__" in name]
    assert compared.figures["float additions"][0] > 0
    assert compared.figures["double fused multiply-adds"][0] > 0


def test_traces_of_variants_have_their_names():
    a = np.ones((32, 32), np.float32)
    naive, tiled = (ck.trace(ck.matmul, a, a, variant=name) for name in ("naive", "tiled"))
    table = naive.compare(tiled).table()
    assert list(table.columns) == ["figure", "matmul naive", "matmul tiled", "change"]
    assert list(naive.compare(naive).table().columns)[1:3] == ["matmul naive (first)", "matmul naive (second)"]
    assert {row[-1] for row in naive.compare(naive).table().rows} == {"same"}
    assert naive.compare(tiled).figures["operations in float"][0] == 2 * 32**3
    assert any(row[0].startswith("- -> ") for row in naive.compare(tiled).by_line().rows)


# --- heatmap ---------------------------------------------------------------------------------------------------------
LOOP = r"""
__global__ void sums(const float *x, float *y, int n) {
    __shared__ float s[32 * 16];
    const int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 5; ++k)
        sum += x[16 * t + k];
    for (int k = 0; k < 16; ++k)
        s[16 * t + 2 * k % 16] = sum;
    y[blockIdx.x * 32 + t] = sum;
}
"""


def test_requests_step_by_step():
    """Of the first warp that makes one, in one block."""
    trace = traced(LOOP, np.zeros(512, "f4"), np.zeros(96, "f4"), 1, grid=3)
    load, store, once = (next(one for one in trace.instructions if one.line == line) for line in (7, 9, 10))
    assert [[request[lane][1] - load.steps[0][0][1] for lane in (0, 31)] for request in load.steps] == [
        [4 * k, 64 * 31 + 4 * k] for k in range(5)
    ]
    assert len(store.steps) == 8  # of 16
    assert len(once.steps) == 1  # the other blocks' are not another iteration
    figure = trace.heatmap(7, steps=3)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == [
        "request 1: 32 lanes, 32 sectors",
        "request 2: 32 lanes, 32 sectors, +4 bytes",
        "request 3: 32 lanes, 32 sectors, +8 bytes",
    ]
    assert "32 lanes, 16 wavefronts" in trace.heatmap(9, steps=8).axes[7].get_title()
    once = trace.heatmap(10, steps=8).axes[0].get_title()
    assert once == "line 10: global store of 4 bytes per lane\n32 lanes, 4 sectors"
    with pytest.raises(ValueError, match="heatmap: steps must be"):
        trace.heatmap(7, steps=9)


PASSES = """
__global__ void k(float *y, int *h) {
    __shared__ float4 s[64];
    __shared__ double e[64];
    __shared__ int bins[32];
    const int t = threadIdx.x;
    s[t] = make_float4(t, t, t, t);
    e[2 * t] = t;
    float4 v = s[t / 2];
    float4 w = s[2 * t % 64];
    atomicAdd(&bins[t % 4], t);
    atomicAdd(&bins[t % 4], 1);
    int old = atomicAdd(&bins[t % 32], 1);
    atomicAdd(&h[0], t);
    atomicAdd(&h[t % 16], t);
    y[t] = v.x + v.y + v.z + v.w + w.x + w.y + w.z + w.w + old + e[t];
}
"""


def test_the_picture_of_a_request_has_its_passes():
    """Parts of the warp one after another, and lanes that take turns."""
    trace = traced(PASSES, np.zeros(32, "f4"), np.zeros(32, "i4"))
    titles = {one.line: trace.heatmap(one.line).axes[0].get_title().split("\n")[1] for one in trace.instructions}
    parts, turns = "in {} parts of the warp", "because lanes on one {} take turns"
    assert titles == {
        7: f"32 lanes, 4 wavefronts, {parts.format(4)}",
        8: f"32 lanes, 4 wavefronts, {parts.format(2)}",
        9: f"32 lanes, 2 wavefronts, {parts.format(2)}",
        10: f"32 lanes, 8 wavefronts, {parts.format(4)}",
        11: f"32 lanes, 8 wavefronts, {turns.format('bank')}",
        12: "32 lanes, 1 wavefront",  # additions of 1 without a result
        13: "32 lanes, 1 wavefront",
        14: "32 lanes, 1 sector, because one lane makes the operation for all",
        15: f"32 lanes, 4 sectors, {turns.format('address')}",
        16: "32 lanes, 4 sectors",
    }
    for one in trace.instructions:
        if one.line != 16:  # where there are two kinds of access
            assert f" {one.wavefronts or one.sectors} " in titles[one.line]
    labels = [label.get_text() for label in trace.heatmap(7).axes[0].get_yticklabels()]
    assert labels == ["lanes 0 to 7", "lanes 8 to 15", "lanes 16 to 23", "lanes 24 to 31"]


def test_the_picture_of_neighbors_that_are_loaded_together():
    """A loop's four neighbors in a row are one load of 16 bytes: its quarters have conflicts, not words of 4 bytes."""
    source = """__global__ void k(float *y) {
        __shared__ float s[32][16];
        float sum = 0;
        y[threadIdx.x] = s[0][threadIdx.x % 16];
        __syncthreads();
        for (int i = 0; i < 8; ++i)
            sum += s[threadIdx.x][i];
        y[threadIdx.x] += sum;
    }"""
    trace = traced(source, np.zeros(32, "f4"))
    (load,) = (one for one in trace.instructions if one.line == 7)
    assert (load.requests, load.wavefronts, load.ideal) == (2, 32, 8)
    title = "line 7: shared load of 16 bytes per lane\n32 lanes, 16 wavefronts, in 4 parts of the warp"
    assert trace.heatmap(7).axes[0].get_title() == title
    assert "up to 4 different words that lanes want at once are in one bank: 16 wavefronts" in trace.by_line().note


def test_the_picture_of_the_costliest_line(square):
    assert square.heatmap().axes[0].get_title() == "line 7: shared load of 4 bytes per lane\n32 lanes, 32 wavefronts"
    with pytest.raises(ValueError, match="no line accesses memory"):
        traced("__global__ void k() {}").heatmap()


@pytest.mark.parametrize(
    "step, apart", [(1, ""), (8, ", 32 bytes from lane to lane"), (256, ", 1,024 bytes from lane to lane")]
)
def test_the_picture_says_how_far_lanes_are_apart(step, apart):
    source = "__global__ void k(const float *x, float *y, int n) { y[threadIdx.x] = x[n * threadIdx.x]; }"
    picture = traced(source, np.zeros(8192, "f4"), np.zeros(32, "f4"), step).heatmap(1)
    title = f"line 1: global load of 4 bytes per lane{apart}\n32 lanes, {4 if step == 1 else 32} sectors"
    assert picture.axes[0].get_title() == title


def test_steps_are_those_of_the_first_launch():
    with ck.use_backend("emulator"):
        program, x, y = ck.compile(LOOP), np.zeros(512, "f4"), np.zeros(32, "f4")

        def twice():
            for _ in range(2):
                program.sums[1, 32](x, y, 1)

        trace = ck.trace(twice)
    assert [bool(one.steps) for one in trace.instructions if one.line == 7] == [True, False]
    assert len(trace.heatmap(7, steps=2).axes) == 2


def test_what_is_measured_is_not_counted():
    x = np.ones(100, np.float32)
    measured = ck.trace(lambda: ck.profile(ck.vector_add, x, x, variant="naive", repeat=1))
    assert "nothing was counted (profile, ladder, bench and lab" in measured.table().title
    title = ck.trace(ck.matmul, np.zeros((0, 5), "f4"), np.zeros((5, 3), "f4")).table().title
    assert title == "matmul: no kernel was launched, so there is nothing to count"
    assert str(ck.trace(lambda: None)) == "<lambda>: no kernel was launched, so there is nothing to count"
    assert "nothing was counted (its kernels access no memory)" in str(traced("__global__ void k() {}"))


# --- launches --------------------------------------------------------------------------------------------------------
def test_launches_have_their_sizes(square):
    table = square.launches.table()
    assert list(table.columns)[:4] == ["", "kernel", "grid", "block"]
    assert table.rows[0][:4] == ["0", "transpose", "2 x 2", "32 x 32"]
    assert by_column(table, "sectors") == ["1,024"]
    assert "transpose, grid 2 x 2, block 32 x 32" in str(square.launches[0])
    assert square.launches[0].grid == (2, 2, 1)
    with ck.use_backend("emulator"):
        program = ck.compile("__global__ void a(int *x) { *x = 1; } __global__ void b(int *x) { *x = 2; }")
        x = ck.zeros(1, "int32")
        trace = ck.trace(lambda: [program[name][1, 32](x) for name in "aab"])
    assert by_column(trace.launches.table(), "kernel") == ["a", "a", "b"]
    assert str(trace).startswith("<lambda>: 3 launches, each in .launches")
    many = ck.trace(lambda: [program.a[1, 32](x) for _ in range(130)])
    assert "130 launches" in (text := many.launches.table().text())
    assert "... and 30 more." in text
    assert isinstance(ck.trace(lambda: None).launches.table().text(), str)


def test_copies_of_the_package_are_named():
    """They are compiled in the plain mode alone, so that they do not report what they access."""
    with ck.use_backend("emulator"):
        x = ck.zeros((64, 64), "float32")
        trace = ck.trace(ck.vector_add, x[::2, ::2], x[1::2, ::2])
        only = ck.trace(lambda: x.T.copy())
    note = "Not counted: {}, with which the package copies, converts and fills arrays."
    assert note.format("strided_copy (2 launches)") in trace.by_line().note
    assert by_column(trace.launches.table(), "sectors")[:2] == ["-", "-"]
    assert str(only).splitlines() == ["<lambda>: nothing was counted", note.format("strided_transpose (1 launch)")]


def test_copies_by_tma_and_products_show_their_bytes():
    tiles, naive = (trace_variant("matmul", name, "float16", (64, 64, 64)) for name in ("wgmma_tiles", "naive"))
    table = tiles.table()
    assert by_column(table, "sectors")[list(by_column(table, "access")).index("TMA load")] == "512"
    assert "Shared bytes: what TMA and wgmma read or write" in table.note
    figures = tiles.compare(naive).figures
    assert figures["bytes read by TMA"] == (2 * 128 * 64 * 2, 0)  # boxes are filled up with zeros
    assert figures["operations in matrix"][0] >= 2 * 64**3
    assert figures["bytes moved"][0] < figures["bytes moved"][1]


def test_what_a_kernel_needs(square):
    """Registers: if a compiler can say."""
    known = ck.kernel_resources("matmul", "tiled")[0]
    a = np.ones((32, 32), np.float32)
    tiled = ck.trace(ck.matmul, a, a, variant="tiled")
    assert by_column(tiled.launches.table(), "registers") == [f"{known.registers}"]
    assert f"Needs {known.registers} registers per thread, " in str(tiled)
    assert "4,096 bytes of shared memory per block" in str(square)


def test_traces_can_be_pickled(square):
    assert str(pickle.loads(pickle.dumps(square))) == str(square)
    assert str(pickle.loads(pickle.dumps(square)).launches) == str(square.launches)


def test_names_of_launches_are_short():
    a = np.ones((32, 32), np.float32)
    trace = ck.trace(ck.matmul, a, a, variant="warp_tiles")
    assert by_column(trace.launches.table(), "kernel") == ["warp_tiles<...>"]
    assert trace.kernel.startswith("matmul::warp_tiles<matmul::warp_tiles_size<")
    assert str(trace).startswith("matmul warp_tiles: warp_tiles<...>, grid 1, block 128; ")
    files = [row[1] for row in trace.by_line().rows if row[1].endswith(".cuh:")]
    assert files[0] == "16_warp_tiles.cuh:"  # the costliest one


def by_column(table, name):
    at = list(table.columns).index(name)
    return [row[at] for row in table.rows]


def test_compare_takes_a_trace(square):
    with pytest.raises(TypeError, match="compare takes another trace, not 5"):
        square.compare(5)


def test_lines_are_never_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = str(ck.trace(ck.matmul, np.ones((40, 40), "f4"), np.ones((40, 40), "f4"), variant="tiled"))
    assert "05_tiled.cuh:35" in text


def test_how_long_a_trace_takes(monkeypatch):
    now, launch, done = 100.0, 7, 30

    class Library:
        def counters_done(self, blocks, number):
            blocks._obj.value, number._obj.value = 6000, launch
            return done

    monkeypatch.setattr(counts.time, "monotonic", lambda: now)
    pace = counts._Pace(Library())
    assert not pace.said()  # the launch has just begun
    now = 100.4
    assert not pace.said()
    now = 101.0
    assert pace.said() == (
        "Counting: 30 of 6,000 blocks, about 199 s left. A smaller array, or fewer rounds of a loop, show the same"
        " sectors per request (with 60 blocks in 2 s)"
    )
    done = 0
    assert "the first one takes long" in pace.said()
    done = 3000
    assert not pace.said()  # it takes two seconds
    launch, done = 8, 1
    assert not pace.said()
