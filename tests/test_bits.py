"""packbits and bincount beyond what every operation is tested for: against NumPy, with its errors."""

import itertools

import numpy as np
import pytest

import cudakern
from cases import label, native, variants
from cudakern import bincount, packbits
from cudakern.operations.bincount import extent
from growth import settled

pytestmark = pytest.mark.proves()

PACKS = [(name, variant) for name, variant in variants("packbits", host=False)]
BITORDERS = ("big", "little")

every_pack = pytest.mark.parametrize("name, variant", PACKS, ids=label)


# --- packbits ---------------------------------------------------------------------------------------------------------
@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_every_flag_has_its_bit(name, variant, bitorder):
    """One flag at a time, in each place of two words and of the bits that are left: the 32nd too."""
    with cudakern.use_backend(name):
        for n, place in [(m, place) for m in (67, 64, 35, 32, 31, 8, 3) for place in range(m)]:
            x = np.zeros(n, bool)
            x[place] = True
            result = packbits(x, bitorder=bitorder, variant=variant.name)
            assert np.array_equal(result, np.packbits(x, bitorder=bitorder)), (n, place)


@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_any_number_but_0_is_1(name, variant, bitorder):
    """Every byte; and numbers whose lowest bytes are 0, which a kernel that looks at bytes would take for 0."""
    every = np.concatenate([np.arange(256), np.random.default_rng(0).permutation(256), np.arange(255)])
    with cudakern.use_backend(name):
        for dtype in variant.types:
            x = every.astype(dtype)
            shifts = range(0, 8 * x.itemsize, 8) if x.dtype.kind in "iu" else (0,)
            for by in shifts:
                y = x << np.asarray(by, x.dtype) if by else x
                result = packbits(y, bitorder=bitorder, variant=variant.name)
                assert np.array_equal(result, np.packbits(y, bitorder=bitorder)), (dtype, by)


@every_pack
def test_bytes_of_bools_that_are_not_1(name, variant):
    """A bool's byte may be any: true is what is not 0."""
    x = np.arange(256, dtype=np.uint8).view(bool)
    with cudakern.use_backend(name):
        assert np.array_equal(packbits(x, variant=variant.name), np.packbits(x.view(np.uint8)))


@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_flags_that_begin_anywhere(name, variant, bitorder):
    whole = np.random.default_rng(5).random(5000) < 0.5
    with cudakern.use_backend(name):
        held = cudakern.asarray(whole)
        for start, end in ((1, 5000), (3, 4001), (16, 1040), (17, 18), (5, 5)):
            result = packbits(held[start:end], None, bitorder, variant=variant.name).get()
            assert np.array_equal(result, np.packbits(whole[start:end], bitorder=bitorder))


@every_pack
def test_more_flags_than_one_round_of_the_grid(name, variant):
    """A chip of one size: threads go on to their second and third words."""
    x = np.random.default_rng(6).random(600_011) < 0.5
    threads = min(p.choices[1] if p.choices else 1024 for p in variant.parameters if p.name == "threads")
    with cudakern.use_backend(name):
        result = packbits(x, bitorder="little", variant=variant.name, threads=threads)
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
    with pytest.raises(TypeError, match=r"'numpy' computes on the host.*a\.get\(\)"):
        packbits(cudakern.asarray(x), 1, variant="numpy")
    with pytest.raises(ValueError, match="unknown variant 'balot'.*nearest is 'ballot'"):
        packbits(x, 1, variant="balot")
    for axis, array in itertools.product((3, -4), (x, cudakern.asarray(x))):
        with pytest.raises(np.exceptions.AxisError, match="out of bounds for array of dimension 3"):
            packbits(array, axis)
    with pytest.raises(TypeError, match="integer"):
        packbits(x, 1.5)


@every_pack
@pytest.mark.parametrize("bitorder", BITORDERS)
def test_kernels_pack_along_any_axis(name, variant, bitorder):
    """Rows that end within a byte, in whole bytes, or have nothing in them; memory in any order; another stream."""
    random = np.random.default_rng(2)
    with cudakern.use_backend(name):
        stream = cudakern.Stream()
        for shape in ((3, 19, 5), (1, 40), (40, 1), (8, 16), (0, 5), (5, 0), (2, 8, 24)):
            x = (random.random(shape) < 0.5).astype(variant.types[-1])
            for axis, given in itertools.product(range(-x.ndim, x.ndim), (x, np.asfortranarray(x), x[::-1])):
                expected = np.packbits(given, axis, bitorder)
                packed = packbits(given, axis, bitorder, variant=variant.name)
                held = packbits(cudakern.asarray(given), axis, bitorder, variant=variant.name, stream=stream)
                for result in (packed, held.get()):
                    assert result.shape == expected.shape
                    assert result.dtype == np.uint8
                    assert np.array_equal(result, expected), (shape, axis)
            turned = packbits(cudakern.asarray(x).T, 0, bitorder, variant=variant.name).get()
            assert np.array_equal(turned, np.packbits(x.T, 0, bitorder))


