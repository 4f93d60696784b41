"""Random matrices and relative errors of results."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays.dtypes import kind_of, numpy_dtype
from ..calls.table import type_in_words


class Comparison(NamedTuple):
    """The largest and the average relative error."""

    max: float
    average: float

    def __str__(self) -> str:
        return f"max {self.max:.3g}, average {self.average:.3g}"


def compare(a: npt.ArrayLike, b: npt.ArrayLike, magnitude: npt.ArrayLike | None = None) -> Comparison:
    """The relative errors of ``a`` compared with ``b``: the largest and the average of |a - b| / |b|.

    Elements where b is 0 are skipped, because they have no relative error. Equal elements, including infinities, have
    error 0; a NaN gives NaN. If no element is compared, both errors are 0. ValueError for different shapes, TypeError
    for arrays without numbers.

    Parameters
    ----------
    a, b : array_like
        Of the same shape, any numeric type.
    magnitude : array_like, optional
        Divisor of the errors instead of |b|, for results near 0 whose terms are not: for a matrix product,
        ``abs(x) @ abs(y)``. It is broadcast, and no element is skipped.

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
        if x.dtype.kind not in "biufcO" and x.dtype.isbuiltin != 2:  # (2: a type of another package, such as bfloat16)
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
        wide = np.longdouble  # float64 and int64 are compared in a wider type, where there is one
    with np.errstate(all="ignore"):
        errors = np.abs(first.astype(wide) - second.astype(wide)) / np.abs(scale.astype(wide))
    errors = np.where(first == second, 0, errors)
    return Comparison(float(errors.max()), float(errors.mean()))


def random_matrix(
    m: int, n: int | None = None, dtype: npt.DTypeLike = np.float32, seed: int | None = None
) -> npt.NDArray[Any]:
    """A matrix of random numbers, uniformly distributed in [0, 1). TypeError for a type that is not a float.

    Parameters
    ----------
    m, n : int
        Rows and columns. Default for ``n``: ``m``.
    dtype, seed : optional
        A float type (bfloat16 with the package ml_dtypes); the same seed gives the same matrix.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.random_matrix(2, 3, seed=1).shape
    (2, 3)
    """
    kind = numpy_dtype(dtype)
    if kind_of(kind) != "f":  # integers would all be 0
        raise TypeError(f"random_matrix: dtype must be a float type, not {kind.name}")
    random = np.random.default_rng(seed)
    shape = (m, m if n is None else n)
    if kind == np.float32:
        return random.random(shape, np.float32)
    # Rounding to fewer digits could give 1, which is out of range.
    below = np.nextafter(kind.type(1), kind.type(0))
    return np.asarray(np.minimum(random.random(shape).astype(kind, copy=False), below), kind)
