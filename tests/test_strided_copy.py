"""The C module's `copy`, `fill`, `upload` and `download` for arrays of any strides, alignment and type, against NumPy.

Device memory is a row of bytes here, and the same row lies in a NumPy array: what a call does to views of the one,
NumPy does to views of the other, and then all bytes are compared, those between the elements too.
"""

import itertools
import sys
import warnings

import hypothesis
import hypothesis.strategies as st
import ml_dtypes
import numpy as np
import pytest

import cudakern
from cases import native
from test_half import rounded

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = ("bool", *INTEGERS, *FLOATS, "complex64", "complex128")
SIZES = (1, 2, 4, 8, 16)
A_TYPE_OF_EACH_SIZE = ("uint8", "bfloat16", "float32", "complex64", "complex128")

any_type = pytest.mark.parametrize("dtype", TYPES)


def numpy_type(name):
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def is_integer(dtype):
    return numpy_type(dtype).kind in "iu"


@pytest.fixture
def there(backend):
    return Device(native(backend))


class Device:
    """A C module with its device; memory goes there and back as bytes."""

    def __init__(self, module):
        self.module, self.device = module, module.choose_device()

    def bytes(self, row):
        view = self.module.empty(row.shape, "uint8", self.device, 0)
        self.module.upload(view, row, 0)
        return view

    def get(self, view):
        row = np.empty(view.shape, np.uint8)
        self.module.download(row, view, 0)
        return row


class Part:
    """A view of a row of bytes: where it begins, and how it goes on."""

    def __init__(self, dtype, shape, strides, offset=0):
        self.dtype, self.shape, self.strides = dtype, tuple(shape), tuple(strides)
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True) if n > 0]
        self.offset = offset - sum(r for r in reach if r < 0)
        self.end = self.offset + sum(r for r in reach if r > 0) + numpy_type(dtype).itemsize

    def __repr__(self):
        return f"{self.dtype}{list(self.shape)} strides {list(self.strides)} at {self.offset}"

    def of_host(self, row):
        return np.ndarray(self.shape, numpy_type(self.dtype), row, self.offset, self.strides)

    def of_device(self, there, view):
        return there.module.view(view, self.offset, self.shape, self.strides, self.dtype)


def numbers(dtype, shape, seed=0):
    """Numbers over the whole range of a type, the peculiar ones among them."""
    draw, kind = np.random.default_rng(seed), numpy_type(dtype)
    if kind.kind == "b":
        return draw.random(shape) < 0.5
    if kind.kind in "iu":
        info = np.iinfo(kind)
        wide = draw.integers(info.min, info.max, shape, kind, endpoint=True)
        return wide >> draw.integers(0, info.bits, shape).astype(kind)  # short ones as often as long ones
    if kind.kind == "c":
        made = np.empty(shape, kind)
        part = f"float{kind.itemsize * 4}"
        made.real, made.imag = numbers(part, shape, seed), numbers(part, shape, seed + 1000)
        return made
    scale = 2.0 ** draw.integers(-30, 30, shape)
    peculiar = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e300, -1e-320, 65504.0, 65520.0, 1e-7, 0.5, -1.0]
    chosen = np.where(draw.random(shape) < 0.3, draw.choice(peculiar, shape), draw.standard_normal(shape) * scale)
    return rounded("bfloat16", chosen).view(BFLOAT16) if kind == BFLOAT16 else ignoring(lambda: chosen.astype(kind))


def ignoring(action):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        return action()


@np.errstate(all="ignore")
def converted(x, dtype):
    """What astype makes of it; to bfloat16 by the exact reference, since ml_dtypes goes through float32 and rounds
    twice."""
    if x.dtype == BFLOAT16 and dtype != "bfloat16":
        x = x.astype(np.float32)
    if dtype == "bfloat16" and x.dtype != BFLOAT16:
        return rounded("bfloat16", x.real).view(BFLOAT16)
    result = np.array(ignoring(lambda: x.astype(numpy_type(dtype))))
    if is_integer(dtype) and x.dtype.kind in "fc":
        info, real = np.iinfo(dtype), x.real.astype(np.longdouble)
        beyond = ~((real > info.min - 1) & (real < np.longdouble(info.max) + 1))
        result[beyond] = [integer_beyond(value, dtype) for value in x.real[beyond]]
    return result


def integer_beyond(value, dtype):
    """For a float as large as no integer of that type no standard has a value. Every backend gives x86's: the lowest
    int32 or int64, of its bits the type's; unsigned ones go on to twice the range."""
    bits = np.iinfo(dtype).bits
    top = 2 ** (max(bits, 32) - 1)
    value = float(value)
    shift = top if dtype.startswith("u") and bits >= 32 and value >= top else 0
    whole = int(value) - shift if np.isfinite(value) else 2**70
    wrapped = ((whole if -top <= whole < top else -top) + shift) % 2**bits
    return np.array([wrapped], f"u{bits // 8}").view(dtype)[0]


