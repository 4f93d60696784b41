"""The source of kernels, and the headers that it includes, as a C++ compiler for the host takes them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .._installed import HEADERS
from . import ptx
from .cuda_source import read, with_shared_memory

_INCLUDE = re.compile(r'(^[ \t]*#[ \t]*include[ \t]*|\b__has_include[ \t]*\([ \t]*)("[^"\n]+"|<[^>\n]+>)', re.M)
#: Options with a folder of headers: for `#include "..."` only, and for both forms.
_FOLDERS = ("-iquote", "-I", "-isystem", "-idirafter")


class Header(NamedTuple):
    """A file as a source includes it."""

    path: Path
    text: str
    includes: dict[str, Path]  #: what its lines `#include` name: `"parts.cuh"`, `<lib.h>`; those that are found


def headers(text: str, folder: Path | None, flags: Iterable[str] = (), angled: bool = True) -> list[Header]:
    """The files that a source includes, and those that these include, from the source's folder and from folders of the
    flags; first the source itself. Without ``angled``, only those in quotes."""
    quoting: list[Path] = []
    both = [*([folder] if folder else []), HEADERS]
    words = list(flags)
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if option := next((option for option in _FOLDERS if word.startswith(option)), None):
            to = quoting if option == "-iquote" else both
            to.append(Path(word.removeprefix(option) or following))
    both += [Path(path) for path in os.environ.get("CPATH", "").split(os.pathsep) if path]
    ours = Path("/") if folder is None else folder
    found = {ours: Header(ours, text, {})}
    waiting = [(found[ours], folder)]
    while waiting:
        header, where = waiting.pop()
        for line in _INCLUDE.finditer(header.text):
            written = line[2]
            in_quotes = written.startswith('"')
            if not in_quotes and not angled:
                continue
            path = _find(written[1:-1], [*([where] if where else []), *quoting, *both] if in_quotes else both)
            if path is None:
                continue
            real = Path(os.path.realpath(path))
            if real not in found:
                try:
                    found[real] = Header(real, read(real), {})
                except OSError:  # the compiler cannot read it either, and says so
                    continue
                waiting.append((found[real], path.parent))
            header.includes[written] = real
    return list(found.values())


def _find(name: str, folders: list[Path]) -> Path | None:
    """The first file of that name; None if it is the package's own, or if it is in none of these folders."""
    path = next((folder / name for folder in folders if os.path.isfile(folder / name)), None)
    return None if path is None or path.is_relative_to(HEADERS) else path


def rewritten(text: str, folder: Path | None, flags: Iterable[str]) -> tuple[str, dict[str, str], list[str]]:
    """The source, copies of those headers that must change, by their names, and options for the compiler.

    A copy is needed of a header that has an asm or dynamic shared memory, and of one that includes such a header. Its
    lines keep the numbers, and the name, of the original's.
    """
    source, *others = headers(text, folder, flags)
    everything = "\n".join(header.text for header in (source, *others))
    own = {header.path: with_shared_memory(ptx.translated(header.text)) for header in (source, *others)}
    changed = {header.path for header in others if own[header.path] != header.text}
    while more := {h.path for h in others if h.path not in changed and changed & {*h.includes.values()}}:
        changed |= more
    copies = {path: f"cudakern_{number}.cuh" for number, path in enumerate(sorted(changed))}

    def lines(header: Header, is_copy: bool) -> str:
        def line(match: re.Match[str]) -> str:
            path = header.includes.get(match[2])
            if path is None or not (path in copies or (is_copy and match[2].startswith('"'))):
                return match[0]
            return f'{match[1]}"{copies.get(path, path)}"'

        return _INCLUDE.sub(line, own[header.path])

    files = {copies[h.path]: f"#line 1 {_string(h.path)}\n{lines(h, True)}" for h in others if h.path in copies}
    options = ["-include", "emulator/device_dynamic.h"] if "__shared__" in everything else []
    if ptx.has_asm(everything):
        options += ["-include", "emulator/device_ptx.h", *(["-DEMULATOR_PTX_HALF"] if "f16" in everything else [])]
    return lines(source, False), files, options


def _string(path: Path) -> str:
    """A path as a string of C++."""
    return '"' + re.sub(r'(["\\])', r"\\\1", str(path)) + '"'
