"""latency: loads that start early or late, and several elements a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import backend
from .._creation import zeros
from .._operations._experiments import CHAIN as ROUNDS
from .._operations._experiments import latency as operation
from ._experiment import Column, Experiment, documents, grouped, lines
from ._measuring import measure
from ._sizes import size

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "M: a load only starts, and a warp waits where the value is used, so that loads belong at a kernel's start; some "
    "ten threads for each access hide the latency, beyond that several elements a thread do"
)
ON_AN_H200 = (
    "With 32 threads a multiprocessor, early loads take 60.1% of the time of late ones, and eight elements a thread "
    "take 32% of it. With 2,048 threads a multiprocessor early loads take about as long as late ones, and several "
    "elements a thread take about as long as one: that many threads hide the latency by themselves."
)
ON_CHIP, ON_EMULATOR = 1 << 22, 1 << 12
#: Of a block, and blocks a multiprocessor.
THREADS = ((32, 1), (128, 1), (512, 1), (1024, 2))
FORMS: dict[str, dict[str, Any]] = {
    "late": {"variant": "late"},
    "early": {"variant": "early"},
    **{f"early, {count} elements": {"variant": "several", "elements": count} for count in (2, 4, 8)},
}

COLUMNS = (
    Column("threads a\nmultiprocessor", "threads", grouped),
    Column("load", "form"),
    Column("bytes under way\na multiprocessor, at most", "under_way", grouped),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("against\nlate", "relative", timed=True),
)


@documents
def latency(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """A load that is started early or late, and several elements a thread, with few threads and with many.

    Parameters
    ----------
    n : int, optional
        Elements. Default: 2**22 on a GPU, 4096 on the emulator.
    <repeat>

    Returns
    -------
    Experiment
        A row a number of threads and a form: what its loads can have under way at once, and the kernel's time (not on
        the emulator, whose loads are there at once). Each element takes a chain of 64 multiply-adds beside its load.
        After M, on the scoreboard.

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> [row["under_way"] for row in lab.latency(n=1000, repeat=1).rows[:5]]
    [128, 128, 256, 512, 1024]
    """
    here = backend()
    count = size("latency", n, ON_CHIP, ON_EMULATOR)
    multiprocessors = int(here.properties["multiprocessors"])
    x = zeros((count,), "int32")
    rows: list[dict[str, Any]] = []
    for threads, blocks in THREADS:
        launch = {"threads": threads, "blocks": blocks * multiprocessors}
        late = 0.0
        for form, keywords in FORMS.items():
            profile, _ = measure(operation, (x,), keywords | launch, repeat)
            late = late or max(profile.kernel_ns, 1)
            timed = profile.clock == "gpu"
            rows.append(
                {
                    "threads": threads * blocks,
                    "form": form,
                    "under_way": 4 * keywords.get("elements", 1) * threads * blocks,
                    "kernel_ns": profile.kernel_ns if timed else None,
                    "kernel_us": profile.kernel_ns / 1e3 if timed else None,
                    "gb_per_s": profile.gb_per_s if timed else None,
                    "relative": profile.kernel_ns / late if timed else None,
                    "clock": profile.clock,
                }
            )
    title = f"latency: {count:,} elements, a load and {ROUNDS} multiply-adds each"
    return Experiment("latency", title, here, COLUMNS, tuple(rows), DOCUMENTS, ON_AN_H200, draw=_draw)


def _draw(result: Experiment, picture: Picture) -> None:
    timed = result.rows[0]["kernel_ns"] is not None
    key, name = ("kernel_us", "kernel, us") if timed else ("under_way", "bytes under way a multiprocessor, at most")
    lines(result, picture, "threads", key, "threads a multiprocessor", name, by="form")
    picture.axes[0].set_xscale("log", base=2)
    picture.axes[0].set_yscale("log", base=10 if timed else 2)
