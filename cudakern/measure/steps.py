"""What a ladder returns: its steps, their table and their plot."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import _display
from .._backend import Backend
from .._errors import CudaError, unknown
from ..calls import table
from ..operations.registry import operation
from . import requests
from .compare import Comparison, compare
from .profile import Profile
from .recorded import CountedLadder, Recorded, RecordedLadder, sizes
from .resources import KernelResources

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The most rows of a brief table.
BRIEF_ROWS = 10
#: Columns that a narrow table leaves out first.
_SPARE = ("memory", "launches", "threads", "blocks", "GB/s", "GFLOP/s", "per atomic", "per store", "moved", "conflicts")


@dataclass(frozen=True, repr=False)
class Step(_display.Shown):
    """A step of a ladder: a variant with its profile and errors, or a note on why it did not run."""

    variant: table.Variant
    profile: Profile | None = None
    error: Comparison | None = None  #: against NumPy, relative to the result, or to its terms where they cancel
    speedup: float | None = None  #: kernel time of the first kernel / this one's; None for NumPy and emulated times
    note: str = ""
    kernels: tuple[KernelResources, ...] = ()  #: on the emulator: the call's, at the recorded size if there is one
    recorded: Recorded | None = None  #: on the emulator: figures measured on a GPU
    failed: bool = False  #: by an error of the runtime; False if the variant does not support this device or input
    metrics: Mapping[str, float] = field(default_factory=dict)  #: on the emulator: of ck.trace, or recorded ones

    @property
    def error_in_words(self) -> str:
        """The largest error, or that there is none."""
        return "-" if self.error is None else "exact" if self.error == (0, 0) else f"{self.error.max:.2g}"

    def table(self) -> _display.Table:
        """The step as a table of facts."""
        rows = [("what it shows", self.variant.summary)] if self.variant.summary else []
        if self.profile:
            rows += self.profile.facts()
        if self.error:
            rows.append(("error", "exact" if self.error == (0, 0) else str(self.error)))
        if self.speedup:
            rows.append(("speed-up over the first kernel", ratio(self.speedup)))
        if self.recorded:
            chip = "CPU" if self.variant.on_host else "GPU"
            rows.append((f"recorded on a {chip}", _display.duration(self.recorded.kernel_ns)))
        return _display.facts(rows, f"{self.variant.operation}, {self.variant.name}", self.note)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        variant = {"variant": self.variant.name, "after": self.variant.after, "summary": self.variant.summary}
        profile = self.profile.to_dict() if self.profile else None
        records = {"error": self.error and self.error._asdict(), "recorded": self.recorded and self.recorded._asdict()}
        plain = {name: getattr(self, name) for name in ("speedup", "note", "failed")} | {"metrics": dict(self.metrics)}
        return variant | {"profile": profile} | records | plain


@dataclass(frozen=True, repr=False)
class Ladder(_display.Shown, Sequence[Step]):
    """The steps, in order; displays as a table."""

    operation: str
    rate: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    backend: Backend
    steps: tuple[Step, ...]
    recorded: RecordedLadder | None = None  #: without a GPU: what was measured on one, shown instead of times
    parameters: dict[str, Any] = field(default_factory=dict)  #: as passed; variants without such a parameter ignore it
    counted: CountedLadder | None = None  #: on the emulator: for which input metrics were recorded

    @property
    def _without_times(self) -> str:
        return f"There is no GPU here, and {self.operation} has no recorded times for this type and these parameters"

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.steps[key]
        by_name = {step.variant.name: step for step in self.steps}
        if key not in by_name:
            raise KeyError(unknown("step", key, by_name, of=f"this ladder of {self.operation}"))
        return by_name[key]

    @property
    def failed(self) -> bool:
        """True if a step ended in an error of the runtime."""
        return any(step.failed for step in self)

    def rate_of(self, profile: Profile) -> float:
        """The profile's rate in the unit for this operation."""
        return profile.gb_per_s if self.rate == "GB/s" else profile.gflop_per_s

    @property
    def limit(self) -> tuple[str, float] | None:
        """The limit of the chip whose times are shown, and the rate that it allows; None if not known."""
        if self.recorded is not None:
            return self.recorded.limit
        shares = ((p.limit, self.rate_of(p) / p.share) for p in (s.profile for s in self) if p and p.limit and p.share)
        return next(shares, None)

    @property
    def title(self) -> str:
        """Operation, input and device; and of which input the times are, if they were recorded."""
        parameters = "".join(f", {name}={value}" for name, value in self.parameters.items())
        places = self.backend.device_name + (f"; times: {self.recorded.input}" if self.recorded and self._timed else "")
        return f"{self.operation}: {sizes(self.shapes)} {self.dtype}{parameters}; {places}"

    @property
    def _timed(self) -> bool:
        return any(step.recorded for step in self)

    @property
    def _others(self) -> list[table.Variant]:
        """Variants that do not take the type; the table leaves them out if others ran."""
        others = [step.variant for step in self if not step.profile and self.dtype not in step.variant.types]
        return others if any(step.profile for step in self) else []

    def _shown(self, step: Step) -> Recorded | None:
        """A step's time, rate and speed-up: without a GPU, those recorded on one."""
        if self.recorded is not None or step.profile is None:
            return step.recorded
        return Recorded(step.profile.kernel_ns, self.rate_of(step.profile), step.speedup)

    def table(self, emulated: bool = False, brief: bool = False) -> _display.Table:
        """On the emulator, with times recorded on a GPU; ``emulated`` adds the emulator's own. ``brief``: at most ten
        rows and one line of notes."""
        others = self._others
        every = [step for step in self if step.variant not in others]
        steps = self._climb(every) if brief else every
        cells = self._rows(steps, emulated)
        figures = list(cells[0]) if cells else []
        rows = [[one.variant.name, one.variant.summary, *row.values()] for one, row in zip(steps, cells, strict=True)]
        notes = " ".join(self._brief_notes(steps, len(every)) if brief else self._notes(figures))
        spare = [name for word in _SPARE for name in figures if name.endswith(word)]
        return _display.Table(self.title, ["variant", "what it shows", *figures], rows, notes, figures, spare)

    def _repr_html_(self) -> str:
        """With a line of notes; the others are folded."""
        every, steps = self.table(), [step for step in self if step.variant not in self._others]
        notes = " ".join(self._brief_notes(steps, len(steps)))
        more = f"<details><summary>What the columns mean</summary><p>{html.escape(every.note)}</p></details>"
        return replace(every, note=notes).html() + more

    def _climb(self, steps: list[Step]) -> list[Step]:
        """If these are too many: NumPy's, those that failed, and the main path from the first kernel to the fastest, of
        steps each faster than all before, without those that gain least. (Kernels that cut inputs are another path.)"""
        times = [shown.kernel_ns if (shown := self._shown(step)) else 0.0 for step in steps]
        if len(steps) <= BRIEF_ROWS or not any(times):
            return steps
        climb: list[int] = []
        for i, step in enumerate(steps):
            better = times[i] and not (climb and times[i] >= times[climb[-1]])
            if better and not step.variant.on_host and not step.variant.cuts_inputs:
                climb.append(i)
        more = [i for i, step in enumerate(steps) if step.failed or step.variant.on_host]
        while len(climb) > max(2, BRIEF_ROWS - len(more)):
            gains = [times[before] / times[i] for before, i in itertools.pairwise(climb)]
            del climb[1 + gains.index(min(gains))]
        return [steps[i] for i in sorted({*climb, *more})]

    def _brief_notes(self, steps: Sequence[Step], rows: int) -> Iterator[str]:
        yield from self._reasons(steps)
        if self.recorded is None:
            yield "call: with its copies."
        elif self._timed:
            chip = self.recorded.chip.removeprefix("NVIDIA ")
            changed = ", of older kernels" if self.recorded.changed else ""
            counted = f" Memory: counted for {sizes(self.counted.shapes)}." if self.counted else ""
            yield f"Times, launches: {chip}, {self.recorded.date}{changed}. Errors: this input.{counted}"
        else:
            yield f"{self._without_times}."
        if rows > len(steps):
            yield f"{rows - len(steps)} more rows: ladder {self.operation} --all"

    @staticmethod
    def _reasons(steps: Sequence[Step]) -> Iterator[str]:
        """Why some of the steps did not run."""
        for note in dict.fromkeys(step.note for step in steps if step.note):
            yield f"{', '.join(step.variant.name for step in steps if step.note == note)}: {note}."

    def _rows(self, steps: Sequence[Step], emulated: bool) -> list[dict[str, str]]:
        """The steps' figures, by their columns' headings."""
        least = self.counted.bytes if self.counted else 0
        asked = requests.columns([step.metrics for step in self], least)
        by_name = {step.variant.name: cells for step, cells in zip(self, asked, strict=True)}
        return [self._cells(step, by_name[step.variant.name], emulated) for step in steps]

    def _cells(self, step: Step, asked: Mapping[str, str], emulated: bool) -> dict[str, str]:
        cells = self._launch(step) if self.recorded or any(s.kernels for s in self) else {}
        cells |= asked
        cells["max\nerror"] = step.error_in_words
        if self.recorded is None or self._timed:
            cells |= self._times(step)
        if emulated and self.recorded is not None:
            cells["emulated\nkernel"] = _display.duration(step.profile.kernel_ns if step.profile else None)
        return cells

    def _times(self, step: Step) -> dict[str, str]:
        """As measured on a GPU: on this one, or on that of the record."""
        ns, rate, speedup = self._shown(step) or (None, None, None)
        chip = f"{self.recorded.chip.removeprefix('NVIDIA ')}:\n" if self.recorded else ""
        cells = {f"{chip}kernel": _display.duration(ns)}
        if any(s.profile and s.profile.blocks_ns is not None for s in self) and not chip:
            cells["blocks"] = _display.duration(step.profile.blocks_ns if step.profile else None)
        if not chip:
            cells["call"] = _display.duration(step.profile.whole_ns if step.profile else None)
        return cells | {f"{chip}{self.rate}": _display.figure(rate), f"{chip}speed-up": ratio(speedup)}

    def _launch(self, step: Step) -> dict[str, str]:
        """Grid, block and shared memory of the main kernel."""
        cells = dict.fromkeys(("launches", "blocks", "threads", "shared\nmemory"), "-")
        if main := main_kernel(step):
            cells["launches"] = f"{_launches(step):,}"
            cells |= {"blocks": _display.dimensions(main.grid), "threads": _display.dimensions(main.block)}
            if main.static_shared is not None or main.dynamic_shared:
                cells["shared\nmemory"] = f"{main.shared_bytes:,} B"
        if all(_launches(other) < 2 for other in self):
            del cells["launches"]
        return cells

    def _notes(self, figures: Sequence[str]) -> Iterator[str]:
        others = self._others
        yield from self._reasons([step for step in self if step.variant not in others])
        if others:
            types = ", ".join(repr(name) for name in dict.fromkeys(variant.types[0] for variant in others))
            count = "1 more variant takes" if len(others) == 1 else f"{len(others)} more variants take"
            yield f"{count} other types: ladder({self.operation!r}, dtype=...), with {types}."
        cancels = operation(self.operation).cancels
        terms = " to the magnitude of the terms of a result, which itself may be near 0" if cancels else ""
        yield f"Errors are relative{terms}, compared with NumPy in double precision."
        if self.recorded is None:
            yield "call: the whole call, with its copies. speed-up: time of the first kernel / of this kernel."
            if "blocks" in figures:
                yield "blocks: from the first block's start to the last block's end, by the device's timer."
            return
        local = next((step.profile.bytes for step in self if step.profile), 0)
        if bytes_moved := self.recorded.bytes if self._timed else local:
            yield f"The operation must read and write at least {_display.size(bytes_moved)}."
        if self._timed:
            yield f"There is no GPU here. The times were {self.recorded.origin}."
            first = next(name for name, step in self.recorded.steps.items() if step.speedup)
            yield f"Speed-ups are relative to {first}."
            if any(step.recorded and step.variant.on_host for step in self):
                yield "numpy ran on that machine's CPU."
            yield "Launches, blocks, threads and shared memory are for that size. Errors are for the input here."
        else:
            yield f"{self._without_times}."
        yield from requests.notes(figures)
        if self.counted is not None and any(step.metrics for step in self):
            least = f"where the operation must read and write {_display.size(self.counted.bytes)}"
            yield f"These were counted for {sizes(self.counted.shapes)} {self.dtype}, {least}."
        if "emulated\nkernel" in figures:
            yield "emulated: the time in which this CPU emulated the kernel; it says nothing about a GPU's speed."

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {name: getattr(self, name) for name in ("operation", "shapes", "dtype", "parameters")}
        return plain | {"backend": self.backend.to_dict(), "steps": [step.to_dict() for step in self.steps]}

    def plot(self, path: str | None = None) -> Figure:
        """Bars of time and rate, as recorded on a GPU if there is none here; ``path`` also saves them. Needs matplotlib
        (``pip install cudakern[plot]``)."""
        from .plots import BAR, HOST_BAR, Picture, bars

        title = self.title if self.recorded is None else f"{self.operation}: {self.recorded.origin}"
        steps = [(step.variant, shown) for step in self if (shown := self._shown(step))]
        if self.recorded is not None and not steps:
            raise ValueError(f"nothing to plot: {self._without_times}")
        names = [variant.name for variant, _ in steps]
        colors = [HOST_BAR if variant.on_host else BAR for variant, _ in steps]
        times, rates = [max(shown.kernel_ns, 1) for _, shown in steps], [shown.rate for _, shown in steps]

        picture = Picture(figsize=(11, 1.5 + 0.36 * max(len(names), 1)), layout="constrained")
        left, right = picture.subplots(1, 2, sharey=True)
        unit, one = _display.axis_unit(max(times, default=1))
        bars(left, names, [t / one for t in times], [_display.duration(t) for t in times], colors)
        bars(right, names, rates, [_display.figure(r) for r in rates], colors, self.limit)
        left.set_title(f"kernel time, {unit}", fontsize=10)
        right.set_title(self.rate, fontsize=10)
        left.invert_yaxis()  # shared by both sides: the first step on top
        picture.suptitle(title + ("; gray: NumPy on the CPU" if HOST_BAR in colors else ""), fontsize=10)
        return picture.saved(path)


