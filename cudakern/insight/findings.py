"""What a check has found, in the reader's words."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _display
from . import checker
from .checker import Access, Found

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .trace import Call


@dataclass(frozen=True)
class Place:
    """A line of a kernel, and a thread that is there."""

    file: str
    line: int  #: 0: unknown
    block: tuple[int, int, int]
    thread: tuple[int, int, int]

    def __str__(self) -> str:
        return f"line {self.line}" if self.line else "an unknown line"


@dataclass(frozen=True)
class Element:
    """Where in an array an access is."""

    parameter: int  #: of the kernel, that points to the array; -1: it is a variable
    offset: int  #: from the beginning of the array, in bytes
    length: int  #: of the array, in bytes; 0: unknown
    bytes: int  #: of an element
    address: int


@dataclass(frozen=True)
class Finding:
    """A mistake in a kernel: its ``kind``, ``line`` and what to do."""

    kind: str  #: "bounds", "misaligned", "freed", "uninitialised", "race", "scope", "barrier", "warp", "error"
    kernel: str
    place: Place
    message: str
    advice: str
    array: str = ""  #: whose element it is: a parameter or a variable
    other: Place | None = None  #: of a race
    count: int = 1  #: how many accesses of this launch made the same mistake
    launch: int = 0
    element: Element | None = field(default=None, repr=False, compare=False)  #: None: it is not about an access
    source: Sequence[str] = field(default=(), repr=False, compare=False)  #: the lines of its file, if they are known
    call: Call | None = field(default=None, repr=False, compare=False)  #: that was checked

    @property
    def file(self) -> str:
        """The file of the line."""
        return self.place.file

    @property
    def line(self) -> int:
        """Where the access is, from 1; 0 if it is unknown."""
        return self.place.line

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines concerned, of a race both."""
        return tuple(sorted({self.line} | ({self.other.line} if self.other else set())))

    @property
    def where(self) -> tuple[object, ...]:
        """What distinguishes it from other findings of the same code. An access before the beginning of an array and
        one beyond its end are two."""
        before = self.kind == "bounds" and "[-" in self.message
        return self.kind, self.kernel, self.array, self.file, self.lines, before

    def __str__(self) -> str:
        where = f"{self.kernel}, {Path(self.file).name}:{self.line}" if self.line else self.kernel
        times = f" ({self.count:,} such accesses.)" if self.count > 1 and self.kind != "leak" else ""
        return f"{where}: {self.message}. {self.advice}".rstrip() + times

    def plot(self, path: str | None = None) -> Figure:
        """A picture of who touched the array, between which barriers; ``path`` also saves it. The call runs again for
        it, with its arrays as they were before the check. ValueError for findings that are not about accesses. Needs
        matplotlib (``pip install cudakern[plot]``)."""
        return Findings([self], 1).plot(path)


class Findings(_display.Shown, Sequence[Finding]):
    """A list of findings, which is false if there are none."""

    def __init__(self, found: Sequence[Finding], launches: int, of: str = "") -> None:
        self._found, self.launches, self.of = tuple(found), launches, of

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return self._found[i]

    def __len__(self) -> int:
        return len(self._found)

    def _title(self) -> str:
        kernels = f"{self.launches} launch{'es' * (self.launches != 1)}"
        if not self.launches:
            return f"{self.of}: no kernel was launched, so none was checked" if self.of else "No kernel was launched"
        if not self._found:
            return f"{self.of}: nothing found in {kernels}" if self.of else f"Nothing found in {kernels}"
        count = f"{len(self)} finding{'s' * (len(self) != 1)}"
        return f"{self.of}: {count} in {kernels}" if self.of else f"{count} in {kernels}"

    def __str__(self) -> str:
        return "\n".join([self._title(), *(f"  {finding}" for finding in self._found)])

    __repr__ = __str__

    def table(self) -> _display.Table:
        """One row per finding."""
        rows = [[f.kind, f.kernel, f"{f.line or ''}", f"{f.message}. {f.advice}", f"{f.count:,}"] for f in self._found]
        return _display.Table(
            self._title(), ["kind", "kernel", "line", "what happens", "times"], rows, "", ["line", "times"]
        )

    def plot(self, path: str | None = None) -> Figure:
        """The pictures of the first findings about accesses, one below the other: see Finding.plot."""
        from .picture import pictures

        return pictures(self._found).saved(path)

    def _repr_html_(self) -> str:
        return self.table().html() if self._found else f"<p>{html.escape(self._title())}</p>"

    def to_dict(self) -> list[dict[str, object]]:
        return [
            {"kind": f.kind, "kernel": f.kernel, "file": f.file, "line": f.line, "lines": f.lines, "message": str(f)}
            for f in self._found
        ]


