"""What the tests of NumPy's contract have in common: arrays with any strides, calls that may fail, NumPy's values."""

import contextlib
import functools
from dataclasses import dataclass

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import cudakern
from cases import (
    HAS_BFLOAT16,
    needs_no_out,
    numbers,
    product_reference,
    relative_error,
    smallest,
)
from cudakern.arrays.array import DeviceArray
from cudakern.arrays.dtypes import numpy_dtype, rounding_unit
from cudakern.calls import on_host
from cudakern.operations import matmul

TYPES = [name for name in cudakern.variants("matmul")["tiled"].types if name != "bfloat16" or HAS_BFLOAT16]
NUMPY_TYPES = [name for name in TYPES if name != "bfloat16"]
REAL_TYPES = [name for name in TYPES if not name.startswith("complex")]
ONLY_NUMPY = ["longdouble", "clongdouble", "object"]  # no kernel has them
PRODUCTS = {variant.name: variant for variant in cudakern.variants("matmul")}
SUMS = {variant.name: variant for variant in cudakern.variants("sum_of_squares")}
KERNELS = [name for name, variant in PRODUCTS.items() if not variant.on_host and needs_no_out(variant)]

PUBLIC_ERRORS = (TypeError, ValueError, MemoryError, NotImplementedError)
TWO = np.arange(4.0).reshape(2, 2)


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
        patch.setattr(on_host, "answers_at_once", lambda here: True)
        patch.setattr(matmul.RULE, "small", None)
        yield
