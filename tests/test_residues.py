"""Products of float64 by their residues (`residues_int8`): errors against long double, exact integers, and the products
that `tensor_cores_double` computes instead. Data is new in each run."""

import numpy as np
import pytest

import cudakern
from cudakern.measure.resources import launches_of

pytestmark = pytest.mark.proves()
VARIANT = "residues_int8"


def product(a, b, variant=VARIANT, **parameters):
    return cudakern.matmul(a, b, variant=variant, **parameters)


def in_order(a, b):
    """As a step of `residues_int8`: no blocks divide k."""
    return product(a, b, "tensor_cores_double", parts=1, groups=1, tile=64)


def error(result, a, b):
    """The largest error, relative to the sum of magnitudes, in roundings of a double."""
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    magnitude = np.abs(a) @ np.abs(b)
    return float(np.max(np.abs(result - a @ b) / np.where(magnitude == 0, 1, magnitude))) * 2.0**53


# In short lines, only the last one always has magnitudes that are similar enough for residues.
KINDS = {
    "normal": lambda random, shape: random.standard_normal(shape),
    "uniform": lambda random, shape: random.random(shape),
    "signs": lambda random, shape: random.choice([-1.0, 1.0], shape) * random.uniform(1, 2, shape),
}


@pytest.mark.parametrize("moduli", [14, 15, 16])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(70, 200, 90), (129, 129, 257), (3, 1000, 5)])
def test_the_error_is_below_that_of_a_sum(kind, shape, moduli):
    """And below the bound; rows and columns may be scaled, and operands lie in any order."""
    random = np.random.default_rng()
    m, k, n = shape
    a = KINDS[kind](random, (m, k)) * 2.0 ** random.integers(-300, 300, (m, 1))
    b = np.asfortranarray(KINDS[kind](random, (k, n)) * 2.0 ** random.integers(-300, 300, n))
    entry = cudakern.variants("matmul")[VARIANT]
    for one, other in ((a, b), (np.asfortranarray(a), np.ascontiguousarray(b)), (a[:, ::-1], b[::-1])):
        found = error(product(one, other, moduli=moduli), one, other)
        assert found <= entry.error_bound(one.shape, other.shape, dtype=one.dtype, moduli=moduli) * 2.0**53
        if moduli > 14 and k >= 130:
            assert found < error(in_order(one, other), one, other)


def test_products_of_integers_are_exact():
    """Also of ones whose products do not fit in a double before the sum: each result is rounded once."""
    random = np.random.default_rng()
    for bits in (3, 20, 26, 40):
        a, b = (random.integers(-(2**bits), 2**bits, (40, 40)) for _ in range(2))
        exact = (a.astype(object) @ b.astype(object)).astype(float)
        assert np.array_equal(product(a.astype(float), b.astype(float)), exact)


def test_sums_that_cancel_are_zero():
    random = np.random.default_rng()
    half, b = KINDS["signs"](random, (20, 50)), KINDS["signs"](random, (50, 30))
    a = np.hstack([half, half])
    assert not product(a, np.vstack([b, -b])).any()


def test_lines_of_zeros_need_no_scale():
    a, b = KINDS["signs"](np.random.default_rng(), (2, 60, 60))
    a[7], b[:, 11] = 0, 0
    result = product(a, b)
    assert not result[7].any()
    assert not result[:, 11].any()
    assert error(result, a, b) < 2


def spoiled(random, what):
    a, b = random.standard_normal((50, 80)), random.standard_normal((80, 70))
    wide = 10.0 ** random.integers(-8, 8, 80)
    if what == "opposite scales along k":
        a *= wide
        b /= wide[:, None]
    elif what == "one large element":
        a[3, 5] = 1e9
    elif what == "one element in a row":
        a *= np.eye(*a.shape)
    elif what == "tiny":
        b[:, 9] *= 1e-300
    elif what == "large":
        a[4] *= 1e200
    else:
        (a if random.random() < 0.5 else b)[5, 6] = what
    return a, b