@np.errstate(invalid="ignore")  # a signalling NaN
def same_bytes(got, expected, parts):
    """All bytes are equal; in the parts, any NaN is as good as another."""
    got, expected = got.copy(), expected.copy()
    for part in parts:
        if numpy_type(part.dtype).kind not in "fcV":
            continue
        a, b = part.of_host(got), part.of_host(expected)
        for x, y in ((a.real, b.real), (a.imag, b.imag)) if numpy_type(part.dtype).kind == "c" else ((a, b),):
            both = np.isnan(x) & np.isnan(y)
            x[both] = y[both] = 0
    wrong = np.flatnonzero(got != expected)
    assert not wrong.size, (
        f"{wrong.size} bytes differ, first at {wrong[:8]}: {got[wrong[:8]]} for {expected[wrong[:8]]}"
    )


def check_copy(there, to, source, seed=0):
    """Copies on the device, and in NumPy; all bytes of both arrays are compared."""
    draw = np.random.default_rng(seed)
    host_to, host_from = (draw.integers(0, 256, part.end + 5, dtype=np.uint8) for part in (to, source))
    source.of_host(host_from)[...] = numbers(source.dtype, source.shape, seed)
    device_to, device_from = there.bytes(host_to), there.bytes(host_from)
    there.module.copy(to.of_device(there, device_to), source.of_device(there, device_from), 0)
    to.of_host(host_to)[...] = converted(source.of_host(host_from), to.dtype)
    same_bytes(there.get(device_to), host_to, [to])
    assert np.array_equal(there.get(device_from), host_from)


def packed(shape, item):
    strides = []
    for n in reversed(shape):
        strides.insert(0, item)
        item *= max(n, 1)
    return strides


def plain(dtype, shape, offset=0):
    return Part(dtype, shape, packed(shape, numpy_type(dtype).itemsize), offset)


# --- types -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("to", TYPES)
@any_type
def test_every_pair_of_types(there, dtype, to):
    check_copy(there, plain(to, (5000,)), plain(dtype, (5000,)))
    check_copy(there, plain(to, (40, 7), offset=1), plain(dtype, (40, 7), offset=1), seed=1)  # aligned to nothing


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_beyond_the_range_of_an_integer(there, dtype):
    x = np.array([np.nan, np.inf, -np.inf, 3e4, -3e4, 3e9, -3e9, 1e10, -1e10, 1.5e19, -1.5e19, 3e19, 1e30, -1e30], "f8")
    x = np.concatenate([x, [2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64, -0.5, -1.5]])
    x = ignoring(lambda: np.concatenate([x, x + 0.5, x / 7]).astype(dtype))
    for to in INTEGERS:
        assert one_way(there, x, to).tolist() == converted(x, to).tolist(), to


def one_way(there, x, to):
    """x, converted on the device."""
    source, target = there.bytes(x.view(np.uint8)), there.bytes(np.zeros(x.size * numpy_type(to).itemsize, np.uint8))
    there.module.copy(
        plain(to, x.shape).of_device(there, target), plain(x.dtype.name, x.shape).of_device(there, source), 0
    )
    return there.get(target).view(numpy_type(to))


