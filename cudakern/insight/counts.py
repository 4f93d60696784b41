"""What the counters have counted (csrc/emulator/counters), read from their library."""

from __future__ import annotations

import ctypes
import linecache
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .. import _display
from .._installed import KERNELS
from ..calls.checks import integer
from ..sources.text import Source
from . import checker
from .blocks import Blocks
from .declared import constants, local_lines
from .trace import lines_of_code

MATRIX = 1 << 16  #: OF_MATRIX
_OF_MATRIX = ("ldmatrix", "stmatrix")  #: warp operations that are counted as accesses
_OF_INTEGERS = 2048  #: EMU_OF_INTEGERS
WRITES, ATOMIC = checker.WRITES, checker.ATOMIC
SECTOR = 32  #: bytes
_NO_BANK = 1 << 56  #: above it, an address of a copy has the bank that it comes from: copy_address() of cost.c


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
        ("part", ctypes.c_uint),
        ("name", ctypes.c_char_p),
        *((name, ctypes.c_uint64) for name in ("requests", "lanes", "sectors", "used", "wavefronts", "ideal")),
        *((name, ctypes.c_uint64) for name in ("serial", "hits", "shared_bytes", "quads", "edges", "most")),
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
    space: str  #: "global", "shared"; "constant": of __constant__ variables, whose sectors are not Nsight's; "local"
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
    turns: bool = False  #: lanes that want the same bank take turns even if they want the same word


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


@dataclass(frozen=True)
class WarpOperation:
    """What the lanes of a warp do together besides loads and stores: a shuffle, a vote, a product of matrices, a read
    of a texture; or a copy by TMA, which one thread begins."""

    file: str
    line: int
    name: str  #: "__shfl_sync", "mma.sync.m16n8k16", "TMA load", "texture read"
    warps: int  #: executions by warps
    threads: int  #: lanes that took part, in all executions together
    sectors: int = 0  #: of 32 bytes in global memory, of TMA
    used: int = 0  #: bytes of these sectors that TMA reads or writes
    shared_bytes: int = 0  #: that TMA or wgmma reads or writes in shared memory
    quads: int = 0  #: groups of four neighboring lanes of which any takes part
    edges: int = 0  #: sectors that Nsight Compute counts of TMA besides, for rows that the edge of the array cuts

    @property
    def operations(self) -> int:
        """Of a product of matrices, additions and multiplications."""
        shape = _SHAPE.search(self.name)
        # (wgmma is one of four warps.)
        return 2 * math.prod(map(int, shape.groups())) * self.warps // _warps_of(self.name) if shape else 0


_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)$")


def _warps_of(operation: str) -> int:
    """That execute it together."""
    return 4 if operation.startswith("wgmma.") else 1


class Counts(NamedTuple):
    """What was counted in a launch, or in several."""

    name: str
    instructions: tuple[Instruction, ...]
    barriers: int  #: of warps: each counts once per warp
    l2: L2
    branches: tuple[Branch, ...]
    arithmetic: tuple[Arithmetic, ...]
    operations: tuple[WarpOperation, ...]
    sample: Sample | None  #: None: all blocks are counted
    kernel: str = ""  #: of one launch
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()


def together(name: str, launches: Sequence[Counts]) -> Counts:
    """The sums of launches."""
    return Counts(
        name,
        tuple(one for launch in launches for one in launch.instructions),
        sum(launch.barriers for launch in launches),
        L2._make(sum(launch.l2[i] for launch in launches) for i in range(len(L2._fields))),
        tuple(_merged(one for launch in launches for one in launch.branches)),
        tuple(_merged(one for launch in launches for one in launch.arithmetic)),
        tuple(_merged(one for launch in launches for one in launch.operations)),
        max((launch.sample for launch in launches if launch.sample), key=lambda one: one.error, default=None),
    )


