"""Kernels as loops over the threads of a block, between the barriers that all of them reach.

    __global__ void k(float *x) {              static void emu_loops_k(float *x) {
        __shared__ float s[64];                    static __thread float s[64];
        int t = threadIdx.x;                       ::emu::local<int> emu_t(threads);
        s[t] = x[t];                               for each thread: { int t = threadIdx.x; s[t] = x[t]; emu_t = t; }
        __syncthreads();
        for (int h = 32; h > 0; h /= 2) {          for (int h = 32; h > 0; h /= 2)
            if (t < h) s[t] += s[t + h];               for each thread: { int t = emu_t; if (t < h) s[t] += s[t + h]; }
            __syncthreads();
        }
    }                                          }

Each thread runs from barrier to barrier in its turn, as on the emulator's fibers, so the result is the same, whatever
the kernel does. What a thread keeps across a barrier is in an array. A condition around a barrier must be one that has
the same value in all threads, as far as words show: made of parameters, constants, blockIdx and what such values give.
Of any other kernel, and where something is not understood, there is no such function, and its threads are fibers.
"""

from __future__ import annotations

import contextlib
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from .cuda_source import Token, closing

_BARRIERS = {"__syncthreads", "__syncwarp"}
_SHUFFLES = {f"__shfl_{kind}sync": f"EMU_SHFL{kind.upper()[:-1] and '_' + kind.upper()[:-1]}"
             for kind in ("", "up_", "down_", "xor_")}  # fmt: skip
#: What each lane adds to a word of its warp, and what becomes of that.
_VOTES = {"__ballot_sync": ("!= 0", ""), "__any_sync": ("!= 0", "!= 0"), "__all_sync": ("== 0", "== 0")}
#: Words with which threads wait that this file knows.
WAITS = {*_BARRIERS, *_SHUFFLES, *_VOTES, "__shared__"}
#: The index of a thread, of which warps are rows; and that of its warp.
_OF_WARPS = [
    (["threadIdx", ".", "x"], "THREAD"),
    (["(", "THREAD", ")"], "THREAD"),
    (["THREAD", "/", "32"], "WARP"),
    (["THREAD", "/", "warpSize"], "WARP"),
    (["THREAD", ">", ">", "5"], "WARP"),
    (["(", "WARP", ")"], "WARP"),
]
_ALL_LANES = re.compile(r"(0x[fF]{8}|4294967295)[uU]?[lL]*|~0[uU]?|-1")
_TYPES = {
    "void", "bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto", "char8_t",
    "char16_t", "char32_t", "wchar_t",
}  # fmt: skip
_CONST = {"const", "constexpr", "register"}
#: With these a statement, or something in a kernel, is not understood.
_UNKNOWN = {"goto", "asm", "struct", "class", "union", "enum", "try", "catch", "template", "new",
            "delete", "volatile", "co_await", "throw", "setjmp", "__builtin_alloca", "operator"}  # fmt: skip
#: Words of an expression that has the same value in all threads, besides names.
_SAME = {"blockIdx", "blockDim", "gridDim", "warpSize", "sizeof", "static_cast", "true", "false", "min", "max"}
#: With these a declaration begins, but that of a variable of a thread.
_NO_LOCALS = {
    "static",
    "extern",
    "using",
    "typedef",
    "typename",
    "__shared__",
    "__attribute__",
    "alignas",
    "[",
}
_OPERATORS = set("=+-*/%&|^<>")
#: Functions that ask for the thread, to tell of it in a message.
_ASK = re.compile(r"emu_\w+|tex\w*|surf\w*|printf|assert|__assert_fail|__trap|malloc|free|threadIdx")


_NONE_ABSENT = "::emu::none_absent()"  #: lanes that do not take part
_EACH = (
    "emu_thread = 0;\n"
    "for (int emu_z = 0; emu_z < emu_shape[2]; ++emu_z)\n"
    "for (int emu_y = 0; emu_y < emu_shape[1]; ++emu_y)\n"
    "for (int emu_x = 0; emu_x < emu_shape[0]; ++emu_x, ++emu_thread) {\n"
    "const uint3 threadIdx = {unsigned(emu_x), unsigned(emu_y), unsigned(emu_z)};"
)


class NotUnderstood(Exception):
    """The kernel stays one whose threads are fibers."""


@dataclass
class _Local:
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


class _Exchange(NamedTuple):
    """An operation of a warp: its call, the arguments after the mask, and where the lanes' values and results are."""

    call: str
    start: int
    end: int
    arguments: list[tuple[int, int]]
    sent: str
    got: str  #: "": each lane takes it from the others' values