def test_bytes_that_are_no_bool_are_true(there):
    x = np.arange(256, dtype=np.uint8)
    got = one_way(there, x.view(bool), "int32")
    assert got.tolist() == [int(i != 0) for i in range(256)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_narrow_floats_are_rounded_once(there, dtype):
    """Numbers next to the middle of two: a way through float32 would round them twice."""
    draw = np.random.default_rng(3)
    steps = np.array([-1, 0, 1])
    if dtype == "int64":
        x = np.concatenate([(draw.integers(128, 256, 40) * 2 + 1 << bits) + s for bits in range(30, 54) for s in steps])
    else:
        middles = (draw.integers(1024, 2048, 300) * 2 + 1) * 2.0 ** draw.integers(-20, 4, 300)
        coarse = (draw.integers(128, 256, 300) * 2 + 1) * 2.0 ** draw.integers(-100, 100, 300)
        x = np.concatenate([middles, coarse]).astype(dtype)
        x = np.concatenate([x, np.nextafter(x, x.dtype.type(0)), np.nextafter(x, x.dtype.type(np.inf))])
    for to, kind in (("float16", "half"), ("bfloat16", "bfloat16")):
        assert np.array_equal(one_way(there, x, to).view(np.uint16), rounded(kind, x))


def test_bfloat16_as_ml_dtypes_has_it(there):
    x = numbers("float32", (5000,))
    ours, theirs = one_way(there, x, "bfloat16"), ignoring(lambda: x.astype(BFLOAT16))
    assert np.array_equal(ours.astype("f4"), theirs.astype("f4"), equal_nan=True)
    assert np.array_equal(one_way(there, theirs, "float32"), theirs.astype("f4"), equal_nan=True)


# --- strides ---------------------------------------------------------------------------------------------------------
@st.composite
def copies(draw, types):
    """(to, from): any strides, but no two elements of `to` in one place."""
    to_type, from_type = draw(types)
    shape = draw(st.lists(st.integers(0, 6), max_size=5), "shape")
    to_item, from_item = numpy_type(to_type).itemsize, numpy_type(from_type).itemsize
    strides, extent = [0] * len(shape), to_item
    for axis in draw(st.permutations(range(len(shape))), "order of axes"):
        extent += draw(st.sampled_from([0, 0, 0, 1, to_item, 4]), "gap")
        strides[axis] = extent * draw(st.sampled_from([1, 1, -1]), "direction")
        extent *= max(shape[axis], 1)
    offsets = st.sampled_from([0, 0, 16, 1, 2, 4, 8, 3])
    to = Part(to_type, shape, strides, draw(offsets, "to at"))
    like_to = [s // to_item * from_item for s in strides]
    anything = [
        draw(st.integers(-40, 40).map(lambda s: s * draw(st.sampled_from([1, from_item]))), "stride") for _ in shape
    ]
    others = [like_to, packed(shape, from_item), packed(shape[::-1], from_item)[::-1], anything, [0] * len(shape)]
    return to, Part(from_type, shape, draw(st.sampled_from(others), "strides"), draw(offsets, "from at"))


any_pair = st.tuples(st.sampled_from(TYPES), st.sampled_from(TYPES))
one_type = st.sampled_from(TYPES).map(lambda dtype: (dtype, dtype))


@hypothesis.given(case=copies(one_type), seed=st.integers(0, 3))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_any_strides(there, case, seed):
    check_copy(there, *case, seed=seed)


@hypothesis.given(case=copies(any_pair), seed=st.integers(0, 3))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_any_strides_and_types(there, case, seed):
    check_copy(there, *case, seed=seed)


@pytest.mark.parametrize("length", [511, 512, 2047, 2048, 2049, 5001])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
def test_long_rows_with_gaps(there, dtype, length):
    """Rows of which a block copies one after another: of any length, at any alignment of their elements."""
    item = numpy_type(dtype).itemsize
    shape = (3, 7, length)
    gaps = [(length + 3) * item, (length + 8) * item]
    to, source = (Part(dtype, shape, (9 * gap, gap, item), item * at) for gap, at in zip(gaps, (1, 2), strict=True))
    check_copy(there, to, source)
    check_copy(there, to, Part(dtype, shape, (0, gaps[0], item)))


@pytest.mark.parametrize("shape", [(64, 64), (33, 70), (16, 16), (200, 17), (5, 40, 33), (3, 2, 32, 31)], ids=str)
@pytest.mark.parametrize("dtype", A_TYPE_OF_EACH_SIZE)
def test_transposes(there, order, dtype, shape):
    """Large enough for tiles in shared memory, whole and ragged; in every order of axes, in every order of threads."""
    item = numpy_type(dtype).itemsize
    strides = packed(shape, item)
    for setting in ("fixed", "reversed", "seed:1"):
        order(setting)
        for axes in itertools.permutations(range(len(shape))):
            source = Part(dtype, [shape[a] for a in axes], [strides[a] for a in axes])
            check_copy(there, plain(dtype, source.shape), source)
            backwards = Part(dtype, source.shape, [-s for s in source.strides])
            check_copy(there, plain(dtype, source.shape, offset=item), backwards)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_sixteen_axes(there, dtype):
    shape = (2, 1, 2, 1, 1, 3, 1, 2, 1, 1, 2, 1, 2, 1, 1, 3)
    strides = packed(shape, numpy_type(dtype).itemsize)
    check_copy(there, plain(dtype, shape), Part(dtype, shape, [s * 2 for s in strides]))
    check_copy(there, plain("float64", shape), Part(dtype, shape, [-s * 3 for s in strides]))


def test_more_elements_than_threads(there):
    """Every thread goes on where the grid ends."""
    n = 4096 * 256 + 1000
    check_copy(there, plain("uint8", (n,)), Part("uint8", (n,), (-1,)))
    check_copy(there, plain("int8", (n,)), plain("uint16", (n,)))
    rows, columns = 2049, 2080  # and every block, from tile to tile
    check_copy(there, plain("uint8", (rows, columns)), Part("uint8", (rows, columns), (1, rows)))


def test_nothing_to_copy_launches_nothing(there, fault, backend):
    for shape in ((0,), (3, 0), (2**40, 0, 2**40)):
        view = there.module.empty((0,), "float32", there.device, 0)
        to = there.module.view(view, 0, shape, (4,) * len(shape), "float32")
        from_ = there.module.view(view, 0, shape, (4,) * len(shape), "int32")
        there.module.synchronize(there.device)
        fault(backend, 0, 1)
        there.module.copy(to, from_, 0)
        there.module.fill(to, bytes(4), 0)
        assert there.module.fault_count() == 0


def test_a_failing_launch_names_its_kernel(there, fault, backend):
    """Each kernel of the strided copy, found by letting each call fail in turn."""
    square = plain("float32", (40, 40))
    every_second = Part("float32", (40, 20), (160, 8))
    transposed = Part("float32", (40, 40), (4, 160))
    copy = there.module.copy
    for name, call, to, *others in (
        ("strided_copy", copy, every_second, every_second),
        ("strided_transpose", copy, square, transposed),
        ("strided_convert", copy, square, plain("int32", (40, 40))),
        ("strided_fill", lambda to, stream: there.module.fill(to, b"abcd", stream), every_second),
    ):
        views = [part.of_device(there, there.bytes(np.zeros(part.end, np.uint8))) for part in (to, *others)]
        texts = failures(there, fault, backend, call, *views, 0)
        assert any(f"{name}<<<" in text for text in texts), (name, texts)


def failures(there, fault, backend, call, *arguments):
    """The messages when the first guarded call fails, the second, ... until none is left to fail."""
    texts = []
    for n in range(1, 50):
        fault(backend, n, 1)
        try:
            call(*arguments)
        except cudakern.CudaError as error:
            texts.append(str(error))
        else:
            fault(backend, 0, 1)
            there.module.synchronize(there.device)
            return texts
    raise AssertionError("fifty calls and still not done")


# --- fill ------------------------------------------------------------------------------------------------------------
@st.composite
def fills(draw):
    to, _ = draw(copies(one_type))
    return to


@hypothesis.given(part=fills(), seed=st.integers(0, 3))
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_fill(there, part, seed):
    draw = np.random.default_rng(seed)
    row = draw.integers(0, 256, part.end + 5, dtype=np.uint8)
    value = draw.integers(0, 256, numpy_type(part.dtype).itemsize, dtype=np.uint8).tobytes()
    device = there.bytes(row)
    there.module.fill(part.of_device(there, device), value, 0)
    part.of_host(row)[...] = np.frombuffer(value, numpy_type(part.dtype))[0]
    if part.dtype == "bool":  # NumPy writes 1 for any true byte: compare what was asked for
        np.ndarray(part.shape, np.uint8, row, part.offset, part.strides)[...] = value[0]
    same_bytes(there.get(device), row, [part])


@any_type
def test_fill_of_large_arrays(there, dtype):
    item = numpy_type(dtype).itemsize
    for part in (plain(dtype, (4099,)), plain(dtype, (4099,), offset=1), Part(dtype, (70, 33), (33 * item + 5, item))):
        row = np.full(part.end + 5, 77, np.uint8)
        value = bytes(range(1, item + 1))
        device = there.bytes(row)
        there.module.fill(part.of_device(there, device), value, 0)
        np.ndarray((*part.shape, item), np.uint8, row, part.offset, (*part.strides, 1))[...] = list(value)
        assert np.array_equal(there.get(device), row)


# --- byte order: host arrays may have the other one ------------------------------------------------------------------
SWAPPED = [dtype for dtype in TYPES if dtype != "bfloat16" and np.dtype(dtype).itemsize > 1]


@pytest.mark.parametrize("dtype", SWAPPED)
def test_swapped_bytes(there, dtype):
    x = numbers(dtype, (30, 20))
    other = x.astype(x.dtype.newbyteorder(">" if sys.byteorder == "little" else "<"))
    for part in (
        plain(dtype, (30, 20)),
        plain(dtype, (30, 20), offset=1),
        Part(dtype, (30, 20), (x.itemsize, 30 * x.itemsize)),
        Part(dtype, (30, 20), (-20 * x.itemsize, -x.itemsize)),
    ):
        row = np.zeros(part.end + 3, np.uint8)
        device = there.bytes(row)
        there.module.upload(part.of_device(there, device), other, 0)
        part.of_host(row)[...] = x
        same_bytes(there.get(device), row, [part])
        back = np.zeros_like(other)
        there.module.download(back, part.of_device(there, device), 0)
        assert back.tobytes() == other.tobytes()
