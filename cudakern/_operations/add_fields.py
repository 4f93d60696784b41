"""add_fields: structs of four fields, added in place; an array of structs or a struct of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "add_fields"


def _shape(begin: Shape, source: Shape, rounds: int = 1) -> Shape:
    if len(begin) != 2 or begin[1] != 4 or source != begin:
        raise ValueError(f"{NAME}: both shapes are (n, 4), a row a struct, not {begin} and {source}")
    return begin


def by_numpy(begin: Array, source: Array, rounds: int = 1) -> Array:
    """Field by field, round by round, in the order that the arrays have in memory."""
    if not 1 <= rounds <= 1000:
        raise ValueError(f"{NAME}: rounds={rounds}: 1 to 1000")
    result = begin.copy(order="K")
    for _ in range(rounds):
        for field in range(4):
            result[:, field] += source[:, field]
    return result


RULE = Rule(NAME, ("begin", "source"), by_numpy, preferred=("struct_of_arrays",), shape=_shape)


def add_fields(
    begin: Any,
    source: Any,
    /,
    out: Any = None,
    *,
    rounds: int = 1,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any:
    """``begin + rounds * source``: four fields of n structs, added one round after the other, in memory.

    Parameters
    ----------
    begin, source : array_like or DeviceArray
        int32, of shape (n, 4): a row a struct. In C order the structs lie side by side, in Fortran's order the fields.
        "struct_of_arrays" takes arrays as they lie, the other kernels bring them into C order.
    rounds : int
        How often the source is added: 1 to 1000.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        Of that shape, modulo 2**32.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for other shapes.

    Notes
    -----
    M: interleaved and not interleaved, 4096 elements of four fields.

    Examples
    --------
    >>> import numpy as np
    >>> a = np.arange(8, dtype=np.int32).reshape(2, 4)
    >>> add_fields(a, a, rounds=2, variant="aligned_structs").tolist()
    [[0, 3, 6, 9], [12, 15, 18, 21]]
    """
    own = {"rounds": rounds}
    return call(RULE, (begin, source), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two arrays of random numbers."""
    random = np.random.default_rng(seed)
    return random_array(random, shape, dtype), random_array(random, shape, dtype)


OPERATION = Operation(
    name=NAME,
    position=205,
    call=add_fields,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(1 << 18, 4),
    shape_help="(structs, 4)",
    fixed_rank=True,
    make=make,
    reference=by_numpy,
    magnitude=lambda begin, source, rounds=1: np.abs(begin),
    square=lambda n: (n, 4),
    ragged=((0, 4), (1, 4), (33, 4), (256, 4), (257, 4), (20011, 4)),
    large=((3_000_017, 4),),
    own=("rounds",),
)
