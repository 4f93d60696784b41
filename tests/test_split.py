"""Products of float32 through pieces of half precision: `split_fp16`, `split_bf16`, `split_inside`, `split_small`, and
`auto`, which takes them for most products. Data is new in each run; a message names its seed."""

import contextlib
import itertools
import re

import numpy as np
import pytest

import cudakern
from cases import emulated_chip, smallest
from cudakern.measure.resources import launches_of
from matrices import operands
from splits import (
    ALL,
    BF16,
    FP16,
    INSIDE,
    LONG,
    SMALL,
    SPLITS,
    WAYS,
    bits,
    exact,
    path,
    product,
    six_products,
)

pytestmark = pytest.mark.proves()
full = pytest.mark.full


def check(a, b, how, seed, **parameters):
    reference, magnitude = exact(a, b)
    bound = cudakern.variants("matmul")[how].error_bound(a.shape, b.shape, dtype=a.dtype, **parameters)
    result = product(a, b, how, **parameters)
    assert result.shape == reference.shape
    # Each addition rounds a denormal sum; so do the 24 of the tensor cores for 64 elements of k, if nothing is scaled:
    # in split_small, and in split_inside, also as a step of split_fp16.
    unscaled = how in (INSIDE, SMALL) or (how == "split_fp16" and bits(result) == bits(six_products(a, b)))
    additions = a.shape[1] + (24 * -(-a.shape[1] // 64) if unscaled else 0)
    most = bound * magnitude + additions * smallest("float32")
    assert np.all(np.abs(result - reference) <= most), (seed, how, a.shape, b.shape, parameters)


# --- errors ----------------------------------------------------------------------------------------------------------
#: The path that split_fp16 takes (None: either), and the largest error of split_fp16, and of accuracy="strict",
#: relative to that of a float32 sum in the order of k, for k = 1024.
KINDS = {
    "uniform": (FP16, 0.3, 0.2),
    "normal": (FP16, 0.3, 0.2),
    "half zero": (None, 0.35, 0.25),
    "lognormal 2": (BF16, 0.4, 0.4),
    "rows and columns scaled": (BF16, 0.3, 0.2),
    "inner index scaled": (BF16, 0.25, 0.2),
    "one inner column": (BF16, 0.25, 0.2),
    "outliers": (BF16, 0.35, 0.35),
    "lognormal 6": (BF16, 0.5, 0.5),
    "one large term": (BF16, 2, 2),
    "pairs cancel": (FP16, 4, 0.4),
}
STRICT_ON_GPU = {"pairs cancel": 0.5}  # 0.39 to 0.41 on an H200, 0.23 on the emulator
FEW = ("uniform", "lognormal 2", "inner index scaled", "one large term", "pairs cancel")  # one or two for each path
#: A few results may be much larger than all others. For these, the largest error of an element relative to |A||B|; for
#: the others, the Frobenius norm of the errors.
BY_ELEMENT = ("lognormal 2", "rows and columns scaled", "outliers", "lognormal 6", "one large term")


@pytest.mark.parametrize(
    "kind, k",
    [
        *((kind, 1024) for kind in FEW),
        *(pytest.param(kind, 1024, marks=full) for kind in KINDS if kind not in FEW),
        *(pytest.param(kind, 2048, marks=full) for kind in KINDS),
    ],
)
def test_errors_relative_to_plain_sums(backend, seed, kind, k):
    """`naive` adds one product after another with a fused multiply-add, as a GPU's library does in its SGEMM. (NumPy's
    library on the host adds parts of k by themselves, and is more accurate.) It loses more digits the longer the sums
    are, and the splits hardly any."""
    expected_path, fast, strict = KINDS[kind]
    if backend == "cuda":
        strict = STRICT_ON_GPU.get(kind, strict)
    if k > 1024 and fast < 1:
        fast = 0.4
    a, b = operands(kind, seed, k=k)
    reference, magnitude = exact(a, b)
    limits = {"naive": 1, "auto": max(fast, 1), "strict": strict}
    variant = cudakern.variants("matmul")["split_fp16"]
    if wgmma := not variant.why_not(cudakern.backend()):
        limits |= {"split_fp16": fast, INSIDE: fast, SMALL: max(fast, 0.6)}
    results = {how: product(a, b, how) for how in limits}
    largest = {how: np.max(np.abs(x - reference) / magnitude) for how, x in results.items()}
    norms = {how: np.linalg.norm(x - reference) for how, x in results.items()}
    errors = largest if kind in BY_ELEMENT else norms
    assert all(errors[how] <= limit * errors["naive"] for how, limit in limits.items()), (kind, seed, errors)
    if wgmma:  # "strict" is split_bf16. (The bounds are 13 and 18 * 2^-22.)
        assert max(largest[how] for how in (*SPLITS[:1], INSIDE, "strict")) <= 4 * 2.0**-22, (kind, seed, largest)
        assert expected_path in (path(a, b), None), (kind, seed)


@pytest.mark.parametrize("tile", [208, pytest.param(128, marks=full), 64])
@pytest.mark.parametrize("kind", [pytest.param("half zero", marks=full), "uniform"])
def test_sums_of_positive_terms(chip, seed, kind, tile):
    """All terms are positive, so that the tensor cores always cut off in the same direction. In tiles of 64 and 128
    columns, sums leave the tensor cores for each 32 elements of k, and a new sum begins for each 512. In wider ones,
    the former ends at 1727, and for k from 961 to 1984, a sum consists of two."""
    for k in (1024, 1400, 1727, 1728, 1984, 2048):
        a, b = operands(kind, seed, k=k)
        reference, _ = exact(a, b)
        results = product(a, b, "split_fp16", tile=tile, shares=1), product(a, b, "naive")
        split, naive = (np.linalg.norm(x - reference) for x in results)
        limit = 0.4 if tile == 208 or k < 1984 else 0.27
        assert split <= limit * naive, (kind, tile, k, seed, split / naive)


@pytest.mark.parametrize("tile", [128, pytest.param(64, marks=full), 32])
def test_elements_that_few_terms_make_up(chip, seed, tile):
    """Lognormal terms: beside a large one, the tensor cores cut off much of the others, each time toward zero. Sums
    leave them for each 32 elements of k. (With 64, the mean error was -0.93 * 2^-22, the largest of a matrix 5.8.)"""
    a, b = operands("lognormal 2", seed, 192, 256, 1339)
    reference, _ = exact(a, b)
    errors = (product(a, b, INSIDE, tile=tile, parts=1, groups=1) - reference) / reference * 2.0**22
    assert -0.7 <= np.mean(errors) <= 0.1, (seed, np.mean(errors))
    assert np.max(np.abs(errors)) <= 4, (seed, np.max(np.abs(errors)))


@pytest.mark.parametrize("kind", [*FEW, *(pytest.param(kind, marks=full) for kind in KINDS if kind not in FEW)])
def test_short_sums_are_as_accurate_as_in_float32(chip, seed, kind):
    """By the largest error of an element, or within 2 * 2^-22 of |A||B| where float32 is nearly exact: high * high,
    which loses the most in the tensor cores, is promoted for every 16 elements of k."""
    for k in (32, 64, 100):
        a, b = operands(kind, seed, 128, 128, k)
        reference, magnitude = exact(a, b)
        errors = (np.abs(product(a, b, how) - reference) for how in (SMALL, "naive"))
        small, naive = (np.max(error / np.maximum(magnitude, 1e-30)) for error in errors)
        assert small <= max(1.1 * naive, 2 * 2.0**-22), (kind, k, seed)


@pytest.mark.parametrize("how", ALL)
@pytest.mark.parametrize("large, small", [(2.0**62, 2.0**-23), (1, 2.0**-131)])
def test_what_cannot_be_split_has_the_error_of_float32(chip, how, large, small):
    """Of sums in a row, that is: here, all roundings but the first have the same sign."""
    for k in (64, 300):
        a, b = np.full((1, k), large, np.float32), np.full((k, 1), 0.5625 * small, np.float32)
        b[0] = 1
        reference, magnitude = exact(a, b)
        bound = cudakern.variants("matmul")["warp_tiles"].error_bound(a.shape, b.shape, dtype=a.dtype)
        assert np.all(np.abs(product(a, b, how) - reference) <= bound * magnitude + k * smallest("float32")), (how, k)


def test_sums_of_split_small_that_lose_with_every_rounding(chip):
    """All terms but the first are less than half of its last place, and are lost unless they are added up first."""
    for k in (768, 4096):
        a, b = np.full((1, k), 2.0**-28 * (1 - 2.0**-7), np.float32), np.ones((k, 1), np.float32)
        a[0, 0] = 1
        check(a, b, SMALL, 0)


@pytest.mark.parametrize(
    "how, parameters, k",
    [
        ("split_bf16", {"shares": 1}, 2048),
        ("split_bf16", {"shares": 3}, 2048),
        ("split_fp16", {"shares": 1, "tile": 64}, 2048),
        ("split_fp16", {"shares": 1, "tile": 208}, 9216),
        pytest.param("split_fp16", {"shares": 1, "tile": 208}, 32768, marks=full),
    ],
)
@pytest.mark.parametrize("sign", [1, pytest.param(-1, marks=full)])
def test_a_sum_that_has_overflowed_stays_infinite(chip, how, parameters, k, sign):
    """As in the order of k, whatever the sign of what comes later: other groups of slabs, or other parts of k."""
    a = np.full((2, k), 2.0**60 * sign, np.float32)
    a[:, k // 2 :] *= -1
    assert np.all(product(a, np.full((k, 2), 2.0**60, np.float32), how, **parameters) == sign * np.inf)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_running_sum_overflows_where_that_of_naive_does(chip, sign):
    """After 32 terms, and stays infinite, although the sum of all 64 is finite: tiles in float64 have that one."""
    a = np.full((2, 64), 2.0**62 * sign, np.float32)
    a[:, 32:] *= -1
    a[:, -1] /= 2
    b = np.full((64, 2), 2.0**62, np.float32)
    for how in ("split_bf16", "naive"):
        assert np.all(product(a, b, how) == sign * np.inf)
    for how in ("split_inside", "split_small"):
        assert np.all(product(a, b, how) == sign * 2.0**123)


@pytest.mark.parametrize("tile", [64, pytest.param(128, marks=full)])
def test_long_sums_lose_little_beside_a_large_term(chip, seed, tile):
    """0.59 * 2^-22, as for k = 512: the sums of groups of slabs are added without loss."""
    a, b = operands("normal", seed, 64, 64, 8192)
    a[:, 0] *= 1e7
    reference, magnitude = exact(a, b)
    errors = (product(a, b, "split_bf16", tile=tile, shares=1) - reference) / magnitude
    assert np.sqrt(np.mean(errors**2)) <= 0.75 * 2.0**-22, seed
    reach = np.float32(2.0**58)  # so large that the sum of k terms is infinite, but no term is
    limit = product(np.full((1, 8192), reach), np.full((8192, 2), reach), "split_bf16", tile=tile, shares=1)
    assert np.all(limit == np.inf)


def test_a_unit_matrix_gives_the_elements_themselves(chip, seed):
    """Three pieces in bfloat16 have all bits of a float32; two in float16 have 22 or 23."""
    x = operands("normal", seed, 64, 64, 64)[0]
    unit = np.eye(64, dtype=np.float32)
    for a, b in ((x, unit), (unit, x)):
        assert bits(product(a, b, "strict")) == bits(x), seed
        assert np.max(np.abs(product(a, b, "split_fp16") - x) / np.abs(x)) <= 2.0**-22, seed


@pytest.mark.parametrize(
    "how, tile",
    [
        *(("split_fp16", 208), ("split_fp16", 64), ("split_bf16", 128)),
        *(pytest.param(*way, marks=full) for way in (("split_fp16", 128), ("split_bf16", 64))),
    ],
)
def test_rows_of_c_at_any_alignment(chip, seed, how, tile):
    """A thread stores four neighbors at once, and passes elements to others where its own are not aligned. Nothing
    between and around the rows changes."""
    draw = np.random.default_rng(seed)
    for m, n in ((37, 1), (37, 2), (37, 15), (150, 17), (37, 64), (37, 130), (150, 211)):
        a, b = operands("normal", seed, m, n, 40)
        reference, magnitude = exact(a, b)
        for offset, gap in itertools.product(range(4), (0, 5)):
            before = draw.random(offset + m * (n + gap) + 5).astype(np.float32)
            memory = cudakern.asarray(before)
            out = memory[offset : offset + m * (n + gap)].reshape(m, n + gap)[:, :n]
            cudakern.matmul(cudakern.asarray(a), cudakern.asarray(b), variant=how, tile=tile, out=out)
            after = memory.get()
            rows = after[offset : offset + m * (n + gap)].reshape(m, n + gap)
            assert np.all(np.abs(rows[:, :n] - reference) <= 4 * 2.0**-22 * magnitude), (m, n, offset, gap, seed)
            rows[:, :n] = before[offset : offset + m * (n + gap)].reshape(m, n + gap)[:, :n]
            assert bits(after) == bits(before), (m, n, offset, gap)


@pytest.mark.parametrize("how", ["split_fp16", "split_bf16"])
def test_c_with_other_strides(chip, seed, how):
    a, b = operands("normal", seed, 37, 130, 40)
    result = product(a, b, how)
    memory = [cudakern.asarray(np.zeros(shape, np.float32)) for shape in ((74, 260), (260, 74))]
    for out in (memory[0][36::-1, :130], memory[0][:37, 129::-1], memory[0][::2, ::-2], memory[1].T[1::2, ::2]):
        cudakern.matmul(cudakern.asarray(a), cudakern.asarray(b), variant=how, out=out)
        assert bits(out.get()) == bits(result), (out.strides, seed)


# --- special values --------------------------------------------------------------------------------------------------
EDGES = {"m": (0, 63, 64, 127, 128, 255, 256, 263), "n": (0, 63, 64, 127, 128, 207, 208, 215), "k": (0, 63, 64, 71)}


@pytest.mark.parametrize(
    "value, how",
    [
        *((np.nan, how) for how in WAYS),
        *(pytest.param(value, how, marks=full) for value in (np.inf, -np.inf) for how in WAYS),
    ],
)
def test_nan_and_infinity_at_every_edge_of_a_tile(chip, seed, value, how):
    """They make NaN and infinities where a product in double has them, and leave the other elements finite."""
    draw = np.random.default_rng(seed)
    a, b = operands("normal", seed, 264, 216, 72)
    a[:, 1], b[2] = 0, 0
    row, column, k, other = (int(draw.choice(EDGES[axis])) for axis in "mnkk")
    for in_a, in_b in (((row, k), ()), ((), (other, column)), ((row, k), (other, column)), ((row, 2), (1, column))):
        first, second = a.copy(), b.copy()
        if in_a:
            first[in_a] = value
        if in_b:
            second[in_b] = value
        with np.errstate(invalid="ignore"):
            reference = first.astype(np.float64) @ second.astype(np.float64)
        result, where = product(first, second, how), ~np.isfinite(reference)
        assert np.array_equal(result[where], reference[where], equal_nan=True), (seed, in_a, in_b)
        assert np.isfinite(result[~where]).all(), (seed, in_a, in_b)


@pytest.mark.parametrize("how", WAYS)
def test_zeros_are_positive(chip, how):
    """As in any sum that begins with zero."""
    zero = np.zeros((60, 60), np.float32)
    one = np.ones_like(zero)
    half = np.where(np.arange(60) % 2 == 0, one, -one)
    for a, b in ((zero, zero), (-zero, one), (one, -zero), (-zero, -zero), (half, one), (zero, -one)):
        assert bits(product(a, b, how)) == bits(zero)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(
    "scales",
    [
        (2.0**-149, 1),
        *(pytest.param(x, marks=full) for x in ((2.0**-140, 2.0**-3), (2.0**-60, 2.0**-85))),
        (2.0**-75, 2.0**-90),
    ],
)
def test_denormal_operands_and_results(chip, seed, how, scales):
    a, b = operands("uniform", seed, 70, 40, 100)
    a, b = a * np.float32(scales[0]), b * np.float32(scales[1])
    reference, magnitude = exact(a, b)
    # Every addition rounds a denormal sum by up to a half, one for each element of k; but split_bf16 has two for each
    # 64 of normal operands, as k is short.
    roundings = 2.01 if how == "split_bf16" and min(scales) > 2.0**-120 else 100
    errors = np.abs(product(a, b, how) - reference)
    assert np.all(errors <= 2.0**-19 * magnitude + roundings * smallest("float32")), (seed, errors.max())


@pytest.mark.parametrize("how", WAYS)
def test_results_are_infinite_from_2_to_the_128_on(chip, how):
    """And not before: pieces and their sums are scaled."""
    a, b = np.full((40, 100), 2.0**100, np.float32), np.full((100, 40), 2.0**21, np.float32)
    a[1], a[2], a[3, 1:] = -a[1], 1, -a[3, 1:]
    for factor, infinite in ((1, 0), (4, 39)):
        with np.errstate(over="ignore"):
            reference = exact(a, factor * b)[0].astype(np.float32)
        assert np.isinf(reference[:, 0]).sum() == infinite
        assert np.allclose(product(a, factor * b, how), reference, rtol=1e-6)


@pytest.mark.parametrize("how, k", [*((how, 64) for how in WAYS), pytest.param("split_fp16", LONG, marks=full)])
@pytest.mark.parametrize("size", [2.0**114, 2.0**127])
def test_large_elements_that_meet_zeros(chip, how, k, size):
    """What undoes the scales of their blocks is finite: a sum of zeros stays zero, and other results what they are."""
    a, b = np.zeros((20, k), np.float32), np.zeros((k, 20), np.float32)
    a[0, 0], b[1, 0] = size, size
    a[3, 2], b[2, 4] = 3, 5
    assert np.array_equal(product(a, b, how), exact(a, b)[0]), (how, size)


@pytest.mark.parametrize("how", ALL)
def test_any_range(chip, seed, how):
    """Exponents that differ by line, by k and by element, up to the whole range of float32."""
    draw = np.random.default_rng(seed)
    for _ in range(8):
        m, n, k = (int(x) for x in draw.choice([1, 2, 5, 17, 40, 70], 3))
        both = []
        for shape in ((m, k), (k, n)):
            sizes = (1, shape[1]), (shape[0], 1), shape
            exponents = sum(
                draw.integers(-w, w + 1, size) for size, w in zip(sizes, draw.choice([0, 20, 90], 3), strict=True)
            )
            x = np.ldexp(draw.standard_normal(shape), np.clip(exponents, -145, 60))
            both.append(np.where(draw.random(shape) < draw.random(), 0, x).astype(np.float32))
        check(*both, how, seed)


# --- the same bits ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["normal", pytest.param("lognormal 6", marks=full)])
def test_runs_and_orders_give_the_same_bits(order, seed, kind):
    """On either path, and with k in parts."""
    a, b = operands(kind, seed, 130, 72, 260)
    with cudakern.use_backend("emulator"):
        ways = [("split_fp16", {"shares": 1}), ("split_fp16", {"shares": 3}), ("split_bf16", {"shares": 3})]
        ways += [(INSIDE, {"parts": 1}), (INSIDE, {"parts": 2}), (SMALL, {})]
        for how, parts in ways:
            results = set()
            for threads in ("fixed", "fixed", "reversed", "seed:3"):
                order(threads)
                results.add(bits(product(a, b, how, **parts)))
            assert len(results) == 1, (seed, how, parts)


@pytest.mark.parametrize("how", SPLITS)
@pytest.mark.parametrize("pairs", [11, pytest.param(19, marks=full)])
def test_shares_give_the_same_bits_in_every_order(order, seed, how, pairs):
    """Whoever comes last adds the parts: with eight clusters, one to two pairs for each, or a whole one besides."""
    a, b = operands("normal", seed, 60, 64 * pairs, 200)
    with cudakern.use_backend("emulator"), emulated_chip("H200-1G"):
        results = set()
        for threads in ("fixed", "reversed", "seed:3"):
            order(threads)
            results.add(bits(product(a, b, how, shares=3, tile=64)))
    assert len(results) == 1, (seed, how)


@pytest.mark.parametrize(
    "kind", ["inner index scaled", *(pytest.param(kind, marks=full) for kind in ("normal", "lognormal 6"))]
)
def test_order_and_scale_of_lines_do_not_matter(chip, seed, kind):
    """An element's bits depend on its row and its column, and on the others only through the scales, which change no
    bits, and the check. So rows may change places; and powers of two may come out of both operands."""
    draw = np.random.default_rng(seed)
    a, b = operands(kind, seed, 130, 72, 100)
    rows, columns = draw.permutation(130), draw.permutation(72)
    for how in ALL:
        result = product(a, b, how)
        assert bits(product(a[rows], b[:, columns], how)) == bits(result[rows][:, columns]), (seed, how)
        assert bits(product(a * 4, b / 16, how)) == bits(result / 4), (seed, how)
        assert bits(product(-a, b, how)) == bits(-result), (seed, how)


# --- shapes and memory -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ALL)
def test_ragged_extents_and_parts_of_k(chip, seed, how):
    draw = np.random.default_rng(seed)
    ends = [0, 1, 2, *draw.integers(3, 41, 3), 63, 64, 65, 127, 128, 129, 159, 161, 207, 208, 209, 255, 256, 257]
    sizes = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), *(tuple(draw.choice(ends, 3)) for _ in range(5))]
    for m, n, k in sizes:
        kind = str(draw.choice(["normal", "lognormal 6"]))
        parts = {"parts": int(draw.choice([0, 1, 2, 8]))} if how == INSIDE else {}
        parts |= {"shares": int(draw.choice([0, 1, 2, 3]))} if how in SPLITS else {}
        check(*operands(kind, seed, m, n, k), how, seed, **parts)


@pytest.mark.parametrize(
    "how, pairs, k",
    [
        ("split_fp16", "few", 64 * 6),
        ("split_bf16", "one or two for each", 200),
        ("split_fp16", "more", 136),
        *(pytest.param("split_bf16", pairs, k, marks=full) for pairs, k in (("few", 64 * 12), ("more", 200))),
        pytest.param("split_fp16", "one or two for each", 330, marks=full),
    ],
)
def test_clusters_share_tiles(chip, seed, how, pairs, k):
    """The result is that of whole tiles, up to the rounding of sums of parts: with fewer pairs than clusters, and
    with so many that each cluster has whole ones besides."""
    small = chip == "emulator"  # sixteen multiprocessors, two in a cluster
    clusters = 8 if small else 66
    columns = 64 * {"few": clusters // 3 + 1, "one or two for each": clusters + 3, "more": 2 * clusters + 3}[pairs] - 3
    a, b = operands("uniform", seed, 60, columns, k)
    draw = np.random.default_rng(seed)
    whole = [draw.integers(-9, 10, x.shape).astype("float32") for x in (a, b)]
    with emulated_chip("H200-1G") if small else contextlib.nullcontext():
        for shares in (1, 2, 3):
            check(a, b, how, seed, shares=shares, tile=64)
            assert np.array_equal(product(*whole, how, shares=shares, tile=64), whole[0] @ whole[1]), (seed, shares)


@pytest.mark.parametrize("how", SPLITS)
def test_products_of_a_stack_share_tiles(chip, seed, how):
    """The kernels leave out tiles of products that are not theirs: an infinity or a wide range needs another way."""
    a, b = operands("normal", seed, 7 * 40, 7 * 70, 64 * 5)
    a, b = a.reshape(7, 40, -1), np.ascontiguousarray(b.reshape(-1, 7, 70).transpose(1, 0, 2))
    a[2, 3, 4], a[4, :, ::2] = np.inf, a[4, :, ::2] * np.float32(2.0**-30)
    with np.errstate(invalid="ignore"):
        reference, magnitude = exact(a, b)
    finite = np.isfinite(reference)
    for shares in (1, 2, 3):
        result = product(a, b, how, shares=shares)
        assert np.array_equal(result[~finite], reference[~finite], equal_nan=True), (seed, shares)
        error = np.abs(result[finite] - reference[finite])
        assert np.all(error <= 2.0**-19 * magnitude[finite]), (seed, shares)


@pytest.mark.parametrize("how", SPLITS)
def test_stacks_in_portions_share_tiles(chip, seed, how):
    """Five axes are more than a kernel takes: the launches have fewer products than the plan, and share more."""
    draw = np.random.default_rng(seed)
    a = draw.integers(-9, 10, (2, 1, 2, 1, 2, 16, 256)).astype(np.float32)
    b = draw.integers(-9, 10, (1, 2, 1, 2, 1, 256, 64)).astype(np.float32)
    for shares in (0, 3):
        assert np.array_equal(product(a, b, how, shares=shares), a @ b), (seed, shares)


@pytest.mark.parametrize("how", SPLITS)
def test_every_tile_is_split_once(seed, how):
    """65 tiles, and 48 blocks of threads that visit them: an element that was left out would change an integer."""
    draw = np.random.default_rng(seed)
    with cudakern.use_backend("emulator"), emulated_chip("H200-1G"):
        for k in (64 * 12 + 5, 64 * 12 + 50, 64 * 13):
            a, b = (draw.integers(-9, 10, shape).astype(np.float32) for shape in ((300, k), (k, 200)))
            assert np.array_equal(product(a, b, how), a @ b), (seed, k)


@pytest.mark.parametrize(
    "how, tile",
    [("split_fp16", 208), ("split_fp16", 64), *(pytest.param(how, 0, marks=full) for how in (*SPLITS, INSIDE))],
)
@pytest.mark.parametrize("kind", ["uniform", pytest.param("lognormal 6", marks=full)])
def test_long_sums_do_not_lose_more(chip, seed, how, tile, kind):
    """What a sum rounds off is carried on, in registers or in the workspace: the error stops growing."""
    lengths = (9000, 17_000) if kind == "uniform" else (33_000, 33_000)
    for k, parameters in zip(lengths, ({"shares": 1}, {"shares": 2}), strict=True) if tile else ((33_000, {}),):
        a, b = operands(kind, seed, 4, 4, k)
        reference, magnitude = exact(a, b)
        result = product(a, b, how, tile=tile, **parameters)
        assert np.max(np.abs(result - reference) / magnitude) <= 8 * 2.0**-22, (seed, parameters)


@pytest.mark.parametrize("kind", ["normal", pytest.param("lognormal 6", marks=full)])
def test_stacks_and_strides_give_the_bits_of_contiguous_matrices(chip, seed, kind):
    a, b = operands(kind, seed, 6 * 40, 3 * 30, 60)
    a, b = a.reshape(2, 3, 40, 60), b.reshape(60, 3, 30).transpose(1, 0, 2)
    views = [
        (a, b),
        (a[:, 0], b[:1]),
        (a[0, 0, ::-1, ::2], b[2, 1::2, ::-2]),
        (b[0].T, a[0, 0].T),
        (np.broadcast_to(a[1, 1, :1], (40, 60)), np.broadcast_to(b[0, :, :1], (60, 30))),
        (a[0, 0, 3], b[1]),
        (a[1, 2], b[1, :, 4]),
    ]
    for how in ALL:
        for first, second in views:
            plain = product(np.ascontiguousarray(first), np.ascontiguousarray(second), how)
            assert bits(cudakern.matmul(first, second, variant=how)) == bits(plain), (seed, how, first.shape)
        on_device = cudakern.asarray(a)[0, 0, ::-1, ::2], cudakern.asarray(b)[2, 1::2, ::-2]
        plain = product(views[2][0].copy(), views[2][1].copy(), how)
        assert bits(cudakern.matmul(*on_device, variant=how).get()) == bits(plain), (seed, how)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 2.0**61, 2.0**-140])
