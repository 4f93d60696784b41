"""inclusive_scan and exclusive_scan: NumPy's cumulative sum, and the same shifted by one element."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.array import DeviceArray
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.host import host_array
from ..calls.rule import HALVES, Inputs, Rule
from ..calls.table import AUTO
from .registry import ArrayLike, Out, Result, registered


def _refuse_objects(inputs: Inputs) -> None:
    """TypeError for one object, whose exclusive sum would be a 0 of NumPy's."""
    (x,) = inputs
    single = not isinstance(x, (list, tuple, DeviceArray)) and np.ndim(x) == 0  # (a list is not converted for this)
    if single and host_array(x, "x").dtype.kind == "O":
        raise TypeError(f"exclusive_scan: x must be an array of numbers, not one {type(x).__name__}")


def _exclusive(x: Array) -> Array:
    summed = np.cumsum(x)
    result = np.zeros_like(summed)
    result[1:] = summed[:-1]
    return result


INCLUSIVE = Rule(
    "inclusive_scan",
    ("x",),
    np.cumsum,
    preferred=("lookback", "blocks"),
    shape=lambda x: (math.prod(x),),  # one row of all elements, as numpy.cumsum gives it
    others="Om",
    through=HALVES,
)
EXCLUSIVE = replace(INCLUSIVE, name="exclusive_scan", by_numpy=_exclusive, refuse=_refuse_objects)


@registered(31, reference=_exclusive, magnitude=lambda x: _exclusive(np.abs(x)))
def exclusive_scan(
    x: ArrayLike, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """Sum all elements before each one: 0, x[0], x[0] + x[1]...

    Parameters
    ----------
    x : array_like or DeviceArray
        Numbers, with any strides. An array of several axes is flattened, as by ``numpy.cumsum(x)``; there is no
        ``axis=``. ``auto`` leaves host arrays of time spans and objects to NumPy. On a device it sums float16 and
        bfloat16 in float32, and rounds the sums; complex numbers are for the host.
    out : ndarray or DeviceArray, optional
        Array for the result: one axis with as many elements as ``x``, of a type it can be cast to ("same_kind").

    Returns
    -------
    ndarray or DeviceArray
        An array of one axis with ``numpy.cumsum``'s type: int32 gives int64 and uint32 gives uint64, which wrap;
        float32 stays float32. It is on the device if the input is.

    Notes
    -----
    Each variant adds floats in an order of its own, which differs from NumPy's and is the same in every run.

    Of the kernels, only "lookback" takes bools and integers of 8 and 16 bits. It needs compute capability 7.0.

    Source: M, the prefix sum of sample sort; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.exclusive_scan([3, 1, 4, 1, 5]).tolist(), cudakern.inclusive_scan([3, 1, 4, 1, 5]).tolist()
    ([0, 3, 4, 8, 9], [3, 4, 8, 9, 14])
    """
    return call(EXCLUSIVE, (x,), out, variant, stream, parameters)


@registered(32, like="exclusive_scan", reference=np.cumsum, magnitude=lambda x: np.cumsum(np.abs(x)))
def inclusive_scan(
    x: ArrayLike, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """Sum the elements up to and including each, as ``numpy.cumsum``."""
    return call(INCLUSIVE, (x,), out, variant, stream, parameters)
