"""The kernels of matmul by themselves, past the rules of cudakern.matmul: every type of every variant, stacks, and
operands that lie in memory in any way that ck_execute takes (csrc/runtime/runtime.h)."""

import itertools
import os

import numpy as np
import pytest

import cudakern
from cases import (
    in_strides_of,
    label,
    main_type,
    native,
    numbers,
    product_reference,
    relative_error,
    result_type,
    settings,
    variants,
)
from cudakern.measure.resources import launches_of

pytestmark = pytest.mark.proves()

OPERATION = "matmul"
VARIANTS = list(variants(OPERATION, host=False))
TYPES = [(name, variant, dtype) for name, variant in VARIANTS for dtype in variant.types]
SHAPES = ((1, 1, 1), (16, 16, 16), (17, 33, 65), (3, 0, 2), (0, 3, 2), (2, 3, 0), (40, 7, 29), (1, 257, 3))


def some(kinds):
    """The cases of those kinds of numbers: "b", "i", "u", "f", "c" as NumPy has them."""
    return [case for case in TYPES if kind_of(case[2]) in kinds]


def kind_of(dtype):
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind


def each(cases):
    return pytest.mark.parametrize("backend, variant, dtype", cases, ids=label, indirect=["backend"])


each_variant = pytest.mark.parametrize("backend, variant", VARIANTS, ids=label, indirect=["backend"])


# bfloat16 is the upper half of a float32. NumPy has no such type: values are kept as float32 and handed over as bits.
def storage(dtype):
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def fill(shape, dtype, seed=0, signed=True):
    """Random numbers that the type holds; bfloat16 as float32."""
    x = numbers(shape, storage(dtype), seed, signed)
    return (x.view("uint32") & 0xFFFF0000).view("float32") if dtype == "bfloat16" else x


def handed(x, dtype):
    """x as the C module takes it: bfloat16 as bits, which lie as x does."""
    return (in_strides_of(x, upper_halves(x)), dtype) if dtype == "bfloat16" else x


def upper_halves(x):
    return (x.view("uint32") >> 16).astype("uint16")


def as_floats(bits):
    return (bits.astype("uint32") << 16).view("float32")


def product(variant, a, b, out=None, dtype=None, **parameters):
    """The kernel's result for operands as they lie in memory; arrays of a stack have equal axes."""
    dtype = dtype or a.dtype.name
    here = cudakern.backend()
    shape = (*a.shape[:-1], b.shape[-1])
    if out is None:
        out = np.full(shape, 7, "uint16" if dtype == "bfloat16" else variant.signature(dtype)[2])
    inputs, outputs = (handed(a, dtype), handed(b, dtype)), ((out, dtype) if dtype == "bfloat16" else out,)
    here.native.execute(OPERATION, variant.name, variant.values(parameters), inputs, outputs, here.device, False, 0)
    return as_floats(out) if dtype == "bfloat16" else out


def errors_of(result, a, b):
    """Relative errors; of integers and bool 0 or 1."""
    assert result.shape == (*a.shape[:-1], b.shape[-1])
    if a.dtype.kind in "biu":
        return (result != np.matmul(a, b, dtype=result.dtype)).astype(float)
    reference, magnitude = product_reference(a, b)
    # below the smallest normal number, numbers lie as far apart as there
    return relative_error(result, reference, np.maximum(magnitude, np.finfo(a.dtype).tiny))


def check(variant, a, b, dtype=None, out=None, **parameters):
    dtype = dtype or a.dtype.name
    errors = errors_of(product(variant, a, b, out, dtype, **parameters), a, b)
    assert errors.max(initial=0) <= variant.error_bound(a.shape[-2:], b.shape[-2:], dtype=dtype, **parameters)
    return errors


# --- every type ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", SHAPES, ids=label)
@each(TYPES)
def test_every_type_and_shape(backend, variant, dtype, shape):
    m, k, n = shape
    check(variant, fill((m, k), dtype), fill((k, n), dtype, 1), dtype)


