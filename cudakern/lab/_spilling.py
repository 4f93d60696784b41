"""spilling: an array of a thread, in registers where the compiler knows each index, else in local memory."""

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
from ._experiment import Bars, Column, Experiment, documents
from ._measuring import kernel_times, measure
from ._sizes import size

ROWS = 256
COLUMNS_EMULATED, COLUMNS_GPU = 1 << 10, 1 << 16

DOCUMENTS = (
    "P9: a register is 1 cycle away and device memory about 500 (P100), so what does not fit into registers slows a "
    "kernel down badly; M: an array declared in a kernel may be put into slow global memory"
)
ON_AN_H200 = (
    "In the moving sum of 256 x 65,536 float32 an array of 32 floats that is indexed at run time lies in 128 bytes "
    "of local memory a thread and takes 2.08 times as long as one in registers. A spilled array takes 1.39 times as "
    "long, and one in shared memory 1.67 times."
)
TABLE = (
    Column("array", "variant"),
    Column("window", "window"),
    Column("registers\na thread", "registers"),
    Column("local memory\na thread, B", "local_bytes"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("times\ncompile_time_index", "times", timed=True),
)


@documents
def spilling(n: int | None = None, *, window: int | None = None, repeat: int | None = None) -> Experiment:
    """A thread's array indexed at run time, at compile time, spilled, and in shared memory: one sum, four places.

    Each thread walks down a column and keeps its newest values in an array (``moving_sum``). Registers have no
    addresses: only if the compiler knows every index can the array lie in them (P9, M).

    Parameters
    ----------
    n : int, optional
        Columns, each with 256 rows; a thread has one column of a piece of the rows. Without it: a size for this side.
    window : int, optional
        The array's length: 8, 16 or 32. Without it: all three.
    <repeat>

    Returns
    -------
    Experiment
        A row a form and window: registers and local memory as the compiler made them (``kernel_resources``; None where
        that is not known), kernel time, rate, and how many times the time of the form with constant indices.

    <raises>
    RuntimeError
        Two forms had different results.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.spilling(64, window=8, repeat=1)
    >>> [row["variant"] for row in result.rows]
    ['runtime_index', 'compile_time_index', 'spilled', 'shared_array']
    """
    here = backend()
    n = size("spilling", n, COLUMNS_GPU, COLUMNS_EMULATED)
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
            # As allclose() of finite numbers, in a part of its time.
            if not np.all(np.abs(sums - first) <= 1e-8 + 1e-5 * np.abs(first)):
                raise RuntimeError(f"spilling: {form.name} and {forms[0].name} differ with a window of {length}")
            resources = kernel_resources(form.operation, form.name, x.dtype, window=length)[0]
            unknown = unknown or resources.why
            rows.append(
                {
                    "variant": form.name,
                    "window": length,
                    "label": f"{form.name}, {length}",
                    "registers": resources.registers,
                    "local_bytes": resources.local_bytes,
                    "spill_stores": resources.spill_stores,
                    "spill_loads": resources.spill_loads,
                    **kernel_times(profile),
                }
            )
    constant_ns = {row["window"]: row["kernel_ns"] for row in rows if row["variant"] == "compile_time_index"}
    for row in rows:
        row["times"] = None if here.emulated else row["kernel_ns"] / max(constant_ns[row["window"]], 1)
    title = f"moving_sum of {ROWS} x {n:,} float32"
    note = unknown and f"What the GPU's compiler made of the kernels is not known here: {unknown}."
    draw = Bars("label", "kernel_us", "kernel, us", timed=True)
    return Experiment("spilling", title, here, TABLE, tuple(rows), DOCUMENTS, ON_AN_H200, note=note, draw=draw)
