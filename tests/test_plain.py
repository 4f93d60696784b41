"""source(plain=True), of every variant in the table: it compiles as it is, and its example gives the variant's result.
And diff, which compares plain texts."""

import pickle
import re

import numpy as np
import pytest

import cudakern as ck
from cudakern.calls import table
from cudakern.operations.registry import operation, registry
from cudakern.sources import variant
from cudakern.sources.variant import listed

KERNELS = [(op, entry.name) for op in registry() for entry in ck.variants(op) if entry.kernels]
LAST = "matmul", "small_tiles"  #: of the ladder's kernels without tensor cores or clusters


def in_full(text):
    return text.startswith("// In full, as a template without an example, because it needs ")


def the_example(text):
    """The arrays' names, types, shapes, and whether they are zeros; the launches."""
    head, launches = re.search(r"// An example, with (.*?):\n((?://     .*\n)+)", text, re.S).groups()
    arrays = re.findall(r"(\w+): (\w+) \(([^)]*)\)(, zeros)?", head.replace("\n//", ""))
    shapes = [tuple(int(n) for n in shape.split(",") if n.strip()) for *_, shape, _ in arrays]
    named = [(name, dtype, shape, bool(zeros)) for (name, dtype, _, zeros), shape in zip(arrays, shapes, strict=True)]
    return named, re.findall(r"//     (.*)\n", launches)


def run_example(text, inputs):
    """Compiles the text, launches as it says, and returns the arrays that are neither inputs nor zeros at first."""
    program = ck.compile(text)
    arrays, results, left = {}, [], [np.array(x) for x in inputs]
    named, launches = the_example(text)
    for name, dtype, shape, zeros in named:
        fits = [x for x in left if x.ndim == len(shape) and all(n <= m for n, m in zip(x.shape, shape, strict=True))]
        is_input = not zeros and fits and re.search(rf"const [\w ]+ \*{name}\b", text)
        arrays[name] = np.zeros(shape, dtype)
        if is_input:
            given = fits[0]
            left = [x for x in left if x is not given]
            padded = np.zeros(shape, given.dtype)  # the rows of some are longer
            padded[tuple(map(slice, given.shape))] = given
            arrays[name] = padded.view(dtype)
        elif not zeros or name == "partials":
            results.append(arrays[name])
    for variable, values in constants(text, left):
        program.symbol(variable)[: values.size] = values
    names = {name: getattr(program, name) for name in program.kernels} | arrays | {"program": program}
    for launch in launches:
        eval(launch, {"float": float}, names)
    return results


def constants(text, left):
    """Arrays in constant memory are set before the launch, from the inputs that are no arguments."""
    return zip(re.findall(r"__constant__ \w+ (\w+)\[", text), left, strict=False)


@pytest.mark.parametrize(
    "op, name", [pytest.param(*one, marks=pytest.mark.full if i % 3 else ()) for i, one in enumerate(KERNELS)]
)
def test_the_plain_text_of_every_variant_gives_its_result(emulator, op, name):
    text = ck.source(op, name, plain=True)
    if in_full(text):
        return
    assert "template <typename T" not in text.partition("__global__")[2]  # for one type
    for word in ("namespace", "#ifndef", "__restrict__", "static_cast", "int64_t", "operand_stack", "clock64"):
        assert word not in re.sub("//.*", "", text), word
    if "cudaTextureObject_t" in text:  # which Python does not make
        assert ck.compile(text).kernels
        return
    found, inputs = listed(table.find(op, name))
    if "scalars" in text:
        text = text.replace("__constant__ four scalars;", f"__constant__ four scalars = {braces(inputs[1])};")
    results = run_example(text, inputs)
    expected = np.asarray(operation(op).reference(*inputs))
    if "// The result is the sum of `partials`." in text:
        results = [np.asarray(sum(results[0].reshape(-1)))]
    shapes = [result[tuple(map(slice, expected.shape))] for result in results if result.ndim == expected.ndim]
    (got,) = [result for result in shapes if result.shape == expected.shape] or [results[0].reshape(expected.shape)]
    if got.dtype.kind in "iu" and got.dtype != expected.dtype:
        got = got.view(found.run.outputs[0].dtype)
    np.testing.assert_allclose(got, expected, 1e-4, 1e-4)


def braces(numbers):
    return "{" + ", ".join(f"{number}u" for number in numbers) + "}"


def refuse():
    raise NotImplementedError("no")


def test_which_kernels_are_shown_in_full(monkeypatch):
    matmul = [entry.name for entry in ck.variants("matmul") if entry.kernels]
    shown = [name for name in matmul if not in_full(ck.source("matmul", name, plain=True))]
    assert shown == matmul[: matmul.index(LAST[1]) + 1]
    head = " ".join(ck.source("matmul", "few_rows", plain=True).splitlines()[:2]).replace(" // ", " ")
    assert head.endswith(' because it needs clusters of blocks: matmul(..., variant="few_rows") launches it.')
    page = ck.source("matmul", "wgmma_tiles")._repr_html_()
    assert "In full" in page
    assert "as it is written" not in page  # which is what is shown
    monkeypatch.setattr(variant, "listed", lambda entry: refuse())
    head = "// In full, as a template without an example, because its example needs another device: no"
    assert repr(ck.source("matmul", "naive")).startswith(head)
    monkeypatch.undo()
    others = [op for op, name in KERNELS if op != "matmul" and in_full(ck.source(op, name, plain=True))]
    assert others == ["sort"]  # CUB's


