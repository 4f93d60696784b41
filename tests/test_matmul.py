"""cudakern.matmul: every variant of the table, on every backend, with every type, against NumPy."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

import cudakern
from cases import (
    BACKENDS,
    LAYOUTS,
    ORDERS,
    emulated_chip,
    label,
    main_type,
    native,
    needs_no_out,
    numbers,
    other_type,
    product_reference,
    relative_error,
    settings,
    smallest,
    snapshot,
    variant_types,
    variants,
)
from cudakern.calls import call, table
from cudakern.operations.matmul import RULE

pytestmark = pytest.mark.proves()

OPERATION = "matmul"
SHAPES = (
    (0, 0, 0),
    (0, 3, 2),
    (3, 0, 2),
    (3, 2, 0),
    (1, 1, 1),
    (1, 97, 1),
    (97, 1, 97),
    (1, 33, 70),
    (70, 33, 1),
    (16, 16, 16),
    (31, 32, 33),
    (17, 33, 65),
    (64, 64, 64),
    (5, 257, 3),
    (40, 7, 129),
)
# Every type but the one that NumPy lacks: test_matmul_kernels.py has it.
CASES = [case for case in variant_types(OPERATION, types=None) if case[2] != "bfloat16" and needs_no_out(case[1])]
FLOAT_CASES = [case for case in CASES if np.dtype(case[2]).kind == "f"]
KERNEL_CASES = [case for case in CASES if not case[1].on_host]
ONE_TYPE = [(name, variant, main_type(variant)) for name, variant in variants(OPERATION) if needs_no_out(variant)]
VARIANTS = [run for run in variants(OPERATION, host=False) if needs_no_out(run[1])]

every = pytest.mark.parametrize("backend, variant, dtype", CASES, ids=label, indirect=["backend"])
every_float = pytest.mark.parametrize("backend, variant, dtype", FLOAT_CASES, ids=label, indirect=["backend"])
every_variant = pytest.mark.parametrize("backend, variant, dtype", ONE_TYPE, ids=label, indirect=["backend"])


def operands(shape, dtype, seed=0, signed=True):
    m, k, n = shape
    return numbers((m, k), dtype, 2 * seed, signed), numbers((k, n), dtype, 2 * seed + 1, signed)


def check(variant, a, b, **keywords):
    """Computes, and holds every element to the variant's bound; returns the relative errors."""
    before = snapshot(a, b)
    result = cudakern.matmul(a, b, variant=variant.name, **keywords)
    if "out" not in keywords:
        assert snapshot(a, b) == before
        assert result.dtype == a.dtype.newbyteorder("=")
    errors = errors_of(result, a, b)
    parameters = {name: value for name, value in keywords.items() if name != "out"}
    assert errors.max(initial=0) <= variant.error_bound(a.shape, b.shape, dtype=a.dtype, **parameters)
    return errors


def errors_of(result, a, b):
    if a.dtype.kind in "biu":  # exact, and wrapped as NumPy does
        return (result != np.matmul(a, b)).astype(float)
    reference, magnitude = product_reference(a, b)
    assert result.shape == reference.shape
    # below the smallest normal number, numbers lie as far apart as there
    return relative_error(result, reference, np.maximum(magnitude, np.finfo(a.dtype).tiny))


@pytest.mark.parametrize("shape", SHAPES, ids=label)
@every
def test_shapes(backend, variant, dtype, shape):
    check(variant, *operands(shape, dtype))


@every
def test_more_than_a_few_blocks(backend, variant, dtype):
    check(variant, *operands((150, 211, 170), dtype))


@every
def test_no_inner_dimension_gives_zeros(backend, variant, dtype):
    result = cudakern.matmul(np.ones((4, 0), dtype), np.ones((0, 5), dtype), variant=variant.name)
    assert result.tolist() == [[0] * 5] * 4


