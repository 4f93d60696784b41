"""Compiles and links whole programs.

request --> each source: translated and compiled, an object in the cache --> linked with the core --> a program
"""

from __future__ import annotations

import functools
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .. import _driver
from .._errors import CompileError
from .._installed import HEADERS, LIBRARY, SOURCES
from ..own import cache, compilers, dependencies, messages, reports, shared
from ..own.compilers import Job, RejectedError
from ..own.cuda_source import read
from .options import Request

#: Standards of C++ older than that of the headers for kernels, which takes their place.
_OLD = re.compile(r"-std=(c|gnu)\+\+(98|03|0x|11|1y|14)")
#: As nvcc includes it before a source, and what it defines.
_OF_CUDA = ["-include", "cuda_runtime.h", *compilers.OF_NVCC, "-D__CUDACC_RDC__", "-DEMULATOR_PROGRAM"]


def program(request: Request, mode: str = "plain") -> Path:
    """The file of the program, or of the shared library, in the cache."""
    objects = [file if not request.language_of(file) else unit(request, file, mode) for file in request.files]
    return linked(request, objects, mode)


def unit(request: Request, file: Path, mode: str = "plain") -> Path:
    """The object of a source, in the cache."""
    cxx, here = compilers.compiler(), Path.cwd()
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file")
    text = read(file)
    job = _job(cxx, request, file, mode)
    of_compiler = compilers.identity(cxx), dependencies.environment()
    seen = [str(here), str(file), text, *of_compiler, compilers.TRANSLATOR, job]
    may_read = functools.partial(dependencies.reachable, text, request.host, [file.parent])

    def build(folder: Path, _: dependencies.Reachable) -> cache.Built:
        try:
            is_cuda = request.language_of(file) == "cu"
            line, log = job.compile({}, folder, here) if is_cuda else _plain(job, folder, here)
        except RejectedError as rejected:
            log = messages.readable(str(rejected))
            raise CompileError(f"{file} was not compiled:\n{_first(log)}", log) from None
        sys.stderr.write(messages.readable(log))
        built = compilers.result(line, log, folder, compilers.OBJECT_KIND, here)
        if why := shared.too_large(built[0]):
            log = f"{file}: error: {why}\n"
            raise CompileError(f"{file} was not compiled:\n{log}", log)
        return built

    return compilers.kept(cache.key(*seen), ".o", may_read, build)[0]


def _job(cxx: list[str], request: Request, file: Path, mode: str) -> Job:
    command = shlex.join(cxx)
    language = request.language_of(file)
    if language != "cu":
        own = ["-x", language, f"-I{HEADERS}", "-fPIC", "-O2", "-g1"]
        return Job(cxx, "plain", str(file), [], [*own, *request.host, "-c"])
    host = ["-std=gnu++17", *(option for option in request.host if not _OLD.fullmatch(option))]
    # (Of DWARF 5, binutils 2.40 takes the first function of a header for one of the source.)
    quiet = ["-gdwarf-4", "-g1", "-w", "-Wno-narrowing", "-Wno-register", "-x", "none"]
    options = [*_driver.unit_options(command, SOURCES, mode), *quiet, *host, "-c"]
    if not _driver.is_clang(command):
        options.insert(0, "-fno-semantic-interposition")
    before = [*_OF_CUDA, f"-D__CUDA_ARCH__={request.arch}"]
    return Job(cxx, mode, str(file), before, options, True)


def _plain(job: Job, folder: Path, here: Path) -> tuple[list[str], str]:
    """Compiles C or C++, which needs no translation."""
    line = [*job.cxx, *job.options, job.source, "-o", str(folder / compilers.RESULT)]
    line += ["-MD", "-MF", str(folder / compilers.READ)]
    return line, compilers.execute(line, {}, folder, here)


def preprocessed(request: Request, file: Path, output: Path | None, more: Sequence[str]) -> int:
    """What the preprocessor makes of a source, such as a list of the files that it reads: its exit status."""
    job = _job(compilers.compiler(), request, file, "plain")
    language = {"cu": "c++"}.get(request.language_of(file), request.language_of(file))
    options = [option for option in job.options if option not in ("-c", "-x", "none", "c++", "c")]
    to = ["-o", str(output)] if output else []
    return subprocess.run([*job.cxx, *job.before, *options, "-x", language, str(file), *to, *more]).returncode


