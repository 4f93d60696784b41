"""overlap: copies and kernels in sequence in one stream, and concurrently in several."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display
from .._array import DeviceArray
from .._backend import backend
from .._creation import empty, empty_pinned, zeros
from .._operations._experiments import EXACT, intrinsics
from .._streams import Stream, synchronize
from ._experiment import Column, Experiment, experiment, number, plural, report, size
from ._host_memory import mapped

if TYPE_CHECKING:
    from .._plots import Picture

NAME = "overlap"
MOST = 64
#: The steps and their colors.
STEPS = {"copy in": "#6fa8dc", "kernel": "#e69138", "copy out": "#93c47d"}


@experiment(
    Column("streams", "way"),
    Column("piece", "piece"),
    Column("stream", "stream"),
    Column("step", "step"),
    Column("start", "begin_ns", _display.duration, timed=True),
    Column("duration", "ns", _display.duration, timed=True),
    Column("total", "whole_ns", _display.duration, timed=True),
    claim="M, figure 6.16: while one block of data is processed, the next is transferred, so the chip is never idle",
    on_an_h200="16,777,216 sines in four pieces take 4.54 ms in one stream and 2.62 ms in four streams, where 11 of "
    "the 12 steps overlap with a step of another piece. From the first kernel's start to the last kernel's end, a "
    "kernel is running 100% of the time; that period is 73% of the whole time.",
)
def overlap(
    n: int | None = None,
    *,
    pieces: int = 4,
    streams: int | None = None,
    work: int | None = None,
    repeat: int | None = None,
) -> Experiment:
    """Overlap of copies and kernels: pieces of data copied in, processed and copied out, in one stream or several.

    Parameters
    ----------
    n : int, optional
        Elements (float32) in total. <size>
    pieces : int
        How many pieces to split them into, 1 to 64.
    streams : int, optional
        How many streams the second run uses, 1 to 64, but at most one per piece. Default: one per piece.
    work : int, optional
        How many times the kernel computes each sine. Default: 1 on the emulator; 100 on a GPU, about as long as a copy.
    repeat : int, optional
        How many times to run with each number of streams; the fastest run is shown. Default: 5.

    <returns>
        One row per step of each piece: its start and duration, by events in its stream, and as ``whole_ns`` the total
        time of the run. ``plot()`` draws both timelines.

    <raises>

    The host memory is pinned, because copies of pageable memory make the host wait.

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(set(lab.overlap(4000, pieces=2, repeat=1)["way"]))
    ['one stream', 'several streams']
    """
    here = backend()
    n = size(NAME, n, chip=1 << 24, emulator=1 << 14)
    pieces = number(NAME, "pieces", pieces, min(n, MOST))
    streams = pieces if streams is None else number(NAME, "streams", streams, MOST)
    work = (1 if here.emulated else 100) if work is None else number(NAME, "work", work)
    repeat = 5 if repeat is None else number(NAME, "repeat", repeat)
    values, back = empty_pinned(n, "float32"), empty_pinned(n, "float32")
    values[:] = np.random.default_rng(0).uniform(-3, 3, n)
    expected = EXACT["sin"](values.astype(np.float64), None).astype(np.float32)
    parts = [
        (mapped(x), empty(x.shape, "float32"), zeros(x.shape, "float32"), empty(x.shape, "float32"), mapped(y))
        for x, y in zip(np.array_split(values, pieces), np.array_split(back, pieces), strict=True)
    ]
    rows = []
    streams = min(streams, pieces)
    for way, count in (("one stream", 1), ("several streams" if streams > 1 else "one stream again", streams)):
        runs = []
        for _ in range(repeat + 1):
            back[:] = 0
            runs.append(_run(parts, count, work))
            # Like allclose(), in a tenth of its time, since each run is checked. NaN compares as not below.
            if not np.max(np.abs(back - expected)) < 1e-5:
                raise RuntimeError(f"{NAME}: the results from {plural(count, 'stream')} are wrong")
        best = min(runs[1:], key=lambda run: run[-1]["whole_ns"])  # the first run allocates memory
        rows += [{"way": way} | row | {"clock": "emulated" if here.emulated else "gpu"} for row in best]
    title = f"{plural(n, 'sine')} in {plural(pieces, 'piece')}: copied to the device, computed, copied back"
    return report(NAME, title, rows, draw=_draw)


def _run(parts: Sequence[tuple[DeviceArray, ...]], count: int, work: int) -> list[dict[str, Any]]:
    """Processes all pieces once in ``count`` streams; the rows of the steps, in order."""
    synchronize()
    streams = [Stream() for _ in range(count)]
    start = streams[0].record()
    for stream in streams[1:]:
        stream.wait(start)
    marks = []
    for (source, x, unused, y, target), stream in zip(parts, itertools.cycle(streams), strict=False):
        events = [stream.record()]
        x.set(source, stream)
        events.append(stream.record())
        intrinsics(x, unused, out=y, stream=stream, variant="full", function="sin", repeats=work)
        events.append(stream.record())
        target.set(y, stream)
        marks.append([*events, stream.record()])
    synchronize()
    rows: list[dict[str, Any]] = []
    for i, events in enumerate(marks):
        times = [1e6 * start.elapsed_time(event) for event in events]
        for step, (begin, end) in zip(STEPS, itertools.pairwise(times), strict=True):
            rows.append({"piece": i, "stream": i % count, "step": step, "begin_ns": begin, "ns": end - begin})
    whole = max(row["begin_ns"] + row["ns"] for row in rows) - min(row["begin_ns"] for row in rows)
    return [row | {"whole_ns": whole} for row in rows]


def _draw(result: Experiment, picture: Picture) -> None:
    """Two timelines on one scale: one line per stream, one bar per step, with the number of its piece."""
    panels = picture.subplots(2, 1, sharex=True)
    for axes, way in zip(panels, dict.fromkeys(result["way"]), strict=True):
        steps = [row for row in result.rows if row["way"] == way]
        for step, color in STEPS.items():
            bars = [row for row in steps if row["step"] == step]
            lengths, starts = ([row[key] / 1e6 for row in bars] for key in ("ns", "begin_ns"))
            lanes = [row["stream"] for row in bars]
            timeline = axes.barh(lanes, lengths, 0.8, starts, color=color, edgecolor="white", label=step)
            pieces = [row["piece"] if row["ns"] >= row["whole_ns"] / 50 else "" for row in bars]  # where there is room
            axes.bar_label(timeline, pieces, label_type="center", fontsize=7, clip_on=True)
        axes.set_yticks(range(max(row["stream"] for row in steps) + 1))
        axes.set_ylabel("stream", fontsize=9)
        axes.set_title(f"{way}: {_display.duration(steps[0]['whole_ns'])}", fontsize=9)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_xlim(left=0)
    handles = panels[0].get_legend_handles_labels()
    picture.legend(*handles, fontsize=8, loc="outside right upper")  # outside the panels, so that no bar is covered
    panels[1].set_xlabel("ms (emulated)" if result.backend.emulated else "ms", fontsize=9)
