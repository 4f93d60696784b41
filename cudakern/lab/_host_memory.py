"""Transfers: of pageable, pinned and mapped memory (host_memory), and at the same time as kernels (overlap)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import DeviceArray, Stream, _display, asarray, backend, empty, empty_pinned, synchronize, zeros
from .._backend import current
from ..arrays import dtypes
from ..arrays.transfer import Array
from ..calls.checks import integer
from ..measure.profile import Profile
from ..operations.experiments import EXACT, intrinsics
from ..operations.experiments import hello as add_numbers
from ._experiment import Experiment, experiment, lines, measure, numbers, plural, report, size

if TYPE_CHECKING:
    from ..measure.plots import Picture

MOVES = tuple(itertools.product(("pageable", "pinned", "mapped"), ("to device", "to host")))


@experiment
def host_memory(sizes: int | Sequence[int] | None = None, *, repeat: int | None = None) -> Experiment:
    """Transfer rates between host and device: copies of ordinary and pinned memory, and kernels on mapped memory.

    The kernels on mapped memory follow source M.

    Parameters
    ----------
    sizes : int or sequence of int, optional
        Sizes in bytes, each from 4 bytes to 4 GiB. Default: up to 64 MiB on a GPU, up to 1 MiB on the emulator.
    <repeat>

    <returns>
        One row per size, direction and kind of memory. ``pageable`` (NumPy's) and ``pinned``
        (``cudakern.empty_pinned``) memory is copied, timed by events around the copies. ``mapped`` memory is
        pinned and not copied: the time is that of a kernel that reads it and writes device memory, or vice versa.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.host_memory(sizes=[4096], repeat=1)
    >>> [(row["memory"], row["direction"]) for row in result.rows][:3]
    [('pageable', 'to device'), ('pageable', 'to host'), ('pinned', 'to device')]
    """
    if sizes is None:
        sizes = [1 << k for k in ((12, 16, 20) if backend().emulated else (12, 16, 20, 24, 26))]
    byte_counts = numbers("host_memory", "sizes", sizes, 4, 1 << 32)
    rows = tuple(row for size in byte_counts for row in _rows(size // 4, repeat))
    title = "Transfers between host memory and the device"
    return report("host_memory", title, rows, lines, x="bytes", y="gb_per_s", by="label", log=True)


def _rows(n: int, repeat: int | None) -> Iterator[dict[str, Any]]:
    pageable = np.random.default_rng(0).integers(0, 1000, n, dtype=np.int32)
    expected = pageable + np.arange(n, dtype=np.int32)
    pinned, back = empty_pinned(n, "int32"), empty_pinned(n, "int32")
    pinned[:] = pageable

    def move(memory: str, x: Any, out: Any) -> Profile:
        out[...] = 0
        profile, _ = measure(add_numbers, (x,), {"variant": "greeting", "threads": 256, "out": out}, repeat)
        if not np.array_equal(out if isinstance(out, np.ndarray) else out.get(), expected):
            raise RuntimeError(f"host_memory: the data that arrived through {memory} memory differs from the data sent")
        return profile

    copies = [move("pageable", pageable, np.empty_like(pageable)), move("pinned", pinned, back)]
    reads = move("mapped", mapped(pinned), empty(n, "int32"))
    writes = move("mapped", asarray(pageable), mapped(back))
    times = [ns for profile in copies for ns in (profile.to_device_ns, profile.to_host_ns)]
    for (memory, direction), ns in zip(MOVES, (*times, reads.kernel_ns, writes.kernel_ns), strict=True):
        row = {"memory": memory, "direction": direction, "label": f"{memory}, {direction}", "bytes": 4 * n}
        yield row | {"ns": ns, "gb_per_s": 4 * n / max(ns, 1), "clock": reads.clock}


def mapped(array: Array) -> DeviceArray:
    """A device array in pinned host memory, which kernels read and write in place, over the link.

    Parameters
    ----------
    array : ndarray
        Created by ``cudakern.empty_pinned``, or a view of such an array.

    Returns
    -------
    DeviceArray
        The same elements; it keeps the memory alive. A kernel sees what the host wrote before the launch, and the host
        sees a kernel's writes once the kernel has finished: call ``cudakern.synchronize()`` before it uses them.

    Raises
    ------
    TypeError, ValueError
        The argument is not a NumPy array, its dtype is not supported on the device, or its memory is not pinned.

    Examples
    --------
    >>> import cudakern
    >>> from cudakern import lab
    >>> x = cudakern.empty_pinned(3, "float32")
    >>> x[:] = 1, 2, 3
    >>> cudakern.vector_add(lab.mapped(x), lab.mapped(x)).get().tolist()
    [2.0, 4.0, 6.0]
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"mapped: array must be a NumPy array of cudakern.empty_pinned(), not {type(array).__name__}")
    name = dtypes.name_of(array.dtype)
    native, device, _ = current()
    if array.size == 0:
        return DeviceArray(native.empty(array.shape, name, device, 0), native)
    pointer = native.pinned_on_device(array.ctypes.data, device)
    readonly = not array.flags.writeable
    return DeviceArray(native.adopt(array, pointer, array.shape, array.strides, name, device, readonly), native)


