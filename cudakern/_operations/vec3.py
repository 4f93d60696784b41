"""vec3: squared lengths of vectors of 12 bytes, which may lie in memory in four ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "vec3"


def _shape(x: Shape) -> Shape:
    if len(x) != 2 or x[1] != 3:
        raise ValueError(f"{NAME}: the vectors' shape is (n, 3), not {x}")
    return x[:1]


def by_numpy(x: Array) -> Array:
    """Squares and their sums."""
    total: Array = x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2]
    return total


RULE = Rule(NAME, ("vectors",), by_numpy, preferred=("staged",), shape=_shape)


def vec3(vectors: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int) -> Any:
    """x * x + y * y + z * z of each vector.

    Parameters
    ----------
    vectors : array_like or DeviceArray
        float32, of shape (n, 3). Rows bring it into the order that they want, but for "struct_of_arrays", which takes
        it as it lies: in Fortran's order, all x are side by side.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        float32, of shape (n,).

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for another shape.

    Notes
    -----
    T6's ``vec3d``, and its three cures.

    Examples
    --------
    >>> import numpy as np
    >>> vec3(np.array([[1, 2, 2], [0, 3, 4]], np.float32), variant="staged").tolist()
    [9.0, 25.0]
    """
    return call(RULE, (vectors,), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Vectors of random numbers."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=204,
    call=vec3,
    rate="GB/s",
    default_dtype="float32",
    default_shape=(1 << 18, 3),
    shape_help="(vectors, 3)",
    fixed_rank=True,
    make=make,
    reference=by_numpy,
    magnitude=by_numpy,
    square=lambda n: (n, 3),
    ragged=((0, 3), (1, 3), (2, 3), (33, 3), (256, 3), (257, 3), (20011, 3)),
    large=((3_000_017, 3),),
)
