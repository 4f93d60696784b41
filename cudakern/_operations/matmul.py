"""matmul: numpy.matmul's rules around the ladder of section "matrix multiplication"."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _dispatch
from .._table import Variant
from . import Array, Operation, random_array

NAME = "matmul"

#: What "auto" tries on a GPU: compensated rows only, so that no result is less exact than numpy.dot's.
PREFERRED = ("tiled_padded", "tiled", "kahan")

#: numpy.matmul's keywords that are not taken (yet).
NOT_TAKEN = ("axes", "axis", "casting", "order", "dtype", "subok", "signature", "where", "keepdims")


def matmul(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    /,
    out: Array | tuple[Array] | None = None,
    *,
    variant: str = "auto",
    **parameters: int,
) -> Any:
    """The matrix product of two arrays, by the rules of ``numpy.matmul``.

    Parameters
    ----------
    a, b : array_like
        ``auto`` takes all shapes and types that NumPy does. A named kernel takes two matrices, (m, k) and (k, n), of
        any size from 0 and any strides, both of one type that its row lists (float32 or float64).
    out : ndarray, optional
        Where the result goes, of shape (m, n), any layout; it may overlap ``a`` or ``b``. Results are converted
        to its type by the rule "same_kind".
    variant : str
        "auto", which is the fastest correct way here (without a GPU: NumPy), or a name from ``variants("matmul")``,
        which always runs that kernel.
    **parameters : int
        The row's parameters, e.g. ``tile=``.

    Returns
    -------
    ndarray
        The product; ``out`` if that was given.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have; a keyword of numpy.matmul that is not taken.
    ValueError
        Shapes that do not fit, scalars, an unknown variant, a value that a parameter does not take.
    NotImplementedError
        One or more than two dimensions in a named kernel.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    The ladder is that of the CUDA tutorial "in plain words" for the GeForce 8800GT: from one thread an element to
    tiles in shared memory, summed as W. Kahan does (Communications of the ACM 8:1, 1965).

    Examples
    --------
    >>> import numpy as np, cudakern
    >>> a = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> cudakern.matmul(a, a.T, variant="tiled").tolist()
    [[5.0, 14.0], [14.0, 50.0]]
    """
    for name in parameters:
        if name in NOT_TAKEN:
            raise TypeError(f"matmul: numpy.matmul's keyword {name!r} is not taken here")
    row, values = _dispatch.check_variant(NAME, variant, parameters)
    if isinstance(out, tuple):  # as NumPy's functions take it
        if len(out) != 1:
            raise ValueError(f"matmul: out is a tuple of {len(out)}, and there is one result")
        out = out[0]
    first, second = np.asarray(a), np.asarray(b)
    if row is None:
        row = _choose(first, second)
        values = row.values({})
        if row.on_host:  # the arguments as they came: NumPy has its own rules for subclasses
            return _dispatch.on_host(NAME, (first, second), lambda: _numpy(a, b, out))
    if not row.on_host:
        _check_matrices(row, first, second)
    for name, operand, given in (("a", first, a), ("b", second, b)):
        if operand.dtype.name != first.dtype.name:  # their byte orders may differ
            raise TypeError(
                f"matmul: variant {row.name!r} takes two matrices of one type, not "
                f"{first.dtype.name} and {second.dtype.name}"
            )
        row.signature(operand.dtype)
        _dispatch.host_array(given, name)
    if row.on_host:
        return _dispatch.on_host(NAME, (first, second), lambda: _numpy(first, second, out))
    return _product(row, values, first, second, out)


def _choose(a: Array, b: Array) -> Variant:
    """The row for "auto": a kernel for two matrices of one type, NumPy for all else."""
    if a.ndim == b.ndim == 2 and a.dtype.name == b.dtype.name:
        return _dispatch.fastest(NAME, a.dtype, PREFERRED)
    return _dispatch.host_row(NAME)


def _numpy(a: Any, b: Any, out: Any) -> Any:
    return np.matmul(a, b, out=out)


def _check_matrices(row: Variant, a: Array, b: Array) -> None:
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: an operand is a scalar; use * for that")
    if a.ndim != 2 or b.ndim != 2:
        raise NotImplementedError(
            f"matmul: variant {row.name!r} takes two matrices; {a.ndim} and {b.ndim} "
            "dimensions are not there yet (variant='auto' takes them)"
        )
    if a.shape[1] != b.shape[0]:
        raise ValueError(
            f"matmul: a is {a.shape} and b is {b.shape}: the {a.shape[1]} columns of a must be as many "
            f"as the {b.shape[0]} rows of b"
        )


def _product(row: Variant, values: tuple[int, ...], a: Array, b: Array, out: Array | None) -> Array:
    shape, dtype = (a.shape[0], b.shape[1]), np.dtype(row.signature(a.dtype)[2])
    if out is not None:
        _check_out(out, shape, dtype)
    # The kernel writes into out itself where it can; else into memory of its own, which is then copied.
    direct = (
        out is not None
        and out.shape == shape
        and out.dtype == dtype
        and out.flags.aligned
        and _dispatch.rows_are_plain(out)
        and not np.may_share_memory(out, a)
        and not np.may_share_memory(out, b)
    )
    result = out if direct and out is not None else np.empty(shape, dtype)
    _dispatch.execute(row, values, (_dispatch.as_rows(a), _dispatch.as_rows(b)), (np.asarray(result),))
    if out is None or result is out:
        return result
    np.copyto(out, result, casting="same_kind")
    return out


def _check_out(out: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(out, np.ndarray):
        raise TypeError(f"matmul: out must be an array, not {type(out).__name__}")
    if out.shape[-2:] != shape:
        raise ValueError(f"matmul: out is {out.shape}, and the product is {shape}")
    if not np.can_cast(dtype, out.dtype, casting="same_kind"):
        raise TypeError(
            f"matmul: the product is {dtype.name}, which does not go into out, {out.dtype.name}, "
            "by the rule 'same_kind'"
        )
    if not out.flags.writeable:
        raise ValueError("matmul: out is read-only")


def make(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two matrices, (m, k) and (k, n)."""
    m, k, n = shape
    random = np.random.default_rng(seed)
    return random_array(random, (m, k), dtype), random_array(random, (k, n), dtype)


def reference(a: Array, b: Array) -> Array:
    """NumPy's product in double, or in the operands' type if that is wider."""
    if a.dtype.kind in "biu":  # exact, modulo the type's size
        return np.asarray(np.matmul(a, b))
    wide = np.result_type(a, b, np.float64)
    return np.asarray(np.matmul(a.astype(wide), b.astype(wide)))


def magnitude(a: Array, b: Array) -> Array:
    """The sums of magnitudes."""
    return reference(np.abs(a), np.abs(b))


OPERATION = Operation(
    name=NAME,
    position=20,
    call=matmul,
    rate="GFLOP/s",
    default_dtype="float32",
    default_shape=(1000, 1000, 1000),
    shape_help="m, k and n of an (m, k) by (k, n) product",
    fixed_rank=True,
    make=make,
    reference=reference,
    magnitude=magnitude,
    square=lambda n: (n, n, n),
    ragged=(
        (0, 3, 2),
        (3, 0, 2),
        (1, 1, 1),
        (1, 50, 1),
        (50, 1, 50),
        (17, 33, 65),
        (32, 32, 32),
        (100, 37, 3),
        (129, 130, 131),
    ),
    large=((777, 1025, 513), (1, 4099, 7)),
)
