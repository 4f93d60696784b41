"""The source of kernels, and the headers that it includes, as a C++ compiler for the host takes them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from .._installed import HEADERS
from . import ptx
from .cuda_source import with_shared_memory
from .dependencies import INCLUDE, Header, follow

#: Options with a folder of headers: for `#include "..."` only, and for both forms.
_FOLDERS = ("-iquote", "-I", "-isystem", "-idirafter")


def folders(folder: Path | None, flags: Iterable[str] = ()) -> tuple[list[Path], list[Path]]:
    """The folders in which a source includes files: those for names in quotes, and those for both forms."""
    quoting: list[Path] = []
    both = [*([folder] if folder else []), HEADERS]
    words = list(flags)
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if option := next((option for option in _FOLDERS if word.startswith(option)), None):
            to = quoting if option == "-iquote" else both
            to.append(Path(word.removeprefix(option) or following))
    return quoting, both + [Path(path) for path in os.environ.get("CPATH", "").split(os.pathsep) if path]


def rewritten(text: str, folder: Path | None, flags: Iterable[str]) -> tuple[str, dict[str, str], list[str]]:
    """The source, copies of those headers that must change, by their names, and options for the compiler.

    A copy is needed of a header that has an asm or dynamic shared memory, and of one that includes such a header. Its
    lines keep the numbers, and the name, of the original's.
    """
    source = Header("", str(folder) if folder else None, text, {})
    _, *others = follow([source], folders(folder, flags))
    everything = "\n".join(header.text for header in (source, *others))
    own = {header.path: with_shared_memory(ptx.translated(header.text)) for header in (source, *others)}

    def included(header: Header, written: str) -> str:
        """The file of that name in a header, if it is one of the others; else ""."""
        path = os.path.realpath(next(filter(os.path.isfile, header.includes.get(written, ())), ""))
        return path if path in own else ""

    includes = {header.path: {included(header, written) for written in header.includes} for header in others}
    changed = {header.path for header in others if own[header.path] != header.text}
    while more := {path for path in includes if path not in changed and changed & includes[path]}:
        changed |= more
    copies = {path: f"cudakern_{number}.cuh" for number, path in enumerate(sorted(changed))}

    def lines(header: Header, is_copy: bool) -> str:
        def line(match: re.Match[str]) -> str:
            path = included(header, match[2])
            may_change = path in copies or (path and is_copy and match[2].startswith('"'))
            return f'{match[1]}"{copies.get(path, path)}"' if may_change and "_next" not in match[1] else match[0]

        return INCLUDE.sub(line, own[header.path])

    files = {copies[h.path]: f"#line 1 {_string(h.path)}\n{lines(h, True)}" for h in others if h.path in copies}
    options = ["-include", "emulator/device_dynamic.h"] if "__shared__" in everything else []
    if ptx.has_asm(everything):
        options += ["-include", "emulator/device_ptx.h", *(["-DEMULATOR_PTX_HALF"] if "f16" in everything else [])]
    return lines(source, False), files, options


def _string(path: str) -> str:
    """A path as a string of C++."""
    return '"' + re.sub(r'(["\\])', r"\\\1", path) + '"'
