"""NumPy's whole contract, against NumPy itself: shapes, strides, types, out=, errors, of host and of device arrays.

An array is drawn as (type, shape, strides, offset) over a buffer of random numbers, and told to NumPy and to cudakern
from the same bytes: transposed, negative, broadcast, overlapping, misaligned, swapped. `--hypothesis-profile=deep` (or
CUDAKERN_HYPOTHESIS=deep) takes ten thousand examples of each test.
"""

import contextlib
import functools
import operator
import re
import warnings
from dataclasses import dataclass, replace

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.lib.stride_tricks import as_strided

import cudakern
import subprocesses
from cases import (
    BACKENDS,
    HAS_BFLOAT16,
    native,
    needs_no_out,
    numbers,
    product_reference,
    relative_error,
    smallest,
    sum_reference,
)
from cudakern._array import DeviceArray
from cudakern._dtypes import matmul_types, numpy_dtype, rounding_unit
from cudakern._operations import _call, _execute, _on_host, matmul

TYPES = [name for name in cudakern.variants("matmul")["tiled"].types if name != "bfloat16" or HAS_BFLOAT16]
NUMPY_TYPES = [name for name in TYPES if name != "bfloat16"]
REAL_TYPES = [name for name in TYPES if not name.startswith("complex")]
ONLY_NUMPY = ["longdouble", "clongdouble", "object"]  # no kernel has them
PRODUCTS = {variant.name: variant for variant in cudakern.variants("matmul")}
SUMS = {variant.name: variant for variant in cudakern.variants("sum_of_squares")}
KERNELS = [name for name, variant in PRODUCTS.items() if not variant.on_host and needs_no_out(variant)]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as NumPy warns, so does its variant

PUBLIC_ERRORS = (TypeError, ValueError, MemoryError, NotImplementedError)


# --- arrays, described ---------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Form:
    """An array over a buffer: strides in elements, from the element number `first`."""

    dtype: str
    shape: tuple
    strides: tuple
    first: int
    size: int  # of the buffer, in elements
    seed: int = 0
    shift: int = 0  # bytes that misalign it
    swapped: bool = False
    read_only: bool = False

    @property
    def steps(self):
        return tuple(step * numpy_dtype(self.dtype).itemsize for step in self.strides)

    @property
    def offset(self):
        return self.shift + self.first * numpy_dtype(self.dtype).itemsize

    def buffer(self):
        """Random numbers, as bytes; the same at each call."""
        return _buffer(self.dtype, self.size, self.seed, self.shift, self.swapped).copy()

    def over(self, buffer):
        """The array in that buffer."""
        kind = numpy_dtype(self.dtype)
        kind = kind.newbyteorder("S") if self.swapped else kind
        if kind.kind == "O":
            view = as_strided(buffer[self.first :], self.shape, self.steps)
        else:
            view = np.ndarray(self.shape, kind, buffer.data, self.offset, self.steps)
        if self.read_only:
            view.flags.writeable = False
        return view

    def on_device(self, module, buffer):
        """The same in the device's memory."""
        memory = module.empty(buffer.shape, "uint8", 0, 0)
        module.upload(memory, buffer, 0)
        return memory, self.within(module, memory)

    def within(self, module, memory):
        return DeviceArray(module.view(memory, self.offset, self.shape, self.steps, self.dtype), module)


@functools.lru_cache(maxsize=64)  # (bytes that pad a long double are not the same twice)
def _buffer(dtype, size, seed, shift, swapped):
    kind = numpy_dtype(dtype)
    if kind.kind == "O":
        return np.random.default_rng(seed).integers(-9, 9, size).astype(kind)
    values = numbers(size, kind, seed)
    values = values.astype(kind.newbyteorder("S")) if swapped else values
    filled = np.zeros(values.nbytes + shift, np.uint8)
    filled[shift:] = values.view(np.uint8)
    return filled


def bytes_of(module, memory):
    found = np.empty(memory.shape, np.uint8)
    module.download(found, memory, 0)
    return found


@st.composite
def forms(draw, dtype, shape, writable=False, host=True):
    """Any strides for that shape: axes in any order, steps of any sign; for inputs 0 and windows that overlap too."""
    plain = draw(st.integers(0, 3)) == 0
    strides, low, extent = [0] * len(shape), 0, 1
    order = range(len(shape))[::-1] if plain else draw(st.permutations(range(len(shape))))
    for axis in order:
        step = 1 if plain else draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2] + ([] if writable else [0])))
        window = not plain and not writable and draw(st.integers(0, 9)) == 0
        strides[axis] = step * (1 if window else extent)
        reach = abs(strides[axis]) * max(shape[axis] - 1, 0)
        low -= reach if step < 0 else 0
        extent = extent + reach if window or step == 0 else max(extent + reach, 1)
    margin = draw(st.integers(0, 2))
    return Form(
        dtype,
        tuple(shape),
        tuple(strides),
        first=margin - low,
        size=extent + 2 * margin,
        seed=draw(st.integers(0, 3)),
        shift=draw(st.sampled_from([0, 0, 0, 1, 3])) if dtype != "object" else 0,
        swapped=host and dtype != "object" and draw(st.integers(0, 4)) == 0,
        read_only=host and not writable and draw(st.integers(0, 4)) == 0,
    )


FITTING = hnp.mutually_broadcastable_shapes(signature="(m?,n),(n,p?)->(m?,p?)", max_dims=3, min_side=0, max_side=5)


@st.composite
def shapes(draw):
    """Two shapes that fit, now and then two that do not."""
    pair = draw(FITTING).input_shapes
    if draw(st.integers(0, 9)) == 0:
        pair = (pair[0], draw(FITTING).input_shapes[1]) if draw(st.booleans()) else ((), pair[1])
    return pair


def attempt(call):
    """(result, None) or (None, the public class of its exception)."""
    try:
        return call(), None
    except PUBLIC_ERRORS as error:
        return None, next(kind for kind in PUBLIC_ERRORS if isinstance(error, kind))


def hold(result, a, b, out_type, variant="auto"):
    """Holds a product to NumPy's value, converted to that type: the same, or within a sequential sum's bound."""
    cut = 2.0**-9 if variant in PRODUCTS and PRODUCTS[variant].cuts_inputs else 0
    cut = 2.0**-20 if variant.startswith("split_") else cut  # what the pieces of an element may lose
    common = np.matmul.resolve_dtypes((a.dtype, b.dtype, None))[0]
    a, b, kind = a.astype(common), b.astype(common), numpy_dtype(out_type)
    if common.kind in "biuO":
        assert np.array_equal(result, spread(np.asarray(np.matmul(a, b)).astype(kind), result))
        return
    reference, magnitude = (spread(x, result) for x in product_reference(a, b))
    with np.errstate(all="ignore"):
        rounded = reference.astype(kind)  # beyond the type's range: infinity
    u = max(rounding_unit(common.name), rounding_unit(kind.name))
    near = relative_error(result, reference, magnitude) <= (a.shape[-1] + 3) * u + cut
    denormal = max(smallest(x) for x in (common, kind) if x.kind in "fcV")
    tiny = np.abs(np.asarray(result).astype(reference.dtype) - reference) <= 4 * denormal
    assert np.all((result == rounded) | near | tiny)


