"""Every operation of the table, by its own reference: each variant, type, size, parameter, memory layout and place.

An operation is tested here by being there; what is its own (its errors, its corners) has a module of its own. matmul
and sum_of_squares, whose rules are wider, have theirs: test_matmul.py, test_sum_of_squares.py."""

import inspect
import math
import os
import re
from fractions import Fraction

import numpy as np
import pytest

import cudakern
from cases import (
    BACKENDS,
    HAS_BFLOAT16,
    LAYOUTS,
    ORDERS,
    inputs_for,
    label,
    largest_shape,
    main_type,
    settings,
    small_shape,
    smallest,
    snapshot,
    variants,
)
from cudakern.arrays.dtypes import kind_of, numpy_dtype
from cudakern.measure.verify import _error_ratio
from cudakern.operations.registry import registry

pytestmark = pytest.mark.proves()

OPERATIONS = tuple(name for name in registry() if name not in ("matmul", "sum_of_squares"))
RUNS = [(operation, name, variant) for operation in OPERATIONS for name, variant in variants(operation)]
TYPED = [(*run, dtype) for run in RUNS for dtype in run[2].types if dtype != "bfloat16" or HAS_BFLOAT16]
SETTINGS = [(*run, values) for run in RUNS for values in settings(run[2])[1:]]
KERNELS = [run for run in RUNS if not run[2].on_host]

every_run = pytest.mark.parametrize("operation, name, variant", RUNS, ids=label)
every_kernel = pytest.mark.parametrize("operation, name, variant", KERNELS, ids=label)
every_type = pytest.mark.parametrize("operation, name, variant, dtype", TYPED, ids=label)


def call(operation, name, *inputs, **keywords):
    with cudakern.use_backend(name):
        return registry()[operation].call(*inputs, **keywords)


def on_device(name, inputs):
    with cudakern.use_backend(name):
        return tuple(map(cudakern.asarray, inputs))


def check(operation, variant, inputs, result, **parameters):
    """The result's type, shape and error; an error is told with the index of the worst element."""
    result = np.asarray(result.get() if isinstance(result, cudakern.DeviceArray) else result)
    assert result.dtype.name == variant.signature(inputs[0].dtype)[2]
    assert _error_ratio(registry()[operation], variant, inputs, result, **parameters) <= 1


@every_type
def test_every_size(operation, name, variant, dtype):
    for shape in registry()[operation].ragged:
        inputs = inputs_for(operation, dtype, shape, seed=math.prod(shape))
        before = snapshot(*inputs)
        result = call(operation, name, *inputs, variant=variant.name)
        assert isinstance(result, (np.ndarray, np.generic))
        check(operation, variant, inputs, result)
        assert snapshot(*inputs) == before


@pytest.mark.parametrize("operation, name, variant, values", SETTINGS, ids=label)
def test_every_parameter(operation, name, variant, values):
    what = registry()[operation]
    for shape in (small_shape(operation), *what.ragged[:2]):
        inputs = inputs_for(operation, main_type(variant), shape)
        words = {
            p.name: p.words[values[p.name]] if p.words else values[p.name]
            for p in variant.parameters
            if p.name in values
        }
        result = call(operation, name, *inputs, variant=variant.name, **words)
        check(operation, variant, inputs, result, **words)


@every_type
def test_arrays_on_the_device(operation, name, variant, dtype):
    for shape in (small_shape(operation), registry()[operation].ragged[0]):
        inputs = inputs_for(operation, dtype, shape)
        arrays = on_device(name, inputs)
        if variant.on_host:
            with pytest.raises(TypeError, match="computes on the host"):
                call(operation, name, *arrays, variant=variant.name)
            continue
        result = call(operation, name, *arrays, variant=variant.name)
        assert isinstance(result, cudakern.DeviceArray)
        check(operation, variant, inputs, result)
        assert [x.get().tobytes() for x in arrays] == [x.tobytes() for x in inputs]


