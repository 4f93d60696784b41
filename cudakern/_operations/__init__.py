"""What Python adds to an operation's rows: NumPy's rules, the input of the documents, a reference.

A module of this folder is an operation: it defines ``OPERATION``, and is found by being here (a name that begins with
"_" is not looked at).
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _table
from .._dtypes import kind_of
from .._errors import unknown
from .._transfer import Array


@dataclass(frozen=True)
class Operation:
    """An operation's public function, and what ladder, profile and verify need to know of it."""

    name: str
    position: int  #: where listings have it: the lowest first
    call: Callable[..., Any]
    rate: str  #: the figure that counts: "GB/s" or "GFLOP/s"
    default_dtype: str
    default_shape: tuple[int, ...]
    shape_help: str
    fixed_rank: bool  #: shapes have as many numbers as the default one
    make: Callable[[tuple[int, ...], np.dtype[Any], int], tuple[Array, ...]]  #: (shape, dtype, seed) -> inputs
    reference: Callable[..., Any]  #: inputs -> the result by NumPy, exact to the inputs' type: see `widened`
    magnitude: Callable[..., Any]  #: inputs -> sum of magnitudes, which error bounds are relative to
    square: Callable[[int], tuple[int, ...]]  #: n= -> shape
    ragged: tuple[tuple[int, ...], ...]  #: shapes that verify tries
    large: tuple[tuple[int, ...], ...]  #: shapes that only the long tests try
    headline: bool = False  #: one of the two that are shown where none is asked for
    own: tuple[str, ...] = ()  #: parameters that change the result, which `reference` takes too, and `magnitude` may
    cancels: bool = False  #: results may be near 0 where their terms are not: ladders take errors by `magnitude`
    any_value: tuple[int, ...] | None = None  #: inputs that may hold any value, NaN too; None: all of them

    def magnitudes(self, *inputs: Any, **own: Any) -> Any:
        """``magnitude`` with those of ``own`` that it takes."""
        taken = inspect.signature(self.magnitude).parameters
        return self.magnitude(*inputs, **{name: value for name, value in own.items() if name in taken})


def random_array(random: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Floats are uniform in [0, 1), integers from 0 to 9: the documents' inputs."""
    if dtype.kind == "c":
        return (random.random(shape) + 1j * random.random(shape)).astype(dtype)
    if kind_of(dtype) == "f":
        return random.random(shape).astype(dtype)
    return random.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)


def widened(inputs: tuple[Any, ...], least: npt.DTypeLike) -> tuple[Any, ...]:
    """Floats in that type or a wider one, for references that are more exact than results; integers as they are."""
    return tuple(x.astype(np.result_type(x, least)) if kind_of(x.dtype) in "fc" else x for x in inputs)


@functools.cache
def registry() -> dict[str, Operation]:
    """The operations that have both kernels and a module here, in order of position."""
    names = [entry.name for entry in pkgutil.iter_modules(__path__) if not entry.name.startswith("_")]
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    found = sorted((module.OPERATION for module in modules), key=lambda what: (what.position, what.name))
    return {what.name: what for what in found if what.name in _table.operations()}


def names() -> tuple[str, ...]:
    """The names of all operations, in order of position."""
    return tuple(registry())


def headlines() -> tuple[str, ...]:
    """The operations that are shown where none is asked for."""
    return tuple(name for name, what in registry().items() if what.headline)


def kernels_only() -> tuple[str, ...]:
    """Operations of the table that have no module here (yet): they can be listed and read, not called."""
    return tuple(name for name in _table.operations() if name not in registry())


def note_on_skipped() -> str:
    """A sentence on what was left out because nothing in Python calls it; "" if nothing was."""
    return "; ".join(f"{name} is left out: {_no_module(name)}" for name in kernels_only())


def _no_module(name: str) -> str:
    return f"it has kernels, and no cudakern/_operations/{name}.py"


def operation(name: str) -> Operation:
    """The operation of that name; ValueError lists the known ones, the nearest first."""
    known = registry()
    if name in known:
        return known[name]
    if name in kernels_only():
        raise ValueError(f"operation {name!r} cannot be called: {_no_module(name)}")
    raise ValueError(unknown("operation", name, known))
