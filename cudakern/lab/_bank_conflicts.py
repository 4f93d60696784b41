"""bank_conflicts: strides, padding and broadcast in shared memory."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from .._operations._experiments import ROUNDS, THREADS, TILE
from .._operations._experiments import bank_conflicts as operation
from ._experiment import Column, Experiment, documents, lines
from ._measuring import measure
from ._rules import LANES, WORD, wavefronts
from ._sizes import numbers, size

DOCUMENTS = (
    "T6 and P11: lanes that want one bank are served one after the other, n ways take n times as long, 17 words apart "
    "instead of 16 take none of it, and a word that all lanes want is broadcast (T's card had 16 banks for half a warp)"
)
ON_AN_H200 = (
    "A stride of 32 takes 30.3 times as long as a stride of 1: lanes that want one bank are still served one after "
    "the other. With a word of padding it takes about as long as a stride of 1, and so does a word that all lanes "
    "read."
)
#: Requests of a block: a warp's loads in all rounds.
REQUESTS = THREADS // LANES * ROUNDS

COLUMNS = (
    Column("form", "form"),
    Column("stride", "stride"),
    Column("words from\nlane to lane", "distance"),
    Column("wavefronts\na request, by rule", "wavefronts"),
    Column("cycles\na request", "cycles", timed=True),
    Column("against\nstride 1", "relative", timed=True),
)


@documents
def bank_conflicts(
    strides: int | Sequence[int] = range(1, 33), *, n: int = TILE, repeat: int | None = None
) -> Experiment:
    """Shared memory read in strides, with and without padding, and all lanes the same word.

    Parameters
    ----------
    strides : int or sequence of int
        Which: 1 to 32.
    n : int
        Words, of which each block has 1024. One block is enough: each has its own shared memory and clock.
    <repeat>

    Returns
    -------
    Experiment
        A row a form and stride: the wavefronts that a warp's request takes by the rule of banks, and the cycles that
        it took by the multiprocessor's clock (not on the emulator, which has no banks to wait for). After T6 and P11.

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> [(row["form"], row["stride"], row["wavefronts"]) for row in lab.bank_conflicts([16], repeat=1).rows]
    [('broadcast', 0, 1), ('strided', 1, 1), ('strided', 16, 16), ('padded', 16, 1)]
    """
    n = size("bank_conflicts", n, TILE, TILE)
    several = numbers("bank_conflicts", "strides", strides)
    if not several or any(not 1 <= stride <= 32 for stride in several):
        raise ValueError(f"bank_conflicts: strides={list(several)}: they are 1 to 32, and at least one")
    here = backend()
    x = np.arange(n, dtype=np.int32)
    rows = [_row("broadcast", 0, x, repeat)]
    rows += [_row("strided", stride, x, repeat) for stride in dict.fromkeys((1, *several))]
    rows += [_row("padded", stride, x, repeat) for stride in dict.fromkeys(several)]
    base = rows[1]["cycles"]
    for row in rows:
        row["relative"] = None if row["cycles"] is None else row["cycles"] / base
    title = f"bank_conflicts: {REQUESTS:,} requests a block, 4-byte words"
    key = "wavefronts" if base is None else "cycles"
    draw = functools.partial(
        lines, x="stride", y=key, x_name="stride, in words", y_name=f"{key} per request", by="form"
    )
    return Experiment("bank_conflicts", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


def _row(form: str, stride: int, x: Any, repeat: int | None) -> dict[str, Any]:
    padded = form == "padded"
    keywords = {"variant": "padded" if padded else "strided", "stride": stride}
    profile, _ = measure(operation, (x,), keywords, repeat)
    distance = stride + padded
    return {
        "form": form,
        "stride": stride,
        "distance": distance,
        "wavefronts": wavefronts(WORD * distance * lane for lane in range(LANES)),
        "cycles": _display.median(profile.cycles) / REQUESTS if profile.clock == "gpu" else None,
    }
