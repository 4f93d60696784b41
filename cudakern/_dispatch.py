"""From checked arguments to a kernel: host arrays as the C modules take them, the call, and the measuring hook."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._backend import backend
from ._table import AUTO, Variant, find, variants

Array = npt.NDArray[Any]
Result = TypeVar("Result")

#: Where profile() listens: every call leaves its report here. None: nobody listens, and nothing is measured.
recorder: ContextVar[list[dict[str, Any]] | None] = ContextVar("cudakern_recorder", default=None)


def host_array(x: Any, name: str) -> Array:
    """Any array-like as an ndarray; masked arrays are refused, since their mask would be lost without a word."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: take {name}.filled(0) or {name}.data")
    return np.asarray(x)


def native(x: Array) -> Array:
    """The same values in native byte order and aligned, as they are where they already are."""
    return np.require(x.astype(x.dtype.newbyteorder("="), copy=False), requirements="A")


def as_rows(x: Array) -> Array:
    """A 2-D array whose rows lie one after another, each without gaps: copied only where it must be."""
    x = native(x)
    return x if rows_are_plain(x) else np.ascontiguousarray(x)


def rows_are_plain(x: Array) -> bool:
    """True if elements of a row are neighbours, and rows neither overlap nor run backwards."""
    return x.size > 0 and x.strides[1] == x.itemsize and x.strides[0] >= x.shape[1] * x.itemsize


def check_variant(operation: str, variant: str, parameters: dict[str, Any]) -> tuple[Variant | None, tuple[int, ...]]:
    """The row of that name and its parameters' values; no row for "auto", which has no parameters."""
    if variant != AUTO:
        row = find(operation, variant, also=(AUTO,))
        return row, row.values(parameters)
    for name in parameters:
        raise TypeError(f"{operation}: variant {AUTO!r} has no parameters, so not {name!r}; name a variant that has it")
    return None, ()


def fastest(operation: str, dtype: npt.DTypeLike, preferred: Sequence[str]) -> Variant:
    """What "auto" takes: on a GPU the first of the preferred rows that fits the type and the chip, else NumPy's row.

    Without a GPU it is NumPy, whatever use_backend says: who wants a result should not wait for an emulator.
    """
    here = backend()
    if not here.emulated:
        for name in preferred:
            row = find(operation, name)
            if np.dtype(dtype).name in row.types and not row.why_not(here):
                return row
    return host_row(operation)


def host_row(operation: str) -> Variant:
    """The row that NumPy computes."""
    return next(row for row in variants(operation) if row.on_host)


def execute(row: Variant, values: tuple[int, ...], inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
    """Runs a kernel row on this context's backend."""
    here = backend()
    reason = row.why_not(here)
    if reason:
        raise NotImplementedError(f"{row.operation}: variant {row.name!r} cannot run here: {reason} ({here.why})")
    reports = recorder.get()
    report = here.native.execute(row.operation, row.name, values, inputs, outputs, here.device, reports is not None)
    if reports is not None and report is not None:
        reports.append(
            report
            | {
                "row": row,
                "values": values,
                "backend": here,
                "shapes": tuple(x.shape for x in inputs),
                "dtype": inputs[0].dtype.name,
            }
        )


def on_host(operation: str, inputs: tuple[Array, ...], compute: Callable[[], Result]) -> Result:
    """Computes with NumPy, and reports the time if somebody listens."""
    reports = recorder.get()
    if reports is None:
        return compute()
    start = time.perf_counter_ns()
    result = compute()
    elapsed = time.perf_counter_ns() - start
    reports.append(
        {
            "row": host_row(operation),
            "values": (),
            "backend": None,
            "kernel_ns": elapsed,
            "to_device_ns": 0,
            "to_host_ns": 0,
            "finish_ns": 0,
            "clocks": (),
            "shapes": tuple(x.shape for x in inputs),
            "dtype": inputs[0].dtype.name,
        }
    )
    return result
