"""interp: numpy.interp's rules, and what each place of the table takes. (Types, sizes, layouts: test_operations.py.)"""

import numpy as np
import pytest

import cudakern
from cases import BACKENDS, HAS_BFLOAT16, label, main_type, native, variants
from cudakern.arrays.dtypes import numpy_dtype

pytestmark = pytest.mark.proves()

RUNS = list(variants("interp"))
KERNELS = [run for run in RUNS if not run[1].on_host]
every_run = pytest.mark.parametrize("name, variant", RUNS, ids=label)
every_kernel = pytest.mark.parametrize("name, variant", KERNELS, ids=label)
UNEVEN = [run for run in RUNS if run[1].name != "texture"]


def interp(name, *arguments, **keywords):
    with cudakern.use_backend(name):
        return cudakern.interp(*arguments, **keywords)


def close(variant, result, expected, values):
    """Within the variant's bound, relative to the largest value."""
    dtype = result.dtype if result.dtype.name in variant.types else main_type(variant)
    bound = 2 * variant.error_bound(np.shape(result), np.shape(values), np.shape(values), (), (), dtype=dtype)
    scale = np.max(np.abs(np.asarray(values, float)))
    return np.array_equal(np.isnan(result), np.isnan(expected)) and np.all(
        np.abs(result - expected)[~np.isnan(expected)] <= bound * scale
    )


@every_run
def test_ends_and_corners(name, variant):
    x = np.array([-np.inf, -1, 0, 0.25, 1, 1.5, 3, 3.5, np.inf, np.nan], np.float32)
    xp, fp = np.arange(4, dtype=np.float32), np.array([4, 8, -2, 16], np.float32)
    for ends in ({}, {"left": -9}, {"right": 7.5}, {"left": 1, "right": np.nan}):
        expected = np.interp(x, xp, fp, **ends)
        assert close(variant, interp(name, x, xp, fp, variant=variant.name, **ends), expected, fp)
    for point in (x[3], 0.25, x[2:2]):
        result = interp(name, point, xp, fp, variant=variant.name if isinstance(point, np.ndarray) else "auto")
        assert np.shape(result) == np.shape(point)
        assert close(variant, np.asarray(result), np.interp(point, xp, fp), fp)


