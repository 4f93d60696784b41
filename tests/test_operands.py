"""How operands get to the kernels: stacks, transposed and broadcast arrays of the host, any strides on the device.

Past Python, which would copy some of them: what is held here is the runtime's own part (csrc/runtime/layout.c,
operand.c). Every variant of matmul, since each asks for another layout."""

import mmap

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import cudakern
from cases import (
    BACKENDS,
    in_type,
    label,
    main_type,
    native,
    numbers,
    product_reference,
    relative_error,
    result_type,
    variants,
)
from views import like, up

pytestmark = pytest.mark.shared  # what is held here is code of the runtime

VARIANTS = list(variants("matmul", host=False))
every_variant = pytest.mark.parametrize("name, variant", VARIANTS, ids=label)
every_backend = pytest.mark.parametrize("name", BACKENDS)
M, K, N = 19, 33, 10
NORESERVE = 0x4000  # of mmap, on Linux; not in every Python


def stacks(dtype):
    """(what it is, a, b) in the strides that ck_execute takes from the host."""
    a, b = numbers((2, 3, M, K), dtype, 1), numbers((2, 3, K, N), dtype, 2)
    at, bt = numbers((2, 3, K, M), dtype, 3).swapaxes(2, 3), numbers((2, 3, N, K), dtype, 4).swapaxes(2, 3)
    wide = numbers((2, 3, M, 2 * K), dtype, 5)
    one = numbers((1, 1), dtype, 6)
    rows_in_one = np.lib.stride_tricks.as_strided(numbers(M + K, dtype, 7), (M, K), (a.itemsize, a.itemsize))
    return {
        "matrices": (a[0, 0], b[0, 0]),
        "stack": (a[0], b[0]),
        "stack of stacks": (a, b),
        "transposed": (at[0, 0], bt[0, 0]),
        "stack of transposed": (at, b),
        "both transposed": (at[0], bt[0]),
        "one b for all": (a, np.broadcast_to(b[0, 0], b.shape)),
        "one transposed a for all": (np.broadcast_to(at[0, 0], at.shape), b),
        "one in an inner axis": (np.broadcast_to(a[:, :1], a.shape), np.broadcast_to(b[1], b.shape)),
        "rows apart": (wide[0, 0, :, :K], b[0, 0]),
        "stack of rows apart": (wide[..., 1 : K + 1], b),
        "columns apart": (a[0, 0], np.broadcast_to(numbers((N, 2 * K), dtype, 8)[:, K:].T, (K, N))),
        "every second matrix": (a[:, ::2], b[:, ::2]),
        "matrices backwards": (a[::-1, ::-1], b),
        "axes of the stack exchanged": (a.swapaxes(0, 1), b.swapaxes(0, 1)),
        "one row for all": (np.broadcast_to(a[0, 0, :1], (M, K)), b[0, 0]),
        "one column for all": (np.broadcast_to(a[0, 0, :, :1], (M, K)), np.broadcast_to(b[0, 0, :, :1], (K, N))),
        "one number for all": (np.broadcast_to(one, (3, M, K)), b[0]),
        "a column of a matrix": (a[0, 0, :, 3:4], b[0, 0, :1]),
        "a row of a transposed one": (at[0, 0, 3:4], b[0, 0]),
        "rows that overlap": (rows_in_one, b[0, 0]),
        "nothing": (a[:0], b[:0]),
        "an inner zero": (a[..., :0], b[..., :0, :]),
        "no rows": (a[..., :0, :], np.broadcast_to(b[0], b.shape)),
    }


def outputs(shape, dtype):
    """(what it is, an array for results, all the memory that it lies in)."""
    *stack, m, n = shape
    plain = np.full(shape, 7, dtype)
    yield "plain", plain, plain
    apart = np.full((*stack, m, n + 5), 7, dtype)
    yield "rows apart", apart[..., 2 : n + 2], apart
    transposed = np.full((*stack, n, m), 7, dtype)
    yield "transposed", transposed.swapaxes(-1, -2), transposed
    if stack:
        double = np.full((2 * stack[0], *shape[1:]), 7, dtype)
        yield "every second matrix", double[::2], double
        backwards = np.full(shape, 7, dtype)
        yield "matrices backwards", backwards[::-1], backwards


