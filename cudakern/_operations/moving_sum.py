"""moving_sum: a weighted sum over the newest rows of each column; what the experiment on local memory computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "moving_sum"
WINDOW = 32  #: the rows' default


def _by_numpy(x: Array, window: int = WINDOW) -> Array:
    """A scaled copy of the array for each row that counts: the newest ``window`` times, the oldest once."""
    result = np.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore"):
        for age in range(min(window, len(x))):
            result[age:] += x.dtype.type(window - age) * x[: len(x) - age]
    return result


def _shape(x: Shape, window: int = WINDOW) -> Shape:
    if len(x) != 2:
        raise ValueError(
            f"{NAME}: x is {x}, and it must have two axes: rows, over which the window moves, and columns; "
            "x[:, None] makes one column of a list"
        )
    return x


RULE = Rule(NAME, ("x",), _by_numpy, preferred=("compile_time_index",), shape=_shape)


def moving_sum(
    x: Any,
    /,
    out: Any = None,
    *,
    window: int = WINDOW,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any:
    """A weighted sum over the newest rows of each column: the newest counts ``window`` times, the oldest once.

    Parameters
    ----------
    x : array_like or DeviceArray
        Rows and columns, float32 or float64. Before the first row all is zero.
    out : ndarray or DeviceArray, optional
        Where the result goes: of x's shape.
    window : int
        How many rows count: 8, 16 or 32.
    variant : str
        "auto", or a name from ``variants("moving_sum")``.
    stream : optional
        For arrays on the device: where the work is enqueued.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray or DeviceArray
        Of x's shape and type.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have.
    ValueError
        An array that has not two axes; a window that there is no kernel for; an out= of another shape.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    ``scipy.signal.lfilter(range(window, 0, -1), 1, x, axis=0)``. The documents (P9, M) name what is compared here, an
    array of a thread in registers and in local memory, and give no program; ``cudakern.lab.spilling`` measures it.

    Examples
    --------
    >>> import cudakern
    >>> from cudakern._operations.moving_sum import moving_sum
    >>> moving_sum([[1.0], [0.0], [2.0]], variant="runtime_index", window=8).ravel().tolist()
    [8.0, 7.0, 22.0]
    """
    return call(RULE, (x,), out, variant, stream, parameters, {"window": window})


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=210,
    call=moving_sum,
    rate="GB/s",
    default_dtype="float32",
    default_shape=(256, 4096),
    shape_help="rows and columns",
    fixed_rank=True,
    make=make,
    reference=_by_numpy,
    magnitude=lambda x, window=WINDOW: _by_numpy(np.abs(x), window),
    square=lambda n: (n, n),
    ragged=((0, 3), (3, 0), (1, 1), (31, 5), (33, 7), (65, 33), (513, 9), (1009, 65)),
    large=((20_011, 1001), (257, 65_537)),
    own=("window",),
)
