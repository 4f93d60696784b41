"""What registers are worth: registers packs flags into words, spilling keeps a thread's array in four locations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations import random_array
from .._operations._experiments import moving_sum
from .._operations.packbits import packbits
from .._resources import kernel_resources
from .._table import variants
from ._experiment import Column, Experiment, bars, experiment, kernel_times, measure, ratio, report, size

ROWS = 256  #: of the moving sum


@experiment(
    Column("variant", "variant"),
    Column("registers\nper thread", "registers"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("speed-up over\nglobal_memory", "speedup", timed=True),
    Column("over the\nprevious", "step", timed=True),
    claim="M: accumulating in a register is 1.7 times as fast as in global memory, on the average of four chips, and "
    "the unrolled loop is up to 3.4 times as fast again (GTX470). Its first figure, 7.7, is not comparable: there all "
    "threads read and write the same word, which is a race; and its loop ends at `i < 31`, which loses a flag",
    on_an_h200="With 67,108,864 flags, accumulating in a register is 2.66 times as fast as in global memory, more "
    "than the claimed 1.7. The unrolled loop is only 1.05 times as fast as the loop, and a warp vote 1.02 times as "
    "fast again.",
)
def registers(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Flags packed into words: accumulated in global memory, in a register, with an unrolled loop, by a warp vote.

    The forms are variants of ``packbits``, in which each thread has its own word.

    Parameters
    ----------
    n : int, optional
        Flags. <size>
    <repeat>

    <returns>
        One row per form: registers per thread (from ``kernel_resources``; None if unknown), kernel time, rate, and
        speed-ups (None if the times are emulated).

    <raises>

    If no other thread can access a word, the compiler may keep it in a register although the source accumulates it in
    memory. ``global_memory`` prevents this by ``volatile``. The first form of the source, in which all threads share
    one word, is a race and is left out.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.registers(1000, repeat=1)["variant"]
    ['global_memory', 'register', 'unrolled', 'ballot']
    """
    n = size("registers", n, chip=1 << 26, emulator=1 << 18)
    flags = np.random.default_rng(0).random(n) < 0.5
    expected = np.packbits(flags, bitorder="little")
    on_device = asarray(flags)  # copied once
    rows: list[dict[str, Any]] = []
    unknown = ""
    for form in ("global_memory", "register", "unrolled", "ballot"):
        profile, result = measure(packbits, (on_device,), {"variant": form, "bitorder": "little"}, repeat)
        if not np.array_equal(result.get(), expected):
            raise RuntimeError(f"registers: the result of {form} differs from NumPy's")
        resources = kernel_resources("packbits", form, flags.dtype)[0]
        unknown = unknown or resources.why
        rows.append({"variant": form, "registers": resources.registers, **kernel_times(profile)})
    for previous, row in zip((None, *rows), rows, strict=False):
        row["speedup"] = ratio(rows[0], row)
        row["step"] = previous and ratio(previous, row)
    title = f"{n:,} flags packed into bits"
    draw = bars("variant", "kernel_ns", "kernel time", timed=True)
    return report("registers", title, rows, _missing(unknown), draw)


@experiment(
    Column("array", "variant"),
    Column("window", "window"),
    Column("registers\nper thread", "registers"),
    Column("local memory\nper thread, B", "local_bytes"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("relative to\ncompile_time_index", "times", timed=True),
    claim="P9, M: a register access takes 1 cycle and an access to device memory about 500 (P100), so values that do "
    "not fit into registers slow a kernel down severely (P9); an array declared in a kernel may be placed in slow "
    "global memory (M)",
    on_an_h200="In the moving sum of 256 x 65,536 float32, an array of 32 floats that is indexed at run time occupies "
    "128 bytes of local memory per thread and takes 2.08 times as long as an array in registers. A spilled array "
    "takes 1.39 times as long, and an array in shared memory 1.67 times.",
)
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
    n = size("spilling", n, chip=1 << 16, emulator=1 << 10)
    forms = [form for form in variants("moving_sum") if not form.on_host and not form.why_not(backend())]
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
    draw = bars("label", "kernel_ns", "kernel time", timed=True)
    return report("spilling", title, rows, _missing(unknown), draw)


def _missing(why: str) -> str:
    """A note for tables of registers, if ``kernel_resources`` had none."""
    return why and f"Registers and local memory are unknown on this machine: {why}."