def test_what_packbits_does_not_take(backend):
    for wrong in ([1.5, 0.0], np.array([]), ["a"], np.array([1], object)):
        with pytest.raises(TypeError, match="packbits takes bool, int8.* or uint64, .*a != 0 converts"):
            packbits(wrong)
        for axis in (None, 0):  # (no hint to "auto", which takes no others either)
            with pytest.raises(TypeError, match="variant 'ballot' takes bool, .*a != 0 converts"):
                packbits(wrong, axis, variant="ballot")
    with pytest.raises(TypeError, match="takes bool, .*not float32; a != 0 converts"):
        packbits(cudakern.asarray(np.ones(3, "float32")))
    with pytest.raises(TypeError, match="vectorized.*int32"):
        packbits(np.ones(3, "int32"), variant="vectorized")
    for variant in ("auto", "ballot", "numpy"):
        with pytest.raises(ValueError, match="unknown bitorder .middle.: known: big, little"):
            packbits([1, 0], bitorder="middle", variant=variant)
        with pytest.raises(TypeError, match="bitorder= must be one of .big., .little., not 1"):
            packbits([1, 0], bitorder=1, variant=variant)
    with pytest.raises(ValueError, match="threads"):
        packbits([1, 0], variant="ballot", threads=48)


def test_packbits_along_an_axis_refuses(backend):
    x = np.ones((3, 5), "int32")
    for a, axis in itertools.product((x, cudakern.asarray(x)), (0, 1)):
        with pytest.raises(ValueError, match="unknown variant 'balot'"):
            packbits(a, axis, variant="balot")
        with pytest.raises(ValueError, match="threads"):
            packbits(a, axis, variant="ballot", threads=48)
        with pytest.raises(TypeError, match=r"vectorized.*int32"):
            packbits(a, axis, variant="vectorized")
        for other in ("float32", "complex64"):
            with pytest.raises(TypeError, match=f"takes bool, .*not {other}; a != 0 converts"):
                packbits(a.astype(other), axis, variant="ballot")
    for other in ("U1", "M8[D]", object):
        with pytest.raises(TypeError, match="takes bool, .*but a is"):
            packbits(x.astype(other), axis, variant="ballot")
    with pytest.raises(TypeError, match="computes on the host"):
        packbits(cudakern.asarray(x), 1, variant="numpy")


def test_the_c_module_refuses_a_result_of_another_length(backend):
    variant = cudakern.variants("packbits")["unrolled"]
    with pytest.raises(ValueError, match="17 flags need 3 bytes, but the result has 2"):
        native(backend).execute(
            "packbits", variant.name, variant.values({}), (np.ones(17, bool),), (np.zeros(2, "uint8"),), 0, False, 0
        )


# --- bincount ---------------------------------------------------------------------------------------------------------
COUNTS = [(name, variant) for name, variant in variants("bincount", host=False)]
every_count = pytest.mark.parametrize("name, variant", COUNTS, ids=label)


@every_count
def test_numpys_counts(name, variant):
    """All alike, no two alike, most alike, and more bins than shared memory holds: at its last one and beyond."""
    draw = np.random.default_rng(2)
    held = 48 * 1024 // 4
    cases = {
        "all alike": np.full(5000, 7),
        "no two alike": draw.permutation(3000),
        "most alike": np.where(draw.random(5000) < 0.9, 3, draw.integers(0, 500, 5000)),
        "runs": np.repeat(np.arange(100), 33),
        "as many bins as a block holds": np.append(draw.integers(0, held, 3000), held - 1),
        "one more": np.append(draw.integers(0, held, 3000), held),
        "three ranges": np.append(draw.integers(0, 3 * held, 3000), 3 * held - 1),
    }
    with cudakern.use_backend(name):
        for case, x in cases.items():
            for dtype in ("int64", "uint16", "int32", "uint64"):
                result = bincount(x.astype(dtype), variant=variant.name)
                assert result.dtype == np.int64
                assert np.array_equal(result, np.bincount(x)), (case, dtype)