@each([(name, variant, dtype) for name, variant, dtype in TYPES if variant.parameters])
def test_every_tile(backend, variant, dtype):
    for parameters in settings(variant):
        check(variant, fill((33, 21), dtype), fill((21, 35), dtype, 1), dtype, **parameters)


@pytest.mark.parametrize(
    "shape", [(141, 77, 279), *(pytest.param((m, 9, 130), marks=pytest.mark.full) for m in (1100, 530))], ids=label
)
@each([case for case in TYPES if case[2] in ("float32", "float64", "bfloat16")])
def test_many_blocks_in_both_directions(backend, variant, dtype, shape):
    """More than one block's tile down and across, whatever its size, and the last of each is not whole."""
    m, k, n = shape
    a, b = fill((m, k), dtype), fill((k, n), dtype, 1)
    columns_first = np.asfortranarray
    for parameters in settings(variant):
        if k < 10 and {"parts", "groups"} & {*parameters}:
            continue  # of so short a k
        check(variant, a, b, dtype, **parameters)
        check(variant, columns_first(a), columns_first(b), dtype, **parameters)


@each([case for case in TYPES if case[1].name == "few_rows"])
def test_one_row_and_many_columns(backend, variant, dtype):
    """Blocks of few columns that have all of k, or else parts of it that another kernel adds."""
    for k, n in ((700, 3304), (515, 5003), (64, 3208), (1, 3200), (1100, 300)):
        a, b = fill((1, k), dtype), fill((k, n), dtype, 1)
        for laid_out in (b, np.asfortranarray(b), b[::-1, ::-1], np.pad(b, ((0, 0), (1, 2)))[:, 1 : n + 1]):
            check(variant, a, laid_out, dtype)
        check(variant, b.T, a.T, dtype)
        if dtype == "float32" and k > 1:
            kernels = [x.kernel for x in launches_of(lambda a=a, b=b: cudakern.matmul(a, b, variant="few_rows"))]
            assert kernels == (["few_across"] if n % 8 == 0 else ["few_across", "add_groups"])
    check(variant, fill((40, 1, 100), dtype), fill((40, 100, 200), dtype, 1), dtype)


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize(
    "backend, dtype",
    list(dict.fromkeys((name, dtype) for name, _, dtype in TYPES)),
    ids=label,
    indirect=["backend"],
)
def test_random_shapes(backend, dtype, part):
    """300 shapes per type on a GPU and 20 on the emulator, new in each run: extents are drawn log-uniformly, and each
    product by another variant with other parameters."""
    seed = int.from_bytes(os.urandom(4))
    print("seed", seed)  # of a failure
    draw = np.random.default_rng(seed)
    here = cudakern.backend().name
    some = [variant for name, variant, kind in TYPES if (name, kind) == (here, dtype)]
    most = (
        2**18
        if here == "emulator"
        else 2**23
        if kind_of(dtype) in "biu" or np.dtype(storage(dtype)).itemsize >= 8
        else 2**27
    )
    for _ in range(2 if here == "emulator" else 30):
        variant = some[draw.integers(len(some))]
        parameters = draw.choice(list(settings(variant))) if variant.parameters else {}
        m = n = k = most
        while m * n * k > most:
            m, n, k = (int(x) for x in np.exp(draw.uniform(0, np.log(4096), 3)))
        print(variant.name, parameters, m, n, k)
        a, b = fill((m, k), dtype, seed), fill((k, n), dtype, seed + 1)
        by_columns = draw.integers(2, size=2)
        a, b = (np.asfortranarray(x) if columns else x for x, columns in zip((a, b), by_columns, strict=True))
        check(variant, a, b, dtype, **parameters)


@each(some("fc"))
def test_root_mean_square_of_the_error(backend, variant, dtype):
    errors = [
        check(variant, fill((12, 300), dtype, s, False), fill((300, 9), dtype, 9 + s, False), dtype) for s in (1, 2)
    ]
    bound = variant.error_bound((12, 300), (300, 9), dtype=dtype, rms=True)
    assert np.sqrt(np.mean(np.square(errors))) <= bound


