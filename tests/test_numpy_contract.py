"""NumPy's whole contract, against NumPy itself: shapes, strides, types, out=, errors, of host and of device arrays.

An array is drawn as (type, shape, strides, offset) over a buffer of random numbers, and told to NumPy and to cudakern
from the same bytes: transposed, negative, broadcast, overlapping, misaligned, swapped. `--hypothesis-profile=deep` (or
CUDAKERN_HYPOTHESIS=deep) takes ten thousand examples of each test.
"""

import contextlib
from dataclasses import dataclass, replace

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import cudakern
from cases import (
    BACKENDS,
    native,
    relative_error,
    sum_reference,
)
from cudakern.arrays.array import DeviceArray
from cudakern.arrays.dtypes import matmul_types, numpy_dtype, rounding_unit
from numpys import (
    KERNELS,
    NUMPY_TYPES,
    ONLY_NUMPY,
    PRODUCTS,
    REAL_TYPES,
    SUMS,
    TYPES,
    Form,
    as_on_a_gpu,
    attempt,
    bytes_of,
    forms,
    hold,
    shapes,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # as NumPy warns, so does its variant


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
