"""Host arrays for kernels: array-likes become NumPy arrays, with memory as the C modules take it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._native import Native
from ..arrays.exchange import is_elsewhere
from ..arrays.layout import MAX_DIMS, elements_meet
from ..arrays.transfer import Array, as_numpy, in_place, refuse_masked

#: NumPy gathers more or shorter runs of bytes than these faster than they are copied one by one.
FEW, LONG_RUN, LARGE_PIECE = 64, 256, 1 << 16


def host_array(x: Any, name: str) -> Array:
    """Any array-like as an ndarray; TypeError for masked arrays and other libraries' arrays on a device."""
    if type(x) is np.ndarray:
        return x
    refuse_masked(x, name)
    refuse_elsewhere(x, name)
    return np.asarray(as_numpy(x))


def refuse_elsewhere(x: Any, name: str) -> None:
    """TypeError for another library's array on a device, which would be copied to the host silently."""
    if is_elsewhere(x):
        array = f"a {type(x).__name__} of another library, on the device"
        raise TypeError(f"{name} is {array}: cudakern.asarray({name}) takes it without a copy")


def native(x: Array) -> Array:
    """The same values in native byte order and aligned; copied only if necessary."""
    return np.require(x.astype(x.dtype.newbyteorder("="), copy=False), requirements="A")


def host_operand(x: Array, native: Native | None = None, device: int = 0) -> Array:
    """The same values as the C modules take them, copied if necessary or if that is faster than many small copies to
    the device. What an axis of stride 0 repeats is copied once. With ``native``, its threads gather large arrays."""
    if x.dtype.isnative and _is_copied(x, native, device):
        return x
    if 0 not in x.strides or x.size == 0:
        return np.array(x, x.dtype.newbyteorder("="), order="C")
    once = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
    return np.broadcast_to(np.array(once, x.dtype.newbyteorder("="), order="C"), x.shape)


def _is_copied(x: Array, native: Native | None, device: int) -> bool:
    """True if the C modules copy this array fast."""
    return x.flags.c_contiguous or _is_plain(x) or (native is not None and in_place(native, x, device))


def _is_plain(x: Array) -> bool:
    """True if the C modules copy these strides in large pieces."""
    rows, columns = (1, 1, *x.shape)[-2:]
    down, right = (0, 0, *x.strides)[-2:]
    gaps = columns > 1 and right not in (0, x.itemsize)
    transposed = gaps and rows > 1 and down == x.itemsize
    if gaps and not transposed:
        return False
    axes = [(n, step) for n, step in zip(x.shape, x.strides, strict=True) if step != 0 and n != 1]
    if transposed:
        axes[-2:] = axes[:-3:-1]
    run = x.itemsize  # bytes without a gap
    while axes and axes[-1][1] == run:
        run *= axes.pop()[0]
    runs = math.prod(n for n, _ in axes)
    calls = runs // max((n for n, step in axes if step >= run), default=1)  # one call copies runs at equal distances
    return runs <= FEW or (run >= LONG_RUN and (calls <= FEW or run * runs >= calls * LARGE_PIECE))


def host_result(x: Array, native: Native | None = None, device: int = 0) -> bool:
    """True if the C modules can write into such an array, and fast."""
    fits = x.dtype.isnative and _is_copied(x, native, device)
    return fits and (x.flags.c_contiguous or not elements_meet(x.shape, x.strides, x.itemsize))


def by_rows(function: Callable[[Array, int], Any], x: Array, axis: int) -> Any:
    """function(x, axis), also for more axes than many NumPy functions accept."""
    if x.ndim <= MAX_DIMS:
        return function(x, axis)
    moved = np.moveaxis(x, axis, -1)
    front = moved.shape[:-1]
    rows = function(moved.reshape(math.prod(front), moved.shape[-1]), -1)
    return np.moveaxis(rows.reshape(*front, rows.shape[-1]), -1, axis)