def spread(x, result):
    """NumPy's result in the shape of an out, which may have more axes in front, or lack some of one element."""
    x, shape = np.asarray(x), np.shape(result)
    return np.broadcast_to(x.reshape(x.shape[max(x.ndim - len(shape), 0) :]), shape)


@contextlib.contextmanager
def as_on_a_gpu():
    """Lets "auto" take kernels for host arrays on the emulator too: what it does on a GPU. For small ones, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_on_host, "answers_at_once", lambda here: True)
        patch.setattr(matmul.RULE, "small", None)
        yield


# --- calls, drawn --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Call:
    """Operands, and perhaps an out in memory of its own or in an operand's."""

    a: Form
    b: Form
    out: Form | None = None
    home: str = "out"  # whose buffer out is in

    def buffers(self):
        sizes = {"a": self.a.size, "b": self.b.size}
        if self.out is not None:
            sizes[self.home] = max(sizes.get(self.home, 0), self.out.size)
        return {name: replace(getattr(self, name), size=size).buffer() for name, size in sizes.items()}


@st.composite
def calls(draw, types, host=True, other_types=None, out_types=None):
    """A call of matmul: mostly one that NumPy takes."""
    left, right = draw(shapes())
    first = draw(st.sampled_from(types))
    second = draw(st.sampled_from(other_types)) if other_types and draw(st.booleans()) else first
    a, b = draw(forms(first, left, host=host)), draw(forms(second, right, host=host))
    try:
        shape = np.matmul(np.zeros(left, "?"), np.zeros(right, "?")).shape
    except ValueError:
        shape = (2, 3)
    if draw(st.booleans()):
        return Call(a, b)
    form = draw(st.sampled_from(["right"] * 6 + ["in front", "wrong", "one less"]))
    if form == "in front":
        shape = (draw(st.integers(0, 2)), *shape)
    elif form == "wrong":
        shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    elif form == "one less":
        shape = shape[1:]
    home = draw(st.sampled_from(["out", "out", "a", "b"]))
    if home == "out":
        out = draw(forms(draw(st.sampled_from(out_types or types)), shape, writable=True, host=host))
        return Call(a, b, replace(out, read_only=host and draw(st.integers(0, 9)) == 0))
    within = a if home == "a" else b
    out = draw(forms(within.dtype, shape, writable=True, host=host))
    return Call(a, b, replace(out, shift=within.shift, swapped=within.swapped), home)


def numpys(call, **keywords):
    """(result, out before, error's class) by NumPy, of copies."""
    buffers = call.buffers()
    a, b = (getattr(call, name).over(buffers[name]) for name in "ab")
    out = None if call.out is None else call.out.over(buffers[call.home])
    before = None if out is None else out.copy()
    result, error = attempt(lambda: np.matmul(a, b, out=out, **keywords))
    return result, before, error


def lacks_axes(call):
    """NumPy takes an out with fewer axes than two matrices make, and takes the operands' axes for others then. That is
    written nowhere, and only auto from the host, by NumPy itself, does the same; all else says ValueError."""
    return call.out is not None and len(call.out.shape) < sum(len(x.shape) > 1 for x in (call.a, call.b))


def operands_of(call):
    """Plain copies of what the operands hold."""
    buffers = call.buffers()
    return tuple(getattr(call, name).over(buffers[name]).copy() for name in "ab")


def terms_of(call, variant):
    """The operands as they are multiplied: int8 in int32 if an out of auto has this type, unlike NumPy's."""
    first, second = operands_of(call)
    small = [numpy_dtype(x.dtype) for x in (call.a, call.b)] == [np.int8] * 2
    if variant == "auto" and small and call.out is not None and numpy_dtype(call.out.dtype) == np.int32:
        return first.astype(np.int32), second.astype(np.int32)
    return first, second


def on_host(call, variant, expected_type=None, in_tuple=False):
    """The call with host arrays, held to NumPy's."""
    expected, before, error = numpys(call)
    if variant != "auto" and error is None and lacks_axes(call):
        error = ValueError
    buffers, untouched = call.buffers(), call.buffers()
    a, b = (getattr(call, name).over(buffers[name]) for name in "ab")
    out = None if call.out is None else call.out.over(buffers[call.home])
    result, mine = attempt(
        lambda: cudakern.matmul(a, b, out=(out,) if in_tuple and out is not None else out, variant=variant)
    )
    assert mine is error
    if error is None:
        if lacks_axes(call):
            if terms_of(call, variant)[0].dtype != operands_of(call)[0].dtype:
                expected = numpys(call, dtype="int32")[0]
            # (NumPy looks for NaN in numbers only.)
            assert np.array_equal(result, expected, equal_nan=np.asarray(expected).dtype != object)
            return
        first, second = terms_of(call, variant)
        if out is None and expected_type is None:
            assert type(result) is type(expected)
        if out is None:
            wanted = numpy_dtype(expected_type) if expected_type else np.asarray(expected).dtype
            assert np.asarray(result).dtype == wanted
        else:
            assert result is out
        assert np.shape(result) == np.shape(expected)
        hold(result, first, second, np.asarray(result).dtype.newbyteorder("="), variant)
        if out is not None:
            out[...] = before  # then nothing else may have changed
    assert all(np.array_equal(buffers[name], untouched[name]) for name in buffers)


def on_device(name, call, variant, expected_type):
    """The call with arrays on the device, held to NumPy's."""
    _, _, error = numpys(call)
    if error is None and lacks_axes(call):
        error = ValueError
    module, untouched = native(name), call.buffers()
    memory = {}
    for which, buffer in untouched.items():
        memory[which] = module.empty(buffer.shape, "uint8", 0, 0)
        module.upload(memory[which], buffer, 0)
    a, b = (getattr(call, which).within(module, memory[which]) for which in "ab")
    out = None if call.out is None else call.out.within(module, memory[call.home])
    result, mine = attempt(lambda: cudakern.matmul(a, b, out=out, variant=variant))
    assert mine is error
    found = {which: bytes_of(module, where) for which, where in memory.items()}
    if error is None:
        assert type(result) is DeviceArray
        first, second = terms_of(call, variant)
        if out is None:
            assert result._view.dtype == expected_type
            assert result.shape == np.matmul(first, second).shape
        else:
            assert result is out
            view = call.out.over(found[call.home])
            assert np.array_equal(view, result.get(), equal_nan=True)
        hold(result.get(), first, second, result._view.dtype, variant)
        if out is not None:
            view[...] = call.out.over(untouched[call.home])
    assert all(np.array_equal(found[which], untouched[which]) for which in found)


