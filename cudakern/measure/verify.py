"""verify: every variant of every operation compared with NumPy, on random inputs of ragged sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _display
from .._backend import Backend, backend
from ..arrays.dtypes import BFLOAT16, NO_BFLOAT16, has_bfloat16, numpy_dtype
from ..calls import table
from ..calls.checks import integer
from ..operations.registry import Operation, names, note_on_skipped, operation, widened


class Check(NamedTuple):
    """The check of a variant with one type: the largest error over all sizes, relative to the variant's bound."""

    operation: str
    variant: str
    dtype: str
    verdict: str  #: "ok", "FAILED" or "not here"
    worst: float  #: error / bound; 0 is exact, more than 1 is a failure
    detail: str


@dataclass(frozen=True)
class Verdict:
    """All checks and the backend that ran them."""

    backend: Backend
    checks: tuple[Check, ...]
    note: str = ""  #: what was skipped, and why

    @property
    def ok(self) -> bool:
        """True if something was checked and nothing failed."""
        return {"ok"} <= {check.verdict for check in self.checks} <= {"ok", "not here"}

    def __str__(self) -> str:
        verdicts = [check.verdict for check in self.checks]
        counts = ", ".join(f"{verdicts.count(name)} {name.lower()}" for name in ("ok", "FAILED", "not here"))
        where = f"on {self.backend.name} ({self.backend.device_name})"
        return f"{counts}, {where}: {'passed' if self.ok else 'FAILED'}" + (f". {self.note}" if self.note else "")

    def table(self) -> _display.Table:
        """One row per check."""
        columns = ["operation", "variant", "type", "verdict", "error/bound", "detail"]
        worst = ["-" if check.verdict == "not here" else f"{check.worst:.2f}" for check in self.checks]
        rows = [[*check[:4], error, check.detail] for check, error in zip(self.checks, worst, strict=True)]
        return _display.Table("", columns, rows, str(self), right=["error/bound"])

    def to_dict(self) -> dict[str, Any]:
        checks = [check._asdict() for check in self.checks]
        return {"ok": self.ok, "backend": self.backend.to_dict(), "checks": checks, "note": self.note}


def verify(ops: Sequence[str] | None = None, variants: Sequence[str] | None = None, seed: int = 0) -> Verdict:
    """Check the variants of the named operations (default: everything) on this context's backend."""
    integer("seed", seed, 0)
    here = backend().as_it_is()
    checks = []
    for op, variant in table.choose(ops or names(), variants):
        what = operation(op)
        for dtype in variant.types:
            reason = variant.why_not(here) or (NO_BFLOAT16 if dtype == BFLOAT16 and not has_bfloat16() else "")
            verdict = ("not here", 0.0, reason) if reason else _check(what, variant, dtype, seed)
            checks.append(Check(op, variant.name, dtype, *verdict))
    return Verdict(here, tuple(checks), "" if ops else note_on_skipped())


def _check(what: Operation, variant: table.Variant, dtype: str, seed: int) -> tuple[str, float, str]:
    """Verdict, worst error and detail of a Check."""
    worst, detail = 0.0, f"{len(what.ragged)} sizes"
    for shape in what.ragged:
        inputs = what.make(shape, numpy_dtype(dtype), seed)
        try:
            result = what.call_of(variant, inputs)()
        except Exception as error:  # any error is this variant's failure; the others are still checked
            return "FAILED", float("inf"), f"{shape}: {error}"
        ratio = _error_ratio(what, variant, inputs, result)
        if not ratio <= worst:
            worst, detail = ratio, f"{len(what.ragged)} sizes, worst at {shape}"
    return "ok" if worst <= 1 else "FAILED", worst, detail


def _error_ratio(
    what: Operation, variant: table.Variant, inputs: tuple[Any, ...], result: Any, **parameters: Any
) -> float:
    """The largest error relative to the variant's bound; inf for an inexact result that should be exact."""
    # The sizes are small, so the reference can be in long double, which is more precise than float64.
    wide = widened(inputs, np.longdouble)
    if variant.out_type(inputs[0].dtype):
        wide = tuple(x.astype(result.dtype) for x in inputs)
    own = {k: v for k, v in parameters.items() if k in what.own}
    expected = np.asarray(what.reference(*wide, **own))
    if np.shape(result) != expected.shape:
        return float("inf")
    if expected.size == 0 or np.array_equal(result, expected):
        return 0.0
    if expected.dtype.kind in "biu":
        return float("inf")
    relative = variant.error_bound(*(x.shape for x in inputs), dtype=inputs[0].dtype, **parameters)
    bound = relative * np.asarray(what.magnitude(*wide, **own))
    difference = np.abs(np.asarray(result).astype(expected.dtype) - expected)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(difference == 0, 0, difference / bound)
    return float(np.max(ratio))
