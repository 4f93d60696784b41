"""What warps do: divergence runs two paths of a branch, latency waits for loads."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .. import backend, vector_add, zeros
from ..arrays.transfer import Array
from ..measure.profile import Profile
from ..operations.experiments import BRANCHES, THREADS
from ..operations.experiments import CHAIN as ROUNDS
from ..operations.experiments import divergence as take_paths
from ..operations.experiments import latency as load
from ._experiment import Experiment, bars, experiment, kernel_times, lines, measure, ratio, report, size
from ._memory import LANES

CONDITIONS = {
    "first": "no branch, first path",
    "second": "no branch, second path",
    "thread": "threadIdx.x > 2",
    "lane": "lane > 2",
    "odd_lane": "lane % 2 == 1",
    "warp": "threadIdx.x / warpSize >= 2",
}


@experiment
def divergence(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Branch divergence: two paths of equal length chosen by lane or by warp, and an edge check.

    If the lanes of a warp take different paths, the warp executes both, one after the other.

    Parameters
    ----------
    n : int, optional
        Elements of the branches and of the longest edge check. Default: 2**22 on a GPU, 4096 on the emulator.
    <repeat>

    <returns>
        One row per condition: how many warps it splits, the mean number of paths that a warp executes, and the kernel's
        time relative to the branch that splits no warp; then rows for ``if (i < n)`` in a vector addition, whose last
        warp may be split. The emulator runs each lane separately, so it measures no times.

    Examples
    --------
    >>> from cudakern import lab
    >>> {row["condition"]: row["paths"] for row in lab.divergence(n=1024, repeat=1).rows[2:6]}
    {'threadIdx.x > 2': 1.125, 'lane > 2': 2.0, 'lane % 2 == 1': 2.0, 'threadIdx.x / warpSize >= 2': 1.0}
    """
    count = size("divergence", n, chip=1 << 22, emulator=1 << 12)
    x = zeros((count,), "int32")
    rows = []
    for branch, condition in CONDITIONS.items():
        profile, _ = measure(take_paths, (x,), {"variant": "branches", "branch": branch}, repeat)
        second = BRANCHES[branch](np.arange(count) % THREADS)
        second = np.pad(second, (0, -count % LANES), mode="edge")  # threads beyond the end take the last one's path
        rows.append(_row("branch", condition, count, second, profile))
    whole = len(second)
    for length in dict.fromkeys((100, 1000, whole, whole - 1)):
        x = zeros((length,), "float32")
        profile, _ = measure(vector_add, (x, x), {"variant": "naive"}, repeat)
        # Warps beyond these have no elements, so all their lanes agree.
        inside = np.arange(-(-length // LANES) * LANES) < length
        rows.append(_row("edge", "i < n", length, inside, profile) | {"paths": None})
    # The rows to compare with, which split no warp; of the branches, the last such row (by warps).
    unsplit = {row["kind"]: row for row in rows if row["warps"] == whole // LANES and not row["divided"]}
    for row in rows:
        base = unsplit[row["kind"]]
        row["relative"] = ratio(row, base) if row["warps"] == base["warps"] else None
    title = f"divergence: two paths of equal length, blocks of {THREADS} threads"
    figure = "paths" if rows[0]["kernel_ns"] is None else "relative"
    return report("divergence", title, rows, bars, label="label", value=figure)


def _row(kind: str, condition: str, n: int, path: Array, profile: Profile) -> dict[str, Any]:
    """``path``: which of two paths each thread takes. A warp is split if it has lanes on both."""
    lanes = path.reshape(-1, LANES)
    warps, divided = len(lanes), int(np.count_nonzero(lanes.any(axis=1) & ~lanes.all(axis=1)))
    row = {"kind": kind, "condition": condition, "n": n, "warps": warps, "divided": divided}
    row["label"] = f"{condition}, n = {n:,}" if kind == "edge" else condition
    shares = {"share": 100 * divided / warps, "paths": 1 + divided / warps}
    return row | shares | kernel_times(profile, emulated=False)


#: Threads per block, and blocks per multiprocessor.
LAUNCHES = ((32, 1), (128, 1), (512, 1), (1024, 2))
FORMS: dict[str, dict[str, Any]] = {
    "late": {"variant": "late"},
    "early": {"variant": "early"},
    **{f"early, {count} elements": {"variant": "several", "elements": count} for count in (2, 4, 8)},
}


@experiment
def latency(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """Latency of memory: loads issued early or late, one or several elements per thread, few or many threads.

    A load takes hundreds of cycles, during which the multiprocessor needs other work: independent instructions of the
    same thread, or other warps.

    Parameters
    ----------
    n : int, optional
        Elements. Default: 2**22 on a GPU, 4096 on the emulator.
    <repeat>

    <returns>
        One row per number of threads and form: the most bytes that its loads can have in flight, and on a GPU the
        kernel's time. Each element takes a load and a chain of 64 multiply-adds.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.latency(n=1000, repeat=1)["under_way"][:5]
    [128, 128, 256, 512, 1024]
    """
    count = size("latency", n, chip=1 << 22, emulator=1 << 12)
    multiprocessors = int(backend().properties["multiprocessors"])
    x = zeros((count,), "int32")
    rows: list[dict[str, Any]] = []
    for (threads, blocks), (form, keywords) in itertools.product(LAUNCHES, FORMS.items()):
        launch = {"threads": threads, "blocks": blocks * multiprocessors}
        profile, _ = measure(load, (x,), keywords | launch, repeat)
        in_flight = 4 * keywords.get("elements", 1) * threads * blocks
        times = kernel_times(profile, emulated=False)
        rows.append({"threads": threads * blocks, "form": form, "under_way": in_flight, **times})
    late = {row["threads"]: row for row in rows if row["form"] == "late"}
    for row in rows:
        row["relative"] = ratio(row, late[row["threads"]])
    title = f"latency: {count:,} elements, a load and {ROUNDS} multiply-adds each"
    figure = "under_way" if rows[0]["kernel_ns"] is None else "kernel_ns"
    return report("latency", title, rows, lines, x="threads", y=figure, by="form", log=True)
