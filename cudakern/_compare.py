"""Random matrices, and how far one result is from another, as the documents measure it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._dtypes import kind_of, numpy_dtype
from ._table import type_in_words


class Comparison(NamedTuple):
    """Relative errors: the largest, and the average over the elements that were compared."""

    max: float
    average: float

    def __str__(self) -> str:
        return f"max {self.max:.3g}, average {self.average:.3g}"


def compare(a: npt.ArrayLike, b: npt.ArrayLike, magnitude: npt.ArrayLike | None = None) -> Comparison:
    """The relative errors of ``a`` against ``b``: the largest and the average of |a - b| / |b|.

    Elements where b is 0 have no relative error and are left out, as the documents do; elements that are equal
    (infinities too) have error 0, and a NaN gives NaN.

    Parameters
    ----------
    a, b : array_like
        Of one shape, any type.
    magnitude : array_like, optional
        What errors are shares of instead of |b|, where terms of both signs may leave a b near 0: for a product of
        matrices ``abs(x) @ abs(y)``. It is broadcast. No element is left out then.

    Returns
    -------
    Comparison
        ``(max, average)``; zeros if there is nothing to compare.

    Raises
    ------
    TypeError, ValueError
        Arrays of other things than numbers; two shapes; a magnitude that does not broadcast to them.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.compare([1.0, 2.0, 5.0], [1.0, 4.0, 0.0], magnitude=10.0)
    Comparison(max=0.5, average=0.23333333333333334)
    """
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        raise ValueError(f"compare: shapes differ, {first.shape} and {second.shape}")
    for x in (first, second):
        if x.dtype.kind not in "biufcO" and x.dtype.isbuiltin != 2:  # (2: another package's, as bfloat16)
            raise TypeError(f"compare takes numbers, not {type_in_words(x.dtype)}")
    if magnitude is None:
        nonzero = second != 0
        first, second = first[nonzero], second[nonzero]
        scale = second
    else:
        scale = np.broadcast_to(np.asarray(magnitude), second.shape)
    if second.size == 0:
        return Comparison(0.0, 0.0)
    wide: Any = np.result_type(first, second, np.float64)
    if wide.kind != "c" and max(first.itemsize, second.itemsize) > 4:
        wide = np.longdouble  # float64 and int64 are compared in more digits than they have, where there are more
    with np.errstate(all="ignore"):
        errors = np.abs(first.astype(wide) - second.astype(wide)) / np.abs(scale.astype(wide))
    errors = np.where(first == second, 0, errors)
    return Comparison(float(errors.max()), float(errors.mean()))


def random_matrix(
    m: int, n: int | None = None, dtype: npt.DTypeLike = np.float32, seed: int | None = None
) -> npt.NDArray[Any]:
    """A matrix of random numbers, uniform in [0, 1).

    Parameters
    ----------
    m, n : int
        Rows and columns; without ``n`` it is square.
    dtype, seed : optional
        A float type; the same seed gives the same matrix.

    Returns
    -------
    ndarray
        Of shape (m, n).

    Raises
    ------
    TypeError, ImportError
        A type that is not a float: all its numbers would be 0; bfloat16, without the package ml_dtypes.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.random_matrix(2, 3, seed=1).shape
    (2, 3)
    """
    kind = numpy_dtype(dtype)
    if kind_of(kind) != "f":
        raise TypeError(f"random_matrix: numbers in [0, 1) need a float type, not {kind.name}")
    random = np.random.default_rng(seed)
    shape = (m, m if n is None else n)
    if kind == np.float32:
        return random.random(shape, np.float32)
    # Rounding to fewer digits could give 1, which is outside.
    below = np.nextafter(kind.type(1), kind.type(0))
    return np.asarray(np.minimum(random.random(shape).astype(kind, copy=False), below), kind)
