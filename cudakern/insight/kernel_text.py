"""What the text of a kernel, and of the functions that it calls, says of an array that two threads access."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .declared import Function, Use, bodies, function, functions, operator_of, uses, without_comments

#: Of an update by that operator.
_ATOMIC = {"+=": "atomicAdd", "++": "atomicAdd", "--": "atomicSub", "|=": "atomicOr", "&=": "atomicAnd"}
_ATOMIC |= {"^=": "atomicXor", "-=": "atomicSub"}
BARRIER = re.compile(
    r"__sync(?:threads|warp)\w*\s*\([^()]*\)|(?:\w+::)*\bsync\s*\((?P<of>\w+)\)"
    r"|(?:(?P<group>\w+)(?:\(\))?(?:\.|->))sync\(\)|\bbar\.|barrier_\w+\(|\w*barrier\w*\.|\bsync\w*\("
)


class Update(NamedTuple):
    """`count[0] += n;`, `at = count[0]++;`, `count[0] = at + n;`"""

    operator: str
    call: str  #: of the atomic operation that does the same: "atomicAdd(&count[0], n)"; "": there is none
    operand: str
    value: str  #: what gets the old value: "at = ", "= "; "" if it is not used
    read: int  #: the line where it is read, if that is another one


class KernelText:
    """``source``: the lines of the file. ``lines``: those of the accesses. ``type``: the elements'."""

    def __init__(
        self,
        source: Sequence[str],
        kernel: str,
        lines: Sequence[int],
        array: str,
        type: str = "",
        is_scalar: bool = False,
    ) -> None:
        self.array, self.type, self.is_scalar = array, type, is_scalar
        self.source = tuple(without_comments(source)) if source else ()
        self.kernel = re.sub(r"<.*", "", kernel).split("::")[-1]
        self.lines = bodies(self.source)
        self.functions = self._reached(lines)
        self.text = "\n".join(f"{one.head} {one.text}" for one in self.functions)

    # --- functions and lines ---
    def function(self, line: int) -> Function | None:
        """The one that contains a line."""
        return function(self.source, line)

    def _reached(self, at_lines: Sequence[int]) -> list[Function]:
        """The functions in which the two are, the kernel, and what these call. Other functions of the file say nothing
        about it."""
        known = functions(self.source)
        at = [one for line in at_lines if (one := self.function(line))]
        kernels = [one for one in at if one.name == self.kernel] or [one for one in known if one.name == self.kernel]
        found = list(dict.fromkeys([*at, *kernels]))
        for one in found:  # which grows
            names = set(re.findall(r"\b(\w+)\s*(?:<[^;(){}]*>)?\s*\(", one.text))
            found += [other for other in known if other.name in names and other not in found]
        return found

    def statement(self, line: int) -> str:
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

    def before(self, line: int) -> range:
        """The lines of the same function before that line, from there."""
        of = self.function(line)
        return range(line - 1, of.body - 1 if of else line - 1, -1)

    def helper(self, line: int) -> tuple[Function | None, list[int]]:
        """The function that contains a line, if it is not the kernel, and the lines of the calls of it."""
        of = self.function(line)
        if of is None or not of.name or of.name == self.kernel:
            return None, []
        call = re.compile(rf"\b{re.escape(of.name)}\s*(?:<[^;(){{}}]*>)?\s*\(")
        lines = [i for one in self.functions if one is not of for i in range(one.body, one.end + 1)]
        return of, [i for i in lines for _ in call.findall(self.lines[i - 1])]

    def sites(self, first: int, last: int) -> tuple[int, int]:
        """The two lines, in their order in one function: there the accesses are, or functions with them are called,
        once each. (0, 0): there are none."""
        inside = [self.function(line) for line in (first, last)]
        if None in inside or inside[0] == inside[1]:
            return (first, last) if inside[0] and inside[1] else (0, 0)
        sites = []
        for line in (first, last):
            for _ in self.functions:
                of, calls = self.helper(line)
                if of is None:
                    break
                if len(calls) != 1 or BARRIER.search(of.text):
                    return 0, 0
                (line,) = calls
            sites.append(line)
        first, last = sorted(sites)
        return (first, last) if first < last and self.function(last) else (0, 0)

    def in_loop(self, first: int, last: int) -> bool:
        """Whether a loop contains these lines of a function."""
        of = self.function(first)
        return of is not None and any(begin <= first and last <= end for begin, end in of.statements())

    def leaves(self, first: int, last: int) -> int:
        """The line of the innermost loop that contains these lines of a function, and that threads of a block leave at
        different times, because that depends on values in memory; 0: there is none, as far as can be told."""
        of = self.function(first)
        loops = [one for one in (of.statements() if of else []) if one[0] <= first and last <= one[1]]
        return next((begin for begin, end in reversed(loops) if self._is_uneven(begin, end)), 0)

    def _is_uneven(self, begin: int, end: int) -> bool:
        text = " ".join(self.lines[begin - 1 : end + 1])
        head = re.search(r"\b(?:for|while)\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)", text)
        tests = head[1] if head else ""
        if re.fullmatch(r"\s*(?:true|1|;\s*;)\s*", tests) and re.search(r"\b(?:return|break)\b", text):
            tests = " ".join(self._exits(begin, end))
        terms = self.terms(tests)
        return bool(re.search(r"threadIdx|thread_rank", terms) and re.search(r"\[(?!\s*\d+\s*\])|atomic", terms))

    def _exits(self, begin: int, end: int) -> Iterator[str]:
        """The conditions by which a thread leaves the loop between these lines."""
        of = self.function(begin)
        for first, last in of.statements("if") if of else []:
            text = " ".join(self.lines[first - 1 : last])
            if begin <= first and last <= end and re.search(r"\b(?:return|break)\b", text):
                yield from re.findall(r"\bif\s*\(((?:[^()]|\([^()]*\))*)\)", text)

    def terms(self, text: str) -> str:
        """The same text, and the values of the variables in it, and of those in these; of the first ones, if there are
        many."""
        values: dict[str, str] = {}
        new = re.findall(r"\b[A-Za-z_]\w*", text)
        for word in new:  # which grows
            if word not in values and len(values) < 50:
                values[word] = self.definition(word)
                new += re.findall(r"\b[A-Za-z_]\w*", values[word])
        return " ".join([text, *values.values()])

    def grid_sync(self) -> str:
        """How the kernel waits for all blocks; "": it does not."""
        if grid := re.search(r"(\w+)\s*=[^;=]*\bthis_grid\(|\bgrid_group\s+(\w+)", self.text):
            return f"{grid[1] or grid[2]}.sync()"
        return "cooperative_groups::this_grid().sync()" if "this_grid(" in self.text else ""

    def barriers(self, first: int, last: int) -> list[tuple[int, str, str]]:
        """Line, text and kind ("block", "warp", "tile", "") of the barriers between two lines."""
        found = []
        for line, text in enumerate(self.lines[first : last - 1], first + 1):
            found += [(line, match[0], self._kind(match)) for match in BARRIER.finditer(text)]
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

    def has_flag(self) -> bool:
        """Whether something in global memory is accessed atomically: it may order blocks."""
        names = re.findall(r"\batomic\w+\(\s*&?\s*(\w+)", self.text)
        shared = [name for name in names if re.search(rf"__shared__[^;]*\b{name}\b", self.text)]
        return len(shared) < len(names) or bool(re.search(r"\batomic(?:_ref)?\s*<|volatile", self.text))

    def definition(self, name: str) -> str:
        """The value that a variable gets first, in terms of what is no variable of the kernel's."""
        for _ in range(4):
            match = re.search(rf"\b{re.escape(name)}\s*=(?!=)\s*([^;]*?)\s*(?:;|,\s*\w+\s*=)", self.text)
            if match is None or not name.isidentifier():
                break
            name = match[1]
        return name

    # --- the array ---
    @property
    def element(self) -> str:
        """A pattern for an element in a line: `count[0]`, `*count`, `(*count)`, `p->count`."""
        name, index = re.escape(self.array), r"(?:\s*\[(?:[^][]|\[[^][]*\])*\])"
        return (
            rf"(?:\(\s*\*\s*{name}\s*\)|(?<![\w.)\]])\s*\*\s*{name}\b(?!\s*\[)"
            rf"|(?<![\w.])(?<!->)(?:\w+(?:\.|->))*{name}\b{index}*(?:(?:\.|->)\w+)*)"
        )

    def elements(self, line: int) -> set[str]:
        """The elements of the array in a line, all written in one way: "count[0]"."""
        return {self.normal(one) for one in re.findall(self.element, self.statement(line))}

    def normal(self, element: str) -> str:
        name = re.escape(self.array)
        return re.sub(rf"^(?:{name}|\*{name}|\(\*{name}\))$", f"{self.array}[0]", re.sub(r"\s+", "", element))

    def is_one_element(self, *lines: int) -> bool:
        """For all threads: `*where`, `best[0]`."""
        name = re.escape(self.array)
        all_of_it = rf"\*\s*{name}\b|\b{name}\s*\[\s*\d+\s*\]" + rf"|\b{name}\b" * self.is_scalar
        return all(re.search(all_of_it, self.statement(line)) for line in lines)

    def uses(self, line: int) -> list[Use]:
        """Its elements in the statement there that have an index."""
        return [use for use in uses(self.statement(line)) if self.array in (use.name, use.path)]

    def others(self, line: int, near: bool = False) -> list[str]:
        """The elements that a line reads, if it also writes another one of the array. ``near``: if their indices have
        a variable in common."""
        mine = self.uses(line)
        written = [use.indices for use in mine if use.verb in ("writes", "updates")]
        words = {word for indices in written for word in re.findall(r"\b[A-Za-z_]\w*", " ".join(indices))}
        return [
            f"{use.path}{''.join(f'[{i}]' for i in use.indices)}"
            for use in mine
            if use.verb == "reads" and written and use.indices not in written
            if not near or words & {*re.findall(r"\w+", " ".join(use.indices))}
        ]

    def writes_and_reads(self, line: int) -> bool:
        """Whether one statement of the line only writes to the array, and the next that uses it only reads: other
        elements, or the one element of all threads after it was written."""
        if re.search(r"\b(?:for|while|do)\b", text := self.statement(line)):
            return False
        before: tuple[set[str], bool] | None = None
        for part in text.split(";"):
            elements = [] if "__shared__" in part else re.findall(self.element, part)
            if BARRIER.search(part):
                before = None
            if not elements:
                continue
            changed = re.findall(rf"({self.element})\s*=(?!=)", part)
            is_one = len(elements) == len(changed) or not (changed or operator_of(part, self.array))
            here = {self.normal(one) for one in elements}, bool(changed)
            if before and is_one and before[1] != here[1]:
                same = before[0] & here[0]
                if not same or (before[1] and all(re.search(r"\[\d+\]$", one) for one in same)):
                    return True
            before = here if is_one else None
        return False

    def update(self, line: int) -> Update | None:
        """What the line does to the array, if it changes an element by its own value."""
        text, element, value, read = self.statement(line), self.element, "", 0
        if not re.search(rf"\b{re.escape(self.array)}\b", text):  # a pointer of another name: if it is the only one
            operators = re.findall(r"\+\+|--|(?:[-+*/%&|^]|<<|>>)=", text)
            is_one = len(operators) == 1 and not re.search(r"\bfor\b", text)
            return Update(operators[0], self._call(operators[0], "", ""), "", "", 0) if is_one else None
        operator, operand = operator_of(text, self.array), "1"
        if operator == "=":
            match = re.search(rf"({element})\s*=(?!=)\s*(\w+|{element})\s*([-+*/%&|^])\s*([^;]*);", text)
            turned = re.search(rf"({element})\s*=(?!=)\s*([^;]*?)\s*([+*&|^])\s*({element})\s*;", text)
            if carried := self._carried(line):
                read, sign, operand = carried
                target = re.search(element, text)[0].strip()  # type: ignore[index]
                return Update(f"{sign}=", self._call(f"{sign}=", target, operand), operand, "", read)
            if turned:  # x + sum
                target, operand, sign, old = (part.strip() for part in turned.groups())
            elif match:
                target, old, sign, operand = (part.strip() for part in match.groups())
            if not (turned or match) or (sign in "-&|^" and re.search(r"[-+&|^]", operand)):
                return None
            operator = f"{sign}="
            if re.sub(r"\s|[()]", "", old) != re.sub(r"\s|[()]", "", target):
                read = next((i for i in self.before(line) if self._reads_into(old, i)), 0)
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
        return Update(operator, self._call(operator, target, operand), operand, value, read)

    def extreme(self, line: int) -> str:
        """ "Max" or "Min", of `best[0] = max(best[0], x);` or `best[0] = x > best[0] ? x : best[0];`"""
        text = self.statement(line)
        if match := re.search(rf"=\s*(?:[\w:]*::)?f?(max|min)f?\s*\(.*\b{re.escape(self.array)}\b", text):
            return match[1].capitalize()
        choice = re.search(rf"{self.element}\s*=(?!=)([^;]*?)([<>])=?([^;]*?)\?([^;]*):([^;]*);", text)
        if choice is None or not re.search(self.element, choice[1] + choice[3]):
            return ""
        left, sign, right, if_true, if_false = (re.sub(r"[\s()]", "", part) for part in choice.groups())
        if {left, right} != {if_true, if_false}:
            return ""
        return "Max" if (sign == ">") == (left == if_true) else "Min"

    def _carried(self, line: int) -> tuple[int, str, str] | None:
        """Of `count[0] = next;`: the line of `next = count[0] + 1;`, the operator and the operand."""
        written = re.search(rf"{self.element}\s*=(?!=)\s*(\w+)\s*;", self.statement(line))
        for i in self.before(line) if written else ():
            new = rf"\b{re.escape(written[1])}\s*=(?!=)\s*{self.element}\s*([-+*/%&|^])\s*(\w+)\s*[;,]"  # type: ignore[index]
            if match := re.search(new, self.statement(i)):
                return i, match[1], match[2]
        return None

    def depends(self, line: int) -> bool:
        """Whether what is written there comes from the value before: `count[0] = next;`"""
        written = re.search(rf"{self.element}\s*=(?!=)([^;]*);", self.statement(line))
        words = re.findall(r"\b[A-Za-z_]\w*", written[1]) if written else []
        values = [self.definition(word) for word in words]
        return any(re.search(self.element, value) for value in [*values, *map(self._all_of, values)])

    def _all_of(self, value: str) -> str:
        return " ".join(map(self.definition, re.findall(r"\b[A-Za-z_]\w*", value)))

    def _reads_into(self, variable: str, line: int) -> bool:
        return bool(re.search(rf"\b{re.escape(variable)}\s*=(?!=)\s*{self.element}\s*[;,]", self.statement(line)))

    def _call(self, operator: str, target: str, operand: str) -> str:
        name = _ATOMIC.get(operator, "")
        if name == "atomicSub" and self.type not in ("int", "unsigned", "int32_t", "uint32_t", ""):
            name, operand = "atomicAdd", f"-{operand if operand.isalnum() else f'({operand})'}"
        if not name or not target:
            return name
        pointer = re.fullmatch(rf"\(?\s*\*\s*({re.escape(self.array)})\s*\)?", target)
        address = pointer[1] if pointer else f"&{target}"
        return f"{name}({address}, {operand if len(operand) < 30 else '...'})"
