"""What a check has found, in the reader's words."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _display
from . import checker
from .advice import Race
from .checker import Access, Found, Place, triple
from .declared import (
    BYTES,
    OF_DTYPES,
    Use,
    declared,
    function,
    numbers,
    shape_of,
    uses,
    with_arguments,
    without_comments,
)
from .kernel_text import BARRIER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .trace import Call


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

    #: "bounds", "misaligned", "freed", "uninitialised", "race", "scope", "barrier", "warp", "streams", "host", "error";
    #: of programs also "leak", and "failure" of a call whose error the program ignores
    kind: str
    kernel: str
    place: Place
    message: str
    advice: str
    array: str = ""  #: whose element it is: a parameter or a variable
    other: Place | None = None  #: of a race; or where other threads wait
    count: int = 1  #: how many accesses made the same mistake
    launch: int = 0  #: which one of the check, from 1
    element: Element | None = field(default=None, repr=False, compare=False)  #: None: there is no picture
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
        """The lines concerned: of a race, or of threads that wait for each other, both."""
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
        it, with its arrays as they were before the check. ValueError for findings that are not about threads' accesses
        to arrays. Needs matplotlib (``pip install cudakern[plot]``)."""
        return Findings([self], 1).plot(path)


class Findings(_display.Shown, Sequence[Finding]):
    """A list of findings, which is false if there are none."""

    def __init__(self, found: Sequence[Finding], launches: int, of: str = "") -> None:
        self._found, self.launches, self.of = tuple(found), launches, of

    def __getitem__(self, i):  # type: ignore[no-untyped-def]
        return Findings(self._found[i], self.launches, self.of) if isinstance(i, slice) else self._found[i]

    def __add__(self, other: Findings) -> Findings:
        if not isinstance(other, Findings):
            return NotImplemented
        of = self.of if self.of == other.of else ", ".join(filter(None, (self.of, other.of)))
        return Findings([*self, *other], self.launches + other.launches, of)

    def __len__(self) -> int:
        return len(self._found)

    def _title(self) -> str:
        kernels = f"{self.launches} launch{'es' * (self.launches != 1)}"
        if not self.launches and not self._found:
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
        """The pictures of the first findings about accesses, one below the other, as by Finding.plot; ``path`` also
        saves them."""
        from .picture import pictures

        return pictures(self._found).saved(path)

    def _repr_html_(self) -> str:
        return self.table().html() if self._found else f"<p>{html.escape(self._title())}</p>"

    def to_dict(self) -> list[dict[str, object]]:
        return [
            {"kind": f.kind, "kernel": f.kernel, "file": f.file, "line": f.line, "lines": f.lines, "message": str(f)}
            for f in self._found
        ]


Triple = tuple[int, int, int]
#: From here to 2**32, an index is a small negative number that has become unsigned.
WRAPPED = 2**32 - 2**16
#: So many bytes from a table of pointers, an address is not that of an element of the table.
NEAR = 4096
#: So many bytes from an array that the line does not name, an address has nothing to do with the array.
FAR = 1 << 20


# --- words ------------------------------------------------------------------------------------------------------------
def _shown(index: tuple[int, int, int], of: Sequence[int]) -> str:
    """An index in as many dimensions as there are."""
    count = 3 if of[2] > 1 else 2 if of[1] > 1 else 1
    return str(index[0]) if count == 1 else str(index[:count])


def _thread(found: Found, at: Access) -> str:
    return thread_name(triple(found.grid), triple(found.shape), triple(at.block), triple(at.thread))


def thread_name(grid: Triple, shape: Triple, block: Triple, thread: Triple) -> str:
    """ "thread 1000 (block 3, thread 232)", or in several dimensions "thread (1, 2) of block (0, 3)" """
    if grid[1] == grid[2] == shape[1] == shape[2] == 1:
        number = block[0] * shape[0] + thread[0]
        return f"thread {number}" + (f" (block {block[0]}, thread {thread[0]})" if grid[0] > 1 else "")
    of_block = f" of block {_shown(block, grid)}" if max(grid) > 1 else ""
    return f"thread {_shown(thread, shape)}{of_block}"


