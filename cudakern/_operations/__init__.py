"""What Python adds to an operation's rows: NumPy's rules, the input of the documents, a reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _table
from .._errors import unknown

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Operation:
    """An operation's public function, and what ladder, profile and verify need to know of it."""

    name: str
    call: Callable[..., Any]
    rate: str  #: the figure that counts: "GB/s" or "GFLOP/s"
    default_dtype: str
    default_shape: tuple[int, ...]
    shape_help: str
    fixed_rank: bool  #: shapes have as many numbers as the default one
    make: Callable[[tuple[int, ...], np.dtype[Any], int], tuple[Array, ...]]  #: (shape, dtype, seed) -> inputs
    reference: Callable[..., Any]  #: inputs -> the result by NumPy, in double or the inputs' type if that is wider
    magnitude: Callable[..., Any]  #: inputs -> sum of magnitudes, which error bounds are relative to
    square: Callable[[int], tuple[int, ...]]  #: n= -> shape
    ragged: tuple[tuple[int, ...], ...]  #: shapes that verify tries


def random_array(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Floats are uniform in [0, 1), integers from 0 to 9: the documents' inputs."""
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    if dtype.kind == "f":
        return random.random(shape).astype(dtype)
    return random.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def registry() -> dict[str, Operation]:
    """All operations, in the documents' order."""
    from . import matmul, sum_of_squares

    return {o.name: o for o in (sum_of_squares.OPERATION, matmul.OPERATION)}


def names() -> tuple[str, ...]:
    """All operations of the table, in the documents' order; what has no Python face yet would come last, and fail."""
    return tuple(dict.fromkeys([*registry(), *_table.operations()]))


def operation(name: str) -> Operation:
    """The operation of that name; ValueError lists the known ones, the nearest first."""
    known = registry()
    if name not in known:
        raise ValueError(unknown("operation", name, known))
    return known[name]