@every
def test_no_inner_dimension_in_a_stack_of_many_axes(backend, variant, dtype):
    """Two arrays of the device whose axes would not become one axis, if their strides counted."""
    arrays = np.ones((2, 1, 2, 1, 2, 3, 0), dtype), np.ones((1, 2, 1, 2, 1, 0, 5), dtype)
    if variant.on_host:
        result = cudakern.matmul(*arrays, variant=variant.name)
    else:
        result = cudakern.matmul(*map(cudakern.asarray, arrays), variant=variant.name).get()
    assert result.shape == (2, 2, 2, 2, 2, 3, 5)
    assert not result.any()


PARAMETER_CASES = [
    (name, variant, dtype, given) for name, variant, dtype in CASES for given in settings(variant) if given
]


@pytest.mark.parametrize("backend, variant, dtype, parameters", PARAMETER_CASES, ids=label, indirect=["backend"])
def test_parameters(backend, variant, dtype, parameters):
    for shape in ((1, 1, 1), (17, 33, 65), (64, 32, 96), (3, 0, 2), (0, 3, 3)):
        check(variant, *operands(shape, dtype), **parameters)


@every_float
def test_root_mean_square_of_the_error(backend, variant, dtype):
    """A loose bound cannot hide a fault: over seeds, errors must be as small as roundings at random make them."""
    shape = (24, 517, 20)
    errors = [check(variant, *operands(shape, dtype, seed, signed=False)) for seed in range(6)]
    bound = variant.error_bound(shape[:2], shape[1:], dtype=dtype, rms=True)
    assert np.sqrt(np.mean(np.square(errors))) <= bound


@pytest.mark.parametrize("layout", LAYOUTS)
@every_variant
def test_layouts(backend, variant, dtype, layout):
    view = LAYOUTS[layout]
    a, b = view(numbers((34, 21), dtype)), view(numbers((21, 34), dtype, 1))
    plain = numbers((a.shape[1], 19), dtype, 2)
    check(variant, a, plain)
    check(variant, numbers((19, b.shape[0]), dtype, 3), b)
    if a.shape[1] == b.shape[0]:
        check(variant, a, b)


@every_variant
def test_a_matrix_with_itself(backend, variant, dtype):
    a = numbers((33, 33), dtype)
    check(variant, a, a)
    check(variant, a, a.T)
    check(variant, a[::-1], a[:, ::-1])
    if "float64" in variant.types:
        assert cudakern.matmul(np.eye(3).tolist(), np.ones((3, 1)), variant=variant.name).shape == (3, 1)


@pytest.mark.filterwarnings("ignore:invalid value encountered in matmul")  # NumPy's variant warns as NumPy does
@every_float
def test_special_values(backend, variant, dtype):
    """NaN and infinity reach the same elements as in NumPy's product."""
    for special in (np.nan, np.inf, -np.inf):
        for at in ((0, 0), (16, 32), (7, 11)):
            a, b = operands((17, 33, 20), dtype)
            a[at] = special
            assert same_specials(cudakern.matmul(a, b, variant=variant.name), a, b)
            a, b = operands((20, 33, 17), dtype)
            b.T[at] = special
            assert same_specials(cudakern.matmul(a, b, variant=variant.name), a, b)
    a = np.array([[np.inf, -np.inf, 1], [np.inf, np.inf, 1], [1, 0, np.nan]], dtype)
    assert same_specials(cudakern.matmul(a, np.ones((3, 3), dtype), variant=variant.name), a, np.ones((3, 3), dtype))
    assert same_specials(cudakern.matmul(a, np.eye(3, dtype=dtype), variant=variant.name), a, np.eye(3, dtype=dtype))


@every_float
def test_overflow_gives_infinity(backend, variant, dtype):
    big = np.full((2, 2), np.finfo(dtype).max, dtype)
    with np.errstate(over="ignore"):
        assert same_specials(cudakern.matmul(big, big, variant=variant.name), big, big)


