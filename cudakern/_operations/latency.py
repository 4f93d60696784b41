"""latency: each element plus a chain of multiply-adds; the load early or late, of one element or several."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule
from ._wrapping import unsigned

NAME = "latency"
#: As in late.cuh: 64 times value * value + STEP.
ROUNDS, STEP = 64, 12345


def by_numpy(x: Array) -> Array:
    """The chains of all elements, round by round, modulo the type's size."""
    value = unsigned(x, NAME)
    chain = np.arange(x.size, dtype=value.dtype).reshape(x.shape)
    for _ in range(ROUNDS):
        chain *= chain
        chain += value.dtype.type(STEP)
    result: Array = value + chain
    return result.view(x.dtype)


RULE = Rule(NAME, ("x",), by_numpy, preferred=("several",))


def latency(x: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """Each element plus a chain of 64 multiply-adds that begins with its index.

    Parameters
    ----------
    x : array_like or DeviceArray
        int32, of any shape.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`; the rows have ``threads=``, ``blocks=``, and "several" ``elements=``.

    Returns
    -------
    ndarray or DeviceArray
        Of that shape, modulo 2**32.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`.

    Notes
    -----
    M, on the scoreboard: a load that is started early and used late.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(100, dtype=np.int32)
    >>> bool((latency(x, variant="late") == latency(x, variant="several", elements=8)).all())
    True
    """
    return call(RULE, (x,), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=207,
    call=latency,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(1 << 17,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=np.abs,
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (13, 77), (65537,)),
    large=((3_000_017,),),
)
