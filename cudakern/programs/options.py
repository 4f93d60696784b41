"""nvcc's command line, as `cudakern cc` understands it: options.txt says what becomes of each option."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import nearest

if TYPE_CHECKING:
    import argparse

#: Of sources: CUDA C++, C++, C; and of what is linked.
CUDA, CXX, C = {".cu"}, {".cpp", ".cc", ".cxx", ".C", ".c++"}, {".c"}
LINKED = {".o", ".a", ".so", ".obj"}
#: Options that g++ takes, besides those in the table.
_OF_HOST = re.compile(r"-(f|W|m|O|std=|pthread|pedantic|rdynamic|pipe|ansi|static-lib|g\d|ggdb).*")
#: Libraries whose functions are in the headers or in the core; and those that the emulator does not have.
OWN = {"cudart", "cudart_static", "cuda", "cudadevrt", "culibos", "cublas", "cublas_static", "cublasLt",
       "cublasLt_static", "curand", "curand_static", "nvToolsExt", "nvtx3"}  # fmt: skip
_ABSENT = {"cufft", "cusolver", "cusparse", "cudnn", "nccl", "nvrtc", "nvjpeg", "npp", "nppc",
           "glut", "GL", "mpi", "cusolverMg", "cutensor", "cufftw", "nvml", "nvidia-ml", "cupti"}  # fmt: skip


#: The value of __CUDA_ARCH__ for the oldest chip of CUDA 13: for older ones, programs define functions anew.
_OLDEST = 750


_OF_RUN_ALONE = ("--check", "--trace", "--backend")
#: What becomes of options that are useful for a program that is run at once.
_OF_RUN = {"host", "each", "linker", "libraries", "arch", "debug", "default_stream", "language", "more"}


class OptionError(ValueError):
    """An option that `cudakern cc` does not take."""


@dataclass
class Request:
    """What a command line asks for."""

    files: list[Path] = field(default_factory=list)  #: sources and what is linked, in their order
    host: list[str] = field(default_factory=list)  #: options for g++
    linker: list[str] = field(default_factory=list)  #: and those for the linker
    dependencies: list[str] = field(default_factory=list)  #: -MD, -MF file
    ignored: list[str] = field(default_factory=list)  #: options that mean nothing here
    words: list[str] = field(default_factory=list)  #: all options for compilers, as they were written
    output: Path | None = None
    folder: Path | None = None
    language: str = ""  #: of the files that follow: "cu", "c++", "c"; "": as their names say
    languages: dict[Path, str] = field(default_factory=dict)
    arch: int = 900  #: the value of __CUDA_ARCH__
    preprocessor: str = "-E"  #: or "-M", "-MM": what it is to write
    kind: str = "program"  #: or "compile", "shared", "library", "preprocess", "device_link"
    run: bool = False
    dry: bool = False
    verbose: bool = False
    version: bool = False

    def language_of(self, file: Path) -> str:
        """ "cu", "c++", "c", or "" of what is only linked."""
        if file in self.languages:
            return self.languages[file]
        suffix = file.suffix
        known = {"cu": CUDA, "c++": CXX, "c": C}
        return next((language for language, suffixes in known.items() if suffix in suffixes), "")


@functools.cache
def _table() -> dict[str, tuple[str, bool, str]]:
    """By each form of an option's name: its usual form, whether it has a value, and what becomes of it."""
    table: dict[str, tuple[str, bool, str]] = {}
    for long, short, value, meaning, _ in _lines():
        for name in (long, short, f"-{long[2:]}", f"--{short[1:]}"):
            table.setdefault(name, (short, bool(value), meaning))
    return table


def _lines() -> Iterator[tuple[str, str, str, str, str]]:
    """Of each option in options.txt, both names, "=" and its value's name, what becomes of it, and its help."""
    for line in Path(__file__).with_name("options.txt").read_text(encoding="utf-8").splitlines():
        words, _, text = line.partition("#")
        if words:
            long, short, *value, meaning = words.split()
            yield long, short, "".join(value), meaning, text.strip()


def add_to_help(parser: argparse._ActionsContainer, is_run: bool) -> None:
    """Adds the common options for --help; ``is_run``: those that make sense for a program that is run at once."""
    for _, name, value, meaning, text in _lines():
        if text and (not is_run or meaning in _OF_RUN):
            if value:
                parser.add_argument(name, metavar=value[1:], help=text)
            else:
                parser.add_argument(name, action="store_true", help=text)