# --- the same values, lying otherwise: (memory that holds them, the view of it that has them) ------------------------
def between(x, shape, view):
    """Memory of that shape with x's values in the view of it, and other numbers between them."""
    memory = (np.arange(1, 1 + math.prod(shape)) % 100).reshape(shape).astype(x.dtype)
    view(memory)[...] = x
    return memory, view


def repeated(x, shape):
    """Zero strides, on the host or on the device, whose arrays have no function for it."""
    if isinstance(x, np.ndarray):
        return np.broadcast_to(x, shape)
    strides = [0 if one < many else stride for one, many, stride in zip(x.shape, shape, x.strides, strict=True)]
    view = x._native.view(x._view, 0, shape, tuple(strides), x._view.dtype)
    return cudakern.DeviceArray(view, x._native)


LYING = {
    "transposed": lambda x: (x.T.copy(), lambda a: a.T),
    "last_axis_first": lambda x: (np.moveaxis(x, -1, 0).copy(), lambda a: a.transpose(*range(1, x.ndim), 0)),
    "backwards": lambda x: between(x, x.shape, lambda a: a[::-1]),
    "every_third": lambda x: between(x, (3 * x.shape[0], *x.shape[1:]), lambda a: a[::3]),
    "columns_backwards": lambda x: between(x, (*x.shape[:-1], 2 * x.shape[-1]), lambda a: a[..., ::-2]),
    "inner_part": lambda x: between(x, [n + 2 for n in x.shape], lambda a: a[(slice(1, -1),) * x.ndim]),
    "one_further": lambda x: between(x, (x.size + 1,), lambda a: a[1:].reshape(x.shape)),
    "broadcast": lambda x: (x[:1].copy(), lambda a: repeated(a, x.shape)),
    "broadcast_columns": lambda x: (x[..., :1].copy(), lambda a: repeated(a, x.shape)),
    "misaligned": lambda x: (LAYOUTS["misaligned"](x), lambda a: a),
    "swapped": lambda x: (LAYOUTS["swapped"](x), lambda a: a),
    "swapped_backwards": lambda x: (LAYOUTS["swapped"](x[::-1]), lambda a: a[::-1]),
    "read_only": lambda x: (LAYOUTS["read_only"](x), lambda a: a),
}
AXES = {"transposed": 2, "last_axis_first": 3, "broadcast_columns": 2}  # with fewer axes it lies as before
ON_HOST = ("misaligned", "swapped", "swapped_backwards", "read_only")  # no array on the device lies so


#: The operands that may hold any value, NaN too, where not all may.
ANY_VALUE = {"constant_memory": (0,), "interp": (0,), "intrinsics": (0,), "lookup_2d": (1, 2), "lookup_3d": (1, 2, 3)}


def movable(operation, layout):
    """The operands that can lie so. A table that must increase cannot repeat its first number."""
    what = registry()[operation]
    free = ANY_VALUE.get(operation) if "broadcast" in layout else None
    shapes = [np.shape(x) for x in inputs_for(operation, what.default_dtype, small_shape(operation))]
    return [i for i, s in enumerate(shapes) if len(s) >= AXES.get(layout, 1) and (free is None or i in free)]


LAID = [(*run, layout) for run in KERNELS for layout in LYING if movable(run[0], layout)]


@pytest.mark.parametrize("operation, name, variant, layout", LAID, ids=label)
def test_memory_in_any_order(operation, name, variant, layout):
    """The same values give the same bits however they lie, on the host and on the device."""
    laid = list(inputs_for(operation, main_type(variant), small_shape(operation)))
    lying = {i: LYING[layout](laid[i]) for i in movable(operation, layout)}
    for i, (memory, view) in lying.items():
        laid[i] = view(memory)
    plain = [np.array(x, x.dtype.newbyteorder("="), order="C") for x in laid]
    expected = np.asarray(call(operation, name, *plain, variant=variant.name))
    assert np.asarray(call(operation, name, *laid, variant=variant.name)).tobytes() == expected.tobytes()
    if layout in ON_HOST:
        return
    arrays = list(on_device(name, plain))
    for i, (memory, view) in lying.items():
        arrays[i] = view(on_device(name, [memory])[0])
        assert arrays[i].strides == laid[i].strides
    assert call(operation, name, *arrays, variant=variant.name).get().tobytes() == expected.tobytes()


SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


@pytest.mark.parametrize("operation, name, variant, dtype", [run for run in TYPED if kind_of(run[3]) == "f"], ids=label)
def test_special_values(operation, name, variant, dtype):
    """NaN, infinities and denormals come out as NumPy has them: NaN where NumPy has NaN, and so on."""
    what = registry()[operation]
    inputs = list(inputs_for(operation, dtype, small_shape(operation)))
    kind = numpy_dtype(dtype)
    tiny = np.array(2.0**-133 if dtype == "bfloat16" else np.finfo(kind).smallest_subnormal).astype(kind)
    draw = np.random.default_rng(3)
    for i in ANY_VALUE.get(operation, range(len(inputs))):
        x = inputs[i] = inputs[i].copy()
        if x.ndim:
            places = draw.choice(x.size, 12, replace=False)
            x.reshape(-1)[places] = np.array([*SPECIAL, tiny, -tiny, np.nan, np.inf, -np.inf, 1, 0]).astype(kind)
    with np.errstate(all="ignore"):
        precise = [x.astype(np.longdouble) for x in inputs]
        wide = np.asarray(what.reference(*precise))
        magnitude = np.broadcast_to(what.magnitude(*precise), wide.shape)
        expected = wide.astype(numpy_dtype(variant.signature(dtype)[2]))
        result = np.asarray(call(operation, name, *inputs, variant=variant.name))
    # Element by element, as `check` does; `wide` has more digits than the result, and so no rounding of its own.
    assert np.array_equal(np.isnan(result), np.isnan(expected))
    finite = np.isfinite(expected)
    assert np.array_equal(result[~finite], expected[~finite], equal_nan=True)
    bound = variant.error_bound(*(x.shape for x in inputs), dtype=dtype)
    difference = np.abs(result[finite].astype(np.longdouble) - wide[finite])
    assert (difference <= bound * magnitude[finite] + smallest(expected.dtype)).all()


@every_kernel
def test_the_same_bits_in_every_order(operation, name, variant, order):
    inputs = inputs_for(operation, main_type(variant), small_shape(operation))
    results = []
    for how in ORDERS:
        order(how)
        results.append(np.asarray(call(operation, name, *inputs, variant=variant.name)).tobytes())
    if variant.deterministic_for(main_type(variant)):
        assert len(set(results)) == 1


@every_kernel
def test_a_large_array(operation, name, variant):
    inputs = inputs_for(operation, main_type(variant), largest_shape(operation), seed=5)
    check(operation, variant, inputs, call(operation, name, *inputs, variant=variant.name))


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_auto_is_numpys_result(operation, backend):
    what = registry()[operation]
    listed = dict.fromkeys(t for variant in cudakern.variants(operation) for t in variant.types)
    for dtype in listed:
        if dtype == "bfloat16" and not HAS_BFLOAT16:
            continue
        for shape in what.ragged[:4]:
            inputs = inputs_for(operation, dtype, shape, seed=2)
            expected = np.asarray(what.reference(*inputs))
            results = [call(operation, backend, *inputs)]
            taken = [
                variant for variant in cudakern.variants(operation) if not variant.on_host and dtype in variant.types
            ]
            if taken:
                results.append(call(operation, backend, *on_device(backend, inputs)).get())
            for result in results:
                assert np.shape(result) == expected.shape
                close = (
                    {"rtol": 0.02 if "16" in dtype else 1e-4, "atol": 1e-4}
                    if "f" in (kind_of(dtype), expected.dtype.kind) or kind_of(dtype) == "c"
                    else {"rtol": 0}
                )
                np.testing.assert_allclose(
                    np.asarray(result).astype(np.result_type(expected, np.float64)),
                    expected.astype(np.result_type(expected, np.float64)),
                    **close,
                )


