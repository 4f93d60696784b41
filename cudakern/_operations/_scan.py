"""inclusive_scan and exclusive_scan: NumPy's cumulative sum, and the same one place later."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._host import host_array
from .._table import AUTO
from .._transfer import Array
from . import Operation
from ._call import call
from ._public import Operand, Out, Result, documented
from ._rule import Given, Rule

DOCSTRING = """<sum>

Parameters
----------
x : array_like or DeviceArray
    Numbers, any strides. An array of several axes is taken as one row of its elements, as ``numpy.cumsum(x)``
    takes it; there is no ``axis=``. ``auto`` leaves host arrays of spans of time and of objects to NumPy.
out : ndarray or DeviceArray, optional
    Where the result goes: one axis with as many elements as ``x``, of a type that takes the result ("same_kind").
<call>

Returns
-------
ndarray or DeviceArray
    Of one axis, and of ``numpy.cumsum``'s type: int32 gives int64 and uint32 gives uint64, which wrap; float32
    stays float32. On the device where the input is.

Raises
------
TypeError
    A type or a parameter that the variant does not have; ``axis=`` or ``dtype=``.
ValueError
    An unknown variant; an out= of another shape.
NotImplementedError
    "lookback", or a type that it alone takes, on a device of an older chip.
<failed>

Notes
-----
M's prefix sum, of its sample sort, and what is known since. Floats are added in another order than NumPy's, by
each variant in one of its own that is the same in every run.

Of the kernels, only "lookback" takes bools and integers of 8 and 16 bits, and it needs compute capability 7.0.

Examples
--------
>>> import cudakern
>>> cudakern.<name>([3, 1, 4, 1, 5]).tolist()
<example>
>>> cudakern.<name>([3, 1, 4, 1, 5], variant="blocks").tolist()
<example>
"""


def _ready(inputs: tuple[Any, ...], own: Any, parameters: Any, variant: Any) -> Given:
    """TypeError for one object, whose exclusive sum would be a 0 of NumPy's."""
    (x,) = inputs
    single = not isinstance(x, (list, tuple, DeviceArray)) and np.ndim(x) == 0  # (a list is not converted for this)
    if single and host_array(x, "x").dtype.kind == "O":
        raise TypeError(f"exclusive_scan: x is one {type(x).__name__}, and an array of numbers is wanted")
    return inputs, own


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
)
EXCLUSIVE = replace(INCLUSIVE, name="exclusive_scan", by_numpy=_exclusive, ready=_ready)


@documented(
    DOCSTRING, sum="The sum of all elements before each one: 0, x[0], x[0] + x[1]...", example="[0, 3, 4, 8, 9]"
)
def exclusive_scan(
    x: Operand, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    return call(EXCLUSIVE, (x,), out, variant, stream, parameters)


@documented(
    DOCSTRING,
    sum="The sum of all elements up to each one, itself among them, as ``numpy.cumsum(x)``.",
    example="[3, 4, 8, 9, 14]",
)
def inclusive_scan(
    x: Operand, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    return call(INCLUSIVE, (x,), out, variant, stream, parameters)


OPERATIONS = (
    Operation(exclusive_scan, 31, reference=_exclusive, magnitude=lambda x: _exclusive(np.abs(x))),
    Operation(inclusive_scan, 32, reference=np.cumsum, magnitude=lambda x: np.cumsum(np.abs(x))),
)
