"""vector_add: NumPy's rules for x + y around the ladder of the first steps."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .._array import DeviceArray
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._checks import refuse_keywords
from ._rule import Rule

NAME = "vector_add"


def _shape(x: Shape, y: Shape) -> Shape:
    if x == y:
        return x
    try:
        return np.broadcast_shapes(x, y)
    except ValueError:
        raise ValueError(
            f"{NAME}: x is {x} and y is {y}, which do not broadcast: from the right, each pair of lengths must be "
            "equal or one of them 1"
        ) from None


NOT_TAKEN = ("casting", "order", "dtype", "subok", "signature", "sig", "where")

RULE = Rule(NAME, ("x", "y"), np.add, preferred=("vectorized",), shape=_shape, broadcasts=True, others="OmMSUT")


@overload
def vector_add(
    x: DeviceArray,
    y: npt.ArrayLike | DeviceArray,
    /,
    out: DeviceArray | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def vector_add(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    /,
    out: Array | None = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any: ...
def vector_add(
    x: Any, y: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Any:
    """The sum of two arrays, element by element: x + y.

    Parameters
    ----------
    x, y : array_like or DeviceArray
        Numbers or bools (whose sum is "or"), of shapes that broadcast, any strides. ``auto`` brings them to one type
        as ``numpy.add`` does, and leaves host arrays of other things (dates, strings, objects) to that; a named
        variant takes two arrays of one type.
    out : ndarray or DeviceArray, optional
        Where the result goes: of its shape, and a type that takes it ("same_kind").
    variant : str
        "auto", which is the fastest correct way here (for host arrays without a GPU: NumPy), or a name from
        ``variants("vector_add")``, which always runs that kernel.
    stream : optional
        For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
        ``__cuda_stream__``.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        Of the broadcast shape and the common type; integers wrap. On the device where the inputs are.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have; two types with a named variant; arrays in two places.
    ValueError
        Shapes that do not broadcast; an unknown variant; an out= of another shape.
    CudaError
        The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).

    Notes
    -----
    P's second program: ``if (i < n)`` and ``ceil(n / 256.0)`` blocks.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.vector_add([1, 2, 3], [10, 20, 30])
    array([11, 22, 33])
    >>> cudakern.vector_add([1, 2, 3], [10, 20, 30], variant="naive").tolist()
    [11, 22, 33]
    """
    if parameters:
        refuse_keywords(NAME, "numpy.add's", NOT_TAKEN, parameters)
    return call(RULE, (x, y), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two arrays of that shape."""
    random = np.random.default_rng(seed)
    return random_array(random, shape, dtype), random_array(random, shape, dtype)


OPERATION = Operation(
    name=NAME,
    position=1,
    call=vector_add,
    rate="GB/s",
    default_dtype="float32",
    default_shape=(1 << 20,),
    shape_help="the arrays'",
    fixed_rank=False,
    make=make,
    reference=np.add,
    magnitude=lambda x, y: np.abs(x) + np.abs(y),
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
    large=(((1 << 22) + 3,), (10_000_019,)),
)
