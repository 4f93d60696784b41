"""Arrays on the current device: from values, from other libraries, and new ones; and page-locked ones of the host."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dtypes, _exchange, _layout, _transfer
from ._array import DeviceArray
from ._backend import current
from ._native import Native, View
from ._streams import stream_handle
from ._transfer import Array


def asarray(x: Any, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None, stream: Any = None) -> DeviceArray:
    """Values as an array on the current device; without a copy where they are there already.

    Parameters
    ----------
    x : DeviceArray, array of another library, array_like
        A DeviceArray of the current device is given back as it is, one of another device is copied to this one. What
        offers DLPack or ``__cuda_array_interface__`` for device memory is used where it lies. Host memory (NumPy's
        arrays, lists, scalars) is always copied, also on the emulator; any layout and byte order.
    dtype : dtype, optional
        As ``numpy.asarray`` has it.
    copy : bool, optional
        True: always a copy; False: never; None: where it must be.
    stream : None, int or object with ``__cuda_stream__``
        Where copies are enqueued; without it: the default stream.

    Returns
    -------
    DeviceArray
        Of the same shape.

    Raises
    ------
    TypeError, ValueError, BufferError, OutOfMemoryError
        Elements that the device has no type for (objects, strings, dates, long doubles...), a masked array;
        ``copy=False``, and it takes a copy; an array of another backend; more than 16 axes; another library's array on
        a device that this backend does not use; no room.

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
    name = None if dtype is None else _dtypes.name_of(dtype)
    handle = stream_handle(stream, native, device)
    if isinstance(x, DeviceArray):
        if x._native is not native:
            raise ValueError(
                f"this array is on {x.device}, and the current backend is {native.backend_name()!r}: "
                "take cudakern.asarray(x.get())"
            )
        view: View | None = x._view
    else:
        view = _exchange.on_device(x, native, device, stream)
    if view is None:
        if copy is not None and not copy:
            raise ValueError(
                f"copy=False, and {type(x).__name__} is in host memory: a device array takes a copy of it "
                "(on the emulator, cudakern.from_dlpack uses it as it is)"
            )
        return _from_host(x, name, native, device, handle)
    wanted = name or view.dtype
    if view.device == device and view.dtype == wanted and not copy:
        return x if isinstance(x, DeviceArray) else DeviceArray(view, native)
    if copy is not None and not copy:
        way = f"from {view.dtype} on device {view.device} to {wanted} on {device}"
        raise ValueError(f"copy=False, and it takes a copy to go {way}")
    _transfer.warn_of_imaginary_parts(view.dtype, wanted, 2)
    return DeviceArray(_transfer.duplicate(native, view, wanted, device, handle), native)


def _from_host(x: Any, name: str | None, native: Native, device: int, stream: int) -> DeviceArray:
    _transfer.refuse_masked(x)
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        x = np.from_dlpack(x)
    host = np.asarray(x) if name is None else np.asarray(_transfer.real_part(x, name, 3), _dtypes.from_name(name))
    return DeviceArray(_transfer.from_host(native, host, device, stream), native)


def empty(shape: Any, dtype: npt.DTypeLike = np.float64, *, stream: Any = None) -> DeviceArray:
    """A new array on the current device, whose values are whatever was there.

    Parameters
    ----------
    shape, dtype
        As ``numpy.empty``.
    stream : None, int or object with ``__cuda_stream__``
        Where it will be used first.

    Returns
    -------
    DeviceArray
        In C order. Memory comes from the device's pool: after the first time it costs next to nothing.

    Raises
    ------
    TypeError, ValueError
        A type that the device has not, a shape that is none, negative lengths, more than 16 axes, too many bytes.
    OutOfMemoryError
        The device has no room; ``.bytes`` and ``.bytes_free`` say how much was asked for and was free.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.empty((2, 3), "int8").nbytes
    6
    """
    native, device, _ = current()
    sizes, name = _layout.as_shape(shape), _dtypes.name_of(dtype)
    return DeviceArray(_transfer.new(native, sizes, name, device, stream_handle(stream, native, device)), native)


def zeros(shape: Any, dtype: npt.DTypeLike = np.float64, *, stream: Any = None) -> DeviceArray:
    """A new array of zeros on the current device.

    Parameters
    ----------
    shape, dtype, stream
        As ``empty``.

    Returns
    -------
    DeviceArray
        In C order.

    Raises
    ------
    TypeError, ValueError, OutOfMemoryError
        As ``empty``.

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
    """A new NumPy array in page-locked memory, which copies to and from the device at the link's full speed.

    Parameters
    ----------
    shape, dtype
        As ``empty``.

    Returns
    -------
    ndarray
        In C order, its values whatever was there; the memory is given back with the last array that uses it. Locked
        pages are taken from what the whole computer can use otherwise: take it for what is copied again and again.

    Raises
    ------
    TypeError, ValueError, OutOfMemoryError
        As ``empty``; the host can lock no more pages.

    Examples
    --------
    >>> import cudakern
    >>> x = cudakern.empty_pinned(3, "float32")
    >>> x[:] = 1, 2, 3
    >>> cudakern.asarray(x).get().tolist()
    [1.0, 2.0, 3.0]
    """
    native, _, _ = current()
    kind = _dtypes.from_name(_dtypes.name_of(dtype))
    sizes = _layout.check_shape(_layout.as_shape(shape), kind.itemsize, axes=64)  # NumPy has fewer
    nbytes = math.prod(sizes) * kind.itemsize
    return np.ndarray(sizes, kind, buffer=native.pinned(max(nbytes, 1)))


def from_dlpack(x: Any, *, stream: Any = None) -> DeviceArray:
    """Another library's array as a DeviceArray of the same memory: what one writes, the other sees.

    Parameters
    ----------
    x : object with ``__dlpack__`` and ``__dlpack_device__``
        On a GPU: an array of CuPy, PyTorch, JAX... on any of its devices. On the emulator, whose devices are host
        memory: an array of the host, as NumPy's and PyTorch's are.
    stream : None, int or object with ``__cuda_stream__``
        Where it will be used first: the producer makes what it has enqueued come before that. Later uses in other
        streams are ordered by themselves.

    Returns
    -------
    DeviceArray
        On the device where the memory is; read-only if the producer says so.

    Raises
    ------
    TypeError, BufferError, ValueError
        ``x`` does not take part in DLPack, or is a masked array; the memory is where this backend does not use it
        (``asarray`` copies from the host), or the producer refuses; its capsule is malformed or was used already.

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
    _transfer.refuse_masked(x)
    native, device, _ = current()
    if isinstance(x, DeviceArray) and x._native is native:
        device = x._view.device
    return DeviceArray(_exchange.from_dlpack(x, native, device, stream), native)
