"""interp: NumPy's rules for linear interpolation in a table."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._dtypes import kind_of
from .._exchange import is_elsewhere
from .._host import host_array
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import random_array, registered
from ._call import call
from ._public import Number, Operand, Out, Result, documented
from ._rule import WEAK, Rule, floating

UNEVEN = 2.0**-10  # of a step: how far a table that the texture takes may be from even spacing


def _shape(x: Shape, xp: Shape, fp: Shape, left: Shape, right: Shape) -> Shape:
    if len(xp) != 1 or xp != fp or xp == (0,):
        raise ValueError(
            f"interp: xp is {xp} and fp is {fp}: a table is two arrays of one axis and the same length, with at least "
            "one point"
        )
    return x


_common = functools.partial(
    floating, of="interp", hint=": interpolate the real and the imaginary part of fp separately"
)


def _by_numpy(x: Array, xp: Array, fp: Array, left: Array, right: Array) -> Any:
    return np.interp(x, xp, fp, float(left), float(right))


def _as_double(x: Any, name: str) -> Array:
    """A host array in the type in which NumPy interpolates."""
    array = host_array(x, name)
    _common(array.dtype)
    return array.astype(np.float64, copy=False)


def _number(value: Any, name: str) -> Any:
    """left or right as ``call`` takes it: a Python float, or an array on the device."""
    if type(value) not in WEAK and (isinstance(value, DeviceArray) or is_elsewhere(value)):
        return value
    try:
        return float(value.item() if isinstance(value, (np.ndarray, np.generic)) else value)
    except (TypeError, ValueError):
        raise TypeError(f"interp: {name} must be one real number, not {value!r:.60}") from None


def _end(fp: Any, index: int) -> Any:
    """A table's first or last value; 0.0 for a table of a wrong shape, which is refused later."""
    if isinstance(fp, DeviceArray):
        view, module = fp._view, fp._native
        if len(view.shape) != 1 or not view.shape[0]:
            return 0.0
        offset = index % view.shape[0] * view.strides[0]  # (as fp[index], in less time)
        return DeviceArray(module.view(view, offset, (), (), view.dtype), module)
    if is_elsewhere(fp):
        return 0.0
    values = np.asarray(fp)
    return float(values[index]) if values.ndim == 1 and values.size and values.dtype.kind in "biuf" else 0.0


def _check_table(points: Array, variant: Any) -> None:
    """ValueError for a host table that decreases, or whose spacing is too uneven for a texture."""
    kind = points.dtype.kind
    if points.ndim != 1 or points.size < 2 or (kind not in "biuf" and kind_of(points.dtype) != "f"):
        return
    fits = points[1:] >= points[:-1]
    if not np.logical_and.reduce(fits):
        i = int(np.argmin(fits))
        raise ValueError(
            f"interp: xp must increase, and xp[{i}] is {points[i]}, xp[{i + 1}] is {points[i + 1]}: sort xp, and fp in "
            "the same order (np.argsort)"
        )
    if variant != "texture":
        return
    wide = points.astype(np.float64)
    step = (wide[-1] - wide[0]) / (wide.size - 1)
    off = np.abs(wide - (wide[0] + step * np.arange(wide.size)))
    if step == 0 or not np.logical_and.reduce(off <= UNEVEN * step):
        i = int(np.argmax(off))
        raise ValueError(
            f"interp: variant 'texture' takes evenly spaced tables, and xp[{i}] = {points[i]} is off by "
            f"{off[i]:.3g} with steps of {step:.3g}; variant='global_memory' takes any table that increases"
        )


