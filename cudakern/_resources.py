"""Resources of compiled kernels: registers, shared and local memory, from the driver or the compiler's report."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _display, _recorded, _table
from ._backend import Backend, backend
from ._dtypes import numpy_dtype
from ._installed import LIBRARY, why_no_gpu_module
from ._observer import Observer, Run, observed
from ._operations import operation
from ._variants import NameOrFunction, operation_name

#: The compiler's report on each kernel, saved by setup.py.
REPORT = LIBRARY / "kernels.txt"
_ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\d+)[af]?'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = {
    "registers": r"Used (\d+) registers",
    "static_shared": r"(\d+) bytes smem",
    "constant_bytes": r"(\d+) bytes cmem\[\d+\]",
}


@dataclass(frozen=True, repr=False, kw_only=True)
class KernelResources(_display.Shown):
    """The resources of one kernel of a variant, and how a call launches it."""

    operation: str
    variant: str
    kernel: str  #: name in the source
    symbol: str  #: name for the linker
    dtype: str  #: of the inputs
    grid: tuple[int, int, int]  #: of the inspected call
    block: tuple[int, int, int]
    dynamic_shared: int  #: bytes per block, in that call
    registers: int | None = None  #: per thread
    static_shared: int | None = None  #: bytes per block
    local_bytes: int | None = None  #: per thread: arrays indexed at run time, and spilled registers
    spill_stores: int | None = None  #: bytes per thread; only from the compiler's report
    spill_loads: int | None = None
    constant_bytes: int | None = None
    max_threads: int | None = None  #: per block, by the launch bound or the registers
    active_blocks: int  #: per multiprocessor: cudaOccupancyMaxActiveBlocksPerMultiprocessor of this call
    potential_block: tuple[int, int]  #: (grid, threads) by cudaOccupancyMaxPotentialBlockSize
    capability: str | None = None  #: the code's target: "9.0"
    #: of the figures: "driver" (cudaFuncGetAttributes), "build" (the compiler's report, saved when the GPU module was
    #: built), "recorded" (such a report for an H200, part of the package) or "unknown": the figures are None
    source: str
    why: str  #: the reason if the source is "unknown"

    @property
    def threads(self) -> int:
        """Threads per block."""
        return math.prod(self.block)

    @property
    def shared_bytes(self) -> int:
        """Bytes per block, static (if known) and dynamic."""
        return (self.static_shared or 0) + self.dynamic_shared

    @property
    def spills(self) -> int | None:
        """Bytes per thread, stored and loaded."""
        return None if self.spill_stores is None else self.spill_stores + (self.spill_loads or 0)

    def table(self) -> _display.Table:
        return KernelTable((self,)).table()


class KernelTable(_display.Shown, tuple[KernelResources, ...]):
    """Kernels, in the order of their launches; displays as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return KernelTable(kernel for kernel in self if key in (kernel.variant, kernel.kernel))
        return super().__getitem__(key)

    def table(self) -> _display.Table:
        """One row per kernel."""
        figures = ["registers", "static\nshared", "dynamic\nshared", "local", "spills"]
        figures += ["max\nthreads"] * any(kernel.max_threads for kernel in self)  # only the driver reports it
        rows = []
        for kernel in self:
            numbers = [kernel.registers, kernel.static_shared, kernel.dynamic_shared, kernel.local_bytes, kernel.spills]
            numbers = [*numbers, kernel.max_threads][: len(figures)]
            words = ["?" if number is None else f"{number:,}" for number in numbers]
            names = [kernel.variant, kernel.kernel, kernel.dtype, _display.dimensions(kernel.block)]
            rows.append([*names, *words, kernel.capability or "?", kernel.source])
        heads = ["variant", "kernel", "type", "block", *figures, "chip", "from"]
        title = f"{self[0].operation}: resources of the compiled kernels" if self else "no kernels"
        notes = ["Registers, local memory and spills (bytes) are per thread, shared memory (bytes) is per block."]
        notes += dict.fromkeys(f"Unknown: {kernel.why}." for kernel in self if kernel.source == "unknown")
        if any(kernel.source == "recorded" for kernel in self):
            notes.append(f"Recorded: reported by {_recorded.compiler()} for an H200; this build has no GPU module.")
        return _display.Table(title, heads, rows, " ".join(notes), right=figures)

    def to_dict(self) -> list[dict[str, Any]]:
        return [kernel.to_dict() for kernel in self]


