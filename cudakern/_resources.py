"""Resources of compiled kernels: registers, shared and local memory, from the driver or the compiler's report."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _display, _recorded, _table
from ._backend import Backend, backend
from ._dtypes import numpy_dtype
from ._installed import LIBRARY, why_no_gpu_module
from ._observer import Observer, Run, observed
from ._operations import Operation, operation
from ._variants import Named, operation_name

#: The compiler's report on each kernel, saved by setup.py.
REPORT = LIBRARY / "kernels.txt"


@dataclass(frozen=True, repr=False)
class KernelResources(_display.Shown):
    """The resources of one kernel of a variant, and how a call launches it.

    ``source`` is where the figures come from: "driver" (cudaFuncGetAttributes), "build" (the compiler's report, saved
    when the GPU module was built), "recorded" (such a report for an H200, part of the package) or "unknown": the
    figures are then None and ``why`` is the reason.
    """

    operation: str
    variant: str
    kernel: str  #: name in the source
    symbol: str  #: name for the linker
    dtype: str  #: of the inputs
    grid: tuple[int, int, int]  #: of the inspected call
    block: tuple[int, int, int]
    dynamic_shared: int  #: bytes per block, in that call
    registers: int | None  #: per thread
    static_shared: int | None  #: bytes per block
    local_bytes: int | None  #: per thread: arrays indexed at run time, and spilled registers
    spill_stores: int | None  #: bytes per thread; only from the compiler's report
    spill_loads: int | None
    constant_bytes: int | None
    max_threads: int | None  #: per block, by the launch bound or the registers
    active_blocks: int  #: per multiprocessor: cudaOccupancyMaxActiveBlocksPerMultiprocessor of this call
    potential_block: tuple[int, int]  #: (grid, threads) by cudaOccupancyMaxPotentialBlockSize
    capability: str | None  #: the code's target: "9.0"
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

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def table(self) -> _display.Table:
        """A table of this kernel."""
        return KernelTable((self,)).table()


class KernelTable(_display.Shown, tuple[KernelResources, ...]):
    """Kernels, in the order of their launches; displays as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return KernelTable(one for one in self if key in (one.variant, one.kernel))
        return super().__getitem__(key)

    def table(self) -> _display.Table:
        """One row per kernel."""
        figures = ["registers", "static\nshared", "dynamic\nshared", "local", "spills", "max\nthreads"]
        rows = []
        for one in self:
            numbers = (one.registers, one.static_shared, one.dynamic_shared, one.local_bytes, one.spills)
            words = ["?" if number is None else f"{number:,}" for number in (*numbers, one.max_threads)]
            rows.append(
                [
                    one.variant,
                    one.kernel,
                    one.dtype,
                    _display.dimensions(one.block),
                    *words,
                    one.capability or "?",
                    one.source,
                ]
            )
        names = ["variant", "kernel", "type", "block", *figures, "chip", "from"]
        title = f"{self[0].operation}: resources of the compiled kernels" if self else "no kernels"
        notes = ["Registers, local memory and spills (bytes) are per thread, shared memory (bytes) is per block."]
        notes += dict.fromkeys(f"Unknown: {one.why}." for one in self if one.source == "unknown")
        if any(one.source == "recorded" for one in self):
            notes.append(
                f"Recorded: reported by {_recorded.compiler()} for an H200, because this build has no GPU module."
            )
        if any(one.source in ("build", "recorded") for one in self):
            notes.append("Only a GPU's driver reports the maximum number of threads.")
        return _display.Table(title, names, rows, " ".join(notes), right=figures)

    def to_dict(self) -> list[dict[str, Any]]:
        """One dictionary per kernel, for JSON."""
        return [one.to_dict() for one in self]


# --- the compiler's report -------------------------------------------------------------------------------------------
class Built(NamedTuple):
    """ptxas' report on one kernel for one chip."""

    registers: int
    static_shared: int
    local_bytes: int
    spill_stores: int
    spill_loads: int
    constant_bytes: int
    capability: str


_ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\d+)[af]?'")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def parse_ptxas(lines: Iterable[str]) -> dict[str, list[Built]]:
    """Parses the output of ``ptxas -v``: by the kernels' linker names, one entry per chip."""
    kernels: dict[str, list[Built]] = {}
    symbol, chip, stack = "", 0, (0, 0, 0)
    for line in lines:
        if entry := _ENTRY.search(line):
            symbol, chip, stack = entry[1], int(entry[2]), (0, 0, 0)
        elif frame := _STACK.search(line):
            stack = (int(frame[1]), int(frame[2]), int(frame[3]))
        elif symbol and "Used" in line and "registers" in line:
            patterns = (r"Used (\d+) registers", r"(\d+) bytes smem", r"(\d+) bytes cmem\[\d+\]")
            registers, shared, constant = (sum(map(int, re.findall(pattern, line))) for pattern in patterns)
            built = Built(registers, shared, *stack, constant, f"{chip // 10}.{chip % 10}")
            kernels.setdefault(symbol, []).append(built)
            symbol = ""
    return kernels


@functools.lru_cache(1)
def _report(path: Path, changed_ns: int) -> dict[str, list[Built]]:
    del changed_ns  # a rebuild changes it
    with path.open() as lines:
        return parse_ptxas(lines)


def _built(symbol: str, capability: int) -> tuple[Built | None, str]:
    """The report on a kernel, for that chip if possible; or why there is none."""
    if not REPORT.exists():
        return None, why_no_gpu_module() or "the GPU module was built without a compiler report"
    chips = _report(REPORT, REPORT.stat().st_mtime_ns).get(symbol, [])
    if not chips:
        return None, "the GPU module was built without this kernel, or without code for a specific chip"
    wanted = f"{capability // 10}.{capability % 10}"
    return next((built for built in chips if built.capability == wanted), chips[-1]), ""


# --- inspecting a call -----------------------------------------------------------------------------------------------
class Launches(Observer):
    """Lists the launches of calls without running them. ``sweep``: pairs (threads per block, dynamic shared memory)
    for which to query active blocks."""

    def __init__(self, sweep: tuple[tuple[int, int], ...]) -> None:
        self.found: list[dict[str, Any]] = []
        self._sweep = sweep

    def kernel(self, run: Run) -> None:
        """Lists a call's launches."""
        self.found += ({"variant": run.variant, **kernel} for kernel in run.launches(self._sweep))


def inspect(
    what: Operation,
    variant: _table.Variant,
    kind: np.dtype[Any],
    parameters: dict[str, Any],
    sweep: tuple[tuple[int, int], ...] = (),
) -> list[dict[str, Any]]:
    """The launches that a call of the variant would make."""
    with observed(Launches(sweep)) as launches, np.errstate(all="ignore"):  # the result is not computed
        what.call(*what.make(what.default_shape, kind, 0), variant=variant.name, **parameters)
    return launches.found


def shared_bytes(run: Callable[[], Any]) -> int | None:
    """Shared memory per block, static and dynamic, of the first kernel that a call would launch; None if there
    is none or its static part is not known."""
    with observed(Launches(())) as launches, np.errstate(all="ignore"):
        run()
    if not launches.found:
        return None
    first = _resources(launches.found[0], backend(), "")
    return None if first.static_shared is None else first.shared_bytes


def _resources(launch: dict[str, Any], here: Backend, dtype: str) -> KernelResources:
    """The driver's figures, else those of this build's report, else those recorded in the package."""
    built, why = _built(launch["symbol"], here.capability)
    source = "build"
    if built is None and (recorded := _recorded.compiled(launch["symbol"])):
        built, source = Built(**recorded.figures, capability=recorded.capability), "recorded"
    known: dict[str, Any] = dict.fromkeys(Built._fields) if built is None else built._asdict()
    if launch["registers"] > 0:
        version = f"{launch['binary_version'] // 10}.{launch['binary_version'] % 10}"
        spills = known if source == "build" and known["capability"] == version else {}
        figures = {name: launch[name] for name in ("registers", "static_shared", "local_bytes", "constant_bytes")}
        known = figures | {name: spills.get(name) for name in ("spill_stores", "spill_loads")}
        source, known["capability"] = "driver", version
    elif built is None:
        source = "unknown"
    copied = ("symbol", "grid", "block", "dynamic_shared", "active_blocks")
    return KernelResources(
        operation=launch["variant"].operation,
        variant=launch["variant"].name,
        kernel=launch["name"],
        potential_block=launch["potential"],
        dtype=dtype,
        max_threads=launch["max_threads"] if source == "driver" else None,
        **{name: launch[name] for name in copied},
        **known,
        source=source,
        why=why if source == "unknown" else "",
    )


