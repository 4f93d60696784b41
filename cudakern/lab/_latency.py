"""latency: loads that start early or late, and several elements per thread."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import backend
from .._creation import zeros
from .._operations._experiments import CHAIN as ROUNDS
from .._operations._experiments import latency as operation
from ._experiment import (
    Column,
    Experiment,
    experiment,
    grouped,
    kernel_times,
    lines,
    logarithmic,
    measure,
    ratio,
    report,
    size,
)

if TYPE_CHECKING:
    from .._plots import Picture

#: Threads per block, and blocks per multiprocessor.
THREADS = ((32, 1), (128, 1), (512, 1), (1024, 2))
FORMS: dict[str, dict[str, Any]] = {
    "late": {"variant": "late"},
    "early": {"variant": "early"},
    **{f"early, {count} elements": {"variant": "several", "elements": count} for count in (2, 4, 8)},
}


@experiment(
    Column("threads per\nmultiprocessor", "threads", grouped),
    Column("load", "form"),
    Column("most bytes in flight\nper multiprocessor", "under_way", grouped),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("relative\nto late", "relative", timed=True),
    claim="M: a warp does not wait at a load but where the value is used, so loads belong at the start of a kernel; "
    "about ten threads per access hide the latency, and beyond that several elements per thread do",
    on_an_h200="With 32 threads per multiprocessor, early loads take 60.1% of the time of late loads, and eight "
    "elements per thread take 32% of it. With 2,048 threads per multiprocessor, early loads take about as long as "
    "late loads, and several elements per thread take about as long as one: that many threads hide the latency by "
    "themselves.",
)
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

    <raises>

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
    for (threads, blocks), (form, keywords) in itertools.product(THREADS, FORMS.items()):
        launch = {"threads": threads, "blocks": blocks * multiprocessors}
        profile, _ = measure(operation, (x,), keywords | launch, repeat)
        in_flight = 4 * keywords.get("elements", 1) * threads * blocks
        times = kernel_times(profile, emulated=False)
        rows.append({"threads": threads * blocks, "form": form, "under_way": in_flight, **times})
    late = {row["threads"]: row for row in rows if row["form"] == "late"}
    for row in rows:
        row["relative"] = ratio(row, late[row["threads"]])
    title = f"latency: {count:,} elements, a load and {ROUNDS} multiply-adds each"
    return report("latency", title, rows, draw=_draw)


def _draw(result: Experiment, picture: Picture) -> None:
    timed = result.rows[0]["kernel_ns"] is not None
    key, name = ("kernel_ns", "kernel time") if timed else ("under_way", "most bytes in flight per multiprocessor")
    lines(result, picture, "threads", key, "threads per multiprocessor", name, by="form", timed=timed)
    picture.axes[0].set_xscale("log", base=2)
    picture.axes[0].set_yscale("log", base=10 if timed else 2)
    logarithmic(picture.axes[0].xaxis, at=result["threads"])
    logarithmic(picture.axes[0].yaxis)
