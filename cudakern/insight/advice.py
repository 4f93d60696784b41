"""What would mend a race: which barrier, fence or atomic operation is missing, as far as the source tells."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from . import checker
from .checker import Access, Found
from .declared import Function, bodies, function, functions, operator_of, uses, without_comments

#: Of an update by that operator.
_ATOMIC = {"+=": "atomicAdd", "++": "atomicAdd", "--": "atomicSub", "|=": "atomicOr", "&=": "atomicAnd"}
_ATOMIC |= {"^=": "atomicXor", "-=": "atomicSub"}
_ATOMIC_READ = re.compile(
    r"atomic(?:Add|Sub|Or|Xor)\w*\([^;]*?,\s*0[uUlLfF.]*\s*\)|atomicCAS\w*\([^;]*,\s*(\w+),\s*\1\s*\)"
)
_BARRIER = re.compile(
    r"__sync(?:threads|warp)\w*\s*\([^()]*\)|(?:\w+::)*\bsync\s*\((?P<of>\w+)\)"
    r"|(?:(?P<group>\w+)(?:\(\))?(?:\.|->))sync\(\)|\bbar\.|barrier_\w+\(|\w*barrier\w*\.|\bsync\w*\("
)
#: The index of a thread in the grid, as it should not be written.
_WRONG_INDEX = re.compile(
    r"(?<!\*)(?<!\* )(?:blockIdx\.x\s*(?:\*\s*gridDim\.x\s*)?\+\s*threadIdx\.x|threadIdx\.x\s*\+\s*blockIdx\.x)"
    r"\b(?!\s*\*)"
    r"|(?P<product>blockIdx\.x\s*\*\s*threadIdx\.x)"
)
_ONE_STEP = "Reading and writing must be one step: use one atomic operation for both, or let one thread do it."
_INDEX = "blockIdx.x * blockDim.x + threadIdx.x"


class _Update(NamedTuple):
    """`count[0] += n;`, `at = count[0]++;`, `count[0] = at + n;`"""

    operator: str
    call: str  #: of the atomic operation that does the same: "atomicAdd(&count[0], n)"; "": there is none
    operand: str
    value: str  #: what gets the old value: "at = "; "" if it is not used
    read: int  #: the line where it is read, if that is another one


class Race:
    """Two accesses of which nothing says which is first. ``source``: the lines of the file. ``type``: the elements'."""

    def __init__(
        self, found: Found, array: str, is_shared: bool, source: Sequence[str], type: str = "", is_scalar: bool = False
    ) -> None:
        self.array, self.is_shared, self.type, self.is_scalar = array, is_shared, type, is_scalar
        self.access: Access = found.access
        self.other: Access = found.other
        same_file = found.access.line.file == found.other.line.file
        self.source = tuple(without_comments(source)) if source and same_file else ()
        self.lines = bodies(self.source)
        self.here, self.there = self.access.line.line, self.other.line.line
        self.first, self.last = sorted((self.here, self.there))
        self.in_block = tuple(self.access.block) == tuple(self.other.block)
        x, y, _ = shape = tuple(found.shape)
        warps = {(at.thread[0] + x * (at.thread[1] + y * at.thread[2])) // 32 for at in (self.access, self.other)}
        self.in_warp, self.one_warp = self.in_block and len(warps) == 1, math.prod(shape) <= 32
        #: Whether a barrier of the block can order all that meet here.
        self.by_barrier = self.in_block and (is_shared or math.prod(found.grid) == 1)
        self.kernel = re.sub(r"<.*", "", found.kernel.decode(errors="replace")).split("::")[-1]
        self.functions = self._reached()
        self.text = "\n".join(f"{one.head} {one.text}" for one in self.functions)

    def advice(self) -> str:
        if (self.access.kind | self.other.kind) & checker.ATOMIC:
            return self._beside_atomic()
        if self.in_warp and self.is_shared and self.access.kind & self.other.kind & checker.VOLATILE:
            steps = "read into a variable, __syncwarp(), write, __syncwarp()"
            return f"The lanes of a warp do not run in step: {steps}, or use shuffles."
        if not self.in_block and "__threadfence_block" in self.text:
            return "__threadfence_block() reaches one block only: use __threadfence()."
        if text := self._index() or self._one_step():
            return text
        if self.here == self.there:
            return self._same_line(self._line(self.here))
        if self.by_barrier:
            return self._between()
        return self._neighbor() or self._across_blocks()

    # --- where ---
    def _reached(self) -> list[Function]:
        """The functions in which the two are, the kernel, and what these call. Other functions of the file say nothing
        about it."""
        known = functions(self.source)
        at = [one for line in (self.here, self.there) if (one := function(self.source, line))]
        kernels = [one for one in at if one.name == self.kernel] or [one for one in known if one.name == self.kernel]
        found = list(dict.fromkeys([*at, *kernels]))
        for one in found:  # which grows
            names = set(re.findall(r"\b(\w+)\s*(?:<[^;(){}]*>)?\s*\(", one.text))
            found += [other for other in known if other.name in names and other not in found]
        return found

    def _line(self, line: int) -> str:
        """The statement there, as far as it is in a function."""
        lines = self.lines
        if not 0 < line <= len(lines):
            return ""
        begin = end = line - 1
        while end + 1 < len(lines) and not re.search(r"[;{})]\s*$|\belse\s*$", lines[end]) and end < line + 3:
            end += 1
        while begin and lines[begin - 1].strip() and not re.search(r"[;{}):]\s*$|\belse\s*$", lines[begin - 1]):
            begin -= 1
        return " ".join(text.strip() for text in lines[begin : end + 1])

    def _calls(self, of: Function) -> list[int]:
        """The lines in which functions call it, one for each call."""
        call = re.compile(rf"\b{re.escape(of.name)}\s*(?:<[^;(){{}}]*>)?\s*\(")
        lines = [i for one in self.functions if one is not of for i in range(one.body, one.end + 1)]
        return [i for i in lines for _ in call.findall(self.lines[i - 1])]

    def _helper(self, line: int) -> Function | None:
        """The function that contains a line, if it is not the kernel."""
        one = function(self.source, line)
        return one if one and one.name and one.name != self.kernel else None

    def _sites(self) -> tuple[int, int]:
        """The two lines, in their order in one function: there the accesses are, or functions with them are called,
        once each. (0, 0): there are none."""
        inside = [function(self.source, line) for line in (self.first, self.last)]
        if None in inside or inside[0] == inside[1]:
            return (self.first, self.last) if inside[0] and inside[1] else (0, 0)
        sites = []
        for line in (self.first, self.last):
            for _ in self.functions:
                if of := self._helper(line):
                    calls = self._calls(of)
                    if len(calls) != 1 or _BARRIER.search(of.text):
                        return 0, 0
                    (line,) = calls
            sites.append(line)
        first, last = sorted(sites)
        return (first, last) if first < last and function(self.source, last) else (0, 0)

    def _loops(self, first: int, last: int) -> bool:
        """Whether a loop contains these lines of a function."""
        of = function(self.source, first)
        return of is not None and any(begin <= first and last <= end for begin, end in of.statements())

    # --- atomic operations ---
    @property
    def _element(self) -> str:
        """A pattern for an element in a line: `count[0]`, `*count`, `(*count)`, `p->count`."""
        name, index = re.escape(self.array), r"(?:\s*\[(?:[^][]|\[[^][]*\])*\])"
        return (
            rf"(?:\(\s*\*\s*{name}\s*\)|(?<![\w.)\]])\s*\*\s*{name}\b(?!\s*\[)"
            rf"|(?<![\w.>])(?:\w+(?:\.|->))*{name}\b{index}*(?:(?:\.|->)\w+)*)"
        )

    def _elements(self, line: int) -> set[str]:
        """The elements of the array in a line, all written in one way: "count[0]"."""
        return {self._normal(one) for one in re.findall(self._element, self._line(line))}

    def _normal(self, element: str) -> str:
        name = re.escape(self.array)
        return re.sub(rf"^(?:{name}|\*{name}|\(\*{name}\))$", f"{self.array}[0]", re.sub(r"\s+", "", element))

    def _update(self, line: int) -> _Update | None:
        """What the line does to the array, if it changes an element by its own value."""
        text, element, value, read = self._line(line), self._element, "", 0
        if not re.search(rf"\b{re.escape(self.array)}\b", text):  # a pointer of another name: if it is the only one
            operators = re.findall(r"\+\+|--|(?:[-+*/%&|^]|<<|>>)=", text)
            is_one = len(operators) == 1 and not re.search(r"\bfor\b", text)
            return _Update(operators[0], self._call(operators[0], "", ""), "", "", 0) if is_one else None
        operator, operand = operator_of(text, self.array), "1"
        if operator == "=":
            match = re.search(rf"({element})\s*=(?!=)\s*(\w+|{element})\s*([-+*/%&|^])\s*([^;]*);", text)
            turned = re.search(rf"({element})\s*=(?!=)\s*([^;]*?)\s*([+*&|^])\s*({element})\s*;", text)
            if turned:  # x + sum
                target, operand, sign, old = (part.strip() for part in turned.groups())
            elif match:
                target, old, sign, operand = (part.strip() for part in match.groups())
            if not (turned or match) or (sign in "-&|^" and re.search(r"[-+&|^]", operand)):
                return None
            operator = f"{sign}="
            if re.sub(r"\s|[()]", "", old) != re.sub(r"\s|[()]", "", target):
                read = next((i for i in self._before(line) if self._reads_into(old, i)), 0)
                value = f"{old} = "
                if not read:
                    return None
        elif operator in ("++", "--"):
            match = re.search(rf"({element})\s*(?:\+\+|--)|(?:\+\+|--)\s*({element})", text)
            target = (match[1] or match[2]).strip() if match else ""
            before = text[: match.start()] if match else ""
            taken = re.search(r"(?:(\w+)\s*=|\[|\breturn|[(,+*/-])\s*$", before)
            control = re.search(r"\b(?:if|while|for)\s*\($", before)
            value = (f"{taken[1]} = " if taken[1] else "= ") if taken and not control else ""
        elif match := re.search(rf"({element})\s*(?:[-+*/%&|^]|<<|>>)=\s*([^;]*);", text):
            target, operand = match[1].strip(), match[2].strip()
        else:
            return None
        return _Update(operator, self._call(operator, target, operand), operand, value, read)

    def _before(self, line: int) -> range:
        """The lines of the same function before that line, from there."""
        of = function(self.source, line)
        return range(line - 1, of.body - 1 if of else line - 1, -1)

    def _reads_into(self, variable: str, line: int) -> bool:
        return bool(re.search(rf"\b{re.escape(variable)}\s*=(?!=)\s*{self._element}\s*[;,]", self._line(line)))

    def _call(self, operator: str, target: str, operand: str) -> str:
        name = _ATOMIC.get(operator, "")
        if operator == "-=" and self.type in ("float", "double", "half", "__half"):
            name, operand = "atomicAdd", f"-({operand})" if operand else ""
        if not name or not target:
            return name
        pointer = re.fullmatch(rf"\(?\s*\*\s*({re.escape(self.array)})\s*\)?", target)
        address = pointer[1] if pointer else f"&{target}"
        return f"{name}({address}, {operand if len(operand) < 30 else '...'})"

    def _one_step(self) -> str:
        """Where an element is changed by its own value, or tested and written."""
        if text := self._tested():
            return f"{text}{self._lock()}"
        if self._moves():
            return ""
        best = re.search(rf"=\s*(?:[\w:]*::)?f?(max|min)f?\s*\(.*\b{re.escape(self.array)}\b", self._line(self.here))
        if best and self.here == self.there:
            return f"Use {self._extreme(f'atomic{best[1].capitalize()}')}.{self._lock()}"
        mine, its = self._update(self.here), self._update(self.there)
        if self._line(self.here) != self._line(self.there) and mine and its:
            same = mine.call.partition("(")[0], its.call.partition("(")[0]
            return f"Use {same[0]} in both lines." if same[0] and same[0] == same[1] else ""
        if mine and its:
            return self._instead(mine, self.here)
        if self.here != self.there and (mine or its):
            return self._taken(mine or its, self.here if mine else self.there, self.there if mine else self.here)
        return ""

    def _instead(self, update: _Update, at: int) -> str:
        """Of the statement in that line, next to itself or to the reading before it."""
        operator, call, _, value, read = update
        small = self.type in ("char", "bool", "short", "int8_t", "uint8_t", "int16_t", "uint16_t")
        if not call:
            others = f"Let one thread update it, or use atomicCAS in a loop: no atomic operation does {operator}."
            return self._own() or others
        name = call.partition("(")[0]
        if small:
            return f"Use an array of ints and {name}: there is no {name} of a {self.type}."
        if read:
            lines = f"lines {read} and {at}: it returns the old value, and no thread comes between"
            return f"Use {value}{call} instead of {lines}.{self._lock()}"
        if value:
            return f"Use {call} instead of {operator}; it returns the old value.{self._lock()}"
        if own := self._own():
            return f"{own} Otherwise use {name}." if own.startswith("If") else own
        if self.in_block and re.fullmatch(r"\w+\[\d+\]", update.operand) and self._is_one_element(self.here):
            return f"Every thread adds the same {update.operand}: let one thread of each block do it, with {name}."
        if operator not in self._line(at):
            return f"Use {call}: reading and writing must be one step.{self._lock()}"
        return f"Use {name} instead of {operator}.{self._lock()}"

    def _taken(self, update: _Update | None, at: int, read: int) -> str:
        """Of a value that is read first, and changed in a later line."""
        if not update or "(" not in update.call or not self._elements(at) & self._elements(read):
            return ""
        if update.read == read:
            return self._instead(update, at)
        if not read < at or function(self.source, read) != function(self.source, at):
            return ""
        return f"Use the old value that {update.call} returns, instead of lines {read} and {at}."

    def _tested(self) -> str:
        """Of an element that is written if it has some value: `if (x > best[0]) best[0] = x;`"""
        at, element = self.last, self._element
        of = function(self.source, at)
        reads = self.there if self.access.kind & checker.WRITES else self.here
        if self.here == self.there:
            tests = [at, *self._before(at)][:5]
        else:
            tests = [reads] if reads == self.first and not self.access.kind & self.other.kind & checker.WRITES else []
        ends = dict(of.statements("if")) if of else {}
        for line in tests:
            test, text = _condition(self._line(line))
            text = text if line == at else self._line(at)
            written = {self._normal(one) for one in re.findall(rf"({element})\s*=(?!=)", text)}
            tested = {self._normal(one) for one in re.findall(element, test)}
            moves = re.search(rf"{element}\s*=(?!=)[^;]*{element}", text) or (line != at and len(tested) > 1)
            if "atomic" in test or moves or not written & tested:
                continue
            if line == at or ends.get(line, 0) >= at or re.search(r"\b(?:return|continue|break)\b", self._line(line)):
                return self._test_and_write(test, text)
        return ""

    def _test_and_write(self, test: str, text: str) -> str:
        """By which operation, as the test tells."""
        element, test = self._element, re.sub(r"\s", "", test)
        written = re.search(rf"{element}\s*=(?!=)([^;]*);", text)
        new = re.escape(re.sub(r"\s", "", written[1])) if written else r"\0"
        use = "atomicMax, atomicMin or atomicCAS"
        for name, larger, less in (("atomicMax", ">", "<"), ("atomicMin", "<", ">")):
            if re.search(rf"{new}{larger}=?{element}|{element}{less}=?{new}", test):
                use = self._extreme(name)
        return f"The test and the write must be one step: use {use}."

    def _extreme(self, name: str) -> str:
        """atomicMax or atomicMin, which CUDA has for integers."""
        if self.type in ("float", "double", "half", "__half"):
            return f"atomicCAS in a loop (there is no {name} of floats)"
        return name if self.type in ("int", "unsigned", "long long") else f"{name}, or of floats atomicCAS in a loop"

    def _beside_atomic(self) -> str:
        """Of an access that is not atomic, next to one that is."""
        plain, atomic = self.access, self.other
        if plain.kind & checker.ATOMIC:
            plain, atomic = atomic, plain
        line, at, text = plain.line.line, atomic.line.line, self._line(atomic.line.line)
        same = function(self.source, line) == function(self.source, at)
        same = same and bool(self._elements(line) & self._elements(at))
        if not plain.kind & checker.WRITES:
            name = (re.findall(r"\batomic\w+|\.fetch_\w+|\.exchange", text) or [""])[0].lstrip(".")
            instead = f"Use the value that {name or 'the atomic operation'} returns"
            if same and line < at and re.match(r"(?:if\s*\([^;]*\)\s*)?(?:\w+::)*(?:atomic|\w+\.fetch)", text):
                return f"{instead} in line {at} instead of reading it in line {line}."
            if self.by_barrier:
                return self._between()
            if name in ("atomicExch", "atomicCAS") and (flag := re.search(self._element, self._line(line))):
                return f"Read it atomically in line {line}, too: {self._call('+=', flag[0].strip(), '0')}."
            if same or not self.source:
                return f"{instead} instead of reading it in line {line}, or read it in a later launch."
            return "Read it in a later launch: no barrier of a block waits for all others."
        if self.by_barrier:
            return self._between()
        if not atomic.kind & checker.WRITES or _ATOMIC_READ.search(text):
            after = "" if "__threadfence()" in self.text else ", after a __threadfence()"
            return f"Write it with atomicExch in line {line}{after}."
        if line < at:
            return "Set it before the launch, or in an earlier one: no barrier of a block waits for all others."
        return f"Write it with atomicExch in line {line}."

    def _lock(self) -> str:
        takes = not self.in_block and re.search(r"atomic(?:CAS|Exch)", self.text)
        return " If a lock is to order them: __threadfence() after taking and before releasing it." if takes else ""

    # --- the array ---
    def _index(self) -> str:
        """Where all blocks, or several threads, have the same index by mistake."""
        if not self.source or "grid" in self.text.replace("gridDim", ""):
            return ""
        mine = [
            use.indices
            for line in (self.here, self.there)
            for use in uses(self._line(line))
            if self.array in (use.name, use.path)
        ]
        index = " ".join(text for indices in mine for text in indices)
        index += " ".join(["", *map(self._definition, set(re.findall(r"\b[A-Za-z_]\w*", index)))])
        wrong = _WRONG_INDEX.search(index)
        if wrong and (not self.in_block or wrong["product"]):
            return f"{wrong[0]} is not the number of a thread in the grid: use {_INDEX}."
        same = not self.in_block and tuple(self.access.thread) == tuple(self.other.thread)
        if same and "blockIdx" not in self.text and "threadIdx" in self.text and not self._is_one_element():
            return f"No index contains blockIdx, so all blocks use the same elements: use {_INDEX}."
        return ""

    def _own(self) -> str:
        """Where two threads have the same index, and each should have its own, as the index tells."""
        line = self._line(self.here)
        mine = [use for use in uses(line) if self.array in (use.name, use.path) and use.verb != "reads"]
        if self.here != self.there or len({use.indices for use in mine}) != 1:
            return ""
        index = mine[0].indices[-1]
        if row := re.fullmatch(r"\w+ ?\* ?(\w+) ?\+ ?([a-zA-Z_]\w*)", index):
            must = f"{row[2]} must be less than {row[1]}"
            return f"If each thread should have its own element, {must}: test it, or correct the index."
        value = self._definition(index)
        terms = " ".join([value, *map(self._definition, re.findall(r"\b[A-Za-z_]\w*", value))])
        if "threadIdx" not in terms or re.search(r"[][/%&]|>>", terms) or not (self.in_block or "blockIdx" in terms):
            return ""
        if re.search(rf"\bfor\s*\([^;]*\b{index}\s*=", self.text):
            steps = "see where the loop begins and ends, and that it goes on by the number of threads"
            return f"Threads come to the same {index}: {steps}."
        return f"Threads have the same {index}, {value}: each should have its own."

    def _definition(self, name: str) -> str:
        """The value that a variable gets first, in terms of what is no variable of the kernel's."""
        for _ in range(4):
            match = (
                re.search(rf"\b{name}\s*=(?!=)\s*([^;]*?)\s*(?:;|,\s*\w+\s*=)", self.text)
                if name.isidentifier()
                else None
            )
            if match is None:
                break
            name = match[1]
        return name

    def _moves(self) -> bool:
        """Whether what is written comes from other elements of the same array: `s[t] += s[t + 1];`"""
        return any(self._others(line) for line in (self.here, self.there))

    def _others(self, line: int, near: bool = False) -> list[str]:
        """The elements that a line reads, if it also writes another one of the array. ``near``: if their indices have
        a variable in common."""
        mine = [use for use in uses(self._line(line)) if self.array in (use.name, use.path)]
        written = [use.indices for use in mine if use.verb in ("writes", "updates")]
        words = {word for indices in written for word in re.findall(r"\b[A-Za-z_]\w*", " ".join(indices))}
        return [
            f"{use.path}{''.join(f'[{i}]' for i in use.indices)}"
            for use in mine
            if use.verb == "reads" and written and use.indices not in written
            if not near or words & {*re.findall(r"\w+", " ".join(use.indices))}
        ]

    def _is_one_element(self, *lines: int) -> bool:
        """For all threads: `*where`, `best[0]`."""
        name = re.escape(self.array)
        all_of_it = rf"\*\s*{name}\b|\b{name}\s*\[\s*\d+\s*\]" + rf"|\b{name}\b" * self.is_scalar
        return all(re.search(all_of_it, self._line(line)) for line in lines or (self.here, self.there))

    # --- one line ---
    def _same_line(self, line: str) -> str:
        own = "thread" if self.in_block else "block"
        changed, written = (
            {self._normal(one) for one in re.findall(pattern, text)}
            for pattern, text in (
                (rf"\batomic\w+\(\s*&?\s*({self._element})", self.text),
                (rf"({self._element})\s*=(?!=)", line),
            )
        )
        if changed & written and not self.by_barrier:
            return f"Write it with atomicExch in line {self.here}."
        helper, loops = self._helper(self.here), self._loops(self.here, self.here)
        calls = sorted(set(self._calls(helper))) if helper else []
        if self.by_barrier and helper and len(calls) > 1 and not loops and not _BARRIER.search(helper.text):
            return f"{self._barrier()} between the calls of {helper.name}, in lines {_listed(calls)}."
        loops = loops or any(self._loops(call, call) for call in calls)
        rounds = f"{self._barrier()} between the rounds of the loop"
        if self.access.kind & self.other.kind & checker.WRITES:
            if self.by_barrier and loops:
                return f"{rounds}, or let each thread write an element of its own."
            if text := self._own():
                return text
            return f"Let one {own} write it, or give each {own} an element of its own."
        if self._is_one_element() and self._elements(self.here) & written:
            return _ONE_STEP
        if self.source and not re.search(r"(?<![=!<>])=(?!=)|\+\+|--", line):  # a macro, say
            barrier = f"put {self._barrier()} between reading and writing"
            return f"Let one {own} do it, use an atomic operation{f', or {barrier}' * self.by_barrier}."
        if not self.by_barrier:
            return self._neighbor() or "Write to another array: other threads may still have to read this one."
        if not loops and (read := self._others(self.here, True)):
            steps = f"read it into a variable first; then {self._barrier()}; then write"
            return f"If {read[0]} should be the old value, {steps}. If the new one, this is work for one thread."
        if not loops:
            return f"Read into a variable first; then {self._barrier()}; then write."
        return f"{rounds}; if a round reads what other threads write in it, also between reading and writing."

    # --- several blocks ---
    def _neighbor(self) -> str:
        """Of `y[b] = y[b - 1] + x[b];`, which may mean the old value or the new one."""
        read = [*self._others(self.here, True), *self._others(self.there, True)]
        if not read:
            return ""
        either = f"Threads run in any order, so {read[0]} may be the old or the new value."
        launches = "one launch per step, or a barrier of the grid"
        return f"{either} If you need the old one, write to another array; if the new one, use {launches}."

    def _has_flag(self) -> bool:
        """Whether something in global memory is accessed atomically: it may order blocks."""
        names = re.findall(r"\batomic\w+\(\s*&?\s*(\w+)", self.text)
        shared = [name for name in names if re.search(rf"__shared__[^;]*\b{name}\b", self.text)]
        return len(shared) < len(names) or bool(re.search(r"\batomic(?:_ref)?\s*<|volatile", self.text))

    def _across_blocks(self) -> str:
        of_block = [name for _, name, kind in self._barriers(self.first, self.last) if kind == "block"]
        if self._has_flag():
            orders = "an atomic operation orders the two, __threadfence() must come before it in the writer"
            orders = f"{orders}, and after it in the reader"
            if self.text.count("__threadfence()") > 1:
                orders = "a flag orders the two, it must be written atomically after the writer's __threadfence()"
                orders = f"{orders}, and read atomically before that of the reader"
            return f"Blocks run in any order. If {orders}; otherwise use two launches."
        writes = self.here if self.access.kind & checker.WRITES else self.there
        if of_block and not self.in_block:
            array = "write to another array, or " if writes == self.last else ""
            grid = re.search(r"(\w+)\s*=[^;=]*\bthis_grid\(|\bgrid_group\s+(\w+)", self.text)
            instead = f"use {grid[1] or grid[2]}.sync()" if grid else f"{array}use two launches"
            return f"{of_block[0]} waits for the threads of one block only: {instead}."
        if self._is_one_element():
            if writes == self.last and not self.access.kind & self.other.kind & checker.WRITES:
                return _ONE_STEP
            return "Use atomic operations for both, or two launches."
        if self.access.kind & self.other.kind & checker.WRITES:
            return "Blocks run in any order: let one thread write each element, or use two launches."
        if writes == self.last:
            return "Other threads may still have to read it: write to another array, or use two launches."
        if self.in_block and not of_block:
            return f"{self._between().rstrip('.')}, if only threads of one block meet here; otherwise use two launches."
        return "Blocks run in any order: use two launches, or give each block elements of its own."

    # --- barriers ---
    def _barrier(self) -> str:
        if self.in_warp and self.one_warp:
            return "__syncwarp() (in larger blocks __syncthreads())"
        return "__syncthreads()" + " (or __syncwarp(), if only lanes of one warp meet here)" * self.in_warp

    def _between(self) -> str:
        first, last = self._sites() if self.first else (0, 0)
        if not first:
            return f"{self._barrier()} must come between the two."
        there = f"between lines {first} and {last}"
        of = function(self.source, first)
        branches = [] if of is None else [one for one in of.statements("if") if one[0] <= first and last <= one[1]]
        if branches and any(re.search(r"\belse\b", text) for text in self.lines[first:last]):
            return "The second one must wait for the first one, at a barrier that both reach."
        barriers = self._barriers(first, last)
        if not barriers:
            helper = self._helper(first)
            calls = sorted(set(self._calls(helper))) if helper else []
            if helper and len(calls) > 1:
                others = f"between the calls of {helper.name}, in lines {_listed(calls)}"
                return f"{self._barrier()} {there}, if threads meet within one call; otherwise {others}."
            if branches and self._loops(first, last):
                return f"{self._barrier()} between the rounds of the loop, outside of the if."
            outside = ", outside of the if: all threads must reach it" if branches else ""
            return f"{self._barrier()} {there}{outside}."
        of_block = any(kind == "block" for *_, kind in barriers)
        of_warp = any(kind in ("warp", "tile") for *_, kind in barriers)
        if self._loops(first, last) and (of_block or (of_warp and self.in_warp)):
            return f"The barrier {there} is not enough in a loop: another one must come at its end, {self._barrier()}."
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

    def _barriers(self, first: int, last: int) -> list[tuple[int, str, str]]:
        """Line, text and kind ("block", "warp", "tile", "") of the barriers between two lines."""
        found = []
        for line, text in enumerate(self.lines[first : last - 1], first + 1):
            found += [(line, match[0], self._kind(match)) for match in _BARRIER.finditer(text)]
        return found

    def _kind(self, barrier: re.Match[str]) -> str:
        """Whom it waits for."""
        if group := barrier["of"] or barrier["group"]:
            declared = re.search(rf"(?:([\w:]+(?:<[^;()]*>)?)\s+)?\b{group}\s*(?:=\s*([^;]*)|\()", self.text)
            text = " ".join(filter(None, declared.groups())) if declared else group
            if re.search(r"tile|partition|coalesced", text):
                return "tile"
            return "block" if re.search(r"thread_block|^(?:block|cta|tb)", text) else ""
        name = barrier[0]
        return "block" if name.startswith("__syncthreads") else "warp" if name.startswith("__syncwarp") else ""


def _listed(lines: Sequence[int]) -> str:
    """ "3, 5 and 8" """
    return f"{', '.join(map(str, lines[:-1]))} and {lines[-1]}"


def _condition(line: str) -> tuple[str, str]:
    """Of `if (condition) statement`, both; of other lines, nothing."""
    match = re.search(r"\bif\s*(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))(.*)", line)
    return (match[1], match[2]) if match else ("", "")
