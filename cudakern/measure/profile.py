"""profile: measures one call, which runs as an ordinary call does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _display
from .._backend import Backend, emulator
from ..arrays.dtypes import name_in_numpy
from ..calls.checks import integer
from ..calls.observer import Observed, Observer, Result, observed
from ..calls.table import Variant
from ..chips import chip
from ..operations.variants import NameOrFunction

#: Without repeat=, a call is measured REPEATS times; on a GPU until the median of the kernel's time is known within
#: PRECISION, but at most MOST times. No new measurement begins after BUDGET_S.
BUDGET_S, REPEATS, MOST, PRECISION = 0.5, 20, 1000, 0.005
WARM = 0.2  #: a GPU that had nothing to do has slow clocks: without warmup=, it is kept busy for this part of the time


#: Figures of a report that are 0 for NumPy's variant.
NOT_OF_NUMPY = ("to_device_ns", "to_host_ns", "finish_ns", "flops", "bytes", "shared_bytes", "launched")


class Times(Observer):
    """Measures every call and keeps its report, with ``by_launch`` also the time of each launch."""

    def __init__(self, by_launch: bool = False) -> None:
        self.reports: list[dict[str, Any]] = []
        self._measure = 2 if by_launch else 1

    def kernel(self, run: Observed) -> None:
        call = {"variant": run.variant, "values": run.values, "shapes": run.shapes, "dtype": run.dtype}
        here = Backend(run.native.backend_name(), run.device, "", run.native)
        self.reports.append((run.execute(self._measure) or {}) | call | {"backend": here})

    def numpy(
        self, variant: Variant, inputs: tuple[Any, ...], compute: Callable[[], Result], counted: Callable[..., Any]
    ) -> Result:
        start = time.perf_counter_ns()
        result = compute()
        elapsed = time.perf_counter_ns() - start
        call = {"variant": variant, "values": (), "shapes": tuple(map(np.shape, inputs)), "backend": None}
        call |= {"dtype": name_in_numpy(np.asarray(inputs[0]).dtype), "as_counted": counted, "kernel_ns": elapsed}
        self.reports.append(call | {"clocks": (), "grid": (), "block": ()} | dict.fromkeys(NOT_OF_NUMPY, 0))
        return result


class _TimesOfOne(Times):
    """Keeps the last call, too, whose kernels can be listed. (It keeps the call's arrays alive.)"""

    last: Observed | None = None

    def kernel(self, run: Observed) -> None:
        self.last = run
        super().kernel(run)


@dataclass(frozen=True, repr=False)
class Profile(_display.Shown):
    """Medians over the repeats of one call. Times are in nanoseconds."""

    variant: Variant
    parameters: dict[str, int | str]
    backend: str
    device: str
    clock: str  #: of the times: "gpu", "host" (NumPy's variant), "emulated" (on the CPU: no measure of a GPU's speed)
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    repeat: int
    kernel_ns: float
    to_device_ns: float
    to_host_ns: float
    finish_ns: float  #: the host's part: adding the final partial sums; 0 if the kernel adds them
    whole_ns: float  #: from the call to the result; measuring adds a few microseconds
    flops: float
    bytes: float  #: the fewest that must be moved: operands once, result once
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    launches: int  #: number of kernel launches
    kernels: tuple[str, ...]  #: their names, also of those that end at once because the device takes another path
    cycles: tuple[int, ...]  #: per block, for variants that read the clock; else empty
    blocks_ns: float | None  #: last block's end minus first block's start; for the same variants
    limit: str | None  #: the chip's limit for this work; None if emulated or not known
    share: float | None  #: the share of that limit that the kernel reaches; 1.0 is all of it

    @property
    def operation(self) -> str:
        """The operation's name."""
        return self.variant.operation

    @property
    def emulated(self) -> bool:
        """True if the times are the emulator's."""
        return self.clock == "emulated"

    @property
    def gb_per_s(self) -> float:
        """``bytes`` / kernel time."""
        return self.bytes / max(self.kernel_ns, 1)

    @property
    def gflop_per_s(self) -> float:
        """``flops`` / kernel time."""
        return self.flops / max(self.kernel_ns, 1)

    def to_dict(self) -> dict[str, Any]:
        names = ("operation", *self.__dataclass_fields__, "emulated", "gb_per_s", "gflop_per_s")
        return {name: getattr(self, name) for name in names} | {"variant": self.variant.name}

    def facts(self) -> list[tuple[str, str]]:
        """The rows of the table."""
        mark = " (emulated)" if self.emulated else ""
        duration, figure = _display.duration, _display.figure
        rows = [(f"kernel{mark}", duration(self.kernel_ns))]
        if self.clock != "host":
            rows.append((f"copy to the device{mark}", duration(self.to_device_ns)))
            rows.append((f"copy to the host{mark}", duration(self.to_host_ns)))
        if self.variant.finish == "host" and self.finish_ns:
            rows.append(("final sums, on the host", duration(self.finish_ns)))
        rows.append((f"whole call{mark}", duration(self.whole_ns)))
        flops = self.flops > 0  # not known of a kernel of one's own
        rows.append(("work", _display.size(self.bytes) + (f", {self.flops:,.0f} FLOPs" if flops else "")))
        if not self.emulated:
            rate = f", {figure(self.gflop_per_s)} GFLOP/s" if flops else ""
            rows.append(("rate", f"{figure(self.gb_per_s)} GB/s{rate}"))
        if self.cycles:
            spread = f"{min(self.cycles):,} to {max(self.cycles):,} (median {np.median(self.cycles):,.0f}"
            rows.append((f"cycles per block{mark}", f"{spread}, {len(self.cycles):,} blocks)"))
            rows.append((f"all blocks{mark}", duration(self.blocks_ns)))
        if self.share is not None:
            rows.append(("share of the limit", f"{self.share:.1%} of {self.limit}"))
        if self.grid:
            grid, block = map(_display.dimensions, (self.grid, self.block))
            memory = f", {self.shared_bytes:,} B of dynamic shared memory" if self.shared_bytes else ""
            several = f"{self.launches} launches; the main one: " if self.launches > 1 else ""
            rows.append(("launch", f"{several}{grid} block{'s' * (grid != '1')} of {block} threads{memory}"))
        if self.kernels not in ((), (self.variant.name,)):
            rows.append(("kernels", ", ".join(self.kernels)))
        return rows

    def table(self) -> _display.Table:
        parameters = "".join(f", {k}={v}" for k, v in self.parameters.items())
        shapes = " and ".join(map(str, self.shapes))
        note = f"Median of {self.repeat}." if self.repeat > 1 else "Measured once."
        if self.emulated:
            note += " Emulated on the CPU: these times say nothing about a GPU's speed."
        title = f"{self.operation}, {self.variant.name}{parameters}: {shapes} {self.dtype}, {self.device}"
        return _display.facts(self.facts(), title, note)


def profile(fn: NameOrFunction, *args: Any, repeat: int | None = None, warmup: int | None = None, **kw: Any) -> Profile:
    """The times of a call (kernel, copies, whole), its bytes, FLOPs and rates; cycles if the variant reads the clock.

    TypeError if ``fn`` is not one of cudakern's operations; errors of ``fn``.

    Parameters
    ----------
    fn, *args, **kw
        One of cudakern's operations, ``cudakern.matmul`` (not called) or "matmul", or a launch of a kernel of your own,
        ``program.add_one[grid, block]``; and its arguments. Of a kernel of your own, ``bytes`` are those of all arrays.
    repeat : int, optional
        The number of measurements. Default: up to 20, within half a second; on a GPU up to 1,000, until the 95 %
        confidence interval of the kernel's median is within 0.5 % of it.
    warmup : int, optional
        The number of warm-up calls. Default: one, which is the measurement if it takes longer than half a second; on a
        GPU calls for a tenth of a second, after which its clocks are fast.

    Examples
    --------
    >>> import cudakern
    >>> p = cudakern.profile(cudakern.sum_of_squares, range(1000), variant="coalesced")
    >>> p.clock in ("gpu", "emulated"), len(p.cycles)
    (True, 1)
    """
    if isinstance(fn, str):
        from ..operations.registry import operation  # which needs this package's operations

        fn = operation(fn).call
    return measure(fn, args, kw, repeat, warmup)[0]


def check_counts(repeat: int | None, warmup: int | None) -> None:
    """ValueError or TypeError for invalid numbers of runs; None is valid."""
    integer("repeat", 1 if repeat is None else repeat, 1)
    integer("warmup", 0 if warmup is None else warmup, 0)


def measure(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kw: dict[str, Any],
    repeat: int | None,
    warmup: int | None,
    budget_s: float = BUDGET_S,
) -> tuple[Profile, Any]:
    """profile(), with the result of the last call and with another time budget."""
    check_counts(repeat, warmup)
    if not callable(fn):
        hint = "write profile(cudakern.matmul, a, b), not profile(cudakern.matmul(a, b))"
        raise TypeError(f"profile takes a function and its arguments, not a result of type {type(fn).__name__}: {hint}")
    name = getattr(fn, "__name__", type(fn).__name__)
    if not getattr(fn, "__module__", "").startswith("cudakern."):
        raise TypeError(f"profile measures cudakern's operations, not {name}")
    with observed(Observer()):  # whatever observes other calls, these run as fast as they can
        return _measured(fn, args, kw, repeat, warmup, budget_s)


def _measured(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kw: dict[str, Any],
    repeat: int | None,
    warmup: int | None,
    budget_s: float,
) -> tuple[Profile, Any]:
    for _ in range(warmup or 0):
        fn(*args, **kw)
    samples: list[dict[str, Any]] = []
    begin = time.perf_counter()
    while True:
        with observed(_TimesOfOne()) as times:
            start = time.perf_counter_ns()
            result = fn(*args, **kw)
            whole_ns = time.perf_counter_ns() - start
        if not times.reports:
            name = getattr(fn, "__name__", type(fn).__name__)
            raise TypeError(f"profile measures cudakern's operations, but {name} called none")
        elapsed = time.perf_counter() - begin
        on_gpu = _clock(times.reports[-1]) == "gpu"
        if warmup is None and not samples and elapsed < budget_s:
            if not on_gpu or elapsed >= WARM * budget_s:
                warmup, begin = 0, time.perf_counter()  # that call ended the warm-up
            continue
        samples.append(times.reports[-1] | {"whole_ns": whole_ns})
        done = len(samples) >= (MOST if repeat is None else repeat)
        if repeat is None and not done:
            known = len(samples) % REPEATS == 0 and (not on_gpu or settled([x["kernel_ns"] for x in samples]))
            done = elapsed >= budget_s or known
        if done:
            return _summary(samples, times.last), result


def settled(times: list[float]) -> bool:
    """True if the 95 % confidence interval of the median, which has these ranks whatever the distribution, is within
    PRECISION of it."""
    ordered, half = sorted(times), 0.98 * math.sqrt(len(times))
    low, high = (round((len(ordered) - 1) / 2 + by) for by in (-half, half))
    return low >= 0 and ordered[high] - ordered[low] <= 2 * PRECISION * float(np.median(ordered))


def _clock(sample: dict[str, Any]) -> str:
    """What measured a call, as in Profile.clock."""
    backend = sample["backend"]
    return "host" if backend is None else "emulated" if backend.emulated else "gpu"


def _summary(samples: list[dict[str, Any]], run: Observed | None) -> Profile:
    last = samples[-1]
    variant, backend, dtype = last["variant"], last["backend"], last["dtype"]
    if backend is None and dtype in variant.types:  # the same work as the kernels', if the table has the type
        last["flops"], last["bytes"] = emulator().work(variant.operation, last["as_counted"](*last["shapes"]), dtype)
    clock = _clock(last)
    limit = chip.limit(backend.properties, dtype, last["flops"], last["bytes"]) if clock == "gpu" else None
    spans = [max(c[3] for c in s["clocks"]) - min(c[2] for c in s["clocks"]) for s in samples if s["clocks"]]
    pairs = zip(variant.parameters, last["values"], strict=True)
    copied = ("variant", "shapes", "dtype", "flops", "bytes", "grid", "block", "shared_bytes")
    figures = {name: last[name] for name in copied}
    for name in ("kernel_ns", "to_device_ns", "to_host_ns", "finish_ns", "whole_ns"):
        figures[name] = float(np.median([sample[name] for sample in samples]))
    return Profile(
        **figures,
        parameters={parameter.name: parameter.word(value) for parameter, value in pairs},
        backend=backend.name if backend else "host",
        device=backend.device_name if backend else "NumPy on the CPU",
        clock=clock,
        repeat=len(samples),
        launches=last["launched"],
        kernels=tuple(dict.fromkeys(launch["name"] for launch in run.launches(()))) if run else (),
        cycles=tuple(c[1] - c[0] for c in last["clocks"]),
        blocks_ns=float(np.median(spans)) if spans else None,
        limit=limit.what if limit else None,
        share=limit.ns / max(figures["kernel_ns"], 1) if limit and limit.ns else None,
    )
