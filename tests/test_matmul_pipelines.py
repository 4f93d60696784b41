"""Variants of matmul whose copies and products are asynchronous, in other orders of threads and blocks: a wait, a
barrier or a phase that is missing gives a wrong result in one of them. Small integers, so that all sums are exact."""

import numpy as np
import pytest

from cases import label, main_type, native, result_type, settings, variants

pytestmark = pytest.mark.proves()

#: TMA stores results whose rows start at multiples of 16 bytes. The first shape has more slabs than any pipeline has
#: stages; in the others each block of a persistent grid has several tiles (in the last one if they are narrow, as the
#: variants choose them there), and a new tile begins in any stage.
SHAPES = {"many slabs": (136, 264, 64 * 9 + 8), "several tiles": (1700, 2600, 72), "narrow tiles": (1530, 776, 8)}
ORDERS = ("fixed", "reversed", "seed:3")


def cases():
    """In the default run, each variant with the tiles that it chooses itself, in the reversed order. (Those that would
    choose so many parts of k that each has fewer slabs than there are stages have one part.)"""
    for name, variant in variants("matmul", host=False):
        if name != "emulator" or not variant.capability_exact:
            continue
        one_part = {"parts": 1} if variant.name.startswith("split_") else {}
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
    native("emulator").execute("matmul", variant.name, variant.values(parameters), (a, b), (out,), 0, False, 0)
    np.testing.assert_array_equal(out.astype("float64"), a.astype("float64") @ b.astype("float64"))