def test_special_values_among_the_last_few_along_k(chip, seed, value):
    """split_small adds these in float32, and checks their magnitudes with those of the others."""
    a, b = operands("normal", seed, 70, 81, 35)
    a[3, 34] = b[33, 80] = value
    with np.errstate(invalid="ignore"):
        reference, magnitude = exact(a, b)
    finite, result = np.isfinite(reference), product(a, b, SMALL)
    assert np.array_equal(result[~finite], reference[~finite], equal_nan=True), seed
    error = np.abs(result[finite] - reference[finite])
    assert np.all(error <= 2.0**-19 * magnitude[finite]), seed


@pytest.mark.parametrize(
    "m, n, k",
    [
        *((70, 81, 99), (64, 112, 101), (65, 200, 48)),
        *(pytest.param(70, 81, k, marks=full) for k in (48, 101)),
        *(pytest.param(64, 112, k, marks=full) for k in (48, 99)),
        *(pytest.param(65, 200, k, marks=full) for k in (99, 101)),
    ],
)
def test_lines_that_begin_anywhere_give_the_same_bits(chip, seed, m, n, k):
    """split_small loads elements of such lines one by one, and their pieces lie in another direction. The bits do not
    depend on the width of its tiles, either. (Only where k is four more than a multiple of
    32, they depend on whether lines are aligned.)"""
    a, b = operands("lognormal 2", seed, m, n, k)
    (tile,) = cudakern.variants("matmul")[SMALL].parameters
    ways = [(INSIDE, {}), *((SMALL, {"tile": columns}) for columns in tile.choices)]
    for a_turned, b_turned in itertools.product((False, True), repeat=2):
        views = []
        for x, turned, offset in ((a, a_turned, 1), (b, b_turned, 3)):
            inner = x.T if turned else x
            padded = np.full((inner.shape[0], inner.shape[1] + 5), np.nan, np.float32)
            padded[:, offset : -5 + offset] = inner
            view = cudakern.asarray(padded)[:, offset : -5 + offset]
            views.append(view.T if turned else view)
        for how, parameters in ways:
            got = bits(cudakern.matmul(*views, variant=how, **parameters).get())
            assert got == bits(product(a, b, how)), (how, parameters, a_turned, b_turned, seed)
            assert got == bits(product(a, b, how, **parameters)), (how, parameters, seed)


