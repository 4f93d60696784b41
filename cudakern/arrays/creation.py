"""New arrays on the current device, from values or other libraries, and pinned host arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._backend import current
from . import dtypes, exchange, layout, transfer
from .array import DeviceArray, memory_of
from .streams import stream_handle
from .transfer import Array


def asarray(x: Any, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None, stream: Any = None) -> DeviceArray:
    """An array on the current device, without a copy if ``x`` is there already.

    ``x`` is a DeviceArray, an array of another library or an array_like. A DeviceArray on the current device is
    returned as is; one on another device is copied. Device memory that offers DLPack or ``__cuda_array_interface__`` is
    used without a copy. Host memory (NumPy arrays, lists, scalars; any layout and byte order) is always copied, even on
    the emulator. ``dtype`` is as for ``numpy.asarray``. ``copy``: True always copies, False never, None if necessary.
    Copies are enqueued in ``stream``: None (the default stream), an int or an object with ``__cuda_stream__``.

    Raises
    ------
    TypeError, ValueError, BufferError, OutOfMemoryError
        A type that devices do not support (objects, strings, dates, long doubles...); a masked array; ``copy=False``
        where a copy is necessary; an array of another backend or an unsupported device; more than 16 axes; not enough
        memory.

    Examples
    --------
    >>> import cudakern
    >>> x = cudakern.asarray([[1, 2], [3, 4]], "float32")
    >>> x.shape, x.dtype
    ((2, 2), dtype('float32'))
    >>> cudakern.asarray(x) is x
    True
    """
    native, device, _ = current()
    name = None if dtype is None else dtypes.name_of(dtype)
    handle = stream_handle(stream, native, device)
    view = memory_of(x, "this array", native, device, stream)
    if view is None:
        if copy is not None and not copy:
            instead = "on the emulator, cudakern.from_dlpack uses it without a copy"
            raise ValueError(f"copy=False, but {type(x).__name__} is in host memory and must be copied ({instead})")
        transfer.refuse_masked(x, "x")
        host = transfer.as_numpy(x)
        host = np.asarray(transfer.real_part(host, name), dtypes.from_name(name)) if name else np.asarray(host)
        return DeviceArray(transfer.from_host(native, host, device, handle), native)
    target = name or view.dtype
    if view.device == device and view.dtype == target and not copy:
        return x if isinstance(x, DeviceArray) else DeviceArray(view, native)
    if copy is not None and not copy:
        change = f"from {view.dtype} on device {view.device} to {target} on device {device}"
        raise ValueError(f"copy=False, but a copy is necessary {change}")
    transfer.warn_of_imaginary_parts(view.dtype, target)
    return DeviceArray(transfer.duplicate(native, view, target, device, handle), native)


def empty(shape: Any, dtype: npt.DTypeLike = np.float64, *, stream: Any = None) -> DeviceArray:
    """A new, uninitialized array in C order on the current device; repeated allocations are cheap.

    ``shape`` and ``dtype`` are as for ``numpy.empty``; ``stream`` is the stream that uses the array first.

    Raises
    ------
    TypeError, ValueError
        An unsupported type; an invalid shape, negative lengths, more than 16 axes, too many bytes.
    OutOfMemoryError
        Not enough memory; ``.bytes`` were requested, ``.bytes_free`` were free.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.empty((2, 3), "int8").nbytes
    6
    """
    native, device, _ = current()
    sizes, name = layout.as_shape(shape), dtypes.name_of(dtype)
    return DeviceArray(transfer.new(native, sizes, name, device, stream_handle(stream, native, device)), native)


def zeros(shape: Any, dtype: npt.DTypeLike = np.float64, *, stream: Any = None) -> DeviceArray:
    """A new array of zeros on the current device.

    ``shape``, ``dtype``, ``stream`` and the errors (TypeError, ValueError, OutOfMemoryError) are those of ``empty``.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.zeros((2, 3), "int8").get().tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    x = empty(shape, dtype, stream=stream)
    if x.size:
        x._native.fill(x._view, bytes(x.itemsize), stream_handle(stream, x._native, x._view.device))
    return x


def empty_pinned(shape: Any, dtype: npt.DTypeLike = np.float64) -> Array:
    """A new, uninitialized NumPy array in pinned (page-locked) memory, copied to and from the device at full speed.

    ``shape``, ``dtype`` and the errors (TypeError, ValueError, OutOfMemoryError) are those of ``empty``. The rest of
    the system cannot use pinned memory, so use it only for data that is copied often. It is freed with the last
    array that uses it.

    Examples
    --------
    >>> import cudakern
    >>> x = cudakern.empty_pinned(3, "float32")
    >>> x[:] = 1, 2, 3
    >>> cudakern.asarray(x).get().tolist()
    [1.0, 2.0, 3.0]
    """
    native, _, _ = current()
    kind = dtypes.from_name(dtypes.name_of(dtype))
    sizes = layout.check_shape(layout.as_shape(shape), kind.itemsize, axes=64)  # NumPy has fewer
    nbytes = math.prod(sizes) * kind.itemsize
    return np.ndarray(sizes, kind, buffer=native.pinned(max(nbytes, 1)))


def from_dlpack(x: Any, *, stream: Any = None) -> DeviceArray:
    """A DeviceArray that shares the memory of another library's array; read-only if the producer marks it so.

    ``x`` has ``__dlpack__`` and ``__dlpack_device__``. With a GPU, it is a CuPy, PyTorch, JAX... array on any GPU; on
    the emulator, which uses host memory, a host array, e.g. of NumPy or PyTorch. ``stream`` (None, an int or an object
    with ``__cuda_stream__``) is the stream that uses it first: the producer orders its own work before that. Later uses
    in other streams are ordered automatically.

    Raises
    ------
    TypeError, BufferError, ValueError
        ``x`` does not support DLPack, or is a masked array; this backend cannot use its memory (``asarray`` copies host
        memory); the producer refuses, or its capsule is malformed or already used.

    Examples
    --------
    >>> import numpy as np, cudakern
    >>> x = np.arange(3.0)
    >>> with cudakern.use_backend("emulator"):
    ...     d = cudakern.from_dlpack(x)
    >>> d[0] = 7
    >>> cudakern.synchronize(); float(d[0]), float(x[0])
    (7.0, 7.0)
    """
    transfer.refuse_masked(x, "x")
    native, device, _ = current()
    if isinstance(x, DeviceArray) and x._native is native:
        device = x._view.device
    return DeviceArray(exchange.from_dlpack(x, native, device, stream), native)
