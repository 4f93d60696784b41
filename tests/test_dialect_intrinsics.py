"""Intrinsic functions of doubles, compared with exact fractions; of integers in words, with Python's integers; special
functions, with SciPy's."""

import math
import re
import subprocess
from fractions import Fraction

import numpy as np
import pytest

import cuda_api
from cudakern.own import nvrtc


@pytest.fixture
def library(side):
    return cuda_api.load(side, "dialect_intrinsics")


def call(library, entry, *arrays, outputs):
    """The outputs (columns, type) of a kernel over arrays of one length."""
    n = len(arrays[0])
    buffers = [library.buffer(np.ascontiguousarray(x)) for x in arrays]
    results = [library.buffer(np.zeros((n, columns), dtype)) for columns, dtype in outputs]
    library.launch(entry, *buffers, *results, n, grid=-(-n // 64), block=64)
    return [result.get() for result in results]


# --- doubles ---------------------------------------------------------------------------------------------------------
@np.errstate(over="ignore")
def toward(exact, how, kind):
    """The number of that kind on the right side of an exact fraction; zeros are positive."""
    largest = float(np.finfo(kind).max)
    try:
        nearest = kind(float(exact)) if kind is np.float64 else nearest_float(exact)
    except OverflowError:
        nearest = kind(-math.inf if exact < 0 else math.inf)
    up = how == "ru" or (how == "rz" and exact < 0)
    if math.isinf(nearest):
        inward = (nearest > 0) != up
        return kind(math.copysign(largest, nearest)) if inward and how != "rn" else nearest
    if how == "rn" or Fraction(float(nearest)) == exact:
        return nearest
    if up:
        return nearest if Fraction(float(nearest)) > exact else np.nextafter(nearest, kind(np.inf))
    return nearest if Fraction(float(nearest)) < exact else np.nextafter(nearest, kind(-np.inf))


@np.errstate(over="ignore")
def nearest_float(exact):
    """A double is exact here."""
    return np.float32(float(exact))


def square_root(x, how):
    """Of a fraction, rounded to a double."""
    root = math.isqrt(x.numerator * x.denominator << 400)  # / (denominator << 200), rounded down
    below = Fraction(root, x.denominator << 200)
    is_exact = below * below == x
    return toward(below if is_exact else below + Fraction(1, x.denominator << 210), how, np.float64)


def hard_doubles(n=3000):
    """Triples: any size, near each other, near the smallest and the largest numbers, products that nearly cancel."""
    draw = np.random.default_rng(1)
    x, y, z = draw.standard_normal((3, n)) * 2.0 ** draw.integers(-40, 40, (3, n))
    part = n // 8
    x[:part], y[:part], z[:part] = draw.integers(0, 2**63, (3, part)).view(np.float64)
    y[part : 2 * part] = -x[part : 2 * part] * (1 + draw.integers(-3, 4, part) * 2.0**-52)
    z[2 * part : 3 * part] = -x[2 * part : 3 * part] * y[2 * part : 3 * part]
    scale = 2.0 ** draw.integers(-540, -480, (2, part))
    x[3 * part : 4 * part], y[3 * part : 4 * part] = (draw.standard_normal((2, part)) * scale).clip(-1, 1)
    z[3 * part : 4 * part] = draw.integers(-9, 9, part) * 5e-324
    scale = 2.0 ** draw.integers(500, 515, (2, part))
    x[4 * part : 5 * part], y[4 * part : 5 * part] = draw.standard_normal((2, part)) * scale
    x[5 * part : 6 * part] = draw.integers(-99, 99, part) * 5e-324
    z[6 * part : 7 * part] *= 2.0 ** draw.choice([-900, -300, -299, 299, 300, 301, 900], part)
    ends = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2.0**-1022, 3.0]
    few = np.array(np.meshgrid(ends, ends, ends)).reshape(3, -1)
    return np.concatenate([np.stack([x, y, z]), few], axis=1)


def test_arithmetic_of_doubles_in_three_directions(library):
    x, y, z = hard_doubles()
    finite = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    x, y, z = x[finite], y[finite], z[finite]
    (got,) = call(library, "run_directed", x, y, z, outputs=[(25, np.float64)])
    for a, b, c, row in zip(x.tolist(), y.tolist(), z.tolist(), got.tolist(), strict=True):
        p, q, r = Fraction(a), Fraction(b), Fraction(c)
        exact = [p + q, p - q, p * q, p / q if b else None, p * q + r, 1 / p if a else None]
        for i, value in enumerate(exact):
            for j, how in enumerate(("rz", "ru", "rd")):
                if value is not None:
                    assert row[3 * i + j] == toward(value, how, np.float64), (i, how, a, b, c)
        for j, how in enumerate(("rz", "ru", "rd")):
            if a > 0:
                assert row[18 + j] == square_root(p, how), (how, a)
            assert row[21 + j] == toward(p, how, np.float32), (how, a)
        assert row[24] == toward(p, "rn", np.float32), a


def test_zeros_infinities_and_nan(library):
    """As the IEEE standard has them: x - x is -0 downward, and 0 otherwise."""
    x = np.array([1, 1, -0.0, 0, -0.0, np.inf, np.inf, np.nan, -1, 0])
    y = np.array([-1, 1, 0, 0, -0.0, 1, -np.inf, 1, 0, 0])
    (got,) = call(library, "run_directed", x, y, np.array([1, -1, 0, 0, 0, 1, 1, 1, 0, 1.0]), outputs=[(25, "f8")])
    with np.errstate(all="ignore"):
        nearest = [x + y, x - y, x * y, x / y]
    for i, expected in enumerate(nearest):
        for j in range(3):
            numbers = ~np.isnan(expected)
            finite = np.isfinite(expected) & (expected != 0)
            assert np.isnan(got[~numbers, 3 * i + j]).all()
            same = numbers & ~finite
            exact = expected[same] + 0.0
            assert np.array_equal(got[same, 3 * i + j], exact)
    assert [math.copysign(1, got[0, j]) for j in range(3)] == [1, 1, -1]  # 1 + -1
    assert [math.copysign(1, got[1, 3 + j]) for j in range(3)] == [1, 1, -1]  # 1 - 1
    assert [math.copysign(1, got[2, j]) for j in range(3)] == [1, 1, -1]  # -0 + 0
    assert [math.copysign(1, got[4, j]) for j in range(3)] == [-1, -1, -1]  # -0 + -0
    assert [math.copysign(1, got[1, 12 + j]) for j in range(3)] == [1, 1, -1]  # 1 * 1 + -1
    assert np.isnan(got[8, 18:21]).all()  # the root of -1
    assert got[5, 18:21].tolist() == [np.inf] * 3
    assert got[9, 15:18].tolist() == [np.inf] * 3  # 1 / 0


def test_integers_to_doubles(library):
    draw = np.random.default_rng(2)
    ends = [sign * 2**k + d for k in (0, 31, 32, 52, 53, 54, 62) for sign in (1, -1) for d in range(-4, 5)]
    x = np.array([*ends, 2**63 - 1, -(2**63), *draw.integers(-(2**63), 2**63, 200)], np.int64)
    (got,) = call(library, "run_integers_to_doubles", x, outputs=[(10, np.float64)])
    modes = ("rz", "ru", "rd", "rn")
    for a, row in zip(x.tolist(), got.tolist(), strict=True):
        expected = [toward(Fraction(v), how, np.float64) for v in (a, a % 2**64) for how in modes]
        assert row == [*expected, (a + 2**31) % 2**32 - 2**31, a % 2**32], a


def test_words_of_doubles(library):
    x = np.random.default_rng(3).standard_normal(100)
    words, back = call(library, "run_words_of_doubles", x, outputs=[(2, np.int32), (1, np.float64)])
    assert np.array_equal(words[:, ::-1].copy().view(np.float64), x[:, None])
    assert np.array_equal(back[:, 0], x)


# --- integers in words -----------------------------------------------------------------------------------------------
def names(macro):
    text = (cuda_api.SOURCES / "dialect_intrinsics.cu").read_text()
    body = re.split(r"(?<!\\)\n", text.partition(f"#define {macro}(X)")[2])[0]
    return re.findall(r"X\(__v(\w+)\)", body)


def clipped(value, low, high):
    return max(low, min(high, value))


def of_parts(name, bits, a, b, c=0):
    """The word that a function gives for words of parts of so many bits."""
    is_signed = (name.endswith("s") and not name.endswith("us")) or name == "neg" or "_s" in name
    size = 2**bits

    def parts(word):
        values = [word >> at & (size - 1) for at in range(0, 32, bits)]
        return [v - size if is_signed and v >= size // 2 else v for v in values]

    low, high = (-size // 2, size // 2 - 1) if is_signed else (0, size - 1)

    def sum_of(x, y):
        return (x + y - low) % size + low

    best = max if "max" in name else min
    compare = {
        "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y,
        "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
    }  # fmt: skip
    functions = {
        "neg": lambda x, y, z: -x,
        "negss": lambda x, y, z: clipped(-x, low, high),
        "abs": lambda x, y, z: abs(x),
        "absss": lambda x, y, z: clipped(abs(x), low, high),
        "add": lambda x, y, z: x + y,
        "addss": lambda x, y, z: clipped(x + y, low, high),
        "addus": lambda x, y, z: clipped(x + y, low, high),
        "sub": lambda x, y, z: x - y,
        "subss": lambda x, y, z: clipped(x - y, low, high),
        "subus": lambda x, y, z: clipped(x - y, low, high),
        "absdiff": lambda x, y, z: abs(x - y),
        "avg": lambda x, y, z: (abs(x + y) + 1) // 2 * (1 if x + y >= 0 else -1),
        "haddu": lambda x, y, z: (x + y) // 2,
        "max": lambda x, y, z: max(x, y),
        "min": lambda x, y, z: min(x, y),
    }
    values = list(zip(parts(a), parts(b), parts(c), strict=True))
    if name.startswith("sad"):
        return sum(abs(x - y) for x, y, _ in values)
    if name.startswith(("cmp", "set")):
        true = size - 1 if name.startswith("cmp") else 1
        results = [true * compare[name[3:5]](x, y) for x, y, _ in values]
    elif name.startswith("i"):  # imax3_s16x2_relu
        sums = name.startswith("iadd")
        third = sums or "3_" in name
        results = [best(*((sum_of(x, y), z) if sums else (x, y, z) if third else (x, y))) for x, y, z in values]
        results = [max(result, 0) for result in results] if name.endswith("relu") else results
    else:
        function = functions.get(name) or functions[name[:-1]]
        results = [function(*value) for value in values]
    return sum(result % size << bits * i for i, result in enumerate(results))


def test_integers_in_words(library):
    draw = np.random.default_rng(4)
    ends = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x80008000, 0x80808080]
    pairs = [(a, b, b ^ a) for a in ends for b in ends]
    x, y, z = np.concatenate([pairs, draw.integers(0, 2**32, (250, 3))]).astype(np.uint32).T
    x[-40:] = y[-40:]
    of_both = [(name, bits) for macro in ("SIMD_1", "SIMD_2") for name in names(macro) for bits in (16, 8)]
    extremes = [(name, 16 if "16x2" in name else 32) for macro in ("EXTREMES_2", "EXTREMES_3") for name in names(macro)]
    functions = of_both + extremes
    assert len(functions) > 100
    n, columns = len(x), len(functions)
    out = library.buffer(np.zeros((n, columns), np.uint32))
    library.launch("run_simd", *map(library.buffer, (x, y, z)), out, columns, n, grid=-(-n // 64), block=64)
    got = out.get()
    for column, (name, bits) in enumerate(functions):
        expected = [of_parts(name, bits, *words) for words in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
        assert got[:, column].tolist() == expected, (name, bits)


def test_the_smaller_or_greater_of_two_and_which(library):
    x, y = np.random.default_rng(5).integers(0, 2**32, (2, 300)).astype(np.uint32)
    x[:50] = y[:50]
    x[50:100] = (x[50:100] & 0xFFFF) | (y[50:100] & 0xFFFF0000)
    (got,) = call(library, "run_choices", x, y, outputs=[(16, np.uint32)])
    column = 0
    for halves in (False, True):
        for best in (np.maximum, np.minimum):
            for is_signed in (True, False):
                dtype = f"{'i' if is_signed else 'u'}{2 if halves else 4}"
                a, b = (v.view(dtype).reshape(len(x), -1) for v in (x, y))
                result = best(a, b)
                assert np.array_equal(got[:, column], np.ascontiguousarray(result).view(np.uint32)[:, 0])
                first = (result == a).astype(np.uint32)
                assert np.array_equal(got[:, column + 1], first[:, 0] + (2 * first[:, 1] if halves else 0))
                column += 2


def test_sums_of_products(library):
    draw = np.random.default_rng(6)
    x, y, z = draw.integers(0, 2**32, (3, 400)).astype(np.uint32)
    x[:4] = y[:4] = 0x80808080, 0xFFFFFFFF, 0x80008000, 0x7F7F7F7F
    (got,) = call(library, "run_dots", x, y, z, outputs=[(12, np.uint32)])
    for unsigned in (0, 1):
        kind = "u" if unsigned else "i"
        bytes_of = [v.view(f"{kind}1").reshape(-1, 4).astype(np.int64) for v in (x, y)]
        halves = x.view(f"{kind}2").reshape(-1, 2).astype(np.int64)
        sums = [(bytes_of[0] * bytes_of[1]).sum(axis=1)]
        sums += [(halves * bytes_of[1][:, at : at + 2]).sum(axis=1) for at in (0, 2)]
        for i, total in enumerate(sums):
            expected = (total + z) % 2**32
            for way in (0, 2):
                assert np.array_equal(got[:, 4 * i + unsigned + way], expected), (i, unsigned, way)


def test_bits_of_words(library):
    draw = np.random.default_rng(7)
    x, y = draw.integers(0, 2**32, (2, 600)).astype(np.uint32)
    by = draw.integers(-40, 41, 600).astype(np.int32)
    (got,) = call(library, "run_bits", x, y, by, outputs=[(6, np.uint32)])
    for a, b, n, row in zip(x.tolist(), y.tolist(), by.tolist(), got.tolist(), strict=True):
        shift = min(n % 2**32, 32)
        both = b << 32 | a
        assert row[:2] == [(both << shift) >> 32 & 0xFFFFFFFF, both >> shift & 0xFFFFFFFF]
        base = b % 32
        places = [i for i in range(32) if a >> i & 1 and (i >= base if n > 0 else i <= base)]
        places = [i for i in places if i == base] if n == 0 else places[:: 1 if n > 0 else -1]
        at = max(abs(n) - 1, 0)
        assert row[2] == (places[at] if at < len(places) else 2**32 - 1), (a, base, n)
        assert row[3:] == [a ^ b, (a - 1) % 2**32, (a + max(a, b)) % 2**32]


# --- special functions -----------------------------------------------------------------------------------------------
def test_special_functions(library):
    """Within 16 units in the last place of SciPy's, which are not exact themselves; CUDA documents up to 8."""
    special = pytest.importorskip("scipy.special")
    draw = np.random.default_rng(8)
    small = 10.0 ** draw.uniform(-12, -1, 300)
    unit = np.concatenate([draw.uniform(-1, 1, 500), small, -small, 1 - small, [0.5, -0.5, 0.25]])
    wide = np.concatenate([draw.uniform(-5, 40, 500), draw.uniform(-2, 2, 200)])
    positive = np.abs(unit)
    for column, (x, function) in enumerate(
        [
            (unit, special.erfinv),
            (np.concatenate([positive, 1 + positive[:500]]), special.erfcinv),
            (positive, special.ndtri),
            (wide, special.erfcx),
            (wide, special.i0),
            (wide, special.i1),
        ]
    ):
        got, narrow = call(library, "run_special", x, outputs=[(6, np.float64), (6, np.float32)])
        expected = function(x)
        limit = 16 * np.spacing(np.abs(expected))
        if column < 3:  # close to 0 in the middle, where the argument's own rounding counts
            limit += 4e-16
        assert (np.abs(got[:, column] - expected) <= limit).all(), (
            column,
            x[np.argmax(np.abs(got[:, column] - expected) / limit)],
        )
        rounded = function(x.astype(np.float32).astype(np.float64))
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.abs(narrow[:, column] - rounded) <= 8 * np.spacing(np.abs(rounded).astype(np.float32)) + 1e-15
        assert (near | (narrow[:, column] == rounded.astype(np.float32))).all(), column
    (ends, _) = call(library, "run_special", np.array([0.0, 1, 2, -1, 3]), outputs=[(6, "f8"), (6, "f4")])
    assert ends[:4, 0].tolist()[:2] == [0, np.inf]
    assert ends[3, 0] == -np.inf
    assert ends[:3, 1].tolist() == [np.inf, 0, -np.inf]
    assert ends[:2, 2].tolist() == [-np.inf, np.inf]
    assert np.isnan(ends[4, :3]).all()


def test_norms(library):
    draw = np.random.default_rng(9)
    x = draw.standard_normal((200, 5)) * np.repeat([1, 1e-30, 1e30, 1], 50)[:, None]
    x[:5] = np.eye(5)
    x[150:] = np.round(x[150:] * 100)
    x[150:, 0] = 3
    wide, narrow = call(library, "run_norms", x, outputs=[(7, np.float64), (6, np.float32)])
    for i, row in enumerate(x):
        exact = [math.hypot(*row[:n]) for n in (5, 3, 4)]
        expected = [value for norm in exact for value in (norm, 1 / norm if norm else math.inf)]
        hypot = math.hypot(*row[:2])
        np.testing.assert_allclose(wide[i], [*expected, 1 / hypot if hypot else math.inf], rtol=4e-15)
        np.testing.assert_allclose(narrow[i], np.array(expected), rtol=1e-6)


# --- kinds of memory -------------------------------------------------------------------------------------------------
def test_kinds_of_memory(library):
    out = library.buffer(np.zeros((64, 15), np.uint32))
    library.launch("run_spaces", out, block=64, shared=512)
    shared, local, everywhere = [0, 1, 0], [0, 0, 1], [1, 0, 0]
    for t, row in enumerate(out.get().tolist()):
        assert row[:12] == [*shared, *shared, *local, *everywhere]
        assert row[12:] == [8 * t, 1, 63 - t]


# --- CUDA's own lists ------------------------------------------------------------------------------------------------
HEADERS = (
    "crt/device_functions.h", "crt/device_double_functions.h", "sm_20_intrinsics.h", "sm_30_intrinsics.h",
    "sm_32_intrinsics.h", "sm_61_intrinsics.h", "crt/sm_70_rt.h", "crt/sm_80_rt.h", "sm_32_atomic_functions.h",
    "sm_60_atomic_functions.h", "device_atomic_functions.h",
)  # fmt: skip
#: Constant memory, which is not told from global memory; a debugger's and a profiler's; names that CUDA calls obsolete.
WITHOUT = re.compile(
    r"__is(?:Grid)?Constant|__uni_sync|__pm\d|__prof_trigger|__brkpt|fdivide|syncthreads_\w+|[a-z]+2double|double2\w+"
    r"|d(?:add|sub|mul)"
)


def test_the_emulator_has_every_intrinsic_of_the_toolkit(tmp_path):
    """With the types of parameters and result that CUDA's own headers declare."""
    folders = nvrtc.headers()
    if not folders or not all((folders[0] / name).is_file() for name in HEADERS):
        pytest.skip("no CUDA toolkit is installed")
    lines = {"#include <cuda_runtime.h>": None, "#include <utility>": None, "using std::declval;": None}
    words = "int|long|char|short|float|double|unsigned|size_t|[us]?(?:char|short|int)[24]"
    for name in HEADERS:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (folders[0] / name).read_text(), flags=re.S).replace(
            "__DEF_IF_HOST", ";"
        )
        declared = (
            r"(?:\w*_DECL__|__(?:device|cudart)_builtin__)\s+(?:__\w+\s+)*((?:(?:const|unsigned|signed|long)\s+)*\w+\s*\**)"
            r"\s*\b(\w+)\s*\(([^()]*)\)\s*(?:__\w+\([^)]*\)\s*)?;"
        )
        for result, function, parameters in re.findall(declared, text):
            obsolete = WITHOUT.fullmatch(function) or "cudaRoundMode" in parameters
            if function.startswith("__nv_") or "DECL" in result or obsolete:
                continue
            plain = [p.partition("=")[0].strip() for p in parameters.split(",")]
            types = [re.sub(rf"(?<=[\w*\s])\b(?!(?:{words})\b)\w+$", "", p) for p in plain if p not in ("", "void")]
            call = f"{function}({', '.join(f'declval<{kind}>()' for kind in types)})"
            check = f'static_assert(std::is_same<decltype({call}), {result.strip()}>::value, "{function}");'
            lines[check] = None
    assert len(lines) > 600
    (tmp_path / "list.cu").write_text("\n".join(lines))
    line = ["c++", "-std=c++17", "-x", "c++", "-fsyntax-only", *cuda_api.HEADERS]
    run = subprocess.run([*line, str(tmp_path / "list.cu")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:3000]
