"""What blocks of a kernel's code consist of: the branch at their end, and floating-point operations.

    a set's library --objdump--> instructions, by block --addr2line--> their lines, and the functions inlined there

A block begins behind a call of ``__sanitizer_cov_trace_pc``, and ends before the next one (mode ``traced``).
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .._installed import SOURCES
from ..own import compilers

_NOTED = re.compile(r"\b(?:callq?|bl)\s.*<__sanitizer_cov_trace_pc")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+) *([^#]*)")
#: Conditional jumps, which no block has in its middle; what goes elsewhere.
_JUMP = re.compile(r"j(?!mp)\w+$|b\.\w+$|cbn?z$|tbn?z$")
_AWAY = re.compile(r"jmpq?$|retq?$|b$|br$|ud2$")
#: What a function without local variables does at its end.
_LEAVE = re.compile(r"(pop|leave|ret|add|ldp|ldr|hint|autiasp)q?$")
_X86 = re.compile(r"v?(add|sub|mul|fn?m(?:add|sub)\d+)([sp])([sd])$")
_ARM = re.compile(r"f(add|sub|n?mul|n?madd|n?msub)$")
_FUSED = re.compile(r"<(fma|fmaf)(?:@plt)?>")


class Operation(NamedTuple):
    """An instruction of floating-point arithmetic."""

    type: str  #: "float", "double", "half": also bfloat16
    what: str  #: "adds", "multiplies", "fused"
    numbers: int


class Place(NamedTuple):
    """Where an instruction comes from."""

    file: str  #: the source, outside of headers
    line: int
    inlined: tuple[tuple[str, str], ...]  #: functions of headers and their files: the innermost first

    def counted(self, operation: Operation) -> Operation | None:
        """What a GPU has in its place: one instruction for a function of the emulator's headers, or none."""
        function, file = self.inlined[0] if self.inlined else ("", "")
        if not file.startswith(f"{SOURCES}/") or file.endswith("/device_math.h"):
            return operation
        if re.match(r"emu::operator[-+*]\(", function) and operation.type == "float":
            return operation._replace(type="half")
        if function.startswith("emu::marked_fma(") and operation.what == "multiplies":
            return Operation("half", "fused", 1)
        return None


@dataclass
class Block:
    """What it consists of, by addresses in the library's file, or with the places of the source."""

    operations: list[tuple[int, Operation]] = field(default_factory=list)
    branch: int = 0  #: its conditional jump; 0: it has none
    is_exit: bool = True  #: it only ends its function


class Blocks:
    """The blocks that begin at some addresses of this process. They have nothing in them without binutils."""

    def __init__(self, codes: Iterable[int]) -> None:
        self._blocks: dict[int, Block] = {}
        self._places: dict[int, Place] = {}
        for (library, base), some in _by_library(codes).items():
            found = {code + base: block for code, block in _blocks(library, {code - base for code in some}).items()}
            addresses = {one.branch for one in found.values() if one.branch}
            addresses |= {address for one in found.values() for address, _ in one.operations}
            places = _places(library, sorted(addresses))
            for code, block in found.items():
                block.branch = block.branch and block.branch + base
                block.operations = [(address + base, one) for address, one in block.operations]
                self._blocks[code] = block
            self._places |= {address + base: place for address, place in places.items()}

    def branch(self, code: int, successors: Iterable[int]) -> Place | None:
        """The branch at the end of a block; None if a GPU has none there: it ends threads without one."""
        block = self._blocks.get(code)
        place = self._places.get(block.branch) if block else None
        if not place or place.inlined or any(one in self._blocks and self._blocks[one].is_exit for one in successors):
            return None
        return place

    def operations(self, code: int) -> Iterator[tuple[Place, Operation]]:
        """The floating-point operations of a block."""
        for address, operation in self._blocks.get(code, Block()).operations:
            place = self._places.get(address, Place("", 0, ()))
            if counted := place.counted(operation):
                yield place, counted


def _by_library(codes: Iterable[int]) -> dict[tuple[Path, int], list[int]]:
    """Those of each library, which is loaded at an address."""
    result: dict[tuple[Path, int], list[int]] = {}
    areas = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        area, _, offset, _, _, *file = line.split(maxsplit=5)
        begin, end = (int(number, 16) for number in area.split("-"))
        if file and file[0].startswith("/"):
            areas.append((begin, end, Path(file[0]), begin - int(offset, 16)))
    for code in codes:
        for begin, end, path, base in areas:
            if begin <= code < end:
                result.setdefault((path, base), []).append(code)
    return result


def _blocks(library: Path, codes: set[int]) -> dict[int, Block]:
    result: dict[int, Block] = {}
    block: Block | None = None
    jumps: list[int] = []
    for address, name, operands in _instructions(library, min(codes), max(codes)):
        if address in codes:
            block, jumps = result.setdefault(address, Block()), []
        if block is None:
            continue
        block.is_exit = block.is_exit and bool(_LEAVE.match(name))
        if "<__ubsan_handle" in operands:
            jumps[-1:] = []  # the sanitizer's own: over this call
            block.branch = jumps[0] if jumps else 0
        elif _JUMP.match(name):
            jumps.append(address)
            block.branch = jumps[0]
        elif operation := _operation(name, operands):
            block.operations.append((address, operation))
        elif _AWAY.match(name) or _NOTED.search(f"{name} {operands}"):
            block = None
    return result


def _operation(name: str, operands: str) -> Operation | None:
    if fused := _FUSED.search(operands):
        return Operation("float" if fused[1] == "fmaf" else "double", "fused", 1)
    if x86 := _X86.match(name):
        kind, packed, letter = x86.groups()
        size = 4 if letter == "s" else 8
        numbers = (32 if "%ymm" in operands else 16) // size if packed == "p" else 1
    elif (arm := _ARM.match(name)) and (register := re.match(r"[sdv]", operands)):
        kind, letter = arm[1], "s" if register[0] == "s" or "s," in operands else "d"
        lanes = re.match(r"v\d+\.(\d)", operands)
        numbers = int(lanes[1]) if lanes else 1
    else:
        return None
    what = "multiplies" if kind.endswith("mul") else "adds" if kind in ("add", "sub") else "fused"
    return Operation("float" if letter == "s" else "double", what, numbers)


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
                yield address, found[2], found[3]
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


def _place(answer: str) -> Place:
    lines = answer.splitlines()
    inlined: list[tuple[str, str]] = []
    for function, at in zip(lines[::2], lines[1::2], strict=False):
        file, _, line = at.partition(" (")[0].rpartition(":")
        if not file.startswith((f"{SOURCES}/emulator/", "/usr/")):
            name = file if Path(file).exists() else Path(file).name  # a source without a file had a folder for a while
            return Place(name, int(line) if line.isdigit() else 0, tuple(inlined))
        inlined.append((function, file))
    return Place("", 0, tuple(inlined))
