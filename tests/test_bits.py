"""packbits and bincount beyond what every operation is tested for: against NumPy, with its errors."""

import itertools

import numpy as np
import pytest

import cudakern
from cases import label, native, rows
from cudakern import packbits

PACKS = [(name, row) for name, row in rows("packbits", host=False)]
BITORDERS = ("big", "little")

every_pack = pytest.mark.parametrize("name, row", PACKS, ids=label)


# --- packbits ---------------------------------------------------------------------------------------------------------
@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_every_flag_has_its_bit(name, row, bitorder):
    """One flag at a time, in each place of two words and of the bits that are left: the 32nd too."""
    with cudakern.use_backend(name):
        for n, place in [(m, place) for m in (67, 64, 35, 32, 31, 8, 3) for place in range(m)]:
            x = np.zeros(n, bool)
            x[place] = True
            result = packbits(x, bitorder=bitorder, variant=row.name)
            assert np.array_equal(result, np.packbits(x, bitorder=bitorder)), (n, place)


@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_any_number_but_0_is_1(name, row, bitorder):
    """Every byte; and numbers whose lowest bytes are 0, which a kernel that looks at bytes would take for 0."""
    every = np.concatenate([np.arange(256), np.random.default_rng(0).permutation(256), np.arange(255)])
    with cudakern.use_backend(name):
        for dtype in row.types:
            x = every.astype(dtype)
            shifts = range(0, 8 * x.itemsize, 8) if x.dtype.kind in "iu" else (0,)
            for by in shifts:
                y = x << np.asarray(by, x.dtype) if by else x
                result = packbits(y, bitorder=bitorder, variant=row.name)
                assert np.array_equal(result, np.packbits(y, bitorder=bitorder)), (dtype, by)


@every_pack
def test_bytes_of_bools_that_are_not_1(name, row):
    """A bool's byte may be any: true is what is not 0."""
    x = np.arange(256, dtype=np.uint8).view(bool)
    with cudakern.use_backend(name):
        assert np.array_equal(packbits(x, variant=row.name), np.packbits(x.view(np.uint8)))


@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_flags_that_begin_anywhere(name, row, bitorder):
    whole = np.random.default_rng(5).random(5000) < 0.5
    with cudakern.use_backend(name):
        held = cudakern.asarray(whole)
        for start, end in ((1, 5000), (3, 4001), (16, 1040), (17, 18), (5, 5)):
            result = packbits(held[start:end], None, bitorder, variant=row.name).get()
            assert np.array_equal(result, np.packbits(whole[start:end], bitorder=bitorder))


@every_pack
def test_more_flags_than_one_round_of_the_grid(name, row):
    """A chip of one size: threads go on to their second and third words."""
    x = np.random.default_rng(6).random(600_011) < 0.5
    threads = min(p.choices[1] if p.choices else 1024 for p in row.parameters if p.name == "threads")
    with cudakern.use_backend(name):
        result = packbits(x, bitorder="little", variant=row.name, threads=threads)
    assert np.array_equal(result, np.packbits(x, bitorder="little"))


def test_axes_of_packbits(backend):
    x = np.random.default_rng(1).random((3, 19, 5)) < 0.5
    for axis in (0, 1, 2, -1, -3, None, np.int8(1)):
        for bitorder in BITORDERS:
            assert np.array_equal(packbits(x, axis, bitorder), np.packbits(x, axis, bitorder))
    row = x[0, :, 0]
    for axis in (None, 0, -1):
        assert np.array_equal(packbits(row, axis, variant="ballot"), np.packbits(row))
        assert np.array_equal(packbits(cudakern.asarray(row), axis).get(), np.packbits(row))
    assert np.array_equal(packbits(x, variant="unrolled"), np.packbits(x))
    assert np.array_equal(packbits(cudakern.asarray(x)).get(), np.packbits(x))
    assert np.array_equal(packbits(np.bool_(True), 0, variant="unrolled"), [128])
    assert np.array_equal(packbits(x, 1, variant="numpy"), np.packbits(x, 1))
    with pytest.raises(ValueError, match="not along axis 1 of an array of shape.*'auto' packs it by NumPy"):
        packbits(x, 1, variant="ballot")
    with pytest.raises(ValueError, match=r"not along axis 2.*a\.get\(\)"):
        packbits(cudakern.asarray(x), -1)
    for axis, array in itertools.product((3, -4), (x, cudakern.asarray(x))):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds for array of dimension 3"):
            packbits(array, axis)
    with pytest.raises(TypeError, match="integer"):
        packbits(x, 1.5)


def test_what_packbits_does_not_take(backend):
    for wrong in ([1.5, 0.0], np.array([]), ["a"], np.array([1], object)):
        with pytest.raises(TypeError, match="integer or boolean"):
            packbits(wrong)
    with pytest.raises(TypeError, match="takes .*bool.*not float32"):
        packbits(cudakern.asarray(np.ones(3, "float32")))
    with pytest.raises(TypeError, match="vectorized.*int32"):
        packbits(np.ones(3, "int32"), variant="vectorized")
    for variant in ("auto", "ballot", "numpy"):
        with pytest.raises(ValueError, match="bitorder is 'middle'.*'big' or 'little'"):
            packbits([1, 0], bitorder="middle", variant=variant)
        with pytest.raises(TypeError, match="bitorder is a str"):
            packbits([1, 0], bitorder=1, variant=variant)
    with pytest.raises(ValueError, match="threads"):
        packbits([1, 0], variant="ballot", threads=48)


def test_the_c_module_refuses_a_result_of_another_length(backend):
    row = cudakern.variants("packbits")["unrolled"]
    with pytest.raises(ValueError, match="17 flags are 3 bytes, and the result has 2"):
        native(backend).execute(
            "packbits", row.name, row.values({}), (np.ones(17, bool),), (np.zeros(2, "uint8"),), 0, False, 0
        )
