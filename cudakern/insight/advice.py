"""What would mend a race: which barrier, fence or atomic operation is missing, as far as the source tells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from . import checker
from .checker import Access, Found
from .kernel_text import BARRIER, KernelText, Update

_ATOMIC_READ = re.compile(
    r"atomic(?:Add|Sub|Or|Xor)\w*\([^;]*?,\s*0[uUlLfF.]*\s*\)|atomicCAS\w*\([^;]*,\s*(\w+),\s*\1\s*\)"
)
#: The index of a thread in the grid, as it should not be written.
_WRONG_INDEX = re.compile(
    r"(?<!\*)(?<!\* )(?:blockIdx\.x\s*(?:\*\s*gridDim\.x\s*)?\+\s*threadIdx\.x|threadIdx\.x\s*\+\s*blockIdx\.x)"
    r"\b(?!\s*\*)"
    r"|(?P<product>blockIdx\.x\s*\*\s*threadIdx\.x)"
)
#: A comparison of what comes before it.
_WITH_CONSTANT = r"(?:[<>]=?|[=!]=)\s*-?(?:\d\w*|[A-Z_]+\b)"
_ONE_STEP = "Reading and writing must be one step: use one atomic operation for both, or let one thread do it."
_INDEX = "blockIdx.x * blockDim.x + threadIdx.x"


#: A condition for the threads of one warp.
_ONE_WARP = re.compile(r"\bif\b.*<\s*(?:32|warpSize|WARP\w*)\b")


class Race:
    """Two accesses of which nothing says which is first. ``source``: the lines of the file. ``type``: the elements'."""

    def __init__(
        self, found: Found, array: str, is_shared: bool, source: Sequence[str], type: str = "", is_scalar: bool = False
    ) -> None:
        self.is_shared, self.type = is_shared, type
        self.access: Access = found.access
        self.other: Access = found.other
        self.here, self.there = self.access.line.line, self.other.line.line
        self.first, self.last = sorted((self.here, self.there))
        self.in_block = tuple(self.access.block) == tuple(self.other.block)
        x, y, _ = shape = tuple(found.shape)
        warps = {(at.thread[0] + x * (at.thread[1] + y * at.thread[2])) // 32 for at in (self.access, self.other)}
        self.in_warp, self.one_warp = self.in_block and len(warps) == 1, math.prod(shape) <= 32
        #: Whether a barrier of the block can order all that meet here.
        self.by_barrier = self.in_block and (is_shared or math.prod(found.grid) == 1)
        source = source if found.access.line.file == found.other.line.file else ()
        kernel = found.kernel.decode(errors="replace")
        self.of = KernelText(source, kernel, (self.here, self.there), array, type, is_scalar)

    def advice(self) -> str:
        if (self.access.kind | self.other.kind) & checker.ATOMIC:
            return self._beside_atomic()
        is_volatile = self.access.kind & self.other.kind & checker.VOLATILE
        if self.in_warp and self.is_shared and is_volatile and not self._has_barrier_in_loop():
            steps = "read into a variable, __syncwarp(), write, __syncwarp()"
            return f"The lanes of a warp do not run in step: {steps}, or use shuffles."
        if self.is_shared and not self.in_block:
            return "The blocks of the cluster must wait for each other between the two: cluster.sync()."
        if not self.in_block and "__threadfence_block" in self.of.text:
            return "__threadfence_block() reaches one block only: use __threadfence()."
        if not self.in_block and "thread_scope_block" in self.of.text:
            return "cuda::thread_scope_block orders threads of one block only: use cuda::thread_scope_device."
        if text := self._index() or self._two_statements() or self._one_step():
            return text
        if self.here == self.there:
            return self._same_line(self.of.statement(self.here))
        writes, reads = (self.access, self.other) if self.access.kind & checker.WRITES else (self.other, self.access)
        is_first = not reads.kind & checker.WRITES and reads.line.line < writes.line.line
        if is_first and self.of.is_one_element(self.here, self.there) and self.of.depends(self.last):
            return f"{_ONE_STEP}{self._lock()}"
        if text := self._uneven():
            return text
        if self.by_barrier:
            return self._between()
        return self._neighbor() or self._across_blocks()

    def _has_barrier_in_loop(self) -> bool:
        """Whether a loop around both lines has a barrier of the block, so that more than a warp takes part."""
        of = self.of.function(self.first)
        loops = [one for one in (of.statements() if of else []) if one[0] <= self.first and self.last <= one[1]]
        return any(kind == "block" for one in loops for *_, kind in self.of.barriers(one[0] - 1, one[1] + 1))

    def _uneven(self) -> str:
        """Where no barrier can help, because threads leave a loop at different times."""
        is_atomic = re.search(rf"\batomic\w+\(\s*&?\s*{self.of.element}", self.of.text)
        if (
            is_atomic
            and not BARRIER.search(self.of.text)
            and any(self.of.leaves(line, line) for line in (self.here, self.there))
        ):
            both = "this line" if self.here == self.there else f"lines {self.first} and {self.last}"
            name = is_atomic[0].partition("(")[0]
            return f"{name} changes it at the same time: access it atomically in {both}, too, or by a volatile pointer."
        if loop := self.of.leaves(self.first, self.last):
            no_barrier = f"No barrier in the loop of line {loop} can order them: threads leave it at different times"
            if self.access.kind & self.other.kind & checker.WRITES:
                return f"{no_barrier}. Let one thread write each element, or use atomic operations."
            return f"{no_barrier}. Use atomic operations, or write to another array."
        return ""

    # --- atomic operations ---
    def _one_step(self) -> str:
        """Where an element is changed by its own value, or tested and written."""
        if text := self._tested():
            return f"{text}{self._lock()}"
        if self.of.others(self.here) or self.of.others(self.there):
            return ""
        if self.here == self.there and (best := self.of.extreme(self.here)):
            return f"Use {self._extreme(f'atomic{best}')}.{self._lock()}"
        mine, its = self.of.update(self.here), self.of.update(self.there)
        if self.of.statement(self.here) != self.of.statement(self.there) and mine and its:
            same = mine.call.partition("(")[0], its.call.partition("(")[0]
            return f"Use {same[0]} in both lines." if same[0] and same[0] == same[1] else ""
        if mine and its:
            return self._instead(mine, self.here)
        if self.here != self.there and (mine or its):
            return self._taken(mine or its, self.here if mine else self.there, self.there if mine else self.here)
        return ""

    def _instead(self, update: Update, at: int) -> str:
        """Of the statement in that line, next to itself or to the reading before it."""
        operator, call, _, value, read = update
        if not call:
            in_loop = f", or use atomicCAS in a loop: no atomic operation does {operator}" if operator else ""
            other = f"et one thread update it{in_loop}."
            return f"{own} Otherwise l{other}" if (own := self._own()) else f"L{other}{self._lock()}"
        name = call.partition("(")[0]
        if self._is_small:
            return f"Use an array of ints and {name}: there is no {name} of a {self.type}."
        if read:
            lines = f"lines {read} and {at}: it returns the old value, and no thread comes between"
            return f"Use {value}{call} instead of {lines}.{self._lock()}"
        if value:
            return f"Use {call} instead of {operator}; it returns the old value.{self._lock()}"
        if own := self._own():
            return f"{own} Otherwise use {name}."
        if self.in_block and re.fullmatch(r"\w+\[\d+\]", update.operand) and self.of.is_one_element(self.here):
            return f"Every thread adds the same {update.operand}: let one thread of each block do it, with {name}."
        if operator not in self.of.statement(at):
            return f"Use {call}: reading and writing must be one step.{self._lock()}"
        if self.type in ("long long", "long", "int64_t", "uint64_t", "size_t"):
            return f"Use {call} instead of {operator}, with the address as an unsigned long long *.{self._lock()}"
        if operator in ("-=", "--") and name == "atomicAdd":
            return f"Use {call} instead of {operator}.{self._lock()}"
        return f"Use {name} instead of {operator}.{self._lock()}"

    @property
    def _is_small(self) -> bool:
        """Whether no atomic operation takes such numbers."""
        return self.type in ("char", "bool", "short", "int8_t", "uint8_t", "int16_t", "uint16_t")

    def _taken(self, update: Update | None, at: int, read: int) -> str:
        """Of a value that is read first, and changed in a later line."""
        if not update or "(" not in update.call or not self.of.elements(at) & self.of.elements(read):
            return ""
        if update.read == read:
            return self._instead(update, at)
        of = self.of.function(at)
        if not read < at or of is None or of != self.of.function(read):
            return ""
        if any(read < begin <= at <= end for begin, end in of.statements("if")):  # fewer threads come to the second
            return ""
        return f"Use the old value that {update.call} returns, instead of lines {read} and {at}."

    def _tested(self) -> str:
        """Of an element that is written if it has some value: `if (x > best[0]) best[0] = x;`"""
        at, element = self.last, self.of.element
        of = self.of.function(at)
        reads = self.there if self.access.kind & checker.WRITES else self.here
        if self.here == self.there:
            tests = [at, *self.of.before(at)][:5]
        else:
            tests = [reads] if reads == self.first and not self.access.kind & self.other.kind & checker.WRITES else []
        ends = dict(of.statements("if")) if of else {}
        taken = re.search(rf"\b(\w+)\s*=(?!=)\s*({element})\s*[;,]", self.of.statement(reads)) if tests else None
        if taken and self.here != self.there:  # `old = key[i]; if (old == empty) key[i] = mine;`
            tests += [line for line in range(reads + 1, at + 1) if line in ends]
        for line in tests:
            test, text = _condition(self.of.statement(line))
            if taken and line > reads:
                if "&&" in test and re.search(r"threadIdx|thread_rank", self.of.terms(test)):  # one thread, say
                    continue
                test = re.sub(rf"\b{taken[1]}\b", lambda _: taken[2], test)
            text = text if line == at else self.of.statement(at)
            written = {self.of.normal(one) for one in re.findall(rf"({element})\s*=(?!=)", text)}
            tested = {self.of.normal(one) for one in re.findall(element, test)}
            moves = re.search(rf"{element}\s*=(?!=)[^;]*{element}", text) or (line != at and len(tested) > 1)
            value = re.search(rf"{element}\s*=(?!=)([^;]*)", text)
            read = {self.of.normal(one) for one in re.findall(element, value[1])} if value else set()
            if len(tested) == 1 and not read & tested and re.search(rf"^\(\s*{element}\s*{_WITH_CONSTANT}\s*\)$", test):
                moves = None
            if "atomic" in test or moves or not written & tested:
                continue
            if (
                line == at
                or ends.get(line, 0) >= at
                or re.search(r"\b(?:return|continue|break)\b", self.of.statement(line))
            ):
                return self._test_and_write(test, text)
        return ""

    def _test_and_write(self, test: str, text: str) -> str:
        """By which operation, as the test tells."""
        element, test = self.of.element, re.sub(r"\s", "", test)
        written = re.search(rf"{element}\s*=(?!=)([^;]*);", text)
        new = re.escape(re.sub(r"\s", "", written[1])) if written else r"\0"
        use = "atomicMax, atomicMin or atomicCAS"
        if re.search(rf"{element}(?:{_WITH_CONSTANT}|[=!]=)", test):
            use = f"{'an array of ints and ' * self._is_small}atomicCAS"
        for name, larger, less in (("atomicMax", ">", "<"), ("atomicMin", "<", ">")):
            if re.search(rf"{new}{larger}=?{element}|{element}{less}=?{new}", test):
                use = self._extreme(name)
        return f"The test and the write must be one step: use {use}."

    def _extreme(self, name: str) -> str:
        """atomicMax or atomicMin, which CUDA has for integers."""
        if self._is_small:
            return f"an array of ints and {name}"
        if self.type in ("float", "double", "half", "__half"):
            return f"atomicCAS in a loop (there is no {name} of floats)"
        return (
            name
            if self.type in ("int", "unsigned", "long long", "unsigned long long")
            else f"{name}, or of floats atomicCAS in a loop"
        )

    def _beside_atomic(self) -> str:
        """Of an access that is not atomic, next to one that is."""
        plain, atomic = self.access, self.other
        if plain.kind & checker.ATOMIC:
            plain, atomic = atomic, plain
        line, at, text = plain.line.line, atomic.line.line, self.of.statement(atomic.line.line)
        same = self.of.function(line) == self.of.function(at)
        same = same and bool(self.of.elements(line) & self.of.elements(at))
        name = (re.findall(r"\batomic\w+|\.fetch_\w+|\.exchange", text) or [""])[0].lstrip(".")
        uneven = self.of.leaves(line, line) or self.of.leaves(at, at)
        if not plain.kind & checker.WRITES:
            instead = f"Use the value that {name or 'the atomic operation'} returns"
            element = re.search(self.of.element, self.of.statement(line))
            by_atomic = f"Read it atomically in line {line}, too"
            call = self.of._call("+=", element[0].strip(), "0") if element else ""
            volatile = f"{by_atomic}{f': {call}' if call else ''}, or by a volatile pointer."
            if name == "atomicCAS" and not re.search(r"\batomicCAS\w*\([^;]*,\s*-?\d\w*\s*,[^,;]*\)", text):
                return volatile  # which needs the value before
            if same and line < at and re.match(r"(?:if\s*\([^;]*\)\s*)?(?:\w+::)*(?:atomic|\w+\.fetch)", text):
                return f"{instead} in line {at} instead of reading it in line {line}."
            if uneven:
                return volatile
            if self.by_barrier:
                return self._between()
            if name in ("atomicExch", "atomicCAS") and call:
                return f"{by_atomic}: {call}."
            if text := self._wait_for_grid():
                return text
            if same or not self.of.source:
                return f"{instead} instead of reading it in line {line}, or read it in a later launch."
            return "Read it in a later launch: no barrier of a block waits for all others."
        mine = self.of.update(line)
        if name and mine and mine.call.partition("(")[0] == name and (same or self.of.elements(at) <= {self.of.array}):
            return f"Use {name} instead of {mine.operator} in line {line}, too."
        if uneven:
            return f"Write it with atomicExch in line {line}."
        if self.by_barrier:
            return self._between()
        if not atomic.kind & checker.WRITES or _ATOMIC_READ.search(text):
            after = "" if "__threadfence()" in self.of.text else ", after a __threadfence()"
            return f"Write it with atomicExch in line {line}{after}."
        if text := self._wait_for_grid():
            return text
        if line < at:
            return "Set it before the launch, or in an earlier one: no barrier of a block waits for all others."
        return f"Write it with atomicExch in line {line}."

    def _wait_for_grid(self) -> str:
        """In kernels whose blocks can wait for each other, where they should."""
        first, last = self.of.sites(self.first, self.last) if self.first else (0, 0)
        if first == last or not (grid := self.of.grid_sync()):
            return ""
        if barriers := self.of.barriers(first, last):
            line, name, kind = barriers[0]
            is_blocks = kind == "block" and not self.in_block
            return f"{name} in line {line} waits for the threads of one block only: use {grid}." if is_blocks else ""
        return f"{grid} between lines {first} and {last}, where all threads reach it."

    def _lock(self) -> str:
        takes = not self.in_block and re.search(r"atomic(?:CAS|Exch)", self.of.text)
        return " If a lock is to order them: __threadfence() after taking and before releasing it." if takes else ""

    # --- the array ---
    def _index(self) -> str:
        """Where all blocks, or several threads, have the same index by mistake."""
        if not self.of.source or "grid" in self.of.text.replace("gridDim", ""):
            return ""
        index = " ".join(i for line in (self.here, self.there) for use in self.of.uses(line) for i in use.indices)
        index += " ".join(["", *map(self.of.definition, set(re.findall(r"\b[A-Za-z_]\w*", index)))])
        wrong = _WRONG_INDEX.search(index)
        if wrong and (not self.in_block or wrong["product"]):
            return f"{wrong[0]} is not the number of a thread in the grid: use {_INDEX}."
        same = not self.in_block and tuple(self.access.thread) == tuple(self.other.thread)
        macros = "".join(line for line in self.of.source if line.lstrip().startswith("#"))
        if same and "threadIdx" in index and "blockIdx" not in self.of.text + macros:
            return f"No index contains blockIdx, so all blocks use the same elements: use {_INDEX}."
        return ""

    def _own(self) -> str:
        """Where two threads have the same index, and each should have its own, as the index tells."""
        mine = [use for use in self.of.uses(self.here) if use.verb != "reads"]
        if self.here != self.there or len({use.indices for use in mine}) != 1:
            return ""
        index = mine[0].indices[-1]
        own = "If each thread should have its own element"
        if row := re.fullmatch(r"\w+ ?\* ?(\w+) ?\+ ?([a-zA-Z_]\w*)", index):
            return f"{own}, {row[2]} must be less than {row[1]}: test it, or correct the index."
        value = self.of.definition(index)
        terms = " ".join([value, *map(self.of.definition, re.findall(r"\b[A-Za-z_]\w*", value))])
        if "threadIdx" not in terms or re.search(r"[][/%&]|>>", terms) or not (self.in_block or "blockIdx" in terms):
            return ""
        if re.search(rf"\bfor\s*\([^;]*\b{index}\s*=", self.of.text):
            steps = "begins and ends, and that it goes on by the number of threads"
            return f"{own}s, see where the loop over {index} {steps}."
        return f"{own}, correct {index}: two threads have the same {value}."

    # --- one line ---
    def _two_statements(self) -> str:
        """Where one statement of a line writes, and another one reads."""
        if self.here != self.there or not self.by_barrier or self.access.kind & self.other.kind & checker.WRITES:
            return ""
        if not self.of.writes_and_reads(self.here):
            return ""
        again = ", and another one at the end of the loop" * self.of.in_loop(self.here, self.here)
        return f"{self._barrier()} between the two statements in line {self.here}, where all threads reach it{again}."

    def _same_line(self, line: str) -> str:
        own = "thread" if self.in_block else "block"
        changed, written = (
            {self.of.normal(one) for one in re.findall(pattern, text)}
            for pattern, text in (
                (rf"\batomic\w+\(\s*&?\s*({self.of.element})", self.of.text),
                (rf"({self.of.element})\s*=(?!=)", line),
            )
        )
        if changed & written and not self.by_barrier:
            return f"Write it with atomicExch in line {self.here}."
        loops = self.of.in_loop(self.here, self.here)
        helper, calls = self.of.helper(self.here)
        if self.by_barrier and helper and len(set(calls)) > 1 and not loops and not BARRIER.search(helper.text):
            lines = f"{_listed(sorted(set(calls)))}; that does not help if threads meet within one call"
            return f"{self._barrier()} between the calls of {helper.name}, in lines {lines}."
        loops = loops or any(self.of.in_loop(call, call) for call in calls)
        rounds = f"{self._barrier()} between the rounds of the loop"
        if self.access.kind & self.other.kind & checker.WRITES:
            if self.by_barrier and loops and not self.of.is_one_element(self.here) and not self._uneven():
                return f"{rounds}, or let each thread write an element of its own."
            if text := self._own():
                return text
            if re.search(rf"{self.of.element}\s*=(?!=)\s*(?:-?[\d.]+f?|true|false)\s*;", line):
                instead = f"let one {own} write it, or use atomicExch{' of an int' * self._is_small}"
                return f"That all write the same value does not make it right: {instead}."
            return f"Let one {own} write it, or give each {own} an element of its own."
        if self.of.is_one_element(self.here, self.there) and self.of.elements(self.here) & written:
            return f"{_ONE_STEP}{self._lock()}"
        if text := self._uneven():
            return text
        if self.of.source and not re.search(r"(?<![=!<>])=(?!=)|\+\+|--", line):  # a macro, say
            barrier = f"put {self._barrier()} between reading and writing"
            return f"Let one {own} do it, use an atomic operation{f', or {barrier}' * self.by_barrier}."
        if not self.by_barrier:
            return self._neighbor() or "Write to another array: other threads may still have to read this one."
        if not loops and (read := self.of.others(self.here, True)):
            steps = f"read it into a variable first; then {self._barrier()}; then write"
            return f"If {read[0]} should be the old value, {steps}. If the new one, this is work for one thread."
        if not loops:
            return f"Read into a variable first; then {self._barrier()}; then write."
        return f"{rounds}; if a round reads what other threads write in it, also between reading and writing."

    # --- several blocks ---
    def _neighbor(self) -> str:
        """Of `y[b] = y[b - 1] + x[b];`, which may mean the old value or the new one."""
        read = [*self.of.others(self.here, True), *self.of.others(self.there, True)]
        if not read:
            return ""
        either = f"Threads run in any order, so {read[0]} may be the old or the new value."
        launches = "one launch per step, or a barrier of the grid"
        return f"{either} If you need the old one, write to another array; if the new one, use {launches}."

    def _across_blocks(self) -> str:
        of_block = [name for _, name, kind in self.of.barriers(self.first, self.last) if kind == "block"]
        any_order = f"{'Threads' if self.in_block else 'Blocks'} run in any order"
        if self.of.has_flag():
            orders = "an atomic operation orders the two, __threadfence() must come before it in the writer"
            orders = f"{orders}, and after it in the reader"
            if self.of.text.count("__threadfence()") > 1:
                orders = "a flag orders the two, it must be written atomically after the writer's __threadfence()"
                orders = f"{orders}, and read atomically before that of the reader"
            return f"{any_order}. If {orders}; otherwise use two launches."
        writes = self.here if self.access.kind & checker.WRITES else self.there
        if of_block and not self.in_block:
            array = "write to another array, or " if writes == self.last else ""
            grid = self.of.grid_sync()
            instead = f"use {grid}" if grid else f"{array}use two launches"
            return f"{of_block[0]} waits for the threads of one block only: {instead}."
        if text := self._wait_for_grid():
            return text
        if self.of.is_one_element(self.here, self.there):
            if writes == self.last and not self.access.kind & self.other.kind & checker.WRITES:
                return "Other threads may still have to read it: change it in a later launch."
            return "Use atomic operations for both, or two launches."
        if self.access.kind & self.other.kind & checker.WRITES:
            return f"{any_order}: let one thread write each element, or use two launches."
        if writes == self.last:
            return "Other threads may still have to read it: write to another array, or use two launches."
        if self.in_block:
            return f"{self._between().rstrip('.')}, if only threads of one block meet here; otherwise use two launches."
        return "Blocks run in any order: use two launches, or give each block elements of its own."

    # --- barriers ---
    def _barrier(self) -> str:
        if self.in_warp and self.one_warp:
            return "__syncwarp() (in larger blocks __syncthreads())"
        return "__syncthreads()" + " (or __syncwarp(), if only lanes of one warp meet here)" * self.in_warp

    def _between(self) -> str:
        first, last = self.of.sites(self.first, self.last) if self.first else (0, 0)
        if not first:
            return f"{self._barrier()} must come between the two."
        there = f"between lines {first} and {last}"
        of = self.of.function(first)
        branches = [one for one in of.statements("if") if one[0] <= first and last <= one[1]] if of else []
        if branches and any(re.search(r"\belse\b", text) for text in self.of.lines[first:last]):
            return "The second one must wait for the first one, at a barrier that both reach."
        barriers = self.of.barriers(first, last)
        branches = [one for one in branches if not self._is_uniform(one[0])]
        if not barriers:
            helper, calls = self.of.helper(first)
            if helper and len(set(calls)) > 1:
                others = f"between the calls of {helper.name}, in lines {_listed(sorted(set(calls)))}"
                return f"{self._barrier()} {there}, if threads meet within one call; otherwise {others}."
            if branches and self.of.in_loop(first, last):
                return f"{self._barrier()} between the rounds of the loop, outside of the if."
            if self.in_warp and any(_ONE_WARP.search(self.of.lines[begin - 1]) for begin, *_ in branches):
                return f"__syncwarp() {there}, in the if: after each step that other lanes read."
            outside = ", outside of the if: all threads must reach it" if branches else ""
            return f"{self._barrier()} {there}{outside}."
        of_block = any(kind == "block" for *_, kind in barriers)
        of_warp = any(kind in ("warp", "tile") for *_, kind in barriers)
        if self.of.in_loop(first, last) and (of_block or (of_warp and self.in_warp)):
            return f"The barrier {there} is not enough in a loop: another one must come at its end, {self._barrier()}."
        helper, calls = self.of.helper(first)
        if of_block and helper and len(set(calls)) > 1:
            return f"{self._barrier()} between the calls of {helper.name}, in lines {_listed(sorted(set(calls)))}."
        if of_block and any(self.of.in_loop(call, call) for call in calls):
            return f"{self._barrier()} between the rounds of the loop in line {calls[0]}."
        line, name, kind = barriers[-1]
        if of_warp and not of_block:
            if kind == "tile":
                return f"{name} in line {line} waits for the threads of its group only: use {self._barrier()}."
            if not self.in_warp:
                return f"{name} in line {line} waits for one warp only: use __syncthreads()."
            if not name.endswith("()"):
                return f"{name} in line {line} waits for the lanes of its mask only: use {self._barrier()}."
        first_one = "the second one must wait for the first one"
        return f"What is in line {line} does not order these two threads: {first_one}."

    def _is_uniform(self, line: int) -> bool:
        """Whether the condition of the `if` there is the same for all threads of a block."""
        test, _ = _condition(self.of.statement(line))
        terms = " ".join([test, *map(self.of.definition, re.findall(r"\b[A-Za-z_]\w*", test))])
        return bool(test) and not re.search(r"threadIdx|\[|\*", terms)


def _listed(lines: Sequence[int]) -> str:
    """ "3, 5 and 8" """
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _condition(line: str) -> tuple[str, str]:
    """Of `if (condition) statement`, both; of other lines, nothing."""
    match = re.search(r"\bif\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))(.*)", line)
    return (match[1], match[2]) if match else ("", "")
