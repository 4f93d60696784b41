"""What the compiler made of our kernels: registers, shared and local memory, from the driver or the build's report."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _display, _table
from ._backend import Backend, backend
from ._dtypes import numpy_dtype
from ._observer import Observer, Run, observed
from ._operations import Operation, operation

#: What setup.py keeps of the GPU's compiler: its words on each kernel, and why there is no GPU module.
LIBRARY = Path(__file__).resolve().parent / "lib"
REPORT, BUILD = LIBRARY / "kernels.txt", LIBRARY / "build.json"


@dataclass(frozen=True, repr=False)
class KernelResources:
    """One kernel of a variant: what a call launches, and what the compiler made of the kernel.

    ``source`` says who told: "driver" (cudaFuncGetAttributes), "build" (the compiler's own words, kept when the GPU
    module was built) or "unknown"; then the figures are None, and ``why`` says why.
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

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __repr__(self) -> str:
        return KernelTable((self,)).table().text()

    def _repr_html_(self) -> str:
        return KernelTable((self,)).table().html()


class KernelTable(tuple[KernelResources, ...]):
    """Kernels, in the order in which they are launched; shown as a table."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return KernelTable(one for one in self if key in (one.variant, one.kernel))
        return super().__getitem__(key)

    def table(self) -> _display.Table:
        """A row a kernel."""

        def figure(value: Any) -> str:
            return "?" if value is None else f"{value:,}" if isinstance(value, int) else str(value)

        figures = ["registers", "static\nshared", "dynamic\nshared", "local", "spills", "most\nthreads"]
        rows = [
            [
                one.variant,
                one.kernel,
                one.dtype,
                "x".join(map(str, _short(one.block))),
                *map(figure, (one.registers, one.static_shared, one.dynamic_shared, one.local_bytes)),
                figure(None if one.spill_stores is None else one.spill_stores + (one.spill_loads or 0)),
                figure(one.max_threads),
                one.capability or "?",
                one.source,
            ]
            for one in self
        ]
        names = ["variant", "kernel", "type", "block", *figures, "chip", "from"]
        title = f"{self[0].operation}: what the compiler made of the kernels" if self else "no kernels"
        said = ["Registers, local memory and spills (bytes) are a thread's, shared memory (bytes) a block's."]
        said += dict.fromkeys(f"Unknown: {one.why}." for one in self if one.source == "unknown")
        if any(one.source == "build" for one in self):
            said.append("Most threads is the driver's to say, and no GPU's driver was asked.")
        return _display.Table(title, names, rows, " ".join(said), right=figures)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_dict(self) -> list[dict[str, Any]]:
        """A dictionary a kernel, for JSON."""
        return [one.to_dict() for one in self]


def _short(sizes: Sequence[int]) -> Sequence[int]:
    """(256, 1, 1) as (256,)."""
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    return sizes


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
    found: dict[str, list[Built]] = {}
    symbol, chip, stack = "", 0, (0, 0, 0)
    for line in lines:
        if entry := _ENTRY.search(line):
            symbol, chip, stack = entry[1], int(entry[2]), (0, 0, 0)
        elif frame := _STACK.search(line):
            stack = (int(frame[1]), int(frame[2]), int(frame[3]))
        elif symbol and "Used" in line and "registers" in line:

            def bytes_of(pattern: str, line: str = line) -> int:
                return sum(map(int, re.findall(pattern, line)))

            made = Built(
                bytes_of(r"Used (\d+) registers"),
                bytes_of(r"(\d+) bytes smem"),
                *stack,
                bytes_of(r"(\d+) bytes cmem\[\d+\]"),
                f"{chip // 10}.{chip % 10}",
            )
            found.setdefault(symbol, []).append(made)
            symbol = ""
    return found


@functools.lru_cache(1)
def _report(path: Path, changed_ns: int) -> dict[str, list[Built]]:
    del changed_ns  # a rebuild writes another file
    with path.open() as lines:
        return parse_ptxas(lines)


def _built(symbol: str, capability: int) -> tuple[Built | None, str]:
    """What the build's report has for that kernel, best for that chip; or why it has nothing."""
    if not REPORT.exists():
        try:
            why = json.loads(BUILD.read_text())["_cuda"]["why_not"]
        except (OSError, KeyError, ValueError):
            why = ""
        return None, why or "the GPU module was built without its compiler's report"
    chips = _report(REPORT, REPORT.stat().st_mtime_ns).get(symbol, [])
    if not chips:
        return None, "the GPU module was built without this kernel, or for no chip's own code"
    wanted = f"{capability // 10}.{capability % 10}"
    return next((made for made in chips if made.capability == wanted), chips[-1]), ""


# --- looking at a call -----------------------------------------------------------------------------------------------
class Launches(Observer):
    """Lists what calls would launch, and runs nothing. The pairs of ``sweep`` are (threads a block, dynamic shared
    memory) for which active blocks are asked."""

    def __init__(self, sweep: tuple[tuple[int, int], ...]) -> None:
        self.found: list[dict[str, Any]] = []
        self._sweep = sweep

    def kernel(self, run: Run) -> None:
        """Lists a kernel's call."""
        self.found += ({"row": run.row, **kernel} for kernel in run.launches(self._sweep))


def inspect(
    what: Operation,
    row: _table.Variant,
    kind: np.dtype[Any],
    parameters: dict[str, Any],
    sweep: tuple[tuple[int, int], ...] = (),
) -> list[dict[str, Any]]:
    """What a call of the row would launch, as the C module tells it; nothing is launched."""
    with observed(Launches(sweep)) as launches, np.errstate(all="ignore"):  # nobody computes the result
        what.call(*what.make(what.default_shape, kind, 0), variant=row.name, **parameters)
    return launches.found


