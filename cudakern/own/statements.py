"""Reads the code of a kernel: its statements, the variables that it declares, and where these may be changed.

It knows as much of C++ as kernels usually are made of. NotUnderstood is raised where it meets something else.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .cuda_source import Token, closing

BARRIERS = {"__syncthreads", "__syncwarp"}
SHUFFLES = {f"__shfl_{kind}sync": f"EMU_SHFL{kind.upper()[:-1] and '_' + kind.upper()[:-1]}"
             for kind in ("", "up_", "down_", "xor_")}  # fmt: skip
#: What each lane adds to a word of its warp, and what becomes of that.
VOTES = {"__ballot_sync": ("!= 0", ""), "__any_sync": ("!= 0", "!= 0"), "__all_sync": ("== 0", "== 0")}
#: Words with which threads wait that are understood.
WAITS = {*BARRIERS, *SHUFFLES, *VOTES, "__shared__"}
ALL_LANES = re.compile(r"(0x[fF]{8}|4294967295)[uU]?[lL]*|~0[uU]?|-1")
TYPES = {
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto", "char8_t",
    "char16_t", "char32_t", "wchar_t",
}  # fmt: skip
CONST = {"const", "constexpr", "register"}
#: With these a statement, or something in a kernel, is not understood.
UNKNOWN = {"goto", "asm", "struct", "class", "union", "enum", "try", "catch", "template", "new",
            "delete", "volatile", "co_await", "throw", "setjmp", "__builtin_alloca", "operator"}  # fmt: skip
#: With these a declaration begins, but that of a variable of a thread.
_NO_LOCALS = {
    "static", "extern", "using", "typedef", "typename", "__shared__", "__attribute__", "alignas", "decltype", "[",
}  # fmt: skip
_OPERATORS = set("=+-*/%&|^<>")


class NotUnderstood(Exception):
    """The kernel stays one whose threads are fibers."""


@dataclass
class Local:
    """A variable that is declared between barriers."""

    name: str
    at: int  #: where it is declared
    declarator: tuple[int, int]  #: with its value, which begins at `value`
    value: int
    base: tuple[int, int]  #: the type's words
    is_const: bool
    is_array: bool
    kept: str = ""  #: the array in which it is kept, if it is used beyond a barrier
    again: bool = False  #: or it is computed again, which is cheaper


class Exchange(NamedTuple):
    """An operation of a warp: its call, the arguments after the mask, and where the lanes' values and results are."""

    call: str
    start: int
    end: int
    arguments: list[tuple[int, int]]
    sent: str
    got: str  #: "": each lane takes it from the others' values


class Known:
    """What a source declares: constants, and functions that may change a variable that is passed to them."""

    def __init__(self, source: list[Token]) -> None:
        self.source = source
        self.constants, self.changing = set[str](), {"swap", "exchange"}
        self.full = set[str]()  #: constants that are masks of all lanes
        depth = 0
        for i, token in enumerate(source[:-4], 1):
            depth += (token.text == "{") - (token.text == "}")
            if token.text in CONST and not depth:
                while i < len(source) - 4 and source[i].text.isidentifier() and source[i + 1].text.isidentifier():
                    i += 1
                if source[i].text.isidentifier() and source[i + 1].text == "=":
                    self.constants.add(source[i].text)
                    if ALL_LANES.fullmatch(source[i + 2].text) and source[i + 3].text == ";":
                        self.full.add(source[i].text)
            elif token.text == "(" and i > 1 and source[i - 2].text.isidentifier():
                end = closing(source, i - 1)
                is_function = end < len(source) and source[end].text == "{"
                if is_function and any(other.text == "&" for other in source[i:end]):
                    self.changing.add(source[i - 2].text)

    def of(self, source: list[Token]) -> Known:
        """The same of another text, which has been made of this one."""
        other = copy.copy(self)
        other.source = source
        return other


