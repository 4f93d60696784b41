"""Checks and traces of the package's own kernels, on the small, odd shapes that verify() uses."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _display
from .._backend import use_backend
from ..arrays.dtypes import numpy_dtype
from ..calls import table
from ..operations.registry import Operation, operation
from ..operations.variants import NameOrFunction, operation_name
from .check import check
from .counters import Trace, trace
from .findings import Findings, one_of_all_launches


@dataclass(frozen=True)
class VariantCheck:
    """What check has found in a variant, with one type of the inputs."""

    operation: str
    variant: str
    dtype: str
    findings: Findings

    def to_dict(self) -> dict[str, Any]:
        of = {"operation": self.operation, "variant": self.variant, "dtype": self.dtype}
        return of | {"launches": self.findings.launches, "findings": self.findings.to_dict()}


@dataclass(frozen=True, repr=False)
class VariantChecks(_display.Shown):
    """Checks of variants, which display as a table."""

    checks: tuple[VariantCheck, ...]

    @property
    def ok(self) -> bool:
        """True if nothing was found."""
        return not any(one.findings for one in self.checks)

    def table(self) -> _display.Table:
        """One row per variant; the findings come below."""
        rows = []
        for one in self.checks:
            count = len(one.findings)
            verdict = f"{count} finding{'s' * (count != 1)}" if count else "nothing found"
            rows.append([one.operation, one.variant, one.dtype, f"{one.findings.launches:,}", verdict])
        found = [f"{one.variant}: {finding}" for one in self.checks for finding in one.findings]
        heads = ["operation", "variant", "type", "launches", "verdict"]
        return _display.Table("", heads, rows, "\n".join(found), ["launches"])

    def to_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "checks": [one.to_dict() for one in self.checks]}


def checkable(op: NameOrFunction) -> list[table.Variant]:
    """The variants of an operation that have kernels and run on the emulator."""
    with use_backend("emulator") as here:
        return [one for one in table.variants(operation_name(op)) if not one.on_host and not one.why_not(here)]


def check_variant(
    op: NameOrFunction,
    variant: str,
    dtype: npt.DTypeLike | None = None,
    shapes: Iterable[tuple[int, ...]] | None = None,
    seed: int = 0,
    **parameters: Any,
) -> VariantCheck:
    """Check a variant on random inputs of several shapes, by default the operation's ragged ones.

    ``dtype`` is the type of the inputs: by default the operation's usual one, or the first that the variant supports.
    A place in the source is one finding, in however many shapes it occurs. ValueError for a variant without a kernel,
    NotImplementedError for one that the emulator does not run.
    """
    what, entry, kind = _found(op, variant, dtype, "checked")

    def of_all_shapes() -> None:
        for shape in what.ragged if shapes is None else shapes:
            what.call_of(entry, what.make(what.sizes("check", shape), kind, seed), **parameters)()

    found = check(of_all_shapes)
    findings = Findings(one_of_all_launches(found), found.launches, f"{what.name}, {variant}")
    return VariantCheck(what.name, variant, kind.name, findings)


def trace_variant(
    op: NameOrFunction,
    variant: str,
    dtype: npt.DTypeLike | None = None,
    shape: tuple[int, ...] | None = None,
    seed: int = 0,
    sample: int | None = None,
    **parameters: Any,
) -> Trace:
    """Trace a variant on random inputs of a shape, by default the largest of the operation's ragged ones.

    The rest is as in ``check_variant`` and ``trace``.
    """
    what, entry, kind = _found(op, variant, dtype, "traced")
    shape = max(what.ragged, key=math.prod) if shape is None else what.sizes("trace", shape)
    result = trace(what.call_of(entry, what.make(shape, kind, seed), **parameters), sample=sample)
    result.name = f"{what.name} {variant}, {_display.dimensions(shape)}"
    return result


def _found(
    op: NameOrFunction, variant: str, dtype: npt.DTypeLike | None, done: str
) -> tuple[Operation, table.Variant, np.dtype[Any]]:
    """The operation, the variant, and the type of the inputs."""
    what = operation(operation_name(op))
    entry = table.find(what.name, variant)
    if entry.on_host:
        raise ValueError(f"{what.name}: variant {variant!r} has no kernel ({entry.summary})")
    with use_backend("emulator") as here:
        if reason := entry.why_not(here):
            raise NotImplementedError(f"{what.name}: variant {variant!r} cannot be {done}: {reason}")
    return (
        what,
        entry,
        numpy_dtype(dtype or (what.default_dtype if what.default_dtype in entry.types else entry.types[0])),
    )