@pytest.mark.parametrize("name, variant", UNEVEN, ids=label)
def test_any_increasing_table(name, variant):
    draw = np.random.default_rng(1)
    for dtype in variant.types:
        for length in (2, 3, 17, 300, 2000):
            xp = np.sort(draw.exponential(1, length).cumsum()).astype(dtype)
            xp[length // 2] = xp[length // 2 - 1]  # a step
            fp = draw.standard_normal(length).astype(dtype)
            x = (
                np.concatenate([xp, draw.uniform(xp[0] - 1, xp[-1] + 1, 500)])
                .astype(dtype)[: length // 2 * 2 + 400]
                .reshape(2, -1)
            )
            result = interp(name, x, xp, fp, variant=variant.name)
            assert close(variant, result, np.interp(x, xp, fp), fp)
            assert np.array_equal(interp(name, xp, xp, fp, variant=variant.name), np.interp(xp, xp, fp))


@every_run
def test_a_table_of_the_documents(name, variant):
    """M puts X = 5 between 2 and 4, and gets 30: it lies between 4 and 6."""
    xp, fp = np.float32([0, 2, 4, 6, 8]), np.float32([10, 20, 40, 50, 20])
    assert interp(name, np.float32([5, 3]), xp, fp, variant=variant.name).tolist() == [45, 30]


@every_run
def test_a_table_of_one_point(name, variant):
    x = np.array([-1, 2, 5, 2.0001], np.float32)
    result = interp(name, x, np.float32([2]), np.float32([6]), 1, 3, variant=variant.name)
    assert result.tolist() == [1, 6, 3, 3]


@pytest.mark.parametrize("name, variant", UNEVEN, ids=label)
def test_infinities_in_the_table(name, variant):
    xp = np.array([-np.inf, 0, 1, 2, np.inf])
    fp = np.array([1.0, 1, np.inf, np.inf, 3])
    x = np.array([-np.inf, -5, 0, 0.5, 1, 1.5, 2, 1e300, np.inf])
    expected = np.interp(x, xp, fp)
    assert np.array_equal(interp(name, x, xp, fp, variant=variant.name), expected, equal_nan=True)


@every_kernel
def test_on_the_device_without_left_and_right(name, variant):
    """The table's ends are read there: nobody waits for them."""
    with cudakern.use_backend(name):
        x = cudakern.asarray(np.linspace(-1, 5, 50, dtype=np.float32).reshape(5, 10))
        xp, fp = (cudakern.asarray(np.array(v, np.float32)) for v in ([0, 1, 2, 3], [5, -2, 8, 1]))
        stream = cudakern.Stream()
        result = cudakern.interp(x, xp, fp, variant=variant.name, stream=stream)
        assert close(variant, result.get(), np.interp(x.get(), xp.get(), fp.get()), fp.get())
        other = cudakern.interp(x, xp, fp, -7, fp[2], variant=variant.name)
        assert close(variant, other.get(), np.interp(x.get(), xp.get(), fp.get(), -7, 8), fp.get())


@pytest.mark.parametrize("name", BACKENDS)
def test_types(name):
    with cudakern.use_backend(name):
        single = np.float32([0.5, 1.5])
        assert cudakern.interp(single, [0, 1, 2], [1, 2, 3]).dtype == np.float64  # as NumPy's
        assert cudakern.interp(single, single, single, variant="global_memory").dtype == np.float32
        assert cudakern.interp([1], [0, 2], [0, 4], variant="global_memory").tolist() == [2.0]
        assert isinstance(cudakern.interp(1, [0, 2], [0, 4]), np.float64)
        device = cudakern.asarray(single)
        assert cudakern.interp(device, device, device).dtype == np.float32
        whole = cudakern.asarray(np.array([0, 1, 2]))
        assert cudakern.interp(whole, whole, whole).dtype == np.float64
        half = cudakern.interp(device.astype("float16"), whole.astype("float16"), whole.astype("float16"))
        assert half.dtype == np.float16
        assert half.get().tolist() == [0.5, 1.5]
        with pytest.raises(TypeError, match="variant 'global_memory' takes float32 or float64, not float16"):
            cudakern.interp(*3 * [device.astype("float16")], variant="global_memory")
        for table in (np.longdouble([0, 1, 2]), np.float64([0, 1, 2])):
            if table.dtype != np.float64:  # long doubles are doubles on some systems
                with pytest.raises(TypeError, match="Cannot cast array data"):
                    np.interp(table, table, table)
                with pytest.raises(TypeError, match=r"x is float.*: x.astype\('float64'\) rounds it"):
                    cudakern.interp(table, table, table)
        mixed = cudakern.interp(device.astype("float64"), device, device)
        assert mixed.dtype == np.float64


@pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes")
def test_bfloat16_on_the_host(backend):
    """float64, as NumPy's; with other types too."""
    x, xp, fp = (np.array(values, numpy_dtype("bfloat16")) for values in ([0.5, 1.5], [0, 1, 2], [1, 2, 4]))
    for table in ((xp, fp), (xp.astype("f4"), fp), (xp, [1, 2, 4])):
        result = cudakern.interp(x, *table)
        assert result.dtype == np.float64
        assert result.tolist() == np.interp(x, *table).tolist() == [1.5, 3.0]


def test_what_is_refused(backend):
    x, table = np.float32([0.5]), np.arange(4, dtype=np.float32)
    for wrong, words in (
        ((x, table, table[:3]), r"the same length, .* but xp has shape \(4,\) and fp has shape \(3,\)"),
        ((x, table[:0], table[:0]), "at least 1, but xp has shape"),
        ((x, table.reshape(2, 2), table), "one axis"),
        ((x, table[::-1], table), r"xp\[0\] is 3.0 and xp\[1\] is 2.0"),
        ((x, np.float32([0, np.nan, 2, 3]), table), "must increase"),
    ):
        for variant in ("auto", "global_memory"):
            with pytest.raises(ValueError, match=words):
                cudakern.interp(*wrong, variant=variant)
    with pytest.raises(ValueError, match="evenly spaced"):
        cudakern.interp(x, np.float32([0, 1, 3]), table[:3], variant="texture")
    with pytest.raises(TypeError, match="period="):
        cudakern.interp(x, table, table, period=4)
    with pytest.raises(TypeError, match="imaginary"):
        cudakern.interp(x, table, table * 1j)
    with pytest.raises(TypeError, match="left must be one real number"):
        cudakern.interp(x, table, table, "a")
    with pytest.raises(TypeError, match="one type"):
        cudakern.interp(x, table.astype(float), table, variant="global_memory")
    with pytest.raises(TypeError, match="takes float32, not float64"):
        cudakern.interp([0.5], [0, 1], [0, 1], variant="texture")


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("variant, longest", [("shared", None), ("constant", 8192), ("texture", 131072)])
def test_the_longest_table(name, variant, longest):
    with cudakern.use_backend(name):
        if longest is None:
            longest = native(name).device_properties(0)["shared_per_block_optin"] // 8
        table = np.arange(longest + 1, dtype=np.float32)
        x = np.float32([0, 0.5, longest - 1.5, longest - 1])
        result = cudakern.interp(x, table[:-1], table[:-1], variant=variant)
        assert np.allclose(result, x, rtol=2**-8)
        with pytest.raises(ValueError, match="accepts any length"):
            cudakern.interp(x, table, table, variant=variant)


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("variant", ["constant", "texture"])
def test_tables_of_calls_on_many_streams_are_kept_apart(name, variant):
    """What is one for all calls of a device (a variable, a kept texture) is filled anew for each, in order."""
    with cudakern.use_backend(name):
        streams = [cudakern.Stream() for _ in range(6)]
        points = np.arange(40, dtype=np.float32)
        x, xp = cudakern.asarray(points), cudakern.asarray(points)
        tables = [cudakern.asarray(points * k) for k in range(30)]
        cudakern.synchronize()
        results = [
            cudakern.interp(x, xp, table, variant=variant, stream=streams[k % 6]) for k, table in enumerate(tables)
        ]
        for k, result in enumerate(results):
            assert np.array_equal(result.get(), points * k)


@pytest.mark.skipif(not HAS_BFLOAT16, reason="needs ml_dtypes")
def test_a_table_of_integers_at_bfloat16_coordinates(backend):
    table, x = np.arange(6).reshape(2, 3), np.array([0.5, 1], numpy_dtype("bfloat16"))
    for place in (lambda array: array, cudakern.asarray):
        result = cudakern.lookup_2d(place(table), place(x), place(x))
        assert (result.dtype, result.tolist()) == (np.float64, [2.0, 4.0])