def check(variant, result, a, b):
    """An element in the wrong place is off by far more than any variant's bound."""
    reference, magnitude = product_reference(a, b, result.dtype)
    assert result.shape == reference.shape
    if result.dtype.kind in "biu":
        assert np.array_equal(result, reference)
    else:
        # below the smallest normal number, numbers lie as far apart as there
        errors = relative_error(result, reference, np.maximum(magnitude, np.finfo(result.dtype).tiny))
        assert errors.max(initial=0) <= variant.error_bound(a.shape, b.shape, dtype=result.dtype)


def untouched(memory, view):
    """True if only the view's elements were written."""
    mask = np.ones(memory.shape, bool)
    place = np.lib.stride_tricks.as_strided(np.arange(memory.size).reshape(memory.shape), memory.shape)
    inside = np.zeros(memory.size, bool)
    start = (view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]) // memory.itemsize
    offsets = np.full(view.shape, start)
    for axis, step in enumerate(view.strides):
        along = np.arange(view.shape[axis]) * (step // memory.itemsize)
        offsets = offsets + along.reshape([-1 if i == axis else 1 for i in range(view.ndim)])
    inside[offsets.ravel()] = True
    mask = ~inside[place]
    return bool((memory[mask] == 7).all())


@pytest.mark.parametrize("what", stacks("float32"))
@every_variant
def test_host_operands(name, variant, what):
    a, b = stacks(main_type(variant))[what]
    out = np.full((*a.shape[:-1], b.shape[-1]), 7, result_type(variant))
    native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
    check(variant, out, a, b)


@pytest.mark.parametrize("what", ["matrices", "stack of stacks", "stack of transposed"])
@every_variant
def test_host_outputs(name, variant, what):
    a, b = stacks(main_type(variant))[what]
    for kind, out, memory in outputs((*a.shape[:-1], b.shape[-1]), result_type(variant)):
        native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
        check(variant, out, a, b)
        assert untouched(memory, out), kind


@every_variant
def test_infinities_stay_where_they_are(name, variant):
    """Zeros around an operand must not meet what was written for one that is broadcast: 0 * inf is not a number."""
    inf = np.inf if main_type(variant).startswith("float") else 127  # of integers the largest
    a = np.broadcast_to(np.full((1, 1), inf, main_type(variant)), (M, K))
    b = np.ones((K, N), a.dtype)
    out = np.zeros((M, N), result_type(variant))
    native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
    plain = np.zeros_like(out)
    native(name).execute("matmul", variant.name, variant.values({}), (a.copy(), b), (plain,), 0, False, 0)
    assert np.array_equal(out, plain, equal_nan=True)


@every_variant
def test_strides_that_no_copy_of_rows_brings(name, variant):
    """Gaps between elements, axes backwards and in any order: brought in the order of their memory, then laid out."""
    dtype = main_type(variant)
    wide, deep = numbers((2 * M, 2 * K), dtype, 1), numbers((K, 3, M), dtype, 2)
    b, stack = numbers((K, N), dtype, 3), numbers((N, K, 3), dtype, 4)
    pairs = {
        "gaps": (wide[::2, ::2], b),
        "gaps in columns": (wide[::2, ::2], numbers((2 * N, 3 * K), dtype, 5)[::2, ::3].T),
        "backwards": (wide[:M, K - 1 :: -1], b[:, ::-1]),
        "backwards in both axes": (wide[M - 1 :: -1, K - 1 :: -1], b[::-1, ::-1]),
        "columns backwards": (numbers((K, M), dtype, 6).T[:, ::-1], b),
        "the stack is the last axis in memory": (deep.transpose(1, 2, 0), stack.transpose(2, 1, 0)),
        "the same for all": (np.broadcast_to(wide[::2, ::2], (3, M, K)), stack.transpose(2, 1, 0)),
    }
    for what, (a, b) in pairs.items():
        shape, kind = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), result_type(variant)
        gaps, whole, turned = (np.full(n, 7, kind) for n in ((*shape[:-1], 2 * shape[-1]), shape, shape[::-1]))
        for memory, out in ((gaps, gaps[..., ::2]), (whole, whole[..., ::-1, ::-1]), (turned, turned.T)):
            native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
            check(variant, out, a, b)
            assert untouched(memory, out), what


@every_backend
def test_a_sum_of_what_has_gaps(name):
    x = numbers((6, 40), "int64", 1)
    for y in (x[0, ::3], x[:, ::-1], x[::2, 1::2], x.T[::-1]):
        out = np.zeros((), "int64")
        native(name).execute("sum_of_squares", "atomic", (256, 1), (y,), (out,), 0, False, 0)
        assert out == (y**2).sum()


