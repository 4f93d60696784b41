"""exclusive_scan and inclusive_scan beyond what every operation is tested for: against numpy.cumsum, at the sizes where
blocks and groups of blocks end, in hostile orders of blocks, with many workers, at addresses of no pack."""

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, ORDERS, emulated_chip, label, numbers, relative_error, variants
from cudakern.emulator import configure

pytestmark = pytest.mark.proves()

SCANS = {"exclusive_scan": cudakern.exclusive_scan, "inclusive_scan": cudakern.inclusive_scan}
RUNS = [(operation, name, variant) for operation in SCANS for name, variant in variants(operation, host=False)]
EXACT = ("int32", "int64", "uint32", "uint64")

every_run = pytest.mark.parametrize("operation, name, variant", RUNS, ids=label)
full = pytest.mark.full
every_scan = pytest.mark.parametrize("operation", SCANS)


def reference(operation, x):
    summed = np.cumsum(x)
    return summed if operation == "inclusive_scan" else np.concatenate([np.zeros_like(summed[:1]), summed[:-1]])


def scan(operation, name, x, **keywords):
    with cudakern.use_backend(name):
        return SCANS[operation](x, **keywords)


def check_floats(operation, variant, x, result, **parameters):
    wide = x.astype(np.longdouble)
    error = relative_error(result, reference(operation, wide), reference(operation, np.abs(wide)))
    assert np.max(error, initial=0) <= variant.error_bound(x.shape, dtype=x.dtype, **parameters)


# --- NumPy's result -------------------------------------------------------------------------------------------------
@every_run
@pytest.mark.parametrize("dtype", EXACT)
def test_numpys_bits_for_integers(operation, name, variant, dtype):
    """Over the whole range of the type, so that sums wrap; narrow ones are widened first, with their sign."""
    for n in (1, 2, 1000, 5003):
        x = numbers(n, dtype, seed=n)
        expected = reference(operation, x)
        result = scan(operation, name, x, variant=variant.name)
        assert result.dtype == expected.dtype
        assert np.array_equal(result, expected)


@every_scan
def test_types_of_numpys_sum(operation, backend):
    for dtype in ("bool", "int8", "uint8", "int16", "uint16", "float16", "complex64", *EXACT):
        x = np.ones(9, dtype)
        assert np.array_equal(SCANS[operation](x), reference(operation, x))
        assert SCANS[operation](x).dtype == np.cumsum(x).dtype


@every_scan
@pytest.mark.parametrize("name", BACKENDS)
def test_narrow_integers_on_the_device(operation, name):
    """Masks, mostly: the place of each element that is to stay. Bytes of bools may be any."""
    for dtype in ("bool", "int8", "uint8", "int16", "uint16"):
        x = np.arange(7001).astype("uint8").view(bool) if dtype == "bool" else numbers(7001, dtype, seed=9)
        with cudakern.use_backend(name):
            result = SCANS[operation](cudakern.asarray(x)).get()
        expected = reference(operation, x != 0 if dtype == "bool" else x)
        assert result.dtype == expected.dtype
        assert np.array_equal(result, expected)


@every_scan
def test_a_chip_without_a_kernel_for_the_preferred_variant(operation):
    """ "auto" goes on to the variant before it."""
    with cudakern.use_backend("emulator"):
        with emulated_chip("P100"):
            x = cudakern.asarray(np.ones(100, "float32"))
            assert cudakern.profile(SCANS[operation], x, repeat=1, warmup=0).variant.name == "blocks"
            with pytest.raises(NotImplementedError, match="capability at least 7.0"):
                SCANS[operation](x, variant="lookback")
            for dtype in ("bool", "int8", "uint16"):
                narrow, kept = (
                    x.astype(dtype),
                    rf"^{operation} of {dtype} device arrays: only 'lookback' takes them",
                )
                for keywords in ({}, {"out": cudakern.empty(100, "uint64" if dtype == "uint16" else "int64")}):
                    with pytest.raises(
                        NotImplementedError, match=f"{kept}.* 7.0, but this device has 6.0.* int32, .*astype"
                    ):
                        SCANS[operation](narrow, **keywords)
                with pytest.raises(TypeError, match=f"'blocks' takes .*, not {dtype}; convert it with .astype\\(\\)"):
                    SCANS[operation](narrow, variant="blocks")
                assert SCANS[operation](np.ones(3, dtype)).tolist() == reference(operation, np.ones(3, dtype)).tolist()
        with pytest.raises(TypeError, match="'blocks' takes .*, not int8; variant='auto' takes it"):
            SCANS[operation](x.astype("int8"), variant="blocks")
    shown = " ".join(repr(cudakern.variants(operation)).split())
    assert "from 7.0" in shown
    assert "from 6.0" in shown