@functools.cache
def compiler_report(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The output of ``ptxas -v`` in a file: by the kernels' linker names, fields of KernelResources for each chip."""
    kernels: dict[str, list[dict[str, Any]]] = {}
    symbol, figures = "", {}
    for line in path.read_text().splitlines():
        if entry := _ENTRY.search(line):
            symbol = entry[1]
            figures = {"capability": f"{int(entry[2]) / 10:.1f}", "local_bytes": 0, "spill_stores": 0, "spill_loads": 0}
        elif symbol and (sizes := _STACK.search(line)):
            figures |= zip(("local_bytes", "spill_stores", "spill_loads"), map(int, sizes.groups()), strict=True)
        elif symbol and "Used" in line and "registers" in line:
            figures |= {name: sum(map(int, re.findall(pattern, line))) for name, pattern in _USED.items()}
            kernels.setdefault(symbol, []).append(figures)
            symbol = ""
    return kernels


def _built(symbol: str, capability: int) -> tuple[dict[str, Any] | None, str]:
    """The report on a kernel, for that chip if possible; or why there is none."""
    if not REPORT.exists():
        return None, why_no_gpu_module() or "the GPU module was built without a compiler report"
    chips = compiler_report(REPORT).get(symbol)
    if not chips:
        return None, "the GPU module was built without this kernel, or without code for a specific chip"
    return next((figures for figures in chips if figures["capability"] == f"{capability / 10:.1f}"), chips[-1]), ""


class Launches(Observer):
    """Lists the launches of calls without running them."""

    def __init__(self) -> None:
        self.kernels: list[dict[str, Any]] = []

    def kernel(self, run: Run) -> None:
        self.kernels += ({"variant": run.variant, **kernel} for kernel in run.launches(()))


def _launches(call: Callable[[], Any]) -> list[dict[str, Any]]:
    with observed(Launches()) as launches, np.errstate(all="ignore"):  # the result is not computed
        call()
    return launches.kernels


def shared_bytes(call: Callable[[], Any]) -> int | None:
    """Shared memory per block, static and dynamic, of the first kernel that a call would launch; None if not known."""
    launches = _launches(call)
    first = _resources(launches[0], backend(), "") if launches else None
    return None if first is None or first.static_shared is None else first.shared_bytes


def _resources(launch: dict[str, Any], here: Backend, dtype: str) -> KernelResources:
    """The driver's figures, else those of this build's report, else those recorded in the package."""
    figures, why = _built(launch["symbol"], here.capability)
    source = "build"
    if launch["registers"] > 0:
        names = ("registers", "static_shared", "local_bytes", "constant_bytes", "max_threads")
        reported, source, figures = figures, "driver", {name: launch[name] for name in names}
        figures["capability"] = f"{launch['binary_version'] / 10:.1f}"
        if reported and reported["capability"] == figures["capability"]:
            figures |= {name: reported[name] for name in ("spill_stores", "spill_loads")}
    elif figures is None:
        figures = _recorded.compiled(launch["symbol"])
        source = "recorded" if figures else "unknown"
    return KernelResources(
        operation=launch["variant"].operation,
        variant=launch["variant"].name,
        kernel=launch["name"],
        dtype=dtype,
        potential_block=launch["potential"],
        **{name: launch[name] for name in ("symbol", "grid", "block", "dynamic_shared", "active_blocks")},
        **(figures or {}),
        source=source,
        why=why if source == "unknown" else "",
    )


def kernel_resources(
    op: NameOrFunction, variant: str | None = None, dtype: npt.DTypeLike | None = None, **parameters: Any
) -> KernelTable:
    """The registers, shared and local memory of the compiled kernels that a call launches. Nothing is launched.

    A kernel that is launched several times is listed once, by its first launch; kernels of libraries are not listed.
    The result is a tuple of :class:`KernelResources` that displays as a table. NotImplementedError for a variant that
    cannot run here; TypeError or ValueError for one that runs on the host or lacks the type or the parameter.

    Parameters
    ----------
    op : str or function
        An operation: "matmul" or ``cudakern.matmul``.
    variant : str, optional
        A name from ``variants(op)``. Default: all that run here.
    dtype : dtype, optional
        Of the inputs. Default: the operation's usual one, or the first that the variant supports.
    **parameters : int
        Of the variants that have them, e.g. ``tile=32``: many values select different kernels.

    Examples
    --------
    >>> import cudakern
    >>> kernels = cudakern.kernel_resources("matmul", "shared_row")
    >>> kernels[0].kernel, kernels[0].source in ("driver", "build", "recorded")
    ('shared_row', True)
    """
    op = operation_name(op)
    what, here = operation(op), backend()
    kind = numpy_dtype(what.default_dtype if dtype is None else dtype).name
    if variant is not None:
        entries = [_table.find(op, variant)]
        if entries[0].on_host:
            raise ValueError(f"kernel_resources: {op} {variant!r} runs on the host and has no kernel")
    else:
        every = [entry for entry in _table.variants(op) if not entry.on_host]
        for name in parameters:
            if not _table.having(name, every):
                raise TypeError(f"kernel_resources: no variant of {op} has a parameter {name!r}")
        entries = [entry for entry in every if not entry.why_not(here) and (dtype is None or kind in entry.types)]
        if dtype is not None and not entries:
            types = ", ".join(dict.fromkeys(t for entry in every for t in entry.types))
            raise TypeError(f"kernel_resources: no variant of {op} that runs here supports {kind}; supported: {types}")
    kernels: list[KernelResources] = []
    refused: list[ValueError] = []
    for entry in entries:
        supported = entry.types[0] if dtype is None and kind not in entry.types else kind
        values = {k: v for k, v in parameters.items() if variant is not None or _table.having(k, [entry])}
        entry.signature(supported)
        try:
            entry.values(values)
        except ValueError as error:  # other variants may accept it
            refused.append(error)
            continue
        call = what.call_of(entry, what.make(what.default_shape, numpy_dtype(supported), 0), **values)
        kernels += (_resources(launch, here, supported) for launch in _launches(call))
    if refused and not kernels:
        raise refused[0]
    return KernelTable(kernels)
