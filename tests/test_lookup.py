"""lookup_2d and lookup_3d: edges, filters, what is refused. (Types, sizes, layouts: test_operations.py.)"""

import itertools

import numpy as np
import pytest
from scipy import ndimage

import cudakern
from cases import BACKENDS, label, variants
from cudakern.operations.registry import registry

OPERATIONS = {"lookup_2d": 2, "lookup_3d": 3}
RUNS = [(operation, name, variant) for operation in OPERATIONS for name, variant in variants(operation)]
KERNELS = [run for run in RUNS if not run[2].on_host]
every_run = pytest.mark.parametrize("operation, name, variant", RUNS, ids=label)
every_kernel = pytest.mark.parametrize("operation, name, variant", KERNELS, ids=label)
SCIPY = {"clamp": "nearest", "wrap": "grid-wrap", "mirror": "reflect", "border": "grid-constant"}
MODES, FILTERS = tuple(SCIPY), ("linear", "nearest")


def call(operation, name, *inputs, **keywords):
    with cudakern.use_backend(name):
        return registry()[operation].call(*inputs, **keywords)


def inputs_for(operation, points=700, dtype=np.float32, seed=1):
    sizes = (9, 14) if operation == "lookup_2d" else (5, 9, 14)
    return registry()[operation].make((points, *sizes), np.dtype(dtype), seed)


def bound(variant, inputs):
    return variant.error_bound(*(np.shape(x) for x in inputs), dtype=inputs[0].dtype) * np.max(np.abs(inputs[0]))


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("mode", MODES)
@every_run
def test_scipys_values(operation, name, variant, mode, filter):
    for dtype in variant.types:
        table, *at = inputs_for(operation, dtype=dtype)
        result = call(operation, name, table, *at, mode, filter, variant=variant.name)
        order = 1 if filter == "linear" else 0
        wide = [np.asarray(v, np.float64) for v in (table, *at)]
        expected = ndimage.map_coordinates(wide[0], wide[1:], order=order, mode=SCIPY[mode], cval=0, prefilter=False)
        assert result.dtype == dtype
        assert np.max(np.abs(result - expected)) <= bound(variant, (table, *at))


@every_run
def test_elements_themselves(operation, name, variant):
    """A whole number as a coordinate is the element, exactly, here and there beyond the table."""
    table, *_ = inputs_for(operation)
    index = np.indices(table.shape).reshape(table.ndim, -1).astype(np.float32)
    for mode, filter in itertools.product(MODES, FILTERS):
        result = call(operation, name, table, *index, mode, filter, variant=variant.name)
        if variant.name == "texture" and mode in ("wrap", "mirror") and filter == "linear":  # divided, multiplied again
            assert np.allclose(result, table.ravel(), atol=2**-7)
        else:
            assert np.array_equal(result, table.ravel())


EXACT = [run for run in RUNS if run[2].name != "texture"]  # whose weights are 256ths


@pytest.mark.parametrize("operation, name, variant", EXACT, ids=label)
def test_an_infinity_counts_where_its_weight_is_not_zero(operation, name, variant):
    """Axis by axis: the product of two tiny weights may be 0, and each of them is not."""
    table = np.ones((2, 2) if operation == "lookup_2d" else (2, 2, 2))
    table[(-1,) * table.ndim] = np.inf
    for tiny in (1e-200, 5e-324):
        result = call(operation, name, table, *[[tiny]] * table.ndim, variant=variant.name)
        assert result.tolist() == [np.inf]
        result = call(operation, name, table, *[[tiny]] * (table.ndim - 1), [0.0], variant=variant.name)
        assert result.tolist() == [1]


