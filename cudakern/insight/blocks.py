"""What blocks of a kernel's code consist of: the branch at their end, and floating-point operations.

    a set's library --objdump--> instructions, by block --addr2line--> their lines, and the functions inlined there

A block begins behind a call of ``__sanitizer_cov_trace_pc``, and ends before the next one (mode ``traced``).
"""

from __future__ import annotations

import linecache
import math
import os
import re
import subprocess
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .._installed import SOURCES
from ..own import compilers
from ..own.messages import STUB

_NOTED = re.compile(r"\b(?:callq?|bl)\s.*<__sanitizer_cov_trace_pc")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+) *([^#]*)(?:# ([0-9a-f]+))?")
#: Conditional jumps, which no block has in its middle; what goes elsewhere.
_JUMP = re.compile(r"j(?!mp)\w+$|b\.\w+$|cbn?z$|tbn?z$")
_AWAY = re.compile(r"jmpq?$|retq?$|b$|br$|ud2$")
#: What a function does at its end, if no destructors are called.
_LEAVE = re.compile(r"(pop|leave|ret|add|ldp|ldr|hint|autiasp)q? |leaq? .*,%rsp$")
#: Memory at an address that is in a register: not a variable on the stack, nor one of the thread's own (%fs).
_INDEXED = re.compile(
    r"(?<!%fs:)(?<![0-9a-fx])-?(?:0x[0-9a-f]+)?\((?:%r[sb]p,%r\w+(?:,\d)?|%r(?![sbi]p\))\w+(?:,.*)?)\)"
)
#: A constant: in the library, at that address. (objdump prints it behind "#", and its distance before.)
_CONSTANT = re.compile(r"0x([0-9a-f]+)\(%rip\)")
_X86 = re.compile(r"v?(add|sub|mul|fn?m(?:add|sub)\d+)([sp])([sd])$")
_ARM = re.compile(r"f(add|sub|n?mul|n?madd|n?msub)$")
#: Instructions with a counterpart on a GPU; those that are a function or a loop there.
_WORK = re.compile(r"(add|sub|imul|mul|and|or|xor|sh[lr]|sar|ro[lr]|neg|not|cvt|min|max)[a-z]*\d*[a-z]*$")
_LONG = re.compile(r"v?(div|idiv|sqrt)[a-z]*$")
#: nvcc executes both ways of a branch, by predicates, up to about this size. A store counts as several instructions.
_SMALL, _STORE = 22, 5
_FAR = 1 << 14  #: bytes of code between blocks, that are worth another process
_NEAR = re.compile(r"-?(?:0x)?[0-9a-f]+\(%rip\)")
_FUNCTION = re.compile(r"<(\w+)(?:@plt)?>$")
#: Additions, multiplications and fused ones in the place of instructions and functions, by type: of nvcc 13 on an H200,
#: for ordinary numbers. Others are not counted.
_FLOAT, _DOUBLE = (
    {
        "fmaf": (0, 0, 1),
        "divss": (0, 0, 5),
        "1/divss": (1, 0, 2),
        "sqrtss": (0, 2, 2),
        "expf": (1, 1, 4),
        "exp10f": (1, 1, 4),
        "exp2f": (0, 0, 0),
        "logf": (1, 1, 11),
        "log2f": (2, 2, 11),
        "log10f": (1, 2, 11),
        "sinf": (0, 2, 8),
        "cosf": (0, 2, 8),
        "sincosf": (0, 2, 11),
        "tanf": (0, 3, 9),
        "coshf": (1, 4, 3),
        "tanhf": (1, 2, 5),
        "powf": (13, 10, 19),
        "erff": (1, 1, 7),
        "erfcf": (5, 8, 20),
        "asinf": (0, 5, 8),
        "atanf": (0, 2, 9),
        "cbrtf": (1, 5, 2),
        "hypotf": (2, 6, 3),
        "divsd": (0, 0, 1),
    },
    {
        "fma": (0, 0, 1),
        "divsd": (0, 1, 7),
        "1/divsd": (0, 0, 5),
        "sqrtsd": (0, 3, 5),
        "exp": (1, 0, 14),
        "log": (8, 4, 16),
        "sin": (0, 2, 11),
        "cos": (0, 2, 11),
        "pow": (34, 7, 41),
        "erf": (3, 1, 37),
        "hypot": (2, 7, 4),
    },
)
#: Functions of which a GPU's unit for special functions leaves multiplications, and what stands for each of them here:
#: an instruction, or a function that is called.
_FAST = {
    "__expf": ("exp2f",),
    "__exp10f": ("exp2f",),
    "__powf": ("exp2f",),
    "__logf": ("mulss",),
    "__log10f": ("mulss",),
    "__sinf": ("sin",),
    "__cosf": ("cos",),
    "__sincosf": ("sin",),
    "__tanf": ("sin", "divss"),
    "__fdividef": ("divss",),
}


class Operation(NamedTuple):
    """An instruction of floating-point arithmetic."""

    type: str  #: "float", "double", "half": also bfloat16
    what: str  #: "adds", "multiplies", "fused"
    numbers: int
    product: int = 0  #: the address of the multiplication whose result this adds to something
    by: str = ""  #: the instruction, or the function that is called


class Place(NamedTuple):
    """Where an instruction comes from."""

    file: str  #: the source, outside of headers
    line: int
    inlined: tuple[tuple[str, str, int], ...]  #: functions of headers, their files and lines: the innermost first

    @property
    def is_plain(self) -> bool:
        """Whether nvcc compiles it as it is written, also in a header."""
        return all(file == f"{SOURCES}/emulator/include/cuComplex.h" for _, file, _ in self.inlined)

    def counted(self, operation: Operation) -> Operation | None:
        """What a GPU has in its place: one instruction for a function of the emulator's headers, or none."""
        if self.is_plain:
            return operation if operation.numbers else None
        ours = [one for one in self.inlined if one[1].startswith(f"{SOURCES}/")]
        function, file, _ = ours[0] if ours else ("", "", 0)
        outer = _name(*ours[-1]) if ours else ""
        if operation.by in _FAST.get(outer, ()):
            return Operation("float", "multiplies", 1)
        if not ours or file.endswith("/device_math.h") or outer == "fdividef":
            return operation if operation.numbers else None
        if re.match(r"emu::operator[-+*]\(", function) and operation.type == "float":
            return operation._replace(type="half")
        if function.startswith("emu::marked_fma(") and operation.what == "multiplies":
            return Operation("half", "fused", 1)
        return None


@dataclass
class Block:
    """Addresses are those in the library's file."""

    operations: list[tuple[int, Operation]] = field(default_factory=list)
    stack: list[tuple[int, str]] = field(default_factory=list)  #: loads and stores that the sanitizer need not see
    branch: int = 0  #: its conditional jump; 0: it has none
    successors: set[int] = field(default_factory=set)  #: the blocks that follow
    size: float = 0  #: about as many instructions on a GPU
    is_exit: bool = True  #: it only ends its function


class Blocks:
    """The blocks that begin at some addresses of this process. They have nothing in them without binutils."""

    def __init__(self, codes: Iterable[int]) -> None:
        self._blocks: dict[int, tuple[_Function, int]] = {}  #: with the library's address
        self._places: dict[int, Place] = {}
        for (library, base), some in _by_library(codes).items():
            addresses = set()
            for near in _clusters(code - base for code in some):
                function = _Function(_instructions(library, near[0], near[-1]), library)
                for start in near:
                    self._blocks[start + base] = function, start
                    block = function.block(start)
                    addresses |= {block.branch, *(address for address, _ in block.operations + block.stack)}
            places = _places(library, sorted(addresses - {0}))
            self._places |= {address + base: place for address, place in places.items()}

    def branch(self, code: int, ends: Container[int]) -> tuple[Place, bool] | None:
        """The branch at the end of a block, and whether it is likely that a GPU executes both ways by predicates.

        None: there is none on a GPU, or it only ends threads. `ends`: the blocks in which threads have ended.
        """
        function, start = self._blocks[code]
        base, block = code - start, function.block(start)
        place = self._places.get(block.branch + base)
        if not place or place.inlined or len(block.successors) < 2 or place.file.endswith(STUB):
            return None
        is_exit = any(one + base in ends and function.block(one).is_exit for one in block.successors)
        if is_exit and min(block.successors) > start:  # (a loop at the end has a branch to its next round)
            return None
        return place, function.join(start) is not None

    def of_stack(self, code: int) -> Iterator[tuple[Place, str]]:
        """Each "load" and "store" of an array on the stack by an index that varies."""
        function, start = self._blocks[code]
        for address, what in function.block(start).stack:
            if (place := self._places.get(address + code - start)) and not place.inlined:
                yield place, what

    def operations(self, code: int) -> Iterator[tuple[Place, Operation]]:
        """The floating-point operations of a block."""
        function, start = self._blocks[code]
        result: dict[tuple[int, str, str], tuple[Place, Operation]] = {}
        for address, operation in function.block(start).operations:
            place = self._places.get(address + code - start, Place("", 0, ()))
            if not (counted := place.counted(operation)):
                continue
            factors = operation.product, counted.type, "multiplies"
            if factors in result and result[factors][0].is_plain and place.is_plain:  # one instruction of nvcc's
                del result[factors]
                counted = counted._replace(what="fused")
            result[address, counted.type, counted.what] = place, counted
        yield from result.values()


class _Function:
    """Instructions that lie together, and the blocks that they form."""

    def __init__(self, instructions: Iterable[tuple[int, str, str]], library: Path) -> None:
        self._code, self._library = [*instructions], library
        self._index = {address: i for i, (address, _, _) in enumerate(self._code)}
        self._known: dict[int, Block] = {}
        self._joins: dict[int, tuple[int, float] | None] = {}

    def block(self, start: int) -> Block:
        if start not in self._known:
            self._known[start] = self._read(start)
        return self._known[start]

    def _read(self, start: int) -> Block:
        block, values, reports = Block(), _Values(self._library), 0
        i = self._index.get(start, len(self._code))
        while i < len(self._code):
            address, name, operands = self._code[i]
            i += 1
            reports += "<__tsan_" in operands
            if found := [*_of_stack(name, operands)]:
                block.stack += [] if reports else [(address, what) for what in found]
                reports = max(reports - 1, 0)
            block.is_exit = block.is_exit and bool(_LEAVE.match(f"{name} {operands.strip()}"))
            if _JUMP.match(name):
                target = _target(operands)
                if self._is_refusal(i):
                    i = self._index.get(target, len(self._code))
                else:
                    block.branch = block.branch or address
                    block.successors.add(self._next(target))
            elif _AWAY.match(name) or _NOTED.search(f"{name} {operands}"):
                if not name.startswith("ret"):
                    block.successors.add(self._next(address))
                break
            elif name.startswith("div") and values.is_reciprocal(name, operands):
                block.operations += [(address, operation) for operation in _operations(f"1/{name}", "")]
            elif len(operations := _operations(name, operands)) == 1 and not _FUNCTION.search(operands):
                operation, constants = values.used(address, operations[0], operands)
                block.operations.append((address, operation))
                block.size += constants - bool(operation.product)  # a GPU loads them each time
            elif operations:
                block.operations += [(address, operation) for operation in operations]
            elif name.startswith(("mov", "vmov")):
                values.moved(operands)
            block.size += _size(name, operands)
        return block

    def _is_refusal(self, i: int) -> bool:
        """Whether the sanitizer's function is called there, around which the jump before it leads."""
        for j in range(i, len(self._code)):
            _, name, operands = self._code[j]
            if name.startswith(("call", "bl")):
                return "<__ubsan_handle" in operands
            if _JUMP.match(name) or _AWAY.match(name):
                return False
        return False

    def _next(self, address: int) -> int:
        """The block that code comes to; what it is if that is not known."""
        i = self._index.get(address, len(self._code))
        for _ in range(len(self._code)):
            if i >= len(self._code):
                break
            _, name, operands = self._code[i]
            i += 1
            if _NOTED.search(f"{name} {operands}"):
                return self._code[i][0] if i < len(self._code) else address
            if _JUMP.match(name) or name.startswith("ret"):
                break
            if _AWAY.match(name):
                i = self._index.get(_target(operands), len(self._code))
        return -address

    def join(self, start: int) -> tuple[int, float] | None:
        """Where the two ways after a block come together again, and their size; None: one of them is not small."""
        if start not in self._joins:
            self._joins[start] = None  # also if it is asked for on the way, which is a loop then
            self._joins[start] = self._join(start)
        return self._joins[start]

    def _join(self, start: int) -> tuple[int, float] | None:
        if len(self.block(start).successors) != 2:
            return None
        first, second = self.block(start).successors
        ends = [first, second]  # one of the ways is empty
        ends += [end for way in (first, second) for end in self.block(way).successors]
        for end in ends:
            sizes = [self._way(way, end) for way in (first, second)]
            if max(sizes) <= _SMALL:
                return end, sum(sizes)
        return None

    def _way(self, start: int, end: int) -> float:
        """The size of the code from a block to another one."""
        size, seen = 0.0, set()
        while start != end:
            block = self.block(start)
            size += block.size
            if start in seen or size > _SMALL or not block.successors:
                return math.inf
            seen.add(start)
            if len(block.successors) == 1:
                (start,) = block.successors
            elif join := self.join(start):
                start, size = join[0], size + join[1]
            else:
                return math.inf
        return size


class _Values:
    """Which registers and variables hold constants, and which hold products that are not used yet (x86)."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._constants: dict[str, int] = {}  #: and where they are in the library
        self._products: dict[str, int] = {}  #: the addresses of the multiplications

    def moved(self, operands: str) -> None:
        source, to = _split(operands)
        place = _CONSTANT.match(source)
        constant = int(place[1], 16) if place else self._constants.get(source)
        self._constants.pop(to, 0)
        self._products.pop(to, 0)
        if constant is not None:
            self._constants[to] = constant
        if source in self._products:
            self._products[to] = self._products[source]

    def is_reciprocal(self, name: str, operands: str) -> bool:
        """Whether a division is one of the constant 1, which its result replaces."""
        at = self._constants.pop(_split(operands)[1], 0)
        if not at:
            return False
        one = np.float32(1) if name == "divss" else np.float64(1)
        with self._library.open("rb") as file:
            return file.seek(at) == at and file.read(one.nbytes) == one.tobytes()

    def used(self, address: int, operation: Operation, operands: str) -> tuple[Operation, int]:
        """The operation with its product, and how many constants it has."""
        source, to = _split(operands)
        if operation.what == "adds" and source == to:  # twice a number
            operation = operation._replace(what="multiplies")
        constants = sum("(%rip)" in one or one in self._constants for one in (source, to))
        if operation.what == "adds":
            operation = operation._replace(product=self._products.get(source) or self._products.get(to) or 0)
            self._products = {at: one for at, one in self._products.items() if one != operation.product}
        self._constants.pop(to, 0)
        self._products.pop(to, 0)
        if operation.what == "multiplies":
            self._products[to] = address
        return operation, constants


def _of_stack(name: str, operands: str) -> Iterator[str]:
    to = _split(operands)[1]
    if name.startswith(("lea", "nop", "data16", "cs")) or not _INDEXED.search(operands):
        return
    is_store = _INDEXED.search(to) and not name.startswith(("cmp", "test", "ucomis", "comis"))
    if not is_store or not name.startswith(("mov", "set")):
        yield "load"
    if is_store:
        yield "store"


def _split(operands: str) -> tuple[str, str]:
    """Source and destination. (A comma is also in the parentheses of an address.)"""
    parts = re.split(r",(?![^(]*\))", operands.strip())
    return parts[0], parts[-1]


def _target(operands: str) -> int:
    """Of a jump."""
    last = operands.split("<")[0].split(",")[-1].strip()
    return int(last, 16) if re.fullmatch("[0-9a-f]+", last) else 0


def _size(name: str, operands: str) -> float:
    """About as many instructions as a GPU has for one: by the compiler nvcc's habits, tried on an H200."""
    if name.startswith(("call", "bl")):
        function = operands.partition("<")[2]
        if function.startswith(("__tsan_", "fma@", "fmaf@")):
            return _STORE if "write" in function else 1
        return 0 if function.startswith(("__ubsan_handle", "__tls_get_addr")) else math.inf
    if name.startswith("lea"):  # of addresses, or of 32-bit integers
        return bool(re.search(r",%(e\w\w|r\d+d)\s*$", operands))
    return math.inf if _LONG.match(name) else bool(_WORK.match(name))


def _clusters(codes: Iterable[int]) -> list[list[int]]:
    """Those that lie near each other, in order."""
    result: list[list[int]] = []
    for code in sorted(codes):
        if not result or code > result[-1][-1] + _FAR:
            result.append([])
        result[-1].append(code)
    return result


def _by_library(codes: Iterable[int]) -> dict[tuple[Path, int], list[int]]:
    """Those of each library, which is loaded at an address."""
    result: dict[tuple[Path, int], list[int]] = {}
    areas = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        area, _, offset, _, _, *file = line.split(maxsplit=5)
        begin, end = (int(number, 16) for number in area.split("-"))
        if file and file[0].startswith("/"):
            name = file[0].removesuffix(" (deleted)")  # another process has put the same library there meanwhile
            areas.append((begin, end, Path(name), begin - int(offset, 16)))
    for code in codes:
        for begin, end, path, base in areas:
            if begin <= code < end:
                result.setdefault((path, base), []).append(code)
    return result


def _operations(name: str, operands: str) -> list[Operation]:
    if function := _FUNCTION.search(operands.strip()):
        name = function[1]
    if name in _FLOAT or name in _DOUBLE:
        return [
            Operation(kind, what, numbers, by=name)
            for kind, table in (("float", _FLOAT), ("double", _DOUBLE))
            for what, numbers in zip(("adds", "multiplies", "fused"), table.get(name, ()), strict=False)
            if numbers or name == "exp2f"  # which is none itself, but a part of others
        ]
    if x86 := _X86.match(name):
        kind, packed, letter = x86.groups()
        size = 4 if letter == "s" else 8
        numbers = (32 if "%ymm" in operands else 16) // size if packed == "p" else 1
    elif (arm := _ARM.match(name)) and (register := re.match(r"[sdv]", operands)):
        kind, letter = arm[1], "s" if register[0] == "s" or "s," in operands else "d"
        lanes = re.match(r"v\d+\.(\d)", operands)
        numbers = int(lanes[1]) if lanes else 1
    else:
        return []
    what = "multiplies" if kind.endswith("mul") else "adds" if kind in ("add", "sub") else "fused"
    return [Operation("float" if letter == "s" else "double", what, numbers, by=name)]


def _instructions(library: Path, first: int, last: int) -> Iterator[tuple[int, str, str]]:
    """From the first address to the end of the last one's function."""
    command = [_tool("objdump"), "-d", "--no-show-raw-insn", f"--start-address={first}", str(library)]
    try:
        run = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_environment()
        )
    except OSError:
        return
    with run:
        address = first
        for line in run.stdout or ():
            if found := _INSTRUCTION.match(line):
                address = int(found[1], 16)
                operands = found[3]
                yield address, found[2], _NEAR.sub(f"0x{found[4]}(%rip)", operands) if found[4] else operands
            elif line.endswith(">:\n") and address > last:
                break
        run.kill()


def _environment() -> dict[str, str]:
    """For tools in English, which ask no servers."""
    return {key: value for key, value in os.environ.items() if key != "DEBUGINFOD_URLS"} | {"LC_ALL": "C"}


def _tool(name: str) -> str:
    command = [*compilers.compiler(), f"-print-prog-name={name}"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or name


def _places(library: Path, addresses: Sequence[int]) -> dict[int, Place]:
    command = [_tool("addr2line"), "-a", "-f", "-i", "-C", "-e", str(library)]
    questions = "".join(f"{address:#x}\n" for address in addresses)
    try:
        run = subprocess.run(command, input=questions, capture_output=True, text=True, env=_environment())
    except OSError:
        return {}
    return dict(zip(addresses, map(_place, re.split(r"^0x[0-9a-f]+\n", run.stdout, flags=re.M)[1:]), strict=False))


def _name(function: str, file: str, line: int) -> str:
    """Of a function in the emulator's headers. (What is merged with the kernel's code has the kernel's name.)"""
    name = function.partition("(")[0]
    defined = None if name in _FAST else re.match(r"EMU_FUNCTION\(\w+, (\w+)", linecache.getline(file, line))
    return defined[1] if defined else name


def _place(answer: str) -> Place:
    lines = answer.splitlines()
    inlined: list[tuple[str, str, int]] = []
    for function, at in zip(lines[::2], lines[1::2], strict=False):
        file, _, number = at.partition(" (")[0].rpartition(":")
        line = int(number) if number.isdigit() else 0
        if not file.startswith((f"{SOURCES}/emulator/", "/usr/")):
            name = file if Path(file).exists() else Path(file).name  # a source without a file had a folder for a while
            return Place(name, line, tuple(inlined))
        inlined.append((function, file, line))
    return Place("", 0, tuple(inlined))
