"""thread_map: which thread of which block has which element, told by the threads themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "thread_map"

#: Threads a block along each axis, slowest axis first, by the number of axes: what `make` takes.
BLOCKS = {1: (8,), 2: (4, 8), 3: (2, 2, 4)}


def _shape(x: Shape, numbers: Shape) -> Shape:
    if not 1 <= len(x) <= 3 or len(numbers) != 2 * len(x):
        raise ValueError(
            f"{NAME}: x is {x} and numbers is {numbers}: x has 1 to 3 axes, and numbers the grid's axes and then the "
            "block's, as many each"
        )
    return x


def by_numpy(x: Array, numbers: Array) -> Array:
    """The numbers of all threads, laid side by side as their blocks lie, added where they meet the array."""
    axes = x.ndim
    grid, block = numbers.shape[:axes], numbers.shape[axes:]
    side_by_side = numbers.transpose([i for axis in range(axes) for i in (axis, axes + axis)])
    threads = side_by_side.reshape([blocks * length for blocks, length in zip(grid, block, strict=True)])
    covered = tuple(slice(0, min(n, m)) for n, m in zip(x.shape, threads.shape, strict=True))
    result = np.zeros_like(x)
    result[covered] = x[covered] + threads[covered]
    return result


RULE = Rule(NAME, ("x", "numbers"), by_numpy, preferred=("coordinates",), shape=_shape)


def thread_map(
    x: Any, numbers: Any, /, out: Any = None, *, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Any:
    """Each thread of a grid adds its own number to the element that it has; elements without a thread become 0.

    Parameters
    ----------
    x : array_like or DeviceArray
        int32 or int64, of one to three axes.
    numbers : array_like or DeviceArray
        A number for each thread. Its shape is the grid's followed by the block's, slowest axis first:
        (blocks, threads), or (blocks y, blocks x, threads y, threads x), or the six of three axes.
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        Of the shape and type of ``x``.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for a grid or a block that the device does not take.

    Notes
    -----
    P4 to P7: the hierarchy of threads, and the picture of 76 x 62 elements in blocks of 16 x 16.

    Examples
    --------
    >>> thread_map([0, 0, 0, 0, 0], [[10, 11], [20, 21]], variant="coordinates").tolist()
    [10, 11, 20, 21, 0]
    """
    return call(RULE, (x, numbers), out, variant, stream, parameters)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array, and numbers for a grid over it that for odd seeds leaves out the edge, as width / 16 blocks do."""
    random = np.random.default_rng(seed)
    block = BLOCKS[len(shape)]
    grid = tuple(n // length if seed % 2 else -(-n // length) for n, length in zip(shape, block, strict=True))
    return random_array(random, shape, dtype), random.integers(1, 1000, grid + block).astype(dtype)


OPERATION = Operation(
    name=NAME,
    position=200,
    call=thread_map,
    rate="GB/s",
    default_dtype="int64",
    default_shape=(62, 76),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=lambda x, numbers: np.abs(x),
    square=lambda n: (n,),
    ragged=((0,), (1,), (13, 0), (7,), (62, 76), (5, 7, 9), (1009,), (33, 129)),
    large=((1023, 1025), (3, 257, 513)),
)