@every_scan
def test_axes_become_one(operation, backend):
    x = np.arange(24, dtype="int32").reshape(2, 3, 4)[:, ::-1]
    assert np.array_equal(SCANS[operation](x, variant="blocks"), reference(operation, x))
    assert np.array_equal(SCANS[operation](cudakern.asarray(x)).get(), reference(operation, x))
    assert np.array_equal(SCANS[operation](np.int64(5)), reference(operation, np.int64(5)))


@every_run
def test_signs_of_zeros_are_numpys(operation, name, variant):
    """numpy.cumsum begins with the first element, which keeps a -0.0; an exclusive scan begins with 0."""
    x = np.array([-0.0, -0.0, -0.0, 0.0, -0.0], "float32")
    result = scan(operation, name, x, variant=variant.name)
    expected = [True, True, True, False, False] if operation == "inclusive_scan" else [False] * 5
    assert np.signbit(result).tolist() == expected
    assert not np.any(result)


@every_run
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_affect_no_earlier_element(operation, name, variant, special):
    """A scan that subtracts an element again would have NaN at its place, or an infinity before it."""
    x = np.ones(3000, "float64")
    for place in (0, 1, 1500, 2999):
        y = x.copy()
        y[place] = special
        result = scan(operation, name, y, variant=variant.name)
        with np.errstate(all="ignore"):
            assert np.array_equal(result, reference(operation, y), equal_nan=True)
    y[[10, 20]] = np.inf, -np.inf
    first = 20 + (operation == "exclusive_scan")
    result = scan(operation, name, y, variant=variant.name)
    assert np.isinf(result[first - 1])
    assert np.isnan(result[first:]).all()


@every_run
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_that_cancel(operation, name, variant, dtype):
    x = numbers(20011, dtype, seed=8, signed=True)
    check_floats(operation, variant, x, scan(operation, name, x, variant=variant.name))


# --- where tiles, groups of tiles and groups of groups end ------------------------------------------------------------
@every_scan
@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize(
    "dtype, tile", [("int32", 256), pytest.param("float32", 512, marks=full), pytest.param("float64", 256, marks=full)]
)
def test_lookback_over_all_of_its_levels(operation, name, dtype, tile):
    """With 32 threads: 32 tiles are a group, 1024 a group of groups; at each end one fewer, as many, and one more."""
    variant = cudakern.variants(operation)["lookback"]
    for tiles in (1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 1057, 2049):
        for n in (tiles * tile - 1, tiles * tile, tiles * tile + 1):
            x = numbers(n, dtype, seed=tiles)
            result = scan(operation, name, x, variant="lookback", threads=32)
            if dtype == "int32":
                assert np.array_equal(result, reference(operation, x)), n
            else:
                check_floats(operation, variant, x, result, threads=32)


@every_scan
@pytest.mark.parametrize("name", BACKENDS)
def test_blocks_with_more_sums_than_threads(operation, name):
    """The scan of the sums goes on by as many as the block has threads: 256 elements a tile, 32 sums a step."""
    for n in (32 * 256 - 1, 32 * 256, 32 * 256 + 1, 64 * 256 + 1, 100_003):
        x = numbers(n, "uint32", seed=n)
        result = scan(operation, name, x, variant="blocks", threads=32)
        assert np.array_equal(result, reference(operation, x))


@every_scan
@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("how", ORDERS)
def test_lookback_ends_in_every_order_of_blocks(operation, workers, how):
    """Blocks wait for others: in any order, and with one worker, whoever is waited for has begun. The bits of float
    sums are the same: the order of additions is fixed."""
    x = numbers(150_001, "float32", seed=1)
    first = scan(operation, "emulator", x, variant="lookback", threads=32)
    with cudakern.use_backend("emulator"):
        configure(order=how, workers=workers)
        try:
            result = SCANS[operation](x, variant="lookback", threads=32)
        finally:
            configure(order="fixed", workers=0)
    assert result.tobytes() == first.tobytes()


@every_scan
def test_lookback_finds_its_workspace_clear(operation, backend):
    """Memory that earlier calls left their words in comes back to the pool, and to the next call."""
    x = cudakern.asarray(numbers(40_000, "int64", seed=3))
    expected = reference(operation, x.get())
    for _ in range(4):
        results = [SCANS[operation](x, variant="lookback", threads=32) for _ in range(3)]
        assert all(np.array_equal(result.get(), expected) for result in results)


