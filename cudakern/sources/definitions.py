"""The definitions of a file: functions, types and constants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .reading import end_of, parts


@dataclass
class Definition:
    """A function, type or constant, with the comment above it."""

    text: str
    comment: str = ""
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.names = tuple(_defined(self.text))

    @property
    def name(self) -> str:
        return self.names[0] if self.names else ""

    @property
    def is_function(self) -> bool:
        _, text = without_template(self.text)
        return bool(re.match(r"(?!struct|enum|using|constexpr \w+ \w+ =)[^={;]*\(", text)) and text.endswith("}")

    def words(self) -> set[str]:
        return set(re.findall(r"[A-Za-z_]\w*", re.sub(r"//[^\n]*", "", self.text)))


def without_template(text: str) -> tuple[list[str], str]:
    """The parameters of a template, and what follows."""
    if not text.startswith("template <"):
        return [], text
    end = end_of(text, text.index("<"))
    return parts(text[text.index("<") + 1 : end - 1]), text[end:].lstrip()


def _defined(text: str) -> Iterable[str]:
    _, text = without_template(
        re.sub(r"__launch_bounds__\(.*?\)\s|alignas\((?:[^()]|\([^()]*\))*\) ?|\[\[.*?\]\] ?", "", text, flags=re.S)
    )
    if match := re.match(r"#define (\w+)", text):
        return [match[1]]
    if match := re.match(r"(?:__constant__ )?(?:struct|enum)(?: struct)? ?(\w*)", text):
        inside = text[text.index("{") + 1 :] if "{" in text else ""
        enumerators = (
            re.findall(r"(\w+)(?: = [^,}]*)?(?=[,}\s])", re.sub(r"//[^\n]*", "", inside.split("}")[0]))
            if "enum" in match[0]
            else []
        )
        after = re.findall(r"\}\s*(\w+);", text)
        return [name for name in (match[1], *enumerators, *after) if name and not name.isdigit()]
    if match := re.match(r"using (\w+)", text):
        return [match[1]]
    head = re.sub(r"<[^<>]*>$", "", re.split(r"[({=\[;]", text)[0])
    if text[len(head) : len(head) + 1] in "([" or "(" not in text:
        return re.findall(r"(\w+)\s*$", head)
    if "constexpr" in head or "=" in text:
        return [re.findall(r"(\w+)\s*$", head)[0], *re.findall(r", (\w+) = ", text)]
    return re.findall(r"(\w+)\s*$", head)


def definitions(text: str) -> list[Definition]:
    """Those at the top of a file, from which comments at the head and namespaces have been removed."""
    found, i, comment = [], 0, ""
    while i < len(text):
        if match := re.compile(r"\s+").match(text, i):
            comment = "" if match[0].count("\n") > 1 else comment
            i = match.end()
        elif match := re.compile(r"//[^\n]*\n?").match(text, i):
            comment, i = comment + match[0], match.end()
        elif match := re.compile(r"#(?:\\\n|[^\n])*").match(text, i):
            if match[0].startswith("#define"):
                found.append(Definition(match[0]))
            i = match.end()
        else:
            j = i
            while True:
                match = re.compile(r"//[^\n]*|[({;<]").search(text, j)
                if match is None:
                    raise ValueError(f"no definition: {text[i : i + 80]!r}")
                if match[0] == ";":
                    j = match.end()
                    break
                if match[0] in "(<{":
                    is_template = match[0] != "<" or re.search(r"template $|\w$", text[: match.start()])
                    j = end_of(text, match.start()) if is_template else match.end()
                    if match[0] == "{" and not re.match(r"\s*(?:\w+)?;", text[j:]):
                        break
                else:
                    j = match.end()
            beside = re.compile(r"[ \t]*//[^\n]*").match(text, j)
            found.append(Definition(text[i:j], comment))
            i, comment = beside.end() if beside else j, ""
    return [
        one
        for one in found
        if not re.match(r"(?:template <.*?>\s*)?inline \w|struct \w+;|using namespace", one.text, re.S)
    ]
