"""What the text of a source says of arrays: how they are declared, and what a line does to an element."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: Bytes of CUDA's types.
BYTES = {"char": 1, "bool": 1, "int8_t": 1, "uint8_t": 1, "short": 2, "half": 2, "__half": 2, "int16_t": 2}
BYTES |= {"uint16_t": 2, "__nv_bfloat16": 2, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4}
BYTES |= {"half2": 4, "uchar4": 4, "double": 8, "long long": 8, "int64_t": 8, "uint64_t": 8, "size_t": 8, "float2": 8}
BYTES |= {"int2": 8, "float4": 16, "int4": 16, "uint4": 16, "double2": 16, "long": 8}

#: Types whose plural is that of a word.
_WORDS = ("char", "bool", "short", "int", "long", "long long", "float", "double")
OF_DTYPES = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned int", "int16": "short"}
OF_DTYPES |= {"uint16": "unsigned short", "int64": "long long", "uint64": "unsigned long long", "bool": "bool"}
OF_DTYPES |= {"int8": "char", "uint8": "unsigned char"}


def numbers(count: int, type: str, dtype: str | None = None) -> str:
    """ "1,000 floats", "1 int"; of other types "12 elements" """
    if type == "pointer":
        return f"{count:,} pointer{'s' * (count != 1)}"
    word = OF_DTYPES.get(dtype or "", "") if type not in BYTES else "unsigned int" if type == "unsigned" else type
    word = word if word.removeprefix("unsigned ") in _WORDS else "element"
    return f"{count:,} {word}{'s' * (count != 1)}"


class Array(NamedTuple):
    """A declared array; a variable, if it has no dimension."""

    name: str
    type: str  #: without `const` and `unsigned`
    shape: tuple[int, ...]  #: -1: it cannot be read from the text
    is_dynamic: bool  #: extern __shared__
    line: int

    def fits(self, nbytes: int) -> tuple[tuple[int, ...], int] | None:
        """The shape, and the bytes of an element, if the array has so many bytes; else None."""
        size, known = BYTES.get(self.type, 0), math.prod(n for n in self.shape if n >= 0)
        unknown = self.shape.count(-1)
        if unknown > bool(size) or not known or not nbytes or nbytes % (known * (size or 1)):
            return None
        if unknown:
            missing = nbytes // (known * size)
            return tuple(missing if n < 0 else n for n in self.shape), size
        return (self.shape, nbytes // known) if size in (0, nbytes // known) else None


_LINE = re.compile(r'[ \t]*#[ \t]*line[ \t]+(\d+)(?:[ \t]+"(.*)")?')


def lines_of(file: str, name: str, text: str) -> list[str]:
    """The lines of a file, as a text of that name has them, also after `#line 1 "file"`; [] if it has none."""
    lines = {at: line for at_file, at, line in _numbered(name, text) if at_file == file}
    return [lines.get(i, "") for i in range(1, max(lines, default=0) + 1)]


def place_of(offset: int, name: str, text: str) -> tuple[str, int]:
    """The file and the line of a place in a text of that name."""
    *_, (file, line, _text) = _numbered(name, text[: offset + 1])
    return file, line


def _numbered(name: str, text: str) -> Iterator[tuple[str, int, str]]:
    """File, number and text of each line."""
    at, here = 1, name
    for line in text.splitlines():
        if match := _LINE.match(line):
            at, here = int(match[1]), match[2] or here
            continue
        yield here, at, line
        at += 1


def with_arguments(source: Sequence[str], kernel: str) -> list[str]:
    """The same lines, and behind them the arguments of a template: `#define TILE 8` for "transpose<float, 8>"."""
    name, _, arguments = kernel.removesuffix(">").partition("<")
    text = "\n".join(source)
    head = re.search(rf"\btemplate\s*<([^{{}};()]*)>[^;{{}}()]*\b{re.escape(name.split('::')[-1])}\s*\(", text)
    if not arguments or not head:
        return [*source]
    names = [re.sub(r"\s*=.*", "", one).split()[-1] for one in head[1].split(",")]
    values = re.split(r",(?![^<]*>)", arguments)
    return [*source, *(f"#define {name} {value.strip()}" for name, value in zip(names, values, strict=False))]


_CONSTANT = re.compile(r"\b__constant__\b(?:[^;={}]|\{[^{}]*\})*?\b(\w+)\s*(?:\[[^;={}]*\])*\s*(?=[;=,])")


@functools.lru_cache(16)
def constants(text: str) -> frozenset[str]:
    """The names of variables in constant memory, the first of each declaration."""
    return frozenset(_CONSTANT.findall(_COMMENT.sub(" ", text)))


def without_comments(source: Sequence[str]) -> list[str]:
    """The same lines, without what is in comments."""
    return [*_without_comments(tuple(source))]


@functools.lru_cache(8)
def _without_comments(source: tuple[str, ...]) -> tuple[str, ...]:
    text = "\n".join(line.rstrip("\n") for line in source)
    return tuple(_COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else _blank(m), text).split("\n"))


def _blank(match: re.Match[str]) -> str:
    return " " + "\n" * match[0].count("\n")


def shape_of(name: str, nbytes: int, source: Sequence[str], line: int) -> tuple[str, tuple[int, ...], int] | None:
    """The type and the shape of the variable of that name and size, and the bytes of its elements; None if the source
    does not say, or has several. Those of the function that contains the line come first."""
    same = [one for one in declared(tuple(source)) if one.name == name]
    own = function(tuple(source), line)
    same = [one for one in same if own and own.begin <= one.line <= own.end] or same
    found = {(one.type, *fit) for one in same if (fit := one.fits(nbytes))}
    return found.pop() if len(found) == 1 and all(one.shape.count(-1) < 2 for one in same) else None


# --- functions -------------------------------------------------------------------------------------------------------
class Function(NamedTuple):
    """A function that a source defines."""

    name: str
    begin: int  #: the line of its head
    body: int  #: where its body begins
    end: int
    head: str
    text: str  #: of the body

    def statements(self, words: str = "for|while|do") -> list[tuple[int, int]]:
        """The first and the last line of each loop, or of other statements that begin with such a word."""
        starts = [match.start() for match in re.finditer(rf"\b(?:{words})\b", self.text)]
        return [(self._line(at), self._line(_statement_end(self.text, at))) for at in starts]

    def _line(self, at: int) -> int:
        return self.body + self.text.count("\n", 0, at)


def _statement_end(text: str, at: int) -> int:
    """After the statement that begins there."""
    at += len(text[at:]) - len(text[at:].lstrip())
    if head := re.compile(r"(for|while|if)\s*(?=\()").match(text, at):
        end = _statement_end(text, _closing(text, head.end()))
        has_else = head[1] == "if" and re.compile(r"\s*else\b").match(text, end)
        return _statement_end(text, end) if has_else else end
    if word := re.compile(r"(?:do|else)\b").match(text, at):
        return _statement_end(text, word.end())
    return _closing(text, at) if text[at : at + 1] == "{" else text.find(";", at) + 1 or len(text)


def function(source: tuple[str, ...], line: int) -> Function | None:
    """The function that contains a line."""
    return next((one for one in functions(source) if one.begin <= line <= one.end), None)


@functools.lru_cache(8)
def functions(source: tuple[str, ...]) -> tuple[Function, ...]:
    """The functions that these lines define, in their order."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', "\n".join(without_comments(source)))
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", _blank, text, flags=re.M)
    found, at = [], 0
    while match := re.compile(r"[;{}]").search(text, at):
        head, begin, at = text[at : match.start()], at, match.end()
        if match[0] != "{" or re.search(r"\b(?:namespace|struct|class|union|enum)\b[^()]*$|\bextern\s*\"\"\s*$", head):
            continue
        at = _closing(text, match.start())
        begin += len(head) - len(head.lstrip())
        first, body, last = (1 + text.count("\n", 0, i) for i in (begin, match.start(), at - 1))
        plain = re.sub(r"\btemplate\s*<[^{};()]*>|__\w+__\s*\((?:[^()]|\([^()]*\))*\)", "", head)
        name = re.match(r"[^()=]*?(\w+)\s*\(.*\)[^()]*$", plain, re.S)
        found.append(Function(name[1] if name else "", first, body, last, head.strip(), text[match.start() : at]))
    return tuple(found)