@pytest.mark.parametrize("broken", ["repeated output", "swapped"])
@every_backend
def test_what_is_refused(name, broken):
    a, b, out = np.ones((2, 4, 4), "float32"), np.ones((2, 4, 4), "float32"), np.ones((2, 4, 4), "float32")
    if broken == "repeated output":
        out, message = np.lib.stride_tricks.as_strided(out, out.shape, (0, *out.strides[1:])), "stride 0"
    elif broken == "swapped":
        a, message = a.astype(a.dtype.newbyteorder("S")), "newbyteorder"
    before = [x.tobytes() for x in (a, b, out)]
    used = native(name).pool_used(0)
    with pytest.raises(ValueError, match=message):
        native(name).execute("matmul", "tiled", (16,), (a, b), (out,), 0, False, 0)
    assert [x.tobytes() for x in (a, b, out)] == before
    assert native(name).pool_used(0) == used


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5), ()])
@every_backend
def test_a_sum_of_what_is_broadcast_or_transposed(name, shape):
    """Variants that ask for C order get it, whatever comes."""
    one = np.full((1,) * len(shape), 3, "int64")
    for x in (np.broadcast_to(one, shape), np.arange(np.prod(shape, dtype=int)).reshape(shape[::-1]).T):
        for variant in ("vectorized", "single_thread"):
            if x.ndim > 2 and not x.flags.c_contiguous and 0 not in x.strides:
                x = x.swapaxes(0, 1).copy().swapaxes(0, 1)
            out = np.zeros((), "int64")
            values = (256, 0) if variant == "vectorized" else ()
            native(name).execute("sum_of_squares", variant, values, (x,), (out,), 0, False, 0)
            assert out == (np.asarray(x).astype("int64") ** 2).sum()


# --- as few calls as can be ------------------------------------------------------------------------------------------
def guarded_calls(name, variant, a, b):
    out = np.zeros((*a.shape[:-1], b.shape[-1]), result_type(variant))
    native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
    native(name).inject_fault(0, 1)  # counts anew
    native(name).execute("matmul", variant.name, variant.values({}), (a, b), (out,), 0, False, 0)
    check(variant, out, a, b)
    return native(name).fault_count()


@pytest.mark.shared
@every_variant
def test_a_stack_is_copied_in_as_many_calls_as_a_matrix(name, variant):
    """However many matrices: one copy an operand, or as many as a matrix has rows where both sides are padded."""
    a, b = numbers((40, 3, 5), main_type(variant)), numbers((40, 5, 2), main_type(variant))
    # "residues_int8" has eight launches for each product; three ask for more shared memory, which is one more call.
    most = guarded_calls(name, variant, a[:1], b[:1]) + {"tiled_padded": 8, "residues_int8": 11 * 39}.get(
        variant.name, 0
    )
    assert guarded_calls(name, variant, a, b) <= most
    assert guarded_calls(name, variant, np.broadcast_to(a[:1], a.shape), b) <= most


ALONG_K = [case for case in VARIANTS if case[1].kernels == ("wgmma_along_k",)]


@pytest.mark.parametrize("name, variant", ALONG_K, ids=label)
def test_only_operands_that_are_not_contiguous_along_k_are_laid_out_again(name, variant):
    """Rows of A and columns of B are read where they lie, if they start at multiples of 16 bytes."""
    a, b = numbers((2, 32, 48), main_type(variant)), numbers((2, 48, 64), main_type(variant))
    rows, columns = np.ascontiguousarray, lambda x: x.swapaxes(1, 2).copy().swapaxes(1, 2)

    def calls(a, b):
        out = native(name).empty((2, 32, 64), result_type(variant), 0, 0)
        first, second = on_device(name, a)[0], on_device(name, b)[0]
        for _ in range(2):  # the first one loads the kernels
            native(name).inject_fault(0, 1)  # counts anew
            native(name).execute("matmul", variant.name, variant.values({}), (first, second), (out,), 0, False, 0)
        check(variant, read(name, out), a, b)
        return native(name).fault_count()

    least = calls(rows(a), columns(b))
    one, other, both = calls(rows(a), rows(b)), calls(columns(a), columns(b)), calls(columns(a), rows(b))
    assert least < one == other < both
    apart = numbers((2, 64, 49), main_type(variant)).swapaxes(1, 2)[:, :48]  # columns that start in between
    assert calls(rows(a), apart) == one


