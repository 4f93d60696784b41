"""Reads CUDA C++: the kernels and variables that a source defines, and the arrays of dynamic shared memory in it."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<skip>^[ \t]*\#(?:\\\n|[^\n])*|\n|[^\S\n]+|//[^\n]*|/\*.*?\*/)
    |(?P<string>(?:u8?|[LU])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<word>[A-Za-z_]\w*)
    |(?P<other>\d[\w.']*|::|.)""",
    re.M | re.S | re.X,
)
#: What may stand in parentheses before a kernel's name.
_ATTRIBUTES = {"__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "__block_size__", "alignas"}
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


def tokens(text: str) -> list[Token]:
    """Words, strings and signs, without comments and directives."""
    return [Token(m[0], m.start(), m.end()) for m in _TOKEN.finditer(text) if m.lastgroup != "skip"]


def contents(text: str) -> Contents:
    """The kernels and variables of all namespaces, in the order of the source."""
    kernels: dict[str, KernelText] = {}
    variables: dict[str, None] = {}
    scopes: list[tuple[str, ...]] = []  # of open namespaces and `extern "C"`: the names that they add
    inside = 0  # braces of anything else
    depth = 0  # of parentheses and brackets
    declaration: list[Token] = []
    open_kernel: KernelText | None = None  # whose body this is
    begun = 0
    braces: list[int] = []  # where open ones are
    for token in tokens(text):
        sign = token.text
        if sign == "{":
            braces.append(token.start)
        elif sign == "}":
            braces = braces[:-1]
        if inside:
            inside += (sign == "{") - (sign == "}")
            if not inside:
                if open_kernel is not None:
                    kernels.setdefault(open_kernel.name, open_kernel._replace(code=text[begun : token.end]))
                    open_kernel = None
                declaration = []
            continue
        if sign in "([":
            depth += 1
        elif sign in ")]":
            depth -= 1
        if depth == 0 and sign == "}":
            scopes = scopes[:-1]
            declaration = []
        elif depth == 0 and sign in "{;":
            words = [t.text for t in declaration]
            prefix = [name for scope in scopes for name in scope]
            if sign == "{" and (scope := _scope(words)) is not None:
                scopes.append(scope)
                declaration = []
                continue
            if "__global__" in words:
                open_kernel = _kernel(declaration, prefix, text) if sign == "{" else None
                begun = declaration[0].start
            elif _MEMORY & set(words) and "extern" not in words:
                variables |= dict.fromkeys("::".join([*prefix, name]) for name in _variables(words))
            inside += sign == "{"
            declaration = []
        else:
            declaration.append(token)
    last = braces[-1] if braces else None
    return Contents(tuple(kernels.values()), tuple(variables), None if last is None else text.count("\n", 0, last) + 1)


def _scope(words: list[str]) -> tuple[str, ...] | None:
    """The names that a brace after these words adds; None if it does not open a namespace or ``extern "C"``."""
    if words[:1] == ["extern"] and len(words) == 2 and words[1].startswith('"'):
        return ()
    if words[:2] == ["inline", "namespace"]:
        words = words[1:]
    return tuple(word for word in words[1:] if word != "::") if words[:1] == ["namespace"] else None


def _without_template(declaration: list[Token]) -> list[Token]:
    """The declaration after ``template <...>``."""
    depth = 0
    for i, token in enumerate(declaration[1:], 1):
        depth += (token.text == "<") - (token.text == ">")
        if depth == 0:
            return declaration[i + 1 :]
    return []


def _kernel(declaration: list[Token], prefix: list[str], text: str) -> KernelText | None:
    is_template = declaration[0].text == "template"
    rest = _without_template(declaration) if is_template else declaration
    start = None
    depth = 0
    for i, token in enumerate(rest):
        if token.text == "(" and depth == 0 and rest[i - 1].text not in _ATTRIBUTES:
            start = i
            break
        depth += (token.text in _OPEN) - (token.text in _CLOSE)
    if not start or not rest[start - 1].text.isidentifier():  # a specialization: scale<float>
        return None
    parameters: list[str] = []
    depth, begin = 0, rest[start].end
    for token in rest[start + 1 :]:
        if depth == 0 and token.text in ",)":
            parameters.append(" ".join(text[begin : token.start].split()))
            begin = token.end
            if token.text == ")":
                break
        depth += (token.text in "([{<") - (token.text in ")]}>")
    if parameters in ([""], ["void"]):
        parameters = []
    name = "::".join([*prefix, rest[start - 1].text])
    returns_nothing = "void" in (token.text for token in rest[:start])
    line = text.count("\n", 0, rest[start].start) + 1
    return KernelText(name, returns_nothing, tuple(parameters), is_template, line, "")


def _variables(words: list[str]) -> list[str]:
    """The names in ``__device__ float table[64], factor = 2``; none for a function or a template."""
    if words[0] == "template":
        return []
    names: list[str] = []
    depth = 0
    last = ""  # the word before the sign that ends a name
    named = False  # in this declarator
    for word in [*words, ","]:
        if depth == 0 and not named and word in ("=", "[", ",", "{"):
            names.append(last)
            named = True
        if depth == 0 and word == "(" and not named and last not in _ATTRIBUTES | {"__align__"}:
            return []  # a function
        if depth == 0 and word == ",":
            named = False
        depth += (word in "([{<") - (word in ")]}>")
        if depth == 0 and word.isidentifier():
            last = word
    return [name for name in names if name]


def with_shared_pointers(text: str) -> str:
    """The source with ``extern __shared__ T name[];``, which is no valid C++, as a pointer to dynamic shared memory.

    Lines keep their numbers. Inside a function, the pointer is a local constant; elsewhere it is a macro, because each
    block has its own memory.
    """
    source = tokens(text)
    pieces: list[str] = []
    end = depth = 0
    scopes: list[bool] = []  # of each open brace: whether it is a function's or a struct's
    since: list[str] = []  # the words since the last brace or semicolon
    for i, token in enumerate(source):
        if token.text == "{":
            scopes.append(_scope(since) is None)
        elif token.text == "}" and scopes:
            scopes.pop()
        since = [] if token.text in "{};" else [*since, token.text]
        depth = sum(scopes)
        if token.text != "extern" or i + 1 == len(source) or source[i + 1].text not in ("__shared__", "__align__"):
            continue
        stop = next((j for j in range(i, len(source)) if source[j].text == ";"), None)
        words = [] if stop is None else [t.text for t in source[i + 1 : stop]]
        if stop is None or "__shared__" not in words or words[-2:] != ["[", "]"]:
            continue
        name, kind = words[-3], _element(words[:-3])
        lines = "\n" * text.count("\n", token.start, source[stop].end)
        pieces.append(text[end : token.start])
        if depth:
            pieces.append(f"{kind} *const {name} = static_cast<{kind} *>(emu_dynamic_shared());{lines}")
        else:
            pieces.append(f"\n#define {name} (static_cast<{kind} *>(emu_dynamic_shared()))\n")
            pieces.append(f"#line {text.count(chr(10), 0, source[stop].end) + 1}\n")
        end = source[stop].end
    return "".join([*pieces, text[end:]])


def _element(words: list[str]) -> str:
    """The type of the elements: without ``__shared__`` and alignments."""
    kept: list[str] = []
    depth = 0
    for word in words:
        if word in ("__align__", "alignas", "__attribute__"):
            depth -= 1000  # until its parentheses close
        elif depth < 0:
            depth += (word == "(") - (word == ")")
            depth = 0 if depth == -1000 else depth
        elif word != "__shared__":
            kept.append(word)
    return " ".join(kept)
