"""The checker of the emulator (csrc/emulator/checker), as a library: begins, ends, and what it has found."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._installed import LIBRARY

KINDS = (
    "bounds",
    "misaligned",
    "freed",
    "uninitialised",
    "race",
    "scope",
    "double_free",
    "proxy",
    "leak",
    "ended",
    "index",
    "streams",
)
SHARED, LOCAL = 1, 2  #: emu_space
OF_DEVICE, SYMBOL, MANAGED = 0, 3, 5  #: emu_memory_kind; others are memory of the host
COPY = 1 << 63  #: in a launch's number: it is none, but a copy by the host
READS, WRITES, ATOMIC, PENDING, VOLATILE, CACHED = 1, 2, 4, 8, 16, 512  #: emu_access_kind


class Line(ctypes.Structure):
    """emu_line"""

    _fields_ = (("line", ctypes.c_int), ("file", ctypes.c_char * 200))


class Access(ctypes.Structure):
    """checker_access"""

    _fields_ = (
        ("line", Line),
        ("kind", ctypes.c_uint),
        ("bytes", ctypes.c_uint),
        ("block", ctypes.c_uint * 3),
        ("thread", ctypes.c_uint * 3),
    )


class Found(ctypes.Structure):
    """checker_finding"""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("launch", ctypes.c_uint64),
        ("kernel", ctypes.c_char * 256),
        ("grid", ctypes.c_uint * 3),
        ("shape", ctypes.c_uint * 3),
        ("access", Access),
        ("other", Access),
        ("address", ctypes.c_uint64),
        ("space", ctypes.c_int),
        ("parameter", ctypes.c_int),
        ("variable", ctypes.c_char * 128),
        ("offset", ctypes.c_int64),
        ("length", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("other_launch", ctypes.c_uint64),
        ("call", Line),
        ("other_call", Line),
        ("other_kernel", ctypes.c_char * 128),
    )


class HostAccess(ctypes.Structure):
    """checker_touch: the host touches memory that it must not touch, or not yet."""

    _fields_ = (
        ("address", ctypes.c_size_t),
        ("bytes", ctypes.c_size_t),
        ("kind", ctypes.c_uint),
        ("code", ctypes.c_size_t),
        ("begin", ctypes.c_size_t),  # of the allocation
        ("length", ctypes.c_size_t),
        ("memory_kind", ctypes.c_int),
        ("device", ctypes.c_int),
        ("at", ctypes.c_void_p),
        ("allocated", ctypes.c_size_t),  # by this code
        ("stands_in", ctypes.c_int),
        ("padding", ctypes.c_int),
        ("other", Line),  # in a kernel that it has not waited for
        ("other_kind", ctypes.c_uint),
        ("kernel", ctypes.c_char * 128),  # b"": it is a copy,
        ("copy", Line),  # which the host has queued here
        ("call", ctypes.c_size_t),  # of a library's function, around the access; 0: there is none
    )


class Failure(ctypes.Structure):
    """checker_failure"""

    _fields_ = (
        ("kind", ctypes.c_int),
        ("code", ctypes.c_int),
        ("launch", ctypes.c_uint64),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("call", ctypes.c_uint64),
        ("count", ctypes.c_uint64),
        ("message", ctypes.c_char * 1024),
    )


OF_KERNEL, REFUSED, NOT_RUN, IGNORED = range(4)  #: emu_failure_kind


@functools.cache
def library() -> Any:
    of_checker = ctypes.CDLL(str(LIBRARY / "libcudakern_checker.so"))
    of_checker.checker_failures.restype = of_checker.checker_touches.restype = ctypes.c_size_t
    of_checker.checker_findings.restype = of_checker.checker_unwritten.restype = ctypes.c_size_t
    of_checker.checker_last_launch.restype = ctypes.c_uint64
    of_checker.checker_shadow.restype = of_checker.checker_allocations.restype = ctypes.c_size_t
    of_checker.trace_records.restype = ctypes.c_size_t
    return of_checker


def begin() -> None:
    """From now on, launches are checked. RuntimeError if another tool watches them."""
    if library().checker_begin():
        raise RuntimeError("another check, in another thread or around this one, has not ended")


def end() -> None:
    library().checker_end()


def not_awaited() -> tuple[str, Place] | None:
    """At the end of a program, when its kernels have ended: the last one that it has not waited for, and its launch."""
    kernel, call = ctypes.create_string_buffer(128), Line()
    if not library().checker_last_launch_not_awaited(ctypes.byref(kernel), ctypes.byref(call)):
        return None
    return kernel.value.decode(errors="replace"), of_host(call)


def notes(wanted: bool) -> None:
    """Whether what need not be a mistake is found, too."""
    library().checker_notes(int(wanted))


def quick(wanted: bool) -> None:
    """Whether accesses that are no mistake are recognized the quick way. What is found is the same."""
    library().checker_quick(int(wanted))


def find_leaks() -> None:
    """Adds what memory from malloc in kernels is still in use."""
    library().checker_find_leaks()


def last_launch() -> int:
    """The number of the launch that began last."""
    return int(library().checker_last_launch())


@contextlib.contextmanager
def own_wait() -> Iterator[None]:
    """What this thread waits for inside ``with`` counts as not waited for: the program itself does not wait."""
    library().checker_waits(1)
    try:
        yield
    finally:
        library().checker_waits(0)


def unwritten(address: int, nbytes: int) -> tuple[int, int]:
    """How many of these bytes nobody has written, and the first one."""
    first = ctypes.c_size_t()
    count = library().checker_unwritten(ctypes.c_size_t(address), ctypes.c_size_t(nbytes), ctypes.byref(first))
    return count, first.value


def host_accesses() -> list[HostAccess]:
    """The accesses by which the host has touched memory of the device's."""
    first = ctypes.POINTER(HostAccess)()
    return first[: library().checker_touches(ctypes.byref(first))]


