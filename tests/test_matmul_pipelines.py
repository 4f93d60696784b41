"""Variants of matmul whose copies and products are asynchronous, in other orders of threads and blocks: a wait, a
barrier or a phase that is missing gives a wrong result in one of them. Small integers, so that all sums are exact."""

import contextlib
import itertools

import numpy as np
import pytest

import cudakern
from cases import emulated_chip, label, main_type, native, result_type, settings, variants
from cudakern.arrays.dtypes import numpy_dtype
from cudakern.measure.resources import launches_of

pytestmark = pytest.mark.proves()

#: TMA stores results whose rows start at multiples of 16 bytes. The first shape has more slabs than any pipeline has
#: stages. In the others, each block of a persistent grid has several tiles, and a new tile begins in any stage: in the
#: second one on a chip with sixteen multiprocessors, in the last one if tiles are narrow (as variants choose there).
SHAPES = {"many slabs": (136, 264, 64 * 9 + 8), "several tiles": (660, 1300, 72), "narrow tiles": (1530, 776, 8)}
ORDERS = ("fixed", "reversed", "seed:3")


def cases():
    """In the default run, each variant with the tiles that it chooses itself, in the reversed order. (Those that would
    choose so many parts of k that each has fewer slabs than there are stages have one part.)"""
    for name, variant in variants("matmul", host=False):
        if name != "emulator" or not variant.capability_exact:
            continue
        one_part = {each.name: 1 for each in variant.parameters if each.name in ("parts", "shares")}
        tried = []
        for parameters in settings(variant):
            chosen = {word: value for word, value in parameters.items() if value}  # of 0, the variant chooses itself
            if chosen in tried:
                continue
            tried.append(chosen)
            for shape in SHAPES:
                if shape == "narrow tiles" and parameters:
                    continue
                if shape == "several tiles" and any(parameters.get(word, 0) for word in ("parts", "groups")):
                    continue  # such a grid is not persistent
                for order in ORDERS:
                    usual = parameters == one_part and order == "reversed"
                    usual &= shape == "many slabs" or (
                        shape == "narrow tiles" and variant.name in ("wgmma_persistent", "wgmma_multicast")
                    )
                    marks = () if usual else pytest.mark.full
                    yield pytest.param(variant, parameters, shape, order, marks=marks)


@pytest.mark.parametrize("variant, parameters, sizes, threads", list(cases()), ids=label)
def test_integers_are_exact_in_any_order(order, variant, parameters, sizes, threads):
    order(threads)
    m, n, k = SHAPES[sizes]
    if sizes == "several tiles" and parameters.get("tile") == 64:
        n //= 2  # still two tiles or more for each block
    dtype = main_type(variant)
    draw = np.random.default_rng()
    a, b = draw.integers(-3, 4, (m, k)).astype(dtype), draw.integers(-3, 4, (k, n)).astype(dtype)
    out = np.empty((m, n), result_type(variant))
    with emulated_chip("H200-1G") if sizes == "several tiles" else contextlib.nullcontext():
        native("emulator").execute("matmul", variant.name, variant.values(parameters), (a, b), (out,), 0, False, 0)
    np.testing.assert_array_equal(out.astype("float64"), a.astype("float64") @ b.astype("float64"))


def laid_out(x, columns, pitch=1, offset=0):
    """A device array with the elements of a matrix: its lines (rows or columns) start at multiples of `pitch` elements
    after the first one, which is `offset` elements after the start of the memory."""
    lines = x.T if columns else x
    around = np.full((lines.shape[0], -(-(lines.shape[1] + offset) // pitch) * pitch), 9, x.dtype)
    around[:, offset : offset + lines.shape[1]] = lines
    inside = cudakern.asarray(around)[:, offset : offset + lines.shape[1]]
    return inside.T if columns else inside


def integers(m, k, n, dtype):
    draw = np.random.default_rng()
    return (draw.integers(-3, 4, shape).astype(numpy_dtype(dtype)) for shape in ((m, k), (k, n)))


def exact(a, b):
    return a.astype("float64") @ b.astype("float64")


LAYOUTS = list(itertools.product((False, True), repeat=2))


@pytest.fixture
def emulated():
    with cudakern.use_backend("emulator"):
        yield


@pytest.mark.parametrize("name, dtype", [("split_inside", "float32"), ("wgmma_split_k", "float16")])
@pytest.mark.parametrize(
    "parts, groups",
    [(1, 1), (2, 2), *(pytest.param(*x, marks=pytest.mark.full) for x in ((4, 1), (1, 2), (0, 0)))],
)
@pytest.mark.parametrize("a_columns, b_columns", LAYOUTS)
def test_the_rows_of_tiles_are_columns(emulated, name, dtype, parts, groups, a_columns, b_columns):
    """With side=2, C^T is computed: every layout, and lengths that no tile divides."""
    for m, n in ((17, 203), (70, 3)):
        a, b = integers(m, 389, n, dtype)
        sides = laid_out(a, a_columns, 8), laid_out(b, b_columns, 8)
        result = cudakern.matmul(*sides, variant=name, parts=parts, groups=groups, side=2).get()
        np.testing.assert_array_equal(result.astype("float64"), exact(a, b))


@pytest.mark.parametrize("name, dtype", [("split_inside", "float32"), ("wgmma_split_k", "float16")])
def test_a_stack_whose_rows_of_tiles_are_columns(emulated, name, dtype):
    a, b = (np.stack(pair) for pair in zip(*(integers(9, 70, 130, dtype) for _ in range(6)), strict=True))
    for some, other in ((a, b), (a, b[:1]), (a[:1], b)):
        for groups in (1, 2):
            result = cudakern.matmul(some, other, variant=name, side=2, groups=groups)
            np.testing.assert_array_equal(result.astype("float64"), exact(some, other))


@pytest.mark.parametrize("order_name", ORDERS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("a_columns, b_columns", LAYOUTS)
def test_operands_of_any_alignment(emulated, order, order_name, dtype, a_columns, b_columns):
    """Rows and columns whose starts are aligned to 2, 4 and 16 bytes, where they are, without copies."""
    order(order_name)
    a, b = integers(67, 341 if dtype == "float16" else 141, 70, dtype)
    settings = itertools.cycle(
        ({"tile": 64}, {"tile": 32, "parts": 2}, {"groups": 2}, {"tile": 32}, {"parts": 2}, {"tile": 32, "groups": 2})
    )
    for (pitch, offset), parameters in zip(itertools.product((1, 2, 8), (0, 1, 2, 8)), settings, strict=False):
        sides = laid_out(a, a_columns, pitch, offset), laid_out(b, b_columns, pitch, offset)
        result = cudakern.matmul(*sides, variant="tensor_cores_split_k", **parameters).get()
        np.testing.assert_array_equal(result.astype("float64"), exact(a, b))


def test_an_unaligned_product_is_one_launch(emulated):
    a, b = (cudakern.asarray(x) for x in integers(77, 73, 263, "float16"))
    launches = launches_of(lambda: cudakern.matmul(a, b))
    assert [(x.kernel, x.launches) for x in launches] == [("tensor_cores_split_k", 1)]
