"""interp, lookup_2d and lookup_3d: interpolation in tables of one to three axes, from several kinds of memory."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from ..arrays.array import DeviceArray
from ..arrays.dtypes import kind_of
from ..arrays.exchange import is_elsewhere
from ..arrays.layout import Shape, broadcast_shapes
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.host import host_array
from ..calls.rule import HALVES, WEAK, Rule, broadcast_shape, floating
from ..calls.table import AUTO
from .registry import ArrayLike, Number, Out, Result, random_array, registered

MODES = ("clamp", "wrap", "mirror", "border")
AXES = "zyx"


def _points_shape(x: Shape, xp: Shape, fp: Shape, left: Shape, right: Shape) -> Shape:
    if len(xp) != 1 or xp != fp or xp == (0,):
        shapes = f"xp has shape {xp} and fp has shape {fp}"
        raise ValueError(f"interp: xp and fp must have one axis and the same length, at least 1, but {shapes}")
    return x


_common = functools.partial(floating, of="interp", hint=": interpolate the real and imaginary parts of fp separately")


def _as_double(x: Any, name: str) -> Array:
    """A host array in the type in which NumPy interpolates."""
    array = host_array(x, name)
    _common(array.dtype)
    if not np.can_cast(array.dtype, np.float64):
        raise TypeError(f"interp computes in float64, but {name} is {array.dtype}: {name}.astype('float64') rounds it")
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
        return fp[index] if fp.ndim == 1 and fp.size else 0.0
    if is_elsewhere(fp):
        return 0.0
    values = fp if type(fp) is np.ndarray else host_array(fp, "fp")
    return float(values[index]) if values.ndim == 1 and values.size and values.dtype.kind in "biuf" else 0.0


def _check_table(points: Array, variant: Any) -> None:
    """ValueError for a host table that decreases, or whose spacing is too uneven for a texture."""
    kind = points.dtype.kind
    if points.ndim != 1 or points.size < 2 or (kind not in "biuf" and kind_of(points.dtype) != "f"):
        return
    fits = points[1:] >= points[:-1]
    if not np.logical_and.reduce(fits):
        i = int(np.argmin(fits))
        steps = f"xp[{i}] is {points[i]} and xp[{i + 1}] is {points[i + 1]}"
        raise ValueError(f"interp: xp must increase, but {steps}: sort xp, and fp in the same order (np.argsort)")
    if variant != "texture":
        return
    wide = points.astype(np.float64)
    step = (wide[-1] - wide[0]) / (wide.size - 1)
    off = np.abs(wide - (wide[0] + step * np.arange(wide.size)))
    if step == 0 or not np.logical_and.reduce(off <= step / 1024):  # nearly even
        i = int(np.argmax(off))
        where = f"xp[{i}] = {points[i]} is off by {off[i]:.3g} with steps of {step:.3g}"
        instead = "variant='global_memory' takes any table that increases"
        raise ValueError(f"interp: variant 'texture' takes evenly spaced tables, but {where}; {instead}")


INTERP = Rule(
    "interp",
    ("x", "xp", "fp", "left", "right"),
    lambda x, xp, fp, left, right: np.interp(x, xp, fp, float(left), float(right)),
    preferred=("global_memory",),
    shape=_points_shape,
    numbers=("left", "right"),
    common=_common,
    through=HALVES,
)


def _points(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Points inside and on both sides outside of an evenly spaced table; left and right."""
    random = np.random.default_rng(seed)
    points, length = shape
    x = random_array(random, (points,), np.dtype(np.float64)) * 1.2 - 0.1
    table = np.linspace(0, 1, length) if length > 1 else np.array([0.5])
    values = random_array(random, (length,), np.dtype(np.float64)) * 2 - 1
    return tuple(np.asarray(v, dtype) for v in (x, table, values, -3.0, 4.0))


def _interpolate(x: Array, xp: Array, fp: Array, left: Array, right: Array) -> Array:
    """numpy.interp in the inputs' own type: NumPy's is in float64 alone."""
    x, xp, fp = (np.asarray(v, np.result_type(v, np.float64)) for v in (x, xp, fp))
    i = np.clip(np.searchsorted(xp, np.nan_to_num(x), side="right") - 1, 0, max(xp.size - 2, 0))
    j = np.minimum(i + 1, xp.size - 1)
    with np.errstate(all="ignore"):
        inside = fp[i] + (x - xp[i]) * ((fp[j] - fp[i]) / np.where(xp[j] == xp[i], 1, xp[j] - xp[i]))
    inside = np.where(x == xp[i], fp[i], np.where(x == xp[-1], fp[-1], inside))
    return np.asarray(np.where(x < xp[0], left, np.where(x > xp[-1], right, inside)))