@pytest.mark.parametrize("operation, name, variant", EXACT, ids=label)
def test_a_weight_that_rounds_to_one_leaves_the_other_neighbor_out(operation, name, variant):
    """-1e-300 - floor(-1e-300) is 1 in double: only the next element counts, and not 0 times the one before."""
    axes = 2 if operation == "lookup_2d" else 3
    table = np.zeros((3,) * axes)
    table[..., -1] = np.inf
    zeros = [[0.0]] * (axes - 1)
    for mode in ("wrap", "border", "clamp", "mirror"):
        assert call(operation, name, table, *zeros, [-1e-300], mode, variant=variant.name).tolist() == [0]
    table[..., -1], table[..., 0] = 0, np.inf
    for mode in ("wrap", "border", "clamp", "mirror"):
        assert call(operation, name, table, *zeros, [-1e-300], mode, variant=variant.name).tolist() == [np.inf]


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation, name, variant", EXACT, ids=label)
def test_infinities_and_nans_of_a_table(operation, name, variant, mode, filter):
    """Where a value is not finite, the host and every kernel agree."""
    table, *at = inputs_for(operation, dtype=np.float64)
    flat = table.reshape(-1)
    flat[::5], flat[3::17], flat[8::29] = np.inf, -np.inf, np.nan
    at = [np.where(np.arange(x.size) % 3 == k, np.floor(x), x) for k, x in enumerate(at)]
    at[-1][:4] = -1e-300, -5e-324, 1e-300, 5e-324
    result = call(operation, name, table, *at, mode, filter, variant=variant.name)
    expected = call(operation, name, table, *at, mode, filter, variant="numpy")
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    assert np.array_equal(np.isinf(result), np.isinf(expected))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(result[finite], expected[finite], atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
@every_run
def test_nan_infinite_and_huge_coordinates(operation, name, variant, mode):
    table, *at = inputs_for(operation, points=6)
    at = [np.zeros(6, np.float32) for _ in at]
    at[-1][:] = [np.nan, np.inf, -np.inf, 3e38, -3e38, 0]
    result = call(operation, name, table, *at, mode, variant=variant.name)
    first, last = (table[(0,) * (table.ndim - 1) + (i,)] for i in (0, -1))
    assert np.isnan(result[0])
    assert result[5] == first
    if mode in ("clamp", "border"):
        ends = (last, first) if mode == "clamp" else (0, 0)
        assert result[1:5].tolist() == [*ends, *ends]
    else:
        assert np.isnan(result[1:3]).all()
        assert np.isfinite(result[3:5]).all()


@pytest.mark.parametrize("operation, name, variant", [r for r in RUNS if r[2].name != "texture"], ids=label)
def test_far_outside_where_the_table_repeats(operation, name, variant):
    table, *at = inputs_for(operation, dtype=np.float64)
    for mode in ("wrap", "mirror"):
        near = call(operation, name, table, *at, mode, variant=variant.name)
        period = [n * (1 if mode == "wrap" else 2) for n in table.shape]
        far = [x + 1_000_000.0 * p for x, p in zip(at, period, strict=True)]
        assert np.allclose(call(operation, name, table, *far, mode, variant=variant.name), near, rtol=0, atol=1e-8)


@every_kernel
def test_shapes_that_broadcast(operation, name, variant):
    table, *_ = inputs_for(operation)
    at = [np.linspace(0, n - 1, 6, dtype=np.float32).reshape(-1, *(1,) * i) for i, n in enumerate(table.shape)]
    result = call(operation, name, table, *at, variant=variant.name)
    full = np.broadcast_arrays(*at)
    assert result.shape == full[0].shape
    assert np.array_equal(result, call(operation, name, table, *map(np.ascontiguousarray, full), variant=variant.name))
    with cudakern.use_backend(name):
        there = [cudakern.asarray(x) for x in (table, *at)]
    assert np.array_equal(call(operation, name, *there, variant=variant.name).get(), result)
    one = call(operation, name, table, *(np.float32(1) for _ in at), variant=variant.name)
    assert (type(one), one) == (np.float32, table[(1,) * table.ndim])


@pytest.mark.parametrize("name", BACKENDS)
def test_tables_of_one_shape_on_many_streams(name):
    """Kept arrays serve one call after the other: each has its own values."""
    with cudakern.use_backend(name):
        table, y, x = inputs_for("lookup_2d", points=64)
        streams = [cudakern.Stream() for _ in range(6)]
        at = (cudakern.asarray(y), cudakern.asarray(x))
        tables = [cudakern.asarray(table * k) for k in range(40)]
        cudakern.synchronize()
        results = [
            cudakern.lookup_2d(t, *at, filter="nearest", variant="texture", stream=streams[k % 6])
            for k, t in enumerate(tables)
        ]
        expected = cudakern.lookup_2d(table, y, x, filter="nearest", variant="texture")
        for k, result in enumerate(results):
            assert np.array_equal(result.get(), expected * np.float32(k))


@pytest.mark.parametrize("name", BACKENDS)
def test_textures_of_many_shapes_are_bounded(name):
    """More shapes than are kept: the oldest go."""
    with cudakern.use_backend(name):
        for n in range(2, 45):
            table = np.arange(n * n, dtype=np.float32).reshape(n, n)
            assert cudakern.lookup_2d(table, n - 1, n - 1, variant="texture") == n * n - 1


def test_what_is_refused(backend):
    table = np.zeros((4, 5), np.float32)
    at = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="must have two non-empty axes"):
        cudakern.lookup_2d(table[0], at, at)
    with pytest.raises(ValueError, match="it must have (two|three) non-empty axes"):
        cudakern.lookup_2d(table[:0], at, at)
    with pytest.raises(ValueError, match="do not broadcast"):
        cudakern.lookup_2d(table, at, at[:2])
    for variant in ("auto", "numpy", "texture"):
        with pytest.raises(ValueError, match="unknown mode 'reflect'"):
            cudakern.lookup_2d(table, at, at, "reflect", variant=variant)
        with pytest.raises(ValueError, match="unknown filter 'cubic'"):
            cudakern.lookup_2d(table, at, at, filter="cubic", variant=variant)
    with pytest.raises(TypeError, match="mode= must be one of"):
        cudakern.lookup_3d(np.zeros((2, 2, 2)), 0, 0, 0, mode=3)
    with pytest.raises(TypeError, match="real numbers"):
        cudakern.lookup_2d(table * 1j, at, at)
    with pytest.raises(ValueError, match="has 131073 elements, but a texture has at most 131072"):
        cudakern.lookup_2d(np.zeros((1, 131073), np.float32), at, at, variant="texture")
    with pytest.raises(ValueError, match="has 16385 elements"):
        cudakern.lookup_3d(np.zeros((1, 16385, 1), np.float32), at, at, at, variant="texture")
    with pytest.raises(TypeError, match="in host memory"):
        cudakern.lookup_2d(cudakern.asarray(table), at, at)


def test_types():
    with cudakern.use_backend("emulator"):
        whole = np.arange(6).reshape(2, 3)
        for variant in ("auto", "global_memory"):
            arguments = (whole, [0, 1], [1, 2]) if variant == "auto" else (whole, whole[0], whole[0] % 2)
            assert cudakern.lookup_2d(*arguments, variant=variant).dtype == np.float64
        one = cudakern.lookup_2d(np.float32([[1, 2]]), 0, 0.5)
        assert (one, one.dtype) == (1.5, np.float32)


def test_other_types_on_the_device(backend):
    table = cudakern.asarray(np.arange(6).reshape(2, 3))
    at = cudakern.asarray(np.array([0, 1]))
    assert cudakern.lookup_2d(table, at, at).get().tolist() == [0.0, 4.0]
    half = cudakern.lookup_2d(table.astype("float16"), at.astype("float16"), 0.5)
    assert half.dtype == np.float16
    assert half.get().tolist() == [0.5, 3.5]
