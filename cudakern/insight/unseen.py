"""What a check reads in the text of a kernel, because no access to memory shows it.

Local variables are registers: nobody sees that one is read before it has a value. A loop that waits for a plain
variable may read it once, and never end, so it must not even run. Constant memory is ordinary memory in the emulator.
All of this is told only where the text leaves no doubt.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..own.cuda_source import Token, closing, contents, tokens
from .declared import BYTES, constants


class Remark(NamedTuple):
    """A mistake that the text shows."""

    kind: str
    offset: int  #: in the text
    array: str
    message: str
    advice: str
    never_ends: bool = False


@functools.lru_cache(64)
def remarks(text: str, kernel: str) -> list[Remark]:
    """Those of a kernel, "tools::scale<float>", and of the functions that it calls, in the order of the text."""
    name = kernel.partition("<")[0]
    if not (own := next((one for one in contents(text).kernels if one.name == name), None)):
        return []
    all_tokens, functions = tokens(text), dict[str, list[Token]]()
    for called, body in _functions(all_tokens):
        functions.setdefault(called, body)
    functions.pop(name.split("::")[-1], None)
    begin = text.index(own.code)
    bodies = [[one for one in all_tokens if begin <= one.start < begin + len(own.code)]]
    for body in bodies:  # (which grows)
        bodies += [functions.pop(one.text) for one in body if one.text in functions]
    found = [one for body in bodies for find in _FINDERS for one in find(text, body)]
    return sorted(found, key=lambda one: one.offset)


def _functions(all_tokens: list[Token]) -> Iterator[tuple[str, list[Token]]]:
    """The functions of a text by name: their parameters and bodies."""
    i = 0
    while i < len(all_tokens):
        if all_tokens[i].text == "(" and i and all_tokens[i - 1].text.isidentifier():
            end = closing(all_tokens, i)
            if end < len(all_tokens) and all_tokens[end].text == "{":
                after = closing(all_tokens, end)
                yield all_tokens[i - 1].text, all_tokens[i:after]
                i = after
                continue
        i += 1


# --- variables without a value ----------------------------------------------------------------------------------------
_TYPES = {word for name in BYTES for word in name.split()} | {"signed"}
#: Functions that take numbers, not references to variables.
_BY_VALUE = re.compile(
    r"if|while|for|switch|return|printf|assert|__shfl\w*|make_\w+|(?:__)?(?:fmaf?|fma_r\w|fmul_r\w|fadd_r\w|dp4a)"
    r"|f?maxf?|f?minf?|f?absf?|r?sqrtf?|expf?|logf?|powf?|sinf?|cosf?|tanhf?|__float2\w+|__half2\w+|__h(?:add|mul|fma)2?"
)
_CHANGES = re.compile(r"\+\+|--|(?:<<|>>|[-+*/%&|^])=(?!=)|=(?!=)")


def _without_value(text: str, body: list[Token]) -> Iterator[Remark]:
    words = [token.text for token in body]
    if "goto" in words or any(words[i] == "[" and words[i + 1] in "&=" for i in range(len(words) - 1)):
        return  # (a lambda that may change what is around it)
    for i, end, declarator in _declarators(body):
        name, is_array = body[i].text, body[i + 1].text == "["
        scope = body[end : _end_of_scope(body, i)]
        if (first := _first_read(text, scope, name, is_array)) is not None:
            zero = "{}" if is_array else "0"
            message = f"{name} is read without a value: neither its declaration nor an assignment before gives it one"
            whole = re.sub(r"\s+", " ", f"{declarator} = {zero};")
            best = _best(text, first, name, declarator)
            yield Remark("uninitialised", first, name, message, f"Begin with a value, such as {best or whole}")


def _best(text: str, first: int, name: str, declarator: str) -> str:
    """With what a maximum or a minimum begins, if the statement that first reads the variable makes it one."""
    begin = 1 + max(text.rfind(mark, 0, first) for mark in ";{}")
    call = re.search(rf"\b{name}\s*=\s*(?:\w*::)*f?(max|min)f?\s*\(", text[begin : text.find(";", first)])
    if not call:
        return ""
    infinity = f" or {'-' * (call[1] == 'max')}INFINITY" * bool(re.match("float|double", declarator))
    return f"the first element{infinity}."


def _declarators(body: list[Token]) -> Iterator[tuple[int, int, str]]:
    """The places of local variables that are declared without a value, and of what follows; and "float sum"."""
    start = 0
    for i, token in enumerate(body):
        if token.text not in (";", "{", "}"):
            continue
        at = start if token.text == ";" else i  # (`float acc[4]{};` has a value)
        while at < i and body[at].text in _TYPES:
            at += 1
        type = " ".join(one.text for one in body[start:at])
        while type and at < i and body[at].text.isidentifier():
            end = at + 1
            while end < i and body[end].text == "[":
                end = closing(body, end)
            if end == i or body[end].text == ",":
                lengths = "".join(one.text for one in body[at + 1 : end])
                yield at, i, f"{type} {body[at].text}{lengths}"
            while end < i and body[end].text != ",":
                end = closing(body, end) if body[end].text in "([{" else end + 1
            at = end + 1
        start = i + 1


def _end_of_scope(body: list[Token], at: int) -> int:
    depth = 0
    for i in range(at, len(body)):
        depth += (body[i].text == "{") - (body[i].text == "}")
        if depth < 0:
            return i
    return len(body)


def _first_read(text: str, scope: list[Token], name: str, is_array: bool) -> int | None:
    """Where the variable is first read; None if something may have given it a value, or it is never read. What comes
    first in the text comes first in time, unless it is in a branch."""
    first = None
    for i, token in enumerate(scope):
        if token.text != name or (i and scope[i - 1].text in (".", "->", "::")):
            continue
        if i > 1 and scope[i - 1].text == ">" and scope[i - 2].text == "-":
            continue
        after = i + 1
        while after < len(scope) and scope[after].text == "[":
            after = closing(scope, after)
        if (is_array and after == i + 1) or (i and scope[i - 1].text in _TYPES):
            return None  # passed on as a pointer; another variable of that name
        while after + 1 < len(scope) and scope[after].text == ".":
            after += 2
        if _is_passed_on(scope, i):
            return None
        change = _CHANGES.match(text, scope[after].start) if after < len(scope) else None
        if change and change[0] == "=":
            value = scope[after + 1 : _end_of_value(scope, after + 1)]
            if name not in (one.text for one in value):
                return None
        if first is None:
            first = token.start
            if not _is_in_branch(scope, i):
                return first
    return first


def _is_in_branch(scope: list[Token], at: int) -> bool:
    """Whether only some threads come to a place in a block, or some rounds of a loop."""
    i = at - 1
    while i >= 0:
        word = scope[i].text
        if word in ("?", "else", "case", "default", "switch") or (word in "&|" and scope[i - 1].text == word):
            return True
        if word in ")]}":  # what has ended before: a condition, if no statement ends between
            begin = _opening(scope, i)
            if word == ")" and begin and scope[begin - 1].text in ("if", "switch"):
                return True
            i = begin - 1
            if word != "}":
                continue
        elif word == "{" or word != ";":
            i -= 1
            continue
        while i >= 0 and scope[i].text != "{":  # the statements before, up to the brace around the place
            i = _opening(scope, i) - 1 if scope[i].text in ")]}" else i - 1
    return False


def _opening(some: list[Token], at: int) -> int:
    """Where the parenthesis, bracket or brace that closes there is opened."""
    depth = 0
    for i in range(at, -1, -1):
        depth += (some[i].text in ")]}") - (some[i].text in "([{")
        if not depth:
            return i
    return 0


def _end_of_value(scope: list[Token], at: int) -> int:
    while at < len(scope) and scope[at].text not in (";", ",", ")", "}"):
        at = closing(scope, at) if scope[at].text in "([{" else at + 1
    return at


def _is_passed_on(scope: list[Token], at: int) -> bool:
    """Whether something else may give it a value: by its address, by a reference, in inline PTX."""
    if at and scope[at - 1].text == "&" and (at < 2 or not re.fullmatch(r"[\w\])]+", scope[at - 2].text)):
        return True
    depth = 0
    for i in range(at - 1, -1, -1):
        word = scope[i].text
        if word in (";", "{", "}") and not depth:
            return any(one.text in ("asm", "__asm__") for one in scope[i:at])
        depth += (word in ")]") - (word in "([")
        if depth < 0:
            depth = 0
            of = scope[i - 1].text if i else ""
            is_call = word == "(" and (of.isidentifier() or of == ">")
            if is_call and not _BY_VALUE.fullmatch(of) and of not in _TYPES:
                return True
    return False


# --- loops that wait --------------------------------------------------------------------------------------------------
def _waiting(text: str, body: list[Token]) -> Iterator[Remark]:
    """Loops without a body whose condition reads memory plainly."""
    for i, token in enumerate(body):
        if token.text != "while":
            continue
        end = closing(body, i + 1)
        condition = body[i + 2 : end - 1]
        is_empty = "".join(one.text for one in body[end : end + 2]).startswith((";", "{}"))
        if not is_empty or _ends_a_loop(body, i) or not (name := _read_plainly(text, body, condition)):
            continue
        shown = text[condition[0].start : condition[-1].end]
        message = (
            f"the loop waits until another thread changes {name}, but reads it plainly: a compiler may read it once,"
            f" and the loop never ends if ({shown}) is true then"
        )
        advice = (
            f"Declare {name} volatile, or read it with atomicAdd(..., 0) or cuda::atomic_ref, and let __threadfence()"
            " order it and the data. The launch was not run, because it may never end."
        )
        yield Remark("race", token.start, name, message, advice, never_ends=True)


def _ends_a_loop(body: list[Token], at: int) -> bool:
    """Whether the `while` there is that of `do ... while`."""
    at -= 2 if body[at - 1].text == ";" else 1
    while at >= 0 and body[at].text not in (";", "{", "do"):
        at = _opening(body, at) - 1 if body[at].text in ")]}" else at - 1
    return at >= 0 and body[at].text == "do"


def _read_plainly(text: str, body: list[Token], condition: list[Token]) -> str:
    """The variable in memory that a condition reads, if that is all it does."""
    words = [one.text for one in condition]
    if re.search(r"\w \(|volatile|\+ \+|- -|(?<![=!<>] )= (?!=)", " ".join(words)):
        return ""  # a function, a change
    types = "|".join(sorted(BYTES, key=len, reverse=True))
    code = text[body[0].start : body[-1].end]
    for i, word in enumerate(words):
        if not word.isidentifier() or re.search(rf"\bvolatile\b[^;,(){{}}]*\b{word}\b", code):
            continue
        is_element = words[i + 1 : i + 2] == ["["]
        is_pointed_to = words[i - 1 : i] == ["*"] and (i < 2 or not re.fullmatch(r"[\w\])]+", words[i - 2]))
        is_variable = re.search(rf"(?<!volatile )(?:__shared__|__device__)\s+(?:{types})\s+{word}\b", text)
        is_parameter = re.search(rf"\b(?:{types})\s*\*\s*(?:__restrict__\s*)?{word}\b", code)
        if is_variable or ((is_element or is_pointed_to) and is_parameter):
            return word
    return ""


# --- constants --------------------------------------------------------------------------------------------------------
def _written_constants(text: str, body: list[Token]) -> Iterator[Remark]:
    """Assignments to variables in constant memory."""
    own = {token.text for i, token in enumerate(body) if i and body[i - 1].text in _TYPES}  # hide them
    names = constants(text) - own
    for i, token in enumerate(body):
        if token.text not in names or body[i - 1].text in (".", ":"):
            continue
        after = i + 1
        while after + 1 < len(body) and body[after].text in ("[", "."):
            after = closing(body, after) if body[after].text == "[" else after + 2
        before = text[body[max(i - 4, 0)].start : token.start]
        is_changed = _CHANGES.match(text, body[after].start) if after < len(body) else None
        if is_changed or re.search(r"(?:\+\+|--)\s*$|\batomic\w+\s*\(\s*&\s*$", before):
            message = f"the thread writes {token.text}, which is in constant memory: kernels can only read that"
            advice = "Let the host fill it before the launch, or use a __device__ variable."
            yield Remark("error", token.start, token.text, message, advice)


_FINDERS = (_without_value, _waiting, _written_constants)
