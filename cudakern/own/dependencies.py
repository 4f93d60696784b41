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

#: Variables of the environment that compilers read: of folders of headers, and of the rest.
_FOLDERS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
_ENVIRONMENT = (*_FOLDERS, "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "CCC_OVERRIDE_OPTIONS")

_COMMENT = r"/\*[^*]*\*+(?:[^/*][^*]*\*+)*/"
_SPACE = rf"(?:[ \t\r\f\v]|{_COMMENT})*"
#: `#include "x"`, `#include <x>`, `__has_include(<x>)`; also in comments, and where the preprocessor removes it.
_INCLUDE = re.compile(rf'include(?:_next)?{_SPACE}\(?{_SPACE}(?:"([^"\n]+)"|<([^>\n]+)>)')
#: `#include NAME`, whose file only a preprocessor knows.
_COMPUTED = re.compile(
    rf'(?:^|\*/){_SPACE}(?:#|%:){_SPACE}include(?:_next)?\b(?!{_SPACE}["<])|__has_include(?:_next)?{_SPACE}\({_SPACE}\w',
    re.M,
)


class Reachable(NamedTuple):
    """What sources may include."""

    paths: list[str]  #: wherever a compiler may look, of files and of none
    computed: bool  #: an `#include NAME` may include yet another file


def environment() -> list[str]:
    """The variables of the environment on which a compiler's result depends."""
    return [f"{name}={os.environ[name]}" for name in _ENVIRONMENT if name in os.environ]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


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
    paths: dict[str, None] = {}
    scanned, computed = set(), False
    named = [word for word in words if any(os.path.isfile(os.path.join(folder, word)) for folder in ("", *folders))]
    waiting = [(text, here), ("".join(f'include "{word}"' for word in named), "")]
    while waiting:
        text, here = waiting.pop()
        text = re.sub(r"\\[ \t]*\r?\n", "", text)
        computed = computed or bool(_COMPUTED.search(text))
        for name in {quoted or angled for quoted, angled in _INCLUDE.findall(text)}:
            for folder in dict.fromkeys([*([] if here is None else [here]), *folders]):
                path = os.path.join(folder, name)
                if path not in paths:
                    paths[path] = None
                    where, file = os.path.split(path)
                    same = os.path.join(os.path.realpath(where), file)
                    if same not in scanned and os.path.isfile(path):
                        scanned.add(same)
                        with contextlib.suppress(OSError):  # a compiler cannot read it either
                            waiting.append((_text(Path(path)), where))
    return Reachable(list(paths), computed)


def listed(rule: Path) -> list[str] | None:
    """The files in a rule that a compiler wrote by `-MD`, without those beside the rule; None if there is no rule."""
    try:
        text = _text(rule)
    except FileNotFoundError:
        return None
    ours = os.path.join(rule.parent, "")
    paths = [os.path.join(ours, name) for name in _driver.listed(text)]
    return [path for path in paths if not os.path.normpath(path).startswith(ours)]
