"""Reads CUDA C++: the kernels and variables that a source defines."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: What is never closed ends with the line or the text: otherwise, each of many quotes would be looked for to the end.
_TOKEN = re.compile(
    r"""(?P<skip>^[ \t]*\#(?:\\\n|[^\n])*|\n|[^\S\n]+|//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<string>(?:u8?|[LU])?R"(?P<mark>[^()\\\s]{0,16})\((?:.*?\)(?P=mark)"|.*)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<other>\d[\w.']*|::|.)""",
    re.M | re.S | re.X,
)
#: In a declaration, the parentheses after these words are not those of its parameters.
ATTRIBUTES = {
    "__attribute__", "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "__align__", "alignas",
    "decltype", "noexcept", "explicit", "__declspec",
}  # fmt: skip
_MEMORY = {"__device__", "__constant__", "__managed__"}
_OPEN, _CLOSE = "([{", ")]}"


class Token(NamedTuple):
    text: str
    start: int
    end: int


class KernelText(NamedTuple):
    """A kernel as the source declares it."""

    name: str  #: with its namespaces: "tools::scale"
    returns_nothing: bool  #: as a kernel must
    parameters: tuple[str, ...]  #: "const float *x"
    is_template: bool
    line: int
    code: str


class Contents(NamedTuple):
    kernels: tuple[KernelText, ...]
    variables: tuple[str, ...]  #: names of __device__ and __constant__ variables, with their namespaces
    unclosed: int | None  #: the line of a brace that is never closed


def read(path: Path) -> str:
    """The text of a file, in UTF-8 or else in Latin-1, which any bytes are."""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return re.sub("\r\n?", "\n", text)