def _resources(found: dict[str, Any], here: Backend, dtype: str) -> KernelResources:
    """The driver's figures; where it has none the build's; where that has none, why."""
    built, why = _built(found["symbol"], here.capability)
    driver = found["registers"] > 0
    known: dict[str, Any] = dict.fromkeys(("registers", "static_shared", "local_bytes", "constant_bytes"))
    if driver:
        known = {name: found[name] for name in known}
    elif built is not None:
        known = {name: getattr(built, name) for name in known}
    version = found["binary_version"]
    made_for = f"{version // 10}.{version % 10}" if driver else built.capability if built is not None else None
    spills = built if built is not None and built.capability == made_for else None
    row = found["row"]
    return KernelResources(
        operation=row.operation,
        variant=row.name,
        kernel=found["name"],
        symbol=found["symbol"],
        dtype=dtype,
        grid=found["grid"],
        block=found["block"],
        dynamic_shared=found["dynamic_shared"],
        **known,
        spill_stores=spills.spill_stores if spills else None,
        spill_loads=spills.spill_loads if spills else None,
        max_threads=found["max_threads"] if driver else None,
        active_blocks=found["active_blocks"],
        potential_block=found["potential"],
        capability=made_for,
        source="driver" if driver else "build" if built is not None else "unknown",
        why="" if driver or built is not None else why,
    )


def _rows(op: str, variant: str | None) -> list[_table.Variant]:
    if variant is None:
        return [row for row in _table.variants(op) if not row.on_host]
    row = _table.find(op, variant)
    if row.on_host:
        raise ValueError(f"kernel_resources: {op} {variant!r} computes on the host: it has no kernel")
    return [row]


def kernel_resources(
    op: str, variant: str | None = None, dtype: npt.DTypeLike | None = None, **parameters: Any
) -> KernelTable:
    """Registers, shared and local memory of our kernels, as the compiler made them.

    Parameters
    ----------
    op : str
        An operation, e.g. "matmul".
    variant : str, optional
        A name from ``variants(op)``. Not given: all that run here.
    dtype : dtype, optional
        Of the inputs. Not given: the operation's usual one, or the first that a row takes.
    **parameters : int
        The row's parameters, e.g. ``tile=32``: many choices are kernels of their own. Without a variant, for those
        rows that have them.

    Returns
    -------
    KernelTable
        A :class:`KernelResources` for each kernel that a call launches, shown as a table. (Partial results are added
        by a kernel of their own for arrays on the device, by the host for others.)

    Raises
    ------
    ValueError
        An unknown operation or variant, or a row that the host computes.
    TypeError
        A type or a parameter that the row does not have.
    NotImplementedError
        The named variant cannot run here.

    Notes
    -----
    Nothing is launched: the call is made on the ladder's input with a list in place of the launches. On a GPU the
    driver tells (cudaFuncGetAttributes); else the compiler's words that the build has kept (ptxas -v, P's "compile
    hints"). Spills are in the latter only. ``active_blocks`` and ``potential_block`` are the runtime's own answers
    (cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxPotentialBlockSize), the emulator's without a GPU. A
    kernel that a call launches several times stands here once, as it is launched first. A library's kernels, of a row
    that calls one, are not seen.

    Examples
    --------
    >>> import cudakern
    >>> found = cudakern.kernel_resources("matmul", "shared_row")
    >>> found[0].kernel, found[0].source in ("driver", "build", "unknown")
    ('shared_row', True)
    """
    what, here = operation(op), backend()
    made: list[KernelResources] = []
    for name in parameters if variant is None else ():
        if not _table.having(name, _rows(op, None)):
            raise TypeError(f"kernel_resources: no variant of {op} has a parameter {name!r}")
    for row in _rows(op, variant):
        name = numpy_dtype(what.default_dtype if dtype is None else dtype).name
        if variant is None and (row.why_not(here) or (name not in row.types and dtype is not None)):
            continue
        if dtype is None and name not in row.types:
            name = row.types[0]
        row.signature(name)
        its = {k: v for k, v in parameters.items() if variant is not None or _table.having(k, [row])}
        found = inspect(what, row, numpy_dtype(name), its)
        made += (_resources(one, here, name) for one in found)
    if not made and dtype is not None and variant is None:
        taken = dict.fromkeys(t for row in _rows(op, None) for t in row.types)
        raise TypeError(
            f"kernel_resources: no variant of {op} that runs here takes {name}; they take {', '.join(taken)}"
        )
    return KernelTable(made)


def main_kernel(
    op: str, variant: str | None, dtype: Any, parameters: dict[str, Any], threads: int | None
) -> tuple[KernelResources, list[str]]:
    """The kernel of a named row that its plan speaks of, which is the first that a call launches, and the names of the
    others. ``threads`` is the row's parameter of that name, where it has one."""
    if variant is None:
        names = ", ".join(row.name for row in _rows(op, None))
        raise TypeError(f"occupancy: which variant of {op}? It has {names}")
    if threads is not None and _table.having("threads", [_table.find(op, variant)]):
        parameters = parameters | {"threads": threads}
    found = kernel_resources(op, variant, dtype, **parameters)
    if not found:
        raise ValueError(f"occupancy: {op} {variant!r} launches no kernel of its own")
    named = _table.find(op, variant).kernels
    ours: KernelResources = next((one for one in found if one.kernel in named), found[0])
    return ours, [one.kernel for one in found if one is not ours]