def same_specials(result, a, b):
    with np.errstate(invalid="ignore", over="ignore"):
        expected = a @ b
    odd = ~np.isfinite(expected)
    return np.array_equal(result[odd], expected[odd], equal_nan=True) and np.isfinite(result[~odd]).all()


def test_tf32_is_a_product_of_cut_inputs_and_only_on_request(backend):
    """Each float loses its 13 lowest bits; the rest of the error is that of a sequential sum in float32."""
    variant = cudakern.variants("matmul")["wgmma_tf32"]
    assert variant.cuts_inputs
    assert not [other.name for other in cudakern.variants("matmul") if other.cuts_inputs and other != variant]
    assert variant.name not in RULE.preferred
    if variant.why_not(cudakern.backend()):
        pytest.skip("wgmma is in Hopper alone")
    for a, b in (operands((100, 333, 70), "float32"), operands((260, 40, 600), "float32", signed=False)):
        cut = [(x.view(np.uint32) & 0xFFFFE000).view(np.float32) for x in (a, b)]
        result = cudakern.matmul(a, b, variant=variant.name)
        assert np.array_equal(result, cudakern.matmul(*cut, variant=variant.name))
        plain = cudakern.variants("matmul")["naive_2d"].error_bound(a.shape, b.shape, dtype="float32")
        assert relative_error(result, *product_reference(*cut)).max() <= plain


@pytest.mark.parametrize("shapes", [((70, 200), (200, 300)), ((4,), (4,)), ((3, 1, 5, 9), (2, 9, 6)), ((2, 0), (0, 3))])
def test_int8_into_int32(backend, shapes, monkeypatch):
    """Exact sums, where the out= that is needed is passed: in any layout, on the host and on the device."""
    variant = cudakern.variants("matmul")["wgmma_int8"]
    if variant.why_not(cudakern.backend()):
        pytest.skip("wgmma is in Hopper alone")
    a, b = (numbers(shape, "int8", seed) for seed, shape in enumerate(shapes))
    expected = np.matmul(a, b, dtype="int32")
    for _ in range(2):  # the second call is of a known kind
        for out in (np.full(expected.shape, 7, "int32"), np.full(expected.T.shape, 7, "int32").T):
            assert cudakern.matmul(a, b, out=out, variant=variant.name) is out
            assert np.array_equal(out, expected)
            assert cudakern.matmul(a, b, out) is out
            assert np.array_equal(out, expected)
        there = cudakern.asarray(a), cudakern.asarray(b)
        out = cudakern.zeros(expected.shape, "int32")
        assert cudakern.matmul(*there, out=out) is out
        assert np.array_equal(out.get(), expected)
        assert cudakern.matmul(*there, out=out, variant=variant.name) is out
        if len(shapes[0]) == len(shapes[1]) == 2:
            with monkeypatch.context() as patch:
                patch.setattr(call, "on_device", None)  # the call goes straight to C
                assert cudakern.matmul(*there, out=out, variant=variant.name) is out
        assert np.array_equal(out.get(), expected)
        for operands, wrong in (
            (there, cudakern.empty(expected.shape, "int8")),
            ((a, b), np.empty(expected.shape, "int64")),
        ):
            for given in ({}, {"out": wrong}):
                with pytest.raises(TypeError, match="needs out= of int32"):
                    cudakern.matmul(*operands, variant=variant.name, **given)
            assert cudakern.matmul(*operands).dtype == "int8"


def test_int8_into_int32_on_an_older_chip(monkeypatch):
    """The same sums without wgmma: the operands are converted first."""
    with cudakern.use_backend("emulator"):
        monkeypatch.setattr(table.Variant, "why_not", lambda self, here: "not here" if "int8" in self.name else "")
        a, b = numbers((40, 300), "int8", 1), numbers((300, 30), "int8", 2)
        there, out = (cudakern.asarray(a), cudakern.asarray(b)), cudakern.empty((40, 30), "int32")
        assert cudakern.matmul(*there, out=out) is out
        assert np.array_equal(out.get(), np.matmul(a, b, dtype="int32"))
        assert cudakern.matmul(a, b, accuracy="strict").dtype == "int8"


