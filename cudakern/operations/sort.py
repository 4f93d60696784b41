"""sort: numpy.sort's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays.array import DeviceArray
from ..arrays.dtypes import kind_of
from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.checks import axis_of
from ..calls.host import by_rows, host_array
from ..calls.rule import HALVES, Rule
from ..calls.table import AUTO, NUMPY
from .registry import ArrayLike, Result, random_array, registered


def _one_row(a: Shape) -> Shape:
    if len(a) != 1:
        rows = (
            f"one at a time, or axis=None for all elements as one, or, on the host, variant={AUTO!r} for NumPy's sort"
        )
        raise ValueError(f"sort: a has shape {a}, but the kernels sort one row: pass {rows}")
    return a


RULE = Rule(
    "sort",
    ("a",),
    np.sort,
    preferred=("cub", "sample_sort", "many_blocks"),
    shape=_one_row,
    others="OmMSUTV",
    through={**dict.fromkeys(("bool", "int8", "uint8", "int16", "uint16"), "int32"), **HALVES},
)
SEVERAL_ROWS = replace(RULE, preferred=(), by_numpy=lambda a, axis: by_rows(np.sort, a, axis), shape=lambda a, axis: a)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Random keys: over the whole range for integers of up to 32 bits, of both signs for floats."""
    random = np.random.default_rng(seed)
    if dtype.kind in "iu":  # of 64 bits: small, as tests also take them as 32-bit keys
        limits = np.iinfo(dtype)
        least, most = (0, 1 << 20) if dtype.itemsize == 8 else (limits.min, limits.max)
        return (random.integers(least, most, shape, dtype=dtype, endpoint=True),)
    if kind_of(dtype) == "f":
        return (random.standard_normal(shape).astype(dtype),)
    return (random_array(random, shape, dtype),)


@registered(
    30,
    default_dtype="uint32",
    make=make,
    reference=np.sort,
    magnitude=lambda x: np.abs(np.sort(x)),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (4096,), (9001,)),
)
def sort(a: ArrayLike, axis: int | None = -1, *, variant: str = AUTO, stream: Any = None, **parameters: Any) -> Result:
    """Sort an array in ascending order, into a new array.

    Parameters
    ----------
    a : array_like or DeviceArray
        Any strides. The kernels take one row of uint32, int32 or float32. On a device ``auto`` also takes bools,
        integers of 8 and 16 bits, float16 and bfloat16, which it converts and converts back. For host arrays it takes
        everything that ``numpy.sort`` takes, and leaves other types and several rows to NumPy.
    axis : int or None
        The axis to sort along, which must hold all elements for a kernel (NumPy's AxisError if ``a`` does not have it).
        None sorts all elements as one row.

    Returns
    -------
    ndarray or DeviceArray
        An array of a's type, in native byte order, and of a's shape (one row for ``axis=None``). It is on the device
        if a is.

    Notes
    -----
    NaNs come last, as in NumPy. NumPy and "cub" (from the CUDA toolkit) leave -0.0 and 0.0 in their order; the other
    kernels put every -0.0 before every 0.0. Other equal elements are identical, so that a stable sort would give the
    same result. On a device "auto" takes the first of "cub", "sample_sort" and "many_blocks" that runs there.

    The variants that sort lists have the parameters ``lists=`` and ``memory="shared"``, "many_blocks" has ``piece=``
    (keys per block) and "sample_sort" has ``bins=``.

    Source: M, sorting; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.sort([3, 1, 2])
    array([1, 2, 3])
    """
    on_device = isinstance(a, DeviceArray)
    if (on_device or type(a) is np.ndarray) and a.ndim == 1 and type(axis) is int and axis in (-1, 0):
        return call(RULE, (a,), None, variant, stream, parameters)
    x = a if on_device else host_array(a, "a")
    if axis is None:
        x, axis = x.reshape(-1), -1
    if not x.ndim and x.dtype.kind not in "biufc":
        raise TypeError(f"sort: a must be an array, not {type(a).__name__}")
    along = axis_of("sort", axis, x.ndim)
    several = x.ndim > 1 and x.size != x.shape[along]
    if several and not on_device and variant in (AUTO, NUMPY):
        return call(SEVERAL_ROWS, (x,), None, variant, stream, parameters, {"axis": along})
    result = call(RULE, (x if several else x.reshape(-1),), None, variant, stream, parameters)
    return result.reshape(x.shape)