def test_whole_tiles_give_the_bits_of_others(chip, seed):
    """split_small has a kernel for them. A row more, or a C at an odd offset, takes the other one."""
    a, b = operands("normal", seed, 3 * 128, 3 * 192, 96)
    a, b = a.reshape(3, 128, 96), np.ascontiguousarray(b.reshape(96, 3, 192).transpose(1, 0, 2))
    a[1, 70, 5], b[2, 9, 130] = np.nan, 2.0**-130
    for first, second in ((a, b), (a[::-1], b), (a[:1], b), (a, b[1]), (a[:, :64, :32], b[:, :32, 64:])):
        whole = product(first, second, SMALL)
        longer = np.concatenate([first, first[:, :1]], axis=1)
        assert bits(whole) == bits(product(longer, second, SMALL)[:, :-1]), (seed, first.shape, second.shape)
    out = cudakern.empty(3 * 128 * 192 + 1, np.float32)[1:].reshape(3, 128, 192)
    cudakern.matmul(cudakern.asarray(a), cudakern.asarray(b), out=out, variant=SMALL)
    assert bits(out.get()) == bits(product(a, b, SMALL)), seed
    for m, n in ((64, 64), (128, 3)):
        assert not product(np.ones((m, 0), np.float32), np.ones((0, n), np.float32), SMALL).any()


