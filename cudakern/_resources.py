"""What the compiler made of our kernels: registers, shared and local memory, from the driver or the build's report."""

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

#: What setup.py keeps of the words of the GPU's compiler on each kernel.
REPORT = LIBRARY / "kernels.txt"


@dataclass(frozen=True, repr=False)
class KernelResources(_display.Shown):
    """One kernel of a variant: what a call launches, and what the compiler made of the kernel.

    ``source`` says where the figures come from: "driver" (cudaFuncGetAttributes), "build" (the compiler's report, kept
    when the GPU module was built), "recorded" (the same for an H200, which is part of the package) or "unknown"; then
    the figures are None, and ``why`` says why.
    """

    operation: str
    variant: str
    kernel: str  #: as in the source
    symbol: str  #: the linker's name
    dtype: str  #: of the inputs
    grid: tuple[int, int, int]  #: of the call that was looked at
    block: tuple[int, int, int]
    dynamic_shared: int  #: bytes a block, of that call
    registers: int | None  #: per thread
    static_shared: int | None  #: bytes a block
    local_bytes: int | None  #: per thread: arrays that are indexed at run time, and spilled registers
    spill_stores: int | None  #: bytes a thread; only the build's report has them
    spill_loads: int | None
    constant_bytes: int | None
    max_threads: int | None  #: per block: the launch bound, or what the registers allow
    active_blocks: int  #: a multiprocessor, as cudaOccupancyMaxActiveBlocksPerMultiprocessor answers for this call
    potential_block: tuple[int, int]  #: (grid, threads) that cudaOccupancyMaxPotentialBlockSize suggests on this device
    capability: str | None  #: that the code was made for: "9.0"
    source: str
    why: str

    @property
    def threads(self) -> int:
        """Threads a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def shared_bytes(self) -> int:
        """Bytes a block, static (as far as it is known) and dynamic."""
        return (self.static_shared or 0) + self.dynamic_shared

    @property
    def spills(self) -> int | None:
        """Bytes a thread, stored and loaded."""
        return None if self.spill_stores is None else self.spill_stores + (self.spill_loads or 0)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def table(self) -> _display.Table:
        """The same as a table of one kernel."""
        return KernelTable((self,)).table()


class KernelTable(_display.Shown, tuple[KernelResources, ...]):
    """Kernels, in the order in which they are launched; shown as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return KernelTable(one for one in self if key in (one.variant, one.kernel))
        return super().__getitem__(key)

    def table(self) -> _display.Table:
        """A row a kernel."""
        figures = ["registers", "static\nshared", "dynamic\nshared", "local", "spills", "most\nthreads"]
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
        title = f"{self[0].operation}: what the compiler made of the kernels" if self else "no kernels"
        notes = ["Registers, local memory and spills (bytes) are a thread's, shared memory (bytes) a block's."]
        notes += dict.fromkeys(f"Unknown: {one.why}." for one in self if one.source == "unknown")
        if any(one.source == "recorded" for one in self):
            notes.append(f"Recorded: by {_recorded.compiler()} for an H200, since there is no GPU build here.")
        if any(one.source in ("build", "recorded") for one in self):
            notes.append("Only a GPU's driver knows the most threads.")
        return _display.Table(title, names, rows, " ".join(notes), right=figures)

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary a kernel, for JSON."""
        return [one.to_dict() for one in self]


# --- the build's report ----------------------------------------------------------------------------------------------
class Built(NamedTuple):
    """ptxas' words on one kernel for one chip."""

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
    """From what ``ptxas -v`` prints, by the linker's names of the kernels; a figure a chip."""
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
    del changed_ns  # a rebuild writes another file
    with path.open() as lines:
        return parse_ptxas(lines)


def _built(symbol: str, capability: int) -> tuple[Built | None, str]:
    """What the build's report has for that kernel, best for that chip; or why it has nothing."""
    if not REPORT.exists():
        return None, why_no_gpu_module() or "the GPU module was built without its compiler's report"
    chips = _report(REPORT, REPORT.stat().st_mtime_ns).get(symbol, [])
    if not chips:
        return None, "the GPU module was built without this kernel, or for no chip's own code"
    wanted = f"{capability // 10}.{capability % 10}"
    return next((built for built in chips if built.capability == wanted), chips[-1]), ""


# --- looking at a call -----------------------------------------------------------------------------------------------
class Launches(Observer):
    """Lists what calls would launch, and runs nothing. The pairs of ``sweep`` are (threads a block, dynamic shared
    memory) for which active blocks are asked."""

    def __init__(self, sweep: tuple[tuple[int, int], ...]) -> None:
        self.found: list[dict[str, Any]] = []
        self._sweep = sweep

    def kernel(self, run: Run) -> None:
        """Lists a kernel's call."""
        self.found += ({"variant": run.variant, **kernel} for kernel in run.launches(self._sweep))


