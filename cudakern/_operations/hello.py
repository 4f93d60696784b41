"""hello: each thread says who it is and adds its number to an element. ``cudakern.lab.hello`` shows what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "hello"


def _reference(x: Any, lines: int = 0) -> Array:
    """The same by NumPy, without a greeting."""
    x = np.asarray(x)
    return np.asarray(x + np.arange(x.size).reshape(x.shape).astype(x.dtype))


def _by_numpy(x: Array, lines: int = 0) -> Array:
    if x.dtype != np.int32:
        raise TypeError(f"{NAME} takes an array of int32, not {x.dtype.name}; .astype(numpy.int32) converts")
    return _reference(x)


def _shape(x: Shape, lines: int = 0) -> Shape:
    return x


RULE = Rule(NAME, ("x",), _by_numpy, preferred=("greeting",), shape=_shape)


def hello(
    x: Any, /, out: Any = None, *, lines: int = 0, variant: str = "auto", stream: Any = None, **parameters: int
) -> Any:
    """x[i] + i, the number of the thread that has element i; the first ``lines`` threads print a greeting.

    Parameters
    ----------
    x : array_like or DeviceArray
        int32, any shape and strides.
    out : ndarray or DeviceArray, optional
        Where the result goes.
    lines : int
        How many threads print, from number 0 on. What they print appears on standard output when the host waits for
        them; ``cudakern.lab.printed()`` gives it to Python. NumPy's row prints nothing.
    variant, stream
        As in every operation.
    **parameters : int
        The row's: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        int32, in x's shape; sums wrap.

    Raises
    ------
    TypeError
        A type that is not int32.
    ValueError
        ``lines`` below 0 or above a million.

    Notes
    -----
    P's first program, whose threads only print.

    Examples
    --------
    >>> import numpy as np
    >>> from cudakern._operations.hello import hello
    >>> hello(np.zeros(4, np.int32), variant="greeting").tolist()
    [0, 1, 2, 3]
    """
    own = {"lines": lines}
    return call(RULE, (x,), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=201,
    call=hello,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(4,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=_reference,
    magnitude=lambda x: np.abs(x),
    square=lambda n: (n,),
    ragged=((0,), (1,), (4,), (33,), (13, 77)),
    large=(),
    own=("lines",),
)
