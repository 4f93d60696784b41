"""cudakern.sum_of_squares: every variant of the table, on every backend, with every type, against NumPy."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import cudakern
from cases import (
    LAYOUTS,
    ORDERS,
    label,
    native,
    numbers,
    relative_error,
    settings,
    smallest,
    snapshot,
    sum_reference,
    variant_types,
    variants,
)
from cudakern.arrays.dtypes import kind_of, numpy_dtype

pytestmark = pytest.mark.proves()

OPERATION = "sum_of_squares"
SIZES = (0, 1, 31, 32, 33, 255, 256, 257, 997, 1000, 4099)
CASES = variant_types(OPERATION)
ALL_CASES = variant_types(OPERATION, types=None)
KERNEL_CASES = variant_types(OPERATION, host=False, types=None)
FLOAT_CASES = [case for case in ALL_CASES if kind_of(case[2]) == "f"]
ONE_TYPE = [(name, variant, "int32") for name, variant in variants(OPERATION)]

every = pytest.mark.parametrize("backend, variant, dtype", CASES, ids=label, indirect=["backend"])
every_type = pytest.mark.parametrize("backend, variant, dtype", ALL_CASES, ids=label, indirect=["backend"])
every_kernel = pytest.mark.parametrize("backend, variant, dtype", KERNEL_CASES, ids=label, indirect=["backend"])
every_float = pytest.mark.parametrize("backend, variant, dtype", FLOAT_CASES, ids=label, indirect=["backend"])
every_variant = pytest.mark.parametrize("backend, variant, dtype", ONE_TYPE, ids=label, indirect=["backend"])


def check(variant, x, **parameters):
    """Computes, and holds the result to NumPy's type and the variant's bound; returns the relative error."""
    before = snapshot(x)
    result = cudakern.sum_of_squares(x, variant=variant.name, **parameters)
    assert snapshot(x) == before
    assert isinstance(result, np.generic)
    return held(variant, x, result, **parameters)


def held(variant, x, result, **parameters):
    """Holds a result to its type and the variant's bound; returns the relative error."""
    reference, magnitude = sum_reference(x)
    assert result.dtype == variant.signature(x.dtype)[2]
    if x.dtype.kind in "biu":
        assert int(result) % 2**64 == reference
        return 0.0
    error = float(relative_error(result, reference, magnitude))
    assert error <= variant.error_bound((x.size,), dtype=x.dtype, **parameters)
    return error


@pytest.mark.parametrize("n", SIZES)
@every_type
def test_sizes(backend, variant, dtype, n):
    check(variant, numbers(n, dtype, seed=n))


@every_variant
def test_large(backend, variant, dtype):
    check(variant, numbers(100003, dtype))


@every_type
def test_sums_of_the_largest_numbers(backend, variant, dtype):
    """Integers wrap modulo 2**64; floats overflow only where the result's type ends."""
    if kind_of(dtype) == "f":
        largest = LARGEST[dtype]
        result = cudakern.sum_of_squares(np.full(3, largest, numpy_dtype(dtype)), variant=variant.name)
        if dtype == "float16":
            assert result == np.float32(3 * largest**2)  # 33 bits: one rounding
        else:
            assert np.isposinf(result)
        return
    low, high = (False, True) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for x in (np.full(1000, low, dtype), np.full(1001, high, dtype)):
        check(variant, x)


LARGEST = {
    "float16": 65504.0,
    "bfloat16": (2 - 2.0**-7) * 2.0**127,
    "float32": np.finfo("float32").max,
    "float64": np.finfo("float64").max,
}


@every_type
def test_the_documents_input(backend, variant, dtype):
    x = np.random.default_rng(5).integers(0, 2 if dtype == "bool" else 10, 4096)
    exact = int(np.sum(x**2))
    x = x.astype(numpy_dtype(dtype))
    assert cudakern.sum_of_squares(x, variant=variant.name) == exact  # small whole numbers are exact in every type