def inspect(
    what: Operation,
    variant: _table.Variant,
    kind: np.dtype[Any],
    parameters: dict[str, Any],
    sweep: tuple[tuple[int, int], ...] = (),
) -> list[dict[str, Any]]:
    """What a call of the variant would launch, as the C module tells it; nothing is launched."""
    with observed(Launches(sweep)) as launches, np.errstate(all="ignore"):  # nobody computes the result
        what.call(*what.make(what.default_shape, kind, 0), variant=variant.name, **parameters)
    return launches.found


def shared_bytes(run: Callable[[], Any]) -> int | None:
    """Shared memory per block, static and dynamic, of the first kernel that a call would launch, which is not run; None
    if it launches none of ours, or the static part is not known."""
    with observed(Launches(())) as launches, np.errstate(all="ignore"):
        run()
    if not launches.found:
        return None
    first = _resources(launches.found[0], backend(), "")
    return None if first.static_shared is None else first.shared_bytes


def _resources(launch: dict[str, Any], here: Backend, dtype: str) -> KernelResources:
    """The driver's figures; where it has none, the build's; where that has none, those that the package brings."""
    built, why = _built(launch["symbol"], here.capability)
    names = ("registers", "static_shared", "local_bytes", "constant_bytes")
    known: dict[str, Any] = dict.fromkeys((*names, "max_threads"))
    source, version = "unknown", None
    if launch["registers"] > 0:
        known = {name: launch[name] for name in known}
        source, version = "driver", f"{launch['binary_version'] // 10}.{launch['binary_version'] % 10}"
    elif built is not None:
        known |= {name: getattr(built, name) for name in names}
        source, version = "build", built.capability
    elif recorded := _recorded.compiled(launch["symbol"]):
        built = Built(**recorded.figures, capability=recorded.capability)
        known |= {name: getattr(built, name) for name in names}
        source, version = "recorded", built.capability
    spills = built if built is not None and built.capability == version else None
    return KernelResources(
        operation=launch["variant"].operation,
        variant=launch["variant"].name,
        kernel=launch["name"],
        potential_block=launch["potential"],
        dtype=dtype,
        **{name: launch[name] for name in ("symbol", "grid", "block", "dynamic_shared", "active_blocks")},
        **known,
        spill_stores=spills.spill_stores if spills else None,
        spill_loads=spills.spill_loads if spills else None,
        capability=version,
        source=source,
        why=why if source == "unknown" else "",
    )


def _with_kernels(op: str, variant: str | None) -> list[_table.Variant]:
    if variant is None:
        return [entry for entry in _table.variants(op) if not entry.on_host]
    entry = _table.find(op, variant)
    if entry.on_host:
        raise ValueError(f"kernel_resources: {op} {variant!r} computes on the host: it has no kernel")
    return [entry]


def kernel_resources(
    op: Named, variant: str | None = None, dtype: npt.DTypeLike | None = None, **parameters: Any
) -> KernelTable:
    """Registers, shared and local memory of our kernels, as the compiler made them.

    Nothing is launched. A kernel that a call launches several times stands here once, as it is launched first; a
    library's kernels are not seen.

    Parameters
    ----------
    op : str or function
        An operation: "matmul" or ``cudakern.matmul``.
    variant : str, optional
        A name from ``variants(op)``. Not given: all that run here.
    dtype : dtype, optional
        Of the inputs. Not given: the operation's usual one, or the first that a variant takes.
    **parameters : int
        The variant's parameters, e.g. ``tile=32``: many choices are kernels of their own. Without a variant, for those
        that have them.

    Returns
    -------
    KernelTable
        A :class:`KernelResources` for each kernel that a call launches, shown as a table.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        An unknown operation or variant, or one that the host computes; a type or a parameter that the variant does not
        have; the named variant cannot run here.

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
        raise TypeError(f"kernel_resources: no variant of {op} that runs here takes {name}; they take {types}")
    return KernelTable(kernels)


def main_kernel(
    op: str, variant: str | None, dtype: Any, parameters: dict[str, Any], threads: int | None
) -> tuple[KernelResources, list[str]]:
    """The kernel of a named variant that its plan speaks of, which is the first that a call launches, and the names of
    the others. ``threads`` is the variant's parameter of that name, where it has one."""
    if variant is None:
        names = ", ".join(entry.name for entry in _with_kernels(op, None))
        raise TypeError(f"occupancy: which variant of {op}? It has {names}")
    entry = _table.find(op, variant)
    if threads is not None and _table.having("threads", [entry]):
        parameters = parameters | {"threads": threads}
    kernels = kernel_resources(op, variant, dtype, **parameters)
    if not kernels:
        raise ValueError(f"occupancy: {op} {variant!r} launches no kernel of its own")
    main = next((one for one in kernels if one.kernel in entry.kernels), kernels[0])
    return main, [one.kernel for one in kernels if one is not main]
