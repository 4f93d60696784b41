"""saxpy: NumPy's rules for a * x + y around the ladder of the first steps."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._array import DeviceArray
from .._dtypes import kind_of
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "saxpy"


def _shape(a: Shape, x: Shape, y: Shape) -> Shape:
    if x == y:
        return x
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        raise ValueError(
            f"{NAME}: x is {x} and y is {y}, which do not broadcast: from the right, each pair of lengths must be "
            "equal or one of them 1"
        ) from None


def _common(a: Any, x: Any, y: Any) -> np.dtype[Any]:
    """The type of NumPy's ``a * x + y``. (Three at once would be another: 2.0 * int8 is float64, float32 or not.)"""
    if not isinstance(a, np.dtype) and not isinstance(x, np.dtype):
        return np.result_type(a, x, y)
    return np.result_type(np.result_type(a, x), y)


def _by_numpy(a: Array, x: Array, y: Array) -> Any:
    return np.add(np.multiply(a, x), y)


def _counted(a: Shape, x: Shape, y: Shape) -> tuple[Shape, ...]:
    shape = _shape(a, x, y)
    return a, shape, shape


RULE = Rule(
    NAME,
    ("a", "x", "y"),
    _by_numpy,
    preferred=("vectorized",),
    shape=_shape,
    broadcasts=True,
    numbers=("a",),
    common=_common,
    counted=_counted,
    others="OmM",
)


@overload
def saxpy(
    a: npt.ArrayLike | DeviceArray,
    x: DeviceArray,
    y: DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def saxpy(
    a: npt.ArrayLike,
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any: ...
def saxpy(
    a: Any, x: Any, y: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Any:
    """A number times an array, plus an array, element by element: a * x + y.

    Parameters
    ----------
    a : number or 0-d array
        The factor. Python's own number takes the arrays' type where it can, as in NumPy: 2.0 * float32 is float32.
        It may be a number of the host where the arrays are on the device.
    x, y : array_like or DeviceArray
        Numbers or bools (which are "and" and "or"), of shapes that broadcast, any strides. ``auto`` brings a, x and y
        to the type of NumPy's ``a * x + y`` before it computes, and leaves host arrays of dates, spans of time and
        objects to that; a named variant takes arrays of one type.
    out : ndarray or DeviceArray, optional
        Where the result goes: of its shape, and a type that takes it ("same_kind"). It may be x or y.
    variant : str
        "auto", which is the fastest correct way here (for host arrays without a GPU: NumPy), or a name from
        ``variants("saxpy")``, which always runs that kernel.
    stream : optional
        For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
        ``__cuda_stream__``.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        Of the broadcast shape and the common type; integers wrap. On the device where x and y are.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have; two types with a named variant; arrays in two places.
    ValueError
        An a that is not one number; shapes that do not broadcast; an unknown variant; an out= of another shape.
    OverflowError
        A Python integer that the integers' type does not hold, as in NumPy.
    CudaError
        The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).

    Notes
    -----
    P's first comparison of a program for the CPU with one for the GPU. The name is that of the BLAS, for "single
    precision a times x plus y"; every type is taken here. Product and sum may be rounded as one.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.saxpy(2, [1, 2, 3], [10, 20, 30])
    array([12, 24, 36])
    >>> cudakern.saxpy(2, [1, 2, 3], [10, 20, 30], variant="grid_stride").tolist()
    [12, 24, 36]
    """
    return call(RULE, (a, x, y), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """A factor, and two arrays of that shape."""
    random = np.random.default_rng(seed)
    a = random_array(random, (1,), dtype).reshape(())
    return a, random_array(random, shape, dtype), random_array(random, shape, dtype)


def reference(a: Any, x: Any, y: Any) -> Any:
    """In double, or the inputs' type if that is wider; integers in their own."""
    if kind_of(x.dtype) in "fc":
        a, x, y = (np.asarray(z).astype(np.result_type(z.dtype, np.float64)) for z in (a, x, y))
    return _by_numpy(a, x, y)


OPERATION = Operation(
    name=NAME,
    position=2,
    call=saxpy,
    rate="GB/s",
    default_dtype="float32",
    default_shape=(4096 * 256,),
    shape_help="the arrays'",
    fixed_rank=False,
    make=make,
    reference=reference,
    magnitude=lambda a, x, y: np.abs(a) * np.abs(x) + np.abs(y),
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
    large=(((1 << 22) + 3,), (10_000_019,)),
)
