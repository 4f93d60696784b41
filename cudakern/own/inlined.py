"""Kernels with the code of the functions in place of their calls, so that loops.py sees the barriers in them.

    v += sum(v);   -->   float inlined_r1; { float inlined_a1_0 = v; { float x = inlined_a1_0; ... inlined_r1 = x; } }
                         v += inlined_r1;

Only functions with barriers or shuffles are written so, and only those that return at their end, if at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from .cuda_source import Token, closing, opener, split
from .statements import WAITS, Known, NotUnderstood, Statements

_MOST = 6  #: calls within calls
_QUALIFIERS = {"inline", "__inline__", "static", "constexpr", "extern", "__inline", "__device__", "__host__"}
_NAMES_OF_ALL = {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "return", "true", "false", "nullptr"}


class _Function(NamedTuple):
    types: list[str]  #: of a template: the names of its types
    returns: str
    parameters: list[tuple[str, str]]  #: types and names
    brace: int


class Inlined:
    """``raw(i, j)``: the text of these tokens, after a line that tells its place."""

    def __init__(self, source: list[Token], known: Known, raw: Callable[[int, int], str]) -> None:
        self._source, self._known, self._raw = source, known, raw
        self._functions: dict[str, list[_Function | None]] = {}
        self._count = 0
        brace = 0
        for i, token in enumerate(source):
            if token.text == "{" and i >= brace and source[i - 1].text == ")":
                brace = closing(source, i)
                name, function = self._read(i)
                self._functions.setdefault(name, []).append(function)
        words = {name: self._words(found) for name, found in self._functions.items()}
        meet, new = set[str](), {*WAITS}
        while new:
            new = {name for name, some in words.items() if some & new} - meet
            meet |= new
        self._functions = {name: found for name, found in self._functions.items() if name in meet}

    def _words(self, functions: list[_Function | None]) -> set[str]:
        source = self._source
        parts = [source[f.brace : closing(source, f.brace)] for f in functions if f]
        return {token.text for part in parts for token in part}

    def _read(self, brace: int) -> tuple[str, _Function | None]:
        """The function whose body begins there; None if it is not one that can be in place of a call."""
        source, opening = self._source, opener(self._source, brace - 1)
        name, start = source[opening - 1].text, opening - 1
        while start > 0 and source[start - 1].text not in ";{}":
            start -= 1
        head = [token.text for token in source[start : opening - 1]]
        types = list[str]()
        if head[:2] == ["template", "<"]:
            end = head.index(">") if ">" in head else 2
            types = [part[-1].text for part in split(source[start + 2 : start + end], ",") if part]
            if any(word not in {*types, "typename", "class", ","} for word in head[2:end]):
                return name, None
            head = head[end + 1 :]
        while "__attribute__" in head:
            at = head.index("__attribute__")
            after = opening - 1 - len(head) + at + 1
            head = head[:at] + [token.text for token in source[closing(source, after) : opening - 1]]
        head = [word for word in head if word not in _QUALIFIERS]
        parameters = list[tuple[str, str]]()
        for part in split(source[opening + 1 : brace - 1], ",", opening="([{<", closing=")]}>"):
            words = [token.text for token in part]
            if not words or words == ["void"]:
                continue
            if {"&", "[", "(", "="} & {*words} or not words[-1].isidentifier() or len(words) < 2:
                return name, None
            parameters.append((" ".join(words[:-1]), words[-1]))
        if not head or {"__global__", "&", "operator", "::"} & {*head} or any(t not in dict(parameters) for t in types):
            return name, None
        return name, _Function(types, " ".join(head), parameters, brace)

    def body(self, brace: int, parameters: list[str]) -> str | None:
        """The text of a kernel's body; None if it calls no such function. NotUnderstood if it cannot be written."""
        words = {token.text for token in self._source[brace : closing(self._source, brace)]}
        if not words & self._functions.keys():
            return None
        reader = Statements(self._known, brace, parameters)
        return self._block(reader, *reader.inside, self._declared(reader, parameters), 0)

    def _declared(self, reader: Statements, parameters: list[str]) -> set[str]:
        return {*parameters, *reader.all_locals()}

    def _calls(self, reader: Statements, start: int, end: int) -> list[int]:
        return [i for i in range(start, end) if reader.sign(i) in self._functions]

    def _block(self, reader: Statements, start: int, end: int, taken: set[str], depth: int) -> str:
        return "\n".join(self._statement(reader, *part, taken, depth) for part in reader.statements(start, end))

    def _statement(self, reader: Statements, first: int, after: int, taken: set[str], depth: int) -> str:
        calls, sign = self._calls(reader, first, after), reader.sign(first)
        if not calls:
            return self._raw(first, after)
        if sign == "{":
            return "{\n" + self._block(reader, first + 1, after - 1, taken, depth) + "\n}"
        if sign in ("if", "for", "while"):
            condition, bodies = reader.parts(first, after)
            if self._calls(reader, *condition):
                raise NotUnderstood(sign)
            written = [self._block(reader, *reader.inner(*body), taken, depth) for body in bodies]
            head = self._raw(first, closing(self._source, condition[0] - 1))
            return head + "\n else ".join(f"{{\n{body}\n}}" for body in written)
        signs = [reader.sign(i) for i in range(first, after)]
        if len(calls) > 1 or depth > _MOST or {"?", "do", "switch", "return"} & {*signs}:
            raise NotUnderstood(sign)
        if any(a == b and a in "&|" for a, b in pairwise(signs)):
            raise NotUnderstood(sign)
        return self._call(reader, first, after, calls[0], taken, depth)

    def _call(self, reader: Statements, first: int, after: int, at: int, taken: set[str], depth: int) -> str:
        found = self._functions[reader.sign(at)]
        function = found[0] if len(found) == 1 else None
        if function is None or reader.sign(at + 1) != "(" or reader.sign(at - 1) in (".", ">", "::", "&", "*"):
            raise NotUnderstood(reader.sign(at))
        end = closing(self._source, at + 1)
        arguments = reader.arguments(at + 1, end)
        if len(arguments) != len(function.parameters):
            raise NotUnderstood(reader.sign(at))
        inner = Statements(self._known, function.brace, [name for _, name in function.parameters])
        own = self._declared(inner, [name for _, name in function.parameters])
        start, stop = inner.inside
        if ({*self._free(inner, start, stop)} - own) & taken:
            raise NotUnderstood("a name with another meaning")
        self._count += 1
        number, lines, types = self._count, list[str](), dict[str, str]()
        for name in function.types:
            k = next(k for k, (kind, _) in enumerate(function.parameters) if kind == name)
            types[name] = f"inlined_type{number}_{name}"
            lines.append(f"using {types[name]} = std::decay_t<decltype({self._raw(*arguments[k])})>;")
        result = f"inlined_r{number}"
        if function.returns != "void":
            lines.append(f"{types.get(function.returns, function.returns)} {result};")
        lines.append("{")
        for k, ((kind, _), argument) in enumerate(zip(function.parameters, arguments, strict=True)):
            lines.append(f"{types.get(kind, kind)} inlined_a{number}_{k} = {self._raw(*argument)};")
        lines.append("{")
        first_of_body = len(lines)
        lines += [f"{kind} {name} = inlined_a{number}_{k};" for k, (kind, name) in enumerate(function.parameters)]
        returns = [i for i in range(start, stop) if inner.sign(i) == "return"]
        last = list(inner.statements(start, stop))[-1:]
        if returns and ([part[0] for part in last] != returns or function.returns == "void"):
            raise NotUnderstood("return")
        if returns:
            lines.append(self._block(inner, start, returns[0], own, depth + 1))
            value = self._calls(inner, returns[0], stop)
            if value:
                raise NotUnderstood("return")
            lines.append(f"{result} = {self._raw(returns[0] + 1, stop)}")
        elif function.returns == "void":
            lines.append(self._block(inner, start, stop, own, depth + 1))
        else:
            raise NotUnderstood("return")
        lines[first_of_body:] = [_with_types(line, types) for line in lines[first_of_body:]]
        lines.append("}\n}")
        if function.returns != "void":
            before = self._raw(first, at) if first < at else ""
            lines.append(f"{before} {result} {self._raw(end, after)}")
        elif (first, end + 1) != (at, after):
            raise NotUnderstood("void")
        return "\n".join(lines)

    def _free(self, reader: Statements, start: int, end: int) -> Iterator[str]:
        """Names in a function that may be declared outside of it, but those of functions."""
        for i in range(start, end):
            sign = reader.sign(i)
            is_member = reader.sign(i - 1) in (".", "::") or reader.sign(i - 2) + reader.sign(i - 1) == "->"
            if sign.isidentifier() and not is_member and reader.sign(i + 1) != "(" and sign not in _NAMES_OF_ALL:
                yield sign


def _with_types(text: str, types: dict[str, str]) -> str:
    """The text with other names of types, but for the lines that tell its place."""
    for name, other in types.items():
        parts = re.split(r"^(#.*)$", text, flags=re.M)
        parts[::2] = [re.sub(rf"\b{name}\b", other, part) for part in parts[::2]]
        text = "".join(parts)
    return text