@every_float
def test_denormals_are_kept(backend, variant, dtype):
    tiny = smallest(dtype)
    root = np.sqrt(tiny) * 4
    a, b = operands((9, 40, 9), dtype, signed=False)
    a, b = ((x * 3 + 1) * root for x in (a, b))
    result = cudakern.matmul(a.astype(dtype), b.astype(dtype), variant=variant.name)
    reference, _ = product_reference(a.astype(dtype), b.astype(dtype))
    assert (result > 0).all()
    assert np.abs(result - reference).max() <= 40 * tiny


@pytest.mark.parametrize("backend, variant, dtype", KERNEL_CASES, ids=label, indirect=["backend"])
def test_runs_and_orders_give_the_same_bits(backend, variant, dtype, order):
    a, b = operands((37, 70, 45), dtype)
    results = []
    for name in ORDERS if backend == "emulator" else ["as it comes"] * 5:
        if backend == "emulator":
            order(name)
        check(variant, a, b)
        results += [cudakern.matmul(a, b, variant=variant.name).tobytes() for _ in range(2)]
    if variant.deterministic_for(dtype):
        assert len(set(results)) == 1


@hypothesis.given(data=st.data())
def test_any_views_of_any_matrices(data):
    """Any small shape, any slices and transposes."""
    name, variant, dtype = data.draw(st.sampled_from(CASES), "case")
    m, k, n = (data.draw(st.integers(0, 40), which) for which in "mkn")
    a, b = (x.T.copy().T if data.draw(st.booleans(), "transposed") else x for x in operands((m, k, n), dtype))
    step = st.sampled_from([1, 2, -1, -3])
    inner = data.draw(step, "inner step")
    a = a[:: data.draw(step, "rows"), ::inner]
    b = b[::inner, :: data.draw(step, "columns")]
    with cudakern.use_backend(name):
        check(variant, a, b)


@hypothesis.given(data=st.data())
def test_any_parameters(data):
    """Any value that a variant allows computes any small shape."""
    name, variant = data.draw(st.sampled_from([r for r in VARIANTS if r[1].parameters] or VARIANTS), "variant")
    given = {
        p.name: data.draw(
            st.sampled_from(p.choices)
            if p.choices
            else st.integers(p.low, min(p.high, 512)).map(lambda v, p=p: v - (v - p.low) % max(p.step, 1)),
            p.name,
        )
        for p in variant.parameters
    }
    shape = tuple(data.draw(st.integers(0, 24), which) for which in "mkn")
    with cudakern.use_backend(name):
        check(variant, *operands(shape, main_type(variant)), **given)


# --- out= ------------------------------------------------------------------------------------------------------------
OUTS = {
    "plain": lambda m, n, dtype: np.full((m, n), 7, dtype),
    "fortran": lambda m, n, dtype: np.full((m, n), 7, dtype, order="F"),
    "part_of_rows": lambda m, n, dtype: np.full((m, n + 5), 7, dtype)[:, 2:-3],
    "every_second": lambda m, n, dtype: np.full((2 * m, 2 * n), 7, dtype)[::2, ::2],
    "backwards": lambda m, n, dtype: np.full((m, n), 7, dtype)[::-1, ::-1],
    "misaligned": lambda m, n, dtype: np.zeros(m * n * dtype.itemsize + 1, np.uint8)[1:].view(dtype).reshape(m, n),
    "swapped": lambda m, n, dtype: np.full((m, n), 7, dtype.newbyteorder("S")),
    "double": lambda m, n, dtype: np.full((m, n), 7, np.float64),
    "complex": lambda m, n, dtype: np.full((m, n), 7, np.complex128),
}


