"""matmul: the public function, and what ladder and verify need to know of it. NumPy's rules: _matmul_rules.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import DeviceArray
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array, widened
from ._call import call
from ._matmul_rules import RULE
from ._public import NumpyOut, Result, Stack, documented


@documented()
def matmul(
    a: Stack, b: Stack, /, out: NumpyOut = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """The matrix product of two arrays, by the rules of ``numpy.matmul``.

    Parameters
    ----------
    a, b : array_like or DeviceArray
        Two matrices, (..., m, k) and (..., k, n), of any size from 0 and any strides. Axes before the last two are
        broadcast against each other, as stacks of matrices; a 1-D ``a`` is a row, a 1-D ``b`` a column. ``auto``
        and ``numpy`` take every type that ``numpy.matmul`` takes, and two different ones; a named kernel takes two
        arrays of one type that its variant lists. Both are in host memory, or both on one device.
    out : ndarray or DeviceArray, optional
        Where the result goes ("same_kind"): where the operands are, of any layout; it may overlap them. Its shape is
        the product's, or has more axes in front, over which the product is repeated; stacks of one may be left out.
    <variant>
    <stream>
    **parameters : int
        The variant's parameters, e.g. ``tile=``.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        The product, of shape (..., m, n), without the axis of a 1-D operand; two 1-D host arrays give a scalar; ``out``
        if that was given. On the device where the operands are. Types are NumPy's, and integers wrap. Two arrays of
        bfloat16 give bfloat16, except by ``auto`` from host memory, where NumPy gives float32.

    Raises
    ------
    TypeError
        A type or a parameter that the variant does not have; two types with a named variant; an ``out`` that is no
        array, or of a type that the result does not go into; arrays in two places.
    ValueError
        Shapes that do not fit, scalars, an ``out`` of another shape or read-only, an unknown variant, a value that a
        parameter does not take, arrays on two devices.
    MemoryError
        No room for the result in host memory.
    NotImplementedError
        A variant that needs another device than this one.
    <failed>

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
    >>> d = cudakern.asarray(a)
    >>> cudakern.matmul(d, d.T).get().tolist()
    [[5.0, 14.0], [14.0, 50.0]]
    """
    return call(RULE, (a, b), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Two matrices, (m, k) and (k, n)."""
    m, k, n = shape
    random = np.random.default_rng(seed)
    return random_array(random, (m, k), dtype), random_array(random, (k, n), dtype)


def reference(a: Array, b: Array) -> Array:
    """NumPy's product in double, or in the operands' type if that is wider; integers and bool are exact."""
    return np.asarray(np.matmul(*widened((a, b), np.float64)))


DeviceArray._matmul = staticmethod(matmul)  # for @, whose module cannot import this one, which needs it

OPERATIONS = (
    Operation(
        matmul,
        20,
        headline=True,
        rate="GFLOP/s",
        default_shape=(1000, 1000, 1000),
        shape_help="m, k and n of an (m, k) by (k, n) product",
        fixed_rank=True,
        make=make,
        reference=reference,
        magnitude=lambda a, b: reference(np.abs(a), np.abs(b)),
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
    ),
)