def tokens(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """Words, strings and signs, without comments and directives."""
    matches = _TOKEN.finditer(text, start, len(text) if end is None else end)
    return [Token(m[0], m.start(), m.end()) for m in matches if m.lastgroup != "skip"]


def split(section: Iterable[Token], *separators: str, opening: str = _OPEN, closing: str = _CLOSE) -> list[list[Token]]:
    """The parts between separators outside of parentheses, up to a parenthesis that closes and was not opened."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in section:
        depth += (token.text in opening) - (token.text in closing)
        if depth < 0:
            break
        if depth == 0 and token.text in separators:
            parts += [[] for _ in token.text]  # `::` are two
        else:
            parts[-1].append(token)
    return parts


def closing(some: list[Token], at: int) -> int:
    """After what closes the parenthesis, bracket or brace there."""
    depth = 0
    for i in range(at, len(some)):
        depth += (some[i].text in _OPEN) - (some[i].text in _CLOSE)
        if not depth:
            return i + 1
    return len(some)


def opener(some: list[Token], at: int) -> int:
    """What opens the parenthesis, bracket or brace that is closed there; the same place if nothing does."""
    depth = 0
    for i in range(at, -1, -1):
        depth += (some[i].text in _CLOSE) - (some[i].text in _OPEN)
        if not depth:
            return i
    return at


def after_angle(some: list[Token], at: int) -> int:
    """After the ``>`` that closes the ``<`` there."""
    depth = 0
    while at < len(some):
        sign = some[at].text
        if sign in "([{":
            at = closing(some, at)
            continue
        if is_shift(some, at):
            at += 2
            continue
        depth += (sign == "<") - (sign == ">" and some[at - 1].text != "-")
        at += 1
        if not depth:
            break
    return at


def is_shift(some: list[Token], at: int) -> bool:
    """Whether ``<<`` is there, which is never the begin of a template's arguments."""
    return [token.text for token in some[at : at + 2]] == ["<"] * 2 and some[at].end == some[at + 1].start


def contents(text: str) -> Contents:
    """The kernels and variables of all namespaces, in the order of the source."""
    kernels: dict[str, KernelText] = {}
    variables: dict[str, None] = {}
    scopes: list[tuple[str, ...] | None] = []  # of each open brace: the namespaces that it opens; None: another's
    starts: list[int] = []  # where open braces are
    depth = 0  # of parentheses and brackets
    declaration: list[Token] = []  # outside of functions and types
    for token in tokens(text):
        sign, inside = token.text, None in scopes
        words = [t.text for t in declaration] if sign in "{};" else []
        if not inside:
            depth += (sign in "([") - (sign in ")]")
        if sign == "{":
            starts.append(token.start)
            scopes.append(None if inside or depth else scope(words))
            if scopes[-1] is not None:
                declaration = []
        elif sign == "}" and scopes:
            starts.pop()
            scopes.pop()
        elif not inside and sign not in "};":
            declaration.append(token)
        is_value = sign == "}" and "(" not in words and bool(_MEMORY & {*words})  # of a variable
        if depth == 0 and sign in "};" and None not in scopes and not is_value:  # the declaration ends
            prefix = [name for scope in scopes for name in scope or ()]
            if "__global__" in words and sign == "}":
                if kernel := _kernel(declaration, prefix, text, token.end):
                    kernels.setdefault(kernel.name, kernel)
            elif _MEMORY & set(words) and "extern" not in words:
                variables |= dict.fromkeys("::".join([*prefix, name]) for name in declared(declaration))
            declaration = []
    return Contents(tuple(kernels.values()), tuple(variables), text.count("\n", 0, starts[-1]) + 1 if starts else None)


def scope(words: list[str]) -> tuple[str, ...] | None:
    """The names that a brace after these words adds; None if it does not open a namespace or ``extern "C"``."""
    if words[:1] == ["extern"] and len(words) == 2 and words[1].startswith('"'):
        return ()
    if words[:2] == ["inline", "namespace"]:
        words = words[1:]
    return tuple(word for word in words[1:] if word != "::") if words[:1] == ["namespace"] else None


def _kernel(declaration: list[Token], prefix: list[str], text: str, end: int) -> KernelText | None:
    while declaration[1].text == "(" and declaration[0].text not in ATTRIBUTES:  # a macro, which needs no semicolon
        declaration = declaration[closing(declaration, 1) :]
    is_template = declaration[0].text == "template"
    rest = declaration[after_angle(declaration, 1) :] if is_template else declaration
    start = depth = 0
    for i, token in enumerate(rest):
        if token.text == "(" and depth == 0 and rest[i - 1].text not in ATTRIBUTES:
            start = i
            break
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
    if not start or not rest[start - 1].text.isidentifier():  # a specialization: scale<float>
        return None
    parts = split(rest[start + 1 :], ",", opening="([{<", closing=")]}>")
    parameters = tuple(" ".join(text[part[0].start : part[-1].end].split()) for part in parts if part)
    name = "::".join([*prefix, rest[start - 1].text])
    returns_nothing = "void" in (token.text for token in rest[:start])
    line = text.count("\n", 0, rest[start].start) + 1
    parameters = () if parameters == ("void",) else parameters
    return KernelText(name, returns_nothing, parameters, is_template, line, text[declaration[0].start : end])


def declared(declaration: list[Token]) -> list[str]:
    """The names in ``__device__ float table[64], factor = 2``; none for a function or a template."""
    if declaration[0].text == "template" or any(token.text == "operator" for token in declaration):
        return []
    names: list[str] = []
    for declarator in split(declaration, ",", opening="([{<", closing=")]}>"):
        name, depth = "", 0
        for word in (token.text for token in declarator):
            if depth == 0 and word in "=[{":
                break
            if depth == 0 and word == "(" and name not in ATTRIBUTES:
                return []
            depth += (word in "([{<") - (word in ")]}>")
            if depth == 0 and word.isidentifier():
                name = word
        names.append(name)
    return [name for name in names if name not in ("", "struct", "union", "class", "enum")]


def defines_main(text: str) -> bool:
    """Whether a source is a whole program."""
    words = [token.text for token in tokens(text)]
    return any(words[i - 1 : i + 2] == ["int", "main", "("] for i in range(1, len(words)))
