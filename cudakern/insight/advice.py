"""What would mend a race: which barrier, fence or atomic operation is missing, as far as the source tells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from . import checker
from .checker import Access, Found
from .declared import function, operator_of, uses, without_comments

_ATOMIC = {"+=": "atomicAdd", "++": "atomicAdd", "--": "atomicSub", "|=": "atomicOr", "&=": "atomicAnd"}
_ATOMIC |= {"^=": "atomicXor", "-=": "atomicAdd of the negative number"}
_OF_BLOCK = re.compile(r"__syncthreads|\b(?:block|cta|tb)\w*\.sync\(|\bsync\(block|this_thread_block\(\)\.sync")
_SYNC = re.compile(r"sync(?:threads|warp)?\w*\(|\bbar\.|barrier_\w+\(|barrier\.")


class Race:
    """Two accesses of which nothing says which is first. ``source``: the lines of the file."""

    def __init__(self, found: Found, array: str, is_shared: bool, source: Sequence[str]) -> None:
        self.array, self.is_shared = array, is_shared
        self.access: Access = found.access
        self.other: Access = found.other
        same_file = found.access.line.file == found.other.line.file
        self.source = without_comments(source) if source and same_file else []
        self.here, self.there = self.access.line.line, self.other.line.line
        self.first, self.last = sorted((self.here, self.there))
        self.in_block = tuple(self.access.block) == tuple(self.other.block)
        x, y, _ = shape = tuple(found.shape)
        warps = {(at.thread[0] + x * (at.thread[1] + y * at.thread[2])) // 32 for at in (self.access, self.other)}
        self.in_warp, self.one_warp = self.in_block and len(warps) == 1, math.prod(shape) <= 32
        #: Whether a barrier of the block can order all that meet here.
        self.by_barrier = self.in_block and (is_shared or math.prod(found.grid) == 1)

    def advice(self) -> str:
        if (self.access.kind | self.other.kind) & checker.ATOMIC:
            return self._between() if self.by_barrier else self._plainly()
        if self.in_warp and self.is_shared and self.access.kind & self.other.kind & checker.VOLATILE:
            steps = "read into a variable, __syncwarp(), write, __syncwarp()"
            return f"The lanes of a warp do not run in step: {steps}, or use shuffles."
        text = self._text()
        if not self.in_block and "__threadfence_block" in text:
            return "__threadfence_block() reaches one block only: use __threadfence()."
        if self.here == self.there:
            return self._same_line(self._line(self.here))
        if not self._moves() and (name := self._atomic(self.here)) and name == self._atomic(self.there):
            return f"Use {name} in both lines."
        if self.by_barrier:
            return self._between()
        if not self.in_block and re.search("atomic|volatile", text):
            fences = "__threadfence() must come before it in the writer, and after it in the reader"
            return (
                f"Blocks run in any order. If an atomic operation orders the two, {fences}; otherwise use two launches."
            )
        if self._is_one_element():
            return "Use atomic operations for both, or two launches."
        if self.access.kind & self.other.kind & checker.WRITES:
            return "Blocks run in any order: let one thread write each element, or use two launches."
        writes = self.here if self.access.kind & checker.WRITES else self.there
        if writes == self.last:
            return "Other threads may still have to read it: write to another array, or use two launches."
        return "Blocks run in any order: use two launches, or give each block elements of its own."

    # --- atomic operations ---
    def _plainly(self) -> str:
        """Of an access that is not atomic, next to one that is."""
        plain, atomic = self.access, self.other
        if plain.kind & checker.ATOMIC:
            plain, atomic = atomic, plain
        line = plain.line.line
        if not plain.kind & checker.WRITES:
            instead = f"Use the value that the atomic operation returns instead of reading it in line {line}"
            return f"{instead}, or read it in a later launch."
        if line < atomic.line.line:
            return "Set it before the launch, or in an earlier one: no barrier of a block waits for all others."
        return f"Write it with atomicExch in line {line}."

    def _same_line(self, line: str) -> str:
        own = "thread" if self.in_block else "block"
        if not self._moves():
            if name := self._atomic(self.here):
                taken = rf"(?<![-+*/%&|^=!<>])=(?!=)[^;=)]*\b{re.escape(self.array)}\b(?:\[[^;=]*\])?\s*(?:\+\+|--)"
                what = "; it returns the old value" if re.search(taken, line) else ""
                return f"Use {name} instead of {self._operator(self.here)}{what}.{self._lock()}"
            if operator := self._operator(self.here).strip("="):
                return f"Let one thread update it, or use atomicCAS in a loop: no atomic operation does {operator}=."
            if best := re.search(rf"=\s*(?:[\w:]*::)?f?(max|min)f?\s*\(.*\b{re.escape(self.array)}\b", line):
                return f"Use atomic{best[1].capitalize()} or, of floats, atomicCAS in a loop.{self._lock()}"
        if self._tests(line):
            return f"The test and the write must be one step: use atomicMax, atomicMin or atomicCAS.{self._lock()}"
        if re.search(rf"\batomic\w+\(\s*{re.escape(self.array)}\s*,", self._text()):
            return f"Write it with atomicExch in line {self.here}."
        rounds = f"{self._barrier()} between the rounds of the loop"
        if self.access.kind & self.other.kind & checker.WRITES:
            if self.by_barrier and self._loops():
                return f"{rounds}, or let each thread write an element of its own."
            return f"Let one {own} write it, or give each {own} an element of its own."
        if not self.by_barrier:
            return "Write to another array: other threads may still have to read this one."
        if not self._loops():
            return f"Read into a variable first; then {self._barrier()}; then write."
        return f"{rounds}; if a round reads what other threads write in it, also between reading and writing."

    def _tests(self, line: str) -> bool:
        """Whether it writes an element if that has some value: `if (x > *best) *best = x;`"""
        name = rf"\b{re.escape(self.array)}\b"
        match = re.search(r"\bif\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))(.*)", line)
        tested = re.search(name, match[1]) and "atomic" not in match[1] if match else None
        return bool(match and tested and re.search(rf"{name}[^=;]*=(?!=)", match[2]))

    def _operator(self, line: int) -> str:
        """That changes the array, or, through a pointer of another name, the only one."""
        text = self._line(line)
        if re.search(rf"\b{re.escape(self.array)}\b", text):
            return operator_of(text, self.array)
        operators = re.findall(r"\+\+|--|(?:[-+*/%&|^]|<<|>>)=", text)
        return operators[0] if len(operators) == 1 and not re.search(r"\bfor\b", text) else ""

    def _atomic(self, line: int) -> str:
        """The atomic operation that does what the line does."""
        return _ATOMIC.get(self._operator(line), "")

    def _moves(self) -> bool:
        """Whether what is written comes from other elements of the same array: `s[t] += s[t + 1];`"""
        for line in (self.here, self.there):
            mine = [use for use in uses(self._line(line)) if use.name == self.array]
            if len({use.indices for use in mine}) > 1 and any(use.verb == "reads" for use in mine):
                return True
        return False

    def _is_one_element(self) -> bool:
        """For all threads: `*where`, `best[0]`."""
        name = re.escape(self.array)
        all_of_it = rf"\*\s*{name}\b|\b{name}\[\d+\]"
        return all(re.search(all_of_it, self._line(line)) for line in (self.here, self.there))

    def _lock(self) -> str:
        takes = not self.in_block and re.search(r"atomic(?:CAS|Exch)", self._text())
        return " If a lock is to order them: __threadfence() after taking and before releasing it." if takes else ""

    # --- barriers ---
    def _barrier(self) -> str:
        if self.in_warp and self.one_warp:
            return "__syncwarp() (in larger blocks __syncthreads())"
        return "__syncthreads()" + " (or __syncwarp(), if only lanes of one warp meet here)" * self.in_warp

    def _between(self) -> str:
        if not self.source or not self.first or self._function(self.first) != self._function(self.last):
            return f"{self._barrier()} must come between the two."
        there = f"between lines {self.first} and {self.last}"
        if any(re.search(r"\belse\b", self._line(line)) for line in range(self.first + 1, self.last + 1)):
            return "The second one must wait for the first one, at a barrier that both reach."
        barriers = [line for line in range(self.first + 1, self.last) if _SYNC.search(self._line(line))]
        if not barriers:
            return f"{self._barrier()} {there}."
        of_block = any(_OF_BLOCK.search(self._line(line)) for line in barriers)
        of_warp = any("__syncwarp" in self._line(line) for line in barriers)
        if self._loops() and (of_block or (of_warp and self.in_warp)):
            return f"The barrier {there} is not enough in a loop: another one must come at its end, {self._barrier()}."
        if of_warp and not of_block:
            return f"__syncwarp() in line {barriers[-1]} waits for one warp only: use __syncthreads()."
        first = "the second one must wait for the first one"
        return f"What is in line {barriers[-1]} does not order these two threads: {first}."

    def _loops(self) -> bool:
        """Whether there is a loop before these lines, in the same function."""
        begin = self._function(self.first)
        return any(re.search(r"\b(?:for|while|do)\b", line) for line in self.source[begin : self.first])

    def _function(self, line: int) -> int:
        """How many lines are before the function."""
        return function(self.source, line)[0]

    def _text(self) -> str:
        """Of the functions in which the two are."""
        parts = {function(self.source, line) for line in (self.here, self.there)}
        return "\n".join(line for begin, end in sorted(parts) for line in self.source[begin:end])

    def _line(self, line: int) -> str:
        return self.source[line - 1] if 0 < line <= len(self.source) else ""
