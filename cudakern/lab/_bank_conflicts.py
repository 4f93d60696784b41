"""bank_conflicts: strides, padding and broadcasts in shared memory."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._backend import backend
from .._operations._experiments import ROUNDS, THREADS, TILE
from .._operations._experiments import bank_conflicts as operation
from ._experiment import Column, Experiment, documents, lines, measure, numbers, ratio, size
from ._rules import LANES, WORD, wavefronts

DOCUMENTS = (
    "T6, P11: lanes that access different words in one bank are served one after the other, so a conflict of n lanes "
    "takes n times as long; a distance of 17 words between lanes instead of 16 avoids conflicts; a word that all "
    "lanes read is broadcast (the card of T had 16 banks for half a warp)"
)
ON_AN_H200 = (
    "A stride of 32 takes 30.3 times as long as a stride of 1: lanes that access the same bank are still served one "
    "after the other. With one word of padding, it takes about as long as a stride of 1, and so does a word that all "
    "lanes read."
)
#: Requests per block: the loads of all its warps in all rounds.
REQUESTS = THREADS // LANES * ROUNDS

COLUMNS = (
    Column("form", "form"),
    Column("stride", "stride"),
    Column("words between\nlanes", "distance"),
    Column("passes per request\n(computed)", "wavefronts"),
    Column("cycles\nper request", "cycles", timed=True),
    Column("relative to\nstride 1", "relative", timed=True),
)


@documents
def bank_conflicts(
    strides: int | Sequence[int] = range(1, 33), *, n: int = TILE, repeat: int | None = None
) -> Experiment:
    """Bank conflicts: shared memory read with strides, with and without padding, and one word read by all lanes.

    Shared memory has 32 banks. One request of a warp takes one pass if its lanes access different banks or the same
    word, and one pass per word where they access different words in one bank.

    Parameters
    ----------
    strides : int or sequence of int
        Distances between the words of neighboring lanes, each 1 to 32.
    n : int
        Words, 1024 per block. One block is enough, since each block has its own shared memory.
    <repeat>

    <returns>
        One row per form and stride: the passes (wavefronts) per request computed from the addresses, and on a GPU the
        cycles per request measured with the multiprocessor's clock.

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> [(row["form"], row["stride"], row["wavefronts"]) for row in lab.bank_conflicts([16], repeat=1).rows]
    [('broadcast', 0, 1), ('strided', 1, 1), ('strided', 16, 16), ('padded', 16, 1)]
    """
    n = size("bank_conflicts", n, TILE, TILE)
    several = numbers("bank_conflicts", "strides", strides, 1, 32)
    here = backend()
    x = np.arange(n, dtype=np.int32)
    forms = {"broadcast": (0,), "strided": dict.fromkeys((1, *several)), "padded": dict.fromkeys(several)}
    rows: list[dict[str, Any]] = []
    for form, stride in ((form, stride) for form, distances in forms.items() for stride in distances):
        keywords = {"variant": "padded" if form == "padded" else "strided", "stride": stride}
        profile, _ = measure(operation, (x,), keywords, repeat)
        distance = stride + (form == "padded")
        rows.append(
            {
                "form": form,
                "stride": stride,
                "distance": distance,
                "wavefronts": wavefronts(WORD * distance * lane for lane in range(LANES)),
                "cycles": float(np.median(profile.cycles)) / REQUESTS if profile.clock == "gpu" else None,
            }
        )
    for row in rows:
        row["relative"] = ratio(row, rows[1], "cycles")
    title = f"bank_conflicts: {REQUESTS:,} requests per block, 4-byte words"
    timed = rows[1]["cycles"] is not None
    key, what = ("cycles", "cycles per request") if timed else ("wavefronts", "passes per request (computed)")
    draw = functools.partial(lines, x="stride", y=key, x_name="stride in words", y_name=what, by="form")
    return Experiment("bank_conflicts", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)
