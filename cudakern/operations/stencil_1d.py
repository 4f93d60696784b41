"""stencil_1d: the sum of the elements around each one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.rule import Rule
from ..calls.table import AUTO
from .registry import ArrayLike, Out, Result, registered, widened

RADIUS = 3


def _shape(x: Shape, *, radius: int) -> Shape:
    if len(x) != 1:
        raise ValueError(f"stencil_1d: x must be 1-D, but has shape {x}: pass x.ravel(), or one row at a time")
    return x


def _by_numpy(x: Array, *, radius: int) -> Array:
    if x.size == 0:
        return x.copy()
    if x.dtype.kind == "c":  # by parts: a complex 1 times an infinity has a NaN in it
        result = np.empty_like(x)
        result.real, result.imag = _by_numpy(x.real, radius=radius), _by_numpy(x.imag, radius=radius)
        return result
    return np.convolve(x, np.ones(2 * radius + 1, x.dtype))[radius : radius + x.size]


RULE = Rule("stencil_1d", ("x",), _by_numpy, preferred=("register_window",), shape=_shape, others="O")


def reference(x: Any, radius: int = RADIUS) -> Any:
    """The definition, element by element: in double, or the input's type if that is wider; integers in their own."""
    (wide,) = widened((x,), np.float64)
    result, n = np.zeros_like(wide), wide.size
    for shift in range(-min(radius, n), min(radius, n) + 1):
        result[max(-shift, 0) : n - max(shift, 0)] += wide[max(shift, 0) : n + min(shift, 0)]
    return result


@registered(
    3,
    shape_help="the array's length",
    reference=reference,
    magnitude=lambda x, radius=RADIUS: reference(np.abs(x), radius),
    ragged=((0,), (1,), (5,), (31,), (33,), (257,), (1009,), (65537,)),
    own=("radius",),
)
def stencil_1d(
    x: ArrayLike,
    /,
    radius: int = RADIUS,
    out: Out = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Sum the elements around each one: x[i - radius] + ... + x[i + radius], with zeros outside of the array.

    Parameters
    ----------
    x : array_like or DeviceArray
        Numbers or bools (whose sum is "or"), with one axis of any length and stride. ``auto`` leaves host arrays of
        objects to NumPy.
    radius : int
        Number of elements on each side that belong to a sum: 0 to 1024.
    <out>

    Returns
    -------
    ndarray or DeviceArray
        An array of x's length and type; integers wrap. It is on the device if x is. All kernels add from left to right
        and give the same bits.

    Notes
    -----
    For an x with at least ``2 * radius + 1`` elements, this is
    ``numpy.convolve(x, numpy.ones(2 * radius + 1), "same")``.

    Source: P2, with radius 3; M, halos; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.stencil_1d([1, 1, 1, 1, 1, 1], radius=2)
    array([3, 4, 5, 5, 4, 3])
    """
    return call(RULE, (x,), out, variant, stream, parameters, {"radius": radius})
