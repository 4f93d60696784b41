"""divergence: branches within warps and between them, and what an edge check costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import zeros
from .._operations._experiments import BRANCHES, THREADS
from .._operations._experiments import divergence as operation
from .._operations.vector_add import vector_add
from ._experiment import Column, Experiment, bars_in, documents, grouped, of_hundred
from ._measuring import measure
from ._rules import LANES
from ._sizes import size

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "P11: `threadIdx.x > 2` divides a warp, which then walks both paths; better branch by `threadIdx.x / warpSize`. Of "
    "100 additions' 4 warps the edge check divides 1 (25%), of 1000 additions' 32 also 1 (3%)"
)
ON_AN_H200 = (
    "A divided warp still walks both paths: `lane % 2 == 1` takes 1.86 times as long as the mean of the two paths "
    "alone. Compared with `threadIdx.x / warpSize >= 2`, which costs no more than its paths alone, `lane > 2` takes "
    "1.84 times as long and `threadIdx.x > 2` 1.11 times. An edge check divides one warp (25% of the warps of 100 "
    "additions, 3.1% of the warps of 1,000). Among many warps it costs little: 4,194,303 additions, with one divided "
    "warp in 131,072, took 6.5% longer than 4,194,304 in this run."
)
CONDITIONS = {
    "first": "no branch: the first path",
    "second": "no branch: the second path",
    "thread": "threadIdx.x > 2",
    "lane": "lane > 2",
    "odd_lane": "lane % 2 == 1",
    "warp": "threadIdx.x / warpSize >= 2",
}
#: Elements of the branches on a chip and on the emulator; P's lengths of an edge check, and one that fills a chip.
ON_CHIP, ON_EMULATOR = 1 << 22, 1 << 12
EDGES = (100, 1000)

COLUMNS = (
    Column("condition", "condition"),
    Column("elements", "n", grouped),
    Column("warps", "warps", grouped),
    Column("of them\ndivided", "divided", grouped),
    Column("share", "share", of_hundred),
    Column("paths a\nwarp, by rule", "paths"),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("against\nundivided", "relative", timed=True),
)


@documents
def divergence(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Two paths of one length: by lanes, by warps, and as an edge check.

    Parameters
    ----------
    n : int, optional
        Elements of the branches, and of the longest edge check. Default: 2**22 on a GPU, 4096 on the emulator.
    <repeat>

    Returns
    -------
    Experiment
        A row a condition: how many warps it divides, the paths that a warp walks on average, and the kernel's time
        against the branch that divides no warp; then ``if (i < n)`` of a vector addition, whose last warp is divided
        or not.

    <raises>

    Notes
    -----
    P11. The emulator runs each lane by itself: there the times are left out.

    Examples
    --------
    >>> from cudakern import lab
    >>> {row["condition"]: row["paths"] for row in lab.divergence(n=1024, repeat=1).rows[2:6]}
    {'threadIdx.x > 2': 1.125, 'lane > 2': 2.0, 'lane % 2 == 1': 2.0, 'threadIdx.x / warpSize >= 2': 1.0}
    """
    here = backend()
    count = size("divergence", n, ON_CHIP, ON_EMULATOR)
    rows = [_branch(branch, count, repeat) for branch in BRANCHES]
    whole = -(-count // LANES) * LANES
    rows += [_edge(length, repeat) for length in dict.fromkeys((*EDGES, whole, whole - 1))]
    by_warp = next(row for row in rows if row["condition"] == CONDITIONS["warp"])
    bases = {"branch": by_warp, "edge": next(row for row in rows if (row["kind"], row["n"]) == ("edge", whole))}
    for row in rows:
        base = bases[row["kind"]]
        fits = row["kernel_ns"] is not None and -(-row["n"] // LANES) == -(-base["n"] // LANES)
        row["relative"] = row["kernel_ns"] / base["kernel_ns"] if fits else None
    title = f"divergence: two paths of one length, blocks of {THREADS} threads"
    return Experiment("divergence", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=_draw)


def _divided(second: Any) -> int:
    """How many warps have lanes on both paths, from which path each thread takes; threads that are not there agree."""
    taken = np.asarray(second)
    lanes = np.pad(taken, (0, -taken.size % LANES), mode="edge").reshape(-1, LANES)
    return int(np.count_nonzero(lanes.any(axis=1) & ~lanes.all(axis=1)))


def _row(kind: str, condition: str, n: int, warps: int, divided: int, profile: Any) -> dict[str, Any]:
    return {
        "kind": kind,
        "condition": condition,
        "n": n,
        "warps": warps,
        "divided": divided,
        "share": 100 * divided / warps,
        "kernel_ns": profile.kernel_ns if profile.clock == "gpu" else None,
        "clock": profile.clock,
    }


def _branch(branch: str, n: int, repeat: int | None) -> dict[str, Any]:
    profile, _ = measure(operation, (zeros((n,), "int32"),), {"variant": "branches", "branch": branch}, repeat)
    divided, warps = _divided(BRANCHES[branch](np.arange(n) % THREADS)), -(-n // LANES)
    return _row("branch", CONDITIONS[branch], n, warps, divided, profile) | {"paths": 1 + divided / warps}


def _edge(n: int, repeat: int | None) -> dict[str, Any]:
    x = zeros((n,), "float32")
    profile, _ = measure(vector_add, (x, x), {"variant": "naive"}, repeat)
    warps = -(-n // LANES)  # those beyond them have no element at all, and no lanes that disagree
    return _row("edge", "i < n", n, warps, _divided(np.arange(warps * LANES) < n), profile) | {"paths": None}


def _draw(result: Experiment, picture: Picture) -> None:
    key = "paths" if result.rows[0]["relative"] is None else "relative"
    name = "paths a warp, by the rule" if key == "paths" else "time against the branch by warps"
    bars_in(picture.subplots(), [row for row in result.rows if row["kind"] == "branch"], "condition", key, name)