def bodies(source: tuple[str, ...]) -> list[str]:
    """The lines, without what is outside of functions' bodies."""
    lines = [""] * len(source)
    for one in functions(source):
        for i, text in enumerate(one.text.split("\n"), one.body - 1):
            lines[i] += text
    return lines


_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
_SPACES = r"(?:__shared__|__constant__|__device__|__managed__)"
_QUALIFIER = rf"(?:{_SPACES}|static|extern|inline|const|constexpr|volatile|(?:alignas|__align__)\s*\([^()]*\))"
_STATEMENT = re.compile(
    rf"\s*(?P<qualifiers>(?:{_QUALIFIER}\s*)*)\b(?P<type>(?:(?:unsigned|signed|long|short)\s+)*[A-Za-z_][\w:]*(?:<[^;=]*>)?)"
    rf"\s+(?:{_QUALIFIER}\s*)*(?P<names>[A-Za-z_].*)",
    re.S,
)
_DECLARATOR = re.compile(r"\s*(\w+)\s*((?:\[[^][]*\]\s*)*)(?:=.*)?", re.S)
_NO_TYPES = ("return", "else", "delete", "goto", "case", "throw", "new", "using", "typedef", "struct", "enum")


@functools.lru_cache(8)
def declared(source: tuple[str, ...]) -> tuple[Array, ...]:
    """The arrays, and the variables in memory of a block or the device, that these lines declare."""
    text = "\n".join(without_comments(source))
    constants = dict(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S.*)$", text, re.M))
    constants |= dict(re.findall(r"\bconst(?:expr)?\s+(?:\w+\s+)+(\w+)\s*=\s*([^;,{}]+)", text))
    text = re.sub(r"^[ \t]*#.*$", "", text, flags=re.M)
    return tuple(_arrays(text, constants))


