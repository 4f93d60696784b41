"""constant_memory: elements mixed with the numbers of a small table, which lies in the code, in constant memory or in
global memory. An experiment's kernels: ``cudakern.lab.constant_memory`` measures them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import DeviceArray
from .._layout import Shape
from .._transfer import Array
from . import Operation, random_array
from ._call import call
from ._rule import Rule

NAME = "constant_memory"
ROUNDS, LONGEST = 64, 1024  #: as in mix.cuh
ODD = np.uint32(0x9E3779B1)
LITERALS = np.array(
    [0x55555555, 0x77777777, 0x33333333, 0x11111111], np.uint32
)  #: M's, which "literal" has in its code


def _reference(x: Any, table: Any, index: str = "uniform") -> Array:
    """The same by NumPy."""
    table = np.asarray(table).astype(np.uint32)
    d: Array = np.asarray(x).astype(np.uint32)
    if table.size == 0:
        raise ValueError(f"{NAME}: the table is empty")
    first = np.arange(d.size).reshape(d.shape) if index == "divergent" else np.zeros(d.shape, np.intp)
    for step in range(ROUNDS):
        d = (d ^ table[(first + step) % table.size]) * ODD
    return d


def _by_numpy(x: Array, table: Array, index: str = "uniform") -> Array:
    if x.dtype != np.uint32:
        raise TypeError(f"{NAME} takes two arrays of uint32, not {x.dtype.name}; .astype(numpy.uint32) converts")
    return _reference(x, table, index)


def _shape(x: Shape, table: Shape, index: str = "uniform") -> Shape:
    if len(table) != 1 or not 1 <= table[0] <= LONGEST:
        raise ValueError(f"{NAME}: the table is {table}; it has one axis of 1 to {LONGEST} numbers")
    return x


RULE = Rule(NAME, ("x", "table"), _by_numpy, preferred=("array",), shape=_shape)


def constant_memory(
    x: Any,
    table: Any,
    /,
    out: Any = None,
    *,
    index: str = "uniform",
    variant: str = "auto",
    stream: Any = None,
    **parameters: int,
) -> Any:
    """Each element of x, mixed 64 times with numbers of the table: d = (d ^ number) * 0x9E3779B1, modulo 2^32.

    Parameters
    ----------
    x : array_like or DeviceArray
        uint32, any shape and strides.
    table : array_like or DeviceArray
        1 to 1024 numbers, uint32. "literal" and "scalar" take four, and "literal" only those that it has in its code
        (``LITERALS``).
    out : ndarray or DeviceArray, optional
        Where the result goes.
    index : {"uniform", "divergent"}
        Which number comes first: the table's first for all elements, or number i for element i. The rest follow in
        order, round and round.
    variant, stream
        As in every operation.
    **parameters : int
        The row's: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        uint32, in x's shape.

    Raises
    ------
    TypeError
        A type that is not uint32.
    ValueError
        A table of a length that the row does not take, or of numbers that "literal" has not.

    Notes
    -----
    M's experiment on constant memory. Its own chain of ^, |, & and | folds into constants when it is compiled; this one
    does not.

    Examples
    --------
    >>> import numpy as np
    >>> from cudakern._operations.constant_memory import LITERALS, constant_memory
    >>> x = np.arange(5, dtype=np.uint32)
    >>> bool((constant_memory(x, LITERALS, variant="array") == constant_memory(x, LITERALS, variant="literal")).all())
    True
    """
    if variant == "literal":
        given = table.get() if isinstance(table, DeviceArray) else np.asarray(table)
        if given.dtype == LITERALS.dtype and given.shape == LITERALS.shape and not np.array_equal(given, LITERALS):
            raise ValueError(f"{NAME}: literal's numbers are in its code: {LITERALS.tolist()}, not {given.tolist()}")
    own = {"index": index}
    return call(RULE, (x, table), out, variant, stream, parameters, own)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Random elements, and the table that every row takes."""
    random = np.random.default_rng(seed)
    if dtype == np.uint32:
        return random.integers(0, 2**32, shape, dtype=np.uint32), LITERALS.copy()
    return random_array(random, shape, dtype), LITERALS.astype(dtype)


OPERATION = Operation(
    name=NAME,
    position=200,
    call=constant_memory,
    rate="GB/s",
    default_dtype="uint32",
    default_shape=(1 << 20,),
    shape_help="x's",
    fixed_rank=False,
    make=make,
    reference=_reference,
    magnitude=lambda x, table: np.abs(x),
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77)),
    large=(((1 << 22) + 3,),),
    own=("index",),
    any_value=(0,),
)
