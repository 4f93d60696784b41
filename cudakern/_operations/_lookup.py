"""lookup_2d and lookup_3d: tables read between their elements, around the ladders of global memory and texture."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._errors import unknown
from .._exchange import is_elsewhere
from .._host import host_array
from .._layout import MAX_DIMS, Shape, broadcast_shapes
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._public import Operand, Out, Result, documented
from ._rule import Given, Rule, floating, spread

MODES = ("clamp", "wrap", "mirror", "border")
FILTERS = ("linear", "nearest")
AXES = "zyx"


def check_word(name: str, keyword: str, value: Any, words: tuple[str, ...]) -> None:
    """mode= or filter=, for variants that have no parameters as well."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {keyword}= must be one of {', '.join(map(repr, words))}, not {type(value).__name__}")
    if value not in words:
        raise ValueError(unknown(f"{keyword}=", value, words, of=name))


common = functools.partial(floating, of="a look-up")


def shape_of(name: str, axes: int, table: Shape, *coordinates: Shape, **own: Any) -> Shape:
    """The result's shape: the coordinates'."""
    first = coordinates[0]
    if len(table) == axes and all(table) and coordinates.count(first) == len(coordinates):
        return first
    if len(table) != axes:
        raise ValueError(f"{name}: the table is {table}, and it must have {axes} axes")
    if 0 in table:
        raise ValueError(f"{name}: the table is {table}: none of its axes may be empty")
    said = ", ".join(f"{c} is {s}" for c, s in zip(AXES[-axes:], coordinates, strict=True))
    raise ValueError(f"{name}: {said}, which do not broadcast")


def ready(name: str, inputs: tuple[Any, ...], own: Mapping[str, Any], parameters: Any, variant: Any) -> Given:
    """The coordinates of one shape."""
    check_word(name, "mode", own["mode"], MODES)
    check_word(name, "filter", own["filter"], FILTERS)
    table, *coordinates = inputs
    return (table, *together(table, tuple(coordinates))), own