@every_run
def test_what_a_variant_does_not_take(operation, name, variant):
    inputs = inputs_for(operation, main_type(variant), small_shape(operation))
    with pytest.raises(TypeError, match="no parameter 'colour'"):
        call(operation, name, *inputs, variant=variant.name, colour=3)
    with pytest.raises(ValueError, match="unknown variant"):
        call(operation, name, *inputs, variant=variant.name + "x")
    if not variant.on_host:
        with pytest.raises(TypeError, match=variant.name):
            call(operation, name, *(x.astype("longdouble") for x in inputs), variant=variant.name)
    with pytest.raises(TypeError):
        call(operation, name, *(np.array(["a"] * 3) for _ in inputs), variant=variant.name)


NO_NUMBERS = {"U": "U3", "S": "S3", "M": "M8[D]", "m": "m8[D]", "O": "O", "V": [("x", "i4")]}
#: The kinds of these that "auto" leaves to NumPy.
NUMPYS = {"vector_add": "OmUS", "saxpy": "Om", "stencil_1d": "O", "sort": "OmMSUV"} | dict.fromkeys(
    ("inclusive_scan", "exclusive_scan"), "Om"
)


def left_to_numpy(operation):
    """The kinds that "auto" leaves to NumPy: for an operation that NUMPYS does not list, those of its RULE."""
    rule = vars(inspect.getmodule(registry()[operation].call)).get("RULE")
    return NUMPYS.get(operation, rule.others if rule else "")


@pytest.mark.parametrize("operation", OPERATIONS)
def test_elements_that_are_not_numbers(operation, backend):
    """An error in our words, which says what was given and what is taken, from every variant; or NumPy's answer."""
    inputs = inputs_for(operation, registry()[operation].default_dtype, small_shape(operation))
    for kind, dtype in NO_NUMBERS.items():
        given = [np.zeros(x.shape, dtype) if x.ndim else x for x in inputs]
        for variant in ("auto", *(variant.name for variant in cudakern.variants(operation))):
            if variant == "auto" and kind in left_to_numpy(operation):
                expected = registry()[operation].reference(*given)
                assert np.array_equal(registry()[operation].call(*given), expected), kind
                continue
            said = {"U": "str", "S": "bytes", "M": "datetime64", "m": "timedelta64", "O": "object", "V": "void"}[kind]
            if variant == "auto" and (operation, kind) in (("vector_add", "M"), ("saxpy", "M")):
                said = "datetime64.*NumPy:"
            with pytest.raises(TypeError, match=rf"^{operation}\b.*\b{said}"):
                registry()[operation].call(*given, variant=variant)


