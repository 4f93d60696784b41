"""Shapes and strides as NumPy's indexing, reshape and transpose compute them, without access to memory."""

from __future__ import annotations

import math
import operator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_DIMS = 16  #: of an array on the device

Shape = tuple[int, ...]


def as_shape(shape: Any) -> Shape:
    """An int or a sequence of ints as a tuple; TypeError for anything else."""
    if hasattr(type(shape), "__index__") and np.ndim(shape) == 0 and not isinstance(shape, (bool, np.bool_)):
        return (operator.index(shape),)
    if isinstance(shape, str) or not (hasattr(shape, "__len__") and hasattr(shape, "__getitem__")):
        raise TypeError(f"a shape is a sequence of integers or a single integer, not {shape!r}")
    return tuple(map(operator.index, shape))


def check_shape(shape: Shape, itemsize: int, axes: int = MAX_DIMS) -> Shape:
    """The shape; ValueError if no array can have it: too many axes, a negative length, too many bytes."""
    if len(shape) > axes:
        raise ValueError(f"maximum supported dimension for an array on the device is {axes}, found {len(shape)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"negative dimensions are not allowed: {shape}")
    # NumPy, too, counts an axis of length 0 as 1.
    if math.prod(n or 1 for n in shape) * itemsize >= 2**63:
        size = f"{shape} with {itemsize} bytes per element"
        raise ValueError(f"array is too big; {size} is larger than the maximum possible size")
    return shape


def stand_in(shape: Shape, strides: Shape) -> npt.NDArray[Any]:
    """A NumPy array of that shape and those strides without memory: for its views, whose elements do not exist."""
    data = (2**62, True)  # an address and read-only; the address is never used
    interface = {"shape": shape, "strides": strides, "typestr": "|u1", "data": data, "version": 3}
    return np.asarray(SimpleNamespace(__array_interface__=interface))


def index(key: Any, shape: Shape, strides: Shape) -> tuple[int, Shape, Shape]:
    """(offset in bytes, shape, strides) of the elements that a basic index names."""
    keys: list[Any] = list(key) if isinstance(key, tuple) else [key]
    keys = [k if type(k) in (int, slice) or k is None or k is Ellipsis else _integer(k) for k in keys]
    if Ellipsis not in keys:
        keys.append(Ellipsis)  # with it, NumPy gives a view even of a single element
    whole = stand_in(shape, strides)
    part = whole[tuple(keys)]
    if part.ndim > MAX_DIMS:
        allowed = f"number of dimensions must be within [0, {MAX_DIMS}]"
        raise IndexError(f"{allowed}, indexing result would have {part.ndim}")
    first, start = (x.__array_interface__["data"][0] for x in (part, whole))
    return (first - start if part.size else 0), part.shape, part.strides


def _integer(key: Any) -> int:
    if not isinstance(key, (bool, np.bool_)) and np.ndim(key) == 0:
        try:
            return operator.index(key)
        except TypeError:
            pass
    valid = "only integers, slices (`:`), ellipsis (`...`) and numpy.newaxis (`None`) are valid indices"
    instead = "for boolean and integer arrays as indices, use .get() first"
    raise IndexError(f"{valid} of an array on the device, not {type(key).__name__}: {instead}")


def reshaped(arguments: tuple[Any, ...], size: int) -> Shape:
    """The shape that the arguments of reshape() name, for an array of that many elements."""
    if not arguments:
        raise TypeError("reshape() takes a shape, as a tuple or as integers")
    new = as_shape(arguments[0] if len(arguments) == 1 else arguments)
    if min(new, default=0) < -1:
        raise ValueError(f"negative dimensions are not allowed: {new}; one may be -1")
    return check_shape(stand_in((size,), (1,)).reshape(new).shape, 1)


def reshape(new: Shape, shape: Shape, strides: Shape, itemsize: int) -> Shape | None:
    """The strides with which the same memory has the new shape, of as many elements; None if they do not exist.

    As in NumPy, they exist if every new axis divides one run of old axes, axes without gaps between them.
    """
    if not all(new):
        return np.empty(new, f"V{itemsize}").strides
    runs: list[tuple[int, int]] = []  # (length, stride)
    for n, stride in zip(shape, strides, strict=True):
        if n != 1 and runs and runs[-1][1] == n * stride:
            runs[-1] = (runs[-1][0] * n, stride)
        elif n != 1:
            runs.append((n, stride))
    result: list[int] = []
    rest, step = 1, itemsize  # of the run in which the next axis lies
    for n in reversed(new):
        if rest == 1 and n != 1:
            rest, step = runs.pop()
        if rest % n:
            return None
        result.insert(0, step)
        rest, step = rest // n, step * n
    return tuple(result)


def broadcast(shape: Shape, strides: Shape, to: Shape) -> Shape:
    """The strides with which an array of that shape fills another; ValueError in NumPy's words if it cannot."""
    missing, extra = max(len(to) - len(shape), 0), max(len(shape) - len(to), 0)
    axes = list(zip(shape[extra:], strides[extra:], to[missing:], strict=True))
    if any(n != 1 for n in shape[:extra]) or any(n not in (1, length) for n, _, length in axes):
        raise ValueError(f"could not broadcast input array from shape {shape} into shape {to}")
    return (0,) * missing + tuple(0 if n == 1 != length else stride for n, stride, length in axes)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """numpy.broadcast_shapes, for more axes than that function accepts."""
    rank = max(map(len, shapes))
    if rank <= MAX_DIMS:
        return np.broadcast_shapes(*shapes)
    axes = zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)
    lengths = [{*axis} - {1} or {1} for axis in axes]
    if any(len(different) > 1 for different in lengths):
        raise ValueError(f"shapes do not broadcast: {', '.join(map(str, shapes))}")
    return tuple(length for (length,) in lengths)


def elements_meet(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """False if each stride exceeds the range of all smaller strides, so that no two elements share memory."""
    reach = itemsize
    for step, n in sorted((abs(step), n) for n, step in zip(shape, strides, strict=True) if n > 1):
        if step < reach:
            return all(shape)
        reach += step * (n - 1)
    return False
