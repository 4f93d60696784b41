"""The check with which `split_fp16` and `split_bf16` find out, on the device, whether their pieces hold the elements:
which path a product takes. Data is new in each run; a message names its seed."""

import numpy as np
import pytest

from matrices import operands
from splits import ALL, BF16, FP16, LONG, PLAIN, bits, path, product

pytestmark = pytest.mark.proves()
full = pytest.mark.full


def test_small_elements_are_lossy_only_where_they_count(chip, seed):
    """An element below 2^-17 of the largest in its block of 16 lines by 64 along k has lost digits in float16. A line
    may have one such for eight of 2^-4 or more, and seven of less than 2^-12."""
    a, b = operands("uniform", seed, 40, 40, 128)
    a, b = a + 1, b + 1
    assert path(a, b) == FP16, seed
    tiny = np.float32(2.0**-30)
    a[3, 5] *= tiny
    assert path(a, b) == FP16, seed
    a[3, 5:13] *= tiny  # more than seven
    assert path(a, b) == BF16, seed
    a[3, 5:13] = 0  # zeros lose nothing
    assert path(a, b) == FP16, seed
    a[3, 5:64], a[3, 7] = 0, tiny  # one, and five large ones
    assert path(a, b) == BF16, seed
    a[3, 8:11] = 1  # eight
    assert path(a, b) == FP16, seed
    b[9:64, 6] = 0  # a line that has few elements, besides the lossy one
    assert path(a, b) == FP16, seed
    b[1:64, 6] = 0
    assert path(a, b) == BF16, seed
    b[:, 6] = b[:, 5] * tiny  # a line of other size in its block
    assert path(a, b) == BF16, seed
    b[:, :16] *= tiny  # a block of other size
    b[:, 6] = b[:, 5]
    assert path(a, b) == FP16, seed
    a[4, :13], a[4, 60:], b[13:60, :20] = a[4, :13] * tiny, 0, 0  # the large elements meet zeros only
    assert path(a, b) == BF16, seed


@pytest.mark.parametrize("k", [64 + 3, pytest.param(128 + 1, marks=full)])
def test_small_elements_in_the_last_few_along_k(chip, seed, k):
    """Those of the 64 before count, too."""
    a, b = operands("uniform", seed, 40, 40, k)
    a, b = a + 1, b + 1
    a[3, -1] *= np.float32(2.0**-30)
    assert path(a, b) == FP16, seed
    a[3, -60:-1] = 0
    assert path(a, b) == BF16, seed


@pytest.mark.parametrize("last", [6, 14, 15, 31, 32, 33, 40])
def test_large_elements_in_the_last_few_along_k(chip, seed, last):
    """They may meet just lossy ones: of A, if all those before are small, or if all are zeros and these are fewer than
    eight."""
    tiny = np.float32(2.0**-25)
    a, b = operands("uniform", seed, 40, 40, 64 + last)
    a, b = a + 1, b + 1
    assert path(a, b) == FP16, seed
    b[64, 3] *= tiny
    assert path(a, b) == FP16, seed
    a[3, :64] = 0
    assert path(a, b) == (BF16 if last < 8 else FP16), seed
    a[3, 64:] = 0  # nothing is nothing: it may be small
    assert path(a, b) == FP16, seed
    a[35, 69:], a[35, :64] = 0, 0  # in a block that has eight lines
    assert path(a, b) == BF16, seed
    a[35] = 1
    a[:, :64] *= np.float32(2.0**-40)
    b[64 : 64 + min(last, 7), 3] *= tiny
    b[64 + 7 :, 3] = 0
    assert path(a, b) == BF16, seed


def test_zeros_at_the_end_of_k(chip, seed):
    """A block of zeros has no size, so nothing else is small beside it."""
    a, b = operands("uniform", seed, 40, 40, 64 + 6)
    a, b = (a + 1) * np.float32(1e-6), b + 1
    a[:, 64:] = 0
    assert path(a, b) == FP16, seed


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
    a[1] *= np.float32(2.0**-30)
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