@each(some("iu"))
def test_integers_wrap_at_the_ends_of_their_range(backend, variant, dtype):
    ends = np.iinfo(dtype)
    for left in (ends.min, ends.max):
        for right in (ends.min, ends.max):
            check(variant, np.full((3, 5), left, dtype), np.full((5, 2), right, dtype))


@each(some("b"))
def test_bool_is_or_of_ands(backend, variant, dtype):
    """Not a count: 256 and 65536 of them would be 0 again."""
    for k in (0, 1, 256, 65536):
        assert product(variant, np.ones((1, k), bool), np.ones((k, 2), bool)).tolist() == [[k > 0] * 2]
    a, b = np.eye(4, dtype=bool), np.tri(4, dtype=bool)
    assert np.array_equal(product(variant, a, b), b)
    assert np.array_equal(product(variant, ~a, ~a), np.ones((4, 4), bool))


@each(some("b"))
def test_any_byte_but_0_is_true(backend, variant, dtype):
    a, b = (np.array(x, "uint8").view(bool) for x in ([[0, 2, 0], [128, 0, 255]], [[1, 0], [1, 64], [0, 0]]))
    assert product(variant, a, b).view("uint8").tolist() == [[1, 1], [1, 0]]


@each([case for case in TYPES if case[2] in ("float16", "bfloat16")])
def test_half_precision_is_rounded_once_at_the_end(backend, variant, dtype):
    """Sums of ones in half precision would stop at 2048 (bfloat16: 256); halves between two numbers go to the even."""
    ones = np.ones((1, 4096), storage(dtype))
    assert product(variant, ones, ones.T.copy(), dtype=dtype).item() == 4096
    last = 2048 if dtype == "float16" else 256  # from here on only every second integer is there
    for count, rounded in ((last + 1, last), (last + 3, last + 4)):
        ones = np.ones((1, count), storage(dtype))
        assert product(variant, ones, ones.T.copy(), dtype=dtype).item() == rounded
    large = np.array([[60000, 60000, -60000, -60000]], storage("float32")).astype(storage(dtype))
    if dtype == "float16":  # in between, the sum is too large for the type
        assert product(variant, large, np.ones((4, 1), dtype)).item() == 0
        assert product(variant, large[:, :2].copy(), np.ones((2, 1), dtype)).item() == np.inf


@each_variant
def test_a_sum_that_overflows_on_the_way_is_infinite(backend, variant):
    """Tensor cores cut off what they add, but not to the largest number, from which a later term would come off."""
    for dtype in (name for name in variant.types if kind_of(name) == "f"):
        exponent = 127 if dtype == "bfloat16" else np.finfo(dtype).maxexp - 1
        a, b = np.zeros((9, 304), storage(dtype)), np.ones((304, 10), storage(dtype))
        a[:, :3], a[:, 303] = 2.0**exponent, -(2.0 ** (exponent - 2))
        for sign in (1, -1):
            result = product(variant, (sign * a).astype(a.dtype), b, dtype=dtype)
            assert np.all((result == sign * np.inf) | (variant.compensated & np.isnan(result)))


@each(some("fc"))
def test_infinities_and_nan_are_where_the_plain_formula_has_them(backend, variant, dtype):
    for special in (np.inf, -np.inf, np.nan):
        for at in ((0, 0), (4, 16), (2, 5)):
            a, b = fill((5, 17), dtype), fill((17, 6), dtype, 1)
            a[at] = special
            assert_same_specials(product(variant, a, b, dtype=dtype), a, b)
            a, b = fill((6, 17), dtype, 2), fill((17, 5), dtype, 3)
            b.T[at] = special
            assert_same_specials(product(variant, a, b, dtype=dtype), a, b)
    a, b = fill((3, 20), dtype), fill((20, 3), dtype, 1)
    a[0, 3], a[0, 18], a[1, 2], b[7, 1] = np.inf, -np.inf, np.nan, np.inf
    assert_same_specials(product(variant, a, b, dtype=dtype), a, b)