@every_kernel
def test_arrays_that_begin_anywhere(backend, variant, dtype):
    """On the device, at each place of a pack of 16 bytes, and ending at each: what lies beside is not read."""
    x = numbers(1100, dtype)
    x[[0, -1]] = x[[-1, 0]]
    there = cudakern.asarray(x)
    item = x.itemsize
    for start in range(1, 1 + 16 // item):
        for n in (0, 1, 2, 16 // item, 37, 1100 - start - 16 // item, 1100 - start):
            part = slice(start, start + n)
            result = cudakern.sum_of_squares(there[part], variant=variant.name)
            assert result.shape == ()
            assert result.dtype == variant.signature(dtype)[2]
            held(variant, x[part], result.get()[()])


@every_type
def test_strided_arrays_on_the_device(backend, variant, dtype):
    if variant.on_host:
        with pytest.raises(TypeError, match="host"):
            cudakern.sum_of_squares(cudakern.asarray(numbers(3, dtype)), variant=variant.name)
        return
    x = numbers((40, 30), dtype)
    there = cudakern.asarray(x)
    for part in ((slice(None, None, -1),), (slice(3, 20, 2), slice(None, None, -3)), (slice(None), 4)):
        held(variant, x[part], cudakern.sum_of_squares(there[part], variant=variant.name).get()[()])
    held(variant, x.T, cudakern.sum_of_squares(there.T, variant=variant.name).get()[()])


@pytest.mark.parametrize("dtype", ["int8", "bfloat16", "float32", "float64"])
def test_small_arrays_on_the_device_take_one_launch(backend, fault, dtype):
    """Eight rounds of what the threads of one block have on their way at once; with more a kernel adds blocks' sums."""
    module, item = native(backend), numpy_dtype(dtype).itemsize
    most = 8 * 512 * 4 * 16 // item
    for n, launches in ((1, 1), (most, 1), (most + 1, 2)):
        x = cudakern.asarray(np.ones(n, numpy_dtype(dtype)))
        names = []
        cudakern.sum_of_squares(x, variant="vectorized")  # what is asked and taken once
        for failing in range(1, 60):
            fault(backend, failing, 1)
            try:
                result = cudakern.sum_of_squares(x, variant="vectorized")
            except cudakern.CudaError as error:
                names += [name for name in ("vectorized", "finish") if f"{name}<<<" in str(error)]
            else:
                break
        fault(backend, 0, 1)
        module.synchronize(module.choose_device())
        assert names == ["vectorized", "finish"][:launches], n
        assert result.get() == n


# --- one launch -----------------------------------------------------------------------------------------------------
EVERY_TYPE = cudakern.variants(OPERATION)["one_launch"].types
TILE = 512 * 8  # packs


@pytest.mark.parametrize("dtype", EVERY_TYPE)
def test_auto_takes_one_launch_for_every_type_and_size(backend, dtype):
    """On the device: one block, a few, and more than one round of all blocks of a small grid."""
    kind = numpy_dtype(dtype)
    pack = 16 // kind.itemsize
    for n in (1, TILE * pack, TILE * pack + 1, 3 * TILE * pack + 5):
        x = cudakern.asarray(np.ones(n, kind))
        profile = cudakern.profile(cudakern.sum_of_squares, x, repeat=1)
        assert (profile.variant.name, profile.launches) == ("one_launch", 1), n
        assert cudakern.sum_of_squares(x).get() == n


@pytest.mark.parametrize("blocks", [1, 2, 3, 7])
@pytest.mark.parametrize("dtype", EVERY_TYPE)
def test_rounds_of_tiles(backend, dtype, blocks):
    """Whole rounds, and what remains after them, in each of its loads."""
    variant, pack = cudakern.variants(OPERATION)["one_launch"], 16 // numpy_dtype(dtype).itemsize
    a_round = blocks * TILE * pack
    for n in (
        a_round - 1,
        a_round,
        a_round + 1,
        a_round + blocks * 512 * pack + 3,
        2 * a_round + 2 * blocks * 512 * pack,
    ):
        x = numbers(n + 1, dtype, seed=n)
        check(variant, x[:n], blocks=blocks)
        there = cudakern.asarray(x)[1:]  # which begins within a pack
        held(
            variant, x[1:], cudakern.sum_of_squares(there, variant="one_launch", blocks=blocks).get()[()], blocks=blocks
        )


KINDS = {
    "uniform": lambda random, n: random.random(n),
    "normal": lambda random, n: random.standard_normal(n),
    "lognormal": lambda random, n: random.lognormal(0, 3, n),
    "equal": lambda random, n: np.full(n, 1 / 3),
    "small": lambda random, n: (
        random.random(n) * 1e-21
    ),  # squares are denormal numbers of float32, or too small for them
    "large": lambda random, n: random.random(n) * 1e15,
    "mixed": lambda random, n: 2.0 ** random.uniform(-40, 40, n),
}


@pytest.mark.parametrize("kind", KINDS)
def test_float32_is_within_two_units_of_the_last_place(backend, kind):
    """Of the answer in float64, on the host and on the device."""
    for n in (1, 1000, 16385, 300007):
        x = KINDS[kind](np.random.default_rng(n), n).astype(np.float32)
        exact = np.sum(np.square(x, dtype=np.float64))
        for result in (
            cudakern.sum_of_squares(x, variant="one_launch"),
            cudakern.sum_of_squares(cudakern.asarray(x)).get()[()],
        ):
            assert abs(float(result) - exact) <= 2 * np.spacing(np.float32(exact))


def test_the_bits_do_not_depend_on_the_stream(backend):
    """Several streams at once, each with sums of several lengths, again and again."""
    arrays = [cudakern.asarray(numbers(n, "float32", seed=n)) for n in (5, 20000, 100003, 70000)]
    expected = [cudakern.sum_of_squares(x).get().tobytes() for x in arrays]
    streams = [None, *(cudakern.Stream() for _ in range(3))]
    results = [
        (i, cudakern.sum_of_squares(arrays[i], stream=stream))
        for turn in range(6)
        for i in (turn % 4, (turn + 1) % 4)
        for stream in streams
    ]
    assert all(result.get().tobytes() == expected[i] for i, result in results)


PARAMETER_CASES = [
    (name, variant, dtype, given)
    for name, variant, dtype in CASES
    if dtype in ("int64", "float32")
    for given in settings(variant)
    if given
]


@pytest.mark.parametrize("backend, variant, dtype, parameters", PARAMETER_CASES, ids=label, indirect=["backend"])
def test_parameters(backend, variant, dtype, parameters):
    for n in (0, 1, 1009, 5000):
        try:
            check(variant, numbers(n, dtype, seed=n), **parameters)
        except (
            ValueError,
            cudakern.CudaError,
        ) as error:  # a cooperative grid's limit is the device's
            assert variant.cooperative
            assert parameters["blocks"] > 2
            assert f"{parameters['blocks']}" in str(error)
            assert "resident" in str(error)


WITH_PARTIAL_SUMS = [case for case in PARAMETER_CASES if not case[1].cooperative]


@pytest.mark.parametrize("backend, variant, dtype, parameters", WITH_PARTIAL_SUMS, ids=label, indirect=["backend"])
def test_parameters_on_the_device(backend, variant, dtype, parameters):
    """Partial sums are added by a kernel there, and a single one is the result."""
    x = numbers(2011, dtype)
    held(
        variant,
        x,
        cudakern.sum_of_squares(cudakern.asarray(x), variant=variant.name, **parameters).get()[()],
        **parameters,
    )


@pytest.mark.shared
@every_variant
def test_the_largest_grid(backend, variant, dtype):
    blocks = next((p for p in variant.parameters if p.name == "blocks"), None)
    if blocks is None or variant.cooperative:
        assert variant.cooperative or len(variant.parameters) <= 1
        return
    threads = {"threads": 33} if len(variant.parameters) > 1 else {}
    check(variant, numbers(1009, dtype), blocks=blocks.high, **threads)


@every_float
def test_root_mean_square_of_the_error(backend, variant, dtype):
    """A loose bound cannot hide a fault: over seeds, errors must be as small as roundings at random make them."""
    n = 4099
    errors = [check(variant, numbers(n, dtype, seed, signed=False)) for seed in range(30)]
    assert np.sqrt(np.mean(np.square(errors))) <= variant.error_bound((n,), dtype=dtype, rms=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@every_variant
def test_layouts(backend, variant, dtype, layout):
    for kind in {"int32", "float64", "int8", "bool", "float16"} & set(variant.types):
        for shape in ((300,), (17, 33)):
            check(variant, LAYOUTS[layout](numbers(shape, kind)))


@every_variant
def test_more_dimensions_and_lists(backend, variant, dtype):
    x = numbers((3, 4, 5, 6), dtype)
    check(variant, x)
    check(variant, x.transpose(2, 0, 3, 1))
    check(variant, x[:, ::2, ::-1, 1:3])
    check(variant, np.asarray(x[0, 0, 0, 0]))
    assert cudakern.sum_of_squares([1, 2, 3], variant=variant.name) == 14


@every_float
def test_special_values(backend, variant, dtype):
    for special in (np.nan, np.inf, -np.inf):
        for n, at in ((1, 0), (257, 0), (257, 256), (1000, 500)):
            x = numbers(n, dtype)
            x[at] = special
            wide = x.astype(variant.signature(dtype)[1])
            expected = np.dot(wide, wide)
            result = cudakern.sum_of_squares(x, variant=variant.name)
            assert (np.isnan(result) and np.isnan(expected)) or result == expected, (special, n, at)
    both = np.array([np.inf, 1, np.nan], numpy_dtype(dtype))
    assert np.isnan(cudakern.sum_of_squares(both, variant=variant.name))


@every_float
def test_denormals_are_kept(backend, variant, dtype):
    tiny = smallest(variant.signature(dtype)[2])
    kind = numpy_dtype(dtype)
    x = np.full(700, 3 * smallest(dtype) if dtype == "float16" else np.sqrt(tiny) * 8, kind)  # numbers or their squares
    result = float(cudakern.sum_of_squares(x, variant=variant.name))
    reference, _ = sum_reference(x)
    if variant.flushes_denormals and dtype == "float32" and backend == "cuda":
        assert result in (0, pytest.approx(float(reference), abs=700 * tiny))
        return
    assert result > 0
    assert abs(result - float(reference)) <= max(
        700 * tiny, variant.error_bound((700,), dtype=dtype) * float(reference)
    )
    assert cudakern.sum_of_squares(np.zeros(33, kind), variant=variant.name) == 0


@every_kernel
def test_runs_and_orders_give_the_same_bits(backend, variant, dtype, order):
    """Deterministic variants give the same bits whatever the order; the others stay within their bound."""
    x = numbers(4099, dtype)
    results = []
    for name in ORDERS if backend == "emulator" else ["as it comes"] * 5:
        if backend == "emulator":
            order(name)
        check(variant, x)
        results += [cudakern.sum_of_squares(x, variant=variant.name).tobytes() for _ in range(2)]
    if variant.deterministic_for(dtype):
        assert len(set(results)) == 1


@every
def test_every_order_is_right_for_ragged_sizes(backend, variant, dtype, order):
    for name in ORDERS[1:4]:
        order(name)
        for n in (33, 257, 1009):
            check(variant, numbers(n, dtype, seed=n))


@hypothesis.given(data=st.data())
def test_any_view_of_any_array(data):
    """Shapes of up to three dimensions, any slices, any order of axes."""
    name, variant, dtype = data.draw(st.sampled_from(ALL_CASES), "case")
    shape = tuple(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=3), "shape"))
    x = numbers(shape, dtype, seed=data.draw(st.integers(0, 9), "seed"))
    x = x.transpose(data.draw(st.permutations(range(x.ndim)), "axes"))
    step = st.sampled_from([1, 2, 3, -1, -2])
    x = x[tuple(slice(None, None, data.draw(step, "step")) for _ in range(x.ndim))]
    with cudakern.use_backend(name):
        check(variant, x)


def test_work_is_two_operations_an_element():
    flops, _ = native("emulator").work(OPERATION, ((10, 20),), "float32")
    assert flops == 2 * 200


@pytest.mark.parametrize(
    "variant", [variant for variant in cudakern.variants(OPERATION) if not variant.on_host], ids=label
)
def test_bounds_of_arrays_that_no_memory_holds(variant):
    """A length past 64 bits counts as the largest there is: it does not wrap to a small one."""
    bounds = [variant.error_bound(shape, dtype="float32") for shape in ((2**20,), (2**62,), (2**62, 4), (2**62, 2**62))]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[1] < bounds[2]


# --- auto ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">i4", ">f8"])
def test_auto_takes_every_real_type(backend, dtype):
    x = np.random.default_rng(0).integers(0, 2 if dtype == "?" else 100, 300).astype(dtype)
    result = cudakern.sum_of_squares(x)
    kind = np.dtype(dtype)
    expected = {"b": "i8", "i": "i8", "u": "u8", "f": "f8" if kind.itemsize == 8 else "f4"}[kind.kind]
    assert result.dtype == np.dtype(expected)
    assert result == np.sum(x.astype("f8") ** 2)


def test_auto_wraps_as_numpy_does(backend):
    x = np.full(5, 2**63 + 12345, np.uint64)
    assert int(cudakern.sum_of_squares(x)) == 5 * (2**63 + 12345) ** 2 % 2**64


@pytest.mark.proves("sum_of_squares:auto")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_auto_is_as_accurate_as_numpy(backend, dtype):
    ours, theirs = [], []
    for seed in range(30):
        x = numbers(20011, dtype, seed, signed=False)
        reference, magnitude = sum_reference(x)
        ours.append(relative_error(cudakern.sum_of_squares(x), reference, magnitude))
        theirs.append(relative_error(np.dot(x, x), reference, magnitude))
    assert np.sqrt(np.mean(np.square(ours))) <= np.sqrt(np.mean(np.square(theirs)))


# --- errors ----------------------------------------------------------------------------------------------------------
def test_unknown_variant(backend):
    with pytest.raises(ValueError, match="tree_sequental") as caught:
        cudakern.sum_of_squares([1.0], variant="tree_sequental")
    text = str(caught.value)
    assert text.index("tree_sequential") < text.index("multi_block")  # the nearest comes first
    assert all(variant.name in text for variant in cudakern.variants(OPERATION))
    assert "\n" not in text


@every_variant
def test_types_that_the_variant_does_not_list(backend, variant, dtype):
    for other in ("int8", "uint64", "float16", "complex128", "bool"):
        if other not in variant.types:
            with pytest.raises(TypeError, match=other) as caught:
                cudakern.sum_of_squares(np.zeros(3, other), variant=variant.name)
            if other != "complex128":  # which no variant takes: that is what is said
                assert all(kind in str(caught.value) for kind in variant.types)


@every_variant
def test_parameters_that_the_variant_does_not_have(backend, variant, dtype):
    with pytest.raises(TypeError, match="tiles") as caught:
        cudakern.sum_of_squares(np.zeros(3, dtype), variant=variant.name, tiles=3)
    assert variant.name in str(caught.value)
    assert all(p.name in str(caught.value) for p in variant.parameters)


@every_variant
def test_values_that_a_parameter_does_not_take(backend, variant, dtype):
    x = np.zeros(3, dtype)
    for p in variant.parameters:
        for wrong in {p.low - 1, -1, p.high + 1, 10**9, 2**70}:
            with pytest.raises(ValueError, match=p.name) as caught:
                cudakern.sum_of_squares(x, variant=variant.name, **{p.name: wrong})
            assert str(wrong) in str(caught.value)
            assert p.allowed in str(caught.value)
        for wrong in (1.5, "32", None):
            with pytest.raises(TypeError, match=p.name):
                cudakern.sum_of_squares(x, variant=variant.name, **{p.name: wrong})


@pytest.mark.parametrize("variant", ["auto", "numpy", "single_thread"])
def test_elements_that_are_not_real_numbers(backend, variant):
    for x in (np.zeros(2, "complex64"), np.array(["a"]), np.array([object()]), np.zeros(2, "M8[s]")):
        with pytest.raises(TypeError, match="sum_of_squares"):
            cudakern.sum_of_squares(x, variant=variant)


def test_auto_has_no_parameters(backend):
    with pytest.raises(TypeError, match="threads"):
        cudakern.sum_of_squares([1, 2], threads=32)


def test_masked_arrays_are_refused(backend):
    with pytest.raises(TypeError, match="mask"):
        cudakern.sum_of_squares(np.ma.masked_array([1.0, 2.0], [0, 1]))