@registered(
    40,
    default_shape=(1 << 20, 1000),
    shape_help="points, length of the table",
    make=_points,
    reference=_interpolate,
    magnitude=lambda x, xp, fp, *ends: 2 * np.max(np.abs(fp)),
    ragged=((0, 5), (1, 1), (31, 1), (33, 2), (257, 17), (1009, 300), (65537, 1000)),
    cancels=True,
)
def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
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

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        An array of x's shape. ``auto`` gives float64 for host arrays, as NumPy always does; a named kernel, and
        any call on device arrays, gives the arrays' own type, and float64 for integers.

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
    if "period" in parameters:  # before the table's check: with a period, NumPy takes any order of xp
        raise TypeError("interp: period= is not supported: pass x % period, and a table with a point more on each side")
    if not isinstance(xp, DeviceArray):
        xp = host_array(xp, "xp")
        _check_table(xp, variant)
    left = _end(fp, 0) if left is None else _number(left, "left")
    right = _end(fp, -1) if right is None else _number(right, "right")
    if variant == AUTO and not any(isinstance(v, DeviceArray) or is_elsewhere(v) for v in (x, xp, fp)):
        x, xp, fp = (_as_double(v, name) for v, name in zip((x, xp, fp), INTERP.operands, strict=False))
    return call(INTERP, (x, xp, fp, left, right), out, variant, stream, parameters)


# --- lookup_2d and lookup_3d ------------------------------------------------------------------------------------------
def shape_of(name: str, axes: int, table: Shape, *coordinates: Shape, **own: Any) -> Shape:
    """The shape to which the coordinates broadcast."""
    if len(table) != axes or 0 in table:
        numbers = {2: "two", 3: "three"}
        raise ValueError(f"{name}: table has shape {table}; it must have {numbers[axes]} non-empty axes")
    return broadcast_shape(name, *coordinates, operands=AXES[-axes:])


def _neighbor(i: Array, weight: Array, n: int, mode: str) -> tuple[Array, Array]:
    """The index in the table of element i of an axis, and its weight: 0 in the border."""
    if mode == "wrap":
        i = i % n
    elif mode == "mirror":
        repeat = i % (2 * n)
        i = np.minimum(repeat, 2 * n - 1 - repeat)
    elif mode == "border":
        weight = np.where((i >= 0) & (i < n), weight, weight.dtype.type(0))
    return np.clip(i, 0, n - 1), weight


def reference(table: Array, *coordinates: Array, mode: str = "clamp", filter: str = "linear") -> Array:
    """The look-up by NumPy, in the inputs' own type."""
    shape = broadcast_shapes(*map(np.shape, coordinates))
    rows = [np.broadcast_to(x, shape).reshape(-1) for x in coordinates]  # an index of NumPy's takes fewer axes
    unknown = np.logical_or.reduce([~np.isfinite(x) if mode in ("wrap", "mirror") else np.isnan(x) for x in rows])
    axes = []  # of each: the two neighbors, as pairs of index and weight
    for x, n in zip(rows, table.shape, strict=True):
        with np.errstate(invalid="ignore"):
            x = np.fmod(x, 2 * n) if mode in ("wrap", "mirror") else np.clip(x, -2, n + 1)
        x = np.where(unknown, 0, x)
        below = np.floor(x)
        i, weight = below.astype(np.int64), x - below
        if filter == "nearest":
            weight = (weight >= 0.5).astype(weight.dtype)
        axes.append((_neighbor(i, 1 - weight, n, mode), _neighbor(i + 1, weight, n, mode)))
    dtype = np.result_type(table, *coordinates)
    total = np.zeros(unknown.shape, np.result_type(dtype, np.float32))
    for corner in itertools.product(*axes):
        index, weights = zip(*corner, strict=True)
        counts = np.logical_and.reduce([weight != 0 for weight in weights])
        with np.errstate(all="ignore"):  # where an axis has a weight of 0, infinities do not count
            total += np.where(counts, functools.reduce(np.multiply, weights, table[index]), 0)
    return np.where(unknown, np.nan, total).astype(dtype).reshape(shape)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """A table, and coordinates inside and outside of it, none of them near the middle between two elements."""
    random = np.random.default_rng(seed)
    points, *sizes = shape
    table = random_array(random, tuple(sizes), np.dtype(np.float64)) * 2 - 1
    coordinates = []
    for n in sizes:
        x = np.rint(random.uniform(-0.6 * n - 1, 1.6 * n, points) * 1024) / 1024
        near = np.abs(x - np.floor(x) - 0.5) < 2.0**-7
        coordinates.append(np.where(near, x + 2.0**-5, x))
    return tuple(np.asarray(v, dtype) for v in (table, *coordinates))