def _arrays(text: str, constants: dict[str, str]) -> Iterator[Array]:
    for statement in re.finditer(r"[^;{}]+", text):
        match, line = _STATEMENT.fullmatch(statement[0]), 1 + text.count("\n", 0, statement.end())
        if not match or match["type"] in _NO_TYPES:
            continue
        is_variable = re.search(_SPACES, match["qualifiers"])
        type = re.sub(r"\b(?:unsigned|signed)\s+|\s+int$", "", constants.get(match["type"], match["type"]))
        for one in re.split(r",(?![^<(\[]*[>)\]])", match["names"]):
            declarator = _DECLARATOR.fullmatch(one)
            if declarator and (declarator[2] or is_variable):
                sizes = re.findall(r"\[([^][]*)\]", declarator[2])
                is_dynamic = "extern" in match["qualifiers"] and "__shared__" in match["qualifiers"]
                yield Array(declarator[1], type, tuple(_value(n, constants) for n in sizes), is_dynamic, line)


def _value(text: str, constants: dict[str, str]) -> int:
    """Of an expression of numbers and constants; -1 for others."""
    for _ in range(8):
        text = re.sub(r"\b[A-Za-z_]\w*\b", lambda m: f"({constants[m[0]]})" if m[0] in constants else m[0], text)
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text).replace("/", "//")
    if not re.fullmatch(r"[\d\s+*/()-]{1,200}", text) or "**" in text:
        return -1
    try:
        return max(int(eval(text)), -1)
    except (SyntaxError, TypeError, ZeroDivisionError):
        return -1


# --- local memory ----------------------------------------------------------------------------------------------------
_VARIES = {"threadIdx", "blockIdx", "clock", "clock64"}
_FOR = re.compile(
    r"\bfor\s*\(\s*(?P<type>[\w:]+\s+)*(?P<name>\w+)\s*=(?P<begin>[^;]*);"
    r"(?P<goes_on>[^;]*);(?P<step>(?:[^(){};]|\([^()]*\))*)\)"
)
_SET = re.compile(
    r"(?P<type>[\w:>]\s+|,\s*)?(?P<name>\b[A-Za-z_]\w*)\s*(?:\[[^=;{}]*\]\s*)?"
    r"(?:[-+*/%&|^]|<<|>>)?=(?!=)(?P<value>[^;={}]*)"
)


@functools.lru_cache(32)
def local_lines(source: tuple[str, ...]) -> frozenset[int]:
    """The lines in which an array of a thread has an index that nvcc cannot know, so that it is not in registers: one
    that depends on the thread, on the kernel's parameters, or on what is loaded by them. Others may become constants
    when nvcc unrolls loops and inlines functions."""
    plain, result = without_comments(source), set()
    for one in functions(source):
        arrays = [array for array in declared(source) if one.body <= array.line <= one.end and array.shape]
        names = {array.name for array in arrays if not re.search(_SPACES, plain[array.line - 1])}
        declarations = {array.line for array in arrays}
        varying = _varying(one) if names else set()
        for line in range(one.body, one.end + 1) if names else ():
            indices = " ".join(i for use in uses(plain[line - 1]) if use.name in names for i in use.indices)
            if line not in declarations and _names(indices) & varying:
                result.add(line)
    return frozenset(result)