def _same(a: Sequence[int], b: Sequence[int]) -> bool:
    return triple(a) == triple(b)


def _verb(kind: int) -> str:
    if kind & checker.ATOMIC and kind & checker.WRITES:
        return "atomically updates"
    return "writes" if kind & checker.WRITES else "reads"


@dataclass(frozen=True)
class Parameter:
    """Of a kernel, as its source declares it."""

    name: str
    type: str
    bytes: int  #: of an element that it points to; 0: unknown
    dtype: str | None = None  #: of these, if arrays have it
    is_value: bool = False  #: a struct that contains pointers


#: Of a program's variables, by name: type, bytes of an element, shape, whether it is constant.
Variables = Mapping[str, tuple[str | None, int, tuple[int, ...], bool]]


@dataclass(frozen=True)
class Launched:
    """A launch by the host: of which kernel, and where."""

    kernel: str
    place: Place


#: What begins an asynchronous copy.
_COPY = re.compile(r"\b(?:__pipeline_)?memcpy_async\s*\(|\bcp\.async\.c|\bcp_async(?:_c[ag])?\s*(?:<[^;()]*>)?\s*\(")
_FILL = re.compile(r"Fill all of the array first, by [\w. ]+, or let an earlier launch write it\.")
#: An allocation whose size is a variable.
_MALLOC = re.compile(r"\bcudaMalloc(?:Managed)?\s*\(\s*(?:\([^()]*\)\s*)?&\s*\w+\s*,\s*([A-Za-z_]\w*)\s*[,)]")


def _without_sizeof(text: str) -> int:
    """The line of an allocation in a program whose size is a number of elements; 0 if there is none."""
    for call in _MALLOC.finditer(text):
        if not re.search(rf"\b{call[1]}\b\s*(?:\*?=|\()[^;]*\bsizeof\b", text):
            return text.count("\n", 0, call.start()) + 1
    return 0


