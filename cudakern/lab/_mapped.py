"""Page-locked host memory as an array on the device, without a copy: "zero-copy", or mapped memory."""

from __future__ import annotations

import numpy as np

from .. import _dtypes
from .._array import DeviceArray
from .._backend import current
from .._transfer import Array


def mapped(array: Array) -> DeviceArray:
    """An array of the device that lies in page-locked host memory: kernels read and write it there, over the link.

    Parameters
    ----------
    array : ndarray
        Of ``cudakern.empty_pinned``, or a part of one.

    Returns
    -------
    DeviceArray
        The same elements. It keeps the memory; the host sees what a kernel wrote when the kernel is done, and kernels
        see what the host wrote before their launch.

    Raises
    ------
    TypeError, ValueError
        No NumPy array, or one of a type that the device has not; memory that is not page-locked.

    Notes
    -----
    Nothing orders the host's own reads and writes with the device's: ``cudakern.synchronize()`` does.

    Examples
    --------
    >>> import cudakern
    >>> from cudakern import lab
    >>> x = cudakern.empty_pinned(3, "float32")
    >>> x[:] = 1, 2, 3
    >>> cudakern.vector_add(lab.mapped(x), lab.mapped(x)).get().tolist()
    [2.0, 4.0, 6.0]
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"mapped takes a NumPy array of cudakern.empty_pinned(), not {type(array).__name__}")
    name = _dtypes.name_of(array.dtype)
    native, device, _ = current()
    if array.size == 0:
        return DeviceArray(native.empty(array.shape, name, device, 0), native)
    pointer = native.pinned_on_device(array.ctypes.data, device)
    readonly = not array.flags.writeable
    return DeviceArray(native.adopt(array, pointer, array.shape, array.strides, name, device, readonly), native)