def together(table: Any, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
    """Coordinates of one shape; those in several places, or elsewhere, as they are: they are refused later."""
    on_device = [c for c in coordinates if isinstance(c, DeviceArray)]
    elsewhere = any(is_elsewhere(c) and not isinstance(c, DeviceArray) for c in coordinates)
    if elsewhere or 0 < len(on_device) < len(coordinates):
        return coordinates
    names = AXES[-len(coordinates) :]
    arrays = [] if on_device else [_on_host(c, axis, table) for c, axis in zip(coordinates, names, strict=True)]
    try:
        shape = broadcast_shapes(*(a.shape for a in (on_device or arrays)))
    except ValueError:
        return tuple(on_device or arrays)  # which its shape's rule refuses, in words
    if not on_device:
        return tuple(np.broadcast_to(a, shape) for a in arrays)
    return tuple(DeviceArray(spread(a._native, a._view, shape), a._native) for a in on_device)


def _on_host(coordinate: Any, axis: str, table: Any) -> Array:
    """An array; one of Python's own numbers takes the table's type, as in NumPy."""
    if type(coordinate) not in (int, float) or isinstance(table, DeviceArray) or is_elsewhere(table):
        return host_array(coordinate, axis)
    return np.asarray(coordinate, common(host_array(table, "table").dtype))


# --- the reference ---------------------------------------------------------------------------------------------------
def _element(i: Array, n: int, mode: str) -> Array:
    """The place in its axis of element i; -1: the border."""
    if mode == "wrap":
        return np.asarray(i % n)
    if mode == "mirror":
        place = i % (2 * n)
        return np.where(place < n, place, 2 * n - 1 - place)
    inside = (i >= 0) & (i < n)
    return np.where(inside, i, -1) if mode == "border" else np.clip(i, 0, n - 1)


def _taps(x: Array, n: int, mode: str, filter: str) -> tuple[Array, list[tuple[Array, Array]]]:
    """(where a coordinate is known, [(element, weight), ...])."""
    with np.errstate(invalid="ignore"):
        x = np.fmod(x, 2 * n) if mode in ("wrap", "mirror") else np.clip(x, -2, n + 1)
    known = ~np.isnan(x)
    x = np.where(known, x, 0)
    below = np.floor(x)
    weight = x - below
    i = below.astype(np.int64)
    if filter == "nearest":
        return known, [(_element(i + (weight >= 0.5), n, mode), np.ones_like(x))]
    return known, [(_element(i, n, mode), 1 - weight), (_element(i + 1, n, mode), weight)]


def reference(table: Array, *coordinates: Array, mode: str = "clamp", filter: str = "linear") -> Array:
    """The look-up by NumPy, in the inputs' own type."""
    shape = np.shape(coordinates[0])
    if len(shape) > MAX_DIMS:  # NumPy takes fewer axes in an index than an array may have
        rows = (c.reshape(-1) for c in coordinates)
        return reference(table, *rows, mode=mode, filter=filter).reshape(shape)
    taps = [_taps(c, n, mode, filter) for c, n in zip(coordinates, table.shape, strict=True)]
    total = np.zeros(shape, np.result_type(table, *coordinates))
    for chosen in itertools.product(*(several for _, several in taps)):
        inside = np.logical_and.reduce([at >= 0 for at, _ in chosen])
        weight = functools.reduce(np.multiply, [w for _, w in chosen])
        values = table[tuple(np.where(inside, at, 0) for at, _ in chosen)]
        with np.errstate(invalid="ignore"):
            total = total + np.where(inside & (weight != 0), weight * values, 0)
    known = np.logical_and.reduce([k for k, _ in taps])
    return np.asarray(np.where(known, total, np.nan).astype(total.dtype))


def magnitude(table: Array, *coordinates: Array, **own: Any) -> Array:
    """The table's largest."""
    return np.full(np.shape(coordinates[0]), np.max(np.abs(table)))


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """A table, and coordinates inside and outside of it; none is half way between two elements, nor next to that."""
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
DOCSTRING = """Values of a table between its elements, <given> given.

Parameters
----------
table : array_like or DeviceArray
    Real numbers, <axes> axes, any strides.
<places> : array_like or DeviceArray
    Where: places in the table's axes, counted in elements. An element's place is its index: for whole numbers the
    value is ``table[<places>]``; half way between two is 0.5 more. Shapes that broadcast.
mode : str
    What is outside: "clamp" (the nearest element), "wrap" (the table again), "mirror" (the table turned round, its
    edge element twice), "border" (zeros).
filter : str
    "linear": along straight lines between neighbours in each axis. "nearest": the nearest element, of two equally
    near ones the later.
<out>
variant : str
    "auto", which is the fastest way here in full precision (for host arrays without a GPU: NumPy), or a name from
    ``variants("<name>")``. ``texture`` has weights in 256ths, rounded <times>:
    each rounding moves at most a 512th of the weight from one of the <elements> elements to another. Where the table
    repeats, coordinates become shares of its length: they lose as many bits as it has, and are floored to 2**-21 of it.
<stream>
<parameters>

Returns
-------
ndarray, NumPy scalar or DeviceArray
    Of the coordinates' broadcast shape and the common floating type. No number as a coordinate gives no number; so
    does an infinite one where the table repeats.

Raises
------
<type_error>
ValueError
    A table of other axes, or an empty one; coordinates that do not broadcast; an unknown mode, filter or variant; a
    table that no texture holds; an out= of another shape.
<failed>

Notes
-----
<source> ``scipy.ndimage.map_coordinates(table, (<places>), order=1)`` is the same
where the edges are: its "nearest", "grid-wrap", "reflect" and "grid-constant"; ``order=0`` is "nearest" here,
but for the ties of a mirrored table, where SciPy mirrors the place first and then rounds, as here is done the other
way round. A texture's ties fall as its fixed point has the place.

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
        one_shape=tuple(AXES[-axes:]),
        common=common,
        ready=functools.partial(ready, name),
    )
    for axes, name in ((2, "lookup_2d"), (3, "lookup_3d"))
}


@documented(
    DOCSTRING,
    given="row and column",
    axes="2",
    places="y, x",
    times="four times (in ``interp`` once)",
    elements="four",
    source="M's image transformations and T6's textures.",
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


@documented(
    DOCSTRING,
    given="plane, row and column",
    axes="3",
    places="z, y, x",
    times="nine times (in ``lookup_2d`` four)",
    elements="eight",
    source="M's volume textures.",
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


LOOKUP: dict[str, Any] = {
    "shape_help": "coordinates, the table's axes",
    "fixed_rank": True,
    "make": make,
    "reference": reference,
    "magnitude": magnitude,
    "own": ("mode", "filter"),
    "cancels": True,
}
OPERATIONS = (
    Operation(
        lookup_2d,
        41,
        default_shape=(1 << 20, 512, 512),
        square=lambda n: (n, 512, 512),
        ragged=((0, 3, 4), (1, 1, 1), (33, 2, 5), (257, 7, 13), (1009, 20, 30), (20011, 64, 50)),
        large=(((1 << 22) + 3, 1000, 1000),),
        any_value=(1, 2),
        **LOOKUP,
    ),
    Operation(
        lookup_3d,
        42,
        default_shape=(1 << 20, 64, 64, 64),
        square=lambda n: (n, 64, 64, 64),
        ragged=((0, 3, 4, 2), (1, 1, 1, 1), (33, 2, 5, 3), (257, 7, 4, 6), (1009, 9, 12, 10), (9001, 20, 16, 18)),
        large=(((1 << 21) + 3, 100, 100, 100),),
        any_value=(1, 2, 3),
        **LOOKUP,
    ),
)
