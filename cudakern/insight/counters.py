"""trace: what the memory system of a GPU would do for a kernel, counted without one."""

from __future__ import annotations

import ctypes
import linecache
import math
import operator
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from .. import _display
from .._backend import emulator, use_backend
from .._installed import KERNELS
from ..calls.checks import integer
from ..calls.observer import Observed, Observer, Run, observed
from ..operations.source import Source
from ..own.compile import _Run as OwnRun
from ..own.sets import in_mode
from . import checker
from .blocks import Blocks
from .costs import costs
from .declared import constants
from .session import name_of, session
from .trace import _lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .compared import Compared

MATRIX = 1 << 16  #: OF_MATRIX
WRITES, ATOMIC = checker.WRITES, checker.ATOMIC
SECTOR = 32  #: bytes
_NO_BANK = 1 << 56  #: above it, an address of a copy has the bank that it comes from: copy_address() of cost.c
_NEAR = 6  #: lines between two that access memory, which are shown


class _Request(ctypes.Structure):
    """request"""

    _fields_ = (("lanes", ctypes.c_uint32), ("address", ctypes.c_uint64 * 32))


class _Site(ctypes.Structure):
    """site"""

    _fields_ = (
        ("code", ctypes.c_uint64),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int),
        ("kind", ctypes.c_uint),
        ("bytes", ctypes.c_uint),
        ("space", ctypes.c_int),
        *((name, ctypes.c_uint64) for name in ("requests", "lanes", "sectors", "used", "wavefronts", "ideal")),
        *((name, ctypes.c_uint64) for name in ("serial", "hits", "most")),
        ("worst", _Request),
        ("step_warp", ctypes.c_uint),
        ("step_count", ctypes.c_uint),
        ("steps", _Request * 8),
    )


class _Block(ctypes.Structure):
    """code_block"""

    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("code", "warps", "threads", "divergent")),
        ("ends", ctypes.c_int),
    )