@pytest.mark.parametrize("dtype, address", [("complex64", 4), ("complex128", 8), ("complex64", 3)])
def test_out_of_complex_numbers_between_multiples_of_their_size(backend, dtype, address):
    """NumPy calls the first two aligned."""
    ones = np.ones((5, 7), dtype)
    memory = np.zeros(16 + 49 * ones.itemsize, np.uint8)
    at = -memory.ctypes.data % 16 + address
    out = memory[at : at + 49 * ones.itemsize].view(dtype).reshape(7, 7)
    for into in (out, out.T, out[::-1, ::-1]):
        for _ in range(2):  # the second call is of a known kind
            out[...] = 0
            assert cudakern.matmul(ones.T, ones, into, variant="tiled") is into
            assert np.all(out == 5)
    out[...] = 0
    cudakern.asarray(np.full((7, 7), 5j, dtype)).get(out=out)
    assert np.all(out == 5j)


@pytest.mark.parametrize("form", OUTS)
@every_variant
def test_out_takes_any_layout(backend, variant, dtype, form):
    for shape in ((17, 33, 20), (3, 0, 4), (0, 2, 0)):
        a, b = operands(shape, dtype)
        out = OUTS[form](shape[0], shape[2], np.dtype(dtype))
        base = out.base if isinstance(out.base, np.ndarray) else out
        untouched = np.ones(base.shape, bool)
        if form in ("part_of_rows", "every_second"):
            untouched[(slice(None), slice(2, -3)) if form == "part_of_rows" else (slice(None, None, 2),) * 2] = False
            outside = base[untouched].copy()
        assert cudakern.matmul(a, b, out, variant=variant.name) is out
        errors = errors_of(out.real, a, b)
        assert errors.max(initial=0) <= variant.error_bound(a.shape, b.shape, dtype=dtype)
        if form in ("part_of_rows", "every_second"):
            assert np.array_equal(base[untouched], outside)


@every_variant
def test_out_may_overlap_the_operands(backend, variant, dtype):
    a, b = operands((24, 24, 24), dtype)
    expected = cudakern.matmul(a, b, variant=variant.name)
    for left, right in ((a.copy(), b), (a, b.copy()), (a.copy(), None)):
        out = left if right is b or right is None else right
        right = left if right is None else right
        want = cudakern.matmul(left.copy(), right.copy(), variant=variant.name)
        assert cudakern.matmul(left, right, out=out, variant=variant.name) is out
        assert np.array_equal(out, want)
    big = np.zeros((25, 24), dtype)
    big[:24] = a
    cudakern.matmul(big[:24], b, out=big[1:], variant=variant.name)
    assert np.array_equal(big[1:], expected)


@every_variant
def test_out_as_a_tuple(backend, variant, dtype):
    a, b = operands((3, 4, 5), dtype)
    out = np.empty((3, 5), dtype)
    assert cudakern.matmul(a, b, out=(out,), variant=variant.name) is out
    assert np.array_equal(out, cudakern.matmul(a, b, variant=variant.name))


@pytest.mark.parametrize("name, variant", [(n, v) for n in BACKENDS for v in ("auto", "numpy", "naive", "tiled")])
def test_out_that_does_not_fit(name, variant):
    a, b = operands((3, 4, 5), "float32")
    read_only = np.empty((3, 5), "float32")
    read_only.flags.writeable = False
    wrong = [
        (np.empty((5, 3), "float32"), ValueError),
        (np.empty(15, "float32"), ValueError),
        (np.empty((3, 6), "float32"), ValueError),
        (np.empty((3, 5), "int32"), TypeError),
        (read_only, ValueError),
        ([[0] * 5] * 3, TypeError),
        ("out", TypeError),
    ]
    with cudakern.use_backend(name):
        for out, error in wrong:
            with pytest.raises(error):
                cudakern.matmul(a, b, out=out, variant=variant)