def linked(request: Request, objects: list[Path], mode: str = "plain") -> Path:
    """The program of these objects, in the cache."""
    cxx, here = compilers.compiler(), Path.cwd()
    kind = "shared" if request.kind == "shared" else "program"
    of_host = [
        option for option in request.host if option.startswith(("-f", "-g", "-m", "-O", "-pthread", "-static-lib"))
    ]
    contents = [_digest(path) for path in objects] + _libraries(request.linker)
    start = _start(cxx, _interpreter(shlex.join(cxx))) if kind == "program" else []

    def line(kind: str, result: str) -> list[str]:
        files = [*map(str, objects), *(start if kind == "program" else [])]
        own = [*_driver.program_link(kind, LIBRARY, mode), *compilers.reporting(cxx, mode)]
        return [*cxx, "-o", result, *files, *of_host, *request.linker, *own]

    def build(folder: Path, _: dependencies.Reachable) -> cache.Built:
        # Names of libraries and folders are the caller's, from where the caller is.
        result = str(folder / compilers.RESULT)
        try:
            try:
                log = compilers.execute(line(kind, result), {}, folder, here)
            except RejectedError as rejected:
                if kind != "program" or "recompile with -fPIC" not in str(rejected):
                    raise
                log = compilers.execute(line("ordinary", result), {}, folder, here)
        except RejectedError as rejected:
            sources = list(zip(objects, request.files, strict=True))
            log = messages.of_linker(str(rejected), sources)
            raise CompileError(f"the program was not linked:\n{_first(log)}", log) from None
        return compilers.result(line(kind, result), log, folder, compilers.LIBRARY_KIND)[0], ()

    key = cache.key(line(kind, compilers.RESULT), contents, str(here), compilers.identity(cxx))
    return compilers.kept(key, ".so", lambda: dependencies.NO_FILES, build)[0]


def by_nvcc(request: Request) -> Path:
    """The program for the GPU, in the cache."""
    if (nvcc := reports.nvcc()) is None:
        advice = "install the CUDA toolkit, or run the program on the emulator: --backend emulator"
        raise CompileError(f"a GPU's programs need nvcc, which was not found: {advice}")
    here = Path.cwd()
    texts = [read(file) for file in request.files if request.language_of(file)]
    chip = [] if {"-arch", "-gencode"} & {*request.words} else ["-arch=native"]
    line = [str(nvcc), "-o", compilers.RESULT, *chip, *map(str, request.files), *request.words]

    def build(folder: Path, _: dependencies.Reachable) -> cache.Built:
        placed = [str(folder / compilers.RESULT) if word == compilers.RESULT else word for word in line]
        try:
            sys.stderr.write(compilers.execute(placed, {}, folder, here))
        except RejectedError as rejected:
            log = str(rejected)
            raise CompileError(f"nvcc did not compile the program:\n{_first(log)}", log) from None
        return (folder / compilers.RESULT).read_bytes(), None  # nvcc's list of what it read is one per source

    folders = [file.parent for file in request.files]
    may_read = functools.partial(dependencies.reachable, "\n".join(texts), request.host, folders)
    return compilers.kept(cache.key(line, texts, str(here)), ".so", may_read, build)[0]


def _libraries(words: Sequence[str]) -> list[str]:
    """What is known of the libraries in folders that are named."""
    folders = [word[2:] for word in words if word.startswith("-L")]
    names = [word[2:] for word in words if word.startswith("-l")]
    paths = [Path(folder, f"lib{name}{end}") for folder in folders for name in names for end in (".so", ".a")]
    return [f"{path} {_digest(path)}" for path in paths if path.is_file()]


def _digest(path: Path) -> str:
    status = path.stat()
    return f"{status.st_mtime_ns} {status.st_size}" if path.suffix != ".o" or "cudakern" not in str(path) else path.name


def _start(cxx: list[str], interpreter: str) -> list[str]:
    """The objects with which a program begins: the C library's, and start.cpp."""
    begin = subprocess.run([*cxx, "-print-file-name=Scrt1.o"], capture_output=True, text=True).stdout.strip()
    options = [*_driver.unit_options(shlex.join(cxx), SOURCES), f'-DEMULATOR_INTERPRETER="{interpreter}"']
    line = [*cxx, *options, "-c", str(SOURCES / "emulator/program/start.cpp"), "-o", compilers.RESULT]
    line += ["-MD", "-MF", compilers.READ]
    key = cache.key(line, compilers.identity(cxx), dependencies.environment())
    build = functools.partial(compilers.run, line, {}, kind=compilers.OBJECT_KIND)
    return [begin, str(compilers.kept(key, ".o", lambda: dependencies.NO_FILES, build)[0])]


@functools.cache
def _interpreter(command: str) -> str:
    """The loader of programs, as the compiler's own programs name it."""
    line = [*shlex.split(command), "-###", "-x", "c", "/dev/null"]
    commands = subprocess.run(line, capture_output=True, text=True).stderr
    match = re.search(r"-dynamic-linker\"? \"?([^\s\"]+)", commands)
    named = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
    return match[1] if match else named[platform.machine()]


def _first(log: str, lines: int = 20) -> str:
    """The beginning of compilers' messages."""
    every = log.splitlines()
    return "\n".join([*every[:lines], *(["... (the whole output is in .log)"] if len(every) > lines else [])])


def copied(program: Path, output: Path, executable: bool = True) -> None:
    """Copies a file of the cache to where the caller wants it."""
    output.unlink(missing_ok=True)
    shutil.copyfile(program, output)
    if executable:
        output.chmod(0o755)