def parsed(words: Iterable[str]) -> Request:
    """What these words ask for; OptionError names an option that cannot be taken."""
    request = Request()
    for name, value, meaning in _options(list(words)):
        _take(request, name, value, meaning)
        if name and meaning not in ("output", "run", "dry", "verbose", "version", "folder"):
            request.words += [name, value] if value else [name]
    for file in request.files:
        if not request.language_of(file) and file.suffix not in LINKED and ".so." not in file.name:
            kinds = ", ".join(sorted(CUDA | CXX | C | LINKED))
            raise OptionError(f"{file}: unknown kind of file: its name must end with one of {kinds}")
    return request


def _options(words: list[str]) -> Iterator[tuple[str, str, str]]:
    """The options, their values, and what becomes of them; files have the name ""."""
    waiting = words[::-1]
    forwards = any(_table().get(word, ("", False, ""))[2] == "forward" for word in words)
    while waiting:
        word = waiting.pop()
        if word.startswith("@"):
            waiting += _of_file(word[1:])
            continue
        if not word.startswith("-") or word == "-":
            yield "", word, "file"
            continue
        name, equals, value = word.partition("=")
        if name in _table():
            short, has_value, meaning = _table()[name]
            if short == "-Werror" and not equals:  # g++'s has none
                yield "-Werror", "", "host"
            elif has_value and not equals:
                if not waiting:
                    raise OptionError(f"{word} needs a value")
                value = waiting.pop()
                if meaning == "more":
                    waiting += _of_file(value)
                else:
                    yield short, value, meaning
            else:
                yield short, value, meaning
        elif len(word) > 2 and word[:2] in ("-D", "-U", "-I", "-L", "-l", "-O", "-o"):
            yield word[:2], word[2:].removeprefix("="), _table()[word[:2]][2]
        elif word.startswith("-Wl,"):
            yield "-Xlinker", word[4:], "linker"
        elif _OF_HOST.fullmatch(word) or forwards:
            yield word, "", "host"
        else:
            if word in _OF_RUN_ALONE:
                raise OptionError(
                    f"{word} belongs to `cudakern run`, which takes sources, too: cudakern run {word} ..."
                )
            near = ", ".join(nearest(word, [*_table(), *_OF_RUN_ALONE])[:3])
            advice = f"did you mean {near}? g++'s own options are passed by -Xcompiler"
            raise OptionError(f"unknown option {word}: {advice}")


def _of_file(name: str) -> list[str]:
    """The words of a file with options, in reverse."""
    return shlex.split(Path(name).read_text(encoding="utf-8"))[::-1]


def _take(request: Request, name: str, value: str, meaning: str) -> None:
    if meaning == "file":
        file = Path(value)
        request.files.append(file)
        if request.language:
            request.languages[file] = request.language
    elif meaning == "refused":
        raise OptionError(f"{name} cannot be had without a GPU's compiler: the emulator's programs are the host's code")
    elif meaning == "nothing":
        request.ignored.append(f"{name}={value}" if value else name)
    elif meaning == "host":
        joined = name in ("-D", "-U", "-I", "-L", "-O")
        separate = name in ("-include", "-isystem")
        to = request.linker if name == "-L" else request.host
        for each in value.split(",") if name in ("-I", "-L", "-isystem", "-include") else [value]:
            to += [name + each] if joined else [name, each] if separate else [f"{name}={each}" if each else name]
    elif meaning == "each":
        request.host += [option.strip("\"'") for option in re.split(r"[,\s]+", value) if option]
    elif meaning == "linker":
        request.linker += [f"-Wl,{value}"]
    elif meaning == "errors":
        request.host += ["-Werror"] * ("all-warnings" in value)
    elif meaning == "libraries":
        for library in value.split(","):
            if library in _ABSENT:
                raise OptionError(
                    f"-l{library}: the emulator does not have this library; docs/programs.md lists what it has"
                )
            if library not in OWN:
                request.linker.append(f"-l{library}")
    elif meaning == "arch":
        if match := re.search(r"(?:sm|compute)_(\d+)", value):
            request.arch = max(10 * int(match[1]), _OLDEST)
    elif meaning == "output":
        request.output = Path(value)
    elif meaning == "folder":
        request.folder = Path(value)
    elif meaning == "language":
        request.language = {"cuda": "cu"}.get(value, value)
    elif meaning == "dependencies":
        request.dependencies += [name, value] if name in ("-MF", "-MT") else [name]
    elif meaning == "debug":
        request.host += ["-g", "-O0"]
    elif meaning == "default_stream":
        request.host += ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"] * (value == "per-thread")
    elif meaning in ("compile", "shared", "library", "preprocess", "device_link"):
        request.kind = meaning
        request.preprocessor = name if meaning == "preprocess" else request.preprocessor
    elif meaning in ("run", "dry", "verbose", "version"):
        setattr(request, meaning, True)
