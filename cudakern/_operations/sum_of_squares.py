"""sum_of_squares: NumPy's rules around the ladder of section "sum of squares"."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _dispatch
from . import Array, Operation, random_array

NAME = "sum_of_squares"

#: What "auto" tries on a GPU. All add thousands of short sums as trees: more exact than numpy.dot's few long ones.
PREFERRED = ("vectorized", "warp_shuffle", "tree_sequential")


def sum_of_squares(x: npt.ArrayLike, variant: str = "auto", **parameters: int) -> Any:
    """The sum of the squares of all elements.

    Parameters
    ----------
    x : array_like
        Real numbers or bools of any shape and strides. ``auto`` takes every type; a named variant takes those of its
        row (int32, int64, float32, float64).
    variant : str
        "auto", which is the fastest correct way here (without a GPU: NumPy), or a name from
        ``variants("sum_of_squares")``, which always runs that kernel.
    **parameters : int
        The row's parameters, e.g. ``threads=`` (per block) and ``blocks=``.

    Returns
    -------
    NumPy scalar
        int64 for bool and signed integers and uint64 for unsigned ones (modulo 2**64), float32 for float16 and
        float32, float64 for float64. 0 for no elements.

    Raises
    ------
    TypeError
        Complex or non-numbers; a type or a parameter that the row does not have.
    ValueError
        An unknown variant, or a value that a parameter does not take.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    The ladder is that of the CUDA tutorial "in plain words" for the GeForce 8800GT: from one thread to the memory's
    own speed.

    Examples
    --------
    >>> import cudakern
    >>> int(cudakern.sum_of_squares([1, 2, 3]))
    14
    >>> int(cudakern.sum_of_squares([1, 2, 3], variant="multi_block"))
    14
    """
    row, values = _dispatch.check_variant(NAME, variant, parameters)
    array = _dispatch.host_array(x, "x")
    result = result_type(array.dtype)
    if row is None:
        row = _dispatch.fastest(NAME, array.dtype, PREFERRED)
        values = row.values({})
        if row.on_host:
            return _dispatch.on_host(NAME, (array,), lambda: on_host(array, result))
    output = row.signature(array.dtype)[2]
    if row.on_host:
        return _dispatch.on_host(NAME, (array,), lambda: on_host(array, result))
    out = np.zeros((), output)
    flat = _dispatch.native(array).ravel(order="K")  # in memory's order: a transposed array needs no copy
    _dispatch.execute(row, values, (flat,), (out,))
    return out[()]


def result_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the result for elements of that type."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    if dtype.kind == "f":
        return np.dtype(np.float32) if dtype.itemsize == 2 else dtype.newbyteorder("=")
    raise TypeError(f"sum_of_squares takes real numbers, not {dtype.name}")


def on_host(x: Array, result: np.dtype[Any]) -> Any:
    """NumPy's way: numpy.dot of pieces that fit the cache, converted as they come, their sums in double or more."""
    nditer: Any = np.nditer  # NumPy's stubs do not know "contig"
    pieces = nditer(
        [x],
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly", "nbo", "aligned", "contig"]],
        op_dtypes=[result],
        casting="same_kind",
        buffersize=1 << 16,
    )
    with np.errstate(over="ignore"):
        if result.kind in "iu":
            total = sum(int(np.dot(piece, piece)) for piece in pieces)
            return np.array(total % 2**64, np.uint64).view(result)[()]
        wide = np.promote_types(result, np.float64).type
        return result.type(sum((wide(np.dot(piece, piece)) for piece in pieces), start=wide(0)))


def make(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


def reference(x: Array) -> Any:
    """Exact for integers, in the widest float for others."""
    if x.dtype.kind in "biu":
        return on_host(x, result_type(x.dtype))
    wide = x.astype(np.longdouble)
    return np.sum(wide * wide)


OPERATION = Operation(
    name=NAME,
    position=10,
    call=sum_of_squares,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(1 << 20,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=reference,
    magnitude=reference,
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
    large=(((1 << 22) + 3,), (10_000_019,)),
)