def in_use() -> list[tuple[int, int]]:
    """Memory that the program itself has allocated and not freed: the address of the call, and the bytes."""
    count = library().checker_allocations(None, None, ctypes.c_size_t(0))
    callers, sizes = (ctypes.c_size_t * count)(), (ctypes.c_size_t * count)()
    library().checker_allocations(callers, sizes, ctypes.c_size_t(count))
    return list(zip(callers, sizes, strict=True))


def shadow() -> tuple[int, int]:
    """The bytes of the checker's memory about accesses, and those of the pages of memory that have been accessed."""
    accessed = ctypes.c_size_t()
    return library().checker_shadow(ctypes.byref(accessed)), accessed.value


def announce(arrays: Iterable[tuple[int, int]]) -> None:
    """The arrays (address, bytes) of the next launches: only these parts of their allocations may be accessed."""
    known = list(arrays)
    begins = (ctypes.c_size_t * len(known))(*(address for address, _ in known))
    lengths = (ctypes.c_size_t * len(known))(*(nbytes for _, nbytes in known))
    library().checker_arrays(ctypes.c_size_t(len(known)), begins, lengths)


def extent(view: Any) -> tuple[int, int]:
    """The address and the bytes of an array, from its first byte to its last one."""
    low = view.pointer + sum((n - 1) * step for n, step in zip(view.shape, view.strides, strict=True) if step < 0)
    size = 1 if not view.nbytes else view.nbytes // max(1, math.prod(view.shape))
    high = view.pointer + sum((n - 1) * step for n, step in zip(view.shape, view.strides, strict=True) if step > 0)
    return low, high + size - low if view.nbytes else 0


def found(after: int) -> list[Found]:
    """What has been found since the check began, but for the first ``after``."""
    rows = ctypes.POINTER(Found)()
    count = library().checker_findings(ctypes.byref(rows))
    return [Found.from_buffer_copy(rows[i]) for i in range(after, count)]


def failures() -> list[Failure]:
    """Kernels that have ended with an error, and launches that did not run."""
    rows = ctypes.POINTER(Failure)()
    count = library().checker_failures(ctypes.byref(rows))
    return [Failure.from_buffer_copy(rows[i]) for i in range(count)]


@dataclass(frozen=True)
class Place:
    """A line of a kernel, and a thread that is there."""

    file: str
    line: int  #: 0: unknown
    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"line {self.line}" if self.line else "an unknown line"


def of_host(line: Line) -> Place:
    """A line that no thread executes."""
    return Place(line.file.decode(errors="replace"), line.line, (0, 0, 0), (0, 0, 0))


def triple(values: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z