@dataclass
class _Group:
    """What each thread does before the next barrier."""

    before: list[str] = field(default_factory=list)  #: what comes before the loop
    statements: list[tuple[int, int]] = field(default_factory=list)
    sent: list[_Exchange] = field(default_factory=list)  #: at its end
    after: list[str] = field(default_factory=list)  #: what comes after the loop
    received: list[_Exchange] = field(default_factory=list)  #: at its beginning
    on: str = ""  #: where it is noted whether the condition is true, or nothing
    condition: tuple[int, int] = (0, 0)


class Known:
    """What a source declares: constants, and functions that may change a variable that is passed to them."""

    def __init__(self, source: list[Token]) -> None:
        self.source = source
        self.constants, self.changing = set[str](), {"swap", "exchange"}
        depth = 0
        for i, token in enumerate(source[:-2], 1):
            depth += (token.text == "{") - (token.text == "}")
            if token.text in _CONST and not depth:
                while i < len(source) - 2 and source[i].text.isidentifier() and source[i + 1].text.isidentifier():
                    i += 1
                if source[i].text.isidentifier() and source[i + 1].text == "=":
                    self.constants.add(source[i].text)
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


class Loops:
    """The function of one kernel. ``text(i, j)``: the C++ of these tokens, after a line that tells its place."""

    def __init__(
        self, known: Known, body: int, parameters: list[str], constants: set[str], text: Callable[[int, int], str]
    ) -> None:
        self._source, self._text, self._known = known.source, text, known
        self._constants = known.constants | constants
        source = known.source
        self._first, self._end = body + 1, closing(source, body) - 1
        self._parameters = set(parameters)
        self._signs = [token.text for token in source[self._first : self._end]]
        self._out: list[str] = []
        self._on, self._ons = _NONE_ABSENT, list[str]()
        self._group = _Group()
        self._count = 0
        self._visible: dict[str, _Local] = {}
        self._places = frozenset[str]()  #: variables of the block whose place is in a variable

    def sign(self, i: int) -> str:
        return self._source[i].text if self._first <= i < self._end else ""

    def written(self, shows: bool) -> str:
        """The body of the function. ``shows``: what the kernel calls asks which thread it is. NotUnderstood if there
        is none."""
        for i, sign in enumerate(self._signs, self._first):
            is_lambda = sign == "[" and not (self.sign(i - 1).isidentifier() or self.sign(i - 1) in ("]", ")"))
            if sign in _UNKNOWN or is_lambda:
                raise NotUnderstood(sign)
        self._shows = shows
        self._boundaries: list[int] = []
        self._declared: dict[str, list[_Local]] = {}
        self._conditions: list[tuple[int, int]] = []
        self._steps: list[tuple[int, int]] = []
        self._of_warps: list[tuple[tuple[int, int], tuple[int, int]]] = []  #: conditions around operations of warps
        self._plain: list[tuple[int, int]] = []
        self._look(self._first, self._end)
        self._find_same()
        changed = [name for name in sorted(self._parameters) if any(self._changes(name))]
        uses = [part for part in self._plain if self.sign(part[0]) == "using"]
        self._in_types = {self.sign(i) for part in uses for i in range(*part)}
        self._has_groups = bool(self._boundaries)
        returns = [i for i, sign in enumerate(self._signs, self._first) if sign == "return"]
        self._has_ended = any(boundary > i for i in returns for boundary in self._boundaries)
        self._own = changed
        for name in changed:
            if any(local.at for local in self._declared.get(name, ())):
                raise NotUnderstood(name)
        self._emit("const uint3 blockIdx = ::blockIdx;")
        self._emit("const dim3 blockDim = ::blockDim, gridDim = ::gridDim;")
        # As compilers see, sums of signed numbers do not overflow: then more loops become operations of vectors.
        self._emit("const int emu_shape[] = {int(blockDim.x), int(blockDim.y), int(blockDim.z)};")
        self._emit("const long emu_threads = long(blockDim.x) * blockDim.y * blockDim.z;\nlong emu_thread;")
        self._on = "emu_ended" if self._has_ended else _NONE_ABSENT
        if self._has_ended:
            self._emit("const ::emu::local<bool> emu_ended(emu_threads);")
            self._emit("for (long emu_i = 0; emu_i < emu_threads; ++emu_i) emu_ended[emu_i] = false;")
        for name in changed:
            self._emit(f"const auto emu_first_{name} = {name};")
            if self._has_groups:
                local = _Local(name, self._first, (0, 0), 0, (0, 0), False, False, f"emu_kept_{name}")
                self._emit(f"const ::emu::local<std::decay_t<decltype({name})>> {local.kept}(emu_threads);")
                self._emit(
                    f"for (long emu_i = 0; emu_i < emu_threads; ++emu_i) {local.kept}[emu_i] = emu_first_{name};"
                )
                self._visible[name] = local
        self._block(self._first, self._end)
        self._flush()
        return "\n".join(self._out)

    @property
    def of_rows(self) -> bool:
        """Whether warps must be rows of the block's threads."""
        return bool(self._rows)

    def _emit(self, line: str) -> None:
        self._out.append(line)

    # --- statements
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

    def _has_barrier(self, start: int, end: int) -> bool:
        return any(self.sign(i) in WAITS and self.sign(i) != "__shared__" for i in range(start, end))

    def _is_barrier(self, start: int, end: int) -> bool:
        signs = [self.sign(i) for i in range(start, end)]
        is_call = signs[0] in _BARRIERS and signs[1] == "(" and signs[-2:] == [")", ";"]
        return is_call and (len(signs) == 4 or (signs[0] == "__syncwarp" and self._is_full("".join(signs[2:-2]))))

    @staticmethod
    def _is_full(mask: str) -> bool:
        return _ALL_LANES.fullmatch(mask.replace("(unsigned)", "").replace("(", "").replace(")", "")) is not None

    def _exchanges(self, start: int, end: int) -> list[_Exchange]:
        """The operations of warps in a statement; NotUnderstood if they are not certain to be carried out once."""
        found, i = list[_Exchange](), start
        if self.sign(start) in ("if", "for", "while", "do", "switch", "return", "{"):
            raise NotUnderstood(self.sign(start))
        while i < end:
            sign = self.sign(i)
            if sign in ("?",) or (sign in "&|" and self.sign(i + 1) == sign):
                raise NotUnderstood(sign)
            if sign not in _SHUFFLES and sign not in _VOTES:
                if sign in _BARRIERS:
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
            is_full = self._is_full("".join(self.sign(k) for k in range(*arguments[0])))
            if not is_full or not (len(arguments) == 2 if sign in _VOTES else 3 <= len(arguments) <= 4):
                raise NotUnderstood(sign)
            self._count += 1
            found.append(_Exchange(sign, i, after, arguments[1:], f"emu_sent_{self._count}", ""))
            i = after
        return found

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

    @property
    def inside(self) -> tuple[int, int]:
        return self._first, self._end

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

    def arguments(self, opening: int, after: int) -> list[tuple[int, int]]:
        """The arguments in a parenthesis, which ends there."""
        found, begin, k = list[tuple[int, int]](), opening + 1, opening + 1
        while k < after:
            if self.sign(k) == "," or k == after - 1:
                found += [(begin, k)] * (begin < k)
                begin = k + 1
            k = closing(self._source, k) if self.sign(k) in "([{" else k + 1
        return found

    # --- a first pass: where barriers are, what is declared, which conditions are around barriers
    def _look(self, start: int, end: int) -> None:
        for first, after in self.statements(start, end):
            sign = self.sign(first)
            if self._is_barrier(first, after):
                self._boundaries.append(first)
            elif not self._has_barrier(first, after):
                self._plain.append((first, after))
                for local in self._locals(first, after):
                    self._declared.setdefault(local.name, []).append(local)
            elif sign == "{":
                self._boundaries += [first, after]
                self._look(first + 1, after - 1)
            elif sign not in ("if", "for", "while", "do"):
                self._exchanges(first, after)
                self._boundaries.append(first)
                self._plain.append((first, after))
                for local in self._locals(first, after):
                    self._declared.setdefault(local.name, []).append(local)
            else:
                condition, bodies = self.parts(first, after)
                if self._has_barrier(*condition):
                    raise NotUnderstood(sign)
                self._boundaries += [first, after]
                if sign == "for":
                    self._for(*condition)
                elif sign == "if" and not any(self.sign(i) == "__syncthreads" for i in range(first, after)):
                    self._of_warps.append((condition, (first, after)))
                else:
                    self._conditions.append(condition)
                for body in bodies:
                    self._no_break(*body, is_loop=sign != "if")
                    self._look(*self.inner(*body))

    def _for(self, start: int, end: int) -> None:
        parts, begin = [], start
        for i in range(start, end + 1):
            if i == end or self.sign(i) == ";":
                parts.append((begin, i))
                begin = i + 1
        if len(parts) != 3:
            raise NotUnderstood("for")
        begun = self._locals(parts[0][0], parts[0][1] + 1)
        for local in begun:
            self._declared.setdefault(local.name, []).append(local)
            self._conditions.append((local.at, local.at + 1))  # so it must be the same
        if not begun:
            self._steps.append(parts[0])
        self._conditions.append(parts[1])
        self._steps.append(parts[2])

    def _no_break(self, start: int, end: int, is_loop: bool) -> None:
        """Refuses a break or continue of a loop with barriers."""
        if not is_loop:
            return
        i = start
        while i < end:
            sign = self.sign(i)
            if sign in ("for", "while", "do", "switch"):
                inner = self._after(i)
                if any(self.sign(k) == "continue" for k in range(i, inner)) and sign == "switch":
                    raise NotUnderstood("continue")
                i = inner
                continue
            if sign in ("break", "continue"):
                raise NotUnderstood(sign)
            i += 1

    def _locals(self, start: int, end: int) -> list[_Local]:
        """The variables that a statement declares."""
        i, is_const = start, False
        while self.sign(i) in _CONST:
            is_const, i = True, i + 1
        if self.sign(i) in _NO_LOCALS:
            if self._is_shared(start, end) or self.sign(i) in ("using", "typedef"):
                return []
            raise NotUnderstood(self.sign(i))
        if self.sign(i) in _TYPES:
            while self.sign(i) in _TYPES | _CONST:
                is_const |= self.sign(i) in _CONST
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
            while self.sign(i) in _CONST:
                is_const, i = True, i + 1
        else:
            return []
        base, found, at = (start, i), list[_Local](), i
        while at < end:
            i = at
            while self.sign(i) in ("*", "const", "__restrict__", "__restrict"):
                i += 1
            is_reference = self.sign(i) == "&"
            i += self.sign(i) == "&"
            name, next_sign = self.sign(i), self.sign(i + 1)
            if not name.isidentifier() or next_sign not in ("=", ";", ",", "[", "(", "{"):
                if found or (self.sign(start) in _TYPES | _CONST and self.sign(base[1]) != "("):
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
            local = _Local(name, i, (at, last), value, base, is_const, is_array)
            local.kept = "&" if is_reference else ""
            found.append(local)
            at = last + 1
        return found

    def _is_shared(self, start: int, end: int) -> bool:
        is_simple = self.sign(start) not in ("{", "if", "for", "while", "do", "switch")
        return is_simple and any(self.sign(i) == "__shared__" for i in range(start, end))

    # --- which values are the same in all threads
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
            if is_set or self._has_address(i) or self._is_passed(i):
                yield i

    def _has_address(self, i: int) -> bool:
        """Whether `&` is before the name, for its address."""
        before = self.sign(i - 2)
        return (
            self.sign(i - 1) == "&"
            and before != "&"
            and (before == "return" or not (before[-1:].isalnum() or before in (")", "]", "_")))
        )

    def _is_passed(self, i: int) -> bool:
        """Whether it is an argument of a function that may take a reference."""
        if self.sign(i - 1) not in ("(", ",") or self.sign(i + 1) not in (")", ","):
            return False
        depth = 0
        while i > self._first:
            i -= 1
            depth += (self.sign(i) in ")]}") - (self.sign(i) in "([{")
            if depth < 0:
                return self.sign(i - 1) in self._known.changing or self.sign(i - 1) == ">"
        return False

    def _is_same(self, start: int, end: int, names: set[str]) -> bool:
        """Whether an expression has the same value in all threads if these variables have."""
        for i in range(start, end):
            sign, before, after = self.sign(i), self.sign(i - 1) if i > start else "", self.sign(i + 1)
            if sign.isidentifier() and sign not in _SAME | _TYPES | _CONST:
                if after == "(":
                    return False
                if before not in (".", "::") and sign not in names:
                    return False
            if sign in ("[", "{") or (sign == ">" and before == "-"):
                return False
            is_unary = before == "" or before in "(,=+-*/%&|^<>!~?:" or before == "return"
            is_unary |= before == ")" and self.sign(i - 2) in _TYPES | {"*"}
            if sign in "*&" and is_unary and not (sign == "&" == before):
                return False
            if sign == "=" and not (before in ("=", "!", "<", ">") or after == "="):
                return False
            if sign in "+-" and after == sign:
                return False
        return True

    def _find_same(self) -> None:
        """Finds the variables that must be the same in all threads, and refuses conditions that may not be."""
        names = {name for name in self._parameters if not any(self._changes(name))}
        names |= self._constants - self._parameters
        names -= self._declared.keys() | self._shared_names(*self._plain)
        for name, found in self._declared.items():
            if not any(local.kept or local.is_array for local in found):
                names.add(name)
        while True:
            some = [part for condition, part in self._of_warps if not self._is_same(*condition, names)]
            wrong = {name for name in names if name in self._declared and not self._stays_same(name, names)}
            wrong |= {name for name in names for part in some if self._is_changed_in(name, *part)}
            if not wrong:
                break
            names -= wrong
        needed = set[str]()
        conditions = [condition for condition, _ in self._of_warps]
        self._rows = [condition for condition in conditions if not self._is_same(*condition, names)]
        self._conditions += [condition for condition in conditions if condition not in self._rows]
        if not all(self._is_same_in_warp(*part, names) for part in self._rows):
            raise NotUnderstood("a condition")
        if not all(self._is_same(*condition, names) for condition in self._conditions):
            raise NotUnderstood("a condition")
        shared = [(first, after) for first, after in self._plain if self._is_shared(first, after)]
        new = {self.sign(i) for part in [*self._conditions, *self._steps, *shared] for i in range(*part)}
        new |= {x.name for found in self._declared.values() for x in found if x.is_const and x.name in names}
        while new := (new & names & self._declared.keys()) - needed:
            needed |= new
            places = [local.declarator for name in new for local in self._declared[name]]
            places += [self._statement(i) for name in new for i in self._changes(name)]
            new = {self.sign(i) for place in places for i in range(*place)}
        self._same, self._all_same = needed, names
        self._boundaries += [self._statement(i)[0] for name in needed for i in self._changes(name)]

    def _shared_names(self, *parts: tuple[int, int]) -> set[str]:
        """The variables of the block that these statements declare."""
        signs = ((self.sign(i), self.sign(i + 1)) for part in parts if self._is_shared(*part) for i in range(*part))
        return {sign for sign, after in signs if sign.isidentifier() and after in ("[", ";", ",")}

    def _is_changed_in(self, name: str, start: int, end: int) -> bool:
        """Whether a variable that is declared elsewhere may be changed there."""
        is_inside = any(start <= local.at < end for local in self._declared.get(name, ()))
        return not is_inside and any(start <= i < end for i in self._changes(name))

    def _is_same_in_warp(self, start: int, end: int, names: set[str]) -> bool:
        """Whether a condition has the same value in all lanes of a warp, whose lanes are neighbors along x."""
        fixed = {x.name: x for found in self._declared.values() for x in found if len(found) == 1}
        fixed = {name: x for name, x in fixed.items() if not any(self._changes(name)) and self.sign(x.value) == "="}

        def reduced(start: int, end: int) -> list[str]:
            signs = list[str]()
            for i in range(start, end):
                sign = self.sign(i)
                x = fixed.get(sign) if sign not in names else None
                inner = reduced(x.value + 1, x.declarator[1]) if x and x.at < start else [sign]
                signs += inner if len(inner) == 1 else [sign]
                for pattern, short in _OF_WARPS:
                    if signs[-len(pattern) :] == pattern:
                        signs[-len(pattern) :] = [short]
            return signs

        for pattern in (["<", "THREAD"], [">", "THREAD"]):  # only the forms below are known
            if pattern in [reduced(start, end)[i : i + 2] for i in range(end - start)]:
                return False
        signs, kept = reduced(start, end), list[str]()
        while signs:
            sign = signs.pop(0)
            if sign == "THREAD":
                compares = signs[:1] == ["<"] and signs[1:2] != ["="] or signs[:2] == [">", "="]
                signs = signs[1 + (signs[:1] == [">"]) :]
                limit = signs[:1]
                if not compares or limit not in (["32"], ["64"], ["128"], ["256"], ["512"], ["warpSize"]):
                    return False
                if signs[1:2] not in ([], ["&"], ["|"], [")"]):
                    return False
                signs, sign = signs[1:], "1"
            kept.append("1" if sign == "WARP" else sign)
        allowed = _SAME | names | {"(", ")", "&", "|", "!", "=", "<", ">", "+", "-", "."}
        return all(sign in allowed or sign.isdigit() for sign in kept) and not any(
            a in names | _SAME and b == "(" for a, b in pairwise(kept)
        )

    def _statement(self, at: int) -> tuple[int, int]:
        return next((part for part in [*self._plain, *self._steps] if part[0] <= at < part[1]), (at, at))

    def _stays_same(self, name: str, names: set[str]) -> bool:
        for local in self._declared[name]:
            start, end = local.value, local.declarator[1]
            if start == end:
                continue
            inner = (start + 1, end) if self.sign(start) == "=" else (start + 1, end - 1)
            if not self._is_same(*inner, names):
                return False
        for i in self._changes(name):
            start, end = self._statement(i)
            end -= (start, end) in self._plain
            signs = [self.sign(k) for k in range(start, end)]
            others = [sign for sign in signs if sign != name]
            if others in (["+", "+"], ["-", "-"]) and len(signs) == 3:
                continue
            if i != start or "=" not in signs:
                return False
            value = start + signs.index("=") + 1
            if value - start > 4 or not self._is_same(value, end, names):
                return False
        return True

    # --- the second pass: what is written
    def _block(self, start: int, end: int) -> None:
        visible, places = dict(self._visible), self._places
        for first, after in self.statements(start, end):
            sign = self.sign(first)
            if self._is_barrier(first, after):
                self._flush()
            elif self._has_barrier(first, after) and sign in ("{", "if", "for", "while", "do"):
                self._flush()
                self._around(first, after, sign)
            elif self._has_barrier(first, after):
                exchanges = [self._sent(one) for one in self._exchanges(first, after)]
                self._flush()
                self._group.received = exchanges
                self._group.statements.append((first, after))
                self._keep(first, after, end)
            elif self._is_shared(first, after) or sign in ("using", "typedef"):
                self._group.before.append(self._text(first, after))
                for name in sorted(self._shared_names((first, after))):
                    self._places |= {name}
                    # Where a variable of a block is, compilers would ask again and again.
                    place = f'auto *emu_at_{name} = &{name}; __asm__("" : "+r"(emu_at_{name}));'
                    self._group.before.append(place)
            elif names := {local.name for local in self._locals(first, after)} & self._same:
                if len(names) != len(self._locals(first, after)):
                    raise NotUnderstood("a declaration")
                self._group.before.append(self._text(first, after))
            elif any(self._statement(i) == (first, after) for name in self._same for i in self._changes(name)):
                self._flush()
                self._emit(self._text(first, after))
            else:
                self._group.statements.append((first, after))
                self._keep(first, after, end)
        self._flush()
        self._visible, self._places = visible, places

    def _around(self, first: int, after: int, sign: str) -> None:
        if sign == "{":
            self._emit("{")
            self._block(first + 1, after - 1)
            self._emit("}")
            return
        condition, bodies = self.parts(first, after)
        if condition in self._rows:
            self._some(condition, bodies)
            return
        self._emit("do" if sign == "do" else self._text(first, closing(self._source, condition[0] - 1)))
        for number, body in enumerate(bodies):
            self._emit("else {" if number else "{")
            self._block(*self.inner(*body))
            self._emit("}")
        if sign == "do":
            self._emit(self._text(condition[0] - 2, after))

    def _some(self, condition: tuple[int, int], bodies: list[tuple[int, int]]) -> None:
        """What only some of the warps do."""
        self._count += 1
        before, ons, on = self._on, self._ons, f"emu_on_{self._count}"
        self._emit(f"{{\nconst ::emu::local<bool> {on}(emu_threads);")
        self._loop(_Group(on=on, condition=condition))
        for number, body in enumerate(bodies):
            if number:
                self._emit(f"for (long emu_i = 0; emu_i < emu_threads; ++emu_i) {on}[emu_i] = !{on}[emu_i];")
            self._on, self._ons = f"::emu::absent({before}, {on})", [*ons, on]
            self._emit("{")
            self._block(*self.inner(*body))
            self._emit("}")
        self._on, self._ons = before, ons
        self._emit("}")

    def _keep(self, first: int, after: int, end: int) -> None:
        """Makes arrays for what the statement declares and later groups use."""
        for local in self._locals(first, after):
            self._visible.pop(local.name, None)
            if self._is_of_index(local):
                local.again = True
                self._visible[local.name] = local
                if self.sign(after - 1) == ";" and local.name not in self._same:
                    text = f"{self._text(*local.base)} {self._text(*local.declarator)}"
                    self._group.before.append(f"[[maybe_unused]] {text};")  # for what asks for its type
                continue
            later = (i for i in self._uses(local.name, after, end) if any(after <= b <= i for b in self._boundaries))
            if next(later, None) is None and local.name not in self._in_types:
                continue
            if local.kept == "&" or self.sign(local.value) in ("(", "{"):
                raise NotUnderstood(local.name)
            words = [self.sign(i) for i in range(*local.base) if self.sign(i) not in ("constexpr", "register")]
            own = [self.sign(i) for i in range(local.declarator[0], local.value) if i != local.at]
            kind = " ".join(words + own)
            if "auto" in words:
                raise NotUnderstood("auto")
            self._visible[local.name] = local
            self._count += 1
            local.kept = f"emu_kept_{local.name}_{self._count}"
            self._group.before.append(f"const ::emu::local<std::remove_const_t<{kind}>> {local.kept}(emu_threads);")
            self._group.before.append(f"[[maybe_unused]] auto &{local.name} = {local.kept}[0];")

    def _is_of_index(self, local: _Local) -> bool:
        """Whether a variable never changes and follows from the thread's index alone."""
        names = {name for name in self._all_same - self._declared.keys() | self._same if not any(self._changes(name))}
        names |= {name for name, other in self._visible.items() if other.again} | {"threadIdx"}
        start, end = local.value + 1, local.declarator[1]
        is_value = self.sign(local.value) == "=" and not local.is_array and not any(self._changes(local.name))
        return is_value and self._is_same(start, end, names)

    def _by_reference(self, local: _Local) -> bool:
        """Whether a variable must not be copied: an array, or one whose address is taken."""
        return local.is_array or any(map(self._has_address, self._uses(local.name, self._first, self._end)))

    def _flush(self) -> None:
        group, self._group = self._group, _Group()
        for line in group.before:
            self._emit(line)
        if group.statements or group.sent:
            self._loop(group)
        for line in group.after:
            self._emit(line)

    def _loop(self, group: _Group) -> None:
        self._count += 1
        label = f"emu_end_{self._count}"
        for one in group.sent:
            self._emit(self._room(one))
        inside = [part for part in group.statements if self.sign(part[0]) != "{"]
        again = [x for x in self._visible.values() if x.again and not any(a <= x.at < b for a, b in inside)]
        own = {
            local.at: local
            for local in self._visible.values()
            if local.kept and any(a <= local.at < b for a, b in group.statements) and local.declarator != (0, 0)
        }
        parts = [*group.statements, *(one.arguments[0] for one in group.sent), group.condition]
        used = {name for a, b in parts for i in range(a, b) if (name := self.sign(i)).isidentifier()}
        for local in reversed(again):  # they may need each other
            if local.name in used:
                used |= {self.sign(i) for i in range(*local.declarator)}
        loaded = [local for name, local in sorted(self._visible.items())
                  if local.kept and local.at not in own and name in used]  # fmt: skip
        changed = [x for x in loaded if any(a <= i < b for i in self._changes(x.name) for a, b in parts)]
        changed += own.values()
        self._emit(_EACH + "::threadIdx = threadIdx;" * self._shows)
        if group.on:
            self._emit(f"{group.on}[emu_thread] = false;")
        for on in self._ons:  # of a whole warp
            self._emit(f"if (!{on}[emu_thread]) {{ emu_x += 31, emu_thread += 31; continue; }}")
        if self._has_ended:
            self._emit("if (emu_ended[emu_thread]) continue;")
        for local in loaded:
            self._emit(f"auto {'&' * self._by_reference(local)}{local.name} = {local.kept}[emu_thread];")
        for local in again:
            if local.name in used:
                self._emit(f"{self._text(*local.base)} {self._text(*local.declarator)};")
        for name in sorted(self._places & used):
            self._emit(f"auto &{name} = *emu_at_{name};")
        if not self._has_groups:
            for name in self._own:
                self._emit(f"auto {name} = emu_first_{name};")
        self._emit("{")
        for a, b in group.statements:
            self._statement_written(a, b, own, label, group.received)
        for one in group.sent:
            self._emit(self._sending(one))
        if group.on:
            self._emit(f"{group.on}[emu_thread] = bool({self._text(*group.condition)});")
        for local in changed:
            if not self._by_reference(local):
                self._emit(f"{local.kept}[emu_thread] = {local.name};")
        self._emit("}")
        if any(self.sign(i) == "return" for a, b in group.statements for i in range(a, b)):
            self._emit(f"{label}:;")
        self._emit("}")

    # --- operations of warps
    def _sent(self, one: _Exchange) -> _Exchange:
        """The group ends with this: lanes send, and where that is possible, all results are computed at once."""
        value, *others = one.arguments
        kept = self._visible.get(self.sign(value[0]))
        is_vote = one.call in _VOTES
        if not is_vote and value[1] - value[0] == 1 and kept and kept.kept and not self._by_reference(kept):
            one = one._replace(sent=kept.kept)
        else:
            self._group.sent.append(one)
        if is_vote or all(self._is_same(*other, self._all_same) for other in others):
            one = one._replace(got=f"emu_got_{self._count}")
            self._count += 1
            kind = "local<unsigned>" if is_vote else f"same_as<decltype({one.sent})>"
            self._group.after.append(f"const ::emu::{kind} {one.got}(emu_threads);")
            call = "::emu::vote" if is_vote else f"::emu::exchange<{_SHUFFLES[one.call]}>"
            words = [one.sent, one.got, "emu_threads", self._on, *(self._text(*other) for other in others)]
            self._group.after.append(f"{call}({', '.join(words)});")
        return one

    def _room(self, one: _Exchange) -> str:
        """What comes before the loop in which the lanes send."""
        kind = "bool" if one.call in _VOTES else f"std::decay_t<decltype({self._text(*one.arguments[0])})>"
        return f"const ::emu::local<{kind}> {one.sent}(emu_threads);"

    def _sending(self, one: _Exchange) -> str:
        to = _VOTES[one.call][0] if one.call in _VOTES else ""
        return f"{one.sent}[emu_thread] = ({self._text(*one.arguments[0])}) {to};"

    def _receiving(self, one: _Exchange) -> str:
        """What takes the place of the call."""
        if one.call in _VOTES:
            kind = "unsigned" if one.call == "__ballot_sync" else "int"
            return f"{kind}({one.got}[emu_thread >> 5] {_VOTES[one.call][1]})"
        if one.got:
            return f"{one.got}[emu_thread]"
        words = [f"({self._text(*argument)})" for argument in one.arguments[1:]]
        which = f"{one.sent}, emu_thread, emu_threads, {self._on}"
        return f"::emu::received<{_SHUFFLES[one.call]}>({', '.join([which, *words])})"

    # --- statements
    def _written(self, start: int, end: int, received: list[_Exchange], label: str = "") -> str:
        """The C++ of these tokens, in which a thread that returns goes to the label."""
        pieces, begin, i = list[str](), start, start
        calls = {one.start: one for one in received}
        while i < end:
            one = calls.get(i)
            is_return = self.sign(i) == "return"
            if one is None and not is_return:
                i += 1
                continue
            if begin < i:
                pieces.append(self._text(begin, i))
            if one is not None:
                pieces.append(self._receiving(one))
                begin = i = one.end
                continue
            if self.sign(i + 1) != ";" or not label:
                raise NotUnderstood("return")
            ended = "emu_ended[emu_thread] = true; " * self._has_ended
            pieces.append(f"{{ {ended}goto {label}; }}")
            begin = i = i + 2
        return "\n".join([*pieces, *([self._text(begin, end)] if begin < end else [])])

    def _statement_written(
        self, start: int, end: int, own: dict[int, _Local], label: str, received: list[_Exchange]
    ) -> None:
        locals_here = self._locals(start, end)
        if not any(local.at in own for local in locals_here):
            self._emit(self._written(start, end, received, label))
            return
        for local in (own.get(local.at, local) for local in locals_here):
            base = self._text(*local.base)
            if local.at not in own or not self._by_reference(local):
                self._emit(f"{base} {self._written(*local.declarator, received)};")
                continue
            self._emit(f"auto &{local.name} = {local.kept}[emu_thread];")
            if local.value < local.declarator[1]:
                if local.is_array:
                    head = self._text(local.declarator[0], local.at) if local.declarator[0] < local.at else ""
                    sizes = self._written(local.at + 1, local.declarator[1], received)
                    self._emit(f"{{ {base} {head} emu_value {sizes};")
                    self._emit(f"__builtin_memcpy(&{local.name}, &emu_value, sizeof emu_value); }}")
                else:
                    self._emit(f"{local.name} = {self._written(local.value + 1, local.declarator[1], received)};")


def ask(words: set[str]) -> bool:
    """Whether a function with these words asks which thread calls it."""
    return any(_ASK.fullmatch(word) for word in words)
