"""What compilers report of kernels where there is no GPU: ptxas of NVRTC or nvcc; and the host's compiler, which knows
the sizes of shared variables."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from .._errors import CompileError
from .._installed import KERNELS, SOURCES
from . import cache, compilers, dependencies, nvrtc, sets, shared
from .compilers import Names, Unit


class Report(NamedTuple):
    """The text of ``ptxas -v``, and which compiler it is of."""

    compiler: str  #: "NVRTC 13.0", "nvcc 13.0.88"; "": there is no report
    text: str = ""
    symbols: dict[str, str] = {}  #: the linker's names of kernels
    why: str = ""  #: there is none


@functools.cache
def nvcc() -> Path | None:
    """The compiler of a toolkit or of NVIDIA's wheels, if one is installed."""
    named = [Path(path)] if (path := shutil.which("nvcc")) else []
    return next((path for path in (*named, *(root / "bin/nvcc" for root in nvrtc.roots())) if path.is_file()), None)


@functools.cache
def _nvcc_version() -> str:
    output = subprocess.run([str(nvcc()), "--version"], capture_output=True, text=True).stdout
    return f"nvcc {''.join(re.findall(r'V([0-9.]+)', output)[:1])}"


def of_program(unit: Unit, names: Names) -> Report:
    """Of the kernels of a program."""
    unit, why = unit._replace(chip=unit.arch), "neither NVRTC nor nvcc is installed"
    try:
        symbols, text = compilers.reported(unit, names)
        return Report(f"NVRTC {'.'.join(nvrtc.version())}", text, symbols)
    except nvrtc.NotFoundError:
        pass
    except (CompileError, RuntimeError) as error:
        why = f"NVRTC does not compile it: {_first_error(str(error))}"
    if nvcc() is None:
        return Report("", why=why)
    macros, flags = compilers.macros(unit.flags)
    # Their addresses, so that these templates are compiled, too.
    uses = "\n".join(f"static auto ck_used_{i} = &{name};" for i, name in enumerate(names.wanted) if "<" in name)
    folder = [f"-I{unit.folder}"] if unit.folder else []
    text = f"{macros}#line 1\n{unit.text}\n{uses}\n"
    try:
        return Report(_nvcc_version(), _by_nvcc(text, unit.name, unit.arch, [*folder, *flags]))
    except CompileError as error:
        return Report("", why=f"nvcc does not compile it: {error}")


def of_package(operation: str, variant: str, capability: int) -> Report:
    """Of the package's own kernels that a variant launches, and of others of their files."""
    if nvcc() is None:
        return Report("", why="nvcc is not installed")
    options = [f"-I{folder}" for folder in (SOURCES / "gpu", KERNELS, SOURCES)]
    try:
        texts = [
            _by_nvcc(unit.text, Path(unit.name).name, 10 * capability, options)
            for unit in sets.needed(operation, variant)
        ]
    except CompileError as error:
        return Report("", why=f"nvcc does not compile it: {error}")
    return Report(_nvcc_version(), "\n".join(texts))


def _by_nvcc(text: str, name: str, arch: int, options: list[str]) -> str:
    """ptxas's report. CompileError with the first error."""
    target = f"sm_{arch // 10}{'a' * (arch >= 900)}"
    line = [str(nvcc()), "-std=c++17", f"-arch={target}", "-cubin", "-Xptxas=-v", *options]
    line += ["-MD", "-MF", compilers.READ, "-x", "cu", name, "-o", compilers.RESULT]

    def build(folder: Path, _: dependencies.Reachable) -> cache.Built:
        (folder / name).write_text(text, encoding="utf-8")
        ran = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace")
        output = ran.stderr + ran.stdout
        if ran.returncode:
            raise CompileError(_first_error(output), output)
        return output.encode(), dependencies.listed(folder / compilers.READ)

    key = cache.key(line, text, _nvcc_version(), dependencies.environment())
    return compilers.kept(key, ".txt", lambda: dependencies.NO_FILES, build)[1].decode()


def _first_error(log: str) -> str:
    lines = [line for line in log.splitlines() if "error" in line] or log.splitlines() or ["no message"]
    return lines[0].strip()


# --- shared variables, of the host's compiler -------------------------------------------------------------------------
def static_shared(library: Path, symbol: str, source: str, code: str) -> int:
    """Bytes of the shared variables of a kernel of a library, and of the functions that it calls.

    A variable's linker name begins with its function's. Of a template's instances, the one with the numbers that the
    kernel names counts, else the largest.
    """
    prefix = f"_ZZ{symbol.removeprefix('_Z')}E"
    variables = dict(shared.thread_locals(library.read_bytes()))
    total = sum(size for name, size in variables.items() if name.startswith(prefix))
    of_functions: dict[tuple[str, str], list[tuple[str, int]]] = {}  # by function and variable: instances
    for name, size in variables.items():
        function = shared.function_of(name)
        if function and function != shared.function_of(prefix):  # other instances of a kernel are others
            of_functions.setdefault((function, name.rpartition("E")[2]), []).append((name, size))
    text = _with_called(source, code)
    words = set(re.findall(r"\w+", text))
    for (function, _), instances in of_functions.items():
        if function in words:
            numbers = re.findall(rf"\b{function}\s*<([\d\s,]+)>", text)
            marks = ["".join(f"L{{}}{int(n)}E" for n in some.split(",")) for some in numbers]
            named = [size for name, size in instances if any(m in re.sub(r"L[a-z]", "L{}", name) for m in marks)]
            total += max(named or [size for _, size in instances])
    return total


def _with_called(source: str, code: str) -> str:
    """The code, and that of the functions of the source that it calls, at once or by way of others."""
    bodies: dict[str, list[str]] = {}
    for match in re.finditer(r"\b(\w+)\s*\([^;{}]*\)\s*\{", source):
        bodies.setdefault(match[1], []).append(source[match.end() : _end(source, match.end())])
    texts, waiting = [], [code]
    while waiting:
        texts.append(waiting.pop())
        for word in set(re.findall(r"\w+", texts[-1])) & bodies.keys():
            waiting += bodies.pop(word)
    return "\n".join(texts)


def _end(text: str, start: int) -> int:
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return match.start()
    return len(text)