every_backend = st.sampled_from(BACKENDS)


@given(data=st.data(), name=every_backend, kernels=st.booleans(), in_tuple=st.booleans())
def test_auto_of_host_arrays(data, name, kernels, in_tuple):
    """All that NumPy takes, by NumPy and by kernels: the same type, shape, values and errors."""
    call = data.draw(calls(NUMPY_TYPES + ONLY_NUMPY, other_types=NUMPY_TYPES + ONLY_NUMPY))
    with cudakern.use_backend(name), as_on_a_gpu() if kernels else contextlib.nullcontext():
        on_host(call, "auto", in_tuple=in_tuple)


@given(data=st.data(), name=every_backend, variant=st.sampled_from(KERNELS))
def test_named_variants_of_host_arrays(data, name, variant):
    """The same rules for the types of a variant."""
    dtype = data.draw(st.sampled_from([name for name in PRODUCTS[variant].types if name in TYPES]))
    call = data.draw(calls([dtype], out_types=[dtype, dtype, *NUMPY_TYPES] if dtype in NUMPY_TYPES else [dtype]))
    with cudakern.use_backend(name):
        on_host(call, variant, expected_type=dtype)


@given(data=st.data(), name=every_backend)
def test_auto_of_device_arrays(data, name):
    """All types that the device has, also two that differ."""
    call = data.draw(calls(NUMPY_TYPES, host=False, other_types=NUMPY_TYPES))
    on_device(name, call, "auto", matmul_types(call.a.dtype, call.b.dtype)[1])


@given(data=st.data(), name=every_backend, variant=st.sampled_from(KERNELS))
def test_named_variants_of_device_arrays(data, name, variant):
    """Each variant takes any strides: what its layout cannot take is packed."""
    dtype = data.draw(st.sampled_from([name for name in PRODUCTS[variant].types if name in TYPES]))
    call = data.draw(
        calls([dtype], host=False, out_types=[dtype, dtype, *NUMPY_TYPES] if dtype in NUMPY_TYPES else [dtype])
    )
    on_device(name, call, variant, dtype)


# --- sums ----------------------------------------------------------------------------------------------------------
ANY_SHAPE = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=7)


def hold_sum(result, x, variant, **parameters):
    """Exact modulo 2**64, or within the variant's bound (auto: a sequential sum's)."""
    reference, magnitude = sum_reference(x)
    if x.dtype.kind in "biu":
        assert int(result) % 2**64 == reference
        return
    u = rounding_unit("float64" if x.dtype.name == "float64" else "float32")
    bound = (x.size + 3) * u if variant is None else variant.error_bound((x.size,), dtype=x.dtype, **parameters)
    assert relative_error(float(result), reference, magnitude) <= bound


def sum_type(name):
    return {"b": "int64", "i": "int64", "u": "uint64"}.get(
        np.dtype(name).kind if name != "bfloat16" else "f", "float64" if name == "float64" else "float32"
    )


@given(data=st.data(), name=every_backend, variant=st.sampled_from(["auto", *SUMS]), kernels=st.booleans())
def test_sums_of_host_arrays(data, name, variant, kernels):
    """Any shape, strides, byte order and type."""
    entry = SUMS.get(variant)
    dtype = data.draw(st.sampled_from([t for t in (entry.types if entry else REAL_TYPES) if t in REAL_TYPES]))
    form = data.draw(forms(dtype, data.draw(ANY_SHAPE)))
    buffer = form.buffer()
    x = form.over(buffer)
    with cudakern.use_backend(name), as_on_a_gpu() if kernels else contextlib.nullcontext():
        result = cudakern.sum_of_squares(x, variant=variant)
    assert isinstance(result, np.generic)
    assert result.dtype == sum_type(dtype)
    hold_sum(result, x.astype(numpy_dtype(dtype)), entry)
    assert np.array_equal(buffer, form.buffer())


@given(data=st.data(), name=every_backend, variant=st.sampled_from(["auto", *SUMS]))
def test_sums_of_device_arrays(data, name, variant):
    """The result stays on the device, whatever the variant."""
    entry = SUMS.get(variant)
    dtype = data.draw(st.sampled_from([t for t in (entry.types if entry else REAL_TYPES) if t in REAL_TYPES]))
    form = data.draw(forms(dtype, data.draw(ANY_SHAPE), host=False))
    buffer = form.buffer()
    memory, x = form.on_device(native(name), buffer)
    if variant == "numpy":
        with pytest.raises(TypeError, match="computes on the host"):
            cudakern.sum_of_squares(x, variant=variant)
        return
    result = cudakern.sum_of_squares(x, variant=variant)
    assert type(result) is DeviceArray
    assert (result.shape, result._view.dtype) == ((), sum_type(dtype))
    hold_sum(result.get()[()], form.over(buffer).astype(numpy_dtype(dtype)), entry)
    assert np.array_equal(bytes_of(native(name), memory), buffer)


# --- what NumPy has rules of its own for -----------------------------------------------------------------------------
class Answers:
    """Treats NumPy's functions itself."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method, len(inputs)


class Refuses:
    __array_ufunc__ = None

    def __array__(self, dtype=None, copy=None):
        return np.ones((2, 2))


class Converts:
    """An array by __array__ alone."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(4.0).reshape(2, 2)


class Wraps(np.ndarray):
    pass


