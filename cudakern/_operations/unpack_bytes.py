"""unpack_bytes: bytes as floats, read one by one or as words."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation
from ._call import call
from ._rule import Rule

NAME = "unpack_bytes"


def by_numpy(x: Array) -> Array:
    """NumPy's conversion."""
    return x.astype(np.float32)


RULE = Rule(NAME, ("x",), by_numpy, preferred=("words",))


def unpack_bytes(x: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """Bytes as floats, of the same shape.

    Parameters
    ----------
    x : array_like or DeviceArray
        uint8, of any shape.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        float32.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`.

    Notes
    -----
    M: four bytes read as one word, taken apart by masks and shifts.

    Examples
    --------
    >>> import numpy as np
    >>> unpack_bytes(np.array([0, 1, 255], np.uint8), variant="words").tolist()
    [0.0, 1.0, 255.0]
    """
    return call(RULE, (x,), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Bytes of every value."""
    return (np.random.default_rng(seed).integers(0, 256, shape).astype(dtype),)


OPERATION = Operation(
    name=NAME,
    position=203,
    call=unpack_bytes,
    rate="GB/s",
    default_dtype="uint8",
    default_shape=(1 << 20,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=np.abs,
    square=lambda n: (n,),
    ragged=((0,), (1,), (3,), (5,), (257,), (31, 33), (65539,)),
    large=((10_000_019,),),
)
