"""inclusive_scan: NumPy's cumulative sum."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._array import DeviceArray
from .._table import AUTO
from .._transfer import Array
from . import _scan
from ._call import call

NAME = "inclusive_scan"

RULE = _scan.rule(NAME, np.cumsum)


@overload
def inclusive_scan(
    x: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def inclusive_scan(
    x: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any: ...
def inclusive_scan(x: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """The sum of all elements up to each one, itself among them, as ``numpy.cumsum(x)``.

    Parameters
    ----------
    x : array_like or DeviceArray
        Numbers, any strides. An array of several axes is taken as one row of its elements, as ``numpy.cumsum(x)``
        takes it; there is no ``axis=``. ``auto`` leaves host arrays of spans of time and of objects to NumPy.
    out : ndarray or DeviceArray, optional
        Where the result goes: one axis with as many elements as ``x``, of a type that takes the result ("same_kind").
    variant : str
        "auto", which is the fastest correct way here (for host arrays without a GPU: NumPy), or a name from
        ``variants("inclusive_scan")``, which always runs that kernel.
    stream : optional
        For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
        ``__cuda_stream__``.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray or DeviceArray
        Of one axis, and of ``numpy.cumsum``'s type: int32 gives int64 and uint32 gives uint64, which wrap; float32
        stays float32. On the device where the input is.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have; ``axis=`` or ``dtype=``.
    ValueError
        An unknown variant; an out= of another shape.
    NotImplementedError
        "lookback", or a type that it alone takes, on a device of an older chip.
    CudaError
        The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).

    Notes
    -----
    M's prefix sum, of its sample sort: by one thread, and by chunks. Then what has been found since. Sums of floats
    are added in another order than NumPy's, each row in one of its own that is the same in every run.

    Of the kernels, only "lookback" takes bools and integers of 8 and 16 bits, and it needs compute capability 7.0.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.inclusive_scan([3, 1, 4, 1, 5])
    array([ 3,  4,  8,  9, 14])
    >>> cudakern.inclusive_scan([3, 1, 4, 1, 5], variant="blocks").tolist()
    [3, 4, 8, 9, 14]
    """
    return call(RULE, (x,), out, variant, stream, parameters)


OPERATION = _scan.operation(NAME, 32, inclusive_scan, np.cumsum)