def assert_same_specials(result, a, b):
    with np.errstate(invalid="ignore"):
        if a.dtype.kind == "c":
            parts = (a.real @ b.real - a.imag @ b.imag, a.real @ b.imag + a.imag @ b.real)
            pairs = zip((result.real, result.imag), parts, strict=True)
        else:
            pairs = ((result, a.astype("float64") @ b.astype("float64")),)
        for got, expected in pairs:
            odd = ~np.isfinite(expected)
            assert odd.any() or a.dtype.kind == "c"
            assert np.array_equal(got[odd], expected[odd].astype(got.dtype), equal_nan=True)
            assert np.isfinite(got[~odd]).all()


# --- any way of lying in memory --------------------------------------------------------------------------------------
WAYS = {
    "rows": lambda x: x.copy(),
    "columns": lambda x: x.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "rows_apart": lambda x: np.concatenate([x, x], -1)[..., : x.shape[-1]],
    "columns_apart": lambda x: (
        np.concatenate([x, x], -2).swapaxes(-1, -2).copy().swapaxes(-1, -2)[..., : x.shape[-2], :]
    ),
    "one_row": lambda x: np.broadcast_to(x[..., :1, :].copy(), x.shape),
    "one_column": lambda x: np.broadcast_to(x[..., :1].copy(), x.shape),
    "one_element": lambda x: np.broadcast_to(x[..., :1, :1].copy(), x.shape),
}


@pytest.mark.parametrize("left", WAYS)
@each_variant
def test_operands_in_any_order_of_memory(backend, variant, left):
    for right in WAYS:
        for dtype in {main_type(variant), variant.types[-1]}:
            a, b = WAYS[left](fill((19, 23), dtype)), WAYS[right](fill((23, 18), dtype, 1))
            check(variant, a, b, dtype)
            check(variant, WAYS[left](fill((2, 9, 11), dtype)), WAYS[right](fill((2, 11, 10), dtype, 1)), dtype)


@each_variant
def test_results_in_any_order_of_memory(backend, variant):
    dtype = main_type(variant)
    a, b = fill((2, 3, 19, 23), dtype), fill((2, 3, 23, 18), dtype, 1)
    result = result_type(variant)
    wide = np.full((2, 3, 25, 30), 7, result)
    for out in (
        np.empty((2, 3, 18, 19), result).swapaxes(-1, -2),
        np.empty((3, 2, 19, 18), result).swapaxes(0, 1),
        wide[..., 3:22, 5:23],
    ):
        check(variant, a, b, out=out)
    wide[..., 3:22, 5:23] = 7
    assert (wide == 7).all()


