"""Between NumPy's arrays and Views: NumPy's conversions and broadcasting around the C modules' plain copies."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dtypes, _layout
from ._native import Native, View

Array = npt.NDArray[Any]

#: What bfloat16's bits go as: a view of them keeps the order of its bytes only if it names it.
_BITS = np.dtype(np.uint16)
_SWAPPED_BITS = _BITS.newbyteorder("S")


def buffer_of(x: Array) -> Any:
    """A host array of a type that the device has, as the C modules take it: no buffer format is bfloat16."""
    if x.dtype.kind != "V":  # NumPy's kind of ml_dtypes' types
        return x
    return x.view(_BITS if x.dtype.isnative else _SWAPPED_BITS), _dtypes.BFLOAT16


def refuse_masked(
    x: Any, name: str = "this", why: str = "the device has no masks", instead: str = "its .filled(0) or its .data"
) -> None:
    """TypeError for a masked array: its mask would be lost without a word."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, and {why}: take {instead}")


def new(native: Native, shape: tuple[int, ...], name: str, device: int, stream: int) -> View:
    """Memory that is not cleared; ValueError for a shape that cannot be."""
    return native.empty(_layout.check_shape(shape, _dtypes.itemsize(name)), name, device, stream)


def from_host(native: Native, host: Array, device: int, stream: int) -> View:
    """A copy of a host array, of any layout and byte order."""
    view = new(native, host.shape, _dtypes.name_of(host.dtype), device, stream)
    native.upload(view, buffer_of(np.asarray(host, order="C")), stream)
    return view


def to_host(native: Native, view: View, stream: int) -> Array:
    """The values, in a new array; it returns when they are there."""
    out = np.empty(view.shape, _dtypes.from_name(view.dtype))
    native.download(buffer_of(out), view, stream)
    return out


def into_host(native: Native, view: View, out: Array, stream: int) -> None:
    """The values, into an array of the same shape and type, any layout and byte order."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    refuse_masked(out, "out")
    name = _dtypes.name_in_numpy(out.dtype)
    if name != view.dtype:
        raise TypeError(f"out is of {name}, and the array of {view.dtype}: take .astype({name!r})")
    if out.shape != view.shape:
        raise ValueError(f"out has shape {out.shape}, and the array {view.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if out.flags.carray and out.dtype.isnative:
        native.download(buffer_of(np.asarray(out)), view, stream)
    else:
        out[...] = to_host(native, view, stream)


def duplicate(native: Native, view: View, name: str, device: int, stream: int) -> View:
    """A copy in C order, of that type, on that device. ``stream`` is one of that device."""
    if view.device != device and view.dtype != name:  # types are converted within a device only
        view = duplicate(native, view, name, view.device, 0)
    to = native.empty(view.shape, name, device, stream)
    native.copy(to, view, stream)
    return to


def converted(native: Native, view: View, name: str, stream: int) -> View:
    """The same values in that type: the view itself where it has it."""
    return view if view.dtype == name else duplicate(native, view, name, view.device, stream)


def warn_of_imaginary_parts(source: str, target: str, stacklevel: int) -> None:
    """NumPy's warning, where a conversion drops imaginary parts."""
    if source.startswith("complex") and not target.startswith("complex") and target != "bool":
        message = "Casting complex values to real discards the imaginary part"
        warnings.warn(message, np.exceptions.ComplexWarning, stacklevel=stacklevel + 1)


def real_part(value: Any, target: str, stacklevel: int) -> Any:
    """The real part, after NumPy's warning, of what that type takes only the real part of; else the value itself."""
    # NumPy would do the same, and say that the warning came from here.
    if not isinstance(value, (np.ndarray, np.generic)) or target == "bool" or target.startswith("complex"):
        return value
    warn_of_imaginary_parts(_dtypes.name_in_numpy(value.dtype), target, stacklevel + 1)
    return value.real if value.dtype.kind == "c" else value


# --- assignment ------------------------------------------------------------------------------------------------------
def check_writable(view: View) -> None:
    """ValueError if the memory may not be written, or if elements share it."""
    if view.read_only:
        raise ValueError("assignment destination is read-only: its owner exported it so; take .copy()")
    if all(view.shape) and any(n > 1 and step == 0 for n, step in zip(view.shape, view.strides, strict=True)):
        raise ValueError(f"elements of the destination share memory (strides {view.strides}): take .copy() of it")


def fill(native: Native, to: View, value: Any, stream: int, stacklevel: int = 1, shape: Any = ()) -> None:
    """One value to all elements, converted as NumPy's assignment does, which sees an array of that shape in it."""
    check_writable(to)
    one = np.empty(shape, _dtypes.from_name(to.dtype))
    one[...] = real_part(value, to.dtype, stacklevel + 1)
    if all(to.shape):
        native.fill(to, one.tobytes(), stream)


def assign_host(native: Native, to: View, value: Any, stream: int, stacklevel: int = 1) -> None:
    """``to[...] = value`` for a value of the host: NumPy converts and refuses, the device broadcasts."""
    plain = type(value) is np.ndarray and value.shape == to.shape and value.flags.c_contiguous
    if plain and _dtypes.name_in_numpy(value.dtype) == to.dtype:
        check_writable(to)  # and no more: what follows takes twice as long
        native.upload(to, buffer_of(value), stream)
        return
    refuse_masked(value)
    value = real_part(value, to.dtype, stacklevel + 1)
    host = np.asarray(value)
    if host.size == 1:
        fill(native, to, value, stream, shape=host.shape)
        return
    check_writable(to)
    _layout.broadcast(host.shape, (0,) * host.ndim, to.shape)  # refuses
    if not all(to.shape):
        return
    if _dtypes.name_in_numpy(host.dtype) != to.dtype:
        # From the value as it came: NumPy treats Python's own numbers otherwise than an array's.
        host = np.empty(host.shape, _dtypes.from_name(to.dtype))
        host[...] = value
    host = np.asarray(host, order="C")
    if host.size == math.prod(to.shape):
        native.upload(to, buffer_of(host.reshape(to.shape)), stream)
    else:
        assign_view(native, to, from_host(native, host, to.device, stream), stream)


def assign_view(native: Native, to: View, source: View, stream: int, stacklevel: int = 1) -> None:
    """``to[...] = source`` within a device, with NumPy's broadcasting and conversions."""
    check_writable(to)
    if source.device != to.device:
        here = native.backend_name()
        places = f"the value is on {here}:{source.device} and the array on {here}:{to.device}"
        there = f"inside `with cudakern.device({to.device})`"
        raise ValueError(f"{places}: take cudakern.asarray(value) {there}, or value.get()")
    strides = _layout.broadcast(source.shape, source.strides, to.shape)
    warn_of_imaginary_parts(source.dtype, to.dtype, stacklevel + 1)
    if not all(to.shape):
        return
    if native.overlap(to, source):
        if (to.pointer, to.shape, to.strides, to.dtype) == (source.pointer, source.shape, source.strides, source.dtype):
            return
        source = duplicate(native, source, source.dtype, source.device, stream)
        strides = _layout.broadcast(source.shape, source.strides, to.shape)
    if source.shape != to.shape:
        source = native.view(source, 0, to.shape, strides, source.dtype)
    native.copy(to, source, stream)