@pytest.mark.parametrize("how", [INSIDE, "warp_tiles_split_k"])
@pytest.mark.parametrize("count", [65_535, 65_536])
def test_groups_need_all_products_in_one_launch(chip, how, count):
    """And a grid has at most 65535 blocks in z: a larger stack has no groups. (Nothing is launched here.)"""
    a, b = (cudakern.asarray(np.ones(shape, np.float32)) for shape in ((count, 1, 128), (128, 1)))
    kernels = {x.kernel: x for x in launches_of(lambda: cudakern.matmul(a, b, variant=how, parts=1, groups=2))}
    fits = count == 65_535
    assert set(kernels) == ({how, "add_groups"} if fits else {how})
    assert (kernels[how].launches, kernels[how].grid) == ((1, (2, 1, 65_535)) if fits else (2, (1, 1, 65_535)))


# --- auto ------------------------------------------------------------------------------------------------------------
def test_auto_splits_products_with_a_long_k(chip, seed):
    a, b = operands("normal", seed, 128, 128, 2048)
    assert bits(product(a, b, "auto")) == bits(product(a, b, INSIDE))


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "complex64", "int32"])
def test_strict_is_split_bf16_or_compensated(backend, seed, dtype):
    """Short sums have the smaller error of compensated sums."""
    wgmma = not cudakern.variants("matmul")["split_bf16"].why_not(cudakern.backend())
    for m, n, k in ((140, 40, 64), (3, 5, 65), (128, 129, 128)):
        a, b = (x.astype(dtype) for x in operands("normal", seed, m, n, k))
        way = "split_bf16" if wgmma and dtype == "float32" and k > 64 else "tiled"
        assert product(a, b, "strict").tobytes() == product(a, b, way).tobytes()
    with cudakern.use_backend("emulator"), emulated_chip("A100"):  # which has no wgmma
        assert product(a, b, "strict").tobytes() == product(a, b, "tiled").tobytes()


