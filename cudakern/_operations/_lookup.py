"""What lookup_2d and lookup_3d share: the rules of a call, the edges, a reference in NumPy."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._errors import unknown
from .._exchange import is_elsewhere
from .._host import host_array
from .._layout import Shape
from .._table import told
from .._transfer import Array
from . import Operation, random_array
from ._rule import Given, Rule, spread

MODES = ("clamp", "wrap", "mirror", "border")
FILTERS = ("linear", "nearest")
AXES = "zyx"


def check_word(name: str, keyword: str, value: Any, words: tuple[str, ...]) -> None:
    """mode= or filter=, for rows that have no parameters as well."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {keyword}= must be one of {', '.join(map(repr, words))}, not {type(value).__name__}")
    if value not in words:
        raise ValueError(unknown(f"{keyword}=", value, words, of=name))


def common(*given: Any) -> np.dtype[Any]:
    """The arrays' floating type; float64 for integers."""
    dtype = np.dtype(np.result_type(*given))
    if dtype.kind == "f":
        return dtype
    if dtype.kind not in "biu":
        raise TypeError(f"a look-up is for real numbers, not {told(dtype)}")
    return np.dtype(np.float64)


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


def rule(name: str, axes: int) -> Rule:
    """The rule of a look-up in a table of so many axes."""
    return Rule(
        name,
        ("table", *AXES[-axes:]),
        reference,
        preferred=("global_memory",),
        shape=functools.partial(shape_of, name, axes),
        one_shape=tuple(AXES[-axes:]),
        common=common,
        ready=functools.partial(ready, name),
    )


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
        shape = np.broadcast_shapes(*(a.shape for a in (on_device or arrays)))
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
    taps = [_taps(c, n, mode, filter) for c, n in zip(coordinates, table.shape, strict=True)]
    total = np.zeros(np.shape(coordinates[0]), np.result_type(table, *coordinates))
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


def operation(
    name: str, position: int, call: Callable[..., Any], default: Shape, ragged: tuple[Shape, ...], large: Shape
) -> Operation:
    """What the module of a look-up declares."""
    return Operation(
        name=name,
        position=position,
        call=call,
        rate="GB/s",
        default_dtype="float32",
        default_shape=default,
        shape_help="coordinates, the table's axes",
        fixed_rank=True,
        make=make,
        reference=reference,
        magnitude=magnitude,
        square=lambda n: (n, *default[1:]),
        ragged=ragged,
        large=(large,),
        own=("mode", "filter"),
        cancels=True,
        any_value=tuple(range(1, len(default))),
    )