def test_numpys_results_for_elements_that_are_not_numbers():
    days, spans = np.array(["2020-02-28", "2021-02-28"], "M8[D]"), np.array([2, 3], "m8[D]")
    for x, y in ((days, spans), (spans, days), (days.astype(">M8[D]"), spans), (spans, spans)):
        result = cudakern.vector_add(x, y)
        assert result.dtype == (x + y).dtype
        assert np.array_equal(result, x + y)
    out = np.empty(2, "M8[s]")
    assert cudakern.vector_add(days, spans, out) is out
    assert np.array_equal(out, days + spans)
    assert np.array_equal(cudakern.saxpy(2, spans, days), 2 * spans + days)
    assert cudakern.vector_add(["a", "b"], "c").tolist() == ["ac", "bc"]
    halves = np.array([Fraction(1, 2), Fraction(1, 3)])
    assert cudakern.inclusive_scan(halves)[1] == cudakern.stencil_1d(halves, 1)[0] == Fraction(5, 6)
    assert cudakern.sort(np.array(["b", "a"], ">U1")).dtype == np.dtype("=U1")
    with pytest.raises(TypeError, match=r"^vector_add: x of datetime64.* and y of datetime64.*: NumPy: .*add"):
        cudakern.vector_add(days, days)
    with pytest.raises(
        TypeError, match=r"^vector_add: the result is datetime64.*, and out is float64: Cannot cast ufunc .* output"
    ):
        cudakern.vector_add(days, spans, np.empty(2))
    with pytest.raises(TypeError, match=r"naive.* but x is datetime64\[D\]; variant='auto' leaves it to NumPy"):
        cudakern.vector_add(days, spans, variant="naive")
    with pytest.raises(TypeError, match=r"saxpy takes numbers, but a is timedelta64\[D\]; convert it with .astype\(\)"):
        cudakern.saxpy(spans[0], cudakern.asarray([1.0]), cudakern.asarray([1.0]))
    if hasattr(np.dtypes, "StringDType"):
        assert cudakern.sort(np.array(["b", "a"], np.dtypes.StringDType())).tolist() == ["a", "b"]


def arrays_of(operation):
    """Which of its operands are arrays."""
    inputs = inputs_for(operation, registry()[operation].default_dtype, small_shape(operation))
    return [i for i, x in enumerate(inputs) if x.ndim]


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if len(arrays_of(operation)) > 1])
def test_two_places_at_once(operation, backend):
    inputs = inputs_for(operation, registry()[operation].default_dtype, small_shape(operation))
    for there in arrays_of(operation):
        mixed = [cudakern.asarray(x) if i == there else x for i, x in enumerate(inputs)]
        with pytest.raises(TypeError, match="in host memory"):
            registry()[operation].call(*mixed)


TAKES_OUT = [name for name in OPERATIONS if "out" in inspect.signature(registry()[name].call).parameters]


@pytest.mark.parametrize("operation", TAKES_OUT)
def test_an_out_in_the_other_place(operation, backend):
    """Of the right shape and type: that it is elsewhere is what is wrong."""
    inputs = inputs_for(operation, registry()[operation].default_dtype, small_shape(operation))
    result = np.asarray(registry()[operation].call(*inputs))
    for given, out in ((inputs, cudakern.asarray(result)), (on_device(backend, inputs), result)):
        with pytest.raises(TypeError, match="in host memory"):
            registry()[operation].call(*given, out=out)


# --- host arrays of more axes than the device has --------------------------------------------------------------------
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
X = np.arange(6, dtype=np.float32) / 4
AXES_CALLS = {
    "vector_add": (lambda x, v: cudakern.vector_add(x, X[:3], variant=v), lambda x: x + X[:3]),
    "saxpy": (lambda x, v: cudakern.saxpy(2, x, x[..., ::-1], variant=v), lambda x: 2 * x + x[..., ::-1]),
    "interp": (lambda x, v: cudakern.interp(x, X, X * X, variant=v), lambda x: np.interp(x, X, X * X)),
    "inclusive_scan": (lambda x, v: cudakern.inclusive_scan(x, variant=v), lambda x: np.cumsum(x)),
    "packbits": (lambda x, v: cudakern.packbits(x > 1, variant=v), lambda x: np.packbits(x > 1)),
    "packbits of rows": (lambda x, v: cudakern.packbits(x > 1, 0, variant=v), lambda x: np.uint8(x > 1) << 7),
    "lookup_2d": (
        lambda x, v: cudakern.lookup_2d(np.add.outer(X, X), X[:3], x, variant=v),
        lambda x: np.float32(X[:3] / 4 + x / 4),
    ),
    "sum_of_squares": (lambda x, v: cudakern.sum_of_squares(x, variant=v), lambda x: (x * x).sum()),
    "sort": (lambda x, v: cudakern.sort(x[..., ::-1], variant=v), lambda x: x),
    "sort of rows": (
        lambda x, v: cudakern.sort(x[..., ::-1].swapaxes(0, -1) + [0, 1], 0, variant="auto"),
        lambda x: x.swapaxes(0, -1) + [0, 1],
    ),
}


