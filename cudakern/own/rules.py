"""What CUDA C++ forbids and C++ allows: who may call whom, and what kernels and launches are like.

nvcc refuses it, so a program that runs here must not rely on it. The messages are nvcc's where those are clear. Who
calls whom is judged by names alone. So a name is left alone that also stands for a variable, a type, a member or a
function of the system, and all of them where a file asks for ``__CUDA_ARCH__``: it is read once here, for both sides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .cuda_source import Token, closing

_SPACES = ("__global__", "__device__", "__host__")
_KEYWORDS = {
    "return", "else", "do", "case", "throw", "new", "delete", "and", "or", "not", "co_return", "co_yield", "goto",
}  # fmt: skip
_WITH_PARENTHESES = {
    "__attribute__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "alignas", "decltype",
    "noexcept", "explicit", "__declspec", "__align__",
}  # fmt: skip
_TYPES = {"struct", "class", "union"}
_OF_DEVICE = re.compile(
    r"__(syncthreads|syncwarp|shfl|ballot|activemask|threadfence)\w*|atomic(Add|Sub|Exch|Min|Max|CAS|Inc|Dec)"
)
_INDICES = {"threadIdx", "blockIdx"}
_OF_HOST = {"cout", "cerr", "vector", "string", "map", "unordered_map", "set", "deque", "list", "cin"}  #: of std


class Problem(NamedTuple):
    token: Token
    message: str


class _Function(NamedTuple):
    name: Token
    spaces: frozenset[str]  #: "__global__", ...; of the host if there are none
    is_member: bool
    is_free: bool  #: neither constexpr nor defaulted: only free ones are called by one side alone
    first: int  #: the tokens of its body; 0 and 0 of a declaration
    end: int

    @property
    def side(self) -> str:
        """ "" if it is of both."""
        if "__global__" in self.spaces:
            return "__global__"
        if not self.is_free or {"__device__", "__host__"} <= self.spaces:
            return ""
        return "__device__" if "__device__" in self.spaces else "__host__"


def problems(
    source: Sequence[Token], is_of_system: Callable[[str], bool], asks: Callable[[], bool]
) -> tuple[list[Problem], list[Problem]]:
    """Those of kernels, and of calls. ``is_of_system``: whether the system's headers have a function of that name;
    ``asks``: whether a file asks for ``__CUDA_ARCH__``."""
    rules = _Rules(source)
    calls = [
        problem
        for problem in rules.of_calls()
        if problem.token.text not in rules.sides or not is_of_system(problem.token.text)
    ]
    return list(rules.of_kernels()), [] if calls and asks() else calls


class _Rules:
    def __init__(self, source: Sequence[Token]) -> None:
        self.source = list(source)
        self.functions = list(self._functions())
        self.sides: dict[str, set[str]] = defaultdict(set)
        for function in self.functions:
            self.sides[function.name.text].add("" if function.is_member else function.side)
        self.defined = {function.name.text for function in self.functions if function.end}
        self.variables = {
            token.text for i, token in enumerate(self.source[:-1]) if token.text in self.sides and self._is_variable(i)
        }

    def of_kernels(self) -> Iterator[Problem]:
        for function in self.functions:
            if "__global__" in function.spaces and function.is_member:
                yield Problem(function.name, "a __global__ function cannot be a member function")

    def of_calls(self) -> Iterator[Problem]:
        for function in self.functions:
            if not function.end or not function.side:
                continue
            for i in self._own(function):
                message = self._of_word(function, i)
                if message:
                    yield Problem(self.source[i], message)

    def _of_word(self, function: _Function, i: int) -> str:
        source, name, here = self.source, self.source[i].text, function.side
        before, after = source[i - 1].text, source[i + 1].text
        by = f'a {here} function ("{function.name.text}")'
        is_plain = before not in (".", "::") and not (before == ">" and source[i - 2].text == "-")
        of_std = before == "::" and source[i - 2].text == "std"
        if here == "__host__":
            if name == "__shared__":
                return f"a __shared__ variable cannot be declared in {by}"
            if name in _INDICES and is_plain and all(source[other + 1].text == "." for other in self._all(name)):
                return f'identifier "{name}" is undefined in {by}'
            if _OF_DEVICE.fullmatch(name) and after == "(" and is_plain and name not in self.sides:
                return f'calling a __device__ function ("{name}") from {by} is not allowed'
        elif of_std and name in _OF_HOST:
            hint = ": use printf" if name in ("cout", "cerr") else ""
            return f'identifier "std::{name}" is undefined in device code, in {by}{hint}'
        sides = self.sides.get(name, set())
        if len(sides) != 1 or "" in sides or name in self.variables or not is_plain:
            return ""
        (side,) = sides
        if after == "<" and [token.text for token in source[i + 1 : i + 4]] == ["<"] * 3:
            if side != "__global__":
                return f'a {side} function call cannot be configured: "{name}" is not declared with __global__'
        elif after != "(" or self._declares(i):
            return ""
        elif side == "__global__" and (before in (";", "{", "}", ":", "else", "do") or self._is_after_condition(i)):
            return f"a __global__ function call must be configured: {name}<<<grid, block>>>(...)"
        elif side == "__device__" and here == "__host__":
            return f'calling a __device__ function ("{name}") from {by} is not allowed'
        elif side == "__host__" and here != "__host__" and name in self.defined:
            hint = "declare it with __device__, or with __host__ __device__ for both"
            return f'calling a __host__ function ("{name}") from {by} is not allowed: {hint}'
        return ""

    # --- words
    def _all(self, name: str) -> Iterator[int]:
        return (i for i, token in enumerate(self.source) if token.text == name)

    def _declares(self, i: int) -> bool:
        """Whether the name there follows a type: ``int f``, ``T *f``, ``T<int> f``."""
        before, second = self.source[i - 1].text, self.source[i - 2].text
        if before in ("*", "&", ">"):
            return second not in ("-", "=") and (second.isidentifier() or second in (">", "*", "&", ")"))
        return before.isidentifier() and before not in _KEYWORDS

    def _is_variable(self, i: int) -> bool:
        """Whether the name there is that of a variable or a type, or is assigned to."""
        before, after = self.source[i - 1].text, self.source[i + 1].text
        if before in _TYPES or before in ("using", "typename", "namespace", "enum") or after == "::":
            return True
        return after not in ("(", "<") and (self._declares(i) or (after == "=" and self.source[i + 2].text != "="))

    def _is_after_condition(self, i: int) -> bool:
        """Whether a statement begins there, after ``if (...)`` and the like."""
        if self.source[i - 1].text != ")":
            return False
        depth, at = 0, i - 1
        while at > 0:
            depth += (self.source[at].text == ")") - (self.source[at].text == "(")
            if not depth:
                break
            at -= 1
        return self.source[at - 1].text in ("if", "while", "for", "constexpr")

    # --- functions
    def _own(self, function: _Function) -> Iterator[int]:
        """The words of a function's body, without what is said to be of another side in it, such as a lambda."""
        i = function.first
        while i < function.end:
            if self.source[i].text in _SPACES:
                while i < function.end and self.source[i].text not in "{;":
                    i += 1
                i = closing(self.source, i) if i < function.end and self.source[i].text == "{" else i + 1
                continue
            if self.source[i].text.isidentifier():
                yield i
            i += 1

    def _functions(self) -> Iterator[_Function]:
        """The functions that are declared and defined outside of functions."""
        source, i, start = self.source, 0, 0
        members: list[bool] = []  # of each open brace: whether it is a type's
        while i < len(source):
            sign = source[i].text
            if sign in "([":
                i = closing(source, i)
                continue
            if sign in "{;}":
                end = i + 1
                words = [token.text for token in source[start:i]]
                name = self._name(start, i)
                if sign == "{" and name is None and _opens_scope(words):
                    members.append(not _TYPES.isdisjoint(words))
                elif sign == "{":
                    end = closing(source, i)
                    if name is None or _is_member_initializer(source, start, i):
                        if name is None and end < len(source) and source[end].text == "{":  # nothing goes on there
                            start = end
                        i = end
                        continue
                elif sign == "}" and members:
                    members.pop()
                if name is not None:
                    is_member = (any(members) and "friend" not in words) or source[name - 1].text in ("::", "~")
                    is_free = words[:1] != ["using"] and not {"constexpr", "consteval", "delete", "default"} & {*words}
                    spaces = frozenset(word for word in words if word in _SPACES)
                    body = (i, end) if sign == "{" else (0, 0)
                    yield _Function(source[name], spaces, is_member, is_free, *body)
                start = i = end
                continue
            i += 1

    def _name(self, start: int, end: int) -> int | None:
        """The name of the function that is declared between these tokens; None if something else is."""
        source, i, depth = self.source, start, 0
        if i < end and source[i].text == "template":
            i += 1
            while i < end:
                depth += (source[i].text == "<") - (source[i].text == ">")
                i += 1
                if not depth:
                    break
        while i < end:
            sign = source[i].text
            if sign == "operator" or (sign == "=" and not depth) or sign in ("typedef", "using", "friend"):
                return None
            if sign == "(":
                before = source[i - 1].text if i > start else ""
                if before in _WITH_PARENTHESES or before == "(":
                    i = closing(source, i)
                    continue
                is_name = before.isidentifier() and before not in _KEYWORDS and i > start
                return i - 1 if is_name and i - 1 > start else None
            depth += (sign == "<") - (sign == ">")
            i += 1
        return None


def _opens_scope(words: Sequence[str]) -> bool:
    """Whether a brace after these words opens a namespace, a type, or ``extern "C"``."""
    if "=" in words or "enum" in words:
        return False
    return "namespace" in words or not _TYPES.isdisjoint(words) or (words[:1] == ["extern"] and len(words) == 2)


def _is_member_initializer(source: Sequence[Token], start: int, at: int) -> bool:
    """Whether the brace there is that of ``: member{value}`` of a constructor."""
    return source[at - 1].text.isidentifier() and any(
        source[i].text == ")" and source[i + 1].text == ":" and source[i + 2].text != ":" for i in range(start, at - 1)
    )