STACKS = {
    "one": lambda dtype: (fill((1, 5, 7), dtype), fill((1, 7, 6), dtype, 1)),
    "plain": lambda dtype: (fill((4, 5, 7), dtype), fill((4, 7, 6), dtype, 1)),
    "four_axes": lambda dtype: (fill((2, 3, 5, 7), dtype), fill((2, 3, 7, 6), dtype, 1)),
    "sixteen_axes": lambda dtype: (fill((1, 2) * 7 + (2, 3), dtype), fill((1, 2) * 7 + (3, 2), dtype, 1)),
    "one_matrix_many_times": lambda dtype: (
        fill((6, 5, 7), dtype),
        np.broadcast_to(fill((7, 6), dtype, 1), (6, 7, 6)),
    ),
    "many_by_one": lambda dtype: (np.broadcast_to(fill((5, 7), dtype), (6, 5, 7)), fill((6, 7, 6), dtype, 1)),
    "each_by_each": lambda dtype: (
        np.broadcast_to(fill((3, 1, 5, 7), dtype), (3, 4, 5, 7)),
        np.broadcast_to(fill((4, 7, 6), dtype, 1), (3, 4, 7, 6)),
    ),
    "every_other_axis": lambda dtype: (
        np.broadcast_to(fill((2, 1, 3, 1, 5, 7), dtype), (2, 2, 3, 3, 5, 7)),
        np.broadcast_to(fill((1, 2, 1, 3, 7, 6), dtype, 1), (2, 2, 3, 3, 7, 6)),
    ),
    "six_axes_by_turns": lambda dtype: (
        np.broadcast_to(fill((2, 1, 2, 1, 2, 1, 3, 4), dtype), (2,) * 6 + (3, 4)),
        np.broadcast_to(fill((1, 2, 1, 2, 1, 2, 4, 2), dtype, 1), (2,) * 6 + (4, 2)),
    ),
    "axes_in_another_order": lambda dtype: (
        fill((2, 3, 4, 5, 7), dtype).transpose(2, 0, 1, 3, 4),
        fill((4, 3, 2, 7, 6), dtype, 1).swapaxes(1, 2),
    ),
    "backwards": lambda dtype: (fill((4, 5, 7), dtype)[::-1], fill((8, 7, 6), dtype, 1)[::-2]),
    "transposed": lambda dtype: (
        fill((3, 7, 5), dtype).swapaxes(-1, -2),
        np.broadcast_to(fill((6, 7), dtype, 1).T, (3, 7, 6)),
    ),
    "empty": lambda dtype: (fill((2, 0, 5, 7), dtype), fill((2, 0, 7, 6), dtype, 1)),
    "of_empty_matrices": lambda dtype: (fill((3, 0, 7), dtype), fill((3, 7, 6), dtype, 1)),
    "of_no_products": lambda dtype: (fill((3, 5, 0), dtype), fill((3, 0, 6), dtype, 1)),
}


@pytest.mark.parametrize("form", STACKS)
@each_variant
def test_stacks(backend, variant, form):
    check(variant, *STACKS[form](main_type(variant)))


@each([case for case in TYPES if case[2] not in ("float32", "float64")])
def test_stacks_of_every_type(backend, variant, dtype):
    a, b = fill((2, 3, 9, 10), dtype), fill((3, 10, 8), dtype, 1)
    check(variant, a, np.broadcast_to(b, (2, 3, 10, 8)), dtype)


def smallest_tiles(variant):
    """The parameters that give the smallest blocks; 0 leaves the choice to the variant."""
    return {p.name: min(choice for choice in p.choices if choice) for p in variant.parameters}


def results_per_block(variant):
    x = np.zeros((256, 256), main_type(variant))
    values = variant.values(smallest_tiles(variant))
    kernels = native("emulator").kernels(
        OPERATION, variant.name, values, (x, x), (x.astype(result_type(variant)),), 0, ()
    )
    return x.size // np.prod(kernels[0]["grid"])


#: Where a block computes many results, one that has a single one to compute takes the emulator long: two variants of
#: that kind stand for all, in the full product, since they share what goes through a stack (launches/common.cuh).
FEW_RESULTS = [case for case in VARIANTS if results_per_block(case[1]) <= 32 * 32]
MANY_RESULTS = [case for case in VARIANTS if case not in FEW_RESULTS]


def only(cases, *chosen):
    """The cases, on every backend, of the chosen ones' variants."""
    names = {variant.name for _, variant in chosen}
    return [case for case in cases if case[1].name in names]


def full(cases):
    return [pytest.param(*case, marks=pytest.mark.full) for case in cases]


AUTO = [case for case in FEW_RESULTS if case[1].name == "fastest"]  # which runs one that is slow here
LONG = [case for case in FEW_RESULTS if case not in AUTO]
LONG += full(only(MANY_RESULTS, MANY_RESULTS[0], MANY_RESULTS[-1]) + AUTO)
ONE_OF_EACH = only(VARIANTS, FEW_RESULTS[0]) + full(only(VARIANTS, MANY_RESULTS[0]))


@pytest.mark.shared
@pytest.mark.parametrize("backend, variant", LONG, ids=label, indirect=["backend"])
def test_stacks_longer_than_a_grid(backend, variant):
    """A grid has at most 65535 blocks in z: the launches that follow go on where the one before ended."""
    draw = np.random.default_rng(0)
    a = draw.integers(-9, 9, (66_000, 1, 2)).astype(main_type(variant))
    b = draw.integers(-9, 9, (66_000, 2, 1)).astype(main_type(variant))
    assert np.array_equal(product(variant, a, b, **smallest_tiles(variant)), a @ b)


