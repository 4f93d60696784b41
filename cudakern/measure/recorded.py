"""Measurements recorded on a GPU, and counters, for machines without one. .ci/tables.py writes recorded.json."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

from .._backend import Backend

FILE = Path(__file__).with_name("recorded.json")


class Recorded(NamedTuple):
    """A step of a ladder, measured on a GPU (NumPy's variant: on that machine's CPU)."""

    kernel_ns: float
    rate: float  #: in the operation's unit
    speedup: float | None  #: over the first kernel in the record; None for NumPy's variant


class RecordedLadder(NamedTuple):
    """A ladder, measured on a GPU."""

    chip: str
    date: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    bytes: float  #: that the operation must read and write
    changed: bool  #: the kernels have changed since
    limit: tuple[str, float] | None  #: the chip's limit for this operation, and the rate that it allows
    steps: dict[str, Recorded]  #: by the variant's name

    @property
    def input(self) -> str:
        """Chip and input."""
        return f"{self.chip.removeprefix('NVIDIA ')}, {sizes(self.shapes)} {self.dtype}"

    @property
    def origin(self) -> str:
        """Chip, input and date."""
        changed = "; the kernels have changed since" if self.changed else ""
        return f"recorded on an {self.chip} for {sizes(self.shapes)} {self.dtype} on {self.date}{changed}"


class CountedLadder(NamedTuple):
    """What the kernels of a ladder ask of memory, counted by ck.trace."""

    shapes: tuple[tuple[int, ...], ...]
    bytes: float  #: that the operation must read and write
    steps: dict[str, dict[str, float]]  #: by the variant's name: the metrics that are not 0


def sizes(shapes: tuple[tuple[int, ...], ...]) -> str:
    """The different shapes of a call's arrays as text: "1,000 x 500 and 500 x 1,000"."""
    return " and ".join(dict.fromkeys(" x ".join(f"{n:,}" for n in shape) for shape in shapes if shape)) or "one number"


@functools.cache
def _data() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def instead_of_times(here: Backend, op: str, dtype: str) -> RecordedLadder | None:
    """What a ladder shows instead of times on the emulator: the recorded ladder, without steps if nothing was recorded
    with that type. None on a GPU, whose own times are shown."""
    if not here.emulated:
        return None
    entry = _data()["ladders"].get(f"{op} {dtype}")
    if entry is None:
        return RecordedLadder("", "", (), "", 0.0, False, None, {})
    limit = entry["limit"]
    return RecordedLadder(
        **{name: entry[name] for name in ("chip", "date", "dtype", "bytes", "changed")},
        shapes=tuple(map(tuple, entry["shapes"])),
        limit=(limit["what"], limit["rate"]) if limit else None,
        steps={name: Recorded(**step) for name, step in entry["steps"].items()},
    )


def counted(op: str, dtype: str) -> CountedLadder | None:
    """What the variants were recorded to ask of memory; None if nothing was recorded with that type."""
    every = _data()["counters"]
    entry = every["rows"].get(f"{op} {dtype}")
    if entry is None:
        return None
    columns = every["columns"]
    steps = {
        name: {column: value for column, value in zip(columns, row, strict=True) if value}
        for name, row in entry["steps"].items()
    }
    return CountedLadder(tuple(map(tuple, entry["shapes"])), entry["bytes"], steps)


def compiled(symbol: str) -> dict[str, Any] | None:
    """A kernel's registers and memory, as fields of KernelResources; None if not recorded."""
    kernels = _data()["kernels"]
    figures = kernels["rows"].get(symbol)
    if figures is None:
        return None
    return dict(zip(kernels["columns"], figures, strict=True), capability=kernels["capability"])


def compiler() -> str:
    """The compiler that reported the recorded figures."""
    return f"nvcc {_data()['kernels']['nvcc']}"
