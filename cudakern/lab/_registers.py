"""registers: 32 flags packed into a word, in global memory, in a register, with the loop written out, by a vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations.packbits import packbits
from .._resources import kernel_resources
from ._experiment import Bars, Column, Experiment, documents
from ._measuring import kernel_times, measure
from ._sizes import size

FORMS = ("global_memory", "register", "unrolled", "ballot")
FLAGS_EMULATED, FLAGS_GPU = 1 << 18, 1 << 26

DOCUMENTS = (
    "M: the register form is 1.7 times as fast as the one in global memory, on the average of four chips, and the loop "
    "written out up to 3.4 times as fast again (GTX470). Its first figure, 7.7, is not to be used: there all threads "
    "read and write one word, a race whose result means nothing; and its loop ends at `i < 31`, which loses a flag"
)
ON_AN_H200 = (
    "With 67,108,864 flags, accumulating in a register is 2.66 times as fast as in global memory, more than M's "
    "1.7. The loop written out is only 1.05 times as fast as the loop, and a vote 1.02 times as fast again."
)
TABLE = (
    Column("packed", "variant"),
    Column("registers\na thread", "registers"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("times as fast as\nglobal_memory", "speedup", timed=True),
    Column("as the form\nbefore", "step", timed=True),
)


@documents
def registers(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Flags packed into words: accumulated in global memory, in a register, in a register without a loop, by a vote.

    The forms are variants of ``packbits``; each thread has a word of its own. M's first form, in which all threads
    share one word, is a race, and is not among them.

    Parameters
    ----------
    n : int, optional
        Flags. Without it: a number for this side.
    <repeat>

    Returns
    -------
    Experiment
        A row a form: registers (``kernel_resources``; None where that is not known), kernel time, rate, and speed-ups
        (None where times are emulated).

    <raises>
    RuntimeError
        A form's result is not NumPy's.

    Notes
    -----
    A compiler may keep in a register what the source accumulates in memory, if nobody else can see it;
    ``global_memory`` forbids that (``volatile``).

    Examples
    --------
    >>> from cudakern import lab
    >>> [row["variant"] for row in lab.registers(1000, repeat=1).rows]
    ['global_memory', 'register', 'unrolled', 'ballot']
    """
    here = backend()
    n = size("registers", n, FLAGS_GPU, FLAGS_EMULATED)
    flags = np.random.default_rng(0).random(n) < 0.5
    expected = np.packbits(flags, bitorder="little")
    on_device = asarray(flags)  # copied once
    rows: list[dict[str, Any]] = []
    unknown = ""
    for form in FORMS:
        profile, result = measure(packbits, (on_device,), {"variant": form, "bitorder": "little"}, repeat)
        if not np.array_equal(result.get(), expected):
            raise RuntimeError(f"registers: the result of {form} is not NumPy's")
        resources = kernel_resources("packbits", form, flags.dtype)[0]
        unknown = unknown or resources.why
        rows.append({"variant": form, "registers": resources.registers, **kernel_times(profile)})
    for i, row in enumerate(rows):
        ns = max(row["kernel_ns"], 1)
        row["speedup"] = None if here.emulated else rows[0]["kernel_ns"] / ns
        row["step"] = None if here.emulated or i == 0 else rows[i - 1]["kernel_ns"] / ns
    title = f"{n:,} flags packed into bits"
    note = unknown and f"What the GPU's compiler made of the kernels is not known here: {unknown}."
    draw = Bars("variant", "kernel_us", "kernel, us", timed=True)
    return Experiment("registers", title, here, TABLE, tuple(rows), DOCUMENTS, ON_AN_H200, note=note, draw=draw)