@pytest.mark.parametrize(
    "what",
    [
        "opposite scales along k",
        "one large element",
        "one element in a row",
        "tiny",
        "large",
        np.nan,
        np.inf,
        -np.inf,
    ],
    ids=str,
)
def test_the_rest_is_left_to_the_tensor_cores_for_doubles(what):
    a, b = spoiled(np.random.default_rng(), what)
    with np.errstate(all="ignore"):
        assert np.array_equal(product(a, b), in_order(a, b), equal_nan=True)


def zero_lines(random, shape):
    x = random.exponential(size=shape)
    x[3], x[:, 5] = 0, 0
    return x


UNEVEN = {
    "exponential": lambda random, shape: random.exponential(size=shape),
    "log-normal": lambda random, shape: random.lognormal(0, 0.8, shape),
    "positive part": lambda random, shape: np.maximum(random.standard_normal(shape), 0),
    "zero lines": zero_lines,
}


@pytest.mark.parametrize("kind", UNEVEN)
def test_magnitudes_that_differ_need_a_second_proof(kind):
    """Angles prove nothing there, but the product of the magnitudes does."""
    random = np.random.default_rng()
    a, b = (UNEVEN[kind](random, shape) for shape in ((90, 700), (700, 140)))
    result, sums = product(a, b), in_order(a, b)
    assert not np.array_equal(result, sums)
    assert error(result, a, b) < error(sums, a, b)


@pytest.mark.parametrize("density", [0.03, 0.1, 0.2, 0.4, 0.7])
def test_errors_of_sparse_operands_are_within_the_bound(density):
    random = np.random.default_rng()
    a, b = (random.standard_normal(shape) * (random.random(shape) < density) for shape in ((60, 300), (300, 70)))
    bound = cudakern.variants("matmul")[VARIANT].error_bound(a.shape, b.shape, dtype="float64", moduli=14)
    assert error(product(a, b, moduli=14), a, b) <= bound * 2.0**53


def test_a_stack_has_products_of_both_kinds():
    random = np.random.default_rng()
    a, b = KINDS["signs"](random, (3, 40, 60)), KINDS["signs"](random, (3, 60, 50))
    a[1] *= np.eye(40, 60)
    b[1, 0] *= 1e-4
    result = product(a, b)
    assert np.array_equal(result[1], in_order(a[1], b[1]))
    for i in (0, 2):
        assert np.array_equal(result[i], product(a[i], b[i]))
        assert not np.array_equal(result[i], in_order(a[i], b[i]))


@pytest.mark.full
def test_the_longest_sums_fit_in_int32():
    """All residues modulo 256 are -128, so that the sum of their products is 2^30, the most that residue() takes."""
    k = 1 << 16
    a = np.full((1, k), 1 + 2.0**-43)  # scaled: 2^50 + 128
    assert product(a, a.T)[0, 0] == float((2**50 + 128) ** 2 * k) / 2.0**100


def test_a_longer_k_is_refused():
    with pytest.raises(ValueError, match="k at most 65536"):
        product(np.zeros((1, 65537)), np.zeros((65537, 1)))


def test_one_launch_for_all_moduli():
    names = [launch.kernel for launch in launches_of(lambda: product(np.eye(64), np.eye(64)))]
    assert names.count("residues_product") == 1


@pytest.mark.parametrize(
    "shape, taken",
    [((3000, 3000, 3000), True), ((1024, 8192, 8192), True), ((900, 900, 900), False), ((8192, 256, 8192), False)],
)
def test_auto_takes_it_for_large_products(shape, taken):
    m, k, n = shape
    with cudakern.use_backend("emulator"):
        a, b = cudakern.empty((m, k), "float64"), cudakern.empty((k, n), "float64")
        names = [launch.kernel for launch in launches_of(lambda: cudakern.matmul(a, b))]
    assert ("residues_product" in names) == taken


def test_products_with_an_identity_are_exact():
    """As in NumPy: either the check refuses the identity, or all elements become integers without rounding."""
    random = np.random.default_rng()
    for x in (random.standard_normal((70, 70)), random.uniform(1.3, 1.99, (70, 70))):
        for moduli in (15, 16):
            assert np.array_equal(product(np.eye(70), x, moduli=moduli), x)
            assert np.array_equal(product(x, np.eye(70)[::-1], moduli=moduli), x[:, ::-1])