RULES = {
    axes: Rule(
        name,
        ("table", *AXES[-axes:]),
        reference,
        preferred=("global_memory",),
        shape=functools.partial(shape_of, name, axes),
        broadcasts=tuple(AXES[-axes:]),
        common=functools.partial(floating, of="a look-up"),
        through=HALVES,
    )
    for axes, name in ((2, "lookup_2d"), (3, "lookup_3d"))
}


LOOKUP: dict[str, Any] = {
    "shape_help": "coordinates, the table's axes",
    "make": make,
    "reference": reference,
    "magnitude": lambda table, *coordinates, **own: np.max(np.abs(table)),
    "own": ("mode", "filter"),
    "cancels": True,
}


@registered(
    41,
    default_shape=(1 << 20, 512, 512),
    ragged=((0, 3, 4), (1, 1, 1), (33, 2, 5), (257, 7, 13), (1009, 20, 30), (20011, 64, 50)),
    words={"coordinates": "y, x"},
    **LOOKUP,
)
def lookup_2d(
    table: ArrayLike,
    y: ArrayLike,
    x: ArrayLike,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Out = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Interpolate in a table, at coordinates that count its elements along each axis.

    Parameters
    ----------
    table : array_like or DeviceArray
        Real numbers, with an axis for each coordinate and any strides. It must fit into a texture for ``texture``.
    <coordinates> : array_like or DeviceArray
        Coordinates in the table's axes, in elements: at integers the value is ``table[<coordinates>]``, and 0.5 is
        halfway to the next element. Their shapes must broadcast.
    mode : str
        Values outside the table: "clamp" (the nearest element), "wrap" (the table repeats), "mirror" (the table repeats
        in reverse, with its edge elements twice), "border" (zeros).
    filter : str
        "linear" interpolates linearly between neighbors in each axis. "nearest" takes the nearest element, and the
        later one of two that are equally near.
    <out>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        An array with the coordinates' broadcast shape and the common floating type. A NaN coordinate gives NaN, and so
        does an infinite one with "wrap" and "mirror".

    Notes
    -----
    The ``texture`` variant has weights in multiples of 1/256, rounded four times in ``lookup_2d`` and nine times in
    ``lookup_3d`` (once in ``interp``): each rounding moves at most 1/512 of the weight from one element to another.
    With "wrap" and "mirror", textures take coordinates as fractions of the table's length, rounded down to multiples of
    2**-21, which costs the bits that the length takes.

    ``scipy.ndimage.map_coordinates(table, (<coordinates>), order=1)`` gives the same with its modes "nearest",
    "grid-wrap", "reflect" and "grid-constant"; ``order=0`` is "nearest" here, except for ties in mirrored tables and in
    textures.

    Source: M, image transformations and volume textures; T6, textures; see docs/sources.md.

    Examples
    --------
    >>> import cudakern, numpy
    >>> square, cube = numpy.arange(4.0).reshape(2, 2), numpy.arange(8.0).reshape(2, 2, 2)
    >>> cudakern.lookup_2d(square, [0.0, 0.5, 1.0], [0.5, 0.5, 9.0])
    array([0.5, 1.5, 3. ])
    >>> cudakern.lookup_3d(cube, [0.0, 0.5], [0.5, 0.5], [1.0, 0.5])
    array([2. , 3.5])
    """
    return call(RULES[2], (table, y, x), out, variant, stream, parameters, {"mode": mode, "filter": filter})


@registered(
    42,
    default_shape=(1 << 20, 64, 64, 64),
    ragged=((0, 3, 4, 2), (1, 1, 1, 1), (33, 2, 5, 3), (257, 7, 4, 6), (1009, 9, 12, 10), (9001, 20, 16, 18)),
    like="lookup_2d",
    words={"coordinates": "z, y, x"},
    **LOOKUP,
)
def lookup_3d(
    table: ArrayLike,
    z: ArrayLike,
    y: ArrayLike,
    x: ArrayLike,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Out = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Interpolate in a table, at coordinates that count its elements along each axis."""
    return call(RULES[3], (table, z, y, x), out, variant, stream, parameters, {"mode": mode, "filter": filter})