RULE = Rule(
    "interp",
    ("x", "xp", "fp", "left", "right"),
    _by_numpy,
    preferred=("global_memory",),
    shape=_shape,
    numbers=("left", "right"),
    common=_common,
)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Points inside and on both sides outside of an evenly spaced table; left and right."""
    random = np.random.default_rng(seed)
    points, length = shape
    x = random_array(random, (points,), np.dtype(np.float64)) * 1.2 - 0.1
    table = np.linspace(0, 1, length) if length > 1 else np.array([0.5])
    values = random_array(random, (length,), np.dtype(np.float64)) * 2 - 1
    return tuple(np.asarray(v, dtype) for v in (x, table, values, -3.0, 4.0))


def _cells(x: Array, xp: Array) -> Array:
    return np.clip(np.searchsorted(xp, np.nan_to_num(x), side="right") - 1, 0, max(xp.size - 2, 0))


def reference(x: Array, xp: Array, fp: Array, left: Array, right: Array) -> Array:
    """numpy.interp in the inputs' own type: NumPy's is in float64 alone."""
    x, xp, fp = (np.asarray(v, np.result_type(v, np.float64)) for v in (x, xp, fp))
    i = _cells(x, xp)
    j = np.minimum(i + 1, xp.size - 1)
    with np.errstate(all="ignore"):
        inside = fp[i] + (x - xp[i]) * ((fp[j] - fp[i]) / np.where(xp[j] == xp[i], 1, xp[j] - xp[i]))
    inside = np.where(x == xp[i], fp[i], np.where(x == xp[-1], fp[-1], inside))
    return np.asarray(np.where(x < xp[0], left, np.where(x > xp[-1], right, inside)))


def magnitude(x: Array, xp: Array, fp: Array, *ends: Array) -> Array:
    """The values near a point: of its cell and one on each side."""
    i, size = _cells(x, xp), np.abs(fp)
    near = [size[np.clip(i + k, 0, size.size - 1)] for k in (-1, 0, 1, 2)]
    return np.asarray(2 * np.max(near, axis=0))


@registered(
    40,
    default_shape=(1 << 20, 1000),
    shape_help="points, length of the table",
    fixed_rank=True,
    make=make,
    reference=reference,
    magnitude=magnitude,
    ragged=((0, 5), (1, 1), (31, 1), (33, 2), (257, 17), (1009, 300), (65537, 1000)),
    cancels=True,
)
@documented()
def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    left: Number = None,
    right: Number = None,
    *,
    out: Out = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Interpolate linearly between the points of a table, as ``numpy.interp`` does.

    Parameters
    ----------
    x : array_like or DeviceArray
        Where to interpolate, with any shape and strides.
    xp, fp : array_like or DeviceArray
        The table: increasing points (two equal ones make a step), and the values at these points. A table on the device
        is not checked, since the check would have to wait: if it does not increase, the results are meaningless.
    left, right : float, optional
        The values before and after the table. Without them: its first and its last value.
    <out>
    <call>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        An array of x's shape. ``auto`` gives float64 for host arrays, as NumPy always does; a named kernel, and any
        kernel for device arrays, gives the arrays' own type (float64 for integers).

    <raises>

    Notes
    -----
    The variants differ in the memory that holds the table. ``texture`` takes evenly spaced tables (and assumes that
    tables on the device are), and is exact to about 1/256 of the step between two values. ``shared`` takes tables that
    fit into a block's shared memory, ``constant`` up to 8192 points of float32 or 4096 of float64. There is no
    ``period=``.

    Source: M and T6, table look-up; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.interp([0.5, 1.5, 9], [0, 1, 2], [10, 20, 0], right=-1)
    array([15., 10., -1.])
    """
    if "period" in parameters:
        raise TypeError(
            "interp: period= is not supported: pass x % period, and a table with one more point on each side"
        )
    if not isinstance(xp, DeviceArray):
        xp = host_array(xp, "xp")
        _check_table(xp, variant)
    left = _end(fp, 0) if left is None else _number(left, "left")
    right = _end(fp, -1) if right is None else _number(right, "right")
    if variant == AUTO and not any(isinstance(v, DeviceArray) or is_elsewhere(v) for v in (x, xp, fp)):
        x, xp, fp = (_as_double(v, name) for v, name in zip((x, xp, fp), RULE.operands, strict=False))
    return call(RULE, (x, xp, fp, left, right), out, variant, stream, parameters)