# --- words ------------------------------------------------------------------------------------------------------------
def triple(values: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = values
    return x, y, z


def _shown(index: tuple[int, int, int], of: Sequence[int]) -> str:
    """An index in as many dimensions as there are."""
    count = 3 if of[2] > 1 else 2 if of[1] > 1 else 1
    return str(index[0]) if count == 1 else str(index[:count])


def _thread(found: Found, at: Access) -> str:
    """ "thread 1000 (block 3, thread 232)", or in several dimensions "thread (1, 2) of block (0, 3)" """
    block, thread = triple(at.block), triple(at.thread)
    if found.grid[1] == found.grid[2] == found.shape[1] == found.shape[2] == 1:
        number = block[0] * found.shape[0] + thread[0]
        return f"thread {number}" + (f" (block {block[0]}, thread {thread[0]})" if found.grid[0] > 1 else "")
    of_block = f" of block {_shown(block, found.grid)}" if max(found.grid) > 1 else ""
    return f"thread {_shown(thread, found.shape)}{of_block}"


def _verb(kind: int) -> str:
    if kind & checker.ATOMIC and kind & checker.WRITES:
        return "updates atomically"
    return "writes" if kind & checker.WRITES else "reads"


@dataclass(frozen=True)
class Parameter:
    """Of a kernel, as its source declares it."""

    name: str
    type: str
    bytes: int  #: of an element that it points to; 0: unknown


class _Words:
    """Makes a finding of what the checker found."""

    def __init__(self, found: Found, parameters: Sequence[Parameter], source: Sequence[str]) -> None:
        self.source = source
        self.found, self.what = found, checker.KINDS[found.kind]
        if self.what == "race" and (found.access.kind | found.other.kind) & checker.PENDING:
            self.what = "asynchronous"
        self.kind = {"index": "bounds", "proxy": "asynchronous"}.get(self.what, self.what)
        known = 0 <= found.parameter < len(parameters)
        self.parameter = parameters[found.parameter] if known else None
        variable = found.variable.decode(errors="replace")
        self.is_shared = found.space == checker.SHARED or "shared memory" in variable
        self.array = self.parameter.name if self.parameter else variable or f"argument {found.parameter + 1}"
        self.size = self.parameter.bytes if self.parameter and self.parameter.bytes else found.access.bytes or 1

    @property
    def element(self) -> str:
        """ "y[1000]" """
        if not self.found.length and not self.found.variable and self.found.parameter < 0:
            return f"address {self.found.address:#x}"
        if "shared memory" in self.array:
            return f"byte {self.found.offset} of its {self.array}"
        return f"{self.array}[{self.found.offset // self.size}]"

    def _length(self) -> str:
        if "shared memory" in self.array:
            return f"the launch gives it {self.found.length} bytes"
        count, of = self.found.length // self.size, self.parameter.type if self.parameter else ""
        return f"{self.array} has {count:,} {of or 'element'}{'s' * (count != 1)}"

    def finding(self) -> Finding:
        message, advice = getattr(self, f"_{self.what}")()
        found, other = self.found, None
        if found.other.bytes:
            other = self._place(found.other)
        kernel = found.kernel.decode(errors="replace")
        return Finding(
            self.kind, kernel, self._place(found.access), message, advice, self.array, other, found.count, found.launch,
            Element(found.parameter, found.offset, found.length, self.size, found.address) if found.address else None,
            self.source,
        )  # fmt: skip

    @staticmethod
    def _place(at: Access) -> Place:
        return Place(at.line.file.decode(errors="replace"), at.line.line, triple(at.block), triple(at.thread))

    @property
    def _does(self) -> str:
        access = self.found.access
        return f"{_thread(self.found, access)} {_verb(access.kind)}"

    @property
    def _other_does(self) -> str:
        other = self.found.other
        return f"{_thread(self.found, other)} {_verb(other.kind)} in line {other.line.line}"

    @property
    def _begins(self) -> str:
        access = self.found.access
        return f"{_thread(self.found, access)} begins an operation that {_verb(access.kind)} {self.element}"

    def _bounds(self) -> tuple[str, str]:
        found = self.found
        if not found.length:
            where = f"{self._does} {self.element}, which is in none of the launch's arrays"
            if not found.address:
                return f"{self._does} through a null pointer", "Pass an array, or test the pointer first."
            return where, "A pointer must come from an array on the device, not from the host's memory."
        message = f"{self._does} {self.element}; {self._length()}"
        if found.offset < 0:
            return message, "The index must not be negative: start later, or treat the edge by itself."
        if found.offset < found.length:
            return message, "The last part of this access lies beyond the end: shorten it, or pad the array."
        if self.is_shared:
            return message, "Make the array larger, or let the index stay below its size."
        return message, "Let threads whose index is not in the array do nothing: if (i < n)."

    def _misaligned(self) -> tuple[str, str]:
        size = self.found.access.bytes
        message = f"{self._does} {size} bytes at {self.element}, an address that is no multiple of {size}"
        return message, "A vector of 2, 4 or more numbers must begin at a multiple of its own size."

    def _freed(self) -> tuple[str, str]:
        what = f"element {self.found.offset // self.size} of a block from malloc"
        return f"{self._does} {what}, which has been freed", "Free memory after its last use."

    def _double_free(self) -> tuple[str, str]:
        who = _thread(self.found, self.found.access)
        return f"{who} frees what malloc or new has not returned, or frees it twice", "Free each block once."

    def _ended(self) -> tuple[str, str]:
        message = f"{_thread(self.found, self.found.access)} has ended when the others meet at this barrier"
        return message, "It does not take part; if it should, put the test of the index around the work alone."

    def _leak(self) -> tuple[str, str]:
        count, who = self.found.count, _thread(self.found, self.found.access)
        blocks = f"{count:,} block{'s' * (count != 1)} of memory from here {'are' if count != 1 else 'is'} never freed"
        return f"{blocks}, the first of {who}", "Let the kernel, or a later one, call free for each of them."

    def _uninitialised(self) -> tuple[str, str]:
        message = f"{self._does} {self.element}, which has not been written"
        if self.is_shared:
            return message, "Shared memory has no values at first: let a thread write each element before it is read."
        if self.array == "malloc":
            return message, "Memory from malloc has no values at first: write it before it is read."
        return message, "Fill the array first, for example with cudakern.zeros instead of cudakern.empty."

    def _race(self) -> tuple[str, str]:
        found = self.found
        access, other = found.access, found.other
        message = f"{self._does} {self.element}, which {self._other_does}, and nothing orders the two"
        same_block = triple(access.block) == triple(other.block)
        lanes = [
            at.thread[0] + found.shape[0] * (at.thread[1] + found.shape[1] * at.thread[2]) for at in (access, other)
        ]
        same_line = access.line.line == other.line.line
        if access.kind & checker.ATOMIC or other.kind & checker.ATOMIC:
            return message, "Use atomic operations for all accesses, or order them with a barrier."
        if same_line and same_block and self.is_shared:
            between = "a barrier must come between the reads and the writes, also from one round of a loop to the next"
            return message, f"If all threads update one element, use atomicAdd or its like; otherwise {between}."
        if same_line:
            own = "one thread" if same_block else "each block have its own element"
            return message, f"Use atomicAdd (or another atomic operation), or let {own}{' write' * same_block}."
        if not same_block:
            advice = "Blocks run in any order: use two launches, or a grid-wide barrier between the two."
            if re.search("atomic|volatile", "".join(self.source)):
                advice += (
                    " If an atomic operation is to order them: __threadfence() before it, and after it in the reader."
                )
            return message, advice
        in_warp = lanes[0] // 32 == lanes[1] // 32
        what = (
            "__syncthreads() (or __syncwarp(), if only lanes of one warp meet here)" if in_warp else "__syncthreads()"
        )
        first, last = sorted((access.line.line, other.line.line))
        if any(re.search(r"sync", line) for line in self.source[first : last - 1]):
            there = f"There is a barrier between lines {first} and {last}"
            return message, f"{there}; in a loop, another one must come at its end: {what}."
        if not self.is_shared:
            return message, f"{what} between lines {first} and {last}, or atomic operations for both."
        return message, f"{what} between lines {first} and {last}."

    def _asynchronous(self) -> tuple[str, str]:
        found = self.found
        if found.access.kind & checker.PENDING and not found.other.kind & checker.PENDING:
            when = f"which {self._other_does}, and nothing orders the two"
            return f"{self._begins}, {when}", "A barrier must come between the access and the operation."
        begun = f"the operation that {_thread(found, found.other)} began in line {found.other.line.line}"
        message = f"{self._does} {self.element}, which {begun}"
        message = f"{message} {_verb(found.other.kind)}, and nothing says that it has ended"
        return message, "Wait for it first; other threads also need a barrier, or the mbarrier's phase, after the wait."

    def _proxy(self) -> tuple[str, str]:
        message = f"{self._begins}, which {self._other_does}, without fence_async_proxy()"
        return message, "The fence belongs between the write and the barrier."

    def _index(self) -> tuple[str, str]:
        found, of = self.found, self.found.variable.decode(errors="replace").strip("'")
        message = f"{_thread(found, found.access)} takes element {found.offset} of an array of the type {of}"
        return message, "Its elements count from 0: compare the index with the size."

    def _scope(self) -> tuple[str, str]:
        message = f"{self._does} {self.element}, which {self._other_does}, with a scope of one block only"
        return message, "An operation that ends in _block is atomic for the threads of one block: leave _block out."


def finding(found: Found, parameters: Sequence[Parameter], source: Sequence[str] = ()) -> Finding:
    """``source``: the lines of the kernel's file, if it is known."""
    return _Words(found, parameters, source).finding()