@every_scan
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint64"])
def test_addresses_of_no_pack(operation, backend, dtype):
    """Input and result begin anywhere: packs are loaded and stored where they are aligned, element by element else."""
    whole = numbers(10_007, dtype, seed=4)
    expected_type = np.cumsum(whole).dtype
    held = cudakern.asarray(whole)
    for start in (0, 1, 2, 3):
        for out_start in (0, 1):
            x = held[start:]
            memory = cudakern.asarray(np.full(10_010, 77, expected_type))
            out = memory[out_start : out_start + x.size]
            assert SCANS[operation](x, out, variant="lookback", threads=32) is out
            exact = reference(operation, whole[start:])
            if dtype == "float32":
                np.testing.assert_allclose(out.get(), exact, rtol=1e-4, atol=1e-3)
            else:
                assert np.array_equal(out.get(), exact)
            assert np.all(memory.get()[out_start + x.size :] == 77)
            assert np.all(memory.get()[:out_start] == 77)


# --- out= and errors --------------------------------------------------------------------------------------------------
@every_scan
def test_out(operation, backend):
    x = np.arange(5000, dtype="int32")
    wide, narrow = np.empty(5000, "int64"), np.empty(5000, "float32")
    assert SCANS[operation](x, wide, variant="blocks") is wide
    assert np.array_equal(wide, reference(operation, x))
    assert SCANS[operation](x, out=narrow, variant="blocks") is narrow
    assert np.array_equal(narrow, reference(operation, x).astype("float32"))
    with pytest.raises(TypeError, match="same_kind"):
        SCANS[operation](x.astype("float32"), out=np.empty(5000, "int32"), variant="blocks")
    with pytest.raises(ValueError, match=r"out is \(4999,\).*\(5000,\)"):
        SCANS[operation](x, np.empty(4999, "int64"))
    same = cudakern.asarray(x.astype("int64"))
    assert SCANS[operation](same, same) is same  # the input is not read behind what is written
    assert np.array_equal(same.get(), reference(operation, x))


@every_scan
def test_what_is_not_taken(operation, backend):
    call = SCANS[operation]
    with pytest.raises(TypeError, match="unknown keyword 'axis'"):
        call(np.ones((2, 2)), axis=0)
    with pytest.raises(TypeError, match="unknown keyword 'dtype'"):
        call(np.ones(2), dtype="float64")
    with pytest.raises(TypeError, match="lookback.*takes.*float32"):
        call(np.ones(2, "float16"), variant="lookback")
    with pytest.raises(TypeError, match="device arrays takes.*not complex64"):
        call(cudakern.asarray(np.ones(2, "complex64")))
    with pytest.raises(ValueError, match="threads"):
        call(np.ones(2, "float32"), variant="lookback", threads=33)
    with pytest.raises(ValueError, match="unknown variant 'look_back'.*lookback"):
        call(np.ones(2, "float32"), variant="look_back")


@every_scan
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_on_the_device_are_summed_in_float32(operation, dtype, backend):
    x = cudakern.asarray(numbers(3000, "float32", seed=1)).astype(dtype)
    wide = x.astype("float32")
    expected = SCANS[operation](wide).astype(dtype).astype("float32").get()
    result = SCANS[operation](x)
    assert result._view.dtype == dtype
    assert np.array_equal(result.astype("float32").get(), expected)
    out = cudakern.zeros(3000, "float32")
    assert SCANS[operation](x[::-1], out=out) is out
    assert SCANS[operation](x, out=x) is x
    assert np.array_equal(x.astype("float32").get(), expected)


@every_scan
def test_short_rows_with_gaps(operation, backend):
    """So few elements that they might be copied one by one: host arrays with gaps are gathered first."""
    x = np.arange(60, dtype="float32")
    for y in (x[::5], x[::-7], x[3:4], x.reshape(6, 10)[:, 3], x.reshape(6, 10)[::2, ::3]):
        assert np.array_equal(SCANS[operation](y, variant="serial"), reference(operation, y))


@pytest.mark.parametrize("variant", ["auto", "numpy", "lookback"])
def test_what_is_no_array_is_not_scanned(backend, variant):
    for wrong in ({1, 2}, (i for i in range(3)), None, {}):
        with pytest.raises(
            TypeError, match=f"exclusive_scan: x must be an array of numbers, not one {type(wrong).__name__}"
        ):
            cudakern.exclusive_scan(wrong, variant=variant)
    assert cudakern.exclusive_scan(3, variant=variant).tolist() == [0]