TWO = np.arange(4.0).reshape(2, 2)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1, 2], [3, 4]])
ODD_CALLS = {
    "lists": lambda f: f([[1, 2], [3, 4]], [[1.5], [2]]),
    "a tuple": lambda f: f(((1, 2), (3, 4)), TWO),
    "bytes of a list": lambda f: f([True, False], [True, True]),
    "empty lists": lambda f: f([], []),
    "a ragged list": lambda f: f([[1], [1, 2]], [1]),
    "a Python scalar": lambda f: f(3, TWO),
    "a scalar on the right": lambda f: f(TWO, 2.5),
    "a NumPy scalar": lambda f: f(np.float32(3), TWO),
    "a 0-d array": lambda f: f(TWO, np.array(3)),
    "None": lambda f: f(None, TWO),
    "strings": lambda f: f(["a"], ["b"]),
    "bytes": lambda f: f(np.array([b"a"]), TWO),
    "dates": lambda f: f(np.zeros((2, 2), "M8[s]"), TWO),
    "durations": lambda f: f(np.zeros((2, 2), "m8[s]"), np.ones((2, 2), int)),
    "records": lambda f: f(np.zeros(2, "i4,i4"), np.zeros(2, "i4,i4")),
    "objects": lambda f: f(np.array([[1, 2]], object), np.array([[3], [4]], object)),
    "objects that cannot": lambda f: f(np.array([[{}]], object), np.array([[1]], object)),
    "shapes": lambda f: f(np.ones((2, 3)), np.ones((2, 3))),
    "shapes of stacks": lambda f: f(np.ones((2, 3, 3)), np.ones((3, 3, 3))),
    "vectors": lambda f: f(np.ones(3), np.ones(4)),
    "a matrix": lambda f: f(MATRIX, TWO),
    "a masked array": lambda f: f(np.ma.masked_array(TWO, [[0, 1], [0, 0]]), TWO),
    "a subclass": lambda f: f(TWO.view(Wraps), TWO),
    "a subclass on the right": lambda f: f(TWO, TWO.view(Wraps)),
    "an object that answers": lambda f: f(Answers(), TWO),
    "an object that refuses": lambda f: f(TWO, Refuses()),
    "an object that converts": lambda f: f(Converts(), TWO),
    "out of another kind": lambda f: f(TWO, TWO, out=np.zeros((2, 2), int)),
    "out of another kind and shape": lambda f: f(TWO, np.ones((3, 2)), out=np.zeros((2, 2), int)),
    "out that is a list": lambda f: f(TWO, TWO, out=[[0, 0], [0, 0]]),
    "out that is a scalar": lambda f: f(TWO, TWO, out=np.float64(3)),
    "out read-only": lambda f: f(TWO, TWO, out=np.broadcast_to(1.0, (2, 2))),
    "out read-only and of another kind": lambda f: f(TWO, TWO, out=np.broadcast_to(1, (2, 2))),
    "out too small": lambda f: f(np.ones((2, 2, 2)), TWO, out=np.zeros((2, 2))),
    "out with one row for two": lambda f: f(np.ones((2, 2, 2)), TWO, out=np.zeros((1, 2, 2))),
    "out with more axes": lambda f: f(TWO, TWO, out=np.zeros((3, 2, 2))),
    "out of a sum with more axes": lambda f: f(TWO[0], TWO[1], out=np.zeros(3)),
    "out of a sum": lambda f: f(TWO[0], TWO[1], out=np.zeros(())),
    "out with dots": lambda f: f(TWO[0], TWO[1], out=...),
    "out with dots, a matrix": lambda f: f(TWO, TWO, out=...),
    "out without an axis of one": lambda f: f(np.ones((1, 3)), np.ones((3, 2)), out=np.zeros(2)),
    "out without the axes of a matrix": lambda f: f(np.arange(3.0), np.ones((1, 3)), out=np.zeros(())),
    "out without a stack of one": lambda f: f(np.ones((1, 3, 2, 2)), TWO, out=np.zeros((3, 2, 2))),
    "out in a tuple": lambda f: f(TWO, TWO, out=(np.zeros((2, 2)),)),
    "None in a tuple": lambda f: f(TWO, TWO, out=(None,)),
    "no out in a tuple": lambda f: f(TWO, TWO, out=()),
    "two outs": lambda f: f(TWO, TWO, out=(TWO, TWO)),
    "an out that is a subclass": lambda f: f(TWO, TWO, out=np.zeros((2, 2)).view(Wraps)),
    "out that answers": lambda f: f(TWO, TWO, out=Answers()),
    "out positional": lambda f: f(TWO, TWO, np.zeros((2, 2))),
    "a product that no memory holds": lambda f: f(np.broadcast_to(1.0, (2**40, 1)), np.broadcast_to(1.0, (1, 2**40))),
    "a product past 2**63": lambda f: f(np.broadcast_to(1.0, (2**31, 1)), np.broadcast_to(1.0, (1, 2**31))),
    "a stack past 2**63": lambda f: f(np.broadcast_to(1.0, (2**60, 1, 1)), np.broadcast_to(1.0, (2**60, 8, 8))),
    "no operand": lambda f: f(TWO),
    "operands by name": lambda f: f(x1=TWO, x2=TWO),
}


@pytest.mark.parametrize("kernels", [False, True], ids=["by NumPy", "by kernels"])
@pytest.mark.parametrize("case", ODD_CALLS)
def test_auto_does_what_numpy_does(backend, case, kernels):
    expected, error = attempt(lambda: ODD_CALLS[case](np.matmul))
    with as_on_a_gpu() if kernels else contextlib.nullcontext():
        result, mine = attempt(lambda: ODD_CALLS[case](cudakern.matmul))
    assert mine is error
    assert type(result) is type(expected)
    if isinstance(expected, (np.ndarray, np.generic)):
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        assert np.array_equal(result, expected)
        assert np.array_equal(np.ma.getmaskarray(result), np.ma.getmaskarray(expected))
    else:
        assert result == expected


@pytest.mark.parametrize("kernels", [False, True], ids=["by NumPy", "by kernels"])
def test_auto_takes_files_in_memory(backend, kernels, tmp_path):
    x = np.memmap(tmp_path / "numbers", "float32", "w+", shape=(5, 4))
    x[...] = numbers((5, 4), "float32")
    with as_on_a_gpu() if kernels else contextlib.nullcontext():
        result = cudakern.matmul(x, x.T)
    assert type(result) is type(np.matmul(x, x.T))
    hold(result, np.array(x), np.array(x.T), "float32")


def test_auto_takes_kernels_where_there_are_some(backend, monkeypatch):
    """On a GPU every type of NumPy that a kernel has goes to one: also two that differ, lists, vectors and stacks."""
    monkeypatch.setattr(np, "matmul", Refusing(np.matmul))
    with as_on_a_gpu():
        for first in NUMPY_TYPES:
            for second in NUMPY_TYPES[:: 1 if first == "float32" else 5]:
                assert cudakern.matmul(np.ones((2, 3), first), np.ones((3, 2), second)).shape == (2, 2)
        assert cudakern.matmul([1, 2], [3.5, 4]) == 11.5
        assert cudakern.matmul(np.ones((4, 1, 2, 3), ">f8"), np.ones((5, 3, 2))).shape == (4, 5, 2, 2)
        with pytest.raises(AssertionError, match="asked"):
            cudakern.matmul(np.ones((2, 2), "longdouble"), TWO)


