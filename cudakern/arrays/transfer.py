"""Copies between NumPy arrays and Views: the C modules copy, and this module converts and broadcasts as NumPy does."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from .._native import Native, View
from . import dtypes, layout

Array = npt.NDArray[Any]

#: For a smaller array, the page faults of new memory are a small part of a copy, and warm memory has large pages.
WARM_BYTES = 4 << 20

_BITS = np.dtype(np.uint16)  #: of bfloat16


def buffer_of(x: Array) -> Any:
    """A host array as the C modules take it: with the type's name for bfloat16, which no buffer format expresses."""
    if x.dtype.kind != "V":  # NumPy's kind of ml_dtypes' types
        return x
    # A view keeps the order of bytes only if its type has that order.
    return x.view(_BITS if x.dtype.isnative else _BITS.newbyteorder("S")), dtypes.BFLOAT16


def as_numpy(x: Any) -> Any:
    """x itself, or NumPy's array of the memory of an object that has DLPack but no ``__array__``."""
    shares = hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__") and not hasattr(x, "__array__")
    return np.from_dlpack(x) if shares else x


def refuse_masked(x: Any, name: str, instead: str = "") -> None:
    """TypeError for a masked array."""
    # np.ma would import that module, which not every program needs. Without it, there are no masked arrays.
    if isinstance(x, getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())):
        instead = instead or f"{name}.filled(0) or {name}.data"
        raise TypeError(f"{name} is a masked array, and its mask would be lost: take {instead}")


def new(native: Native, shape: tuple[int, ...], name: str, device: int, stream: int) -> View:
    """An uninitialized array; ValueError for an impossible shape."""
    return native.empty(layout.check_shape(shape, dtypes.itemsize(name)), name, device, stream)


def from_host(native: Native, host: Array, device: int, stream: int) -> View:
    """A copy of a host array, of any layout and byte order."""
    view = new(native, host.shape, dtypes.name_of(host.dtype), device, stream)
    native.upload(view, buffer_of(host), stream)
    return view