# --- auto ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", "O"])
def test_auto_takes_what_numpy_takes(backend, dtype):
    draw = np.random.default_rng(3)
    for left, right in (
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((4,), (4, 2)),
        ((2, 4), (4,)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((0, 4), (4, 3)),
        ((3, 0), (0, 2)),
    ):
        a, b = (draw.integers(0, 3, shape).astype(dtype) for shape in (left, right))
        expected, result = np.matmul(a, b), cudakern.matmul(a, b)
        assert np.array_equal(result, expected)
        assert np.shape(result) == np.shape(expected)
        assert np.asarray(result).dtype == np.asarray(expected).dtype


def test_auto_promotes_and_wraps_as_numpy_does(backend):
    a, b = np.full((2, 2), 100, np.int8), np.full((2, 2), 100, np.int8)
    assert np.array_equal(cudakern.matmul(a, b), a @ b)
    assert cudakern.matmul(a, b.astype("float32")).dtype == (a @ b.astype("float32")).dtype


@pytest.mark.proves("matmul:auto")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_auto_is_as_accurate_as_numpy(backend, dtype):
    ours, theirs = [], []
    for seed in range(5):
        a, b = operands((30, 700, 30), dtype, seed, signed=False)
        ours.append(errors_of(cudakern.matmul(a, b), a, b))
        theirs.append(errors_of(a @ b, a, b))
    assert np.sqrt(np.mean(np.square(ours))) <= np.sqrt(np.mean(np.square(theirs)))


@pytest.mark.parametrize("chip", ["P100", "V100", "A100"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
def test_auto_on_chips_without_wgmma(chip, dtype):
    """For arrays on the device, of sizes for which it takes different variants."""
    variant = cudakern.variants(OPERATION)["fastest"]
    with cudakern.use_backend("emulator"), emulated_chip(chip):
        for shape in ((3, 5, 7), (40, 33, 40), (130, 70, 90), (2, 300, 64), (300, 40, 1)):
            a, b = operands(shape, dtype, 11)
            result = cudakern.matmul(cudakern.asarray(a), cudakern.asarray(b)).get()
            bound = variant.error_bound(a.shape, b.shape, dtype=a.dtype)
            assert np.max(errors_of(result, a, b)) <= bound, (chip, dtype, shape)


# --- errors ----------------------------------------------------------------------------------------------------------
def test_unknown_variant(backend):
    a = np.ones((2, 2), "float32")
    with pytest.raises(ValueError, match="tield") as caught:
        cudakern.matmul(a, a, variant="tield")
    text = str(caught.value)
    assert text.index("tiled") < text.index("naive")
    assert all(variant.name in text for variant in cudakern.variants(OPERATION))
    assert "\n" not in text


@every_variant
def test_types_that_the_variant_does_not_list(backend, variant, dtype):
    for other in ("int32", "float16", "float32", "float64", "complex64", "bool"):
        if other not in variant.types:
            with pytest.raises(TypeError, match=other) as caught:
                cudakern.matmul(np.zeros((2, 2), other), np.zeros((2, 2), other), variant=variant.name)
            assert all(kind in str(caught.value) for kind in variant.types)


@pytest.mark.parametrize("name, variant", VARIANTS, ids=label)
def test_mixed_types(name, variant):
    one, other = main_type(variant), other_type(variant)
    with cudakern.use_backend(name), pytest.raises(TypeError, match=other) as caught:
        cudakern.matmul(np.zeros((2, 2), one), np.zeros((2, 2), other), variant=variant.name)
    assert one in str(caught.value)


@every_variant
def test_parameters_that_the_variant_does_not_have(backend, variant, dtype):
    a = np.zeros((2, 2), dtype)
    with pytest.raises(TypeError, match="tyle") as caught:
        cudakern.matmul(a, a, variant=variant.name, tyle=3)
    assert variant.name in str(caught.value)
    assert all(p.name in str(caught.value) for p in variant.parameters)


@every_variant
def test_values_that_a_parameter_does_not_take(backend, variant, dtype):
    a = np.zeros((2, 2), dtype)
    for p in variant.parameters:
        for wrong in {min(p.choices or [p.low]) - 1, max(p.choices or [p.high]) + 1, 2**70}:
            with pytest.raises(ValueError, match=p.name) as caught:
                cudakern.matmul(a, a, variant=variant.name, **{p.name: wrong})
            assert str(wrong) in str(caught.value)
            assert p.allowed in str(caught.value)
        with pytest.raises(TypeError, match=p.name):
            cudakern.matmul(a, a, variant=variant.name, **{p.name: 16.0})


@pytest.mark.parametrize("name, variant", VARIANTS, ids=label)
def test_shapes_that_do_not_fit(name, variant):
    kind = np.dtype(main_type(variant))
    with cudakern.use_backend(name):
        with pytest.raises(ValueError, match="3") as caught:
            cudakern.matmul(np.zeros((2, 3), kind), np.zeros((4, 2), kind), variant=variant.name)
        assert "4" in str(caught.value)
        with pytest.raises(ValueError, match="scalar"):
            cudakern.matmul(kind.type(2), np.zeros((4, 2), kind), variant=variant.name)
        with pytest.raises(ValueError, match="do not broadcast"):
            cudakern.matmul(np.zeros((2, 4, 3), kind), np.zeros((3, 3, 5), kind), variant=variant.name)


def test_a_variant_that_does_not_fit_shared_memory(backend):
    """A long row of A is walked in segments."""
    for name in ("shared_row", "pitched"):
        for k in (12_000, 70_000):
            check(cudakern.variants(OPERATION)[name], *operands((2, k, 3), "float32"))


def test_work_is_two_operations_a_product():
    m, k, n = 10, 20, 30
    flops, _ = native("emulator").work(OPERATION, ((m, k), (k, n)), "float32")
    assert flops == 2 * m * n * k


def test_keywords_of_numpy_that_are_not_taken(backend):
    a = np.ones((2, 2))
    for keyword in ("casting", "axes", "dtype", "where"):
        with pytest.raises(TypeError, match=keyword):
            cudakern.matmul(a, a, **{keyword: None})


@pytest.mark.parametrize("backend, variant", VARIANTS, ids=label, indirect=["backend"])
def test_longlong_stays_longlong(backend, variant):
    """NumPy has two types of 64-bit integers that are equal and not the same; a result is of the operands' one."""
    if "int64" not in variant.types:
        pytest.skip(f"{variant.name} does not list int64")
    for shape in ((3, 3), (3,)):
        for kind in (np.dtype("q"), np.dtype("l"), np.dtype("q")):
            for _ in range(2):  # the second call is of a known kind
                result = cudakern.matmul(np.ones(shape, kind), np.ones(shape, kind), variant=variant.name)
                assert result.dtype.type is kind.type


def test_auto_explains_shapes_in_our_words():
    for a, b, words in (
        (np.ones((2, 3), object), np.ones((2, 3), object), "a has 3 columns and b has 2 rows; these must"),
        (np.ones((2, 3)), np.ones((2, 3)), "a has 3 columns and b has 2 rows; these must"),
        (np.ones((2, 3)), 2.0, "b is a scalar"),
        (np.ones((2, 1, 1)), np.ones((3, 1, 1)), "do not broadcast"),
    ):
        for name in ("auto", "numpy"):
            with pytest.raises(ValueError, match=words) as caught:
                cudakern.matmul(a, b, variant=name)
            assert "signature" not in str(caught.value)


def test_auto_keeps_longlong_where_a_kernel_computes(monkeypatch):
    """As NumPy does. (On a machine without a GPU, "auto" is NumPy itself unless it is told otherwise.)"""
    from cudakern.calls import on_host

    monkeypatch.setattr(on_host, "answers_at_once", lambda here: True)
    x = np.arange(5).astype(np.longlong)
    for result in (cudakern.matmul(x, x), cudakern.matmul(x, x, variant="tiled")):
        assert type(result) is np.longlong
        assert result == np.matmul(x, x)
    y = x.astype(np.int_)
    for a, b in ((x, y), (y, x), (y, y)):
        assert type(cudakern.matmul(a, b)) is type(np.matmul(a, b))