def test_plain_texts_are_those_of_a_textbook():
    assert (
        ck.source("matmul", "naive", plain=True)
        == """\
// matmul, "naive": One thread per element.
constexpr int FLAT_THREADS = 256;

__global__ void naive(const float *a, const float *b, float *c, int m, int n, int k) {
    const int idx = blockIdx.x * FLAT_THREADS + threadIdx.x;
    const int row = idx / n, column = idx % n;
    if (row >= m) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

// An example, with a: float32 (100, 60); b: float32 (60, 80); c: float32 (100, 80):
//     naive[32, 256](a, b, c, 100, 80, 60)
"""
    )
    hello = ck.source("hello", "greeting", plain=True)
    assert "greeting(const unsigned *x, unsigned *y, int n, int lines) {" in hello
    assert "    y[i] = x[i] + i;\n" in hello
    assert "result[i] = *a * x[i] + y[i];" in ck.source("saxpy", "naive", plain=True)
    assert "gray[row * width + column] =" in ck.source("grayscale", "blocks_2d", plain=True)
    assert max(map(len, ck.source("matmul", "tiled", plain=True).splitlines())) <= 100


def test_plain_texts_have_conditions_and_no_dead_code():
    text = ck.source("matmul", "vectorized", plain=True)
    assert " ".join(text.splitlines()[1:3]) == (
        "// It gives wrong results where a row does not start at a multiple of 16 bytes, or its length is "
        "// not a multiple of four."
    )
    assert "fours" not in text.lower()
    assert "float4 four_of_row(const float *row, int inside) {" in text
    assert "wrong results" not in ck.source("matmul", "warp_tiles", plain=True)
    assert "contiguous" not in ck.source("grayscale", "vectorized", plain=True)
    assert "shared_row[100, 256, 4 * 60](a, b, c, 100, 80, 60, 60)" in ck.source("matmul", "shared_row", plain=True)


def test_padded_rows_are_part_of_the_example():
    (a, b, c), launches = the_example(ck.source("matmul", "tiled_padded", plain=True))
    assert (a, b, c) == tuple(
        (name, "float32", shape, False) for name, shape in (("a", (112, 64)), ("b", (64, 80)), ("c", (112, 80)))
    )
    assert "int a_pitch" in ck.source("matmul", "pitched", plain=True)
    assert launches[0].startswith("tiled_padded[(5, 7), (16, 16)](a, b, c, ")


def test_notebooks_show_the_plain_text_first():
    code = ck.source("matmul", "tiled")
    plain = ck.source("matmul", "tiled", plain=True)
    page = code._repr_html_()
    assert page.startswith(plain._repr_html_())
    assert page.count("<details>") == len(code.helpers) + 1  # the kernel as it is written, and what it uses
    assert page.index("__global__") < page.index("05_tiled.cuh, as it is written") < page.index("compensated.cuh")
    assert repr(code).startswith(str(plain))
    assert "compensated.cuh" in repr(code)
    assert "operand_stack" not in repr(code)
    assert repr(plain) == str(plain)
    copy = pickle.loads(pickle.dumps(plain))
    assert copy == plain
    assert copy.kernel == plain.kernel
    cp_async = ck.source("matmul", "double_buffered", plain=True)
    assert "#include &lt;cuda_pipeline.h&gt;" in re.sub("<.*?>", "", cp_async._repr_html_())


def test_diff():
    change = ck.diff("matmul", "tiled_plain")
    assert change.startswith("--- matmul, naive_2d\n+++ matmul, tiled_plain\n")
    assert "-    if (row >= m || column >= n) return;" in change.splitlines()
    assert "+    __shared__ float a_tile[TILE][TILE];" in change.splitlines()
    assert "An example" not in change
    assert repr(change) == change
    page = change._repr_html_()
    assert page.count("<tr>") > 10
    lines = re.findall(r"<td[^>]*>(.*?)</td>", page)
    assert "- constexpr int SQUARE = 16;" in lines
    assert "+ constexpr int TILE = 16;" in lines
    assert "  }" in lines
    assert pickle.loads(pickle.dumps(change))._repr_html_() == page
    assert ck.diff(ck.matmul, "tiled_plain") == change
    assert ck.diff("matmul", "naive_2d", "tiled_plain") == change
    further = ck.diff("matmul", "naive", "tiled")
    assert further.startswith("--- matmul, naive\n+++ matmul, tiled\n")
    assert not ck.diff("matmul", "naive", "naive")


def test_errors_of_diff():
    with pytest.raises(ValueError, match="'naive' is the first step, with no step before it; 'kahan' comes after it"):
        ck.diff("matmul", "naive")
    with pytest.raises(ValueError, match="unknown variant 'tild' of matmul: the nearest is 'tiled'"):
        ck.diff("matmul", "tild")
    with pytest.raises(ValueError, match="'numpy' is computed by NumPy and has no kernel"):
        ck.diff("matmul", "numpy")
    with pytest.raises(ValueError, match="unknown variant 'tild' of matmul: the nearest is 'tiled'"):
        ck.diff("matmul", "naive", "tild")
    with pytest.raises(TypeError, match="a name or a function"):
        ck.diff(3, "tiled")
