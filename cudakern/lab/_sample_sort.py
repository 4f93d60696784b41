"""sample_sort_stages: the time of each stage of sample sort, and the total compared with NumPy's sort."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import _display
from .._array import DeviceArray
from .._backend import backend
from .._creation import asarray
from .._errors import unknown
from .._observer import observed
from .._operations.sort import sort
from .._profile import Times
from .._streams import synchronize
from ._experiment import Column, Experiment, bars, documents, measure, number, percent, plural, size

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

DOCUMENTS = (
    "M: 1 M keys and 16 K samples on a GTX 460, nearly sorted: select 0.03 ms, sort the samples 126 ms, count 17 ms, "
    "prefix sum 0.6 ms, scatter 17 ms, sort the bins 64 ms, all 225 ms (101 ms with the samples sorted on the CPU), "
    "qsort 185 ms; random keys on a GTX 470: 67 ms, a fifth of qsort's time"
)
ON_AN_H200 = (
    "1,048,576 random keys take 120 us, 2.66% of the time of `numpy.sort`; nearly sorted keys take 119 us, 2.18% of "
    "it. Sorting the samples is still the longest stage: it takes 52% of the stages' time in both cases. It is no "
    "longer faster to sort the samples of nearly sorted keys on the CPU: copying them to the host, sorting them and "
    "copying them back takes 1.94 times as long."
)
TABLE = (
    Column("stage", "stage"),
    Column("what it does", "does"),
    Column("launches", "launches"),
    Column("time", "ns", _display.duration, timed=True),
    Column("share", "share", percent, timed=True),
)


@documents
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

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.sample_sort_stages(20_000, repeat=1)["stage"][:3]
    ['select_samples', 'sort_samples', 'count_bins']
    """
    if data not in DATA:
        raise ValueError(f"sample_sort_stages: {unknown('data', data, DATA)}")
    repeat = 5 if repeat is None else number("sample_sort_stages", "repeat", repeat)
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
        ns = float(np.median([sample[stage][1] for sample in samples]))
        rows.append({"stage": stage, "does": STAGES[stage], "launches": launches, "ns": ns})
    total, launches = sum(row["ns"] for row in rows), sum(row["launches"] for row in rows)
    for row in rows:
        row["share"] = row["ns"] / max(total, 1)
    ns = measure(sort, (x,), keywords, repeat, warmup=0)[0].kernel_ns
    rows.append({"stage": "all", "does": "a whole call, no events in between", "launches": launches, "ns": ns})
    if SAMPLES in samples[0]:  # one bin needs no samples
        does = f"instead of {SAMPLES}: copy {len(keys[::KEYS_PER_SAMPLE]):,} to the host, numpy.sort, copy back"
        ns = float(np.median([_samples_on_cpu(x) for _ in range(repeat)]))
        rows.append({"stage": "samples on the CPU", "does": does, "ns": ns})
    ns = measure(sort, (keys,), {"variant": "numpy"}, repeat, warmup=1)[0].kernel_ns
    rows.append({"stage": "numpy.sort", "does": "all keys on the CPU, without copies", "ns": ns, "cpu": True})
    rows = [{"launches": None, "share": None, **row} for row in rows]
    title = f"Sample sort of {plural(n, f'{data} key')}, stage by stage"
    draw = bars("stage", "ns", "time", timed=True)
    return Experiment("sample_sort_stages", title, backend(), TABLE, tuple(rows), DOCUMENTS, ON_AN_H200, draw=draw)


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