class _Words:
    """Makes a finding of what the checker found."""

    def __init__(
        self,
        found: Found,
        parameters: Sequence[Parameter],
        source: Sequence[str],
        variables: Variables,
        launches: tuple[Launched | None, ...],
        is_program: bool,
    ) -> None:
        self.source, self.launches, self.is_program = source, launches, is_program
        self.found, self.what = found, checker.KINDS[found.kind]
        if self.what == "race" and (found.access.kind | found.other.kind) & checker.PENDING:
            self.what = "asynchronous"
        self.kind = {"index": "bounds", "proxy": "asynchronous"}.get(self.what, self.what)
        known = 0 <= found.parameter < len(parameters)
        self.parameter = parameters[found.parameter] if known else None
        self.tables = [one.name for one in parameters if one.type == "pointer"]
        variable = found.variable.decode(errors="replace")
        self.is_hosts = variable == "memory of the host"
        variable = "" if self.is_hosts else variable
        self.is_dynamic = variable == "dynamic shared memory"
        self.is_shared = found.space == checker.SHARED or self.is_dynamic
        self.array = self.parameter.name if self.parameter else variable or f"argument {found.parameter + 1}"
        self.size = self.parameter.bytes if self.parameter and self.parameter.bytes else found.access.bytes or 1
        self.type: str = self.parameter.type if self.parameter else ""
        self.dtype: str | None = self.parameter.dtype if self.parameter else None
        self.shape: tuple[int, ...] | None = None  #: of a variable; None: unknown
        self.has_rows = False  #: but it has several dimensions
        if variable and self.what != "index":
            self._declare(variable, variables)
        if self.parameter and self.parameter.is_value:
            self._find_member(self.parameter.name)

    def _find_member(self, name: str) -> None:
        """Which pointer of a struct the line uses: `image.data[i]`."""
        self.type, self.size = "", self.found.access.bytes or 1
        paths = {use.path for use in uses(self._text) if use.path.startswith(f"{name}.")}
        self.array = paths.pop() if len(paths) == 1 else f"an array of {name}"
        member = re.search(rf"\b(\w+)\s*\*[^;()]*\b{self.array.split('.')[-1]}\s*[,;]", "\n".join(self.source))
        if member and BYTES.get(member[1]) == self.size:
            self.type = member[1]

    @property
    def _text(self) -> str:
        """The line of the access."""
        at = self.found.access.line.line
        return "".join(without_comments(self.source)[at - 1 : at])

    def _declare(self, variable: str, variables: Variables) -> None:
        """What the program, or the source, says of the variable."""
        source = with_arguments(self.source, self.found.kernel.decode(errors="replace"))
        if self.is_dynamic:
            arrays = [one for one in declared(tuple(source)) if one.is_dynamic]
            own = function(tuple(without_comments(self.source)), self.found.access.line.line)
            here = [one for one in arrays if own and own.begin <= one.line <= own.end]
            dynamic = {(one.name, one.type) for one in here or arrays}
            name, type = dynamic.pop() if len(dynamic) == 1 else ("", "")
            if size := BYTES.get(type, 0):
                self.array, self.type, self.size, self.shape = name, type, size, (self.found.length // size,)
        elif variable in variables and not self.is_shared:
            self.dtype, self.size, self.shape, _ = variables[variable]
        elif fit := shape_of(variable, self.found.length, source, self.found.access.line.line):
            self.type, self.shape, self.size = fit
        else:
            declarations = [one for one in declared(tuple(source)) if one.name == variable]
            self.has_rows = any(len(one.shape) > 1 for one in declarations)

    @property
    def _is_unknown(self) -> bool:
        """Whether the address is in no array, nor near one."""
        if self._is_table and (
            self.found.access.bytes != 8 or not -NEAR < self.found.offset < NEAR + self.found.length
        ):
            return True
        return (not self.found.variable and self.found.parameter < 0) or self._is_far

    @property
    def _is_far(self) -> bool:
        """Whether the address is far from the nearest array, which need not be the one that the line accesses."""
        found = self.found
        if self.what != "bounds" or self.is_shared or -FAR <= found.offset < found.length + FAR:
            return False
        pointer = rf"(?:\*|&)\s*{re.escape(self.array)}\b"
        named = {name for use in self._accessed for name in (use.name, use.path)}
        is_named = self.array in named and len({use.path for use in self._accessed}) == 1
        return bool(self.source) and not is_named and not re.search(pointer, self._text)

    @property
    def _accessed(self) -> list[Use]:
        """The elements in the line that it accesses as the thread did."""
        is_write = self.found.access.kind & checker.WRITES
        of = {"writes", "updates", "atomically updates"} if is_write else {"reads", "updates"}
        return [use for use in uses(self._text) if use.verb in of]

    @property
    def _wild(self) -> str:
        """Of an address that is far from all arrays: the one element in the line whose index is read from memory."""
        indirect = {
            use.path + "".join(f"[{i}]" for i in use.indices) for use in self._accessed if "[" in use.indices[-1]
        }
        return indirect.pop() if self._is_far and len(indirect) == 1 else ""

    @property
    def _is_table(self) -> bool:
        """Whether the nearest array has pointers, so that the address may come from one of these."""
        return self.parameter is not None and self.parameter.type == "pointer"

    @property
    def element(self) -> str:
        """ "y[1000]", "tile[1][8]" """
        index = self.found.offset // self.size
        if self.found.space == checker.LOCAL:
            return "memory of its own"
        if self._is_unknown:
            address = f"address {self.found.address:#x}"
            return f"{self._wild} at {address}" if self._wild else address
        if self.is_dynamic and self.shape is None:
            return f"byte {self.found.offset} of its {self.array}"
        if self.array == "malloc":
            return f"element {index} of a block from malloc"
        if self.shape == () and not index:
            return self.array
        if self.has_rows or not re.fullmatch(r"[\w.]+", self.array):
            return f"element {index} of {self.array}"
        indices: list[int] = []
        for length in reversed((self.shape or ())[1:]):
            indices.insert(0, index % length)
            index //= length
        return self.array + "".join(f"[{i}]" for i in (index, *indices))

    def _wide(self) -> str:
        """Of an access to several elements."""
        last = (self.found.offset + self.found.access.bytes) / self.size - 1
        if self.found.access.bytes % self.size or self.element.count("[") != 1 or self.element[-1] != "]":
            return f"{self.found.access.bytes} bytes from {self.element} on"
        return f"{self.element} to {self.element[: self.element.rindex('[')]}[{last:.0f}]"

    def _length(self) -> str:
        if not self.found.length and self.parameter:
            return f"{self.array} is empty"
        count = numbers(self.found.length // self.size, self.type, self.dtype)
        if self.is_dynamic:
            return f"the launch gives it {self.found.length:,} bytes" + (
                f", {count}" if self.shape and self.found.length else ""
            )
        if self.array == "malloc":
            return f"the block has {count}"
        if self.shape is not None and len(self.shape) > 1:
            return f"{self.array} has {' x '.join(map(str, self.shape))} {count.split(maxsplit=1)[1]}"
        return f"{self.array} {f'is 1 {count[2:]}' if self.shape == () else f'has {count}'}"

    def finding(self) -> Finding:
        message, advice = getattr(self, f"_{self.what}")()
        found, other = self.found, None
        if self.what == "streams":
            place, other = (call.place if call else None for call in self.launches)
            nowhere = Place("", 0, (0, 0, 0), (0, 0, 0))
            kernel = next((call.kernel for call in self.launches if call), "")
            if self.is_program and self.launches[0] is not None:
                kernel = self.launches[0].kernel or "copy"
            places = place or other or nowhere, other if place else None
            return Finding(
                "streams", kernel, places[0], message, advice, self.array, places[1], found.count, found.launch
            )
        if found.other.bytes:
            other = self._place(found.other)
        kernel = found.kernel.decode(errors="replace")
        at = Element(found.parameter, found.offset, found.length, self.size, found.address)
        return Finding(
            self.kind, kernel, self._place(found.access), message, advice, "" if self._is_far else self.array, other,
            found.count, found.launch, at if self._is_pictured else None, self.source,
        )  # fmt: skip

    @property
    def _is_pictured(self) -> bool:
        """Whether it is about an access by a thread to an array."""
        return self.what in ("bounds", "misaligned", "freed", "uninitialised", "race", "scope") and not self._is_unknown

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
        return f"{_thread(self.found, other)} {_verb(other.kind)} {self._in_line(other)}"

    def _in_line(self, at: Access) -> str:
        """Of the second place of a finding."""
        if not at.line.line:
            return "in an unknown line"
        if at.line.file == self.found.access.line.file:
            return f"in line {at.line.line}"
        return f"in line {at.line.line} of {Path(at.line.file.decode(errors='replace')).name}"

    @property
    def _begins(self) -> str:
        access = self.found.access
        return f"{_thread(self.found, access)} begins an operation that {_verb(access.kind)} {self.element}"

    def _captured(self) -> str:
        """Of a lambda that contains the access, what is in its brackets, if that may refer to the host's memory."""
        if "{lambda" not in self.found.kernel.decode(errors="replace") or not (
            self.parameter and self.parameter.is_value
        ):
            return ""
        before = "".join(self.source[: self.found.access.line.line])
        captured = re.findall(r"\[([^][]*)\]\s*(?:__host__\s*)?__device__", before)
        return captured[-1] if captured and re.search(r"&|=|\bthis\b", captured[-1]) else ""

    def _bounds(self) -> tuple[str, str]:
        found, count = self.found, self.found.length // self.size
        if self.is_hosts:
            if captured := self._captured():
                copy = "Copy what it captures to local variables, such as a pointer to the device's memory"
                by_value = "Capture by value: [=] instead of [&]" if "&" in captured else copy
                what = "what the lambda captures by reference" if "&" in captured else "a member through this"
                return f"{self._does} {what}, which is memory of the host", f"{by_value}."
            element = self.element if self.type != "pointer" else f"memory behind {self.array}"
            message = f"{self._does} {element}, which is memory of the host"
            copy = f"cudaMalloc(&copy, bytes), cudaMemcpy(copy, {self.array}, bytes, cudaMemcpyHostToDevice)"
            return message, f"Copy it to the device, and pass that: {copy}. Or allocate it by cudaMallocManaged."
        if self._is_unknown or (not found.length and found.parameter < 0 and not self.is_dynamic):
            where = f"{self._does} {self.element}, which is in none of the launch's arrays"
            if not found.address:
                return f"{self._does} through a null pointer", "Pass an array, or test the pointer first."
            named = [name for name in self.tables if re.search(rf"\b{re.escape(name)}\s*\[", self._text)]
            if table := self.array if self._is_table else next(iter(named), ""):
                index = "the index behind it must stay below the length of that array"
                return where, f"Each pointer in {table} must be that of an array on the device, and {index}."
            if self._wild:
                return where, "The index is far too large, or has no value: test it first."
            pointer = "The pointer may be one to the host's memory or to another thread's variable"
            return where, f"{pointer}, or the index is far too large or has no value."
        message, index = f"{self._does} {self.element}; {self._length()}", found.offset // self.size
        if not found.length and not self.is_dynamic:
            return message, "No thread may access an empty array: test its length first."
        if found.access.bytes > self.size:
            in_bytes = f", {found.length:,} bytes" if found.access.bytes % self.size else ""
            message = f"{self._does} {self._wide()}; {self._length()}{in_bytes}"
        if found.offset < 0:
            return message, "The index must not be negative: test it, or treat the edge by itself."
        if found.offset < found.length:
            return message, "The last part of this access lies beyond the end: shorten it, or pad the array."
        if self.is_dynamic:
            name = found.kernel.decode(errors="replace").split("::")[-1]
            launch = f"{name}<<<grid, block, bytes>>>" if self.is_program else f"{name}[grid, block, bytes]"
            if not found.length:
                forgotten = "The kernel declares extern __shared__ memory, but the launch gives it none"
                by_name = "" if self.is_program else " or shared=bytes"
                return message, f"{forgotten}: pass its size in bytes, {launch}{by_name}."
            return message, f"Launch with more shared memory, {launch}, or let the index stay below its size."
        if self.is_program and self.size > 1 and (place := _without_sizeof("".join(self.source))):
            return message, f"Line {place} allocates as many bytes as elements: is * sizeof missing?"
        words = re.findall(r"\b[a-zA-Z_]\w*", self._index_text)
        if index == count and self.parameter and any(re.search(rf"\b{word}\s*<=", self._function) for word in words):
            last = f"Its last element is {self.array}[{count - 1}]"
            return message, f"{last}: perhaps <= should be <. Otherwise test the index first."
        if index == self._thread_number and self.parameter:
            if self._is_tested(self._index_text):
                test = f"compare the index with the length of {self.array}, and look at the order of the arguments"
                return message, f"There is a test, which lets this thread pass: {test}."
            return message, "Let threads whose index is not in the array do nothing: if (i < n)."
        if WRAPPED <= index < 2**32:
            return (
                message,
                f"As an unsigned number, {index - 2**32} is {index:,}: test the number before it is subtracted.",
            )
        if self.array == "malloc":
            return message, "Ask for a larger block, or let the index stay below its size."
        if self.shape and len(self.shape) > 1:
            return message, "Make the array larger, or let each index stay below its size."
        return message, self._last(count)

    @property
    def _function(self) -> str:
        """The body of the function with the access."""
        own = function(tuple(without_comments(self.source)), self.found.access.line.line)
        return own.text if own else ""

    @property
    def _index_text(self) -> str:
        """As the line has it."""
        return next((use.indices[-1] for use in uses(self._text) if use.name == self.array and use.indices), "")

    def _is_tested(self, name: str) -> bool:
        """Whether the function compares a variable with something."""
        tested = rf"\bif\s*\([^;{{]*\b{name}\s*(?:<|>=)"
        return name.isidentifier() and bool(re.search(tested, self._function))

    def _last(self, count: int) -> str:
        """Of an array of variable or fixed length."""
        last = f"Its last element is {self.array}[{count - 1}]"
        if not self.parameter:
            return f"{last}: make it larger, or test the index first."
        row = re.fullmatch(r"([a-zA-Z_]\w*) ?\* ?\w+ ?\+ ?([a-zA-Z_]\w*)", self._index_text)
        if row and self._is_tested(row[1]) and self._is_tested(row[2]):
            tests = f"There are tests of {row[1]} and {row[2]}, which let this thread pass"
            return f"{tests}: compare them with the shape of {self.array}."
        return f"{last}: test {f'{row[1]} and {row[2]}' if row else 'the index'} first."

    @property
    def _thread_number(self) -> int:
        """Of the thread in the grid, along x."""
        return int(self.found.access.block[0] * self.found.shape[0] + self.found.access.thread[0])

    def _misaligned(self) -> tuple[str, str]:
        size = self.found.access.bytes
        message = f"{self._does} {size} bytes at {self.element}, whose address is not a multiple of {size}"
        if self.parameter and not self.found.offset and not self.is_program:
            return message, f"The array begins there: pass a copy, or a view that begins at a multiple of {size} bytes."
        return message, f"Access it in smaller parts, or begin at a multiple of {size} bytes."

    def _freed(self) -> tuple[str, str]:
        if self.found.other.bytes:
            message = f"{_thread(self.found, self.found.access)} frees a block from malloc, which {self._other_does}"
            return f"{message}, and nothing orders the two", "A barrier must come before the block is freed."
        index = self.found.offset // self.size
        what = f"{self._does} element {index} of memory that has been freed"
        return what, "Free memory after its last use; an array on the device must live until the kernel has ended."

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
            wait, write = self._missing_wait(), "let a thread write each element before it is read."
            return message, f"{wait} Otherwise {write}" if wait else f"Shared memory has no values at first: {write}"
        if self.array == "malloc":
            return message, "Memory from malloc has no values at first: write it before it is read."
        fill = "cudaMemcpy or cudaMemset" if self.is_program else "cudakern.zeros"
        return message, f"Fill all of the array first, by {fill}, or let an earlier launch write it."

    def _missing_wait(self) -> str:
        """What to do if an asynchronous copy, for which nothing waits, may be to fill the array."""
        line = self.found.access.line.line
        own = function(tuple(without_comments(self.source)), line)
        before = own.text.split("\n")[: line - own.body + 1] if own else []
        for i in range(len(before) - 1, -1, -1):
            if not own or not (copy := _COPY.search(before[i])):
                continue
            rest, name = "\n".join(before[i:]), copy[0].partition("(")[0]
            statement = rest.partition(";")[0]
            if "asm" not in statement and not re.search(rf"\b{re.escape(self.array)}\b", statement):
                return ""
            fills = f"If the copy that begins in line {own.body + i} is to fill it,"
            if not (wait := re.search(r"wait", rest)):
                how = {
                    "__pipeline_memcpy_async": "__pipeline_commit(), __pipeline_wait_prior(0) and __syncthreads()",
                    "memcpy_async": "cooperative_groups::wait(group), or the wait of its pipeline or barrier",
                }.get(name, "cp.async.wait_all and __syncthreads()")
                return f"{fills} wait for that first: {how}."
            if name == "memcpy_async" or BARRIER.search(rest, wait.end()):
                return ""
            return f"{fills} __syncthreads() must follow the wait, which is for a thread's own copies only."
        return ""

    def _race(self) -> tuple[str, str]:
        message = f"{self._does} {self.element}, which {self._other_does}, and nothing orders the two"
        if self.found.access.kind & checker.CACHED:
            message = f"{self._does} {self.element} by __ldg, which {self._other_does} of the same launch"
            return message, "__ldg may return the value from before the launch: read it as usual, without __ldg."
        return message, Race(self.found, self.array, self.is_shared, self.source, self._type, self.shape == ()).advice()

    @property
    def _type(self) -> str:
        """Of the elements, if it is one of CUDA's; of a template's parameter T, that of the array."""
        if self.type in BYTES and self.dtype != "uint64":
            return self.type
        name = OF_DTYPES.get(self.dtype or "", "").replace("unsigned int", "unsigned")
        return name.removeprefix("unsigned ") if name != "unsigned long long" else name

    def _asynchronous(self) -> tuple[str, str]:
        found = self.found
        if found.access.kind & checker.PENDING and not found.other.kind & checker.PENDING:
            when = f"which {self._other_does}, and nothing orders the two"
            return (
                f"{self._begins}, {when}",
                "A barrier must come between the two: the access first, then the barrier, then the operation.",
            )
        self._find_beginning()
        begun = f"the operation that {_thread(found, found.other)} began {self._in_line(found.other)}"
        message = f"{self._does} {self.element}, which {begun}"
        message = f"{message} {_verb(found.other.kind)}, and nothing says that it has ended"
        if found.space == checker.LOCAL:
            return message, "Wait for it first."
        if _same(found.access.block, found.other.block) and _same(found.access.thread, found.other.thread):
            return message, "Wait for it first."
        return message, "That thread must wait for it, and a barrier must follow; or all wait for the mbarrier's phase."

    def _find_beginning(self) -> None:
        """Of an operation that begins in a header, the only copy to the array in the function with the access."""
        here, there = self.found.access.line, self.found.other.line
        own = function(tuple(without_comments(self.source)), here.line)
        if own is None or here.file == there.file:
            return
        starts = [at.start() for at in _COPY.finditer(own.text)]
        named = [at for at in starts if re.search(rf"\b{re.escape(self.array)}\b", own.text[at:].partition(";")[0])]
        if len(named) == 1:
            there.file, there.line = here.file, own.body + own.text.count("\n", 0, named[0])

    def _proxy(self) -> tuple[str, str]:
        message = f"{self._begins}, which {self._other_does}, without fence_async_proxy()"
        return message, "The fence belongs between the write and the barrier."

    def _index(self) -> tuple[str, str]:
        """The compiler names the type of the array, and the source the array of that type in this line."""
        found, who = self.found, _thread(self.found, self.found.access)
        type = re.sub(
            r" ?\[", " [", found.variable.decode(errors="replace").strip("'"), count=1
        )  # clang's has no space
        index, lengths = found.offset, tuple(map(int, re.findall(r"\[(\d+)\]", type)))
        here = [use for use in uses(self._text) if self._may_be(use.name, len(use.indices), lengths)]
        below = "The index must not be negative" if index < 0 else f"The index must be less than {lengths[0]}"
        paths = sorted({use.path for use in here})
        if not lengths or len(paths) != 1:
            advice = f"{below}." if lengths else "Compare the index with the size."
            of = f", {' or '.join(paths)}" if paths else ""
            return f"{who} uses element {index} of an array of the type {type}{of}", advice
        self.array, verbs = paths[0], {use.verb for use in here}
        texts = [set(at) for at in zip(*(use.indices for use in here), strict=False)]
        at = len(texts) - len(lengths)
        element = "".join(
            f"[{index if i == at else (text.pop() if len(text) == 1 else '...')}]" for i, text in enumerate(texts)
        )
        verb = verbs.pop() if len(verbs) == 1 else "uses"
        count = numbers(lengths[0], re.sub(r" ?\[.*", "", type))
        has = f"{self.array} has {count}"
        if len(texts) > 1:
            rows = f"a row of {self.array} has {count}", f"{self.array} has {lengths[0]:,} rows"
            has = (
                rows[at == 0] if len(texts) == 2 else f"dimension {at + 1} of {self.array} has {lengths[0]:,} elements"
            )
        return f"{who} {verb} {self.array}{element}; {has}", f"{below}."

    def _may_be(self, name: str, indices: int, lengths: tuple[int, ...]) -> bool:
        """Whether an array of that name, with so many indices, may have these lengths."""
        shapes = [one.shape for one in declared(tuple(self.source)) if one.name == name and one.shape]
        if not shapes or indices < len(lengths):
            return False
        return any(
            len(shape) >= len(lengths)
            and all(n in (-1, m) for n, m in zip(shape[len(shape) - len(lengths) :], lengths, strict=True))
            for shape in shapes
        )

    def _streams(self) -> tuple[str, str]:
        found = self.found
        call, before = self.launches
        access, other = found.access, found.other
        did = f"{_verb(other.kind)} (in its line {other.line.line})"
        if call and before and self.is_program:
            what = f"{before.kernel}, launched in {before.place} in another stream, {did}"
            if not before.kernel:
                what = f"a copy in another stream, in {before.place}, {_verb(other.kind)}"
            who = f"it {_verb(access.kind)} memory that"
            if call.kernel:
                who = f"{call.kernel} {_verb(access.kind)} {self.element} (in its line {access.line.line}), which"
            message = f"{who} {what}, and nothing orders the two"
            order = "cudaEventRecord(event, earlier); cudaStreamWaitEvent(later, event)"
            host = "let the host wait for it: cudaStreamSynchronize(earlier)"
            return message, f"Let the later stream wait for the earlier one: {order}, or {host}."
        if call is None:
            message = f"a copy {_verb(access.kind)} memory that this kernel {did}, and does not wait for its stream"
            return message, "Let the host wait before the copy: stream.synchronize()."
        does = f"{call.kernel} {_verb(access.kind)} {self.element} (in its line {access.line.line})"
        if before is None:
            message = f"{does}, which a copy in another stream {_verb(other.kind)}, and nothing orders the two"
        else:
            by = f"{before.kernel}, launched in {before.place} in another stream,"
            message = f"{does}, which {by} {did}, and nothing orders the two launches"
        return message, "Let the later stream wait for the earlier one: later.wait(earlier)."

    def _scope(self) -> tuple[str, str]:
        message = f"{self._does} {self.element}, which {self._other_does}, with a scope of one block only"
        source = without_comments(self.source)
        here = "".join(
            source[at.line.line - 1] for at in (self.found.access, self.found.other) if at.line.line <= len(source)
        )
        if re.search(r"atomic\w+_block\b", here):
            return message, "An operation that ends in _block is atomic for the threads of one block: leave _block out."
        if "thread_scope_block" in "".join(source):
            return message, "cuda::thread_scope_block is for the threads of one block: use cuda::thread_scope_device."
        return message, "It is atomic for the threads of one block: use the scope of the whole device."


def finding(
    found: Found,
    parameters: Sequence[Parameter],
    source: Sequence[str] = (),
    variables: Variables | None = None,
    launches: tuple[Launched | None, Launched | None] = (None, None),
    is_program: bool = False,
) -> Finding:
    """``source``: the lines of the file, if it is known. ``launches``: for kind "streams", this one and the one before;
    None: it is a copy. ``is_program``: the host is a whole program, whose copies are given as launches of kernel ""."""
    return _Words(found, parameters, source, variables or {}, launches, is_program).finding()


def one_of_all_launches(findings: Iterable[Finding]) -> list[Finding]:
    """The same mistake in several launches is one finding, of the first of them. What has not been written may be what
    an earlier launch, which an error has ended, was to write."""
    kept: dict[object, Finding] = {}
    ended: Finding | None = None
    for one in findings:
        if one.kind == "uninitialised" and _FILL.match(one.advice) and ended and ended.launch < one.launch:
            mend = f"The earlier launch of {ended.kernel} did not finish: mend that first"
            advice = _FILL.sub(f"{mend}. If it does not write this array, fill it before the launch.", one.advice)
            one = replace(one, advice=advice)
        is_error = one.kind in ("barrier", "warp", "error") and not one.array  # not a remark on the text
        if is_error or re.search(r"The launch (?:ended here|was not run)", one.advice):
            ended = ended or one
        before = kept.get(one.where)
        kept[one.where] = replace(before, count=before.count + one.count) if before else one
    return list(kept.values())