class Sources:
    """The texts of the files whose lines are counted."""

    def __init__(self) -> None:
        self._of: dict[str, list[str]] = {}
        self.constants: set[str] = set()  #: names of variables in constant memory
        self._operations: set[str] = set()

    def add(self, source: Source) -> None:
        self._of[source.path.name] = source.splitlines()
        self.constants |= constants(source)

    def add_operation(self, name: str) -> None:
        if name in self._operations:  # there may be many launches
            return
        self._operations.add(name)
        for path in (KERNELS / name).rglob("*.cu*"):
            self.constants |= constants(path.read_text(encoding="utf-8"))

    def is_local(self, file: str, line: int) -> bool:
        """Whether the index of an array in local memory varies in a line."""
        return line in local_lines(tuple(one.rstrip("\n") for one in self.lines(file)))

    def lines(self, file: str) -> list[str]:
        return self._of.get(Path(file).name) or linecache.getlines(file)


Line = TypeVar("Line", Branch, Arithmetic, WarpOperation)
_Figures = TypeVar("_Figures", Instruction, Branch, Arithmetic, WarpOperation)
_OF_LINE = ("file", "line", "type", "predicated", "name")  #: which row it is


def _merged(rows: Iterable[Line]) -> list[Line]:
    """One row per place, whose numbers are the sums."""
    result: dict[tuple[Any, ...], Line] = {}
    for one in rows:
        key = tuple(getattr(one, name, None) for name in _OF_LINE)
        if before := result.get(key):
            sums = {name: value + getattr(before, name) for name, value in vars(one).items() if name not in _OF_LINE}
            one = replace(one, **sums)
        result[key] = one
    return list(result.values())


#: Launches of more threads are sampled, by blocks of so many threads.
LARGE, SAMPLED = 1 << 20, 1 << 18
_LONG_S = 10  #: a trace that takes longer says so


_SHORT_S = 2


class _Pace:
    """How fast the launch that runs now is counted."""

    def __init__(self, library: Any) -> None:
        self.library, self.launch, self.begin = library, 0, time.monotonic()

    def said(self) -> str:
        """How long it will take, if that is long."""
        total, launch = ctypes.c_uint64(), ctypes.c_uint64()
        done = self.library.counters_done(ctypes.byref(total), ctypes.byref(launch))
        if launch.value != self.launch:
            self.launch, self.begin = launch.value, time.monotonic()
        seconds, blocks = time.monotonic() - self.begin, total.value
        left = seconds * (blocks / done - 1) if done else math.inf
        if seconds < 0.5 or done == blocks or seconds + left < _LONG_S:
            return ""
        time_left = f"about {left:.0f} s left" if done else "the first one takes long"
        few = round(done / seconds * _SHORT_S)
        size = f" (with {few:,} blocks in {_SHORT_S} s)" if few else ""
        smaller = f"A smaller array, or fewer rounds of a loop, show the same sectors per request{size}"
        return f"Counting: {done:,} of {blocks:,} blocks, {time_left}. {smaller}"


@contextmanager
def progress(library: Any) -> Iterator[None]:
    """Says how long a launch will take, if that is long."""
    ended, pace = threading.Event(), _Pace(library)

    def watch() -> None:
        said = ""
        while not said and not ended.wait(0.25):
            said = pace.said()
        with _display.progress_line(None if said else False) as announce:
            while not ended.is_set():
                if said:
                    announce(f"{said}; sample=N counts N blocks.")
                ended.wait(0.9)
                said = pace.said()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def watch_program(library: Any, say: Callable[[str], None]) -> None:
    """The same of a whole program, by lines that become rare: of each long launch, and of all of them together."""

    def watch() -> None:
        pace, begin, wait, launches = _Pace(library), time.monotonic(), 0.5, 0
        spoken = begin
        while True:
            time.sleep(0.25)
            said, now = pace.said(), time.monotonic()
            if not said and now - begin > _LONG_S and pace.launch > launches:
                said = f"Counting: {pace.launch:,} launches in {now - begin:.0f} s. Fewer of them may show the same"
            if said and now - spoken >= wait:
                say(f"{said}.")
                spoken, wait, launches = now, max(2 * wait, (now - begin) / 2), pace.launch

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def counting(sample: int | None) -> Iterator[Any]:
    blocks = 0 if sample is None else min(integer("trace: sample", sample, 0), (1 << 64) - 1)
    library = checker.library()
    library.counters_done.restype = ctypes.c_uint64
    limits = (LARGE, SAMPLED, 0) if sample is None else (0, 0, blocks)
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


