"""divergence: one of two chains of multiplications, chosen by the thread's place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import unknown
from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule
from ._wrapping import unsigned

NAME = "divergence"
#: As in branches.cuh.
THREADS, ROUNDS = 256, 256
#: Who takes the second path, by the thread's number in its block.
BRANCHES: dict[str, Callable[[Array], Array]] = {
    "first": lambda thread: thread < 0,
    "second": lambda thread: thread >= 0,
    "thread": lambda thread: thread > 2,
    "lane": lambda thread: thread % 32 > 2,
    "odd_lane": lambda thread: thread % 2 == 1,
    "warp": lambda thread: thread // 32 >= 2,
}


def _shape(x: Shape, branch: str = "first") -> Shape:
    return x


def by_numpy(x: Array, branch: str = "first") -> Array:
    """Both chains, each for the elements whose threads take it."""
    if branch not in BRANCHES:
        raise ValueError(f"{NAME}: {unknown('branch=', branch, BRANCHES)}")
    value = unsigned(x, NAME).reshape(-1).copy()
    kind = value.dtype.type
    second = BRANCHES[branch](np.arange(value.size) % THREADS)
    squared, scaled = value[second], value[~second]
    for _ in range(ROUNDS):
        squared = squared * squared ^ kind(12345)
        scaled = scaled * kind(1664525) ^ kind(1013904223)
    value[second], value[~second] = squared, scaled
    return value.view(x.dtype).reshape(x.shape)


RULE = Rule(NAME, ("x",), by_numpy, preferred=("branches",), shape=_shape)


def divergence(
    x: Any, /, out: Any = None, *, branch: str = "first", variant: str = AUTO, stream: Any = None, **parameters: int
) -> Any:
    """256 multiplications an element, of one of two kinds: ``v * 1664525 ^ 1013904223`` or ``v * v ^ 12345``.

    Parameters
    ----------
    x : array_like or DeviceArray
        int32, of any shape.
    branch : str
        Who takes the second path, in blocks of 256 threads: nobody ("first"), everybody ("second"), the threads behind
        the third ("thread"), the lanes behind the third of each warp ("lane"), every other lane ("odd_lane"), the warps
        behind the second ("warp").
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        Of that shape, modulo 2**32.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for another word.

    Notes
    -----
    P11: ``if (threadIdx.x > 2)`` against ``if (threadIdx.x / WARP_SIZE < 2)``.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.zeros(256, np.int32)
    >>> a, b = (divergence(x, branch=branch, variant="branches") for branch in ("first", "thread"))
    >>> int((a == b).sum())
    3
    """
    own = {"branch": branch}
    return call(RULE, (x,), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=206,
    call=divergence,
    rate="GFLOP/s",
    default_dtype="int32",
    default_shape=(1 << 16,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=lambda x, branch="first": np.abs(x),
    square=lambda n: (n,),
    ragged=((0,), (1,), (255,), (257,), (13, 77), (5003,)),
    large=((1_000_003,),),
    own=("branch",),
)
