"""Page-locked host memory as a device array without a copy: "zero-copy", or mapped memory."""

from __future__ import annotations

import numpy as np

from .. import _dtypes
from .._array import DeviceArray
from .._backend import current
from .._transfer import Array


def mapped(array: Array) -> DeviceArray:
    """A device array in page-locked host memory, which kernels read and write in place, over the link.

    Parameters
    ----------
    array : ndarray
        Created by ``cudakern.empty_pinned``, or a view of such an array.

    Returns
    -------
    DeviceArray
        The same elements; it keeps the memory alive. The host sees a kernel's writes once the kernel has finished, and
        a kernel sees what the host wrote before the launch.

    Raises
    ------
    TypeError, ValueError
        The argument is not a NumPy array, its dtype is not supported on the device, or its memory is not page-locked.

    Notes
    -----
    The host's reads and writes are not ordered with the device's: call ``cudakern.synchronize()`` in between.

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
        raise TypeError(
            f"mapped: array must be a NumPy array created by cudakern.empty_pinned(), not {type(array).__name__}"
        )
    name = _dtypes.name_of(array.dtype)
    native, device, _ = current()
    if array.size == 0:
        return DeviceArray(native.empty(array.shape, name, device, 0), native)
    pointer = native.pinned_on_device(array.ctypes.data, device)
    readonly = not array.flags.writeable
    return DeviceArray(native.adopt(array, pointer, array.shape, array.strides, name, device, readonly), native)
