"""The files on which a compiled program depends: those that its sources include, and those that they would include if
these existed.

A compiler that lists what it read (`-MD`) says more, except about files that do not exist. NVRTC has no such list.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .. import _driver
from .._installed import HEADERS
from .cuda_source import read

#: Variables of the environment that compilers read: of folders of headers, and of the rest.
_FOLDERS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_ENVIRONMENT = (*_FOLDERS, "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS")

_COMMENT = r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_SPACE = rf"(?:[ \t\r\f\v]|{_COMMENT})*"
#: `#include "x"`, `#include <x>`, `__has_include(<x>)`; also in comments, and where the preprocessor removes it.
INCLUDE = re.compile(rf'(include(?:_next)?{_SPACE}\(?{_SPACE})("[^"\n]+"|<[^>\n]+>)')
#: `#include NAME`, whose file only a preprocessor knows.
_COMPUTED = re.compile(
    rf'(?:^|\*/){_SPACE}(?:#|%:){_SPACE}include(?:_next)?\b(?!{_SPACE}["<])|__has_include(?:_next)?{_SPACE}\({_SPACE}\w',
    re.M,
)


class Reachable(NamedTuple):
    """What sources may include."""

    paths: list[str]  #: wherever a compiler may look, of files and of none
    computed: bool  #: an `#include NAME` may include yet another file


NO_FILES = Reachable([], False)


class Header(NamedTuple):
    """A file as a source includes it, or the source itself."""

    path: str  #: "" of a source
    folder: str | None  #: where a compiler looks first for what it includes in quotes
    text: str
    includes: dict[str, list[str]]  #: of each `"parts.cuh"` or `<lib.h>`, where a compiler may look for it


#: For names in quotes, and for both forms.
Folders = tuple[Iterable[str | Path], Iterable[str | Path]]


def follow(files: list[Header], folders: Folders, every: bool = False) -> list[Header]:
    """Adds the files that these include, and that those include: of each name the first file in the folders, or
    ``every`` one. The package's own headers are left out."""
    quoting, both = folders
    known: set[str] = set()
    for header in files:
        beside = [] if header.folder is None else [header.folder]
        for _, written in INCLUDE.findall(_whole_lines(header.text)):
            places = [*beside, *quoting, *both] if written[0] == '"' else both
            paths = header.includes[written] = [os.path.join(place, written[1:-1]) for place in places]
            for path in list(filter(os.path.isfile, paths))[: None if every else 1]:
                real = os.path.realpath(path)
                if real not in known and not Path(real).is_relative_to(HEADERS):
                    known.add(real)
                    with contextlib.suppress(OSError):  # a compiler cannot read it either
                        files.append(Header(real, os.path.dirname(path), read(Path(path)), {}))
    return files


def quoting(folder: Path | None) -> list[Path]:
    """The folders in which a source of that folder includes files in quotes, as far as its flags do not name others."""
    named = [Path(path) for path in os.environ.get("CPATH", "").split(os.pathsep) if path]
    return [*([folder] if folder else []), *named]


def _whole_lines(text: str) -> str:
    """Without the ends of lines that a backslash continues."""
    return re.sub(r"\\[ \t]*\r?\n", "", text)


def environment() -> list[str]:
    """The variables of the environment on which a compiler's result depends."""
    return [f"{name}={os.environ[name]}" for name in _ENVIRONMENT if name in os.environ]


def _words(flags: Iterable[str]) -> set[str]:
    """The parts of options that may be paths: "inc" of -Iinc, -I=inc, -isysteminc, @inc and -Wp,-Iinc."""
    pieces = {piece for flag in flags for piece in re.split("[=,@]", flag)}
    return {word for piece in pieces for word in (piece, piece[2:], re.sub("^--?[a-z-]+", "", piece)) if word}


def _is_folder(word: str) -> bool:
    """Or may become one."""
    return os.path.isdir(word) or (os.path.isabs(word) and not os.path.exists(word))


def reachable(
    text: str, flags: Iterable[str], first: Iterable[Path], here: str | None = None, known: Iterable[Path] = ()
) -> Reachable:
    """What a source includes from the folders ``first``, of the flags and of the environment, and in quotes from its
    own, ``here``; and what these files include, whatever the preprocessor removes. Folders in those ``known`` are left
    out."""
    words, known = _words(flags), tuple(known)
    # A folder that does not exist yet may come before another one later.
    folders = [*map(str, first), *sorted(filter(_is_folder, words))]
    folders += [folder for name in _FOLDERS for folder in os.environ.get(name, "").split(os.pathsep) if folder]
    folders = [folder for folder in folders if not any(Path(folder).resolve().is_relative_to(path) for path in known)]
    named = [word for word in words if any(os.path.isfile(os.path.join(folder, word)) for folder in ("", *folders))]
    headers = [Header("", here, text, {}), Header("", "", "".join(f'include "{word}"' for word in named), {})]
    follow(headers, ((), folders), every=True)
    paths = dict.fromkeys(path for header in headers for paths in header.includes.values() for path in paths)
    return Reachable(list(paths), any(_COMPUTED.search(_whole_lines(header.text)) for header in headers))


def listed(rule: Path, here: Path | None = None) -> list[str] | None:
    """The files in a rule that a compiler, which ran ``here`` or in the rule's folder, wrote by `-MD`; without those in
    that folder. None if there is no rule."""
    try:
        text = rule.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return None
    ours = os.path.join(rule.parent, "")
    paths = [os.path.join(here or ours, name) for name in _driver.listed(text)]
    return [path for path in paths if not os.path.normpath(path).startswith(ours)]
