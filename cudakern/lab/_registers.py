"""registers: 32 flags packed into a word, in global memory, in a register, with an unrolled loop, by a warp vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations.packbits import packbits
from .._resources import kernel_resources
from ._experiment import Column, Experiment, bars, documents, kernel_times, measure, missing_resources, ratio, size

DOCUMENTS = (
    "M: accumulating in a register is 1.7 times as fast as in global memory, on the average of four chips, and the "
    "unrolled loop is up to 3.4 times as fast again (GTX470). Its first figure, 7.7, is not comparable: there all "
    "threads read and write the same word, which is a race; and its loop ends at `i < 31`, which loses a flag"
)
ON_AN_H200 = (
    "With 67,108,864 flags, accumulating in a register is 2.66 times as fast as in global memory, more than the "
    "claimed 1.7. The unrolled loop is only 1.05 times as fast as the loop, and a warp vote 1.02 times as fast again."
)
TABLE = (
    Column("variant", "variant"),
    Column("registers\nper thread", "registers"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("speed-up over\nglobal_memory", "speedup", timed=True),
    Column("over the\nprevious", "step", timed=True),
)


@documents
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
    here = backend()
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
    texts = DOCUMENTS, ON_AN_H200, missing_resources(unknown)
    draw = bars("variant", "kernel_ns", "kernel time", timed=True)
    return Experiment("registers", title, here, TABLE, tuple(rows), *texts, draw)
