"""Pairs of 16-bit numbers. The functions of one number are tested bit by bit in test_half.py; those of pairs must agree
with them, and conversions and operators with NumPy."""

import re
import subprocess

import numpy as np
import pytest

import cuda_api
from cudakern.own import nvrtc
from test_half import KINDS, rounded, triples, values

kinds = pytest.mark.parametrize("kind", KINDS)
PAIRS = {"half": "half2", "bfloat16": "bfloat162"}


@pytest.fixture
def library(side):
    return cuda_api.load(side, "dialect_half")


def pairs_of(x):
    """Bit patterns as pairs: the second number of each is another one."""
    return np.ascontiguousarray(np.stack([x, np.roll(x, 1)], axis=1))


@kinds
def test_functions_of_pairs_agree_with_those_of_one_number(library, kind):
    inputs = [pairs_of(x) for x in triples(kind, 3000)]
    n, columns = len(inputs[0]), library.raw.function_columns()
    out = library.buffer(np.zeros((n, columns // 2, 2, 2), np.uint16))
    library.launch(
        f"run_{PAIRS[kind]}_functions", *(library.buffer(x) for x in inputs), out, n, grid=-(-n // 128), block=128
    )
    pair, single = (out.get()[:, :, i] for i in (0, 1))
    nan = np.isnan(values(kind, pair)) & np.isnan(values(kind, single))
    apart = np.abs(pair.astype(int) - single.astype(int)) * ~nan
    # A GPU may compute h2sin and similar functions, columns 8 to 20, in another way than hsin.
    allowed = np.zeros(columns // 2, int)
    allowed[8:21] = library.side != "emulator"
    wrong = np.argwhere(apart > allowed[None, :, None])
    assert not len(wrong), (wrong[0], pair[tuple(wrong[0])], single[tuple(wrong[0])])
    assert (pair[:, 0] != pair[:, 1]).any()  # the columns differ at all


@kinds
@np.errstate(all="ignore")
def test_operators_of_pairs(library, kind):
    draw = np.random.default_rng(1)
    x, y = (draw.integers(0, 65536, (4000, 2)).astype(np.uint16) for _ in range(2))
    x[:500] = y[:500]
    x[500:1000, 0] = y[500:1000, 0]
    n = len(x)
    out = library.buffer(np.zeros((n, 10, 2), np.uint16))
    library.launch(f"run_{PAIRS[kind]}_operators", library.buffer(x), library.buffer(y), out, n, grid=32, block=128)
    got = out.get()
    a, b = (values(kind, bits).astype(np.longdouble) for bits in (x, y))
    up, down = (rounded(kind, a + by) for by in (1, -1))
    again = [rounded(kind, values(kind, step)) for step in (up, down)]
    expected = [rounded(kind, value) for value in (a + b, a - b, a * b, a / b)] + [up, again[0], down, again[1]]
    for column, bits in enumerate(expected):
        numbers = ~np.isnan(values(kind, bits))
        assert np.array_equal(got[:, column][numbers], bits[numbers]), column
        assert np.isnan(values(kind, got[:, column][~numbers])).all()
    unordered = np.isnan(a) | np.isnan(b)
    compared = (a == b, (a != b) | unordered, a < b, a <= b, a > b, a >= b)
    assert np.array_equal(got[:, 9, 0], sum(both.all(axis=1).astype(np.uint16) << i for i, both in enumerate(compared)))


@kinds
def test_parts_and_conversions_of_pairs(library, kind):
    f = np.random.default_rng(2).standard_normal((64, 2)).astype(np.float32) * 9
    words = library.buffer(np.zeros((64, 12, 2), np.uint16))
    floats, numbers = library.buffer(np.zeros((64, 4), np.float32)), library.buffer(np.zeros((64, 4), np.uint16))
    library.launch(f"run_{PAIRS[kind]}_parts", library.buffer(f), words, floats, numbers, block=64)
    low, high = rounded(kind, f[:, 0]), rounded(kind, f[:, 1])
    minus = low ^ 0x8000
    expected = [
        (low, high),
        (minus, low),
        (high, high),
        (high, high),
        (high, low),
        (low, low),
        (low, low),
        (high, high),
    ]
    expected += [(low, minus), (high, low), (high, low)]
    for column, pair in enumerate(expected):
        assert np.array_equal(words.get()[:, column], np.stack(pair, axis=1)), column
    x, y = values(kind, low), values(kind, high)
    re_ = values(kind, rounded(kind, x * -x + x))  # (x + iy)(-x + ix) + (x + iy), rounded after each multiply-add
    im = values(kind, rounded(kind, x * x + y))
    expected = np.stack([rounded(kind, -y * x + re_), rounded(kind, y * -x + im)], axis=1)
    assert np.array_equal(words.get()[:, 11], expected)
    assert np.array_equal(floats.get(), np.stack([x, y, x, y], axis=1))
    stepped = [low, high, rounded(kind, x + 1), rounded(kind, y - 1)]
    stepped[2:] = [rounded(kind, values(kind, s) + by) for s, by in zip(stepped[2:], (1, -1), strict=True)]
    assert np.array_equal(numbers.get(), np.stack(stepped, axis=1))


@kinds
def test_pairs_between_threads(library, kind):
    x = np.random.default_rng(3).integers(0, 2, (64, 2)) * 0.5  # sums that are exact
    bits = rounded(kind, x)
    out, total = library.buffer(np.zeros((32, 4, 2), np.uint16)), library.buffer(np.zeros(2, np.uint16))
    library.launch(f"run_{PAIRS[kind]}_exchange", library.buffer(bits), out, total, block=64)
    lane = np.arange(32)
    down = np.where(lane % 16 + 3 < 16, lane + 3, lane)
    sources = np.stack([np.full(32, 5), np.where(lane >= 3, lane - 3, lane), down, lane ^ 9], axis=1)
    assert np.array_equal(out.get(), bits[sources])
    assert np.array_equal(values(kind, total.get()), x.sum(axis=0))


def test_atomic_sums_of_vectors(library):
    two, four, most = (library.buffer(np.zeros(n, dtype)) for n, dtype in ((2, "f4"), (4, "f4"), (1, "u2")))
    library.launch("run_vector_sums", two, four, most, grid=3, block=64)
    total = 3 * sum(range(64))
    assert two.get().tolist() == [192, total]
    assert four.get().tolist() == [192, total, -total, 384]
    assert most.get()[0] == max(t * 37 % 251 for t in range(64))


@pytest.mark.parametrize("kind, dtype", [("half2", (np.uint16, 2)), ("float4", (np.uint32, 4))])
def test_hints_for_caches(library, kind, dtype):
    x = np.arange(40 * dtype[1], dtype=dtype[0]).reshape(40, dtype[1])
    out = library.buffer(np.zeros((40, 6, dtype[1]), dtype[0]))
    library.launch(f"run_hints_{kind}", library.buffer(x), out, block=40)
    assert (out.get() == x[:, None]).all()


def test_the_emulator_has_every_function_of_the_toolkit(tmp_path):
    """With the types of parameters and result that CUDA's own headers declare."""
    folders = nvrtc.headers()
    if not folders:
        pytest.skip("no CUDA toolkit is installed")
    lines = ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>", "#include <utility>", "using std::declval;"]
    for name in ("cuda_fp16.h", "cuda_bf16.h"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (folders[0] / name).read_text(), flags=re.S)
        text = re.sub(r"__CUDA_(?:FP|BF)16_DEPRECATED__\(", "!", text)
        declared = r"__CUDA_(?:HOSTDEVICE_)?(?:FP|BF)16_DECL__\s+([\w\s*&]+?)\b(\w+)\s*\(([^)]*)\)\s*;"
        for result, function, parameters in re.findall(declared, text):
            plain = [re.sub(r"(\*?)\s*(?:const)?\s*\b\w+\s*(?:=.*)?$", r"\1", p.strip()) for p in parameters.split(",")]
            call = f"{function}({', '.join(f'declval<{p}>()' for p in plain)})"
            lines.append(f'static_assert(std::is_same<decltype({call}), {result.strip()}>::value, "{function}");')
    assert len(lines) > 400
    (tmp_path / "list.cu").write_text("\n".join(lines))
    line = ["c++", "-std=c++17", "-x", "c++", "-fsyntax-only", *cuda_api.HEADERS]
    run = subprocess.run([*line, str(tmp_path / "list.cu")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:3000]
