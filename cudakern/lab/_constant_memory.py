"""constant_memory: the same numbers as literals, as named constants, as a constant array, and in global memory."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations._experiments import CHAIN as ROUNDS
from .._operations._experiments import LITERALS
from .._operations._experiments import constant_memory as mix
from .._table import variants
from ._experiment import Column, Experiment, bars, experiment, kernel_times, measure, ratio, report, size

NAME = "constant_memory"
CHECKED = 1 << 17  #: elements compared with NumPy; the others are compared between storages


@experiment(
    Column("storage", "variant"),
    Column("table\nlength", "length"),
    Column("index", "index"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("ps per\nnumber", "ps", timed=True),
    Column("relative to\nliteral", "times", timed=True),
    Column("can change", "changes"),
    claim="M: literals and constants take the same time on every chip (GTX 470: 345.23 ms and 345.23 ms); constants "
    "are 40 times as fast as global memory on a 9800 GT, 3 times on a GTX 260, 1.8 times on the GTX 470, which has a "
    "cache; as an array, which the compiler does not turn into literals, they are as fast as global memory on chips "
    "that cache it; 32 different addresses in a warp take at least 32 times as long as one",
    on_an_h200="With 4,194,304 elements and a uniform index, literals take 32.3 us and named constants 33.6 us, which "
    "is 2.93 times as fast as global memory. An array of 32 constants takes 91.4 us, about as long as global memory "
    "(98.3 us), which is cached. When the lanes of a warp read 32 different addresses, the array takes 2.08 ms: the "
    "addresses are served one after the other, in 22.7 times the time of a single address rather than 32 times. "
    "Global memory takes 103 us in that case.",
)
def constant_memory(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """A small table as literals, in ``__constant__`` memory (by name and as an array), and in global memory.

    Each element is mixed with 64 numbers from the table. With a *uniform* index, all lanes of a warp read the same
    number at the same time; with a *divergent* index, each lane starts at a different number.

    Parameters
    ----------
    n : int, optional
        Elements. <size>
    <repeat>

    <returns>
        One row per storage, table and index: kernel time, time per number, and the time relative to literals.

    <raises>

    The arithmetic is chosen so that the compiler cannot reduce it to a constant, unlike the source's own kernels.

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(set(lab.constant_memory(100, repeat=1)["variant"]))
    ['array', 'global', 'literal', 'scalar']
    """
    n = size(NAME, n, chip=1 << 22, emulator=1 << 12)
    random = np.random.default_rng(0)
    x = random.integers(0, 2**32, n, dtype=np.uint32)
    long = random.integers(0, 2**32, 32, dtype=np.uint32)  # a number for each lane of a warp
    storages = [entry.name for entry in variants(NAME) if not entry.on_host and not entry.why_not(backend())]
    on_device = asarray(x)  # copied once
    rows: list[dict[str, Any]] = []
    for table, index in itertools.product((LITERALS, long), ("uniform", "divergent")):
        expected = mix(x[:CHECKED], table, index=index, variant="numpy")
        first = None
        for storage in storages if table is LITERALS else ("array", "global"):
            keywords = {"variant": storage, "index": index}
            profile, result = measure(mix, (on_device, asarray(table)), keywords, repeat)
            values = result.get()
            first = values if first is None else first
            if not (np.array_equal(values[:CHECKED], expected) and np.array_equal(values, first)):
                case = f"{storage}, {table.size} numbers, {index} index"
                raise RuntimeError(f"{NAME}: {case}: the result differs from NumPy's")
            rows.append(
                {
                    "variant": storage,
                    "length": table.size,
                    "index": index,
                    "label": f"{storage}, {table.size}, {index}",
                    **kernel_times(profile),
                    "ps": profile.kernel_ns * 1e3 / (n * ROUNDS),
                    "changes": {"literal": "no (recompile)", "global": "at any time"}.get(storage, "between launches"),
                }
            )
    for row in rows:
        row["times"] = ratio(row, rows[0])
    tables = (LITERALS, LITERALS[::-1].copy(), ~LITERALS)
    for table, storage in itertools.product(tables, storages):  # each call has its own table, unless it is in the code
        if storage != "literal":
            result = mix(x[:1000], table, variant=storage)
            if not np.array_equal(result, mix(x[:1000], table, variant="numpy")):
                raise RuntimeError(f"{NAME}: {storage} did not use the changed table")
    title = f"{n:,} elements mixed with {ROUNDS} numbers each"
    draw = bars("label", "kernel_ns", "kernel time", timed=True)
    return report(NAME, title, rows, draw=draw)
