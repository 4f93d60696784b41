"""Half precision and bfloat16 on the device: each bit pattern, and each way of rounding, against an exact reference.

The reference knows the numbers themselves: a float16 by NumPy, a bfloat16 as the upper half of a float32. It rounds by
looking up between which two of them a number lies, and on which side of their middle.
"""

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
