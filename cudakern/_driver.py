"""How kernels are compiled for the emulator: by which compiler, with which options, from which files.

setup.py, ``compile``, ``emulator.compile_flags`` and the tests ask this file. What they add concerns messages, or the
package alone. setup.py loads it before the package and its requirements are there, so it needs the standard library
alone.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

#: What the code of a set's mode is like. In "checked", it reports its loads and stores to functions of REPORTING
#: (csrc/emulator/checker), and CUDA's functions report themselves. -fno-tree-sra: the access to a float4 stays one. In
#: "traced", each block of code does so, too, and lies in the order of the source: csrc/emulator/counters/branches.c.
_REPORTING = [
    "-O1",
    "-DEMULATOR_REPORTS",
    "-fsanitize=thread",
    "-fsanitize=bounds,alignment",
    "-fno-builtin-memset",
    "-U_FORTIFY_SOURCE",
    "-fno-optimize-sibling-calls",
    "-fno-omit-frame-pointer",
]
MODES: Mapping[str, list[str]] = {
    "plain": ["-O2"],
    "checked": [*_REPORTING, "-fno-builtin-memcpy"],  # g++ copies sizes that it knows without a report
    "traced": [*_REPORTING, "-fsanitize-coverage=trace-pc"],
}
#: Variables without a value: clang may take any, so that `int x; if (t == 0) x = f();` calls f() in all threads.
_OF_ALL_CLANG = ["-ftrivial-auto-var-init=pattern"]
_CLANG_REPORTING = ["-mllvm", "-tsan-instrument-read-before-write", "-mllvm", "-tsan-distinguish-volatile"]
_OF_CLANG = {"checked": _CLANG_REPORTING, "traced": _CLANG_REPORTING}
#: Functions that g++ would replace by additions.
_CALLED = [f"-fno-builtin-{name}{kind}" for name in ("floor", "ceil", "rint", "round") for kind in ("", "f")]
_GCC_REPORTING = [
    "-fno-tree-sra",
    "-fno-thread-jumps",
    "--param=tsan-distinguish-volatile=1",
    "--param=tsan-instrument-func-entry-exit=0",
]
_OF_GCC = {"checked": _GCC_REPORTING, "traced": [*_GCC_REPORTING, "-fno-reorder-blocks", "-fno-math-errno", *_CALLED]}
#: a file of the sources, by mode
REPORTING: Mapping[str, str] = dict.fromkeys(("checked", "traced"), "emulator/checker/callbacks.cpp")

#: For the kernels of the package besides: only what is marked is visible. Psabi: arguments passed as vectors.
OF_PACKAGE = ["-fvisibility=hidden", "-Wno-psabi"]
CXX = ("g++", "c++", "clang++")  #: in this order, if the environment's CXX names none


# --- compilers and options --------------------------------------------------------------------------------------------
def find(variable: str, *names: str) -> list[str] | None:
    """The command of a compiler: the environment's, else the first that is installed. ValueError if the environment's
    cannot be read."""
    if named := os.environ.get(variable, "").strip():
        return shlex.split(named)
    return next(([path] for name in names if (path := shutil.which(name))), None)


@functools.cache
def version(compiler: str) -> str:
    """What the compiler says of itself; "" if it cannot be run."""
    try:
        answer = subprocess.run([*shlex.split(compiler), "--version"], capture_output=True, text=True, timeout=10)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return answer.stdout


def is_clang(compiler: str) -> bool:
    """Also of a compiler that is on another computer, whose name has to do."""
    return "clang" in (version(compiler) or compiler)


def options(compiler: str, mode: str = "plain") -> list[str]:
    """The options for the kernels of a set."""
    # Without -fno-gnu-unique, libraries built by g++ would share the __shared__ variables of equal templates. clang
    # rejects it, and makes none such.
    unique = [] if is_clang(compiler) else ["-fno-gnu-unique"]
    # -ffp-contract=off: without it g++ fuses multiply and add where it likes, and results depend on the compiler.
    # `#pragma unroll` is nvcc's.
    own = [*_OF_ALL_CLANG, *_OF_CLANG.get(mode, [])] if is_clang(compiler) else _OF_GCC.get(mode, [])
    code = [*MODES[mode], *own, "-fPIC", "-pthread", *unique, "-ffp-contract=off"]
    return ["-std=c++17", "-x", "c++", *code, "-Wno-unknown-pragmas"]


def users_options(compiler: str, sources: Path, library: Path, mode: str = "plain") -> list[str]:
    """The same for a shared library of a user's kernels, with the headers, and with the core that it is linked to."""
    return [*unit_options(compiler, sources, mode), "-shared", _wrapped(_HEAP), *core(library), *libraries(mode)]


def unit_options(compiler: str, sources: Path, mode: str = "plain") -> list[str]:
    """The options for a user's source, with the headers."""
    # malloc and new in kernels: see device_memory.h. new may return NULL there.
    heap = ["-DEMULATOR_HEAP", "-fno-builtin-malloc", "-fno-builtin-free", "-fcheck-new"]
    # -fstack-clash-protection: a large frame must not leap over the guard page of its stack.
    return [*options(compiler, mode), "-fstack-clash-protection", *headers(sources), *heap]


