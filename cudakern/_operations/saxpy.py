"""saxpy: NumPy's rules for a * x + y around the ladder of the first steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array, widened
from ._call import call
from ._public import Beside, Operand, Out, Result, documented
from ._rule import Rule, broadcast_shape


def _shape(a: Shape, x: Shape, y: Shape) -> Shape:
    return broadcast_shape("saxpy", x, y)


def _common(a: Any, x: Any, y: Any) -> np.dtype[Any]:
    """The type of NumPy's ``a * x + y``. (Three at once would be another: 2.0 * int8 is float64, float32 or not.)"""
    if not isinstance(a, np.dtype) and not isinstance(x, np.dtype):
        return np.result_type(a, x, y)
    return np.result_type(np.result_type(a, x), y)


def _by_numpy(a: Array, x: Array, y: Array) -> Any:
    return np.add(np.multiply(a, x), y)


def _counted(a: Shape, x: Shape, y: Shape) -> tuple[Shape, ...]:
    shape = _shape(a, x, y)
    return a, shape, shape


RULE = Rule(
    "saxpy",
    ("a", "x", "y"),
    _by_numpy,
    preferred=("vectorized",),
    shape=_shape,
    broadcasts=True,
    numbers=("a",),
    common=_common,
    counted=_counted,
    others="OmM",
)


@documented()
def saxpy(
    a: Beside, x: Operand, y: Operand, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """A number times an array, plus an array, element by element: a * x + y.

    Parameters
    ----------
    a : number or 0-d array
        The factor. Python's own number takes the arrays' type where it can, as in NumPy: 2.0 * float32 is float32.
        It may be a number of the host where the arrays are on the device.
    x, y : array_like or DeviceArray
        Numbers or bools (which are "and" and "or"), of shapes that broadcast, any strides. ``auto`` brings a, x and y
        to the type of NumPy's ``a * x + y`` before it computes, and leaves host arrays of dates, spans of time and
        objects to that; a named variant takes arrays of one type. Each may be the ``out`` as well.
    <out>
    <call>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        Of the broadcast shape and the common type; integers wrap. On the device where x and y are.

    Raises
    ------
    <type_error>
    ValueError
        An a that is not one number; shapes that do not broadcast; an unknown variant; an out= of another shape.
    OverflowError
        A Python integer that the integers' type does not hold, as in NumPy.
    <failed>

    Notes
    -----
    P's first comparison of a program for the CPU with one for the GPU. The name is that of the BLAS. Product and sum
    may be rounded as one.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.saxpy(2, [1, 2, 3], [10, 20, 30])
    array([12, 24, 36])
    >>> cudakern.saxpy(2, [1, 2, 3], [10, 20, 30], variant="grid_stride").tolist()
    [12, 24, 36]
    """
    return call(RULE, (a, x, y), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """A factor, and two arrays of that shape."""
    random = np.random.default_rng(seed)
    a = random_array(random, (1,), dtype).reshape(())
    return a, random_array(random, shape, dtype), random_array(random, shape, dtype)


OPERATIONS = (
    Operation(
        saxpy,
        2,
        default_shape=(4096 * 256,),
        shape_help="the arrays'",
        make=make,
        reference=lambda a, x, y: _by_numpy(*widened((a, x, y), np.float64)),  # in double, or wider
        magnitude=lambda a, x, y: np.abs(a) * np.abs(x) + np.abs(y),
    ),
)