@every_count
def test_small_types_to_their_last_number(name, variant):
    with cudakern.use_backend(name):
        for dtype in ("bool", "int8", "uint8", "int16"):
            kind = np.dtype(dtype)
            last = 1 if dtype == "bool" else np.iinfo(kind).max
            x = np.array([0, last, last, last // 2] * 9).astype(kind)
            assert np.array_equal(bincount(x, variant=variant.name), np.bincount(x.astype(int)))


@every_count
def test_minlength(name, variant):
    with cudakern.use_backend(name):
        for minlength in (0, 3, 5, 6, 100, np.int8(9), 13_000):
            for x in (np.array([4, 1, 4]), np.empty(0, int)):
                expected = np.bincount(x, minlength=minlength)
                assert np.array_equal(bincount(x, None, minlength, variant=variant.name), expected)
                on_device = cudakern.asarray(x)
                assert np.array_equal(bincount(on_device, minlength=minlength, variant=variant.name).get(), expected)


@every_count
def test_the_c_module_counts_nothing_beyond_the_bins(name, variant):
    """Who calls it with too few bins loses counts, and no memory."""
    x = np.array([0, 1, 5, 2**31, 1, 2**40, -1], np.int64)
    counts = np.zeros(3, np.int64)
    native(name).execute("bincount", variant.name, variant.values({}), (x,), (counts,), 0, False, 0)
    assert counts.tolist() == [1, 2, 0]


@pytest.mark.parametrize("variant", ["auto", "numpy", "shared_atomics"])
def test_what_bincount_does_not_take(backend, variant):
    with pytest.raises(TypeError, match="x must be an array, not None"):
        bincount(None, variant=variant)
    places = (np.asarray,) if variant == "numpy" else (np.asarray, cudakern.asarray)
    for place in places:
        with pytest.raises(TypeError, match=r"weights are not supported: numpy\.bincount\(x, weights\)"):
            bincount(place(np.array([1])), [0.5], variant=variant)
        with pytest.raises(ValueError, match="x must not contain negative values; its minimum is -2"):
            bincount(place(np.array([3, -2, 1])), variant=variant)
        with pytest.raises(ValueError, match=r"x must be 1-D, but has shape \(2, 2\)"):
            bincount(place(np.ones((2, 2), int)), variant=variant)
        with pytest.raises(ValueError, match=r"x must be 1-D, but has shape \(\)"):
            bincount(place(np.array(3)), variant=variant)
        with pytest.raises(TypeError, match="float64"):
            bincount(place(np.array([1.0])), variant=variant)
        with pytest.raises(ValueError, match="minlength must be 0 or more, not -1"):
            bincount(place(np.array([1])), minlength=-1, variant=variant)
        with pytest.raises(TypeError, match="minlength must be an integer, 0 or more, not None"):
            bincount(place(np.array([1])), minlength=None, variant=variant)
        with pytest.raises(TypeError, match="minlength must be an integer, 0 or more, not 2.5"):
            bincount(place(np.array([1])), minlength=2.5, variant=variant)
        with pytest.raises(ValueError, match="its minimum is -|more bins than fit in any memory"):
            bincount(place(np.array([2**63 + 4], np.uint64)), variant=variant)
    with pytest.raises(TypeError):
        bincount(["a"], variant=variant)
    assert np.array_equal(bincount([], minlength=2, variant=variant), [0, 0])
    assert np.array_equal(bincount([True, False, True], variant=variant), [1, 2])


def test_more_bins_than_memory(backend):
    """An error that says so, from the host's memory or the device's; nothing is left behind."""
    x = np.array([2**45])
    used = settled(backend)
    with pytest.raises((MemoryError, ValueError)):
        bincount(x, variant="global_atomics")
    with pytest.raises(cudakern.OutOfMemoryError):
        bincount(cudakern.asarray(x))
    assert native(backend).pool_used(0) == used


def test_auto_counts_few_and_many_bins(backend):
    """The variant that "auto" takes on the device follows the number of bins."""
    seen = {}
    for largest in (99, 48 * 1024 // 4 - 1, 48 * 1024 // 4):
        x = cudakern.asarray(np.array([largest, 1, 1]))
        profile = cudakern.profile(bincount, x, repeat=1, warmup=0)
        seen[largest] = profile.variant.name
        assert bincount(x).get()[[1, largest]].tolist() == [2, 1]
    assert list(seen.values()) == ["shared_atomics", "shared_atomics", "warp_aggregated"]


# --- extent, which tells bincount how many bins there are -------------------------------------------------------------
@pytest.mark.parametrize("name, variant", list(variants("extent", host=False)), ids=label)
def test_both_ends_wherever_they_lie(name, variant):
    """Each end alone in each place of a few warps, over the whole range of each type."""
    with cudakern.use_backend(name):
        for dtype in variant.types:
            if dtype == "bool":
                lowest, middle, highest = False, False, True
            else:
                limits = np.iinfo(dtype)
                lowest, middle, highest = limits.min, limits.max // 2, limits.max
            for n, place in ((70, 0), (70, 31), (70, 32), (70, 69), (5000, 4999), (5000, 2345)):
                for end in (lowest, highest):
                    x = np.full(n, middle, dtype)
                    x[place] = end
                    result = extent(x, variant=variant.name)
                    assert result.tolist() == [int(x.min()), int(x.max())]
                    assert result.dtype == (np.uint64 if dtype == "uint64" else np.int64)


def test_an_empty_array_has_no_ends(backend):
    for x in (np.empty(0, int), np.empty((3, 0), int), cudakern.asarray(np.empty(0, int))):
        with pytest.raises(ValueError, match="an empty array"):
            extent(x)
    with pytest.raises(TypeError, match="float64"):
        extent([1.5])