def test_small_products_of_host_arrays_are_numpys(monkeypatch):
    """The copies to a GPU and back would take longer. What is small depends on shapes, type and processors."""
    monkeypatch.setattr(_on_host, "answers_at_once", lambda here: True)
    for processors in (1, 16):
        monkeypatch.setattr(matmul, "PROCESSORS", processors)
        for dtype, largest in (("float32", 1000), ("float64", 1000), ("int32", 64), ("float16", 64)):
            small = [n for n in range(4, 1200, 4) if matmul.small(np.dtype(dtype), (n, n), (n, n))]
            assert small == list(range(4, small[-1] + 4, 4)), "one size divides them"
            assert 8 <= small[-1] <= largest
            if processors > 1:
                continue
            for n in (small[0], small[-1], small[-1] + 4):
                x = (np.arange(n * n).reshape(n, n) % 3).astype(dtype)
                run = cudakern.profile(cudakern.matmul, x, x, repeat=1, warmup=0) if n < 100 else None
                assert run is None or (run.variant.name == "numpy") == (n in small)
                assert np.array_equal(cudakern.matmul(x, x), x @ x)
    assert matmul.small(np.dtype("float32"), (4096,), (4096, 4096)), "each element is used once"
    assert not matmul.small(np.dtype("float32"), (4096, 4096), (4096, 4096))
    monkeypatch.setattr(np, "matmul", Refusing(np.matmul))
    with pytest.raises(AssertionError, match="asked"):
        cudakern.matmul(TWO, TWO)
    assert cudakern.matmul(TWO, TWO, accuracy="strict").shape == TWO.shape


def test_auto_of_host_arrays_is_numpys_without_a_gpu(monkeypatch):
    """Nobody who wants a result should wait for the emulator, whatever use_backend says."""
    monkeypatch.setattr(_execute, "execute", None)
    monkeypatch.setattr(_call, "plainly", lambda *_: NotImplemented)
    with cudakern.use_backend("emulator"):
        for dtype in NUMPY_TYPES:
            assert np.array_equal(
                cudakern.matmul(TWO.astype(dtype), TWO.astype(dtype)), np.matmul(*[TWO.astype(dtype)] * 2)
            )
        assert cudakern.sum_of_squares(TWO) == 14
        assert cudakern.profile(cudakern.matmul, TWO, TWO, repeat=1).variant.name == "numpy"
        with pytest.raises(TypeError, match="NoneType"):
            cudakern.matmul(TWO, TWO, variant="tiled")


class Refusing:
    """Stands for numpy.matmul, and computes nothing."""

    def __init__(self, real):
        self.resolve_dtypes = real.resolve_dtypes

    def __call__(self, *arguments, **keywords):
        raise AssertionError("NumPy was asked")


@pytest.mark.parametrize("keyword", ["axes", "axis", "casting", "order", "dtype", "subok", "signature", "sig", "where"])
def test_keywords_of_numpy_that_are_not_taken(backend, keyword):
    d = cudakern.asarray(TWO)
    for a, variant in ((TWO, "auto"), (TWO, "tiled"), (d, "auto"), (d, "tiled")):
        with pytest.raises(TypeError, match=f"(unknown keyword|has no parameter) '{keyword}'.*tile"):
            cudakern.matmul(a, a, variant=variant, **{keyword: None})


def test_keywords_that_nothing_has(backend):
    for x in (TWO, cudakern.asarray(TWO)):
        with pytest.raises(
            TypeError, match=r"unknown keyword 'foo' of matmul: known: .*out, variant, accuracy, stream, tile"
        ):
            cudakern.matmul(x, x, foo=1)
        with pytest.raises(TypeError, match=r"'auto' has no parameters, but 'tile' was passed; .* have it: 'tiled'"):
            cudakern.matmul(x, x, tile=16)
        with pytest.raises(TypeError, match=r"'foo' of sum_of_squares: known: x, variant, stream, .*threads"):
            cudakern.sum_of_squares(x, foo=1)
        with pytest.raises(TypeError, match="unknown keyword 'varient' of sum_of_squares: the nearest is 'variant'"):
            cudakern.sum_of_squares(x, varient="atomic")
        for keyword in ("axis", "dtype", "out", "keepdims", "where", "initial"):
            for variant in ("auto", "coalesced"):
                with pytest.raises(TypeError, match=f"(unknown keyword|has no parameter) '{keyword}'.*threads"):
                    cudakern.sum_of_squares(x, variant, **{keyword: None})


@pytest.mark.parametrize("variant", ["auto", "naive", "numpy"])
def test_dots_in_a_tuple(backend, variant):
    with pytest.raises(TypeError):
        np.matmul(TWO, TWO, out=(...,))
    for x in (TWO, cudakern.asarray(TWO)):
        with pytest.raises(TypeError, match=r"pass out=\.\.\., not a tuple"):
            cudakern.matmul(x, x, out=(...,), variant=variant)


def test_types_without_a_kernel_are_told_as_one_writes_them(backend):
    for x, words in (
        (np.array([[None]]), "float32 or float64, but a is object; "),
        (np.array([["a"]]), "float32 or float64, but a is str; "),
        (np.array([[b"ab"]]), "float32 or float64, but a is bytes; "),
        (np.zeros((1, 1), "i4,f4"), "float32 or float64, but a is void; "),
        (np.array([[1]], "int8"), "not int8; variant='auto' takes it$"),
    ):
        with pytest.raises(TypeError, match=words):
            cudakern.matmul(x, x, variant="tiled_padded")
    for dtype in ("float16", "longdouble"):
        with pytest.raises(TypeError, match=f"not {np.dtype(dtype).name}; variant='auto' takes it$"):
            cudakern.sum_of_squares(np.ones(3, dtype), "single_thread")
        assert cudakern.sum_of_squares(np.ones(3, dtype)) == 3
    with pytest.raises(TypeError, match="takes real numbers, but x is str; "):
        cudakern.sum_of_squares(["a"])


def test_conversions_on_the_device_do_not_warn_of_values(backend):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cudakern.asarray([1e30]).astype("float16").get() == np.inf
        x = cudakern.zeros(1, "float16")
        x[...] = cudakern.asarray([1e30])
        assert x.get() == np.inf


if HAS_BFLOAT16:

    def test_bfloat16_of_host_arrays(backend):
        """auto: what NumPy makes of it; a named kernel: bfloat16, by way of float32."""
        a, b = (numbers(shape, "bfloat16", seed) for seed, shape in enumerate([(5, 9), (9, 4)]))
        wide = a.astype("float32") @ b.astype("float32")
        for kernels in (False, True):
            with as_on_a_gpu() if kernels else contextlib.nullcontext():
                result = cudakern.matmul(a, b)
                assert result.dtype == np.matmul(a, b).dtype
                assert np.allclose(result, wide, rtol=1e-5, atol=1e-6)
                assert cudakern.sum_of_squares(a).dtype == np.float32
        result = cudakern.matmul(a, b.T.copy().T, variant="tiled")
        assert result.dtype == a.dtype
        assert np.allclose(result.astype("float32"), wide, rtol=2**-8, atol=2**-8)


