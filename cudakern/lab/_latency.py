"""latency: loads that start early or late, and several elements a thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import backend
from .._creation import zeros
from .._operations._experiments import CHAIN as ROUNDS
from .._operations._experiments import latency as operation
from ._experiment import Column, Experiment, Lines
from ._measuring import measure
from ._sizes import size
from ._words import clearly, grouped, longer, verdict

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "M: a load only starts, and a warp waits where the value is used, so that loads belong at a kernel's start; some "
    "ten threads for each access hide the latency, beyond that several elements a thread do"
)
ON_CHIP, ON_EMULATOR = 1 << 22, 1 << 12
#: Threads a multiprocessor: (threads a block, blocks).
THREADS = {32: (32, 1), 128: (128, 1), 512: (512, 1), 2048: (1024, 2)}
FORMS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("late", {"variant": "late"}, 1),
    ("early", {"variant": "early"}, 1),
    *((f"early, {count} elements", {"variant": "several", "elements": count}, count) for count in (2, 4, 8)),
)

COLUMNS = (
    Column("threads a\nmultiprocessor", "threads", grouped),
    Column("load", "form"),
    Column("bytes under way\na multiprocessor, at most", "under_way", grouped),
    Column("kernel", "kernel_ns", _display.duration, timed=True),
    Column("GB/s", "gb_per_s", timed=True),
    Column("against\nlate", "relative", timed=True),
)


def latency(*, n: int | None = None, repeat: int | None = None) -> Experiment:
    """A load that is started early or late, and several elements a thread, with few threads and with many.

    Parameters
    ----------
    n : int, optional
        Elements. Default: 2**22 on a GPU, 4096 on the emulator.
    repeat : int, optional
        How often to measure a row. Without it: up to 20 times, for a tenth of a second at most.

    Returns
    -------
    Experiment
        A row a number of threads and a form: what its loads can have under way at once, and the kernel's time. Each
        element takes a chain of 64 multiply-adds beside its load.

    Raises
    ------
    TypeError
        What must be a whole number is none.
    ValueError
        ``n`` or ``repeat`` below 1.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    M, on the scoreboard. The emulator's loads are there at once: its times are left out.

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
    for threads, (block, blocks) in THREADS.items():
        late = None
        for form, keywords, elements in FORMS:
            given = {**keywords, "threads": block, "blocks": blocks * multiprocessors}
            profile, _ = measure(operation, (x,), given, repeat, None)
            timed = profile.clock == "gpu"
            late = profile.kernel_ns if late is None else late
            rows.append(
                {
                    "threads": threads,
                    "form": form,
                    "under_way": 4 * elements * threads,
                    "kernel_ns": profile.kernel_ns if timed else None,
                    "gb_per_s": profile.gb_per_s if timed else None,
                    "relative": profile.kernel_ns / max(late, 1) if timed else None,
                    "clock": profile.clock,
                }
            )
    timed = rows[0]["kernel_ns"] is not None
    return Experiment(
        name="latency",
        title=f"latency: {count:,} elements, a load and {ROUNDS} multiply-adds each",
        backend=here,
        columns=COLUMNS,
        rows=tuple(rows),
        finding=_finding(rows),
        documents=DOCUMENTS,
        verdict=_verdict(rows),
        here=""
        if timed
        else "On the emulator a load's value is there at once: there is no latency, and its times are left out.",
        draw=_draw,
    )


def _finding(rows: Sequence[dict[str, Any]]) -> str:
    counts = sorted({row["threads"] for row in rows})
    said = []
    for threads in (counts[0], counts[-1]):
        by_form = {row["form"]: row for row in rows if row["threads"] == threads}
        late, early, most = by_form["late"], by_form["early"], by_form[FORMS[-1][0]]
        if late["kernel_ns"] is None:
            said.append(
                f"{threads:,} threads can have {early['under_way']:,} bytes under way with one load each, and "
                f"{most['under_way']:,} with eight"
            )
            continue
        said.append(
            f"with {threads:,} threads a multiprocessor early loads take "
            f"{longer(early['kernel_ns'], late['kernel_ns'])} late ones, and eight elements a thread "
            f"{longer(most['kernel_ns'], late['kernel_ns'])} late ones"
        )
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def _verdict(rows: Sequence[dict[str, Any]]) -> str:
    ns = {(row["threads"], row["form"]): row["kernel_ns"] for row in rows}
    few, many = (choose(threads for threads, _ in ns) for choose in (min, max))
    late, early = FORMS[0][0], FORMS[1][0]
    if ns[few, late] is None:
        return ""
    most, several = min((ns[many, form], elements) for form, _, elements in FORMS if elements > 1)
    return verdict(
        {
            f"loads belong at a kernel's start (with {few:,} threads a multiprocessor early loads take "
            f"{longer(ns[few, early], ns[few, late])} late ones)": clearly(ns[few, late], ns[few, early]),
            f"enough threads hide the latency (with {many:,} threads early loads take "
            f"{longer(ns[many, early], ns[many, late])} late ones)": not clearly(ns[many, late], ns[many, early]),
            f"beyond that several elements a thread help (with {many:,} threads {several} elements each take "
            f"{longer(most, ns[many, early])} one)": clearly(ns[many, early], most),
        }
    )


def _draw(result: Experiment, picture: Picture) -> None:
    timed = result.rows[0]["kernel_ns"] is not None
    key, name = ("kernel_ns", "kernel, ns") if timed else ("under_way", "bytes under way a multiprocessor, at most")
    Lines("threads", key, "threads a multiprocessor", name, by="form")(result, picture)
    picture.axes[0].set_xscale("log", base=2)
    picture.axes[0].set_yscale("log", base=10 if timed else 2)
