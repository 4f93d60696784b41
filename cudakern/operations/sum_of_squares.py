"""sum_of_squares: the public function, its rule, and its computation by NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..arrays import memory_limit
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.rule import Rule
from ..calls.table import AUTO
from ..calls.tiles import LEAST_EDGE, Tiled, pieces, rounding
from .registry import ArrayLike, Result, registered

PIECE = 1 << 16  #: elements
CHUNK = 256 << 20  #: bytes of an array beyond the memory limit that are copied at once; more are not faster


def result_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the result for real numbers of that type."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype.newbyteorder("=")  # 2: float16 and bfloat16


def on_host(x: Array) -> Any:
    """NumPy's way: numpy.dot of pieces that fit the cache, converted as they come, their sums in double or more."""
    result, flat = result_type(x.dtype), x.ravel(order="K")
    parts = (flat[i : i + PIECE].astype(result, copy=False) for i in range(0, flat.size, PIECE))
    with np.errstate(over="ignore"):
        if result.kind in "iu":
            total = sum(int(np.dot(piece, piece)) for piece in parts)
            return np.array(total % 2**64, np.uint64).view(result)[()]
        wide = np.promote_types(result, np.float64).type
        return result.type(sum((wide(np.dot(piece, piece)) for piece in parts), start=wide(0)))


def in_tiles(tiled: Tiled, x: Array, result: Array) -> None:
    """The sum of the sums of chunks, for an array beyond the memory limit: added in a wider type, or modulo 2**64."""
    x, item, out = x.ravel(order="K"), x.itemsize, result.itemsize

    def memory(chunk: int) -> int:
        extra = tiled.extra((as_strided(np.empty(1, x.dtype), (chunk,), (item,)),), np.empty((), result.dtype))
        return 2 * chunk * item + -(-x.size // chunk) * out + extra + rounding(4)

    chunk = -(-min(CHUNK, x.nbytes) // item)
    while memory(chunk) > tiled.limit and chunk > LEAST_EDGE:
        chunk = -(-chunk // 2)
    if memory(chunk) > tiled.limit:
        raise memory_limit.refuse("sum_of_squares", tiled.limit, memory(chunk))
    chunks = pieces(x.size, chunk)
    tiled.begin(len(chunks))
    operands = tiled.blocks(chunk * item, 2)
    sums = tiled.blocks(len(chunks) * out, 1).place("sums", (1, 1, len(chunks)), tiled.result)
    for number, piece in enumerate(chunks):
        view = operands.get(x[None, None, piece])
        flat = tiled.native.view(view, 0, (view.shape[2],), (item,), tiled.dtype)
        tiled.kernel((flat,), tiled.native.view(sums, number * out, (), (), tiled.result))
        tiled.advance()
    parts = np.empty((1, 1, len(chunks)), result.dtype)
    tiled.download(sums, parts)
    with np.errstate(over="ignore"):
        result[()] = parts.sum(dtype=result.dtype if result.dtype.kind in "iu" else np.longdouble)


RULE = Rule(
    "sum_of_squares",
    ("x",),
    on_host,
    # Floats are summed in float64: more exact than numpy.dot. It has every type.
    preferred=("one_launch",),
    fixed=(),
    real=True,
    tiles=in_tiles,
    counted=lambda x: ((math.prod(x),),),
)


def reference(x: Array) -> Any:
    """Exact for integers, in the widest float for others."""
    if x.dtype.kind in "biu":
        return on_host(x)
    wide = x.astype(np.longdouble)
    return np.sum(wide * wide)


@registered(10, headline=True, default_dtype="int32", reference=reference, magnitude=reference)
def sum_of_squares(x: ArrayLike, variant: str = AUTO, *, stream: Any = None, **parameters: int) -> Result:
    """Sum the squares of all elements.

    Parameters
    ----------
    x : array_like or DeviceArray
        Real numbers or bools, of any shape and strides. ``auto`` takes every type, a named variant the types it lists.

    Returns
    -------
    NumPy scalar or DeviceArray
        The sum: int64 for bool and signed integers and uint64 for unsigned ones (modulo 2**64), float32 for float16,
        bfloat16 and float32, float64 for float64; 0 if there are no elements. A device array gives a DeviceArray of
        shape (); ``float()`` and ``int()`` wait for its value.

    Notes
    -----
    The variants lead from a single thread to the speed of the memory. They have the parameter ``threads=`` (per
    block), and most of them ``blocks=``.

    Source: T3; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> int(cudakern.sum_of_squares(cudakern.asarray([1, 2, 3])))
    14
    """
    return call(RULE, (x,), None, variant, stream, parameters)