def test_bfloat16_of_device_arrays(backend):
    """Two of them give a third; with another type it counts as float32. NumPy needs no bfloat16 for that."""
    values = np.array([[1.0, -2.5], [3.0, 0.25]], "float32")  # bfloat16 has them exactly
    x = cudakern.asarray(values).astype("bfloat16")
    assert (x @ x)._view.dtype == (x[None] @ x)._view.dtype == "bfloat16"
    assert np.array_equal((x @ x).astype("float32").get(), values @ values)
    for other, result in (("float32", "float32"), ("float16", "float32"), ("int8", "float32"), ("int32", "float64")):
        y = cudakern.asarray(np.array([[1, 2], [3, 4]], other))
        assert (x @ y)._view.dtype == result
        assert np.array_equal((x @ y).get(), values @ np.array([[1, 2], [3, 4]]))
    into = cudakern.empty((2, 2), "bfloat16")
    cudakern.matmul(cudakern.asarray(values), x, out=into)
    assert np.array_equal(into.astype("float64").get(), values @ values)
    total = cudakern.sum_of_squares(x)
    assert (total._view.dtype, float(total)) == ("float32", float(np.sum(values**2)))


# --- named variants ------------------------------------------------------------------------------------------------
def test_named_variants_take_one_type(backend):
    for a, b in ((TWO, TWO.astype("f4")), (TWO.astype("f4"), TWO), (TWO, TWO.astype(int))):
        for x, y in ((a, b), (cudakern.asarray(a), cudakern.asarray(b))):
            with pytest.raises(TypeError, match=f"one type, but a is {a.dtype} and b is {b.dtype}"):
                cudakern.matmul(x, y, variant="tiled")
    for dtype in ("int32", "complex64"):
        x = np.ones((2, 2), dtype)
        for y in (x, cudakern.asarray(x)):
            with pytest.raises(TypeError, match=f"'kahan' takes float32 or float64, not {dtype}"):
                cudakern.matmul(y, y, variant="kahan")
    with pytest.raises(TypeError, match="masked"):
        cudakern.matmul(np.ma.masked_array(TWO), TWO, variant="tiled")
    with pytest.raises(TypeError, match="masked"):
        cudakern.matmul(TWO, TWO, out=np.ma.masked_array(TWO.copy()), variant="tiled")


def test_complex_numbers_have_no_sum_of_squares(backend):
    x = cudakern.asarray(np.ones(3, "complex64"))
    for variant in ("auto", "coalesced"):
        for either in (x, x.get()):
            with pytest.raises(TypeError, match="real numbers, not complex64"):
                cudakern.sum_of_squares(either, variant=variant)


# --- one place -----------------------------------------------------------------------------------------------------
def test_host_and_device_do_not_mix(backend):
    d = cudakern.asarray(TWO)
    for call, words in (
        (lambda: cudakern.matmul(d, TWO), r"b is in host memory \(ndarray\).*asarray\(b\).*a\.get\(\)"),
        (lambda: cudakern.matmul(TWO, d), r"a is in host memory.*asarray\(a\).*b\.get\(\)"),
        (lambda: cudakern.matmul([[1, 2]], d, variant="tiled"), r"a is in host memory \(list\)"),
        (lambda: TWO @ d, r"a is in host memory"),
        (lambda: d @ TWO, r"b is in host memory"),
        (
            lambda: cudakern.matmul(d, d, out=TWO),
            r"out is in host memory.*create out .*cudakern\.empty.*get\(out=out\)",
        ),
        (lambda: cudakern.matmul(TWO, TWO, out=d), r"a is in host memory.*create out .*numpy\.empty, or.*asarray\(a\)"),
    ):
        with pytest.raises(TypeError, match=words):
            call()
    assert cudakern.matmul(d, cudakern.asarray(TWO)).get().tolist() == (TWO @ TWO).tolist()


def test_wrong_calls_with_device_arrays_fail_as_numpys_do(backend):
    d, v = cudakern.asarray(TWO), cudakern.asarray(TWO[0])
    for call in (
        lambda x, y, f, a: f(3, x),
        lambda x, y, f, a: f(x, 2.5),
        lambda x, y, f, a: f(x, np.float32(2)),
        lambda x, y, f, a: f(x, x[0, 0]),
        lambda x, y, f, a: f(x, x[:1]),
        lambda x, y, f, a: f(y, y[:1]),
        lambda x, y, f, a: f(x, x, out=[[0, 0], [0, 0]]),
        lambda x, y, f, a: f(x, x, out="out"),
        lambda x, y, f, a: f(x, x, out=()),
        lambda x, y, f, a: f(x, x, out=(x, x)),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((2, 2), int))),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((2, 3)))),
        lambda x, y, f, a: f(x, y, out=a(np.zeros((2, 2)))[:1]),
        lambda x, y, f, a: f(x, x, out=a(np.zeros((3, 2, 2)))),
        lambda x, y, f, a: f(y, y, out=a(np.zeros(3))),
        lambda x, y, f, a: f(x, x, out=(None,)),
        lambda x, y, f, a: f(x),
    ):
        expected, error = attempt(lambda call=call: call(TWO, TWO[0], np.matmul, np.asarray))
        for keywords in ({}, {"variant": "tiled"}):
            result, mine = attempt(
                lambda call=call, keywords=keywords: call(
                    d, v, lambda *a, **k: cudakern.matmul(*a, **k, **keywords), cudakern.asarray
                )
            )
            assert mine is error
            assert error is not None or np.array_equal(result.get(), expected)


def test_shapes_of_out_are_checked_before_anything_runs(backend):
    for shape, out in (((2, 2, 2), (2, 2)), ((3, 1, 2, 2), (1, 2, 2)), ((2, 2, 2), (1, 2, 2)), ((2, 2), (2,))):
        x, target = np.ones(shape), np.zeros(out)
        for a, b, into in ((x, TWO, target), tuple(map(cudakern.asarray, (x, TWO, target)))):
            with pytest.raises(ValueError, match=re.escape(f"out is {out}, and the result is {shape}")):
                cudakern.matmul(a, b, out=into, variant="naive")