class _Launch(ctypes.Structure):
    """counted_launch"""

    _fields_ = (
        ("number", ctypes.c_uint64),
        ("kernel", ctypes.c_char * 256),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("first_site", ctypes.c_uint64),
        ("sites", ctypes.c_uint64),
        ("first_block", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("barriers", ctypes.c_uint64),
        ("warp_operations", ctypes.c_uint64),
        *((name, ctypes.c_uint64) for name in ("l2_reads", "l2_writes", "l2_atomics", "l2_hits", "dram_sectors")),
        ("complete", ctypes.c_int),
        ("all", ctypes.c_uint64),
        ("counted", ctypes.c_uint64),
        ("error", ctypes.c_double),
    )


Request = tuple[tuple[int, int], ...]  #: of each lane that takes part: (lane, address)


class Sample(NamedTuple):
    """Which part of the blocks is counted, if not all are: the figures are scaled to all."""

    counted: int
    blocks: int
    error: float  #: the standard error of the figures, as a part of them

    def __str__(self) -> str:
        return f"counted in {self.counted:,} of {self.blocks:,} blocks, ± {self.error:.1%}"


@dataclass(frozen=True)
class Instruction:
    """A load, store or atomic operation in the source, and what its requests cost."""

    file: str
    line: int  #: 0: unknown
    what: str  #: "load", "store", "atomic"; "reduction": an atomic operation in global memory without a result;
    #: "copy": cp.async, which has a part in each memory; "matrix load", "matrix store": ldmatrix, stmatrix
    space: str  #: "global", "shared"; "constant": of __constant__ variables, whose sectors are not Nsight's
    bytes: int  #: per lane
    requests: int  #: one per warp and execution
    lanes: int  #: that took part, in all requests together
    sectors: int  #: of 32 bytes, in global memory
    used: int  #: different bytes of these sectors that lanes accessed
    wavefronts: int  #: passes through shared memory
    ideal: int  #: as many as without bank conflicts
    hits: int  #: sectors that the first-level cache had, by the model of caches.c
    worst: Request  #: the costliest request
    steps: tuple[Request, ...]  #: the first requests of one warp, one after another, in the first launch alone


class L2(NamedTuple):
    """Sectors in the second-level cache, by the model of caches.c."""

    reads: int
    writes: int
    atomics: int
    hits: int  #: of these all
    dram: int  #: read from the chip's memory


@dataclass(frozen=True)
class Branch:
    """A branch in the source."""

    file: str
    line: int
    predicated: bool  #: so small that nvcc needs none: all lanes execute both ways, and predicates mask the results
    warps: int  #: executions by warps
    threads: int  #: lanes that took part, in all executions together
    divergent: int  #: times that lanes went different ways; twice for three ways


@dataclass(frozen=True)
class Arithmetic:
    """Floating-point operations of a line in one type, by all threads."""

    file: str
    line: int
    type: str  #: "float", "double", "half": also bfloat16
    adds: int  #: and subtractions
    multiplies: int
    fused: int  #: a product that is added to something, in one instruction

    @property
    def operations(self) -> int:
        """A fused operation is two."""
        return self.adds + self.multiplies + 2 * self.fused


class Sources:
    """The texts of the files whose lines are counted."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}
        self.constants: set[str] = set()  #: names of variables in constant memory

    def add(self, source: Source) -> None:
        self._of[source.path.name] = source.splitlines()
        self.constants |= constants(source)

    def add_operation(self, name: str) -> None:
        for path in (KERNELS / name).rglob("*.cu*"):
            self.constants |= constants(path.read_text(encoding="utf-8"))

    def lines(self, file: str) -> list[str]:
        return self._of.get(Path(file).name) or linecache.getlines(file)


class Counted(_display.Shown):
    """What a launch, or several, asked of the memory system: figures by line, and by Nsight Compute's names."""

    def __init__(
        self,
        name: str,
        instructions: Sequence[Instruction],
        barriers: int,
        l2: L2,
        sources: Sources,
        branches: Sequence[Branch] = (),
        arithmetic: Sequence[Arithmetic] = (),
        sample: Sample | None = None,
    ) -> None:
        self.name, self.instructions, self.barriers, self.l2 = name, tuple(instructions), barriers, l2
        self.branches, self.arithmetic = tuple(branches), tuple(arithmetic)
        self.sample = sample  #: None: all blocks are counted
        self._sources = sources

    def _sum(self, figure: str, space: str, *kinds: str) -> int:
        return sum(getattr(one, figure) for one in self.instructions if one.space == space and one.what in kinds)

    @property
    def metrics(self) -> dict[str, float]:
        """The figures by the names under which Nsight Compute shows them."""
        result: dict[str, float] = {}
        of_global = {"ld": ("load", "copy"), "st": ("store",), "atom": ("atomic",), "red": ("reduction",)}
        for op, kinds in of_global.items():
            requests, sectors = (self._sum(figure, "global", *kinds) for figure in ("requests", "sectors"))
            unit = f"pipe_lsu_mem_global_op_{op}"
            result[f"l1tex__t_requests_{unit}.sum"] = requests
            result[f"l1tex__t_sectors_{unit}.sum"] = sectors
            if requests:
                result[f"l1tex__average_t_sectors_per_request_{unit}.ratio"] = sectors / requests
        for op, what in (("ld", "load"), ("st", "store"), ("atom", "atomic")):
            kinds = what, f"matrix {what}"  # (the instructions of matrices have a name of their own, below)
            wavefronts, ideal = (self._sum(figure, "shared", *kinds) for figure in ("wavefronts", "ideal"))
            result[f"smsp__sass_inst_executed_op_shared_{op}.sum"] = self._sum("requests", "shared", what)
            result[f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = wavefronts
            result[f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"] = wavefronts - ideal
        copied = self._sum("sectors", "global", "copy")
        result["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"] = copied
        for op, what in (("ldgsts", "copy"), ("ldsm", "matrix load")):
            result[f"smsp__sass_inst_executed_op_{op}.sum"] = self._sum("requests", "shared", what)
            passes = self._sum("wavefronts", "shared", what)
            result[f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"] = passes
        targets, divergent = (
            sum(getattr(one, figure) for one in self.branches if not one.predicated)
            for figure in ("warps", "divergent")
        )
        result["smsp__sass_branch_targets.sum"] = targets
        result["smsp__sass_branch_targets_threads_divergent.sum"] = divergent
        result["smsp__sass_branch_targets_threads_uniform.sum"] = targets - divergent
        for kind in ("float", "double"):
            for op, what in (("add", "adds"), ("mul", "multiplies"), ("fma", "fused")):
                count = sum(getattr(one, what) for one in self.arithmetic if one.type == kind)
                result[f"smsp__sass_thread_inst_executed_op_{kind[0]}{op}_pred_on.sum"] = count
        return result | self._caches()

    def _caches(self) -> dict[str, float]:
        hits, sectors = (self._sum(figure, "global", "load", "copy") for figure in ("hits", "sectors"))
        of_all = [one for one in self.instructions if one.space == "global"]
        rates = {
            "l1tex__t_sector_hit_rate.pct": (sum(one.hits for one in of_all), sum(one.sectors for one in of_all)),
            "lts__t_sector_hit_rate.pct": (self.l2.hits, self.l2.reads + self.l2.writes + self.l2.atomics),
        }
        return {
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum": hits,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum": sectors - hits,
            "lts__t_sectors_op_read.sum": self.l2.reads,
            "lts__t_sectors_op_write.sum": self.l2.writes,
            "dram__bytes_read.sum": SECTOR * self.l2.dram,
            **{name: 100 * part / whole for name, (part, whole) in rates.items() if whole},
        }

    @property
    def flops(self) -> dict[str, int]:
        """Additions and multiplications by type: "float", "double", "half"."""
        result: dict[str, int] = {}
        for one in self.arithmetic:
            result[one.type] = result.get(one.type, 0) + one.operations
        return result

    def compare(self, other: Counted) -> Compared:
        """This trace and another one side by side: what changed, by figure, and by line where lines match."""
        from .compared import Compared

        return Compared(self, other)

    def by_line(self) -> _display.Table:
        """The source of the lines that are counted, and those between them, with the figures in the margin.

        Lines that cost a large share of all passes through L1 and shared memory, and more than they need, are marked.
        """
        columns = {"access": "access", "requests": "requests", "per request": "sectors per\nrequest", "used": "used",
                   "L1 hits": "L1 hits", "conflicts": "conflicts", "divergent": "divergent", "operations": "operations",
                   "cost": "cost"}  # fmt: skip
        rows: list[list[str]] = []
        marked, last, paid = [], ("", 0), costs(self.instructions)
        for (file, line), some in self._figures().items():
            text = self._sources.lines(file)
            first = last[1] + 1 if last[0] == file and line - last[1] < _NEAR else max(1, line - 1)
            if last[0] and (last[0] != file or first > last[1] + 1):
                rows.append(["..."] + [""] * (len(columns) + 1))
            empty = [""] * len(columns)
            rows += [[str(n), text[n - 1].rstrip(), *empty] for n in range(first, line) if n <= len(text)]
            source = text[line - 1].rstrip() if 0 < line <= len(text) else ""
            for figures in some:
                mark = str(paid.get((file, line, figures["access"]), ""))
                if mark:
                    marked.append(len(rows))
                shown = (mark if name == "cost" else figures.get(name, "") for name in columns)
                rows.append([f"> {line}" if mark else f"{line}", source, *shown])
                source = ""
            last = file, line
        names = [*columns.values()]
        if not marked:  # nothing is costly
            names, rows = names[:-1], [row[:-1] for row in rows]
        note = "cost: share of all passes through L1 and shared memory, where less would do." if marked else ""
        return _display.Table(
            self._title(), ["line", "source", *names], rows, note, right=["line", *names[1:8]], marked=marked
        )

    def heatmap(self, line: int, steps: int = 0) -> Figure:
        """The costliest request of a line as a picture: which sectors, or banks, each lane of the warp accesses.

        With ``steps``, the first so many requests (at most 8) that one warp makes there, one after another: those of a
        loop's iterations.

        Raises ValueError if no such line accesses memory. Needs matplotlib (``pip install cudakern[plot]``).
        """
        some = [one for one in self.instructions if one.line == line]
        if not some:
            known = ", ".join(str(n) for n in sorted({one.line for one in self.instructions}))
            raise ValueError(f"line {line} accesses no memory that is counted; these do: {known}")
        from .heatmap import heatmap

        one = max(some, key=lambda one: one.wavefronts - one.ideal or one.sectors / one.requests)
        if steps and not one.steps:  # another launch has them
            one = next(other for other in some if other.steps and (other.what, other.space) == (one.what, one.space))
        return heatmap(one, integer("heatmap: steps", steps, 0, 8))

    def text(self, file: str) -> list[str]:
        """The lines of a file of ``lines()``; empty if it is not known."""
        return self._sources.lines(file)

    def lines(self) -> dict[tuple[str, int], list[Instruction]]:
        """The instructions of each line of each file, in the lines' order."""
        result: dict[tuple[str, int], list[Instruction]] = {}
        for one in sorted(self.instructions, key=lambda one: (one.file, one.line)):
            result.setdefault((one.file, one.line), []).append(one)
        return result

    def _figures(self) -> dict[tuple[str, int], list[dict[str, str]]]:
        """The rows of each line of each file, in the lines' order: figures by column."""
        result = {place: [{"access": what, **row} for what, row in _accesses(of)] for place, of in self.lines().items()}
        for one in self.branches:
            row = {
                "access": "predicate" if one.predicated else "branch",
                "requests": f"{one.warps:,}",
                "lanes": f"{one.threads / one.warps:.3g}",
            }
            result.setdefault((one.file, one.line), []).append(row | {"divergent": f"{one.divergent:,}"})
        for some in self.arithmetic:
            row = {"access": some.type, "operations": f"{some.operations:,}"}
            result.setdefault((some.file, some.line), []).append(row)
        return dict(sorted(result.items()))

    def table(self) -> _display.Table:
        """One row per line and what it does: kind of access and memory space, branch, arithmetic of a type."""
        columns = ["access", "requests", "lanes", "sectors", "per request", "used", "L1 hits", "wavefronts"]
        columns += ["conflicts", "divergent", "operations"]
        rows = [
            [f"{Path(file).name}:{line}" if line else "unknown", *(figures.get(name, "") for name in columns)]
            for (file, line), some in self._figures().items()
            for figures in some
        ]
        return _display.Table(self._title(), ["line", *columns], rows, right=columns[1:])

    def _title(self) -> str:
        if not self.instructions:
            return f"{self.name}: no kernel that accesses memory was launched"
        notes = [f"{self.barriers:,} barrier{'s' * (self.barriers != 1)} of warps"] if self.barriers else []
        notes += [str(self.sample)] if self.sample else []
        return ": ".join([self.name, *filter(None, [", ".join(notes)])])

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "metrics": self.metrics,
            "flops": self.flops,
            **{name: [vars(one) for one in getattr(self, name)] for name in ("instructions", "branches", "arithmetic")},
        }


def _accesses(instructions: Sequence[Instruction]) -> Iterator[tuple[str, dict[str, str]]]:
    """The kinds of accesses, such as "global load", each with the figures of its instructions by column."""
    for space, what in sorted({(one.space, one.what) for one in instructions}):
        some = [one for one in instructions if (one.space, one.what) == (space, what)]
        requests, lanes, sectors, used, wavefronts, ideal, hits = (
            sum(getattr(one, name) for one in some)
            for name in ("requests", "lanes", "sectors", "used", "wavefronts", "ideal", "hits")
        )
        shared = space == "shared"
        yield (
            f"{space} {what}",
            {
                "requests": f"{requests:,}",
                "lanes": f"{lanes / requests:.3g}",
                "sectors": f"{sectors:,}" if space == "global" else "",
                "per request": f"{sectors / requests:.3g}" if space == "global" else "",
                "used": f"{used / (SECTOR * sectors):.0%}" if space == "global" else "",
                "L1 hits": f"{hits / sectors:.0%}" if space == "global" else "",
                "wavefronts": f"{wavefronts:,}" if shared else "",
                "conflicts": f"{wavefronts - ideal:,}" if shared else "",
            },
        )


Line = TypeVar("Line", Branch, Arithmetic)
_Figures = TypeVar("_Figures", Instruction, Branch, Arithmetic)


def _merged(rows: Iterable[Line]) -> list[Line]:
    """One row per place, whose numbers are the sums."""
    result: dict[tuple[Any, ...], Line] = {}
    for one in rows:
        key = one.file, one.line, getattr(one, "type", ""), getattr(one, "predicated", False)
        if before := result.get(key):
            sums = {
                name: value + getattr(before, name)
                for name, value in vars(one).items()
                if name not in ("file", "line", "type", "predicated")
            }
            one = replace(one, **sums)
        result[key] = one
    return list(result.values())


class Trace(Counted):
    """The counters of a call: of all its launches together, and of each in ``launches``."""

    def __init__(self, name: str, launches: Sequence[Counted], sources: Sources) -> None:
        super().__init__(
            name,
            [one for launch in launches for one in launch.instructions],
            sum(launch.barriers for launch in launches),
            L2._make(sum(launch.l2[i] for launch in launches) for i in range(len(L2._fields))),
            sources,
            _merged(one for launch in launches for one in launch.branches),
            _merged(one for launch in launches for one in launch.arithmetic),
            max((launch.sample for launch in launches if launch.sample), key=lambda one: one.error, default=None),
        )
        self.launches = tuple(launches)

    def _title(self) -> str:
        if self.launches and not self.instructions:
            return (
                f"{self.name}: nothing was counted (profile, ladder, bench and lab launch what they measure themselves)"
            )
        return super()._title()


class _Tracing(Observer):
    """Runs every call in the set whose kernels report what they do."""

    mode = "traced"

    def __init__(self, library: Any) -> None:
        self.sources, self.library = Sources(), library

    def kernel(self, run: Observed) -> None:
        if isinstance(run, Run):
            self.sources.add_operation(run.variant.operation)
        else:
            self.sources.add(cast(OwnRun, run).launch.kernel.program.source)
        if run.native is not emulator():
            raise TypeError("trace runs kernels on the emulator: pass NumPy arrays, or arrays made inside it")
        run = in_mode(run, self.mode)
        with _progress(self.library):
            run.execute()
            run.native.synchronize(run.device)


#: Launches of more threads are sampled, by blocks of so many threads.
LARGE, SAMPLED = 1 << 20, 1 << 18
_LONG_S = 10  #: a trace that takes longer says so


@contextmanager
def _progress(library: Any) -> Iterator[None]:
    """Says how long a launch will take, if that is long."""
    ended = threading.Event()

    def watch() -> None:
        total, begin = ctypes.c_uint64(), time.monotonic()
        with _display.progress_line(None) as announce:
            while not ended.wait(0.9):
                done = library.counters_done(ctypes.byref(total))
                seconds, all_blocks = time.monotonic() - begin, total.value
                left = seconds * (all_blocks / done - 1) if done else math.inf
                if seconds + left > _LONG_S:
                    time_left = f"about {left:.0f} s left" if done else "the first one takes long"
                    announce(
                        f"Counting: {done:,} of {all_blocks:,} blocks, {time_left}. A smaller array, or fewer rounds of"
                        " a loop, show the same sectors per request; sample=N counts N blocks."
                    )

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def trace(function: Callable[..., Any], *arguments: Any, sample: int | None = None, **keywords: Any) -> Trace:
    """Run a call on the emulator, and count what its kernels ask of the memory system.

    Parameters
    ----------
    function : callable
        An operation, a launch of a kernel of your own, ``kernel[grid, block]``, or any function that calls these.
    *arguments, **keywords
        Its arguments.
    sample : int, optional
        How many blocks of each launch to count, in eight runs of neighbors; 0 counts all. By default, launches of more
        than 1,048,576 threads are sampled by blocks of 262,144 threads. All blocks run; the figures are scaled.

    Returns
    -------
    Trace
        The counters, which display as a table with a row per line. ``metrics`` has them by Nsight Compute's names.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or arrays are on a GPU.
    ValueError
        If ``sample`` is negative.

    Examples
    --------
    >>> import numpy as np, cudakern as ck
    >>> program = ck.compile('''
    ... __global__ void every_second(const float *x, float *y) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     y[i] = x[2 * i];
    ... }''')
    >>> x = np.zeros(2048, "f4")
    >>> t = ck.trace(program.every_second[4, 256], x, np.zeros(1024, "f4"))
    >>> [(one.line, one.what, one.requests, one.sectors) for one in t.instructions]
    [(4, 'load', 32, 256), (4, 'store', 32, 128)]
    """
    name = " ".join([name_of(function, "trace"), *(str(keywords[word]) for word in ("variant",) if word in keywords)])
    with session.paused(), use_backend("emulator"), _counting(sample) as library, observed(_Tracing(library)) as by:
        function(*arguments, **keywords)
        launches = _read(library, by.sources)
    return Trace(name, launches, by.sources)


@contextmanager
def _counting(sample: int | None) -> Iterator[Any]:
    if sample is not None and operator.index(sample) < 0:
        raise ValueError(f"sample is {sample}, but must be at least 0")
    library = checker.library()
    library.counters_done.restype = ctypes.c_uint64
    limits = (LARGE, SAMPLED, 0) if sample is None else (0, 0, operator.index(sample))
    library.counters_sample(*map(ctypes.c_uint64, limits))
    library.counters_launches.restype = ctypes.c_size_t
    library.counters_sites.restype = ctypes.POINTER(_Site)
    library.counters_blocks.restype = ctypes.POINTER(_Block)
    library.counters_variable.restype, library.counters_variable.argtypes = ctypes.c_char_p, [ctypes.c_size_t]
    if library.counters_begin():
        raise RuntimeError("a check or another trace, in another thread or around this one, has not ended")
    try:
        yield library
    finally:
        library.counters_end()


def _read(library: Any, sources: Sources) -> list[Counted]:
    rows = ctypes.POINTER(_Launch)()
    launches = [rows[i] for i in range(library.counters_launches(ctypes.byref(rows)))]
    of_all = library.counters_sites()
    sites = [[of_all[one.first_site + i] for i in range(one.sites)] for one in launches]
    known: set[tuple[int, bytes | None, int]] = set()  # whose steps are kept already: there may be many launches
    for one in (one for some in sites for one in some):
        key = one.code, one.file, one.line
        one.step_count *= key not in known
        known.add(key)
    places = _lines(sorted({one.code for some in sites for one in some if one.code and not one.file}), library)
    entered = library.counters_blocks()
    blocks = [[entered[one.first_block + i] for i in range(1, one.blocks)] for one in launches]
    code = Blocks({one.code for some in blocks for one in some})
    return [
        _counted(
            launch,
            [_instruction(one, places, sources, library) for one in some if one.requests],
            _merged(_branches(executed, code)),
            _merged(_arithmetic(executed, code)),
            sources,
        )
        for launch, some, executed in zip(launches, sites, blocks, strict=True)
    ]


def _counted(
    launch: _Launch,
    instructions: Sequence[Instruction],
    branches: Sequence[Branch],
    arithmetic: Sequence[Arithmetic],
    sources: Sources,
) -> Counted:
    factor = launch.all / launch.counted if launch.counted else 1
    l2 = (launch.l2_reads, launch.l2_writes, launch.l2_atomics, launch.l2_hits, launch.dram_sectors)
    return Counted(
        f"{launch.kernel.decode(errors='replace')}, grid {_display.dimensions(launch.grid)}",
        [_scaled(one, factor) for one in instructions],
        round(launch.barriers * factor),
        L2._make(round(figure * factor) for figure in l2),
        sources,
        [_scaled(one, factor) for one in branches],
        [_scaled(one, factor) for one in arithmetic],
        Sample(launch.counted, launch.all, launch.error) if factor != 1 else None,
    )


def _scaled(one: _Figures, factor: float) -> _Figures:
    """With counts for all blocks in place of those that were counted."""
    if factor == 1:
        return one
    counts = [field.name for field in fields(one) if field.type == "int" and field.name not in ("line", "bytes")]
    return replace(one, **{name: round(getattr(one, name) * factor) for name in counts})


def _branches(executed: Sequence[_Block], code: Blocks) -> Iterator[Branch]:
    ends = {one.code for one in executed if one.ends}
    for one in executed:
        if branch := code.branch(one.code, ends):
            place, is_predicated = branch
            yield Branch(place.file, place.line, is_predicated, one.warps, one.threads, one.divergent)


def _arithmetic(executed: Sequence[_Block], code: Blocks) -> Iterator[Arithmetic]:
    for one in executed:
        for place, what in code.operations(one.code):
            counts = dict.fromkeys(("adds", "multiplies", "fused"), 0) | {what.what: what.numbers * one.threads}
            yield Arithmetic(place.file, place.line, what.type, **counts)


#: An atomic operation that is a statement of its own: nobody uses its result, so that nvcc makes a reduction of it.
_STATEMENT = re.compile(
    r"(?:^|[;{})]|\belse)\s*(?:::)?atomic(?:Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(?:_block|_system)?\s*\("
)


#: Which the hardware does for several lanes at a time.
_COUNTS = re.compile(r"atomic(?:Add|Sub)\w*\s*\(.*,\s*(?:count_t|unsigned|int)?\(?1[uU]?\)?\s*\)\s*;|atomicInc")


def _instruction(of: _Site, places: dict[int, tuple[str, int]], sources: Sources, library: Any) -> Instruction:
    file, line = (of.file.decode(errors="replace"), of.line) if of.file else places.get(of.code, ("", 0))
    space = "shared" if of.space == checker.SHARED else "global"
    what = "atomic" if of.kind & ATOMIC else "store" if of.kind & WRITES else "load"
    if of.kind & checker.PENDING:
        what = "copy"
    if of.kind & MATRIX:
        what = f"matrix {what}"
    text, wavefronts = sources.lines(file), of.wavefronts
    if what == "atomic":
        source = text[line - 1] if 0 < line <= len(text) else ""
        is_statement = _STATEMENT.search(source)
        is_one_word = (
            of.wavefronts == of.requests and of.serial == of.lanes
        )  # of each request: nvcc adds up in the warp
        if space == "global" and is_statement:
            what = "reduction"
        elif space == "shared" and not (is_statement and (is_one_word or _COUNTS.search(source))):
            wavefronts = of.serial
    worst, *steps = map(_request, (of.worst, *of.steps[: of.step_count]))
    if (space, what) == ("global", "load") and sources.constants:
        name = library.counters_variable(worst[0][1]) or b""
        space = "constant" if name.decode(errors="replace") in sources.constants else space
    figures = (of.requests, of.lanes, of.sectors, of.used, wavefronts, of.ideal, of.hits)
    return Instruction(file, line, what, space, of.bytes, *figures, worst, tuple(steps))


def _request(of: _Request) -> Request:
    return tuple((lane, of.address[lane] % _NO_BANK) for lane in range(32) if of.lanes >> lane & 1)