class Statements:
    """Those of one function, whose body begins with the brace there."""

    def __init__(self, known: Known, body: int, parameters: list[str], constants: set[str] | None = None) -> None:
        self._source, self._known = known.source, known
        self._constants = known.constants | (constants or set())
        self._first, self._end = body + 1, closing(known.source, body) - 1
        self._parameters = set(parameters)
        self._declared: dict[str, list[Local]] = {}  #: between barriers
        self._count = 0

    def sign(self, i: int) -> str:
        return self._source[i].text if self._first <= i < self._end else ""

    @property
    def inside(self) -> tuple[int, int]:
        return self._first, self._end

    def _after(self, i: int) -> int:
        """After the statement that begins there."""
        source, sign = self._source, self.sign(i)
        if sign == "{":
            return closing(source, i)
        if sign == "if":
            opening = i + 1 + (self.sign(i + 1) == "constexpr")
            end = self._after(closing(source, opening))
            return self._after(end + 1) if self.sign(end) == "else" else end
        if sign in ("for", "while", "switch"):
            return self._after(closing(source, i + 1))
        if sign == "do":
            return closing(source, self._after(i + 1) + 1) + 1
        if sign in ("case", "default", "else", "") or (self.sign(i + 1) == ":" and sign.isidentifier()):
            raise NotUnderstood(sign)
        while i < self._end and self.sign(i) != ";":
            i = closing(source, i) if self.sign(i) in "([{" else i + 1
        return i + 1

    def statements(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        while start < end:
            after = self._after(start)
            if after > end:
                raise NotUnderstood(self.sign(start))
            yield start, after
            start = after

    def parts(self, start: int, end: int) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """The parenthesis of an if or a loop, and the statements in it."""
        opening = start + 1 + (self.sign(start + 1) == "constexpr")
        if self.sign(start) == "do":
            opening = self._after(start + 1) + 1
            return (opening + 1, end - 2), [(start + 1, opening - 1)]
        body = closing(self._source, opening)
        if self.sign(start) != "if":
            return (opening + 1, body - 1), [(body, end)]
        middle = self._after(body)
        others = [(middle + 1, end)] if middle < end else []
        return (opening + 1, body - 1), [(body, middle), *others]

    def inner(self, start: int, end: int) -> tuple[int, int]:
        """Without the braces."""
        return (start + 1, end - 1) if self.sign(start) == "{" else (start, end)

    def arguments(self, opening: int, after: int) -> list[tuple[int, int]]:
        """The arguments in a parenthesis, which ends there."""
        found, begin, k = list[tuple[int, int]](), opening + 1, opening + 1
        while k < after:
            if self.sign(k) == "," or k == after - 1:
                found += [(begin, k)] * (begin < k)
                begin = k + 1
            k = closing(self._source, k) if self.sign(k) in "([{" else k + 1
        return found

    def _is_barrier(self, start: int, end: int) -> bool:
        signs = [self.sign(i) for i in range(start, end)]
        is_call = signs[0] in BARRIERS and signs[1] == "(" and signs[-2:] == [")", ";"]
        return is_call and (len(signs) == 4 or (signs[0] == "__syncwarp" and self._is_full(start + 2, end - 2)))

    def _is_full(self, start: int, end: int) -> bool:
        """Whether a mask has all lanes: a number, or the name of one that never changes."""
        text = "".join(self.sign(i) for i in range(start, end)).replace("(unsigned)", "")
        text = text.replace("(", "").replace(")", "")
        found = self._declared.get(text, ())
        if any(self._changes(text)) or len(found) > 1:
            return False
        if found:
            return self.sign(found[0].value) == "=" and self._is_full(found[0].value + 1, found[0].declarator[1])
        return ALL_LANES.fullmatch(text) is not None or (text not in self._parameters and text in self._known.full)

    def _has_barrier(self, start: int, end: int) -> bool:
        return any(self.sign(i) in WAITS and self.sign(i) != "__shared__" for i in range(start, end))

    def _exchanges(self, start: int, end: int) -> list[Exchange]:
        """The operations of warps in a statement; NotUnderstood if they are not certain to be carried out once."""
        found, i = list[Exchange](), start
        if self.sign(start) in ("if", "for", "while", "do", "switch", "return", "{"):
            raise NotUnderstood(self.sign(start))
        while i < end:
            sign = self.sign(i)
            if sign in ("?",) or (sign in "&|" and self.sign(i + 1) == sign):
                raise NotUnderstood(sign)
            if sign not in SHUFFLES and sign not in VOTES:
                if sign in BARRIERS:
                    raise NotUnderstood(sign)
                i += 1
                continue
            if self.sign(i + 1) != "(":
                raise NotUnderstood(sign)
            after = closing(self._source, i + 1)
            arguments = self.arguments(i + 1, after)
            inner = [self.sign(k) for k in range(i + 2, after - 1)]
            if any(a in WAITS or (a == b and a in "+-") for a, b in zip(inner, [*inner[1:], ""], strict=True)):
                raise NotUnderstood(sign)
            if any(
                a == "=" and b not in "=!<>" and c != "=" for b, a, c in zip(inner, inner[1:], inner[2:], strict=False)
            ):
                raise NotUnderstood(sign)
            if not arguments:
                raise NotUnderstood(sign)
            is_full = self._is_full(*arguments[0])
            if not is_full or not (len(arguments) == 2 if sign in VOTES else 3 <= len(arguments) <= 4):
                raise NotUnderstood(sign)
            self._count += 1
            found.append(Exchange(sign, i, after, arguments[1:], f"emu_sent_{self._count}", ""))
            i = after
        return found

    def _locals(self, start: int, end: int) -> list[Local]:
        """The variables that a statement declares."""
        i, is_const = start, False
        while self.sign(i) in CONST:
            is_const, i = True, i + 1
        if self.sign(i) in _NO_LOCALS:
            if self._is_shared(start, end) or self.sign(i) in ("using", "typedef"):
                return []
            raise NotUnderstood(self.sign(i))
        if self.sign(i) in TYPES:
            while self.sign(i) in TYPES | CONST:
                is_const |= self.sign(i) in CONST
                i += 1
        elif self.sign(i).isidentifier() and self.sign(i) not in ("return", "if", "for", "while", "do", "switch"):
            while True:
                i += 1
                if self.sign(i) == "<":
                    depth = 0
                    while i < end:
                        depth += (self.sign(i) == "<") - (self.sign(i) == ">")
                        i += 1
                        if not depth:
                            break
                        if self.sign(i) in ";{}&|":
                            return []
                if self.sign(i) != "::":
                    break
                i += 1
            while self.sign(i) in CONST:
                is_const, i = True, i + 1
        else:
            return []
        base, found, at = (start, i), list[Local](), i
        while at < end:
            i = at
            while self.sign(i) in ("*", "const", "__restrict__", "__restrict"):
                i += 1
            is_reference = self.sign(i) == "&"
            i += self.sign(i) == "&"
            name, next_sign = self.sign(i), self.sign(i + 1)
            if not name.isidentifier() or next_sign not in ("=", ";", ",", "[", "(", "{"):
                if found or (self.sign(start) in TYPES | CONST and self.sign(base[1]) != "("):
                    raise NotUnderstood(name)
                return []
            value = i + 1
            while self.sign(value) == "[":
                value = closing(self._source, value)
            last = value
            while last < end and self.sign(last) not in (",", ";"):
                last = closing(self._source, last) if self.sign(last) in "([{" else last + 1
            is_array = value > i + 1
            if is_reference:
                is_const = False
            local = Local(name, i, (at, last), value, base, is_const, is_array)
            local.kept = "&" if is_reference else ""
            found.append(local)
            at = last + 1
        return found

    def _is_shared(self, start: int, end: int) -> bool:
        is_simple = self.sign(start) not in ("{", "if", "for", "while", "do", "switch")
        return is_simple and any(self.sign(i) == "__shared__" for i in range(start, end))

    def _shared_names(self, *parts: tuple[int, int]) -> set[str]:
        """The variables of the block that these statements declare."""
        signs = ((self.sign(i), self.sign(i + 1)) for part in parts if self._is_shared(*part) for i in range(*part))
        return {sign for sign, after in signs if sign.isidentifier() and after in ("[", ";", ",")}

    def all_locals(self) -> set[str]:
        """The names of all variables that are declared somewhere."""
        names = set[str]()
        for i in range(self._first, self._end):
            if self.sign(i - 1) in ("{", "}", ";", "(", ""):
                end = i
                while end < self._end and self.sign(end) != ";":
                    end = closing(self._source, end) if self.sign(end) in "([{" else end + 1
                names |= self._shared_names((i, end + 1))
                with contextlib.suppress(NotUnderstood):
                    names |= {local.name for local in self._locals(i, end + 1)}
        return names

    def _uses(self, name: str, start: int, end: int) -> Iterator[int]:
        for i in range(start, end):
            is_member = self.sign(i - 1) in (".", "::") or self.sign(i - 2) + self.sign(i - 1) == "->"
            if self.sign(i) == name and not is_member:
                yield i

    def _changes(self, name: str) -> Iterator[int]:
        """Where a variable may be changed, besides its declarations."""
        declared = {local.at for local in self._declared.get(name, ())}
        for i in self._uses(name, self._first, self._end):
            last = i
            if i in declared:
                continue
            while self.sign(last + 1) == ".":
                last += 2
            after = [self.sign(k) for k in range(last + 1, last + 4)]
            before = self.sign(i - 2), self.sign(i - 1)
            is_set = after[0] == "=" != after[1]
            is_set |= after[0] in _OPERATORS - {"=", "<", ">"} and after[1] == "="
            is_set |= after in (["<", "<", "="], [">", ">", "="])
            is_set |= after[:2] in (["+", "+"], ["-", "-"]) or before in (("+", "+"), ("-", "-"))
            is_set |= last > i and after[0] in ("(", "[")
            if is_set or self._has_address(i) or self._is_passed(i, last):
                yield i

    def _has_address(self, i: int) -> bool:
        """Whether `&` is before the name, for its address, or a reference to it begins."""
        before = self.sign(i - 2)
        if self.sign(i - 1) == "=" and self.sign(i - 3) == "&":
            return True
        return (
            self.sign(i - 1) == "&"
            and before != "&"
            and (before == "return" or not (before[-1:].isalnum() or before in (")", "]", "_")))
        )

    def _is_passed(self, i: int, last: int) -> bool:
        """Whether it is an argument of a function that may take a reference."""
        if self.sign(i - 1) not in ("(", ",") or self.sign(last + 1) not in (")", ","):
            return False
        depth = 0
        while i > self._first:
            i -= 1
            depth += (self.sign(i) in ")]}") - (self.sign(i) in "([{")
            if depth < 0:
                return self.sign(i - 1) in self._known.changing or self.sign(i - 1) == ">"
        return False
