"""ldmatrix and mma.sync on both sides: which element is where, how sums are rounded, and the errors of the emulator."""

from fractions import Fraction

import numpy as np
import pytest

import cuda_api
from cases import ORDERS

#: Random operands and the sums that an H200 computed from them. Of each type, the first twelve products have exponents
#: that differ by 0, 4, 10 and 14 in either direction. The others are close to overflow or beyond it in either sign,
#: subnormal, infinite, NaN, zero, or of exponents from the whole range. (Recorded in November 2026 with 655,360 sums of
#: each type and 131,072 of doubles; those that reveal most are kept. mma.sync and wgmma, with A in shared memory or in
#: registers, gave the same bits, and the emulator gives all of them.)
RECORDED = np.load(cuda_api.HERE / "data/tensor_core_h200.npz")
TYPES = ("float16", "bfloat16", "tf32")


@pytest.fixture
def library(side):
    return cuda_api.load(side, "tensor_core")


@pytest.fixture
def emulated():
    return cuda_api.load("emulator", "tensor_core")


def products(library, kind, a, b, sums):
    """sums + a @ b for a stack of products, one block each; operands as bits (double: numbers)."""
    out = library.buffer(sums)
    library.launch(f"run_products_{kind}", library.buffer(a), library.buffer(b), out, grid=len(a), block=32)
    return out.get()


def values(bits, kind):
    """The numbers that the bits stand for, as doubles."""
    if kind == "float16":
        return bits.view(np.float16).astype(np.float64)
    if kind == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return (bits & 0xFFFFE000).view(np.float32).astype(np.float64)


def bits_of(x, kind):
    """Random numbers as bits of the type; of tf32 with the lowest bits set, which do not count."""
    x = x.astype(np.float32)
    if kind == "float16":
        return x.astype(np.float16).view(np.uint16)
    return (x.view(np.uint32) >> 16).astype(np.uint16) if kind == "bfloat16" else x.view(np.uint32) | 0x1FFF


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_ldmatrix(library, order, order_name, count, transposed):
    order(order_name)
    tiles = np.random.default_rng().integers(0, 2**16, (3, count, 8, 8)).astype(np.uint16)
    out = library.buffer(np.zeros((3, count, 32), np.uint32))
    library.launch(f"run_load_{count}_{transposed}", library.buffer(tiles.view(np.uint32)), out, grid=3, block=32)
    expected = np.swapaxes(tiles, 2, 3) if transposed else tiles
    np.testing.assert_array_equal(out.get(), np.ascontiguousarray(expected).view(np.uint32).reshape(3, count, 32))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("kind", TYPES)
def test_recorded_sums_bit_by_bit(library, order, order_name, kind):
    order(order_name)
    a, b, before, after = (RECORDED[f"{kind}_{part}"] for part in ("a", "b", "before", "after"))
    np.testing.assert_array_equal(products(library, kind, a, b, before).view(np.uint32), after.view(np.uint32))


@pytest.mark.parametrize("kind", TYPES)
def test_random_sums(library, kind):
    """Each product loses less than a unit two bits below a float of the largest exponent, and so does the sum."""
    draw = np.random.default_rng()
    depth = 8 if kind == "tf32" else 16
    a = bits_of(draw.normal(size=(20, 16, depth)), kind)
    b = bits_of(draw.normal(size=(20, depth, 8)), kind)
    before = draw.normal(size=(20, 16, 8)).astype(np.float32)
    result = products(library, kind, a, b, before)
    exact = before + values(a, kind) @ values(b, kind)
    largest = 4 * np.maximum(np.abs(before), np.abs(values(a, kind)).max() * np.abs(values(b, kind)).max())
    assert (np.abs(result - exact) <= largest * (depth + 3) * 2.0**-24).all()
    assert not np.array_equal(result, before)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize(
    "left, right, before, expected",
    [
        (np.nan, 1, 0, np.nan),
        (np.inf, 1, 0, np.inf),
        (np.inf, -1, 5, -np.inf),
        (np.inf, 0, 0, np.nan),
        (np.inf, 1, -np.inf, np.nan),
        (1, 1, np.inf, np.inf),
        (0, 0, -3, -3),
        (0, 1, 0, 0),
    ],
)
def test_special_values(library, kind, left, right, before, expected):
    depth = 8 if kind == "tf32" else 16
    a, b = np.zeros((1, 16, depth)), np.zeros((1, depth, 8))
    a[0, 3, 2], b[0, 2, 5] = left, right
    sums = np.full((1, 16, 8), before, np.float32)
    bits = [bits_of(x, kind) & (0xFFFFE000 if kind == "tf32" else 0xFFFF) for x in (a, b)]
    result = products(library, kind, *bits, sums)[0, 3, 5]
    np.testing.assert_equal(result, np.float32(expected))


@pytest.mark.parametrize("shape", [0, 4, 8, 16])
def test_doubles_are_added_in_the_order_of_k(library, shape):
    """fma after fma, each with one rounding. (0: two products of m8n8k4)"""
    draw = np.random.default_rng()
    depth = shape or 4
    a, b = draw.normal(size=(2, 16, depth)), draw.normal(size=(2, depth, 8))
    before = draw.normal(size=(2, 16, 8))
    result = products(library, f"double_{shape}", a, b, before)
    for i in np.ndindex(before.shape):
        total = before[i]
        for k in range(depth):
            total = float(Fraction(a[i[0], i[1], k]) * Fraction(b[i[0], k, i[2]]) + Fraction(total))
        assert result[i] == total


@pytest.mark.parametrize("shape", [0, 4, 8, 16])
def test_recorded_doubles_bit_by_bit(library, shape):
    """Overflow, subnormal numbers, and which NaN comes out: that of b, else of the sum, else of a."""
    a, b, before, after = (RECORDED[f"double_{part}"] for part in ("a", "b", "before", f"{shape}_after"))
    depth = shape or 4
    result = products(library, f"double_{shape}", a[:, :, :depth], b[:, :depth], before)
    np.testing.assert_array_equal(result.view(np.uint64), after.view(np.uint64))


@pytest.mark.parametrize("kernel, words", [("half_a_warp", "32 lanes|mask"), ("two_operations", "mma.sync")])
def test_a_broken_rule_is_named(emulated, kernel, words):
    out = emulated.buffer(np.zeros(32, np.float32))
    with pytest.raises(cuda_api.CudaFailure, match=rf"kernel {kernel}, .*tensor_core\.cu:\d+, .*({words})") as caught:
        emulated.launch(f"run_{kernel}", out, block=32)
    line = int(caught.value.detail.split("tensor_core.cu:")[1].split(",")[0])
    assert line in emulated.lines(kernel)
