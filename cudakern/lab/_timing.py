"""timing: one kernel by the chip's clocks, by events in the stream, and by the host's clock."""

from __future__ import annotations

import time

import numpy as np

from .. import _display
from .._backend import backend
from .._creation import asarray
from .._operations.sum_of_squares import sum_of_squares
from .._profile import check_counts
from .._streams import Event, synchronize
from .._table import find, variants
from .._transfer import Array
from ._experiment import Bars, Column, Experiment, documents, grouped
from ._measuring import measure
from ._sizes import size

DOCUMENTS = (
    "P5: a kernel of 0.09 ms inside 0.37 s on the host's clock; T3 and L: cycles of the chip, read by the kernel "
    "itself (640 million for one thread; 150 thousand for 32 blocks, from the first one's start to the last one's end)"
)
ON_AN_H200 = (
    "With 1,048,576 int32, the blocks of multi_block run for 6.02 us from the first one's start to the last one's "
    "end: 11,912 cycles at the chip's clock rate, where the documents have 150 thousand. Events give 8.96 us for "
    "the kernel. The caller of the whole waits 539 us, 89.7 times as long as the blocks run; the kernel is 1.7% of "
    "that. A call that does not wait returns after 21.7 us, which times nothing but the launch."
)
TABLE = (
    Column("clock", "clock"),
    Column("what it is around", "around"),
    Column("time", "ns", _display.duration, timed=True),
    Column("cycles", "cycles", grouped, timed=True),
    Column("times the\nblocks' own", "times", timed=True),
)


@documents
def timing(n: int | None = None, *, variant: str = "multi_block", repeat: int | None = None) -> Experiment:
    """One kernel, timed in three ways: the chip's clocks, events in the stream, the host's clock.

    Parameters
    ----------
    n : int, optional
        Numbers to square and add. Without it: the documents' million, fewer on an emulator.
    variant : str
        A variant of ``sum_of_squares`` that reads the clock.
    repeat : int, optional
        How often to measure; the figures are medians. Without it: 5.

    Returns
    -------
    Experiment
        A row a way of timing: the clock, what it is around, nanoseconds, and cycles where cycles were counted.

    <raises>

    Notes
    -----
    P5 (events against the host's clock), T3 and L (``clock()`` in the kernel). ``clock64`` counts a multiprocessor's
    cycles, so one block's count is exact, and a difference between two blocks' counts means nothing: over blocks the
    common nanosecond timer is taken. A launch returns before the kernel is done, so the host's clock must wait.

    Examples
    --------
    >>> from cudakern import lab
    >>> [row["clock"] for row in lab.timing(1000, repeat=1).rows]
    ['chip', 'chip', 'events', 'events', 'events', 'host', 'host', 'host', 'host']
    """
    here = backend()
    n = size("timing", n, chip=1 << 20, emulator=1 << 16)
    check_counts(repeat, None)
    repeat = repeat or 5
    if not find("sum_of_squares", variant).reads_clock:
        names = ", ".join(entry.name for entry in variants("sum_of_squares") if entry.reads_clock)
        raise ValueError(f"timing: variant {variant!r} does not read the chip's clock; {names} do")
    x = np.random.default_rng(0).integers(0, 10, n, dtype=np.int32)
    whole, _ = measure(sum_of_squares, (x,), {"variant": variant}, repeat, 1)
    numpy, _ = measure(sum_of_squares, (x,), {"variant": "numpy"}, repeat, 1)
    launched, waited, between = _by_host(x, variant, repeat)
    copied = whole.to_device_ns + whole.kernel_ns + whole.to_host_ns
    cycles = _display.median(whole.cycles)
    blocks_ns = float(whole.blocks_ns or 0)
    block_ns = cycles / max(here.properties["clock_khz"], 1) * 1e6
    ways: list[tuple[str, str, str, float]] = [
        ("block", "chip", "one block, clock64 (the median of blocks)", block_ns),
        ("blocks", "chip", "all blocks, first start to last end, %globaltimer", blocks_ns),
        ("kernel", "events", "the kernel, as profile() times it", whole.kernel_ns),
        ("events", "events", "the call with arrays on the device", between),
        ("copies", "events", "copy in, kernel, copy out", copied),
        ("launch", "host", "the call with arrays on the device, not waiting", launched),
        ("wait", "host", "the same, and waiting for the device", waited),
        ("whole", "host", "the call with NumPy arrays: memory, copies, kernel", whole.whole_ns),
        ("numpy", "host", "NumPy's sum, without a device", numpy.kernel_ns),
    ]
    rows = tuple(
        {
            "key": key,
            "clock": clock,
            "around": around,
            "label": f"{clock}: {around}",
            "ns": ns,
            "us": ns / 1e3,
            "cycles": cycles if key == "block" else None,
            "times": None if key == "numpy" else ns / max(blocks_ns, 1),
            "cpu": key == "numpy",
        }
        for key, clock, around, ns in ways
    )
    title = f"sum_of_squares, {variant}: {n:,} int32, timed in three ways"
    draw = Bars("label", "us", "us", timed=True)
    return Experiment("timing", title, here, TABLE, rows, DOCUMENTS, ON_AN_H200, draw=draw)


def _by_host(x: Array, variant: str, repeat: int) -> list[float]:
    """Medians of the host's clock without and with waiting, and of events, for an array that lies on the device."""
    on_device = asarray(x)
    samples = []
    for _ in range(repeat + 1):  # the first makes memory and modules ready
        before, after = Event(), Event()
        synchronize()
        start = time.perf_counter_ns()
        before.record()
        result = sum_of_squares(on_device, variant=variant)
        after.record()
        launched = time.perf_counter_ns() - start
        synchronize()
        samples.append((launched, time.perf_counter_ns() - start, before.elapsed_time(after) * 1e6))
        del result
    return [_display.median(values) for values in zip(*samples[1:], strict=True)]
