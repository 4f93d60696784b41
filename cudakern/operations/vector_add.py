"""vector_add: NumPy's rules for x + y."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..calls.call import call
from ..calls.rule import Rule, broadcast_shape, type_of
from ..calls.table import AUTO
from .registry import ArrayLike, ArrayOrNumber, Out, Result, random_arrays, registered

RULE = Rule(
    "vector_add",
    ("x", "y"),
    np.add,
    preferred=("vectorized",),
    shape=functools.partial(broadcast_shape, "vector_add"),
    broadcasts=("x", "y"),
    common=functools.partial(type_of, np.add),
    others="OmMSUT",
)


@registered(
    1,
    shape_help="the arrays'",
    make=lambda shape, dtype, seed: random_arrays(dtype, seed, shape, shape),
    reference=np.add,
    magnitude=lambda x, y: np.abs(x) + np.abs(y),
)
def vector_add(
    x: ArrayLike, y: ArrayOrNumber, /, out: Out = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Result:
    """Add two arrays, element by element: x + y.

    Parameters
    ----------
    x, y : array_like or DeviceArray
        Numbers or bools (whose sum is "or"), of shapes that broadcast and any strides. ``auto`` converts them to one
        type as ``numpy.add`` does, and leaves host arrays of dates, strings and objects to ``numpy.add``; a named
        variant takes two arrays of one type. One may be a Python number or a NumPy scalar, also where the other is on
        the device.
    <out>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        An array of the broadcast shape and the common type; integers wrap. It is on the device if the inputs are.

    Notes
    -----
    Each thread adds one element if its index is below n; ``ceil(n / 256.0)`` blocks hold enough threads.

    Source: P4 to P6; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.vector_add([1, 2, 3], [10, 20, 30])
    array([11, 22, 33])
    """
    return call(RULE, (x, y), out, variant, stream, parameters)
