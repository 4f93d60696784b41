"""The layout of lines whose statements have become shorter."""

from __future__ import annotations

import re

from .reading import end_of

WIDTH = 100


def formatted(text: str) -> str:
    """Statements that rules made shorter are in one line again."""
    lines: list[str] = []
    for line in text.split("\n"):
        joined = f"{lines[-1]} {line.strip()}" if lines else ""
        joined = re.sub(r"([(\[]) ", r"\1", joined)
        if lines and line.strip() and _goes_on(lines[-1]) and not line.lstrip().startswith("//"):
            lines[-1] = joined
        else:
            lines.append(line.rstrip())
    return "\n".join(part for line in lines for part in _wrapped(line))


def _goes_on(line: str) -> bool:
    code = re.sub(r"//.*", "", line).rstrip()
    if not code or "//" in line or code.lstrip().startswith("#") or code.startswith("template"):
        return False
    if code.endswith("{"):
        return False
    return not re.search(r"[;{}:]$|\belse$|^\s*(?:else )?(?:if|for|while) \(.*\)$", code) or code.count(
        "("
    ) > code.count(")")


def _wrapped(line: str, indent: str = "") -> list[str]:
    if len(line) <= WIDTH or "//" in line:
        return [line]
    indent = indent or " " * (len(line) - len(line.lstrip()) + 8)
    if head := re.match(r" *(?:else )?(?:if|for|while) (?=\()", line):
        end = end_of(line, head.end())
        if end < WIDTH and line[end:].strip() != "{":
            return [line[:end], *_wrapped(indent[4:] + line[end:].lstrip())]
    cuts, depth = [], 0
    for match in re.finditer(
        r"[([{]|[])}]|(?<=\w)<(?=\w)|(?<=[\w>])>(?=[\w:>( ])|, |(?<=[^<]) [-+*&|?:=]+ |; ", line[:WIDTH]
    ):
        token = match[0]
        depth += (token in "([{<") - (token in ")]}>") if len(token) == 1 else 0
        if len(token) > 1 and match.end() > len(indent):
            cuts.append((depth, token not in (", ", "; ") or match.end() < WIDTH // 2, -match.end()))
    if not cuts:
        return [line]
    cut = -min(cuts)[2]
    return [line[:cut].rstrip(), *_wrapped(indent + line[cut:], indent)]
