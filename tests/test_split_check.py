"""The check with which `split_fp16` and `split_bf16` find out, on the device, whether their pieces hold the elements:
which path a product takes, and that it is good enough. Data is new in each run; a message names its seed.

An element is lossy if it is smaller than about 2^-17 of the largest in its block of 16 lines by 64 along k: below
2^-18, it is in any case. Three products are good enough if each line with lossy elements is certain to have as many
products of others, in its block."""

import numpy as np
import pytest

from matrices import operands
from splits import ALL, BF16, FP16, LONG, PLAIN, bits, exact, path, product

pytestmark = pytest.mark.proves()
full = pytest.mark.full

TINY = np.float32(2.0**-30)
BOUND = 4 * 2.0**-22  # of an element, relative to the product of the magnitudes


def dense(seed, m, n, k):
    """Elements between 1 and 2, none of them lossy."""
    a, b = operands("uniform", seed, m, n, k)
    return a + 1, b + 1


def sparse(draw, a, b):
    """Zeros of A that B has not, and the other way round, but for the first line of a block, which sets its scale."""
    which = draw.random(a.shape[1]) < 0.5
    rows, columns = (np.arange(lines) % 16 > 0 for lines in (a.shape[0], b.shape[1]))
    a[np.ix_(rows, which)], b[np.ix_(~which, columns)] = 0, 0
    return rows, columns


def error(a, b):
    """The largest error of an element. (Half of the smallest number of all is no error.)"""
    right, magnitudes = exact(a, b)
    wrong = np.maximum(np.abs(product(a, b, "split_fp16").astype(np.float64) - right) - 2.0**-150, 0)
    return np.max(np.divide(wrong, magnitudes, out=np.where(wrong > 0, np.inf, 0), where=magnitudes > 0))


def takes(expected, a, b, seed):
    """Either way, and with the operands exchanged, it is good enough."""
    for x, y in ((a, b), (b.T, a.T)):
        assert path(x, y) == expected, seed
        assert error(x, y) <= BOUND, seed


def test_lossy_elements_in_dense_lines(chip, seed):
    """A line may have some of them, and the other operand some zeros."""
    a, b = dense(seed, 40, 40, 128)
    takes(FP16, a, b, seed)
    a[3, 5] *= TINY
    takes(FP16, a, b, seed)
    b[70, 6] *= TINY
    a[3, 70] *= TINY  # which meet
    takes(FP16, a, b, seed)
    a[3, 70:73] *= TINY
    b[64:72, 9:20] = 0
    takes(FP16, a, b, seed)
    a[3, 64:96] *= TINY
    takes(BF16, a, b, seed)
    a[3, 64:96] = 0  # zeros lose nothing
    takes(FP16, a, b, seed)


@pytest.mark.parametrize("zeros", [8, 24, 40, 48, 52, 56])  # up to these numbers, lines are alike
def test_zeros_of_one_line_and_of_the_other(chip, seed, zeros):
    """One with a lossy element, and another that misses so many of its 64 places: enough meet if no more than 64 are
    missing in both, with the lossy one counted twice."""
    a, b = dense(seed, 40, 40, 128)
    a[3, 64 + 7] *= TINY
    b[64 : 64 + zeros, 5] = 0
    takes(FP16, a, b, seed)
    places = 64 + np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(64), [7]))
    a[3, places[: 62 - zeros]] = 0  # with the lossy one and what it needs: 64
    takes(FP16, a, b, seed)
    a[3, places[62 - zeros]] = 0
    takes(BF16, a, b, seed)


def test_sizes_that_count(chip, seed):
    """In a block whose largest element is 2^14 after scaling, a good one has 2^8, and one that it meets 2^4."""
    draw = np.random.default_rng(seed)
    for good, fair, expected in ((1.001, 1.001, FP16), (0.999, 1.001, BF16), (1.001, 0.999, BF16)):
        a, b = (draw.uniform(x - 0.001, x, (64, 40)).astype(np.float32) for x in (good, fair))
        a, b = a.T * np.float32(2.0**-6), b * np.float32(2.0**-10)
        a[0], b[:, 0], a[1, 5] = 1, 1, 2.0**-18
        takes(expected, a, b, seed)


@pytest.mark.parametrize("k", [5, 33, 60, 64 + 3, 64 + 33, pytest.param(128 + 1, marks=full)])
def test_lossy_elements_in_the_last_few_along_k(chip, seed, k):
    """If they are fewer than 32, those of the 64 before count, too."""
    a, b = dense(seed, 40, 40, k)
    a[3, -1] *= TINY
    takes(FP16, a, b, seed)
    a[3, max(k - 66, 0) : -1] = 0
    takes(BF16, a, b, seed)


@pytest.mark.parametrize("last", [6, 14, 15, 31, 32, 33, 40])
def test_zeros_in_the_last_few_along_k(chip, seed, last):
    a, b = dense(seed, 40, 40, 64 + last)
    b[64, 3] *= TINY
    takes(FP16, a, b, seed)
    a[3, 64:] = 0  # nothing is lost there
    takes(FP16, a, b, seed)
    a[5, :64] = 0  # fair elements are where lossy ones may be
    takes(FP16 if last > 13 else BF16, a, b, seed)
    a[5, 65:], a[5, 64] = 0, 1
    takes(BF16, a, b, seed)


def test_zeros_at_the_end_of_k(chip, seed):
    """A block of zeros has no size, so nothing else is small beside it."""
    a, b = dense(seed, 40, 40, 64 + 6)
    a *= np.float32(1e-6)
    a[:, 64:] = 0
    takes(FP16, a, b, seed)