MOST_PIECES = 64
#: The steps and their colors.
STEPS = {"copy in": "#e3eef8", "kernel": "#f0a858", "copy out": "#3d85c6"}  # of different lightness, for printers


@experiment
def overlap(
    n: int | None = None,
    *,
    pieces: int = 4,
    streams: int | None = None,
    work: int | None = None,
    repeat: int | None = None,
) -> Experiment:
    """Overlap of copies and kernels: pieces of data copied in, processed and copied out, in one stream or several.

    The host memory is pinned, because copies of pageable memory make the host wait.

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

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(set(lab.overlap(4000, pieces=2, repeat=1)["way"]))
    ['one stream', 'several streams']
    """
    here = backend()
    n = size("overlap", n, chip=1 << 24, emulator=1 << 14)
    pieces = integer("overlap: pieces", pieces, 1, min(n, MOST_PIECES))
    streams = pieces if streams is None else integer("overlap: streams", streams, 1, MOST_PIECES)
    work = (1 if here.emulated else 100) if work is None else integer("overlap: work", work, 1)
    repeat = 5 if repeat is None else integer("overlap: repeat", repeat, 1)
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
                raise RuntimeError(f"overlap: the results from {plural(count, 'stream')} are wrong")
        best = min(runs[1:], key=lambda run: run[-1]["whole_ns"])  # the first run allocates memory
        rows += [{"way": way} | row | {"clock": "emulated" if here.emulated else "gpu"} for row in best]
    title = f"{plural(n, 'sine')} in {plural(pieces, 'piece')}: copied to the device, computed, copied back"
    return report("overlap", title, rows, _draw_timelines)


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
    times = [[1e6 * start.elapsed_time(event) for event in events] for events in marks]
    whole = max(map(max, times)) - min(map(min, times))
    rows: list[dict[str, Any]] = []
    for i, ends in enumerate(times):
        for step, (begin, end) in zip(STEPS, itertools.pairwise(ends), strict=True):
            place = {"piece": i, "stream": i % count, "step": step}
            rows.append(place | {"begin_ns": begin, "ns": end - begin, "whole_ns": whole})
    return rows


def _draw_timelines(result: Experiment, picture: Picture) -> None:
    """Two timelines on one scale: one line per stream, one bar per step, with the number of its piece."""
    panels = picture.subplots(2, 1, sharex=True)
    for axes, way in zip(panels, dict.fromkeys(result["way"]), strict=True):
        steps = [row for row in result.rows if row["way"] == way]
        for step, color in STEPS.items():
            bars = [row for row in steps if row["step"] == step]
            lengths, starts = ([row[key] / 1e6 for row in bars] for key in ("ns", "begin_ns"))
            lanes = [row["stream"] for row in bars]
            timeline = axes.barh(lanes, lengths, 0.8, starts, color=color, edgecolor="gray", label=step)
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
