"""run: a whole CUDA program, compiled and run; and the commands `cudakern run` and `cudakern cc`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._backend import backend
from ..own.compilers import compiler
from . import build, options, toolkit, watched
from .options import Request


@dataclass(frozen=True)
class Finished:
    """What a program did."""

    exit_code: int  #: negative: the number of the signal that ended it
    output: str  #: what it wrote to standard output
    errors: str  #: and to standard error


def run(
    path: str | os.PathLike[str],
    *args: object,
    flags: Iterable[str] = (),
    input: str = "",
    timeout: float | None = None,
) -> Finished:
    """Compile a CUDA program, and run it.

    Parameters
    ----------
    path : str or path
        The source, with a ``main``: ``vecadd.cu``.
    *args
        The program's own arguments.
    flags : iterable of str, optional
        Options of nvcc, and further sources: ``["-O3", "-DN=100", "kernels.cu"]``.
    input : str, optional
        What it reads from standard input.
    timeout : float, optional
        Seconds after which it is ended.

    Returns
    -------
    Finished
        ``exit_code``, ``output`` and ``errors``.

    Raises
    ------
    CompileError
        With the compiler's messages.
    FileNotFoundError, ValueError
        For a missing file, or an option that is unknown.
    subprocess.TimeoutExpired
        If the time is over.

    Notes
    -----
    On a GPU, nvcc compiles it; without one, the package's emulator runs it (see docs/programs.md).

    Examples
    --------
    >>> import cudakern, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "hello.cu")
    >>> _ = path.write_text(r'''
    ... #include <stdio.h>
    ... __global__ void hello() { printf("Hello from thread %d\\n", threadIdx.x); }
    ... int main() { hello<<<1, 2>>>(); return cudaDeviceSynchronize(); }''')
    >>> print(cudakern.run(path).output, end="")
    Hello from thread 0
    Hello from thread 1
    """
    request = options.parsed([os.fspath(path), *flags])
    program = _program(request)
    words = [os.fspath(program), *map(str, args)]
    done = subprocess.run(words, input=input, capture_output=True, text=True, errors="replace", timeout=timeout)
    return Finished(done.returncode, done.stdout, done.stderr)


def _program(request: Request, mode: str = "plain") -> Path:
    """The program for the backend, which can be executed."""
    program = _by_nvcc(request) if not backend().emulated else build.program(request, mode)
    program.chmod(0o700)
    return program


# --- commands ---------------------------------------------------------------------------------------------------------
def command_run(words: Sequence[str]) -> int:
    """`cudakern run [options] program.cu [arguments]`: does not return if the program could be started."""
    ours, theirs = _split(words)
    modes = {"--check": "checked", "--trace": "traced"}
    mode = next((modes[word] for word in ours if word in modes), "plain")
    request = options.parsed(word for word in ours if word not in modes)
    if not request.files:
        raise ValueError("run needs a program: cudakern run [options] program.cu [arguments]")
    _warn(request)
    program, name = _program(request, mode), str(request.files[0].with_suffix(""))
    sys.stdout.flush()
    if mode == "plain":
        os.execv(program, [name, *theirs])
    os.execv(sys.executable, watched.command(program, mode, name, theirs))


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options and sources, and the program's own arguments: those after ``--``, or after the first source."""
    if "--" in words:
        at = list(words).index("--")
        return list(words[:at]), list(words[at + 1 :])
    kinds = options.CUDA | options.CXX | options.C
    for i, word in enumerate(words):
        if (
            Path(word).suffix in kinds
            and not word.startswith("-")
            and (i == 0 or words[i - 1] not in ("-o", "-include"))
        ):
            return list(words[: i + 1]), list(words[i + 1 :])
    return list(words), []


def command_cc(words: Sequence[str]) -> int:
    """`cudakern cc`: compiles as nvcc does, for the emulator."""
    request = options.parsed(words)
    if request.version:
        print(_VERSION)
        return 0
    if request.verbose or request.dry:
        sys.stderr.write(toolkit.described(words, request.arch))
    if not request.files:
        raise ValueError("cc needs a source: cudakern cc program.cu -o program")
    if request.dry:
        return 0
    _warn(request)
    sources = [file for file in request.files if request.language_of(file)]
    if request.kind == "preprocess":
        sys.stdout.flush()
        return max(build.preprocessed(request, file, request.output, [request.preprocessor]) for file in sources)
    if request.kind == "compile":
        for file in sources:
            _object(request, file)
        return 0
    if request.kind == "device_link":
        return _empty_object(request)
    if request.kind == "library":
        objects = [str(build.unit(request, file) if file in sources else file) for file in request.files]
        return subprocess.run(["ar", "rcs", str(request.output or "a.a"), *objects]).returncode
    build.copied(build.program(request), request.output or Path("a.out"))
    if request.run:
        return subprocess.run([os.path.abspath(request.output or "a.out")]).returncode
    return 0


_VERSION = """nvcc: NVIDIA (R) Cuda compiler driver
(cudakern cc, in its place: programs run on the emulator)
Cuda compilation tools, release 13.0, V13.0.0"""


def _object(request: Request, file: Path) -> None:
    output = request.output or (request.folder or Path()) / f"{file.stem}.o"
    build.copied(build.unit(request, file), output, executable=False)
    if request.dependencies:
        _dependencies(request, file, output)


def _dependencies(request: Request, file: Path, output: Path) -> None:
    """Writes which files a source reads, for make."""
    words = [word for word in request.dependencies if word not in ("-MD", "-MMD")]
    words += [] if "-MT" in words else ["-MT", str(output)]
    words += [] if "-MF" in words else ["-MF", str(output.with_suffix(".d"))]
    build.preprocessed(request, file, None, ["-MM" if "-MMD" in request.dependencies else "-M", *words])


def _empty_object(request: Request) -> int:
    """What nvcc links device code into: there is none."""
    line = [*compiler(), "-x", "c++", "-c", "/dev/null", "-o", str(request.output or "a_dlink.o")]
    return subprocess.run(line).returncode


def _warn(request: Request) -> None:
    if request.ignored:
        names = ", ".join(dict.fromkeys(request.ignored))
        print(f"cudakern: without effect on the emulator: {names}", file=sys.stderr)


def _by_nvcc(request: Request) -> Path:
    raise NotImplementedError