@pytest.mark.parametrize("how", WAYS)
def test_all_digits_stay_where_zeros_hide_the_large_elements(chip, seed, how):
    """The large elements of A meet zeros of B, so that tiny ones make up the sums."""
    draw = np.random.default_rng(seed)
    a, b = (draw.uniform(1, 2, shape).astype(np.float32) for shape in ((48, 1024), (1024, 48)))
    a[:, 1::2], b[::2] = 0, 0
    a[:, 1::64] = np.float32(2.0**-40) * draw.uniform(1, 2, (48, 16))
    reference, magnitude = exact(a, b)
    assert np.max(np.abs(product(a, b, how) - reference) / magnitude) <= 4 * 2.0**-22, seed


@pytest.mark.parametrize("how", ALL)
@pytest.mark.parametrize("k, late", [(32, 1), (256, 2.0**-4), (512, 2.0**-4)])
def test_one_term_from_which_all_others_are_cut_off(chip, how, k, late):
    """The tensor cores keep about 2^-25 of the largest term of a sum. Elements that lose the most in their pieces."""
    a, b = (np.full(shape, 2.0**power, np.float32) for shape, power in (((2, k), -12.4), ((k, 2), -12.75)))
    a[:, 32:] *= np.float32(late)
    a[:, 0], b[0] = 1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-11 + 2.0**-23
    reference, magnitude = exact(a, b)
    bound = cudakern.variants("matmul")[how].error_bound(a.shape, b.shape, dtype=a.dtype)
    assert np.all(np.abs(product(a, b, how) - reference) <= bound * magnitude)


