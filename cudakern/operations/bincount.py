"""bincount: NumPy's rules for counting numbers, and the choice among the kernels with atomics."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from ..arrays.array import DeviceArray
from ..arrays.dtypes import INTEGERS
from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.checks import integer
from ..calls.host import host_array
from ..calls.rule import Rule
from ..calls.table import AUTO
from .registry import FOR_EXPERIMENTS, ArrayLike, Result, registered

#: Bins that a block holds in the shared memory of every chip (MOST_HELD in bincount.cu).
FEW_BINS = 48 * 1024 // 4
MOST_BINS = np.iinfo(np.int64).max // 8  #: int64 must hold their size in bytes
FOR_FEW, FOR_MANY = ("shared_atomics",), ("warp_aggregated", "global_atomics")


def by_numpy(x: Array, minlength: int = 0) -> Array:
    """NumPy's own. (Older versions refuse uint64.)"""
    return np.bincount(x.astype(np.int64) if x.dtype == np.uint64 else x, minlength=minlength)


RULE = Rule(
    "bincount", ("x",), by_numpy, preferred=FOR_FEW, only=INTEGERS, instead=".astype(int) truncates numbers to integers"
)


@functools.lru_cache(maxsize=64)
def _rule(bins: int) -> Rule:
    """For this many bins."""
    preferred, numpys = FOR_FEW if bins <= FEW_BINS else FOR_MANY, functools.partial(by_numpy, minlength=bins)
    return replace(RULE, by_numpy=numpys, fixed=(bins,), counted=lambda x: (x, (bins,)), preferred=preferred)


def _bins(x: Any, stream: Any) -> int:
    """One more than the largest number; for an array on the device, this waits for it."""
    if np.dtype(x.dtype).kind not in "biu":
        return 0  # the call's error lists the types
    if x.ndim != 1:
        raise ValueError(f"bincount: x must be 1-D, but has shape {x.shape}; x.reshape(-1) flattens it")
    if x.size == 0:
        return 0
    lowest, highest = extent(x, stream=stream).get(stream=stream) if isinstance(x, DeviceArray) else (x.min(), x.max())
    if lowest < 0:
        raise ValueError(f"bincount: x must not contain negative values; its minimum is {lowest}")
    if highest >= MOST_BINS:
        raise ValueError(f"bincount: x contains {highest}, which needs more bins than fit in any memory")
    return int(highest) + 1


# --- the extent ------------------------------------------------------------------------------------------------------
def _two(x: Shape) -> Shape:
    if 0 in x:
        raise ValueError(f"extent: x has shape {x}, and an empty array has no smallest and no largest element")
    return (2,)


def ends(x: Array) -> Array:
    """The smallest and the largest, in int64 (uint64 for uint64)."""
    return np.array([x.min(), x.max()], np.uint64 if x.dtype == np.uint64 else np.int64)


EXTENT = Rule("extent", ("x",), ends, preferred=("blocks",), shape=_two, only=INTEGERS)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """About a hundred numbers from 0, whose ends differ from seed to seed."""
    random = np.random.default_rng(seed)
    least, end = (0, 2) if dtype.kind == "b" else (random.integers(0, 5), random.integers(96, 120))
    return (random.integers(least, end, shape).astype(dtype),)


@registered(
    51,
    default_dtype="int32",
    make=make,
    reference=by_numpy,
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (65537,)),
)
def bincount(
    x: ArrayLike,
    /,
    weights: None = None,
    minlength: SupportsIndex = 0,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Count how often each number from 0 to the largest occurs, as ``numpy.bincount`` does.

    Parameters
    ----------
    x : array_like or DeviceArray
        Nonnegative integers or bools, with one axis and any stride.
    weights : None
        Not supported: ``numpy.bincount(x, weights)`` adds weights, on the host.
    minlength : int
        The smallest number of bins.

    Returns
    -------
    ndarray or DeviceArray
        Counts of type int64: one more than the largest number, or ``minlength`` if that is more. They are on the
        device if the input is.

    <raises>
    MemoryError
        Not enough host memory for the bins.

    Notes
    -----
    **This call waits** for a device array: its largest number is read back before the counting is enqueued.

    Source: P11, counters; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.bincount([0, 1, 1, 3], minlength=6)
    array([1, 2, 0, 1, 0, 0])
    """
    if weights is not None:
        raise TypeError("bincount: weights are not supported: numpy.bincount(x, weights) adds them, on the host")
    least = integer("bincount: minlength", minlength, 0)
    if not isinstance(x, (DeviceArray, np.ndarray)) and np.shape(x) == (0,):
        x = np.empty(0, np.int64)  # of no type yet: NumPy counts it too
    bins = max(_bins(x if isinstance(x, DeviceArray) else host_array(x, "x"), stream), least)
    return call(_rule(bins), (x,), None, variant, stream, parameters)


@registered(
    FOR_EXPERIMENTS,
    default_dtype="int32",
    make=make,
    reference=ends,
    ragged=((1,), (2,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
)
def extent(x: Any, /, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """The smallest and the largest of an array of integers: an operation that only bincount calls."""
    return call(EXTENT, (x,), None, variant, stream, parameters)