@pytest.mark.parametrize("axes", sorted({17, min(33, MOST_AXES), MOST_AXES}))
@pytest.mark.parametrize("op", AXES_CALLS)
def test_host_arrays_of_as_many_axes_as_numpys(backend, op, axes):
    call, expected = AXES_CALLS[op]
    x = X[:3].reshape((1,) * (axes - 1) + (3,))
    for entry in (
        "auto",
        *(v.name for v in cudakern.variants(op.split()[0]) if not v.why_not(cudakern.backend()) and not v.on_host),
    ):
        if entry != "auto" and "float32" not in cudakern.variants(op.split()[0])[entry].types and "packbits" not in op:
            continue
        result = call(x, entry)
        assert np.shape(result) == np.shape(expected(x)), entry
        np.testing.assert_allclose(result, expected(x), rtol=1e-6)


def test_an_out_of_many_axes_and_any_layout(backend):
    x = np.ones((1,) * 30 + (2, 3), np.float32)
    for axes in (range(32), [*range(30), 31, 30]):
        out = np.zeros(np.array(x.shape)[list(axes)], np.float32).transpose(np.argsort(axes))
        assert cudakern.vector_add(x, x, out=out, variant="naive") is out
        assert (out == 2).all()
    with pytest.raises(ValueError, match="do not broadcast"):
        cudakern.vector_add(x, np.ones((1,) * 30 + (2, 2), np.float32), variant="naive")


# --- larger inputs ---------------------------------------------------------------------------------------------------
N22 = (1 << 22) + 3
LARGER = {
    "add_fields": [(3_000_017, 4)],
    "constant_memory": [(N22,)],
    "intrinsics": [(N22,)],
    "bank_conflicts": [(100_000,)],
    "divergence": [(1_000_003,)],
    "grayscale": [(1080, 1920, 3), (2161, 3841, 4)],
    "hello": [],
    "interp": [(N22, 4096), (10_000_019, 1000)],
    "latency": [(3_000_017,)],
    "lookup_2d": [(N22, 1000, 1000)],
    "lookup_3d": [((1 << 21) + 3, 100, 100, 100)],
    "matmul": [(777, 1025, 513), (1, 4099, 7)],
    "moving_sum": [(20_011, 1001), (257, 65_537)],
    "rgba_to_float": [(2160, 3840)],
    "sort": [((1 << 20) + 3,), (2_500_001,)],
    "thread_map": [(1023, 1025), (3, 257, 513)],
    "vec3": [(3_000_017, 3)],
}


@pytest.mark.timeout(7200)
@pytest.mark.skipif(os.environ.get("CUDAKERN_HYPOTHESIS") != "deep", reason="ten minutes: .ci/record contract runs it")
@pytest.mark.parametrize("operation", registry())
def test_larger_inputs(operation):
    """Sizes that all other tests leave out, within each variant's bound, on the emulator."""
    for name, variant in variants(operation):
        if name == "cuda":
            continue
        for shape in LARGER.get(operation, [(N22,), (10_000_019,)]):
            inputs = inputs_for(operation, main_type(variant), shape, 7)
            with cudakern.use_backend("emulator"):
                try:
                    result = registry()[operation].call_of(variant, inputs)()
                except ValueError as limit:  # a form that says which sizes it takes
                    assert re.search(r"\d", str(limit)), (variant.name, shape)
                    continue
            assert _error_ratio(registry()[operation], variant, inputs, result) <= 1, (variant.name, shape)