@pytest.mark.parametrize("k", [100, 256, 1024])
def test_strict_loses_less_where_terms_cancel(chip, seed, k):
    """In small products, too: a compensated sum of rounded products loses as much as any float32."""
    a, b = operands("pairs cancel", seed, 32, 48, k)
    reference, _ = exact(a, b)
    strict, naive = (np.linalg.norm(product(a, b, how) - reference) for how in ("strict", "naive"))
    assert strict <= 0.6 * naive, (seed, strict / naive)


def test_accuracy_is_fast_or_strict(backend):
    a = np.ones((2, 2), "float32")
    assert (cudakern.matmul(a, a, accuracy="strict") == 2).all()
    for wrong in ("exact", None, 1, a):
        with pytest.raises(ValueError, match=re.escape(f"accuracy must be 'fast' or 'strict', not {wrong!r}")):
            cudakern.matmul(a, a, accuracy=wrong)
    with pytest.raises(ValueError, match="nosuch"):
        cudakern.matmul(a, a, accuracy="strict", variant="nosuch")
    for variant in ("tiled", "numpy", "split_fp16", "fastest"):
        assert (cudakern.matmul(a, a, accuracy="fast", variant="tiled") == 2).all()
        with pytest.raises(TypeError, match=f"accuracy='strict' is for variant='auto'; '{variant}' has an accuracy"):
            cudakern.matmul(a, a, accuracy="strict", variant=variant)
