"""coalescing: a slice of an array, read by neighbouring threads in strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "coalescing"
#: For idle=: every lane takes part.
NONE = 32


def _shape(x: Shape, offset: int = 0, stride: int = 1, idle: int = NONE) -> Shape:
    if len(x) != 1:
        raise ValueError(f"{NAME}: x has one axis, and its shape is {x}")
    return (len(range(offset, x[0], stride)),)


def by_numpy(x: Array, offset: int = 0, stride: int = 1, idle: int = NONE) -> Array:
    """NumPy's slice, with zeros for the lane that reads nothing."""
    if offset < 0 or stride < 1 or not 0 <= idle <= NONE:
        raise ValueError(f"{NAME}: offset={offset}, stride={stride}, idle={idle}: from 0, from 1, and 0 to {NONE}")
    result = x[offset::stride].copy()
    if idle != NONE:
        result[idle::32] = 0
    return result


RULE = Rule(NAME, ("x",), by_numpy, preferred=("elementwise",), shape=_shape)


def coalescing(
    x: Any,
    /,
    out: Any = None,
    *,
    offset: int = 0,
    stride: int = 1,
    idle: int = NONE,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any:
    """``x[offset::stride]``: thread i reads element ``offset + stride * i``.

    Parameters
    ----------
    x : array_like or DeviceArray
        Of one axis, and of elements of 1, 2, 4, 8 or 16 bytes: uint8, int16, int32, float32, float64, complex128.
    offset, stride : int
        Elements before the first, and from thread to thread.
    idle : int
        The lane of each warp of 32 that reads nothing, and writes 0; 32 for none.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        Of one axis.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for another number of axes.

    Notes
    -----
    T6, also its ``if (tid != 3)``; P11, M.

    Examples
    --------
    >>> import numpy as np
    >>> coalescing(np.arange(10, dtype=np.int32), offset=1, stride=4, variant="elementwise").tolist()
    [1, 5, 9]
    """
    own = {"offset": offset, "stride": stride, "idle": idle}
    return call(RULE, (x,), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=202,
    call=coalescing,
    rate="GB/s",
    default_dtype="float32",
    default_shape=(1 << 20,),
    shape_help="the array's length",
    fixed_rank=True,
    make=make,
    reference=by_numpy,
    magnitude=lambda x, **own: np.abs(by_numpy(x, **own)),
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (65537,)),
    large=((10_000_019,),),
    own=("offset", "stride", "idle"),
)
