"""What the threads of a launch did, as a list: the recorder of the emulator (csrc/emulator/checker/trace.c)."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .._backend import use_backend
from .._errors import CudaError
from ..arrays.array import DeviceArray
from ..calls.observer import Observed, Observer, Run, observed
from ..own.compile import _Run as OwnRun
from ..own.sets import in_mode
from . import checker
from .checker import Line, Place, triple

_ACCESS, _BARRIER, _WARP = range(3)


class _Record(ctypes.Structure):
    """trace_record"""

    _fields_ = (
        ("address", ctypes.c_uint64),
        ("code", ctypes.c_uint64),
        ("file", ctypes.c_char_p),
        ("launch", ctypes.c_uint64),
        ("block", ctypes.c_uint64),
        ("index", ctypes.c_uint * 3),
        ("at", ctypes.c_uint * 3),
        ("line", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("what", ctypes.c_uint),
        ("kind", ctypes.c_uint),
        ("bytes", ctypes.c_uint),
        ("space", ctypes.c_uint),
    )


@dataclass(frozen=True)
class Access:
    """A read or a write by a thread."""

    launch: int
    block: int  #: its number, and that of the thread in it
    thread: int
    place: Place
    kind: int  #: of checker.READS, ...
    address: int
    bytes: int
    shared: bool  #: memory of its block
    interval: int  #: how many barriers of its block, and __syncwarps of its warp, came before

    @property
    def writes(self) -> bool:
        return bool(self.kind & checker.WRITES)

    @property
    def atomic(self) -> bool:
        return bool(self.kind & checker.ATOMIC)

    def overlaps(self, other: Access) -> bool:
        return self.address < other.address + other.bytes and other.address < self.address + self.bytes


@dataclass(frozen=True)
class Trace:
    """What the threads of all launches did, in the order of the emulator."""

    accesses: list[Access]
    barriers: dict[tuple[int, int], str]  #: by launch and interval: what ends it, such as "__syncthreads() in line 7"
    arrays: dict[tuple[int, int], int]  #: by launch and parameter, of kernels of one's own: where the array begins


class _Recording(Observer):
    """Runs every call in the checked set, whose kernels report what they do."""

    mode = "checked"

    def __init__(self) -> None:
        self.arrays: dict[tuple[int, int], int] = {}

    def kernel(self, run: Observed) -> None:
        run = in_mode(run, self.mode)
        with suppress(CudaError):  # what was recorded until then remains
            run.execute()
            run.native.synchronize(run.device)
        rows, count = _records(checker.library())
        if count and not isinstance(run, Run):
            arguments = enumerate(cast(OwnRun, run).arguments)
            self.arrays |= {(rows[count - 1].launch, i): x.pointer for i, x in arguments if hasattr(x, "pointer")}


def record(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Trace:
    """Runs a call as ``check`` does, and records what its threads do; of a long launch, only the beginning."""
    # A check that goes on around this one pauses when it is no longer the observer: not before.
    with use_backend("emulator"), observed(_Recording()) as by, _recording() as library:
        function(*arguments, **keywords)
        rows, count = _records(library)
        return _trace([rows[i] for i in range(count)], by.arrays, library)


class Call:
    """A call that can be made again, with its arrays as they were at first."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self._call = function, arguments, keywords
        self._before = _contents((*arguments, *keywords.values()))

    def trace(self) -> Trace:
        """What its threads do; the arrays have afterwards what they have now."""
        function, arguments, keywords = self._call
        now = _contents(x for x, _ in self._before)
        _restore(self._before)
        try:
            return record(function, *arguments, **keywords)
        finally:
            _restore(now)


_Contents = list[tuple[Any, Any]]


def _contents(values: Iterable[Any]) -> _Contents:
    """Copies of those that are arrays and can be written. Views of one array stay its views: no copy is passed."""
    arrays = [x for x in values if (isinstance(x, np.ndarray) and x.flags.writeable) or isinstance(x, DeviceArray)]
    return [(x, x.copy()) for x in arrays if not getattr(x, "read_only", False)]


def _restore(contents: _Contents) -> None:
    for x, values in contents:
        x[...] = values


def _records(library: Any) -> tuple[Any, int]:
    """Those of the recording so far, and their number."""
    rows = ctypes.POINTER(_Record)()
    count = library.trace_records(ctypes.byref(rows))
    return rows, count


@contextmanager
def _recording() -> Iterator[Any]:
    library = checker.library()
    if library.trace_begin():
        raise RuntimeError("a check, in another thread or around this recording, has not ended")
    try:
        yield library
    finally:
        library.trace_end()


def _trace(records: list[_Record], arrays: dict[tuple[int, int], int], library: Any) -> Trace:
    places = lines_of_code(sorted({one.code for one in records if one.code and not one.file}), library)
    of_block, of_warp = Counter[tuple[int, int]](), Counter[tuple[int, int, int]]()
    accesses, barriers = [], {}
    for one in records:
        file, line = (one.file.decode(errors="replace"), one.line) if one.file else places.get(one.code, ("", 0))
        block, warp = (one.launch, one.block), (one.launch, one.block, max(one.thread, 0) // 32)
        interval = of_block[block] + of_warp[warp]
        if one.what == _ACCESS:
            place = Place(file, line, triple(one.index), triple(one.at))
            shared = one.space == checker.SHARED
            what = one.kind, one.address, one.bytes, shared, interval
            accesses.append(Access(one.launch, one.block, one.thread, place, *what))
            continue
        name = "__syncwarp()" if one.what == _WARP else "barrier"
        barriers[one.launch, interval] = f"{name} in line {line}" if line else name
        if one.what == _WARP:
            of_warp[warp] += 1
        else:
            of_block[block] += 1
    return Trace(accesses, barriers, arrays)


def lines_of_code(codes: list[int], library: Any) -> dict[int, tuple[str, int]]:
    """The file and line of each instruction."""
    found = (Line * len(codes))()
    if codes:
        library.emu_source_lines((ctypes.c_size_t * len(codes))(*codes), ctypes.c_size_t(len(codes)), found)
    return {code: (one.file.decode(errors="replace"), one.line) for code, one in zip(codes, found, strict=True)}
