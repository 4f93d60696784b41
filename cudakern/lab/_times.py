"""What time is measured: timing with three clocks, sample_sort_stages stage by stage."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import DeviceArray, Event, asarray, backend, sort, sum_of_squares, synchronize
from .._errors import unknown
from ..calls.checks import integer
from ..calls.observer import observed
from ..calls.table import find, variants
from ..measure.profile import Times
from ._experiment import Experiment, bars, experiment, measure, plural, report, size


@experiment
def timing(n: int | None = None, *, variant: str = "multi_block", repeat: int | None = None) -> Experiment:
    """One kernel timed in three ways: by the chip's clocks, by events in the stream, and by the host's clock.

    ``clock64`` counts the cycles of one multiprocessor. A difference within one block is exact, but counts of different
    blocks cannot be compared, so intervals over several blocks use the nanosecond timer that all multiprocessors share.
    A launch returns before the kernel has finished, so with the host's clock you must wait for the device.

    Parameters
    ----------
    n : int, optional
        Numbers to square and add. Default: 2**20 on a GPU, 2**16 on the emulator.
    variant : str
        A variant of ``sum_of_squares`` that reads the chip's clock.
    <median>

    <returns>
        One row per interval: the clock, the interval, nanoseconds, and cycles if the kernel counted them.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.timing(1000, repeat=1)["clock"]
    ['chip', 'chip', 'events', 'events', 'events', 'host', 'host', 'host', 'host']
    """
    n = size("timing", n, chip=1 << 20, emulator=1 << 16)
    repeat = 5 if repeat is None else integer("timing: repeat", repeat, 1)
    if not find("sum_of_squares", variant).reads_clock:
        names = ", ".join(entry.name for entry in variants("sum_of_squares") if entry.reads_clock)
        raise ValueError(f"timing: variant {variant!r} does not read the chip's clock; these do: {names}")
    x = np.random.default_rng(0).integers(0, 10, n, dtype=np.int32)
    whole, _ = measure(sum_of_squares, (x,), {"variant": variant}, repeat, warmup=1)
    numpy, _ = measure(sum_of_squares, (x,), {"variant": "numpy"}, repeat, warmup=1)
    launch_ns, wait_ns, events_ns = _by_host(asarray(x), variant, repeat)
    copies_ns = whole.to_device_ns + whole.kernel_ns + whole.to_host_ns
    cycles, blocks_ns = np.median(whole.cycles), float(whole.blocks_ns or 0)
    block_ns = cycles / max(backend().properties["clock_khz"], 1) * 1e6
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
    rows: list[dict[str, Any]] = []
    for key, clock, around, ns in intervals:
        row = {"key": key, "clock": clock, "around": around, "label": f"{clock}: {around}", "cpu": False}
        rows.append(row | {"ns": ns, "times": ns / max(blocks_ns, 1)})
    rows[0]["cycles"] = cycles
    rows[-1] |= {"times": None, "cpu": True}
    title = f"sum_of_squares, {variant}: {n:,} int32, timed in three ways"
    return report("timing", title, rows, bars, label="label", value="ns")


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
    return [np.median(values) for values in zip(*samples[1:], strict=True)]


DATA = ("random", "nearly sorted")
KEYS_PER_SAMPLE = 64  #: 16 K samples of a million keys

SAMPLES = "sort_samples"
#: The kernels in the order of the stages, and what each does.
STAGES = {
    "select_samples": "select the samples",
    SAMPLES: "sort the samples, choose the splitters",
    "count_bins": "count the keys of each bin",
    "scan_bins": "compute where each bin begins",
    "scatter": "move each key to its bin",
    "sort_bins": "sort each bin",
}


@experiment
def sample_sort_stages(
    n: int | None = None, *, data: str = "random", bins: int = 0, repeat: int | None = None
) -> Experiment:
    """Sample sort stage by stage, compared with NumPy's sort on the CPU.

    Parameters
    ----------
    n : int, optional
        Keys (uint32). Default: 2**20 on a GPU, 2**17 on the emulator.
    data : str
        "random", or "nearly sorted": sorted except for one key in fifty.
    bins : int
        Bins per level, as for ``sort(variant="sample_sort", bins=...)``; 0: chosen from the length.
    <median>

    <returns>
        One row per stage with its launches, time and share of all stages; then rows for a whole call without events
        between the stages, for sorting the samples on the CPU instead (copy to the host, ``numpy.sort``, copy back;
        only if there are samples, since a single bin needs none), and for ``numpy.sort`` of all keys. If the samples
        are themselves sorted by sample sort, that counts as ``sort_samples``.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.sample_sort_stages(20_000, repeat=1)["stage"][:3]
    ['select_samples', 'sort_samples', 'count_bins']
    """
    if data not in DATA:
        raise ValueError(f"sample_sort_stages: {unknown('data', data, DATA)}")
    repeat = 5 if repeat is None else integer("sample_sort_stages: repeat", repeat, 1)
    n = size("sample_sort_stages", n, chip=1 << 20, emulator=1 << 17)
    random = np.random.default_rng(6)
    keys = random.integers(0, 1 << 32, n, dtype=np.uint32)
    if data == "nearly sorted":
        keys.sort()
        keys[random.integers(0, n, n // 50)] = random.integers(0, 1 << 32, n // 50, dtype=np.uint32)
    x = asarray(keys)
    keywords: dict[str, Any] = {"variant": "sample_sort", "bins": bins}
    sort(x, **keywords)
    samples = [_stages(x, keywords) for _ in range(repeat)]
    rows: list[dict[str, Any]] = []
    for stage, (launches, _) in samples[0].items():
        ns = np.median([sample[stage][1] for sample in samples])
        rows.append({"stage": stage, "does": STAGES[stage], "launches": launches, "ns": ns})
    total, launches = sum(row["ns"] for row in rows), sum(row["launches"] for row in rows)
    for row in rows:
        row["share"] = row["ns"] / max(total, 1)
    ns = measure(sort, (x,), keywords, repeat, warmup=0)[0].kernel_ns
    rows.append({"stage": "all", "does": "a whole call, no events in between", "launches": launches, "ns": ns})
    if SAMPLES in samples[0]:  # one bin needs no samples
        does = f"instead of {SAMPLES}: copy {len(keys[::KEYS_PER_SAMPLE]):,} to the host, numpy.sort, copy back"
        ns = np.median([_samples_on_cpu(x) for _ in range(repeat)])
        rows.append({"stage": "samples on the CPU", "does": does, "ns": ns})
    ns = measure(sort, (keys,), {"variant": "numpy"}, repeat, warmup=1)[0].kernel_ns
    rows.append({"stage": "numpy.sort", "does": "all keys on the CPU, without copies", "ns": ns, "cpu": True})
    title = f"Sample sort of {plural(n, f'{data} key')}, stage by stage"
    return report("sample_sort_stages", title, rows, bars, label="stage", value="ns")


def _samples_on_cpu(x: DeviceArray) -> int:
    """Nanoseconds by the host's clock, including both copies."""
    samples = x[::KEYS_PER_SAMPLE].copy()
    synchronize()
    start = time.perf_counter_ns()
    asarray(np.sort(samples.get()))
    synchronize()
    return time.perf_counter_ns() - start


def _stages(x: DeviceArray, keywords: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """(launches, nanoseconds) of each stage of one call, in the order of their first launches.

    Many samples are sorted by sample sort itself; its launches come between the two kernels of the samples.
    """
    with observed(Times(by_launch=True)) as times:
        sort(x, **keywords)
    stages: dict[str, tuple[int, int]] = {}
    pending = 0  # levels whose samples are being sorted
    for kernel, ns in times.reports[-1]["launches"]:
        stage = SAMPLES if pending else kernel
        pending += (kernel == "select_samples") - (kernel == SAMPLES)
        launches, total = stages.get(stage, (0, 0))
        stages[stage] = (launches + 1, total + ns)
    return stages