def _varying(of: Function) -> set[str]:
    """The names in a function whose values nvcc cannot know, however far it unrolls loops."""
    varying = set(_VARIES)
    if re.search(r"\b__global__\b", of.head):
        varying |= set(re.findall(r"(\w+)\s*[,)]", of.head[of.head.rfind(f"{of.name}") :]))
    loops = [(one["name"], bool(one["type"]), _bounds(one)) for one in _FOR.finditer(of.text)]
    others = [(one["name"], bool(one["type"]), one["value"]) for one in _SET.finditer(_FOR.sub("", of.text))]
    for _ in range(8):  # values of values
        assigned = [(name, is_new, bool(_names(value) & varying)) for name, is_new, value in loops + others]
        # Of several variables of one name, it may be any.
        known = {name for name, is_new, varies in assigned if is_new and not varies}
        known = {name for name in known if sum(new for other, new, _ in assigned if other == name) > 1}
        varying |= {name for name, _, varies in assigned if varies} - known
    return varying


def _bounds(loop: re.Match[str]) -> str:
    """On what a loop's variable depends. Of several conditions, one may bound the rounds, so that it is unrolled."""
    begin, step = (loop[part].partition(",")[0] for part in ("begin", "step"))
    return f"{begin} {step} {loop['goes_on'] if '&&' not in loop['goes_on'] else ''}"


def _names(expression: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", expression))


# --- a line ----------------------------------------------------------------------------------------------------------
class Use(NamedTuple):
    """An element in a line: `p.tile[y][x + 1]`."""

    name: str  #: of the array: "tile"
    path: str  #: "p.tile"
    indices: tuple[str, ...]
    verb: str


def uses(line: str) -> list[Use]:
    """The elements of arrays in a line without comments, from left to right, also those in an index of another one."""
    found = []
    for match in re.finditer(r"((?:\w+(?:\.|->))*)(\w+)\s*(?=\[)", line):
        at, indices = match.end(), []
        while at < len(line) and line[at] == "[":
            end = _closing(line, at)
            indices.append(line[at + 1 : end - 1].strip())
            at = end + len(line[end:]) - len(line[end:].lstrip())
        found.append(Use(match[2], match[1] + match[2], tuple(indices), _verb(line[: match.start()], line[at:])))
    return found


def _closing(text: str, at: int) -> int:
    """After the bracket that closes the one there."""
    begins, ends, depth = text[at], {"(": ")", "[": "]", "{": "}"}[text[at]], 0
    for i in range(at, len(text)):
        depth += (text[i] == begins) - (text[i] == ends)
        if not depth:
            return i + 1
    return len(text) + 1


def _verb(before: str, after: str) -> str:
    after = re.sub(r"^(?:\s*(?:\.|->)\s*\w+)+", "", after).lstrip()
    if re.search(r"\batomic\w+\s*\(\s*&\s*$", before):
        return "atomically updates"
    if re.search(r"(?:^|[(,=+*/<>?:-]|\breturn)\s*&\s*$", before):
        return "takes the address of"
    if re.search(r"(?:\+\+|--)\s*$", before) or re.match(r"\+\+|--|(?:[-+*/%&|^]|<<|>>)=", after):
        return "updates"
    return "writes" if re.match(r"=(?!=)", after) else "reads"


def operator_of(line: str, array: str) -> str:
    """By which operator a line changes elements of an array, or a variable: "+=", "++", "=" ...; "" if it cannot be
    told."""
    name = rf"(?<![\w.])\*?\(?{re.escape(array)}\b\)?(?:\s*\[(?:[^][]|\[[^][]*\])*\])*(?:(?:\.|->)\w+)*"
    found = set(re.findall(rf"{name}\s*(\+\+|--|(?:[-+*/%&|^]|<<|>>)=|=(?!=))", line))
    found |= set(re.findall(rf"(\+\+|--)\s*{name}", line))
    return found.pop() if len(found) == 1 else ""