@every_backend
def test_what_is_broadcast_is_copied_once(name):
    a, b = (
        np.broadcast_to(np.ones((4, 8), "float32"), (1000, 4, 8)),
        np.broadcast_to(np.ones((8, 1), "float32"), (8, 2)),
    )
    b = np.broadcast_to(b, (1000, 8, 2))
    out = np.zeros((1000, 4, 2), "float32")
    report = native(name).execute("matmul", "naive", (), (a, b), (out,), 0, True, 0)
    assert (report["bytes_to_device"], report["bytes_to_host"]) == (4 * 8 * 4 + 8 * 4, out.nbytes)
    assert (out == 8).all()


@every_backend
def test_rows_further_apart_than_a_copy_takes(name):
    """CUDA takes distances up to 2 GiB between the rows of one copy. Memory that nobody touches costs nothing."""
    apart = (1 << 31) + 4096
    memory = mmap.mmap(-1, 2 * apart + 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE)
    raw = np.frombuffer(memory, "uint8")
    x = np.lib.stride_tricks.as_strided(raw.view("int32"), (3, 5), (apart, 4))
    x[...] = np.arange(15).reshape(3, 5)
    identity, out = np.eye(5, dtype="int32"), np.zeros((3, 5), "int32")
    for variant, values in (("naive", ()), ("tiled", (16,))):
        out[...] = 0
        native(name).execute("matmul", variant, values, (x, identity), (out,), 0, False, 0)
        assert np.array_equal(out, x)
        result = np.lib.stride_tricks.as_strided(raw[2048:].view("int32"), (3, 5), (apart, 4))
        native(name).execute("matmul", variant, values, (out, identity), (result,), 0, False, 0)
        assert np.array_equal(result, out)


@every_backend
def test_sizes_beyond_all_memory(name):
    """One number, 2**61 times, for variants that want them side by side, or with zeros around them."""
    many, out = (1 << 61) - 8, np.zeros((1, 1), "float32")
    x = np.lib.stride_tricks.as_strided(np.ones(1, "float32"), (many,), (0,))
    view = native(name).view(on_device(name, np.ones(1, "float32"))[0], 0, (many,), (0,), "float32")
    result = on_device(name, out)[0]
    for given, into in ((x, out[0, 0, ...]), (view, native(name).view(result, 0, (), (), "float32"))):
        with pytest.raises(cudakern.OutOfMemoryError) as caught:
            native(name).execute("sum_of_squares", "vectorized", (256, 1), (given,), (into,), 0, False, 0)
        assert caught.value.bytes == many * 4
        del caught  # it holds this frame, which holds it and the views
    again = (
        native(name).view(view, 0, (1, many), (0, 0), "float32"),
        native(name).view(view, 0, (many, 1), (0, 0), "float32"),
    )
    for first, second, into in ((x[None, :], x[:, None], out), (*again, result)):
        with pytest.raises(ValueError, match="too large on the device"):
            native(name).execute("matmul", "tiled_padded", (16,), (first, second), (into,), 0, False, 0)


