"""Reading and changing C++ text: brackets, arguments, calls, and where an expression needs parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

#: For the precedence of operators, the tightest first.
_LEVELS = ("* / %", "+ -", "<< >>", "< > <= >=", "== !=", "&", "^", "|", "&&", "||", "? : = += -= *= /= ^= |= &=", ",")
_LEVEL = {operator: level for level, operators in enumerate(_LEVELS, 2) for operator in operators.split()}
_OPERATOR = re.compile(r"<<=?|>>=?|&&|\|\||->|\+\+|--|[-+*/%&|^<>=!]=|[-+*/%&|^<>=?:,]")


def end_of(text: str, at: int) -> int:
    """The position after the bracket that closes the one at ``at``; of < only template arguments."""
    opening, depth = text[at], 0
    for match in re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\])*\"|->|[][(){}<>]").finditer(text, at):
        token = match[0]
        if token in "([{" or (token == "<" and opening == "<"):
            depth += 1
        elif token in ")]}" or (token == ">" and opening == "<"):
            depth -= 1
            if depth == 0:
                return match.end()
    raise ValueError(f"unbalanced {opening} in {text[at : at + 80]!r}")


def parts(text: str, separator: str = ",") -> list[str]:
    """Arguments, of a function or a template."""
    parts, depth, begin = [], 0, 0
    for match in re.finditer(r"->|<=|>=|<<|[][(){}<>,;]", text):
        token = match[0]
        is_template = token in "<>" and not re.search(r"\s$", text[: match.start()])
        if token in "([{" or (token == "<" and is_template):
            depth += 1
        elif token in ")]}" or (token == ">" and is_template and depth):
            depth -= 1
        elif token == separator and depth == 0:
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    return [*parts, text[begin:].strip()] if text.strip() else []


def level(expression: str) -> int:
    """How loosely its loosest operator binds: 0 for a name, an element or a call."""
    flat, i = "", 0
    while i < len(expression):
        if expression[i] in "([{":
            end = end_of(expression, i)
            flat, i = flat + "_", end
        else:
            flat, i = flat + expression[i], i + 1
    flat, loosest, before = flat.strip(), 0, "("
    flat = re.sub(r"\w<[\w ,*]*>(?=_)", "_", flat)
    for match in re.finditer(r"<<=?|>>=?|&&|\|\||->|\+\+|--|[-+*/%&|^<>=!]=|[-+*/%&|^<>=?:,!~]|[\w.\[\]]+", flat):
        token = match[0]
        if token in _LEVEL:
            loosest = max(loosest, _LEVEL[token] if before[-1].isalnum() or before[-1] in "_." else 1)
        elif token in "!~":
            loosest = max(loosest, 1)
        before = token
    return loosest


def put(text: str, start: int, end: int, expression: str) -> str:
    """The text with an expression there, in parentheses where they are needed."""
    left, right = text[:start].rstrip(), text[end:].lstrip()
    own, around = level(expression), 99
    after = _OPERATOR.match(right)
    if right[:1] in ("[", ".", "(") or (after and after[0] in ("->", "++", "--")):
        around = 1
    elif after and after[0] in _LEVEL and after[0] not in (",", ":", "?"):
        around = _LEVEL[after[0]] + 1
    if before := re.search(r"(<<=?|>>=?|&&|\|\||[-+*/%&|^<>=!]=|[-+*/%&|^<>=!~])$", left):
        operand = re.search(r"[\w)\]]$", left[: before.start()].rstrip())
        operand = operand if not re.search(r"\breturn$", left[: before.start()].rstrip()) else None
        operator = before[0]
        if operator in _LEVEL and operand:
            around = min(around, _LEVEL[operator] if _LEVEL[operator] < 12 else 99)
        elif operator in "-!~*&":
            around = min(around, 1)
    return text[:start] + (f"({expression})" if own >= around else expression) + text[end:]


def calls(text: str, name: str) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """Where a function is called, from the last to the first: start, end, template arguments, arguments."""
    for match in reversed(list(re.finditer(rf"(?<![\w.:>]){re.escape(name)}(?=[<(])", text))):
        at, template = match.end(), []
        if text[at] == "<":
            end = end_of(text, at)
            template, at = parts(text[at + 1 : end - 1]), end
        if text[at : at + 1] == "(":
            end = end_of(text, at)
            yield match.start(), end, template, parts(text[at + 1 : end - 1])


def substituted(text: str, values: dict[str, str]) -> str:
    """Names replaced by expressions, but not members of that name."""
    for name, value in values.items():
        for match in reversed(list(re.finditer(rf"(?<![\w.])(?<!->){re.escape(name)}\b(?!\w)", text))):
            text = put(text, match.start(), match.end(), value)
    return text


def rewritten(text: str, name: str, write: Callable[[list[str], list[str]], str | None]) -> str:
    """The text with calls name<...>(...) written in another way; None: as it is."""
    limit = len(text)
    while call := next((one for one in calls(text, name) if one[0] < limit), None):
        limit, end, template, arguments = call
        if (new := write(template, arguments)) is not None:
            text = put(text, limit, end, new)
    return text


def top(text: str, stops: str) -> int:
    """Where one of the characters comes first, outside of brackets."""
    i = 0
    while i < len(text) and text[i] not in stops:
        i = end_of(text, i) if text[i] in "([{" else i + 1
    return i


def statement(text: str, at: int) -> tuple[str, int]:
    """The statement that begins there, and its end."""
    if text[at] == "{":
        return text[at : (end := end_of(text, at))], end
    if match := re.compile(r"(?:if|for|while) (?:constexpr )?\(").match(text, at):
        end = statement(text, re.compile(r"\s*").match(text, end_of(text, match.end() - 1)).end())[1]  # type: ignore[union-attr]
        if rest := re.compile(r"\s*else\s+").match(text, end):
            end = statement(text, rest.end())[1]
        return text[at:end], end
    end = at + top(text[at:], ";") + 1
    return text[at:end], end
