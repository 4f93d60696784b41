"""Resources of compiled kernels: registers, shared and local memory, from the driver or the compiler's report."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from .. import _display
from .._backend import backend
from .._installed import LIBRARY, why_no_gpu_module
from ..arrays.dtypes import numpy_dtype
from ..calls import table
from ..calls.observer import Observed, Observer, Run, observed
from ..operations.registry import operation
from ..operations.variants import NameOrFunction, operation_name
from ..own import reports
from ..own.compile import Kernel, Launch, listed
from ..own.compile import _Run as OwnRun
from . import recorded

#: The compiler's report on each kernel, saved by setup.py.
REPORT = LIBRARY / "kernels.txt"
_KERNEL = re.compile(
    r"'(\S+)' for 'sm_(\d+)[af]?'(?s:.*)\b(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
    r"(?s:.*)Used (\d+) registers(.*)"
)


@dataclass(frozen=True, repr=False, kw_only=True)
class KernelResources(_display.Shown):
    """The resources of one kernel of a variant, and how a call launches it.

    ``source`` of the figures: "driver" (cudaFuncGetAttributes), "build" (the compiler's report from the GPU module's
    build), "NVRTC 13.0" or "nvcc 13.0.88" (compiled for these figures, where there is no GPU), "recorded" (a report for
    an H200, part of the package), "C++ compiler" (static shared memory alone) or "unknown" (they are None). ``why`` is
    the reason for figures that are None.
    """

    operation: str
    variant: str
    kernel: str  #: name in the source
    symbol: str  #: name for the linker
    dtype: str  #: of the inputs
    launches: int  #: of this kernel, in the inspected call
    grid: tuple[int, int, int]  #: of the largest of them
    block: tuple[int, int, int]
    dynamic_shared: int  #: bytes per block, in that launch
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
    source: str
    why: str

    @property
    def threads(self) -> int:
        """Threads per block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def shared_bytes(self) -> int:
        """Bytes per block, static (if known) and dynamic."""
        return (self.static_shared or 0) + self.dynamic_shared

    @property
    def spills(self) -> int | None:
        """Bytes per thread, stored and loaded."""
        return None if self.spill_stores is None else self.spill_stores + (self.spill_loads or 0)

    def table(self) -> _display.Table:
        """A table of this kernel."""
        return KernelTable((self,)).table()


class KernelTable(_display.Shown, tuple[KernelResources, ...]):
    """Kernels, in the order of their launches; displays as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return KernelTable(kernel for kernel in self if key in (kernel.variant, kernel.kernel))
        return super().__getitem__(key)

    def table(self) -> _display.Table:
        """One row per kernel."""
        figures = {"registers": "registers", "static\nshared": "static_shared", "dynamic\nshared": "dynamic_shared"}
        figures |= {"local": "local_bytes", "spills": "spills", "max\nthreads": "max_threads"}
        if not any(kernel.max_threads for kernel in self):  # only the driver reports it
            del figures["max\nthreads"]
        rows = []
        for kernel in self:
            numbers = (getattr(kernel, name) for name in figures.values())
            names = [kernel.variant, kernel.kernel, kernel.dtype, _display.dimensions(kernel.block)]
            names += ("?" if number is None else f"{number:,}" for number in numbers)
            rows.append([*names, kernel.capability or "?", kernel.source])
        heads = ["variant", "kernel", "type", "block", *figures, "chip", "from"]
        title = f"{self[0].operation}: resources of the compiled kernels" if self else "no kernels"
        notes = ["Registers, local memory and spills (bytes) are per thread, shared memory (bytes) is per block."]
        notes += dict.fromkeys(f"Unknown: {kernel.why}." for kernel in self if kernel.why)
        if any(kernel.source == "recorded" for kernel in self):
            notes.append(f"Recorded: reported by {recorded.compiler()} for an H200; this build has no GPU module.")
        return _display.Table(title, heads, rows, " ".join(notes), list(figures))

    def to_dict(self) -> list[dict[str, Any]]:
        """One dictionary per kernel, for JSON."""
        return [kernel.to_dict() for kernel in self]


@functools.cache
def compiler_report(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The output of ``ptxas -v`` in a file: by the kernels' linker names, fields of KernelResources for each chip."""
    return _parsed(path.read_text())


def _parsed(report: str) -> dict[str, list[dict[str, Any]]]:
    kernels: dict[str, list[dict[str, Any]]] = {}
    for entry in filter(None, map(_KERNEL.match, report.split("Compiling entry function "))):
        symbol, chip, *counts, memory = entry.groups()
        counts += (sum(map(int, re.findall(rf"(\d+) bytes {kind}", memory))) for kind in ("smem", "cmem"))
        names = ("local_bytes", "spill_stores", "spill_loads", "registers", "static_shared", "constant_bytes")
        figures = dict(zip(names, map(int, counts), strict=True), capability=f"{int(chip) / 10}")
        kernels.setdefault(symbol, []).append(figures)
    return kernels


def _built(symbol: str, capability: int) -> tuple[dict[str, Any] | None, str]:
    """The report on a kernel, for that chip if possible; or why there is none."""
    if not REPORT.exists():
        return None, why_no_gpu_module() or "the GPU module was built without a compiler report"
    chips = compiler_report(REPORT).get(symbol)
    if not chips:
        return None, "the GPU module was built without this kernel, or without code for a specific chip"
    return next((figures for figures in chips if figures["capability"] == f"{capability / 10}"), chips[-1]), ""


class Launches(list[KernelResources], Observer):
    """The kernels that calls would launch; nothing runs. ``compiles``: those whose figures are not known are compiled
    for them, which takes seconds, if there is a compiler."""

    def __init__(self, compiles: bool = False) -> None:
        super().__init__()
        self.compiles = compiles

    def kernel(self, run: Observed) -> None:
        """Lists a call's launches."""
        self += (_resources(run, launch, self.compiles) for launch in run.launches(()))