# --- arrays on the device --------------------------------------------------------------------------------------------
def on_device(name, x):
    """A View with the same values and strides, of memory with other numbers around them."""
    module = native(name)
    steps = list(x.strides) if x.size else [0] * x.ndim
    low = sum((n - 1) * step for n, step in zip(x.shape, steps, strict=True) if step < 0)
    high = sum((n - 1) * step for n, step in zip(x.shape, steps, strict=True) if step > 0)
    memory = np.full(1 if not x.size else (high - low) // x.itemsize + 1, 7, x.dtype)
    at = -low // x.itemsize
    if x.size:
        np.lib.stride_tricks.as_strided(memory[at:], x.shape, steps)[...] = x
    whole = module.empty(memory.shape, memory.dtype.name, 0, 0)
    module.upload(whole, memory, 0)
    return module.view(whole, at * x.itemsize, x.shape, tuple(steps), x.dtype.name), whole


def read(name, view):
    out = np.empty(view.shape, view.dtype)
    native(name).download(out, view, 0)
    return out


@pytest.mark.parametrize(
    "what", [*(k for k in stacks("float32") if k != "rows that overlap"), "any strides", "backwards"]
)
@every_variant
def test_device_operands(name, variant, what):
    cases = stacks(main_type(variant))
    a, b = cases["stack of stacks"]
    cases["any strides"] = (a[:, :, ::2, ::3], np.asfortranarray(b)[..., : a[..., ::3].shape[-1], ::2])
    cases["backwards"] = (a[..., ::-1, ::-1], b[:, :, ::-1, ::-1])
    a, b = cases[what]
    first, second = on_device(name, a)[0], on_device(name, b)[0]
    out = native(name).empty((*a.shape[:-1], b.shape[-1]), result_type(variant), 0, 0)
    used = native(name).pool_used(0)
    native(name).execute("matmul", variant.name, variant.values({}), (first, second), (out,), 0, False, 0)
    assert native(name).pool_used(0) == used
    check(variant, read(name, out), a, b)
    assert np.array_equal(read(name, first), a)
    assert np.array_equal(read(name, second), b)


@st.composite
def strided(draw, shape):
    """An array of that shape, of small whole numbers: cut out of a larger one, turned round, repeated."""
    repeated = [n > 1 and draw(st.integers(0, 5)) == 0 for n in shape]
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    order = draw(st.permutations(range(len(shape)))) if draw(st.booleans()) else range(len(shape))
    sides = [1 if again else n * abs(step) + 1 for n, again, step in zip(shape, repeated, steps, strict=True)]
    whole = np.arange(np.prod([sides[axis] for axis in order], dtype=int)).reshape([sides[axis] for axis in order]) % 13
    x = whole.astype("float32").transpose(np.argsort(order))
    x = x[tuple(slice(None, None, step) for step in steps)]
    x = x[tuple(slice(1 if again else n) for n, again in zip(shape, repeated, strict=True))]
    return np.broadcast_to(x, shape)


@st.composite
def products(draw):
    stack = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    m, k, n = (draw(st.integers(0, 9)) for _ in range(3))
    a, b, out = draw(strided((*stack, m, k))), draw(strided((*stack, k, n))), draw(strided((*stack, m, n)))
    if 0 in (step for n, step in zip(out.shape, out.strides, strict=True) if n > 1):
        out = out.copy()
    return a, b, out


@every_variant
@hypothesis.settings(max_examples=12)
@hypothesis.given(case=products())
def test_any_strides_at_all(name, variant, case):
    """On the device every array is taken; of the host those that ck_execute promises to take."""
    types = main_type(variant), main_type(variant), result_type(variant)
    a, b, out = case = [in_type(x, dtype) for x, dtype in zip(case, types, strict=True)]
    expected = np.matmul(a, b, dtype=out.dtype)
    module = native(name)
    views = [on_device(name, x)[0] for x in case]
    module.execute("matmul", variant.name, variant.values({}), tuple(views[:2]), tuple(views[2:]), 0, False, 0)
    assert np.array_equal(read(name, views[2]), expected)
    result = np.full(out.shape, 7, out.dtype)
    try:
        module.execute("matmul", variant.name, variant.values({}), (a, b), (result,), 0, False, 0)
    except ValueError as error:
        assert "ascontiguousarray" in str(error)
    else:
        assert np.array_equal(result, expected)


@pytest.mark.parametrize("what", ["matrices", "stack of stacks"])
@every_variant
def test_device_outputs(name, variant, what):
    """Only the output's elements are written, whatever lies between them."""
    a, b = stacks(main_type(variant))[what]
    first, second = on_device(name, a)[0], on_device(name, b)[0]
    for kind, out, memory in outputs((*a.shape[:-1], b.shape[-1]), result_type(variant)):
        everything = native(name).empty(memory.shape, memory.dtype.name, 0, 0)
        native(name).upload(everything, memory, 0)
        offset = out.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        view = native(name).view(everything, offset, out.shape, out.strides, out.dtype.name)
        native(name).execute("matmul", variant.name, variant.values({}), (first, second), (view,), 0, False, 0)
        memory[...] = read(name, everything)  # of which `out` is a view
        check(variant, out, a, b)
        assert untouched(memory, out), kind


@pytest.mark.parametrize("layout", ["plain", "every second", "backwards", "transposed", "broadcast"])
@pytest.mark.parametrize("name, variant", list(variants("sum_of_squares", host=False)), ids=label)
def test_sums_on_the_device(name, variant, layout):
    x = numbers((30, 40), main_type(variant), 3)
    x = {
        "plain": x,
        "every second": x[::2, ::2],
        "backwards": x[::-1, ::-1],
        "transposed": x.T,
        "broadcast": np.broadcast_to(x[0], x.shape),
    }[layout]
    view = on_device(name, x)[0]
    out = on_device(name, np.zeros((), variant.signature(x.dtype.name)[2]))[0]
    used = native(name).pool_used(0)
    native(name).execute("sum_of_squares", variant.name, variant.values({}), (view,), (out,), 0, False, 0)
    assert native(name).pool_used(0) == used
    assert np.allclose(read(name, out), (x.astype("float64") ** 2).sum(), rtol=1e-4)


@every_backend
def test_memory_that_is_not_aligned_is_packed(name):
    """Three bytes off: a kernel that read it as it is would fault on a GPU."""
    x = numbers((6, 6), "float32")
    raw = np.zeros(x.nbytes + 3, "uint8")
    raw[3:] = x.view("uint8").ravel()
    whole = native(name).empty(raw.shape, "uint8", 0, 0)
    native(name).upload(whole, raw, 0)
    view = native(name).view(whole, 3, x.shape, x.strides, "float32")
    out = native(name).view(native(name).empty((x.nbytes + 1,), "uint8", 0, 0), 1, x.shape, x.strides, "float32")
    for variant, values in (("naive", ()), ("tiled", (8,)), ("tiled_padded", (8,)), ("pitched", ())):
        native(name).execute("matmul", variant, values, (view, view), (out,), 0, False, 0)
        check(cudakern.variants("matmul")[variant], read(name, out), x, x)


@every_backend
def test_views_and_buffers_are_not_mixed(name):
    x, out = np.ones((4, 4), "float32"), np.zeros((4, 4), "float32")
    view = on_device(name, x)[0]
    for inputs, results in (((view, x), (out,)), ((x, x), (view,)), ((view, view), (out,))):
        with pytest.raises((TypeError, ValueError)):
            native(name).execute("matmul", "naive", (), inputs, results, 0, False, 0)


@every_backend
def test_an_output_that_repeats_an_element_is_refused(name):
    view = on_device(name, np.ones((4, 4), "float32"))[0]
    out = on_device(name, np.broadcast_to(np.ones(4, "float32"), (4, 4)))[0]
    with pytest.raises(ValueError, match="stride 0|share their memory"):
        native(name).execute("matmul", "naive", (), (view, view), (out,), 0, False, 0)


# --- lines that start at multiples of 16 bytes -----------------------------------------------------------------------
CHUNKS = [case for case in VARIANTS if case[1].name == "tensor_cores"]  # they ask for it: a chunk is eight elements
every_tile = pytest.mark.parametrize(
    "name, variant, tile",
    [pytest.param(*case, tile, marks=marks) for case in CHUNKS for tile, marks in ((64, ()), (128, pytest.mark.full))],
    ids=label,
)


def view_of(x, shape, steps, first=0):
    """Any view of x, with steps and the first element counted in elements."""
    return np.lib.stride_tricks.as_strided(x.ravel()[first:], shape, [step * x.itemsize for step in steps])


#: What it is: the memory's shape, the view of it that is an operand, and whether it must be laid out again.
LINES = {
    "rows": ((19, 24), lambda x: x, False),
    "columns": ((19, 24), lambda x: x.T, False),
    "odd rows": ((19, 23), lambda x: x, True),
    "odd columns": ((19, 23), lambda x: x.T, True),
    "rows of half a chunk more": ((19, 20), lambda x: x, True),
    "odd rows apart": ((19, 40), lambda x: x[:, :23], False),
    "odd columns apart": ((19, 40), lambda x: x[:, :23].T, False),
    "from the second chunk on": ((19, 32), lambda x: x[:, 8:31], False),
    "from the second element on": ((19, 32), lambda x: x[:, 1:24], True),
    "from the middle of a chunk on": ((19, 32), lambda x: x[:, 4:27], True),
    "columns from the second element on": ((19, 32), lambda x: x[:, 1:24].T, True),
    "columns from the second chunk on": ((19, 32), lambda x: x[:, 8:31].T, False),
    "every second row": ((38, 24), lambda x: x[::2], False),
    "every second element": ((19, 48), lambda x: x[:, ::2], True),
    "rows backwards": ((19, 24), lambda x: x[::-1], False),
    "columns backwards": ((19, 24), lambda x: x[::-1].T, False),
    "rows read backwards": ((19, 24), lambda x: x[:, ::-1], True),
    "windows that overlap": ((200,), lambda x: view_of(x, (19, 23), (8, 1)), False),
    "windows at every element": ((200,), lambda x: view_of(x, (19, 23), (1, 1)), True),
    "one row for all": ((1, 23), lambda x: np.broadcast_to(x, (19, 23)), False),
    "one column for all": ((1, 23), lambda x: np.broadcast_to(x, (19, 23)).T, False),
    "one column of rows for all": ((19, 24), lambda x: np.broadcast_to(x[:, :1], (19, 23)), True),
    "one row of columns for all": ((19, 24), lambda x: np.broadcast_to(x[:, :1], (19, 23)).T, True),
    "one misaligned row for all": ((2, 23), lambda x: np.broadcast_to(x[1:], (19, 23)), True),
    "one number for all": ((1, 1), lambda x: np.broadcast_to(x, (19, 23)), True),
    "the first of odd rows": ((5, 23), lambda x: x[:1], False),
    "the first of odd columns": ((5, 23), lambda x: x[:1].T, False),
    "the second of odd rows": ((5, 23), lambda x: x[1:2], True),
    "the first of long odd rows": ((2, 301), lambda x: x[:1], False),
    "the first element of each row": ((19, 24), lambda x: x[:, :1], False),
    "the first element of each odd row": ((19, 23), lambda x: x[:, :1], True),
    "an element": ((5, 5), lambda x: x[:1, :1], False),
    "another element": ((5, 5), lambda x: x[1:2, :1], True),
    "a stack": ((2, 3, 19, 24), lambda x: x, False),
    "a stack of columns": ((2, 3, 19, 24), lambda x: x.swapaxes(2, 3), False),
    "a stack of odd rows": ((2, 3, 19, 23), lambda x: x, True),
    "a stack of odd rows apart": ((2, 3, 19, 40), lambda x: x[..., 8:31], False),
    "a stack of misaligned rows": ((2, 3, 19, 40), lambda x: x[..., 1:24], True),
    "a stack backwards": ((2, 3, 19, 24), lambda x: x[::-1, ::-1], False),
    "a stack of rows backwards": ((2, 3, 19, 24), lambda x: x[::-1, :, ::-1], False),
    "a stack's axes exchanged": ((2, 3, 19, 24), lambda x: x.swapaxes(0, 1), False),
    "one matrix for a stack": ((19, 24), lambda x: np.broadcast_to(x, (2, 3, 19, 24)), False),
    "one odd matrix for a stack": ((19, 23), lambda x: np.broadcast_to(x, (2, 3, 19, 23)), True),
    "one row for all of each matrix": ((2, 3, 1, 24), lambda x: np.broadcast_to(x, (2, 3, 19, 24)), False),
    "matrices at odd places": ((3000,), lambda x: view_of(x, (3, 19, 23), (24 * 19 + 1, 24, 1)), True),
    "matrices at places between chunks": ((3000,), lambda x: view_of(x, (3, 19, 23), (24 * 19 + 4, 24, 1)), True),
    "a stack that begins at an odd place": ((3000,), lambda x: view_of(x, (3, 19, 23), (24 * 19, 24, 1), 3), True),
    "a stack of one matrix, at an odd step": ((3000,), lambda x: view_of(x, (1, 19, 23), (457, 24, 1)), False),
    "a stack of odd rows, one each": ((3, 1, 23), lambda x: x, True),
    "a stack of rows, one each": ((3, 1, 24), lambda x: x, False),
    "a stack of windows": ((200,), lambda x: view_of(x, (5, 7, 23), (16, 8, 1)), False),
    "nothing, at an odd place": ((0, 3, 23), lambda x: x[:, 1:], False),
}


def lines(what, dtype):
    """The memory, and the operand that lies in it."""
    shape, view, _ = LINES[what]
    memory = numbers(shape, dtype, 11)
    return memory, view(memory)


def partner(x, left, dtype):
    """The other operand, which lies as it should: x is the left one, or the right one."""
    *stack, rows, columns = x.shape
    m, n = (columns, 29) if left else (29, rows)
    return np.broadcast_to(numbers((m, n + -n % 8), dtype, 12)[:, :n], (*stack, m, n))


def calls_on_device(name, variant, values, a, b):
    """(guarded calls, the result): the second call's, when streams and blocks of memory are there."""
    module = native(name)
    out = module.empty((*a.shape[:-1], b.shape[-1]), a.dtype, 0, 0)
    for _ in range(2):
        module.inject_fault(0, 1)  # counts anew
        module.execute("matmul", variant.name, values, (a, b), (out,), 0, False, 0)
    return module.fault_count(), read(name, out)


def calls_that_launch(name, variant, values):
    """What the launch takes by itself: for blocks with much shared memory a call more."""
    plain = on_device(name, np.ones((8, 8), main_type(variant)))[0]
    return calls_on_device(name, variant, values, plain, plain)[0]


def as_it_lies(name, memory, x):
    """x as a View of its memory on the device."""
    return like(name, up(name, memory), memory, x)


@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("what", LINES)
@every_tile
def test_only_what_is_not_in_whole_chunks_is_laid_out_again(name, variant, tile, what, left):
    """On the device: as many calls of the runtime as for plain arrays where it is not, and more where it is."""
    dtype = main_type(variant)
    memory, x = lines(what, dtype)
    other = partner(x, left, dtype)
    here, there = as_it_lies(name, memory, x), on_device(name, other)[0]
    a, b = (x, other) if left else (other, x)
    views = (here, there) if left else (there, here)
    calls, result = calls_on_device(name, variant, (tile,), *views)
    assert (calls > calls_that_launch(name, variant, (tile,))) == LINES[what][2]
    check(variant, result, a, b)
    assert np.array_equal(read(name, here), x)
    assert np.array_equal(read(name, there), other)


@every_tile
def test_each_operand_is_laid_out_by_itself(name, variant, tile):
    """Neither, one or both, in any combination of directions."""
    kinds = [
        what for what, (shape, _, _) in LINES.items() if len(shape) == 2 and min(shape) > 18 and "stack" not in what
    ]
    dtype, numbers_of_calls = main_type(variant), {}
    for one in kinds:
        for two in kinds:
            (first, a), (second, b) = lines(one, dtype), lines(two, dtype)
            if a.shape[1] != b.shape[0]:
                continue
            views = as_it_lies(name, first, a), as_it_lies(name, second, b)
            calls, result = calls_on_device(name, variant, (tile,), *views)
            check(variant, result, a, b)
            numbers_of_calls.setdefault(LINES[one][2] + LINES[two][2], set()).add(calls)
    neither, one, both = (numbers_of_calls[copies].pop() for copies in range(3))
    assert not any(numbers_of_calls.values())  # each had one number of calls
    assert neither == calls_that_launch(name, variant, (tile,))
    assert both - one == one - neither > 0


#: Of the host's arrays those that ck_execute takes: rows or columns are contiguous.
FROM_HOST = [what for what in LINES if what not in ("every second element", "rows read backwards")]


def calls_from_host(name, variant, values, a, b):
    """(guarded calls, the result) for arrays of the host: the second call's."""
    out = np.zeros((*a.shape[:-1], b.shape[-1]), a.dtype)
    for _ in range(2):
        native(name).inject_fault(0, 1)  # counts anew
        native(name).execute("matmul", variant.name, values, (a, b), (out,), 0, False, 0)
    return native(name).fault_count(), out


@pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
@pytest.mark.parametrize("what", FROM_HOST)
@every_tile
def test_copies_from_the_host_lay_lines_in_whole_chunks(name, variant, tile, what, left):
    """As many calls as for a variant that takes any strides, but for rows of one number: those are written out."""
    dtype = main_type(variant)
    x = lines(what, dtype)[1]
    a, b = (x, partner(x, left, dtype)) if left else (partner(x, left, dtype), x)
    calls, result = calls_from_host(name, variant, (tile,), a, b)
    check(variant, result, a, b)
    takes_any = cudakern.variants("matmul")["naive"]
    least, _ = calls_from_host(name, takes_any, (), a, b)
    least += calls_that_launch(name, variant, (tile,)) - calls_that_launch(name, takes_any, ()) if x.size else 0
    assert calls >= least
    assert (calls > least) == (x.size > 0 and x.shape[-1] > 1 and x.strides[-1] == 0)


# --- what a call costs -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "operation, variant, values",
    [("matmul", "tiled", (16,)), ("matmul", "naive", ()), ("sum_of_squares", "vectorized", (512, 0))],
)
@every_backend
def test_a_call_on_plain_arrays_asks_for_the_device_and_launches(name, operation, variant, values):
    """No memory, no event, no wait: two calls of the runtime, in the default stream."""
    module = native(name)
    x = on_device(name, numbers((16, 16), "float32"))[0]
    inputs, shape = ((x, x), (16, 16)) if operation == "matmul" else ((x,), ())
    out = module.empty(shape, "float32", 0, 0)
    module.execute(operation, variant, values, inputs, (out,), 0, False, 0)
    module.inject_fault(0, 1)  # counts anew
    module.execute(operation, variant, values, inputs, (out,), 0, False, 0)
    assert module.fault_count() == 2
