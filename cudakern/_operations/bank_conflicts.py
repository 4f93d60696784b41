"""bank_conflicts: lanes that read words of shared memory some words apart, again and again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._layout import Shape
from .._table import AUTO
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule
from ._wrapping import unsigned

NAME = "bank_conflicts"
#: As in strided.cuh.
LANES, THREADS, TILE, ROUNDS = 32, 256, 1024, 256


def _shape(x: Shape, stride: int = 16) -> Shape:
    return (-(-math.prod(x) // TILE), THREADS)


def by_numpy(x: Array, stride: int = 16) -> Array:
    """The rounds 3 * sum + word, from a thread's number on, as one formula."""
    if not 0 <= stride <= 32:
        raise ValueError(f"{NAME}: stride={stride}: lanes are 0 to 32 words apart")
    kind = x.dtype
    flat = unsigned(x, NAME).reshape(-1)
    tiles = _shape(x.shape)[0]
    words = np.zeros((tiles, TILE), flat.dtype)
    words.reshape(-1)[: flat.size] = flat
    modulus = 1 << 8 * kind.itemsize
    begin = 3**ROUNDS % modulus * np.arange(THREADS, dtype=flat.dtype)
    each = np.tile(words[:, stride * np.arange(LANES)], THREADS // LANES)
    result: Array = flat.dtype.type((3**ROUNDS - 1) // 2 % modulus) * each + begin.astype(flat.dtype)
    return result.view(kind)


RULE = Rule(NAME, ("x",), by_numpy, preferred=("strided",), shape=_shape)


def bank_conflicts(
    x: Any, /, out: Any = None, *, stride: int = 16, variant: str = AUTO, stream: Any = None, **parameters: int
) -> Any:
    """256 threads a tile of 1024 words: thread t reads word ``stride * (t % 32)`` 256 times and adds it up.

    Parameters
    ----------
    x : array_like or DeviceArray
        int32, of any shape: taken as one row of tiles, the last of which is filled up with zeros.
    stride : int
        Words from lane to lane: 0 (all lanes read one word) to 32; 1 to 32 for the variant "padded".
    out, variant, stream, **parameters
        As in :func:`cudakern.vector_add`.

    Returns
    -------
    ndarray or DeviceArray
        Of shape (tiles, 256): begun with t, each round makes ``3 * sum + word`` of the sum, modulo 2**32.

    Raises
    ------
    TypeError, ValueError, CudaError
        As in :func:`cudakern.vector_add`; ValueError for another stride.

    Notes
    -----
    T6: ``data[16 * tid]`` against ``data[17 * tid]``, and ``data[3]`` for all.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(1024, dtype=np.int32)
    >>> a, b = (bank_conflicts(x, stride=8, variant=name) for name in ("strided", "padded"))
    >>> a.shape, bool((a == b).all())
    ((1, 256), True)
    """
    own = {"stride": stride}
    return call(RULE, (x,), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


OPERATION = Operation(
    name=NAME,
    position=201,
    call=bank_conflicts,
    rate="GFLOP/s",
    default_dtype="int32",
    default_shape=(1 << 14,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=by_numpy,
    magnitude=lambda x, stride=16: np.abs(x),
    square=lambda n: (n,),
    ragged=((0,), (1,), (1023,), (1024,), (1025,), (3, 700)),
    large=((100_000,),),
    own=("stride",),
)
