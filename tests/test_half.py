"""Half precision and bfloat16 on the device: each bit pattern, and each way of rounding, against an exact reference.

The reference knows the numbers themselves: a float16 by NumPy, a bfloat16 as the upper half of a float32. It rounds by
looking up between which two of them a number lies, and on which side of their middle.
"""

import re
import subprocess
from fractions import Fraction

import numpy as np
import pytest

import cuda_api

KINDS = ("half", "bfloat16")
PATTERNS = np.arange(65536, dtype=np.uint16)
QUIET = {"half": 0x7FFF, "bfloat16": 0x7FFF}  # what every NaN becomes
INFINITE = {"half": 0x7C00, "bfloat16": 0x7F80}

kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def library(side):
    return cuda_api.load(side, "half")


def convert(library, name, x, to):
    """What the kernel `name` makes of each element of x."""
    x = np.ascontiguousarray(x)
    source, target = library.buffer(x), library.buffer(np.zeros(x.size, to))
    library.launch(f"run_{name}", source, target, x.size, grid=-(-x.size // 256), block=256)
    return target.get()


@np.errstate(invalid="ignore")  # a signalling NaN becomes a quiet one
def values(kind, bits=PATTERNS):
    """The numbers behind bit patterns, in float64, which holds them all."""
    bits = np.asarray(bits, np.uint16)
    if kind == "half":
        return bits.view(np.float16).astype(np.float64)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


@np.errstate(invalid="ignore")
def rounded(kind, x):
    """The bit patterns nearest to x, exactly: of two equally near the even one, beyond the largest infinity."""
    x = np.asarray(x)
    wide = x.astype(np.longdouble)  # exact for every type here
    magnitude = np.abs(np.where(np.isnan(wide), 0, wide))
    grid = values(kind, PATTERNS[: INFINITE[kind]]).astype(np.longdouble)  # finite, rising; the index is the pattern
    grid = np.append(grid, 2 * grid[-1] - grid[-2])  # the next, if there were one: infinity takes its place
    below = np.clip(np.searchsorted(grid, magnitude, side="right") - 1, 0, len(grid) - 2)
    middle = (grid[below] + grid[below + 1]) / 2
    bits = below + ((magnitude > middle) | ((magnitude == middle) & (below % 2 == 1)))
    bits = np.where(np.isinf(magnitude), INFINITE[kind], bits) | np.where(np.signbit(wide), 0x8000, 0)
    return np.where(np.isnan(wide), QUIET[kind], bits).astype(np.uint16)


def hard_floats(kind, dtype, seed=0):
    """Numbers that show a wrong rounding: every number of the kind, every middle of two, both with the next float on
    either side; random bits (subnormals, infinities, NaN among them); the edges of the range."""
    draw = np.random.default_rng(seed)
    finite = values(kind, PATTERNS[: INFINITE[kind]])
    middles = np.append((finite[1:] + finite[:-1]) / 2, finite[-1] + (finite[-1] - finite[-2]) / 2)
    with np.errstate(over="ignore"):
        points = np.concatenate([finite, middles]).astype(dtype)
    raw = np.uint32 if dtype == np.float32 else np.uint64
    noise = draw.integers(0, np.iinfo(raw).max, 50000, dtype=raw, endpoint=True).view(dtype)
    scaled = draw.standard_normal(50000) * 2.0 ** draw.integers(-30, 20, 50000)
    info = np.finfo(dtype)
    edges = np.array([0, info.max, info.tiny, info.smallest_subnormal, np.inf, np.nan], dtype)
    steps = [np.nextafter(points, dtype(side)) for side in (-np.inf, np.inf)]
    x = np.concatenate([points, *steps, noise, scaled.astype(dtype), edges])
    return np.concatenate([x, -x])


def hard_integers(dtype, seed=0):
    """Small ones, random ones of every length, and those next to the middle of two numbers of 8 or 11 bits."""
    draw, info = np.random.default_rng(seed), np.iinfo(dtype)
    found = [*range(max(info.min, -3000), min(info.max, 3000)), info.min, info.max]
    for bits in range(9, info.bits):
        for precision in (8, 11, 24, 53):
            if bits > precision:
                middle = (draw.integers(2 ** (precision - 1), 2**precision, 20) * 2 + 1).astype(object) << (
                    bits - precision - 1
                )
                found += [int(m) + step for m in middle for step in (-1, 0, 1)]
        found += [int(draw.integers(0, 2**bits)) for _ in range(50)]
    found += [-n for n in found]
    return np.array([n for n in found if info.min <= n <= info.max], dtype)


def same(got, expected):
    """Equal bit for bit, with the first difference shown."""
    wrong = np.flatnonzero(got != expected)
    assert not wrong.size, f"{wrong.size} differ, first [{wrong[0]}]: {got[wrong[0]]} for {expected[wrong[0]]}"


# --- the reference itself --------------------------------------------------------------------------------------------
@pytest.mark.full
def test_the_reference_rounds_as_numpy_does(library):
    x = hard_floats("half", np.float32)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16).view(np.uint16)
    numbers = ~np.isnan(x)
    same(rounded("half", x)[numbers], expected[numbers])


# --- to wider types --------------------------------------------------------------------------------------------------
@kinds
@pytest.mark.parametrize("name, dtype", [("to_float", "f4"), ("as_float", "f4"), ("as_double", "f8")])
def test_every_pattern_to_floats(library, kind, name, dtype):
    got, expected = convert(library, f"{kind}_{name}", PATTERNS, dtype), values(kind)
    numbers = ~np.isnan(expected)
    assert np.isnan(got[~numbers]).all()
    same(got[numbers], expected[numbers])
    zeros = expected == 0
    assert np.array_equal(np.signbit(got[zeros]), np.signbit(expected[zeros]))


@kinds
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_every_pattern_to_integers(library, kind, dtype):
    """Toward zero, and the nearest there is; a NaN gives 0, or among the 64-bit types 2^63."""
    x, info = values(kind), np.iinfo(dtype)
    nan = 0 if info.bits < 64 else -(2**63) if info.min else 2**63
    expected = [nan if v != v else max(info.min, min(info.max, int(v) if abs(v) < 1e300 else 0)) for v in x]
    expected = [info.max if v == np.inf else info.min if v == -np.inf else e for v, e in zip(x, expected, strict=True)]
    same(convert(library, f"{kind}_as_{dtype}", PATTERNS, dtype), np.array(expected, dtype))


@kinds
def test_every_pattern_to_bool(library, kind):
    same(convert(library, f"{kind}_as_bool", PATTERNS, np.uint8), values(kind) != 0)


@kinds
def test_negation(library, kind):
    numbers = ~np.isnan(values(kind))
    same(convert(library, f"{kind}_negated", PATTERNS, np.uint16)[numbers], (PATTERNS ^ 0x8000)[numbers])


# --- to narrower types -----------------------------------------------------------------------------------------------
@kinds
@pytest.mark.parametrize("name", ["from_float", "from_float_rn", "of_float"])
def test_rounding_of_float(library, kind, name):
    x = hard_floats(kind, np.float32)
    same(convert(library, f"{kind}_{name}", x, np.uint16), rounded(kind, x))


@kinds
@pytest.mark.parametrize("name", ["from_double", "of_double"])
def test_rounding_of_double(library, kind, name):
    """Once: a double between a middle and the float next to it shows a second rounding. Any NaN will do: a GPU keeps a
    part of a double's."""
    x = hard_floats(kind, np.float64)
    got, numbers = convert(library, f"{kind}_{name}", x, np.uint16), ~np.isnan(x)
    same(got[numbers], rounded(kind, x)[numbers])
    assert np.isnan(values(kind, got[~numbers])).all()


@kinds
@pytest.mark.parametrize("dtype", ["int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_rounding_of_integers(library, kind, dtype):
    x = hard_integers(dtype)
    same(convert(library, f"{kind}_of_{dtype}", x, np.uint16), rounded(kind, x))


@kinds
def test_there_and_back(library, kind):
    wide = convert(library, f"{kind}_to_float", PATTERNS, np.float32)
    numbers = ~np.isnan(wide)
    same(convert(library, f"{kind}_from_float", wide, np.uint16)[numbers], PATTERNS[numbers])


# --- arithmetic ------------------------------------------------------------------------------------------------------
@kinds
def test_arithmetic(library, kind):
    """Each result is the exact one, rounded once."""
    draw = np.random.default_rng(1)
    special = [0, 1, 0x8000, INFINITE[kind], INFINITE[kind] - 1, INFINITE[kind] | 0x8000, INFINITE[kind] + 1]
    pairs = np.array([(a, b) for a in special for b in special], np.uint16)
    near = draw.integers(0, 65536, 20000, dtype=np.uint16)
    pairs = np.concatenate(
        [
            pairs,
            draw.integers(0, 65536, (20000, 2), dtype=np.uint16),
            np.stack([near, near + draw.integers(0, 5000, near.size, dtype=np.uint16)], axis=1),
        ]
    )
    x, y = np.ascontiguousarray(pairs.T)
    results, order = library.buffer(np.zeros((x.size, 4), np.uint16)), library.buffer(np.zeros(x.size, np.uint8))
    library.launch(
        f"run_{kind}_calculate",
        library.buffer(x),
        library.buffer(y),
        results,
        order,
        x.size,
        grid=-(-x.size // 256),
        block=256,
    )
    with np.errstate(all="ignore"):
        a, b = values(kind, x).astype(np.longdouble), values(kind, y).astype(np.longdouble)
        # A sum of bfloat16 may be longer than a longdouble; it is then far from any middle.
        exact = np.stack([a + b, a - b, a * b, a / b], axis=1)
    same(results.get().ravel(), rounded(kind, exact).ravel())
    compared = [a == b, a != b, a < b, a > b, a <= b, a >= b]
    same(order.get(), sum(np.asarray(c, np.uint8) << i for i, c in enumerate(compared)).astype(np.uint8))


# --- CUDA's functions of them ----------------------------------------------------------------------------------------
SOURCE = (cuda_api.SOURCES / "half.cu").read_text()


def names(macro):
    """The functions of a list in half.cu, in the order of their results."""
    body = re.split(r"(?<!\\)\n", SOURCE.partition(f"#define {macro}(X)")[2])[0]
    return re.findall(r"X\((\w+)\)", body)


def functions(library, kind, x, y, z):
    """What each function gives for elements of x, y and z, by its name."""
    lists = {"UNARY": np.uint16, "BINARY": np.uint16, "TERNARY": np.uint16, "COMPARISONS": np.uint8}
    called = [names(macro) for macro in lists]
    results = [
        library.buffer(np.zeros((x.size, len(of_list)), dtype))
        for of_list, dtype in zip(called, lists.values(), strict=True)
    ]
    classes = library.buffer(np.zeros((x.size, 2), np.int8))
    inputs = [library.buffer(np.ascontiguousarray(a, np.uint16)) for a in (x, y, z)]
    library.launch(f"run_{kind}_functions", *inputs, *results, classes, x.size, grid=-(-x.size // 256), block=256)
    columns = {}
    for of_list, buffer in zip(called, results, strict=True):
        columns |= dict(zip(of_list, buffer.get().T, strict=True))
    return columns | dict(zip(("__hisnan", "__hisinf"), classes.get().T, strict=True))


def special(kind):
    one = {"half": 0x3C00, "bfloat16": 0x3F80}[kind]
    plus = [0, 1, INFINITE[kind], INFINITE[kind] - 1, INFINITE[kind] + 1, one, one + 1, one // 2]
    return np.array([bits | sign for bits in plus for sign in (0, 0x8000)], np.uint16)


def triples(kind, n=20000):
    """All special ones with each other, then drawn ones: any, and such as nearly cancel or nearly meet a middle."""
    draw = np.random.default_rng(3)
    drawn = draw.integers(0, 65536, (n, 3), dtype=np.uint16)
    near = drawn.copy()
    near[:, 1] = near[:, 0] + draw.integers(0, 3000, n, dtype=np.uint16)
    s = special(kind)
    return np.concatenate([np.stack(np.meshgrid(s, s, s), -1).reshape(-1, 3), drawn, near]).T


@pytest.fixture(scope="module")
def computed():
    """Results by side and kind: computed once."""
    return {}


def results(computed, library, kind):
    if (library.side, kind) not in computed:
        x, y, z = triples(kind)
        computed[library.side, kind] = (x, y, z, functions(library, kind, x, y, z))
    return computed[library.side, kind]


@kinds
@np.errstate(all="ignore")
def test_arithmetic_by_name(library, computed, kind):
    """__hadd and its like give the exact result rounded once, as the operators do; _sat between 0 and 1, of a NaN 0."""
    x, y, _, got = results(computed, library, kind)
    a, b = values(kind, x).astype(np.longdouble), values(kind, y).astype(np.longdouble)
    exact = {"__hadd": a + b, "__hsub": a - b, "__hmul": a * b, "__hdiv": a / b}
    for name, expected in exact.items():
        same(got[name], rounded(kind, expected))
        if name != "__hdiv":
            same(got[f"{name}_rn"], rounded(kind, expected))
            clipped = np.where(expected > 0, np.minimum(expected, 1), 0)
            same(got[f"{name}_sat"] & 0x7FFF, rounded(kind, clipped))
    numbers = ~np.isnan(values(kind, x))
    same(got["__hneg"][numbers], (x ^ 0x8000)[numbers])
    same(got["__habs"][numbers], (x & 0x7FFF)[numbers])


@kinds
def test_a_fused_multiply_add_is_rounded_once(library, kind):
    """Products next to the middle of two numbers, and something tiny that decides."""
    draw = np.random.default_rng(4)
    finite = PATTERNS[1 : INFINITE[kind]]
    x, y, z = draw.choice(finite, (3, 3000)) | (draw.integers(0, 2, (3, 3000), np.uint16) << 15)
    # (2 + d) * (1/2 + e) has bits beyond a number's, z may be far below them
    step = {"half": 1 << 10, "bfloat16": 1 << 7}[kind]
    one = {"half": 0x3C00, "bfloat16": 0x3F80}[kind]
    x[:1500] = one + draw.integers(0, step, 1500)
    y[:1500] = one + draw.choice([0, 1, step // 2, step // 4], 1500)
    got = functions(library, kind, x, y, z)
    with np.errstate(all="ignore"):
        a, b, c, found = (values(kind, bits) for bits in (x, y, z, got["__hfma"]))
    largest = Fraction(values(kind, [INFINITE[kind] - 1])[0])
    beyond = largest + Fraction(values(kind, [INFINITE[kind] - 1])[0] - values(kind, [INFINITE[kind] - 2])[0]) / 2
    for i in range(x.size):
        exact = Fraction(a[i]) * Fraction(b[i]) + Fraction(c[i])
        if abs(exact) >= beyond:
            assert np.isinf(found[i])
            assert (found[i] > 0) == (exact > 0)
            continue
        bits = int(got["__hfma"][i])
        error = abs(Fraction(found[i]) - exact)
        magnitude = bits & 0x7FFF
        for other in {magnitude + 1, max(magnitude - 1, 0)} - {INFINITE[kind], magnitude}:
            neighbour = Fraction(values(kind, [other | (bits & 0x8000)])[0])
            distance = abs(neighbour - exact)
            assert error < distance or (error == distance and bits % 2 == 0), (a[i], b[i], c[i], found[i])


@kinds
@np.errstate(all="ignore")
def test_fused_functions_agree(library, computed, kind):
    x, y, z, got = results(computed, library, kind)
    plain, wide = got["__hfma"], values(kind, got["__hfma"])
    same(got["__hfma_sat"] & 0x7FFF, rounded(kind, np.where(wide > 0, np.minimum(wide, 1), 0)))
    same(got["__hfma_relu"][wide > 0], plain[wide > 0])
    assert not values(kind, got["__hfma_relu"][wide <= 0]).any()
    assert np.isnan(values(kind, got["__hfma_relu"][np.isnan(wide)])).all()
    exact = values(kind, x).astype(np.longdouble) * values(kind, y) + values(kind, z)
    same(plain[np.isnan(exact)], np.full(np.isnan(exact).sum(), 0x7FFF, np.uint16))


@kinds
@np.errstate(invalid="ignore")
def test_comparisons_by_name(library, computed, kind):
    """A NaN compares as false, not equal too; in the functions that end in u as true."""
    x, y, _, got = results(computed, library, kind)
    a, b = values(kind, x), values(kind, y)
    unordered = np.isnan(a) | np.isnan(b)
    for name, expected in {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}.items():
        same(got[f"__h{name}"], (expected & ~unordered).astype(np.uint8))
        same(got[f"__h{name}u"], (expected | unordered).astype(np.uint8))
    same(got["__hisnan"] != 0, np.isnan(a))
    same(got["__hisinf"], (np.isinf(a) * np.sign(a)).astype(np.int8))


@kinds
@np.errstate(invalid="ignore")
def test_min_and_max(library, computed, kind):
    """The number of a number and a NaN, or by _nan the NaN; -0 is less than 0."""
    x, y, _, got = results(computed, library, kind)
    a, b = values(kind, x), values(kind, y)
    first = (a < b) | ((a == b) & np.signbit(a))
    either = np.isnan(a) | np.isnan(b)
    least, most = np.where(first, x, y), np.where(first, y, x)
    for name, of_numbers in (("__hmin", least), ("__hmax", most)):
        expected = np.where(either, np.where(np.isnan(a), y, x), of_numbers)
        expected = np.where(np.isnan(values(kind, expected)), 0x7FFF, expected)
        same(got[name], expected.astype(np.uint16))
        same(got[f"{name}_nan"], np.where(either, 0x7FFF, of_numbers).astype(np.uint16))


FUNCTIONS = {
    "hsqrt": np.sqrt,
    "hrsqrt": lambda x: 1 / np.sqrt(x),
    "hrcp": lambda x: 1 / x,
    "hexp": np.exp,
    "hexp2": np.exp2,
    "hexp10": lambda x: 10.0**x,
    "hlog": np.log,
    "hlog2": np.log2,
    "hlog10": np.log10,
    "hsin": np.sin,
    "hcos": np.cos,
    "htanh": np.tanh,
}


@kinds
@np.errstate(all="ignore")
def test_functions_of_every_pattern(library, kind):
    """Rounded once by the emulator; by a GPU within a unit in the last place, its own subnormal numbers left out."""
    got, x = functions(library, kind, PATTERNS, PATTERNS, PATTERNS), values(kind)
    for name, function in {"hceil": np.ceil, "hfloor": np.floor, "htrunc": np.trunc, "hrint": np.rint}.items():
        same(got[name], rounded(kind, function(x)))
    least = values(kind, [{"half": 0x0001, "bfloat16": 0x0080}[kind]])[0]
    plain = (x == 0) | ~np.isfinite(x) | (np.abs(x) >= least)
    for name, function in FUNCTIONS.items():
        exact = function(x)
        expected = rounded(kind, exact)
        if library.side == "emulator":
            same(got[name], expected)
            continue
        normal = plain & ((exact == 0) | ~np.isfinite(exact) | (np.abs(exact) >= least))
        if name in ("hsin", "hcos"):
            normal &= np.abs(x) < 100
        apart = np.abs(got[name].astype(int) - expected.astype(int)) * normal
        assert apart.max() <= 1, (name, x[apart.argmax()], got[name][apart.argmax()], expected[apart.argmax()])


@np.errstate(invalid="ignore")
def toward(kind, x):
    """Bit patterns of x rounded to nearest, toward zero, up and down, exactly."""
    wide = np.asarray(x).astype(np.longdouble)
    magnitude = np.abs(np.where(np.isnan(wide), 0, wide))
    grid = values(kind, PATTERNS[: INFINITE[kind]]).astype(np.longdouble)
    below = np.searchsorted(grid, magnitude, side="right") - 1
    above = np.where(grid[below] == magnitude, below, below + 1)
    below = np.where(np.isinf(wide), INFINITE[kind], below)
    sign = np.where(np.signbit(wide), 0x8000, 0)
    ways = [below, np.where(sign, below, above), np.where(sign, above, below)]
    directed = [np.where(np.isnan(wide), QUIET[kind], way | sign).astype(np.uint16) for way in ways]
    return np.stack([rounded(kind, x), *directed], axis=1)


def four(library, name, x, to):
    source, target = library.buffer(np.ascontiguousarray(x)), library.buffer(np.zeros((x.size, 4), to))
    library.launch(f"run_{name}", source, target, x.size, grid=-(-x.size // 256), block=256)
    return target.get()


WORDS = {"short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}


@kinds
def test_four_ways_of_rounding_of_float(library, kind):
    x = hard_floats(kind, np.float32)
    same(four(library, f"{kind}_of_float_by", x, np.uint16).ravel(), toward(kind, x).ravel())


@kinds
@pytest.mark.parametrize("word", WORDS)
def test_four_ways_of_rounding_of_integers(library, kind, word):
    x = hard_integers(WORDS[word])
    same(four(library, f"{kind}_of_{word}", x, np.uint16).ravel(), toward(kind, x).ravel())


@kinds
@pytest.mark.parametrize("word", WORDS)
@np.errstate(invalid="ignore")
def test_four_ways_of_rounding_to_integers(library, kind, word):
    x, info = values(kind), np.iinfo(WORDS[word])
    nan = 0 if info.bits < 64 else -(2**63) if info.min else 2**63
    got = four(library, f"{kind}_to_{word}", PATTERNS, info.dtype)
    for column, way in enumerate((np.rint, np.trunc, np.ceil, np.floor)):
        whole = [nan if v != v else info.max if v == np.inf else info.min if v == -np.inf else int(v) for v in way(x)]
        same(got[:, column], np.array([max(info.min, min(info.max, n)) for n in whole], info.dtype))


@kinds
def test_small_integers_and_bits(library, kind):
    x = values(kind)
    for word, dtype in (("char", "int8"), ("uchar", "uint8")):
        info = np.iinfo(dtype)
        expected = np.trunc(np.clip(np.nan_to_num(x, nan=0, posinf=1e9, neginf=-1e9), info.min, info.max))
        same(convert(library, f"{kind}_to_{word}", PATTERNS, dtype), expected.astype(dtype))
    same(convert(library, f"{kind}_by_short", PATTERNS, np.int16).view(np.uint16), PATTERNS)


@kinds
def test_shuffles_and_atomic_sums(library, kind):
    lanes = np.arange(32)
    x = rounded(kind, lanes / 4.0)
    out, total = library.buffer(np.zeros((32, 4), np.uint16)), library.buffer(rounded(kind, np.array([2.0])))
    library.launch(f"run_{kind}_exchange", library.buffer(x), out, total, block=32)
    sources = [0 * lanes + 5, np.where(lanes < 3, lanes, lanes - 3), np.where(lanes > 28, lanes, lanes + 3), lanes ^ 9]
    same(out.get().ravel(), np.stack([x[source] for source in sources], axis=1).ravel())
    assert values(kind, total.get())[0] == pytest.approx(126, rel=0.0 if kind == "half" else 0.05)


def test_what_cuda_does_not_compile():
    """By way of bool or int it would compile here, to something else than the number. One compilation asks for all."""
    refused = ("x % y", "x & y", "x | 1", "1 ^ x", "x << 1", "x >> 1", "~x", "__hadd(x, 1)")
    source = "".join(f"#include <cuda_{name}.h>\n" for name in ("runtime", "fp16", "bf16"))
    for i, expression in enumerate(("x + y", *refused)):
        source += f"""
            template <typename T> auto f{i}(T x, T y, int) -> decltype((void)({expression}), std::true_type());
            template <typename T> std::false_type f{i}(T, T, long);
        """
        for number in ("__half", "__nv_bfloat16"):
            compiles = f"decltype(f{i}({number}(), {number}(), 0))::value"
            source += f'static_assert({compiles} == {int(expression not in refused)}, "{number}: {expression}");'
    line = ["c++", "-std=c++17", "-fsyntax-only", "-x", "c++", *cuda_api.HEADERS, "-"]
    run = subprocess.run(line, input=source, text=True, capture_output=True)
    assert run.returncode == 0, run.stderr