def test_an_out_that_is_an_operand(backend):
    values = np.arange(1600.0).reshape(40, 40) % 7  # several tiles: one is written before another is read
    for variant in ("auto", "tiled", "tiled_padded"):
        for which in ("a", "b", "both", "rows", "transposed"):
            for put in (np.array, cudakern.asarray):
                a, b, big = put(values), put(values + 1), put(np.vstack([values, values[:1]]))
                if which == "both":
                    result, wanted = cudakern.matmul(a, a, out=a, variant=variant), values @ values
                elif which == "rows":
                    result, wanted = cudakern.matmul(big[:40], b, out=big[1:], variant=variant), values @ (values + 1)
                elif which == "transposed":
                    result, wanted = cudakern.matmul(a, b, out=b.T, variant=variant), values @ (values + 1)
                else:
                    out = a if which == "a" else b
                    result, wanted = cudakern.matmul(a, b, out=out, variant=variant), values @ (values + 1)
                assert np.array_equal(result if put is np.array else result.get(), wanted), (variant, which)


def test_an_out_on_the_device_whose_elements_are_one(backend):
    module, d = native(backend), cudakern.asarray(TWO)
    for shape, strides in (((2, 2), (0, 8)), ((2, 2), (8, 8)), ((3, 2, 2), (0, 16, 8))):
        memory = module.empty((12,), "float64", 0, 0)
        out = DeviceArray(module.view(memory, 0, shape, strides, "float64"), module)
        with pytest.raises(ValueError, match="share memory"):
            cudakern.matmul(d, d, out=out)
    frozen = module.adopt(memory, memory.pointer, (2, 2), (16, 8), "float64", 0, True)
    for variant in ("auto", "naive"):
        with pytest.raises(ValueError, match="out is read-only"):
            cudakern.matmul(d, d, out=DeviceArray(frozen, module), variant=variant)
    assert np.array_equal((DeviceArray(frozen, module) @ d).shape, (2, 2))


def test_an_out_of_the_host_whose_elements_are_one(backend):
    """NumPy takes it; which of the results is kept is not said."""
    expected = TWO @ TWO
    for strides, wanted in (((0, 8), expected), ((16, 0), expected.T)):
        out = as_strided(np.zeros(4), (2, 2), strides)
        assert cudakern.matmul(TWO, TWO, out=out, variant="naive") is out
        kept = out[0] if strides[0] == 0 else out[:, 0]
        assert any(np.array_equal(kept, row) for row in wanted)


def test_arrays_of_two_devices():
    said = subprocesses.run(
        """
        import cudakern
        with cudakern.device(0):
            a = cudakern.zeros((2, 2))
        with cudakern.device(1):
            b = cudakern.zeros((2, 2))
            cudakern.matmul(b, b, out=b.copy()).get()
        for call in (lambda: a @ b, lambda: cudakern.matmul(a, a, out=b)):
            try:
                call()
            except ValueError as error:
                print(error)
    """,
        CUDAKERN_BACKEND="emulator",
        CUDAKERN_EMULATOR_DEVICES="2",
    )
    first, second = said.splitlines()
    assert "a is on the device (emulator:0) and b is on the device (emulator:1)" in first
    assert "cudakern.asarray(b)" in first
    assert "out is on the device (emulator:1)" in second
    assert "create out on that device with cudakern.empty inside `with cudakern.device(0)`" in second


if len(BACKENDS) > 1:

    def test_arrays_of_two_backends():
        with cudakern.use_backend("cuda"):
            a = cudakern.zeros((2, 2))
        with cudakern.use_backend("emulator"):
            b = cudakern.zeros((2, 2))
            with pytest.raises(ValueError, match=r"cuda:0.*emulator:0.*b\.get\(\)"):
                cudakern.matmul(a, b)
            with pytest.raises(
                ValueError, match=r"create out on that device .* cudakern\.empty .*use_backend\('cuda'\)"
            ):
                cudakern.matmul(a, a, out=b)
            assert (a @ a).backend == "cuda"  # an array's own backend answers, whichever was asked for


def test_a_row_of_numpys_for_device_arrays(backend):
    d = cudakern.asarray(TWO)
    with pytest.raises(TypeError, match=r"computes on the host.*a\.get\(\)"):
        cudakern.matmul(d, d, variant="numpy")


# --- streams and profiles ------------------------------------------------------------------------------------------
def test_streams(backend):
    d, stream = cudakern.asarray(TWO), cudakern.Stream()
    for where in (None, 0, 1, 2, stream, stream.handle):
        for variant in ("auto", "tiled"):
            assert np.array_equal(cudakern.matmul(d, d, variant=variant, stream=where).get(), TWO @ TWO)
            assert np.array_equal(cudakern.matmul(TWO, TWO, variant=variant, stream=where), TWO @ TWO)
        assert float(cudakern.sum_of_squares(d, stream=where)) == 14
        assert cudakern.sum_of_squares(TWO, "coalesced", stream=where) == 14
        mixed = cudakern.matmul(d, cudakern.asarray(TWO.astype("i4")), out=cudakern.empty((3, 2, 2)), stream=where)
        assert np.array_equal(mixed.get(), np.stack([TWO @ TWO] * 3))
    for x in (d, TWO):
        for wrong, error in (("one", TypeError), (1.5, TypeError), (-1, ValueError)):
            with pytest.raises(error, match="stream"):
                cudakern.matmul(x, x, stream=wrong)
            with pytest.raises(error, match="stream"):
                cudakern.sum_of_squares(x, stream=wrong)


@pytest.mark.parametrize("variant", ["auto", "tiled"])
def test_profiles_of_device_arrays(backend, variant):
    d = cudakern.asarray(numbers((40, 30), "float32"))
    p = cudakern.profile(cudakern.matmul, d, d.T, variant=variant, repeat=2)
    chosen = "fastest" if variant == "auto" else variant
    assert (p.variant.name, p.backend, p.shapes, p.dtype) == (chosen, backend, ((40, 30), (30, 40)), "float32")
    assert p.kernel_ns > 0
    assert p.to_device_ns == p.to_host_ns == p.finish_ns == 0
    assert p.flops == 2 * 40 * 30 * 40
    p = cudakern.profile(cudakern.sum_of_squares, d[:, ::2], variant="auto" if variant == "auto" else "coalesced")
    assert p.backend == backend
    assert p.flops == 2 * 40 * 15


def test_profiles_count_stacks_and_vectors(backend):
    """The same work by NumPy and by a kernel."""
    a, b = np.ones((4, 1, 3, 5), "f4"), np.ones((2, 5, 6), "f4")
    for x, y, flops in ((a, b, 2 * 8 * 3 * 5 * 6), (a[0, 0, 0], b, 2 * 2 * 5 * 6), (a[0, 0, 0], b[0, :, 0], 2 * 5)):
        for variant in ("numpy", "tiled"):
            assert cudakern.profile(cudakern.matmul, x, y, variant=variant, repeat=1).flops == flops
    deep = np.ones((1,) * 20 + (3, 5), "f4")
    assert cudakern.profile(cudakern.matmul, deep, deep[..., :1, :].swapaxes(-1, -2), repeat=1).flops == 30