def new_host(native: Native, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """An uninitialized array for a result on the host; a large one in warm memory (csrc/runtime/warm.c), if there is
    any."""
    out = np.empty(shape, dtype)
    memory = native.warm(out.nbytes) if out.nbytes >= WARM_BYTES else None
    return out if memory is None else np.ndarray(out.shape, out.dtype, memory)


def to_host(native: Native, view: View, stream: int) -> Array:
    """The values in a new array."""
    out = new_host(native, view.shape, dtypes.from_name(view.dtype))
    native.download(buffer_of(out), view, stream)
    return out


def into_host(native: Native, view: View, out: Array, stream: int) -> None:
    """Copies the values to an array of the same shape and type, of any layout and byte order."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a NumPy array, not {type(out).__name__}")
    refuse_masked(out, "out")
    name = dtypes.name_in_numpy(out.dtype)
    if name != view.dtype:
        raise TypeError(f"out has type {name}, but the array has type {view.dtype}: use .astype({name!r})")
    if out.shape != view.shape:
        raise ValueError(f"out has shape {out.shape}, but the array has shape {view.shape}")
    if not out.flags.writeable:
        raise ValueError("out is read-only")
    if not layout.elements_meet(out.shape, out.strides, out.itemsize):
        native.download(buffer_of(np.asarray(out)), view, stream)
    else:
        out[...] = to_host(native, view, stream)


def duplicate(native: Native, view: View, name: str, device: int, stream: int) -> View:
    """A copy in C order of that type on that device, enqueued in a stream of that device."""
    if view.device != device and view.dtype != name:  # a copy between devices cannot convert
        view = duplicate(native, view, name, view.device, 0)
    to = native.empty(view.shape, name, device, stream)
    native.copy(to, view, stream)
    return to


def converted(native: Native, view: View, name: str, stream: int) -> View:
    """The view, or a copy if its type is another."""
    return view if view.dtype == name else duplicate(native, view, name, view.device, stream)


def warn_of_imaginary_parts(source: str, target: str) -> bool:
    """True if a conversion discards imaginary parts, after NumPy's warning at the caller's line outside the package."""
    if not source.startswith("complex") or target.startswith("complex") or target == "bool":
        return False
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("cudakern."):
        level, frame = level + 1, frame.f_back
    message = "Casting complex values to real discards the imaginary part"
    warnings.warn(message, np.exceptions.ComplexWarning, stacklevel=level)
    return True


def real_part(value: Any, target: str) -> Any:
    """The value, or its real part if the target type takes only that: NumPy's warning would name this file."""
    is_array = isinstance(value, (np.ndarray, np.generic))
    return value.real if is_array and warn_of_imaginary_parts(dtypes.name_in_numpy(value.dtype), target) else value


# --- assignment ------------------------------------------------------------------------------------------------------
def check_writable(view: View) -> None:
    """ValueError if the memory is read-only, or if elements share it."""
    if view.read_only:
        raise ValueError("assignment destination is read-only, since its owner exported it as read-only: call .copy()")
    if all(view.shape) and any(n > 1 and step == 0 for n, step in zip(view.shape, view.strides, strict=True)):
        raise ValueError(f"elements of the destination share memory (strides {view.strides}): call .copy() on it first")


def fill(native: Native, to: View, value: Any, stream: int, shape: Any = ()) -> None:
    """One value to all elements, converted as NumPy assigns it to an array of that shape."""
    check_writable(to)
    one = np.empty(shape, dtypes.from_name(to.dtype))
    one[...] = real_part(value, to.dtype)
    if all(to.shape):
        native.fill(to, one.tobytes(), stream)


def assign_host(native: Native, to: View, value: Any, stream: int) -> None:
    """``to[...] = value`` for a value on the host: NumPy converts it, and the device broadcasts it."""
    plain = type(value) is np.ndarray and value.shape == to.shape and value.flags.c_contiguous
    if plain and dtypes.name_in_numpy(value.dtype) == to.dtype:
        check_writable(to)  # the general way below takes twice as long
        native.upload(to, buffer_of(value), stream)
        return
    refuse_masked(value, "value")
    value = real_part(as_numpy(value), to.dtype)
    host = np.asarray(value)
    if host.size == 1:
        fill(native, to, value, stream, shape=host.shape)
        return
    check_writable(to)
    layout.broadcast(host.shape, (0,) * host.ndim, to.shape)  # for its errors
    if not all(to.shape):
        return
    if dtypes.name_in_numpy(host.dtype) != to.dtype:
        # From the value itself, because NumPy converts Python's numbers differently from those of an array.
        host = np.empty(host.shape, dtypes.from_name(to.dtype))
        host[...] = value
    if host.size == math.prod(to.shape):
        native.upload(to, buffer_of(host.reshape(to.shape)), stream)
    else:
        assign_view(native, to, from_host(native, host, to.device, stream), stream)


def assign_view(native: Native, to: View, source: View, stream: int) -> None:
    """``to[...] = source`` within a device, with NumPy's broadcasting and conversions."""
    check_writable(to)
    if source.device != to.device:
        name, here, there = native.backend_name(), to.device, source.device
        instead = f"take cudakern.asarray(value) inside `with cudakern.device({here})`, or value.get()"
        raise ValueError(f"the value is on {name}:{there}, but the array is on {name}:{here}: {instead}")
    strides = layout.broadcast(source.shape, source.strides, to.shape)
    warn_of_imaginary_parts(source.dtype, to.dtype)
    if not all(to.shape):
        return
    if native.overlap(to, source):
        if (to.pointer, to.shape, to.strides, to.dtype) == (source.pointer, source.shape, source.strides, source.dtype):
            return
        source = duplicate(native, source, source.dtype, source.device, stream)
        strides = layout.broadcast(source.shape, source.strides, to.shape)
    if source.shape != to.shape:
        source = native.view(source, 0, to.shape, strides, source.dtype)
    native.copy(to, source, stream)
