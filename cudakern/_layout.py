"""Shapes and strides: what NumPy's indexing, reshape and transpose make of them. No memory is touched here."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

MAX_DIMS = 16  #: of an array on the device
LARGEST = 2**63 - 1

Shape = tuple[int, ...]


def as_shape(shape: Any) -> Shape:
    """An int or a sequence of ints as a tuple; TypeError or ValueError as NumPy has them."""
    if hasattr(type(shape), "__index__") and np.ndim(shape) == 0 and not isinstance(shape, (bool, np.bool_)):
        return (operator.index(shape),)
    if isinstance(shape, str) or not (hasattr(shape, "__len__") and hasattr(shape, "__getitem__")):
        raise TypeError(f"a shape is a sequence of integers or a single integer, not {shape!r}")
    return tuple(map(operator.index, shape))


def check_shape(shape: Shape, itemsize: int, axes: int = MAX_DIMS) -> Shape:
    """The shape; ValueError if there can be no such array, of so many axes at most."""
    if len(shape) > axes:
        raise ValueError(f"maximum supported dimension for an array on the device is {axes}, found {len(shape)}")
    if min(shape, default=0) < 0:
        raise ValueError(f"negative dimensions are not allowed: {shape}")
    # As NumPy counts: an axis of no elements does not make the others any smaller.
    if math.prod(n or 1 for n in shape) * itemsize > LARGEST:
        what = f"{shape} with {itemsize} bytes an element"
        raise ValueError(f"array is too big; {what} is larger than the maximum possible size")
    return shape


def contiguous(shape: Shape, itemsize: int) -> Shape:
    """Strides in C order without gaps."""
    strides = []
    for n in reversed(shape):
        strides.append(itemsize)
        itemsize *= max(n, 1)
    return tuple(reversed(strides))


# --- indexing --------------------------------------------------------------------------------------------------------
def index(key: Any, shape: Shape, strides: Shape) -> tuple[int, Shape, Shape]:
    """(offset in bytes, shape, strides) of the elements that a basic index names."""
    keys: list[Any] = list(key) if isinstance(key, tuple) else [key]
    keys = [k if type(k) in (int, slice) or k is None or k is Ellipsis else _integer(k) for k in keys]
    dots = keys.count(Ellipsis)
    count = len(keys) - dots - keys.count(None)
    if dots > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if count > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {count} were indexed")
    at = keys.index(Ellipsis) if dots else len(keys)
    keys[at : at + dots] = [slice(None)] * (len(shape) - count)
    offset, axis = 0, 0
    new_shape: list[int] = []
    new_strides: list[int] = []
    for k in keys:
        if k is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        size, stride = shape[axis], strides[axis]
        if isinstance(k, slice):
            indices = range(size)[k]
            new_shape.append(len(indices))
            new_strides.append(stride * indices.step if len(indices) > 1 else stride)  # a step may be larger than any
            offset += indices.start * stride
        else:
            if not -size <= k < size:
                raise IndexError(f"index {k} is out of bounds for axis {axis} with size {size}")
            offset += (k + size if k < 0 else k) * stride
        axis += 1
    if len(new_shape) > MAX_DIMS:
        allowed = f"number of dimensions must be within [0, {MAX_DIMS}]"
        raise IndexError(f"{allowed}, indexing result would have {len(new_shape)}")
    return (offset if all(new_shape) else 0), tuple(new_shape), tuple(new_strides)


def _integer(key: Any) -> int:
    if not isinstance(key, (bool, np.bool_)) and np.ndim(key) == 0:
        try:
            return operator.index(key)
        except TypeError:
            pass
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`) and numpy.newaxis (`None`) are valid indices of an array on "
        f"the device, not {type(key).__name__}: for boolean and integer arrays as indices take .get() first"
    )


# --- axes ------------------------------------------------------------------------------------------------------------
def reshaped(arguments: tuple[Any, ...], size: int) -> Shape:
    """The shape that the arguments of reshape() name, for an array of that many elements."""
    if not arguments:
        raise TypeError("reshape() takes a shape, as a tuple or as integers")
    new = as_shape(arguments[0] if len(arguments) == 1 else arguments)
    if min(new, default=0) < -1:
        raise ValueError(f"negative dimensions are not allowed: {new}; one may be -1")
    return check_shape(np.ndarray(size, np.uint8, b"\0", strides=(0,)).reshape(new).shape, 1)  # one byte, repeated


def reshape(new: Shape, shape: Shape, strides: Shape, itemsize: int) -> Shape | None:
    """The strides with which the same memory has the new shape, of as many elements; None if there are none.

    As in NumPy, there are some if every new axis lies within old ones that lie as one.
    """
    if not all(new):
        return contiguous(new, itemsize)
    runs: list[tuple[int, int]] = []  # (length, stride) of old axes that lie as one
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
    lengths = [{*axis} - {1} for axis in zip(*((1,) * (rank - len(shape)) + shape for shape in shapes), strict=True)]
    if any(len(different) > 1 for different in lengths):
        raise ValueError(f"shapes do not broadcast: {', '.join(map(str, shapes))}")
    return tuple(n.pop() if n else 1 for n in lengths)


def elements_meet(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """False if every step of an axis goes past all that the smaller steps reach: no two elements share memory then."""
    reach = itemsize
    for step, n in sorted((abs(step), n) for n, step in zip(shape, strides, strict=True) if n > 1):
        if step < reach:
            return all(shape)
        reach += step * (n - 1)
    return False
