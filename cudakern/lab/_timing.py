"""timing: one kernel timed by the chip's clocks, by events in the stream, and by the host's clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import _display
from .._array import DeviceArray
from .._backend import backend
from .._creation import asarray
from .._operations.sum_of_squares import sum_of_squares
from .._streams import Event, synchronize
from .._table import find, variants
from ._experiment import Column, Experiment, bars, documents, grouped, measure, number, size

DOCUMENTS = (
    "P5, T3, L: a kernel takes 0.09 ms out of 0.37 s on the host's clock (P5); the kernel itself reads the chip's "
    "cycles: 640 million for one thread, 150 thousand for 32 blocks from the first start to the last end (T3, L)"
)
ON_AN_H200 = (
    "With 1,048,576 int32, the blocks of `multi_block` run for 6.02 us from the first start to the last end: 11,912 "
    "cycles at the chip's clock rate, compared with 150 thousand in the claim. Events give 8.96 us for the kernel. A "
    "call with NumPy arrays takes 539 us by the host's clock, 89.7 times as long as the blocks run; the kernel is "
    "1.7% of that. A call that does not wait returns after 21.7 us, which is only the time of the launch."
)
TABLE = (
    Column("clock", "clock"),
    Column("interval", "around"),
    Column("time", "ns", _display.duration, timed=True),
    Column("cycles", "cycles", grouped, timed=True),
    Column("relative to\nall blocks", "times", timed=True),
)


@documents
def timing(n: int | None = None, *, variant: str = "multi_block", repeat: int | None = None) -> Experiment:
    """One kernel timed in three ways: by the chip's clocks, by events in the stream, and by the host's clock.

    Parameters
    ----------
    n : int, optional
        Numbers to square and add. Default: 2**20 on a GPU, 2**16 on the emulator.
    variant : str
        A variant of ``sum_of_squares`` that reads the chip's clock.
    <median>

    <returns>
        One row per interval: the clock, the interval, nanoseconds, and cycles if the kernel counted them.

    <raises>

    ``clock64`` counts the cycles of one multiprocessor. A difference within one block is exact, but counts of different
    blocks cannot be compared, so intervals over several blocks use the nanosecond timer that all multiprocessors share.
    A launch returns before the kernel has finished, so with the host's clock you must wait for the device.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.timing(1000, repeat=1)["clock"]
    ['chip', 'chip', 'events', 'events', 'events', 'host', 'host', 'host', 'host']
    """
    here = backend()
    n = size("timing", n, chip=1 << 20, emulator=1 << 16)
    repeat = 5 if repeat is None else number("timing", "repeat", repeat)
    if not find("sum_of_squares", variant).reads_clock:
        names = ", ".join(entry.name for entry in variants("sum_of_squares") if entry.reads_clock)
        raise ValueError(f"timing: variant {variant!r} does not read the chip's clock; these do: {names}")
    x = np.random.default_rng(0).integers(0, 10, n, dtype=np.int32)
    whole, _ = measure(sum_of_squares, (x,), {"variant": variant}, repeat, warmup=1)
    numpy, _ = measure(sum_of_squares, (x,), {"variant": "numpy"}, repeat, warmup=1)
    launch_ns, wait_ns, events_ns = _by_host(asarray(x), variant, repeat)
    copies_ns = whole.to_device_ns + whole.kernel_ns + whole.to_host_ns
    cycles, blocks_ns = float(np.median(whole.cycles)), float(whole.blocks_ns or 0)
    block_ns = cycles / max(here.properties["clock_khz"], 1) * 1e6
    intervals: list[tuple[str, str, str, float]] = [
        ("block", "chip", "one block, by clock64 (median of all blocks)", block_ns),
        ("blocks", "chip", "all blocks, first start to last end, by %globaltimer", blocks_ns),
        ("kernel", "events", "the kernel, as timed by profile()", whole.kernel_ns),
        ("events", "events", "a call with device arrays", events_ns),
        ("copies", "events", "copy in, kernel, copy out", copies_ns),
        ("launch", "host", "a call with device arrays, without waiting", launch_ns),
        ("wait", "host", "the same, waiting for the device", wait_ns),
        ("whole", "host", "a call with NumPy arrays: memory, copies, kernel", whole.whole_ns),
        ("numpy", "host", "NumPy's sum on the CPU", numpy.kernel_ns),
    ]
    rows: list[dict[str, Any]] = [
        {"key": key, "clock": clock, "around": around, "label": f"{clock}: {around}", "ns": ns, "cycles": None}
        | {"times": ns / max(blocks_ns, 1), "cpu": False}
        for key, clock, around, ns in intervals
    ]
    rows[0]["cycles"] = cycles
    rows[-1] |= {"times": None, "cpu": True}
    title = f"sum_of_squares, {variant}: {n:,} int32, timed in three ways"
    draw = bars("label", "ns", "time", timed=True)
    return Experiment("timing", title, here, TABLE, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


def _by_host(x: DeviceArray, variant: str, repeat: int) -> list[float]:
    """Medians of a call: by the host's clock without and with waiting, and by events."""
    samples = []
    for _ in range(repeat + 1):  # the first run allocates memory and loads modules
        before, after = Event(), Event()
        synchronize()
        start = time.perf_counter_ns()
        before.record()
        result = sum_of_squares(x, variant=variant)
        after.record()
        launch_ns = time.perf_counter_ns() - start
        synchronize()
        samples.append((launch_ns, time.perf_counter_ns() - start, before.elapsed_time(after) * 1e6))
        del result
    return list(map(float, np.median(samples[1:], axis=0)))
