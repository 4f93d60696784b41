"""Calls timed in rounds, each once in a round in a random order, and the limits of a chip, measured in the same way."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import cudakern

from .. import _display
from .._backend import Backend, backend
from ..arrays.dtypes import numpy_dtype
from ..calls import table
from ..chips import chip
from .peers import Calls, errors_of, library_calls

WARMUP = 3
SLOW_NS = 2e8  #: what takes longer is measured once
FLUSH = 1 << 30  #: bytes written before each call, so that the L2 cache holds none of its input
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
ROUNDS = "In each round, every variant and every other library is called once, in a random order, with the same"
SAMPLES = f"{WARMUP} rounds of warm-up come first; a call of more than 0.2 s is measured once."
TIMING = (
    f"{ROUNDS} arrays on the device, into a new array from a warm allocator. 1 GiB is written before each call, so "
    "that the L2 cache holds none of the input, and the call is queued meanwhile. The time is between two CUDA events "
    f"around the call. {SAMPLES}"
)
HOST_TIMING = (
    f"{ROUNDS} NumPy arrays. The time is that of the host's clock from the call to the result in a new NumPy array: "
    "copies to the device, the call, and the copy of the result. The previous result has been freed, so that its "
    f"memory may be used again. {SAMPLES}"
)
#: n of the product of n x n matrices that measures the rate of a type's arithmetic; float32's is computed.
PRODUCTS = {"float16": 8192, "bfloat16": 8192, "float64": 4096}
Clock: TypeAlias = Callable[[Callable[[], Any]], float]  #: nanoseconds of a call


def device_clock() -> Clock:
    """What measures a call as TIMING says. All work is in CUDA's default stream, also that of other libraries."""
    written = cudakern.empty(0 if backend().emulated else FLUSH, "uint8")

    def measure(call: Callable[[], Any]) -> float:
        written.fill(0)
        begin, end = cudakern.Event(), cudakern.Event()
        begin.record()
        result = call()
        end.record()
        end.synchronize()
        del result
        return begin.elapsed_time(end) * 1e6

    return measure


def host_clock(call: Callable[[], Any]) -> float:
    """A call as HOST_TIMING says."""
    start = time.perf_counter_ns()
    result = call()
    elapsed = time.perf_counter_ns() - start
    del result
    return float(elapsed)


def timed(calls: Calls, rounds: int, clock: Clock | None = None) -> dict[str, list[float]]:
    """Nanoseconds of each call, by default on the device."""
    clock = clock or device_clock()
    samples: dict[str, list[float]] = {who: [] for who in calls}
    for _ in range(WARMUP + rounds):
        for who in random.sample(list(calls), len(calls)):
            if not samples[who] or samples[who][-1] <= SLOW_NS:
                samples[who].append(clock(calls[who]))
    return {who: times[WARMUP:] or times[-1:] for who, times in samples.items()}


def quantiles(samples: Sequence[float]) -> dict[str, float]:
    """By QUANTILES."""
    return dict(zip(map(str, QUANTILES), np.quantile(samples, QUANTILES).tolist(), strict=True))


class Limits(NamedTuple):
    """Bytes and FLOPs per nanosecond that the chip reaches, and how that is known. 0 FLOPs: it is not known."""

    memory: float
    memory_by: str
    arithmetic: float = 0.0
    arithmetic_by: str = ""
    path: str = "memory"  #: what ``memory`` is the rate of; "link": of copies between host and device

    def __str__(self) -> str:
        rate = f"; arithmetic {_display.figure(self.arithmetic / 1e3)} TFLOP/s, {self.arithmetic_by}"
        memory = f"{self.path} {_display.figure(self.memory)} GB/s, {self.memory_by}"
        return memory + (rate if self.arithmetic else "")

    def ns(self, flops: float, bytes: float) -> float:
        """The shortest time for that work."""
        return max(bytes / self.memory, flops / self.arithmetic if self.arithmetic else 0.0)


def limits_of(op: str, dtype: str, here: Backend, peers: bool, host: bool) -> Limits:
    """The limits for an operation and type; ``host``: from NumPy arrays. ``peers``: other libraries' products count."""
    if host:
        by = "measured by a copy of page-locked memory to the device"
        limits = Limits(_link_rate(here.name, here.device), by, path="link")
    else:
        limits = Limits(_bandwidth(here.name, here.device), "measured by a copy of 1 GiB")
    if op == "matmul" and dtype in PRODUCTS:
        rate, by = _product_rate(here.name, here.device, dtype, peers)
        return limits._replace(arithmetic=rate, arithmetic_by=by)
    computed = chip.limit(here.properties, dtype, 1.0, 0.0)
    by = f"computed from the clock and the number of {dtype} units"
    return limits._replace(arithmetic=1 / computed.ns, arithmetic_by=by) if computed and computed.ns else limits


@functools.cache
def _bandwidth(name: str, device: int) -> float:
    """Bytes per nanosecond that a copy by our own kernel reads and writes."""
    return float(2 * FLUSH / np.median(timed({"copy": cudakern.zeros(FLUSH // 4, "float32").copy}, 5)["copy"]))


@functools.cache
def _link_rate(name: str, device: int) -> float:
    """Bytes per nanosecond of a copy of page-locked memory to the device."""
    pinned = cudakern.empty_pinned(FLUSH // 4, "uint8")
    pinned[...] = 1
    there = cudakern.asarray(pinned)
    return float(pinned.nbytes / np.median(timed({"copy": lambda: there.set(pinned)}, 5, host_clock)["copy"]))


@functools.cache
def _product_rate(name: str, device: int, dtype: str, peers: bool) -> tuple[float, str]:
    """FLOPs per nanosecond of the fastest product of large matrices, and whose it is."""
    n, here = PRODUCTS[dtype], backend()
    a = cudakern.asarray(normal(np.random.default_rng(), (n, n), numpy_dtype(dtype)))
    entries = [entry for entry in table.variants("matmul") if dtype in entry.types and not entry.why_not(here)]
    calls = library_calls("matmul", [a, a])[0] if peers else Calls()
    for entry in entries[-4:]:  # the fastest are among the last
        calls[f"cudakern: {entry.name}"] = functools.partial(cudakern.matmul, a, a, variant=entry.name)
    able = errors_of(calls, lambda result: 0.0)[0]
    times = timed({who: calls[who] for who in able}, 5)
    fastest = min(times, key=lambda who: np.median(times[who]))
    return 2.0 * n**3 / np.median(times[fastest]), f"measured by {fastest}, n = {n:,}"


def normal(generator: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]) -> Any:
    """Normal random numbers of that type."""
    return generator.standard_normal(shape, np.float64 if kind.itemsize > 4 else np.float32).astype(kind, copy=False)
