"""lookup_2d and lookup_3d: interpolation in tables of two and three axes, from global memory and from textures."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .._layout import MAX_DIMS, Shape, broadcast_shapes
from .._table import AUTO
from .._transfer import Array
from . import random_array, registered
from ._call import call
from ._public import Operand, Out, Result, documented
from ._rule import Rule, broadcast_shape, floating

MODES = ("clamp", "wrap", "mirror", "border")
AXES = "zyx"


def shape_of(name: str, axes: int, table: Shape, *coordinates: Shape, **own: Any) -> Shape:
    """The shape to which the coordinates broadcast."""
    if len(table) != axes or 0 in table:
        raise ValueError(f"{name}: the table is {table}, and must have {axes} axes, none of them empty")
    return broadcast_shape(name, *coordinates, operands=AXES[-axes:])


# --- the reference ---------------------------------------------------------------------------------------------------
def _element(i: Array, n: int, mode: str) -> Array:
    """The index in the table of element i of an axis; -1 for the border."""
    if mode == "wrap":
        return np.asarray(i % n)
    if mode == "mirror":
        place = i % (2 * n)
        return np.asarray(np.minimum(place, 2 * n - 1 - place))
    inside = (i >= 0) & (i < n)
    return np.where(inside, i, -1) if mode == "border" else np.clip(i, 0, n - 1)


def _along(x: Array, n: int, mode: str, filter: str) -> tuple[Array, Array, Array]:
    """(element, next element, the next one's weight) in one axis, as lookup_along in lookup.cuh; x has no NaN."""
    below = np.floor(x)
    weight = x - below
    i = below.astype(np.int64)
    if filter == "nearest":
        first = _element(i + (weight >= 0.5), n, mode)
        return first, first, np.zeros_like(x)
    alone = weight == 1  # a tiny negative x, rounded: only the next element counts
    return _element(i + alone, n, mode), _element(i + 1, n, mode), np.where(alone, 0, weight)


def _interpolated(table: Array, axes: list[tuple[Array, Array, Array]], index: tuple[Array, ...] = ()) -> Array:
    """The values between the elements of all axes after those of ``index``, one axis after the other."""
    if not axes:
        return np.asarray(table[index])
    (first, second, weight), *rest = axes

    def at(i: Array) -> Array:
        return np.where(i >= 0, _interpolated(table, rest, (*index, np.maximum(i, 0))), 0)

    value = at(first)
    if not weight.any():
        return value
    with np.errstate(all="ignore"):
        return np.where(weight == 0, value, (1 - weight) * value + weight * at(second))


def reference(table: Array, *coordinates: Array, mode: str = "clamp", filter: str = "linear") -> Array:
    """The look-up by NumPy, in the inputs' own type."""
    shape = broadcast_shapes(*map(np.shape, coordinates))
    if len(shape) > MAX_DIMS:  # NumPy takes fewer axes in an index than an array may have
        rows = (np.broadcast_to(c, shape).reshape(-1) for c in coordinates)
        return reference(table, *rows, mode=mode, filter=filter).reshape(shape)
    coordinates = np.broadcast_arrays(*coordinates)
    dtype = np.result_type(table, *coordinates)
    unknown = np.zeros(coordinates[0].shape, bool)
    axes = []
    for x, n in zip(coordinates, table.shape, strict=True):
        with np.errstate(invalid="ignore"):
            x = np.fmod(x, 2 * n) if mode in ("wrap", "mirror") else np.clip(x, -2, n + 1)
        unknown |= np.isnan(x)
        axes.append(_along(np.where(np.isnan(x), 0, x), n, mode, filter))
    return np.asarray(np.where(unknown, np.nan, _interpolated(table, axes)).astype(dtype))


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


# --- the public functions -------------------------------------------------------------------------------------------
DOCSTRING = """Interpolate in a table, at coordinates that count its elements along each axis.

Parameters
----------
table : array_like or DeviceArray
    Real numbers, with an axis for each coordinate and any strides. It must fit into a texture for ``texture``.
<places> : array_like or DeviceArray
    Coordinates in the table's axes, in elements: at integers the value is ``table[<places>]``, and 0.5 more is
    halfway to the next element. Their shapes must broadcast.
mode : str
    Values outside the table: "clamp" (the nearest element), "wrap" (the table repeats), "mirror" (the table repeats in
    reverse, with its edge elements twice), "border" (zeros).
filter : str
    "linear" interpolates linearly between neighbors in each axis. "nearest" takes the nearest element, and the later
    one of two that are equally near.
<out>
<call>

Returns
-------
ndarray, NumPy scalar or DeviceArray
    An array with the coordinates' broadcast shape and the common floating type. A NaN coordinate gives NaN, and so
    does an infinite one with "wrap" and "mirror".

<raises>

Notes
-----
The ``texture`` variant has weights in multiples of 1/256, rounded four times in ``lookup_2d`` and nine times in
``lookup_3d`` (once in ``interp``): each rounding moves at most 1/512 of the weight from one element to another. With
"wrap" and "mirror", textures take coordinates as fractions of the table's length, rounded down to multiples of 2**-21,
which costs the bits that the length takes.

``scipy.ndimage.map_coordinates(table, (<places>), order=1)`` gives the same with its modes "nearest", "grid-wrap",
"reflect" and "grid-constant"; ``order=0`` is "nearest" here, except for ties in mirrored tables and in textures.

Source: M, image transformations and volume textures; T6, textures; see docs/sources.md.

Examples
--------
<example>
"""


RULES = {
    axes: Rule(
        name,
        ("table", *AXES[-axes:]),
        reference,
        preferred=("global_memory",),
        shape=functools.partial(shape_of, name, axes),
        broadcasts=tuple(AXES[-axes:]),
        common=functools.partial(floating, of="a look-up"),
    )
    for axes, name in ((2, "lookup_2d"), (3, "lookup_3d"))
}


LOOKUP: dict[str, Any] = {
    "shape_help": "coordinates, the table's axes",
    "fixed_rank": True,
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
    **LOOKUP,
)
@documented(
    DOCSTRING,
    places="y, x",
    example="""\
>>> import cudakern, numpy
>>> table = numpy.array([[0.0, 10.0], [20.0, 30.0]])
>>> cudakern.lookup_2d(table, [0.0, 0.5, 1.0], [0.5, 0.5, 9.0])
array([ 5., 15., 30.])
>>> cudakern.lookup_2d(table, 0.0, [-1.0, 2.0], mode="wrap", variant="global_memory").tolist()
[10.0, 0.0]""",
)
def lookup_2d(
    table: Operand,
    y: Operand,
    x: Operand,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Out = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    return call(RULES[2], (table, y, x), out, variant, stream, parameters, {"mode": mode, "filter": filter})


@registered(
    42,
    default_shape=(1 << 20, 64, 64, 64),
    ragged=((0, 3, 4, 2), (1, 1, 1, 1), (33, 2, 5, 3), (257, 7, 4, 6), (1009, 9, 12, 10), (9001, 20, 16, 18)),
    **LOOKUP,
)
@documented(
    DOCSTRING,
    places="z, y, x",
    example="""\
>>> import cudakern, numpy
>>> table = numpy.arange(8.0).reshape(2, 2, 2)
>>> cudakern.lookup_3d(table, [0.0, 0.5], [0.5, 0.5], [1.0, 0.5])
array([2. , 3.5])
>>> cudakern.lookup_3d(table, 9.0, 0.0, [0.0, 1.0], mode="border", variant="global_memory").tolist()
[0.0, 0.0]""",
)
def lookup_3d(
    table: Operand,
    z: Operand,
    y: Operand,
    x: Operand,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Out = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    return call(RULES[3], (table, z, y, x), out, variant, stream, parameters, {"mode": mode, "filter": filter})
