"""Runs a variant: by the C module, by NumPy, or by an observer. And what calls on host and device remember."""

from __future__ import annotations

import functools
from typing import Any

from .._native import Native
from ..arrays.layout import Shape
from . import checks
from .observer import Run, observer
from .rule import Inputs, Named, Rule
from .table import AUTO, NUMPY, Variant, find

MOST = 4096  #: kinds of calls that a memo keeps


def remember(module: Native, key: Any, what: Any) -> None:
    if len(module.memo) >= MOST:
        module.memo.clear()
    module.memo[key] = what


def prepare(
    rule: Rule, run: Run, shapes: tuple[Shape, ...], own: Named, key: Any, make: Any = None, exceeds: Any = None
) -> None:
    """Remembers what C needs for more calls of this run's kind, whose arrays have its type."""
    out_needed = bool(run.variant.out_type(run.dtype))
    of_kind = *run.names, run.values, run.dtype, shapes, functools.partial(rule.layouts, **own)
    remember(run.native, key, run.native.prepare(*of_kind, out_needed, make, exceeds))


def named(rule: Rule, variant: str, parameters: Named, own: Named) -> tuple[Variant | None, tuple[int, ...]]:
    """The variant of that name and its parameters' values; no variant for "auto", which has no parameters."""
    if isinstance(variant, str) and variant == AUTO:
        checks.refuse_parameters(rule.name, parameters)
        return None, ()
    entry = find(rule.name, variant, also=(AUTO,))
    return entry, entry.values(parameters if entry.on_host or not own else {**parameters, **own})


def execute(run: Run) -> None:
    """Runs a kernel variant on host buffers, or on Views."""
    by = observer.get()
    if by is None:
        run.execute()
    else:
        by.kernel(run)


def by_numpy(rule: Rule, inputs: Inputs, own: Named) -> Any:
    """Computes with NumPy."""
    by = observer.get()
    if by is None:
        return rule.by_numpy(*inputs, **own)
    return by.numpy(find(rule.name, NUMPY), inputs, lambda: rule.by_numpy(*inputs, **own), rule.counted)