def launches_of(call: Callable[[], Any], compiles: bool = False) -> Launches:
    """The kernels that a call would launch."""
    with observed(Launches(compiles)) as launches, np.errstate(all="ignore"):  # the result is not computed
        call()
    return launches


def _resources(run: Observed, launch: dict[str, Any], compiles: bool) -> KernelResources:
    """The driver's figures, else those of this build's report, else those recorded in the package or compiled now."""
    figures, why = _built(launch["symbol"], backend().capability)
    source = "build"
    if launch["registers"] > 0:
        source, capability = "driver", f"{launch['binary_version'] / 10}"
        names = ("registers", "static_shared", "local_bytes", "constant_bytes", "max_threads")
        spills = figures if figures and figures["capability"] == capability else {}
        figures = spills | {name: launch[name] for name in names} | {"capability": capability}
    elif figures is None:
        figures, source, why = _without_gpu_module(run, launch, why, compiles)
    return KernelResources(
        operation=run.variant.operation,
        variant=run.variant.name,
        kernel=launch["name"],
        dtype=run.dtype,
        potential_block=launch["potential"],
        **{name: launch[name] for name in ("symbol", "launches", "grid", "block", "dynamic_shared", "active_blocks")},
        **(figures or {}),
        source=source,
        why="" if figures and figures.get("registers") is not None else why,
    )


def _without_gpu_module(
    run: Observed, launch: dict[str, Any], why: str, compiles: bool
) -> tuple[dict[str, Any] | None, str, str]:
    """Figures, their source, and the reason if there are none."""
    symbol, capability = launch["symbol"], backend().capability
    if isinstance(run, Run):
        figures = recorded.compiled(symbol)
        if compiles and (figures is None or figures["capability"] != f"{capability / 10}"):
            report = reports.of_package(run.variant.operation, run.variant.name, capability)
            if compiled := _parsed(report.text).get(symbol):
                return compiled[0], report.compiler, ""
        return figures, "recorded" if figures else "unknown", why
    own = cast(OwnRun, run)
    report = own.report()
    compiled = _parsed(report.text).get(report.symbols.get(launch["name"], symbol))
    if compiled:
        return compiled[0], report.compiler, ""
    kernel = own.launch.kernel
    shared = reports.static_shared(Path(own.built.set.path), symbol, kernel.program.source, kernel.code)
    return {"static_shared": shared}, "C++ compiler", f"without a GPU: {report.why}"


def kernel_resources(
    op: NameOrFunction, variant: str | None = None, dtype: npt.DTypeLike | None = None, **parameters: Any
) -> KernelTable:
    """Registers, shared and local memory of the compiled kernels that a call launches. Nothing is launched.

    A kernel that is launched several times is listed once, by its largest launch; kernels of libraries are not listed.
    Without a GPU, NVRTC or nvcc compiles kernels of your own for these figures, if one is installed, and nvcc a variant
    that you name if its figures for the emulated chip are not recorded.

    Parameters
    ----------
    op : str or function
        An operation: "matmul" or ``cudakern.matmul``. Or a kernel of your own, alone: ``program.add_one[grid, block]``.
    variant : str, optional
        A name from ``variants(op)``. Default: all that run here.
    dtype : dtype, optional
        Of the inputs. Default: the operation's usual one, or the first that the variant supports.
    **parameters : int
        Of the variants that have them, e.g. ``tile=32``: many values select different kernels.

    Returns
    -------
    KernelTable
        A tuple of :class:`KernelResources` that displays as a table.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        An unknown operation, variant, type or parameter; a variant that runs on the host or cannot run here.

    Examples
    --------
    >>> import cudakern
    >>> kernels = cudakern.kernel_resources("matmul", "shared_row")
    >>> kernels[0].kernel, kernels[0].source in ("driver", "build", "recorded")
    ('shared_row', True)
    """
    kernels: list[KernelResources] = []
    if isinstance(op, (Kernel, Launch)):
        if variant is not None or dtype is not None or parameters:
            raise TypeError(f"kernel_resources: {op.__name__} is a kernel of your own: it takes no other arguments")
        run = listed(op)
        return KernelTable(_resources(run, launch, compiles=True) for launch in run.launches())
    op = operation_name(op)
    what = operation(op)
    usual = numpy_dtype(what.default_dtype if dtype is None else dtype).name
    entries = [entry for entry in table.variants(op) if not entry.on_host]
    if variant is not None:
        entries = [table.find(op, variant)]
    if entries[0].on_host:
        raise ValueError(f"{op}: variant {variant!r} has no kernel ({entries[0].summary})")
    for name in parameters if variant is None else ():
        if not table.having(name, entries):
            raise TypeError(f"kernel_resources: no variant of {op} has a parameter {name!r}")
    for entry in entries:
        kind = entry.types[0] if dtype is None and usual not in entry.types else usual
        if variant is None and (entry.why_not(backend()) or kind not in entry.types):
            continue
        entry.signature(kind)
        values = {k: v for k, v in parameters.items() if variant is not None or table.having(k, [entry])}
        try:
            entry.values(values)
        except ValueError:
            if variant is None and (kernels or entry is not entries[-1]):
                continue  # others accept it
            raise
        call = what.call_of(entry, what.make(what.default_shape, numpy_dtype(kind), 0), **values)
        kernels += launches_of(call, compiles=variant is not None)
    if not kernels and dtype is not None and variant is None:
        types = ", ".join(dict.fromkeys(t for entry in entries for t in entry.types))
        raise TypeError(f"kernel_resources: no variant of {op} that runs here supports {usual}; supported: {types}")
    return KernelTable(kernels)
