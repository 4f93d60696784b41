"""spilling: a thread's array in registers, if the compiler knows each index, or else in local memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations import random_array
from .._operations._experiments import moving_sum
from .._resources import kernel_resources
from .._table import variants
from ._experiment import Column, Experiment, bars, documents, kernel_times, measure, missing_resources, ratio, size

ROWS = 256

DOCUMENTS = (
    "P9, M: a register access takes 1 cycle and an access to device memory about 500 (P100), so values that do not "
    "fit into registers slow a kernel down severely (P9); an array declared in a kernel may be placed in slow global "
    "memory (M)"
)
ON_AN_H200 = (
    "In the moving sum of 256 x 65,536 float32, an array of 32 floats that is indexed at run time occupies 128 bytes "
    "of local memory per thread and takes 2.08 times as long as an array in registers. A spilled array takes 1.39 "
    "times as long, and an array in shared memory 1.67 times."
)
TABLE = (
    Column("array", "variant"),
    Column("window", "window"),
    Column("registers\nper thread", "registers"),
    Column("local memory\nper thread, B", "local_bytes"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("relative to\ncompile_time_index", "times", timed=True),
)


@documents
def spilling(n: int | None = None, *, window: int | None = None, repeat: int | None = None) -> Experiment:
    """A thread's array indexed at run time or at compile time, spilled, or in shared memory: one sum, four locations.

    Each thread walks down a column and keeps the newest values in an array (``moving_sum``). Registers have no
    addresses, so the array can be in registers only if the compiler knows every index.

    Parameters
    ----------
    n : int, optional
        Columns of 256 rows each; a thread processes part of one column. <size>
    window : int, optional
        The array's length: 8, 16 or 32. Default: all three.
    <repeat>

    <returns>
        One row per form and window: registers and local memory per thread (from ``kernel_resources``; None if unknown),
        kernel time, rate, and the time relative to ``compile_time_index``.

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.spilling(64, window=8, repeat=1)["variant"]
    ['runtime_index', 'compile_time_index', 'spilled', 'shared_array']
    """
    here = backend()
    n = size("spilling", n, chip=1 << 16, emulator=1 << 10)
    forms = [form for form in variants("moving_sum") if not form.on_host and not form.why_not(here)]
    parameter = next(p for p in forms[0].parameters if p.name == "window")
    windows = sorted(parameter.choices) if window is None else [parameter.check(window)]
    x = asarray(random_array(np.random.default_rng(0), (ROWS, n), np.dtype(np.float32)))  # copied once
    rows: list[dict[str, Any]] = []
    unknown = ""
    for length in windows:
        first = None
        for form in forms:
            profile, result = measure(moving_sum, (x,), {"variant": form.name, "window": length}, repeat)
            sums = result.get()
            first = sums if first is None else first
            # Like allclose() for finite numbers, but faster.
            if not np.all(np.abs(sums - first) <= 1e-8 + 1e-5 * np.abs(first)):
                names = f"{form.name} and {forms[0].name}"
                raise RuntimeError(f"spilling: the results of {names} differ for window={length}")
            resources = kernel_resources(form.operation, form.name, x.dtype, window=length)[0]
            unknown = unknown or resources.why
            keys = ("registers", "local_bytes", "spill_stores", "spill_loads")
            row = {"variant": form.name, "window": length, "label": f"{form.name}, {length}"}
            rows.append(row | {key: getattr(resources, key) for key in keys} | kernel_times(profile))
    compile_time = {row["window"]: row for row in rows if row["variant"] == "compile_time_index"}
    for row in rows:
        row["times"] = ratio(row, compile_time[row["window"]])
    title = f"moving_sum of {ROWS} x {n:,} float32"
    texts = DOCUMENTS, ON_AN_H200, missing_resources(unknown)
    draw = bars("label", "kernel_ns", "kernel time", timed=True)
    return Experiment("spilling", title, here, TABLE, tuple(rows), *texts, draw)
