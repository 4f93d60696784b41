"""A row is run: by the C module, by NumPy, or by whoever observes. And what both ways of a call remember."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native import Native
from .._observer import Run, observer
from .._table import AUTO, Variant, find, variants
from . import _checks
from ._rule import Inputs, Named, Rule

MOST = 4096  #: kinds of calls that a memo keeps


class Entry(NamedTuple):
    """What calls of one kind come to."""

    row: Variant
    values: tuple[int, ...]  #: of the row's parameters
    dtype: str  #: that the inputs are brought to
    result: str  #: the type of the row's result
    #: Of host arrays that need no conversion: their type and the result's.
    plain: tuple[np.dtype[Any], np.dtype[Any]] | None = None


def remember(module: Native, key: Any, what: Any) -> None:
    if len(module.memo) >= MOST:
        module.memo.clear()
    module.memo[key] = what


def named(rule: Rule, variant: str, parameters: Named, own: Named) -> tuple[Variant | None, tuple[int, ...]]:
    """The row of that name and its parameters' values; no row for "auto", which has no parameters."""
    if isinstance(variant, str) and variant == AUTO:
        _checks.refuse_parameters(rule.name, parameters)
        return None, ()
    row = find(rule.name, variant, also=(AUTO,))
    return row, row.values(parameters if row.on_host or not own else {**parameters, **own})


def host_row(operation: str) -> Variant:
    """The row that NumPy computes."""
    return next(row for row in variants(operation) if row.on_host)


def execute(
    row: Variant,
    values: tuple[int, ...],
    inputs: Inputs,
    outputs: Inputs,
    module: Native,
    device: int,
    stream: int = 0,
    dtype: str = "",
) -> None:
    """Runs a kernel row on host buffers, or on Views."""
    by = observer.get()
    if by is None:
        module.execute(row.operation, row.name, values, inputs, outputs, device, 0, stream)
    else:
        by.kernel(Run(module, device, row, values, inputs, outputs, stream, dtype))


def by_numpy(rule: Rule, inputs: Inputs, own: Named) -> Any:
    """Computes with NumPy."""
    by = observer.get()
    if by is None:
        return rule.by_numpy(*inputs, **own)
    return by.numpy(host_row(rule.name), inputs, lambda: rule.by_numpy(*inputs, **own), rule.counted)
