"""extent: the smallest and the largest of an array of integers, which bincount needs of arrays on the device."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._array import DeviceArray
from .._dtypes import INTEGERS
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation
from ._call import call
from ._rule import Rule

NAME = "extent"


def _two(x: Shape) -> Shape:
    if 0 in x:
        raise ValueError(f"{NAME}: x is {x}, and an array without elements has no smallest and no largest one")
    return (2,)


def by_numpy(x: Array) -> Array:
    """Two readings by NumPy, in int64, or in uint64 what is uint64."""
    return np.array([x.min(), x.max()], np.uint64 if x.dtype == np.uint64 else np.int64)


RULE = Rule(NAME, ("x",), by_numpy, preferred=("blocks",), shape=_two, only=INTEGERS)


@overload
def extent(x: DeviceArray, /, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> DeviceArray: ...
@overload
def extent(x: npt.ArrayLike, /, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any: ...
def extent(x: Any, /, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """The smallest and the largest of an array of integers, in one reading.

    Parameters
    ----------
    x : array_like or DeviceArray
        Integers or bools, of any shape and strides.
    variant : str
        "auto", or a name from ``variants("extent")``.
    stream : optional
        For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
        ``__cuda_stream__``.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray or DeviceArray
        Two numbers, int64 (of uint64: uint64), where the input is.

    Raises
    ------
    TypeError
        Neither integers nor bools.
    ValueError
        An array without elements.

    Notes
    -----
    A helper of ``bincount``, which must know how many bins there are.

    Examples
    --------
    >>> from cudakern._operations.extent import extent
    >>> extent([3, -1, 4], variant="blocks").tolist()
    [-1, 4]
    """
    return call(RULE, (x,), None, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Small numbers, between ends that differ from seed to seed."""
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return (random.random(shape) < 0.5,)
    return (random.integers(random.integers(0, 40), random.integers(60, 120), shape).astype(dtype),)


OPERATION = Operation(
    name=NAME,
    position=200,
    call=extent,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(1 << 20,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=by_numpy,
    square=lambda n: (n,),
    ragged=((1,), (2,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
    large=(((1 << 22) + 3,), (10_000_019,)),
)
