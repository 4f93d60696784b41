"""matmul: the public function, and its inputs and reference for ladder and verify. NumPy's rules: _matmul_rules.py."""

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
    """Multiply matrices, by the rules of ``numpy.matmul``.

    Parameters
    ----------
    a, b : array_like or DeviceArray
        Two matrices, (..., m, k) and (..., k, n), of any size (0 included) and any strides. Axes before the last two
        are broadcast, as stacks of matrices; a 1-D ``a`` is a row, a 1-D ``b`` is a column. ``auto``
        and ``numpy`` take every type that ``numpy.matmul`` takes, and two different ones; a named kernel takes two
        arrays of one type that its variant lists. Both are in host memory, or both on one device.
    out : ndarray or DeviceArray, optional
        Array for the result, in the same place as the operands, of any layout and of a type the product can be cast to
        ("same_kind"); it may overlap the operands. It has the product's shape. It may also have more axes in front,
        along which the product is repeated, or lack leading axes of length 1.
    <variant>
    <stream>
    **parameters : int
        Parameters of the variant, such as ``tile=``.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        The product, of shape (..., m, n), without the axis of a 1-D operand, or ``out``. Two 1-D host arrays give a
        scalar. The product is on the device if the operands are. Its type is NumPy's, and integers wrap. Two arrays of
        bfloat16 give bfloat16, but ``auto`` gives float32 for host arrays, as NumPy does.

    Raises
    ------
    TypeError
        The variant does not take this type or parameter; a named variant was given arrays of two types; ``out`` is not
        an array, or the product cannot be cast to its type; some arrays are in host memory and others on the device.
    ValueError
        The shapes do not fit; an operand is a scalar; ``out`` has another shape or is read-only; the variant is
        unknown; a parameter has a wrong value; the arrays are on two devices.
    MemoryError
        Not enough host memory for the result.
    NotImplementedError
        The variant needs another device.
    <failed>

    Notes
    -----
    The variants lead from one thread per element of the product to tiles in shared memory. Most of them sum with the
    compensation of W. Kahan (Communications of the ACM 8:1, 1965).

    Source: T5; see docs/sources.md.

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
