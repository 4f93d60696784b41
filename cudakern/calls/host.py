"""Host arrays for kernels: array-likes become NumPy arrays, with memory as the C modules take it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.exchange import is_elsewhere
from ..arrays.layout import MAX_DIMS
from ..arrays.transfer import Array, as_numpy, refuse_masked


def host_array(x: Any, name: str) -> Array:
    """Any array-like as an ndarray; TypeError for masked arrays and other libraries' arrays on a device."""
    if type(x) is np.ndarray:
        return x
    refuse_masked(x, name)
    refuse_elsewhere(x, name)
    try:
        return np.asarray(as_numpy(x))
    except ValueError as error:
        if isinstance(x, (list, tuple)) and "inhomogeneous" in str(error):
            raise ValueError(f"{name} must be an array, but its rows differ in length or depth") from None
        raise


def refuse_elsewhere(x: Any, name: str) -> None:
    """TypeError for another library's array on a device, which would be copied to the host silently."""
    if is_elsewhere(x):
        array = f"a {type(x).__name__} of another library, on the device"
        raise TypeError(f"{name} is {array}: cudakern.asarray({name}) takes it without a copy")


def native(x: Array) -> Array:
    """The same values in native byte order and aligned; copied only if necessary."""
    return np.require(x.astype(x.dtype.newbyteorder("="), copy=False), requirements="A")


def by_rows(function: Callable[[Array, int], Any], x: Array, axis: int) -> Any:
    """function(x, axis), also for more axes than many NumPy functions accept."""
    if x.ndim <= MAX_DIMS:
        return function(x, axis)
    moved = np.moveaxis(x, axis, -1)
    front = moved.shape[:-1]
    rows = function(moved.reshape(math.prod(front), moved.shape[-1]), -1)
    return np.moveaxis(rows.reshape(*front, rows.shape[-1]), -1, axis)