def test_two_plain_matrices_take_no_detour(backend, monkeypatch):
    d, out = cudakern.asarray(TWO), cudakern.empty((2, 2))
    for a, b in ((d, d), (d.T, d[::-1])):  # a kind of call that is new is looked at more closely
        cudakern.matmul(a, b, out=out)
    monkeypatch.setattr(_call, "on_device", None)
    assert np.array_equal((d @ d).get(), TWO @ TWO)
    assert cudakern.matmul(d.T, d[::-1], out=out) is out
    assert np.array_equal(out.get(), TWO.T @ TWO[::-1])
    for unlike in (d.astype("float32"), d[0], d[:1], d.reshape(1, 2, 2)):
        with pytest.raises(TypeError, match="NoneType"):
            cudakern.matmul(d, unlike)


def test_products_in_place(backend):
    """x @= y is matmul(x, y, out=x): NumPy's values, its errors, and the same array."""
    for a, b in ((TWO, TWO + 1), (np.stack([TWO, TWO.T]), TWO), (TWO, TWO.T), (TWO, np.ones((2, 3))), (TWO[0], TWO)):
        expected, error = attempt(lambda a=a, b=b: operator.imatmul(a.copy(), b))
        x = cudakern.asarray(a)
        result, mine = attempt(lambda x=x, b=b: operator.imatmul(x, cudakern.asarray(b)))
        assert mine is error
        if error is None:
            assert result is x
            assert np.array_equal(x.get(), expected)
        else:
            assert np.array_equal(x.get(), a)
    for other in (TWO, 2):
        with pytest.raises((TypeError, ValueError)):
            operator.imatmul(cudakern.asarray(TWO), other)


# --- sizes ---------------------------------------------------------------------------------------------------------
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32


@pytest.mark.parametrize("variant", ["auto", "naive"])
def test_more_axes_than_the_device_has(backend, variant):
    """Up to NumPy's own limit: axes of one element go, neighbours that lie as one become one, the rest is copied."""
    draw = numbers((2, 3, 4), "float32")
    lots = draw.reshape((1,) * (MOST_AXES - 3) + draw.shape)
    for a, b in (
        (lots, draw[0].T),
        (lots.transpose(*range(5, MOST_AXES - 2), *range(5), -2, -1), lots.swapaxes(-1, -2)),
        (np.ones((2,) * 15 + (1, 1), "f4"), np.ones((1, 1), "f4")),
        (np.ones((3, 1) * 9 + (2, 1), "f4")[..., ::2, :, :], np.ones((1, 1), "f4")),
        (np.ones((0,) + (2,) * 20, "f4"), np.ones((2, 2), "f4")),
    ):
        with as_on_a_gpu():
            result = cudakern.matmul(a, b, variant=variant)
        assert np.array_equal(result.shape, np.matmul(a, b).shape)
        assert np.allclose(result, a @ b, rtol=1e-5, atol=1e-6)
    out = np.zeros(lots.shape[:-1] + (3,), "float64")
    assert cudakern.matmul(lots, draw[0].T, out=out, variant=variant) is out
    assert np.allclose(out, lots @ draw[0].T, rtol=1e-5, atol=1e-6)


def test_axes_that_alternate(backend):
    """Fifteen axes of two, broadcast in turns: no two of them can be told as one."""
    a = numbers(2**8, "int32").reshape((2, 1) * 7 + (2, 1, 1))
    b = numbers(2**7, "int32").reshape((1, 2) * 7 + (1, 1, 1))
    assert np.array_equal(cudakern.matmul(a, b, variant="naive"), a @ b)


HUGE = (
    lambda one: (one((2**40, 1)), one((1, 2**40))),  # 2**80 elements
    lambda one: (one((2**31, 1)), one((1, 2**31))),  # 2**62 elements, more bytes than 64 bits count
    lambda one: (one((2**62, 1, 1)), one((1, 1))),
    lambda one: (one((2**62, 1, 1)), one((2, 1, 1, 1))),
)


@pytest.mark.parametrize("variant", ["auto", "naive", "tiled_padded"])
@pytest.mark.parametrize("case", range(len(HUGE)))
def test_products_that_no_memory_holds(backend, case, variant):
    """An error that says so, of NumPy's class, and the next call is right."""

    def host(shape):
        return as_strided(np.ones(1, "f8"), shape, (0,) * len(shape))

    module = native(backend)
    single = module.empty((1,), "float64", 0, 0)

    def device(shape):
        return DeviceArray(module.view(single, 0, shape, (0,) * len(shape), "float64"), module)

    assert attempt(lambda: np.matmul(*HUGE[case](host)))[1] in (ValueError, MemoryError)
    for place in (host, device):
        with as_on_a_gpu(), pytest.raises((ValueError, MemoryError, cudakern.CudaError)) as caught:
            cudakern.matmul(*HUGE[case](place), variant=variant)
        assert str(caught.value)
    assert np.array_equal(cudakern.matmul(TWO, TWO, variant=variant), TWO @ TWO)


def test_empty_products_of_huge_shapes(backend):
    """No element, and nothing is computed, however long the axes are."""
    wide = as_strided(np.ones(1, "f4"), (0, 2**40), (0, 0))
    tall = as_strided(np.ones(1, "f4"), (2**40, 0), (0, 0))
    for variant in ("auto", "naive", "tiled", "pitched"):
        assert cudakern.matmul(wide, tall, variant=variant).shape == (0, 0)


def test_a_long_row_of_one_element(backend):
    """K past 16 bits, with strides of 0: nothing is written out on the host."""
    k = 70_001
    a, b = (as_strided(np.full(1, 3, "int16"), shape, (0, 0)) for shape in ((2, k), (k, 3)))
    for variant in ("naive", "tiled"):
        assert np.array_equal(cudakern.matmul(a, b, variant=variant), np.full((2, 3), np.array(9 * k).astype("int16")))


def test_sums_that_no_memory_holds(backend):
    module = native(backend)
    single = module.empty((1,), "float64", 0, 0)
    x = DeviceArray(module.view(single, 0, (2**40,), (0,), "float64"), module)
    with pytest.raises((ValueError, MemoryError, cudakern.CudaError)):
        cudakern.sum_of_squares(x)
    assert cudakern.sum_of_squares(TWO, variant="coalesced") == 14