def program_link(kind: str, library: Path, mode: str = "plain") -> list[str]:
    """The options that link a whole program with the core. It is a shared library ("shared") that can be run
    ("program"): in one that cannot, the linker would replace the calls by which the core places a block's variables
    (device_memory.h). "ordinary": with objects that cannot be in a shared library."""
    start = {"shared": ["-shared"], "program": ["-shared", "-Wl,-e,_start"], "ordinary": []}[kind]
    heap = [] if mode in REPORTING else [_wrapped(_HEAP)]
    return [*start, "-Wl,-z,defs", "-pthread", *heap, *core(library), *libraries(mode), "-lm"]


def libraries(mode: str) -> list[str]:
    """The options that keep the compiler's own library for reported accesses out, and let copies report themselves."""
    if mode not in REPORTING:
        return []
    return [_wrapped([*_HEAP, *_COPIES]), "-nodefaultlibs", "-lstdc++", "-lm", "-lgcc_s", "-lc"]


#: Functions that the linker directs to others of ours.
_HEAP = ("malloc", "free", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")
_COPIES = ("memset", "memcpy", "memmove")


def _wrapped(functions: Iterable[str]) -> str:
    return "-Wl," + ",".join(f"--wrap={name}" for name in functions)


def headers(sources: Path) -> list[str]:
    """The options for headers. CUDA's names come first. Our own ones come last, so that they never take the place of a
    user's."""
    last = [f"-idirafter{sources}/{folder}" for folder in ("emulator/seam", "kernels", "")]
    return [f"-I{sources}/emulator/include", *last]


def core(library: Path) -> list[str]:
    """The options that link a library to the emulator's core."""
    # --no-as-needed: some systems' compilers drop a library that precedes the file that needs it.
    return ["-Wl,--no-as-needed", f"-L{library}", "-lcudakern_emulator", f"-Wl,-rpath,{library}"]


# --- files ------------------------------------------------------------------------------------------------------------
class Unit(NamedTuple):
    """A unit of compilation of an operation's kernels."""

    source: Path  #: relative to the folder above that of the kernels
    name: str  #: of the unit: a file's, or one for each of its lines CK_UNIT(...)
    part: str  #: what such a line has in its parentheses; "": the unit is the file

    @property
    def operation(self) -> str:
        return self.source.parts[1]

    @property
    def text(self) -> str:
        """What to compile."""
        include = f'#include "{self.source}"\n'
        if not self.part:
            return include
        before = f"// Written by the build.\n#define CK_UNIT(...)\n{include}"
        return f"{before}namespace {self.operation} {{\n{self.part}\n}}\n"


def units(kernels: Path) -> list[Unit]:
    """The units of all operations below a folder. A file with lines ``CK_UNIT(...)`` is one unit for each of these, so
    that they are compiled in parallel."""
    of_all = []
    for path in sorted(kernels.glob("**/*.cu")):
        whole = Unit(path.relative_to(kernels.parent), path.name, "")
        parts = re.findall(r"^CK_UNIT\((.*)\)$", path.read_text(encoding="utf-8"), re.M)
        names = [f"{whole.operation}_{path.stem}_{number}.cu" for number in range(len(parts))]
        of_all += [whole._replace(name=name, part=part) for name, part in zip(names, parts, strict=True)] or [whole]
    return of_all


def operations(kernels: Path) -> list[str]:
    """The operations are the folders with a file of the folder's name: kernels/NAME/NAME.cu."""
    return sorted(path.stem for path in kernels.glob("*/*.cu") if path.stem == path.parent.name)


def table_of(operations: list[str]) -> str:
    """The text of operations.inc, the list from which kernels/set.cu makes the table of a set."""
    return "// Written by the build.\n" + "".join(f"OPERATION({name})\n" for name in operations)


def listed(rule: str) -> list[str]:
    """The files of a rule that a compiler wrote by `-MD`."""
    files = re.findall(r"(?:\\[ #\\]|\S)+", rule.replace("\\\n", " ").partition(": ")[2])
    return [re.sub(r"\\([ #])", r"\1", file).replace("$$", "$") for file in files]


def distrusted(status: os.stat_result) -> str:
    """Why another user may have written a file or folder; "" if none may have. A program runs as its user."""
    if status.st_uid != os.geteuid():
        return f"belongs to user {status.st_uid}, and this process runs as user {os.geteuid()}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"is writable by other users (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def objects_folder(otherwise: Path) -> Path:
    """Where the build and the tests keep compiled objects: $CUDAKERN_OBJECTS, else a folder in the user's cache; if
    that cannot be used or trusted, ``otherwise``."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(os.environ.get("CUDAKERN_OBJECTS") or Path(caches, "cudakern/objects")).absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not distrusted(folder.stat()) and os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    otherwise.mkdir(parents=True, exist_ok=True)
    return otherwise
