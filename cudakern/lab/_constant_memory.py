"""constant_memory: the same numbers in the code, in constant memory by name and as an array, and in global memory."""

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
from .._profile import Profile
from .._table import variants
from .._transfer import Array
from ._experiment import Bars, Column, Experiment, documents
from ._measuring import kernel_times, measure
from ._sizes import size

NAME = "constant_memory"
N_EMULATED, N_GPU = 1 << 12, 1 << 22
CHECKED = 1 << 17  #: elements that NumPy computes, too; the rest must be the same for all storages
LONG = 32  #: a table in which each lane of a warp finds a number of its own

DOCUMENTS = (
    "M: literals and constants take the same time on every chip (GTX 470: 345.23 ms and 345.23 ms); against global "
    "memory constants are 40 times as fast on a 9800 GT, 3 times on a GTX 260, 1.8 times on the cached GTX 470; as an "
    "array, which a compiler does not turn into literals, they are as fast as global memory on chips that cache it; 32 "
    "addresses in a warp take at least 32 times as long as one"
)
ON_AN_H200 = (
    "With 4,194,304 elements and a uniform index, numbers in the code take 32.3 us and constants by name 33.6 us, "
    "which is 2.93 times as fast as global memory. An array of 32 constants takes 91.4 us, about as long as global "
    "memory (98.3 us), which is cached. When the lanes of a warp ask for 32 addresses, the array takes 2.08 ms: "
    "they are served one after the other, but in 22.7 times the time of one address and not in 32 times. Global "
    "memory takes 103 us there."
)
TABLE = (
    Column("storage", "variant"),
    Column("numbers", "length"),
    Column("index", "index"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("ps a number", "ps", timed=True),
    Column("times\nliteral", "times", timed=True),
    Column("can change", "changes"),
)


@documents
def constant_memory(n: int | None = None, *, repeat: int | None = None) -> Experiment:
    """Numbers in the code, in ``__constant__`` memory (by name, as an array) and in global memory, read by all threads.

    Each element is mixed with 64 numbers of a small table. With a *uniform* index all lanes of a warp ask for the same
    number at a time; with a *divergent* one each begins with another.

    Parameters
    ----------
    n : int, optional
        Elements. Without it: a size for this side.
    <repeat>

    Returns
    -------
    Experiment
        A row a storage, table and index: kernel time, time a number, and how many times the literals' time.

    <raises>
    RuntimeError
        A storage gave another result than NumPy, or did not follow a table that changed.

    Notes
    -----
    M's own kernels fold into a constant when they are compiled, as M finds in the PTX; this arithmetic does not.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.constant_memory(100, repeat=1)
    >>> sorted({row["variant"] for row in result.rows})
    ['array', 'global', 'literal', 'scalar']
    """
    here = backend()
    n = size(NAME, n, N_GPU, N_EMULATED)
    random = np.random.default_rng(0)
    x, long = random.integers(0, 2**32, n, dtype=np.uint32), random.integers(0, 2**32, LONG, dtype=np.uint32)
    storages = [entry.name for entry in variants(NAME) if not entry.on_host and not entry.why_not(here)]
    on_device = asarray(x)  # copied once
    rows = []
    for table, index in itertools.product((LITERALS, long), ("uniform", "divergent")):
        expected = mix(x[:CHECKED], table, index=index, variant="numpy")
        first = None
        for storage in storages if table is LITERALS else ("array", "global"):
            keywords = {"variant": storage, "index": index}
            profile, result = measure(mix, (on_device, asarray(table)), keywords, repeat)
            values = result.get()
            first = values if first is None else first
            if not (np.array_equal(values[:CHECKED], expected) and np.array_equal(values, first)):
                raise RuntimeError(f"{NAME}: {storage} with a table of {table.size}, {index}, differs from NumPy")
            rows.append(_row(storage, table.size, index, n, profile))
    for row in rows:
        row["times"] = None if here.emulated else row["kernel_ns"] / max(rows[0]["kernel_ns"], 1)
    _check_update(x[:1000], storages)
    title = f"{n:,} elements mixed with {ROUNDS} numbers each"
    draw = Bars("label", "kernel_us", "kernel, us", timed=True)
    return Experiment(NAME, title, here, TABLE, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


def _row(storage: str, length: int, index: str, n: int, profile: Profile) -> dict[str, Any]:
    return {
        "variant": storage,
        "length": length,
        "index": index,
        "label": f"{storage}, {length}, {index}",
        **kernel_times(profile),
        "ps": profile.kernel_ns * 1e3 / (n * ROUNDS),
        "changes": {"literal": "no: compile again", "global": "at any time"}.get(storage, "between launches"),
    }


def _check_update(x: Array, storages: list[str]) -> None:
    """Tables that change from call to call, which all but the literals follow."""
    for table in (LITERALS, LITERALS[::-1].copy(), ~LITERALS):
        expected = mix(x, table, variant="numpy")
        for storage in storages:
            if storage != "literal" and not np.array_equal(mix(x, table, variant=storage), expected):
                raise RuntimeError(f"{NAME}: {storage} did not follow a table that changed")