def read(library: Any, sources: Sources) -> list[Counts]:
    """What has been counted, by launch."""
    rows = ctypes.POINTER(_Launch)()
    launches = [rows[i] for i in range(library.counters_launches(ctypes.byref(rows)))]
    of_all = library.counters_sites()
    sites = [[of_all[one.first_site + i] for i in range(one.sites)] for one in launches]
    known: set[tuple[int, bytes | None, int]] = set()  # whose steps are kept already: there may be many launches
    for one in (one for some in sites for one in some):
        key = one.code, one.file, one.line
        one.step_count *= key not in known
        known.add(key)
    places = lines_of_code(sorted({one.code for some in sites for one in some if one.code and not one.file}), library)
    entered = library.counters_blocks()
    blocks = [[entered[one.first_block + i] for i in range(1, one.blocks)] for one in launches]
    code = Blocks({one.code for some in blocks for one in some})
    return [
        _counted(
            launch,
            [_instruction(one, places, sources, library) for one in some if one.requests and not one.name]
            + [*_local(executed, code, sources)],
            _merged(_branches(executed, code)),
            _merged(_arithmetic(executed, code)),
            _merged(_operations(some, places)),
        )
        for launch, some, executed in zip(launches, sites, blocks, strict=True)
    ]


def _counted(
    launch: _Launch,
    instructions: Sequence[Instruction],
    branches: Sequence[Branch],
    arithmetic: Sequence[Arithmetic],
    operations: Sequence[WarpOperation],
) -> Counts:
    factor = launch.all / launch.counted if launch.counted else 1
    l2 = (launch.l2_reads, launch.l2_writes, launch.l2_atomics, launch.l2_hits, launch.dram_sectors)
    kernel, grid, block = launch.kernel.decode(errors="replace"), tuple(launch.grid), tuple(launch.block)
    return Counts(
        kernel,
        tuple(_scaled(one, factor) for one in instructions),
        round(launch.barriers * factor),
        L2._make(round(figure * factor) for figure in l2),
        tuple(_scaled(one, factor) for one in branches),
        tuple(_scaled(one, factor) for one in arithmetic),
        tuple(_scaled(one, factor) for one in operations),
        Sample(launch.counted, launch.all, launch.error) if factor != 1 else None,
        kernel,
        grid,
        block,
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


def _local(executed: Sequence[_Block], code: Blocks, sources: Sources) -> Iterator[Instruction]:
    """Accesses to arrays of a thread by indices that vary."""
    for one in executed:
        for place, what in code.of_stack(one.code):
            if sources.is_local(place.file, place.line):
                figures = (0, one.warps, one.threads, 0, 0, 0, 0, 0)
                yield Instruction(place.file, place.line, what, "local", *figures, worst=(), steps=())


def _operations(of: Sequence[_Site], places: dict[int, tuple[str, int]]) -> Iterator[WarpOperation]:
    for one in of:
        name = (one.name or b"").decode()
        if name and not name.startswith(_OF_MATRIX):
            shared = one.shared_bytes
            if name.startswith("wgmma.") and (shape := _SHAPE.search(name)):
                # Reported for each warp; of B, 32 bytes of each column, which the four warps read once.
                shared -= one.requests * 32 * int(shape[2]) * 3 // 4
            moved = one.sectors, one.used, shared, one.quads, one.edges
            yield WarpOperation(*_place(one, places), name, one.requests, one.lanes, *moved)


#: An atomic operation that is a statement of its own: nobody uses its result, so that nvcc makes a reduction of it.
_STATEMENT = re.compile(
    r"(?:^|[;{})]|\belse)\s*(?:::)?atomic(?:Add|Sub|Min|Max|And|Or|Xor|Inc|Dec)(?:_block|_system)?\s*\("
)


#: Which the hardware does for several lanes at a time.
_COUNTS = re.compile(r"atomic(?:Add|Sub)\w*\s*\(.*,\s*(?:count_t|unsigned|int)?\(?1[uU]?\)?\s*\)\s*;|atomicInc")


#: An address that nvcc knows to be the same for the whole warp, if all lanes have the same one.
_ONE_WORD = r"\(\s*(?:&\s*)?\w+(?:(?:->|\.)\w+)*(?:\s*(?:\[|\+)\s*(?:blockIdx\.[xyz]|\d+)\s*\]?)?\s*,"
#: Operations on integers for which nvcc first combines the operands of the warp's lanes, so that one lane makes them.
_COMBINED = re.compile(rf"\batomic(?:Add|Sub|Min|Max|And|Or|Xor)(?:_block|_system)?\s*{_ONE_WORD}")
_COMBINED_LONG = re.compile(rf"\batomicAdd(?:_block|_system)?\s*{_ONE_WORD}\s*\d+[uUlL]*\s*\)")
_COMBINED_RESULT = re.compile(rf"\batomicAdd(?:_block|_system)?\s*{_ONE_WORD}")


def _is_combined(of: _Site, source: str, is_statement: bool) -> bool:
    """Whether one lane makes a global atomic operation for all."""
    if not of.kind & _OF_INTEGERS or of.sectors != of.lanes or of.used != of.bytes * of.requests:
        return False
    if of.bytes > 4:
        return bool(_COMBINED_LONG.search(source))
    return bool((_COMBINED if is_statement else _COMBINED_RESULT).search(source))


def _place(of: _Site, places: dict[int, tuple[str, int]]) -> tuple[str, int]:
    return (of.file.decode(errors="replace"), of.line) if of.file else places.get(of.code, ("", 0))


def _instruction(of: _Site, places: dict[int, tuple[str, int]], sources: Sources, library: Any) -> Instruction:
    file, line = _place(of, places)
    space = "shared" if of.space == checker.SHARED else "global"
    what = "atomic" if of.kind & ATOMIC else "store" if of.kind & WRITES else "load"
    if of.kind & checker.PENDING:
        what = "copy"
    if of.kind & MATRIX:
        what = f"matrix {what}"
    text, sectors, turns = sources.lines(file), of.sectors, False
    if what == "atomic":
        source = text[line - 1] if 0 < line <= len(text) else ""
        is_statement = _STATEMENT.search(source)
        # In each request: nvcc adds up in the warp.
        is_one_word = of.wavefronts == of.requests and of.serial == of.lanes
        if space == "global" and _is_combined(of, source, bool(is_statement)):
            sectors = of.requests
        if space == "global" and is_statement:
            what = "reduction"
        elif space == "shared":
            turns = not (is_statement and (is_one_word or _COUNTS.search(source)))
    worst, *steps = map(_request, (of.worst, *of.steps[: of.step_count]))
    if (space, what) == ("global", "load") and sources.constants:
        name = library.counters_variable(worst[0][1]) or b""
        space = "constant" if name.decode(errors="replace") in sources.constants else space
    figures = (of.requests, of.lanes, sectors, of.used, of.serial if turns else of.wavefronts, of.ideal, of.hits)
    return Instruction(file, line, what, space, of.part or of.bytes, *figures, worst, tuple(steps), turns)


def _request(of: _Request) -> Request:
    return tuple((lane, of.address[lane] % _NO_BANK) for lane in range(32) if of.lanes >> lane & 1)