@pytest.mark.parametrize("lengths", [(2, 66_000), (22_000, 3)], ids=label)
@pytest.mark.parametrize("backend, variant", ONE_OF_EACH, ids=label, indirect=["backend"])
def test_stacks_that_are_cut_along_two_axes(backend, variant, lengths):
    """The left operand has a matrix for every product, the right one only for every place of the outer axis."""
    outer, within = lengths
    draw = np.random.default_rng(1)
    a = draw.integers(-9, 9, (outer, within, 1, 2)).astype(main_type(variant))
    b = np.broadcast_to(draw.integers(-9, 9, (outer, 1, 2, 1)).astype(a.dtype), (outer, within, 2, 1))
    assert np.array_equal(product(variant, a, b, **smallest_tiles(variant)), a @ b)


@pytest.mark.full
def test_more_rows_than_a_grid_has_blocks(backend):
    """A grid has at most 65535 blocks in y: where blocks are squares, the rows below them are further launches'."""
    here = cudakern.backend()
    squares = 0
    for name, variant in VARIANTS:
        values = {p.name: min(p.choices) for p in variant.parameters}
        one = (np.ones((1, 1), main_type(variant)),)
        out = (np.ones((1, 1), result_type(variant)),)
        report = here.native.execute(
            OPERATION, variant.name, variant.values(values), one * 2, out, here.device, True, 0
        )
        side = report["block"][1]
        if name == backend and side > 1:
            squares += 1
            m = 65535 * side + 3
            a = (np.arange(2 * m) % 11).astype(main_type(variant)).reshape(2, m, 1)[::-1]
            b = np.array([[[2]], [[3]]], a.dtype)
            assert np.array_equal(product(variant, a, b, **values), a * b), variant.name
    assert squares > 3


@each_variant
def test_orders_of_threads_and_blocks_in_stacks(backend, variant, order):
    a, b = fill((3, 19, 40), main_type(variant)), fill((3, 40, 21), main_type(variant), 1)
    results = []
    for name in ("fixed", "reversed", "seed:4") if backend == "emulator" else ("as it comes",) * 3:
        if backend == "emulator":
            order(name)
        results.append(product(variant, a, b).tobytes())
    assert len(set(results)) == 1


# --- arrays on the device: kernels get them as they lie --------------------------------------------------------------
LIES = {
    "rows": lambda x: x.copy(),
    "columns": lambda x: x.swapaxes(-1, -2).copy().swapaxes(-1, -2),
    "backwards": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1],
    "apart": lambda x: x.repeat(3, -2).repeat(2, -1)[..., ::3, ::2],
    "inside_out": lambda x: x.T.copy().T,
    "stack_backwards": lambda x: x[::-1, :, ::-1].copy()[::-1, :, ::-1],
    "stack_exchanged": lambda x: x.swapaxes(0, 1).copy().swapaxes(0, 1),
}


def on_device(x, dtype):
    """An array's whole memory on the device, and the view of it that the array is; bfloat16 of float32."""
    root = x
    while root.base is not None:
        root = root.base
    here = cudakern.backend()
    memory = here.native.empty(root.shape, dtype, here.device, 0)
    here.native.upload(memory, (upper_halves(root), dtype) if dtype == "bfloat16" else root, 0)
    narrower = 2 if dtype == "bfloat16" else 1
    offset, strides = (x.ctypes.data - root.ctypes.data) // narrower, tuple(step // narrower for step in x.strides)
    return memory, here.native.view(memory, offset, x.shape, strides, dtype)


def from_device(memory, dtype):
    """All that is in the memory; bfloat16 as float32."""
    out = np.full(memory.shape, 1, "uint16" if dtype == "bfloat16" else dtype)
    native(cudakern.backend().name).download((out, dtype) if dtype == "bfloat16" else out, memory, 0)
    return as_floats(out) if dtype == "bfloat16" else out