Runs: TypeAlias = Sequence[tuple[table.Variant, Callable[[], Step]]]


def run_steps(runs: Runs, title: str, must_run: bool, announce: Callable[[str], None]) -> tuple[Step, ...]:
    """The steps; one that fails or refuses the input has a note. If none could run and one ``must_run``, the first
    refusal is raised."""
    steps: list[Step] = []
    refusals: list[Exception] = []
    for number, (variant, run) in enumerate(runs, 1):
        announce(f"{title} {number}/{len(runs)}: {variant.name}")
        try:
            steps.append(run())
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            reason = str(error).partition("; variant='auto' takes")[0]  # a ladder has no "auto"
            for subject in (variant.operation, f"variant {variant.name!r}", *variant.kernels):  # the row's name says it
                reason = reason.removeprefix(f"{subject}: ").removeprefix(f"{subject} ")
            steps.append(Step(variant, note=f"not for this input: {reason}"))
            if not isinstance(error, NotImplementedError):
                refusals.append(error)
        except CudaError as error:
            steps.append(Step(variant, note=f"failed: {error}", failed=True))
    if must_run and refusals and not any(step.profile or step.failed for step in steps):
        raise refusals[0]
    first = next((step.profile for step in steps if step.profile and not step.variant.on_host), None)
    for number, step in enumerate(steps):
        if first and not first.emulated and step.profile and not step.variant.on_host:
            steps[number] = replace(step, speedup=first.kernel_ns / max(step.profile.kernel_ns, 1))
    return tuple(steps)


def main_kernel(step: Step) -> KernelResources | None:
    """Of the variant's own kernels the one with the most threads; a helper may run before or after it."""
    own = [kernel for kernel in step.kernels if kernel.kernel in step.variant.kernels] or step.kernels
    return max(own, key=lambda kernel: (math.prod(kernel.grid) * kernel.threads, kernel.shared_bytes), default=None)


def _launches(step: Step) -> int:
    return sum(kernel.launches for kernel in step.kernels)


def ratio(value: float | None) -> str:
    return "-" if not value else f"{_display.figure(value)}x" if value > 0.01 else f"1/{1 / value:,.0f}"


def errors_of(result: Any, reference: Any, magnitude: Any) -> Comparison:
    """As compare(), but a NaN where NumPy has one is correct."""
    first, second = np.asarray(result), np.asarray(reference)
    right = np.isnan(first) & np.isnan(second)
    if right.any():
        first, second = (np.where(right, 0, x.astype(np.result_type(x, np.float64))) for x in (first, second))
    return compare(first, second, magnitude)