def _with_kernels(op: str, variant: str | None) -> list[_table.Variant]:
    if variant is None:
        return [entry for entry in _table.variants(op) if not entry.on_host]
    entry = _table.find(op, variant)
    if entry.on_host:
        raise ValueError(f"kernel_resources: {op} {variant!r} runs on the host and has no kernel")
    return [entry]


def kernel_resources(
    op: Named, variant: str | None = None, dtype: npt.DTypeLike | None = None, **parameters: Any
) -> KernelTable:
    """Registers, shared and local memory of compiled kernels.

    Nothing is launched. A kernel that a call launches several times is listed once, by its first launch; kernels of
    libraries are not listed.

    Parameters
    ----------
    op : str or function
        An operation: "matmul" or ``cudakern.matmul``.
    variant : str, optional
        A name from ``variants(op)``. Default: all that run here.
    dtype : dtype, optional
        Of the inputs. Default: the operation's usual one, or the first that the variant supports.
    **parameters : int
        The variant's parameters, e.g. ``tile=32``: many values select different kernels. Without ``variant``, they
        apply to the variants that have them.

    Returns
    -------
    KernelTable
        A :class:`KernelResources` for each kernel that a call launches; displays as a table.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        An unknown operation or variant, or one that runs on the host; a type or a parameter that the variant does not
        have; a variant that cannot run here.

    Examples
    --------
    >>> import cudakern
    >>> kernels = cudakern.kernel_resources("matmul", "shared_row")
    >>> kernels[0].kernel, kernels[0].source in ("driver", "build", "recorded")
    ('shared_row', True)
    """
    op = operation_name(op)
    what, here = operation(op), backend()
    entries = _with_kernels(op, variant)
    kernels: list[KernelResources] = []
    for name in parameters if variant is None else ():
        if not _table.having(name, entries):
            raise TypeError(f"kernel_resources: no variant of {op} has a parameter {name!r}")
    for entry in entries:
        name = numpy_dtype(what.default_dtype if dtype is None else dtype).name
        if variant is None and (entry.why_not(here) or (name not in entry.types and dtype is not None)):
            continue
        if dtype is None and name not in entry.types:
            name = entry.types[0]
        entry.signature(name)
        its = {k: v for k, v in parameters.items() if variant is not None or _table.having(k, [entry])}
        kernels += (_resources(launch, here, name) for launch in inspect(what, entry, numpy_dtype(name), its))
    if not kernels and dtype is not None and variant is None:
        types = ", ".join(dict.fromkeys(t for entry in entries for t in entry.types))
        raise TypeError(f"kernel_resources: no variant of {op} that runs here supports {name}; supported: {types}")
    return KernelTable(kernels)


def main_kernel(
    op: str, variant: str | None, dtype: Any, parameters: dict[str, Any], threads: int | None
) -> tuple[KernelResources, list[str]]:
    """A variant's main kernel, the first one launched, and the names of the others. ``threads`` sets the variant's
    parameter of that name, if it has one."""
    if variant is None:
        names = ", ".join(entry.name for entry in _with_kernels(op, None))
        raise TypeError(f"occupancy: pass a variant of {op}: {names}")
    entry = _table.find(op, variant)
    if threads is not None and _table.having("threads", [entry]):
        parameters = parameters | {"threads": threads}
    kernels = kernel_resources(op, variant, dtype, **parameters)
    if not kernels:
        raise ValueError(f"occupancy: {op} {variant!r} launches no kernel of its own")
    main = next((one for one in kernels if one.kernel in entry.kernels), kernels[0])
    return main, [one.kernel for one in kernels if one is not main]