#: (right operand, result): each once, and in the full product each with each.
PAIRS = {
    "some": list(zip(LIES, [*list(LIES)[2:], *list(LIES)[:2]], strict=True)),
    "all": list(itertools.product(LIES, LIES)),
}


@pytest.mark.parametrize("pairs", ["some", pytest.param("all", marks=pytest.mark.full)])
@pytest.mark.parametrize("left", LIES)
@each_variant
def test_arrays_on_the_device_in_any_order_of_memory(backend, variant, left, pairs):
    here = cudakern.backend()
    values = variant.values({})
    for dtype in {main_type(variant), variant.types[-1]}:
        a, b = fill((2, 3, 9, 11), dtype), fill((2, 3, 11, 10), dtype, 1)
        result_dtype, bound = variant.signature(dtype)[2], variant.error_bound((9, 11), (11, 10), dtype=dtype)
        for right, result in PAIRS[pairs]:
            out = LIES[result](np.full((2, 3, 9, 10), 7, storage(result_dtype)))
            memory, view = on_device(out, result_dtype)
            inputs = on_device(LIES[left](a), dtype)[1], on_device(LIES[right](b), dtype)[1]
            here.native.execute(OPERATION, variant.name, values, inputs, (view,), here.device, False, 0)
            after = from_device(memory, result_dtype)
            offset = (view.pointer - memory.pointer) * (2 if dtype == "bfloat16" else 1)
            root = np.ndarray(out.shape, after.dtype, after, offset, out.strides)
            assert errors_of(root, a, b).max() <= bound, (left, right, result)
            root[...] = 7
            assert (after == 7).all(), "what lies between the elements was written"


# --- what a variant says of itself, and what it refuses --------------------------------------------------------------
@each_variant
def test_shapes_that_do_not_fit(backend, variant):
    for left, right, out in (
        ((2, 3), (4, 2), (2, 2)),
        ((2, 3), (3, 2), (2, 3)),
        ((2, 3), (3, 2), (3, 2)),
        ((3,), (3, 2), (2,)),
        ((4, 2, 3), (3, 3, 2), (4, 2, 2)),
        ((4, 2, 3), (4, 3, 2), (5, 2, 2)),
        ((4, 2, 3), (3, 2), (4, 2, 2)),
    ):
        dtype = main_type(variant)
        before = np.full(out, 7, result_type(variant))
        with pytest.raises(ValueError, match="do not match"):
            product(variant, np.zeros(left, dtype), np.zeros(right, dtype), before)
        assert (before == 7).all()


@pytest.mark.parametrize(
    "dtype, left, right, flops, words",
    [
        ("float32", (10, 20), (20, 30), 2 * 6000, 200 + 600 + 300),
        ("int8", (10, 20), (20, 30), 2 * 6000, 200 + 600 + 300),
        ("complex64", (10, 20), (20, 30), 8 * 6000, 200 + 600 + 300),
        ("float32", (5, 10, 20), (20, 30), 5 * 2 * 6000, 5 * 200 + 600 + 5 * 300),
        ("float64", (2, 1, 10, 20), (3, 20, 30), 6 * 2 * 6000, 2 * 200 + 3 * 600 + 6 * 300),
        ("float32", (5, 10, 0), (5, 0, 30), 0, 5 * 300),
        ("float32", (0, 10, 20), (20, 30), 0, 600),
    ],
)
def test_work_of_an_operation(dtype, left, right, flops, words):
    counted = native("emulator").work(OPERATION, (left, right), dtype)
    assert counted == (flops, words * np.dtype(dtype).itemsize)


def test_a_variant_of_every_type():
    """Arrays of every type that DESIGN lists can be multiplied on the device, also by the compensated variant."""
    types = (
        "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 complex64 complex128"
    )
    for name in ("naive", "tiled"):
        variant = cudakern.variants(OPERATION)[name]
        assert set(variant.types) == set(types.split())
        assert all(variant.signature(half) == (half, "float32", half) for half in ("float16", "bfloat16"))