def test_two_last_blocks_with_lossy_elements(chip, seed):
    """The 64 places before a last one may have to make up for the lossy elements of both."""
    a, b = np.full((20, 65), 2.0**-6 * 1.0001, np.float32), np.full((65, 20), 2.0**-10 * 1.0001, np.float32)
    a[0], b[:, 0] = 1, 1
    a[1:, [0, 64]] = np.float32(2.0**-39 / 3)
    b[[0, 64], 1:] = 1.9999
    a[1:, 58:64] = 0
    takes(FP16, a, b, seed)


@pytest.mark.parametrize("k", [640, 690, *(pytest.param(k, marks=full) for k in (641, 656, 664, 673, 680, 700))])
def test_zeros_in_random_places(chip, seed, k):
    """Where half of one operand is zeros, as behind a rectifier, three products do. With as many in the other, it is
    not certain that enough meet."""
    a, b = operands("normal", seed, 60, 60, k)
    a[7, 9], b[11, 13], b[-1, 14] = TINY, TINY, TINY
    takes(FP16, np.maximum(a, 0), b, seed)
    takes(BF16, np.maximum(a, 0), np.maximum(b, 0), seed)


@pytest.mark.parametrize("k", [1, 6, 15, 64, 64 + 3, 64 + 33, pytest.param(500, marks=full)])
@pytest.mark.parametrize("m, n", [(40, 40), pytest.param(200, 1, marks=full), pytest.param(1, 150, marks=full)])
@pytest.mark.parametrize("lossy", [20, 500])
def test_zeros_that_avoid_each_other(chip, seed, m, n, k, lossy):
    """Whatever is left is made of lossy elements."""
    draw = np.random.default_rng(seed)
    a, b = dense(seed, m, n, k)
    rows, columns = sparse(draw, a, b)
    for x, inside in ((a, rows[:, None]), (b, columns)):
        which = inside & (draw.random(x.shape) < lossy / x.size)
        x[which] = np.exp2(draw.uniform(-50, -17, which.sum())) * draw.choice([-1, 1], which.sum())
    assert error(a, b) <= BOUND, seed


def test_few_meet_by_chance(chip, seed):
    """Blocks with all kinds of sizes and zeros: whatever the check decides, no element has a larger error."""
    draw = np.random.default_rng(seed)
    for _ in range(10):
        m, n, k = (int(draw.integers(1, most)) for most in (70, 70, 200))
        both = []
        for lines in (m, n):
            blocks = (-(-lines // 16), -(-k // 64))
            sizes, zeros, lossy = (
                draw.uniform(0, 30, blocks),
                draw.choice([0, 0.1, 0.5, 0.9], blocks),
                draw.choice([0, 0.01, 0.3], blocks),
            )
            sizes, zeros, lossy = (np.kron(x, np.ones((16, 64)))[:lines, :k] for x in (sizes, zeros, lossy))
            x = draw.uniform(1, 2, (lines, k)) * draw.choice([-1, 1], (lines, k))
            x *= np.exp2(-sizes * draw.random((lines, k)) ** 4)
            x = np.where(draw.random(x.shape) < lossy, x * np.exp2(draw.uniform(-40, -17, x.shape)), x)
            both.append(np.where(draw.random(x.shape) < zeros, 0, x).astype(np.float32))
        a, b = both[0], both[1].T
        assert error(a, b) <= BOUND, (m, n, k, seed)


def test_blocks_of_other_size(chip, seed):
    """The scale is that of the block, so that nothing is lossy; a block of zeros has none."""
    a, b = dense(seed, 40, 40, 128)
    b[:, :16] *= TINY
    a[:, :64] *= TINY
    takes(FP16, a, b, seed)
    a[:, :64] = 0
    takes(FP16, a, b, seed)
    b[:, 16] *= TINY  # a line of the next block
    takes(BF16, a, b, seed)


def test_what_bf16_cannot_hold(chip, seed):
    """An element below 2^-106 of the largest in its block sends the product to float32, which a larger one does not."""
    a, b = operands("uniform", seed, 40, 40, 200)
    a, b = a + 1, b + 1
    for power, lost in ((104, False), (108, True)):
        a[5, 7], a[5, 9] = 2.0 ** (power // 2), 2.0 ** -(power - power // 2)
        same = bits(product(a, b, "split_bf16")) == bits(product(a, b, "warp_tiles"))
        assert same == lost, (power, seed)


@full
def test_the_paths_of_a_long_k(chip, seed):
    """Six products in float16's place, and float32 itself in theirs."""
    a, b = operands("normal", seed, 4, 4, LONG)
    assert path(a, b) == FP16, seed
    a[1] *= TINY
    assert path(a, b) == BF16, seed
    a[2, 7] = np.inf
    assert path(a, b) == PLAIN, seed


@pytest.mark.parametrize("value", [np.nan, pytest.param(np.inf, marks=full)])
def test_each_product_of_a_stack_has_a_path_of_its_own(chip, seed, value):
    one = [operands(kind, seed, 40, 40, 60) for kind in ("normal", "lognormal 6", "uniform")]
    one[2][0][7, 9] = value
    assert [path(a, b) for a, b in one] == [FP16, BF16, BF16], seed
    a, b = (np.stack(operand) for operand in zip(*one, strict=True))
    for how in ALL:
        assert bits(product(a, b, how)) == b"".join(bits(product(*each, how)) for each in one), (how, seed)
