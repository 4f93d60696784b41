"""run: a whole CUDA program, compiled and run; and the commands `cudakern run` and `cudakern cc`."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._backend import backend, use_backend
from .._errors import CompileError, short_in_notebooks
from ..own.compilers import compiler
from . import build, options, toolkit
from .options import OptionError, Request

if TYPE_CHECKING:
    from ..insight.counters import Trace
    from ..insight.findings import Findings


#: 1: programs are checked, too.
_CHECK = "CUDAKERN_CHECK"


@dataclass(frozen=True)
class Finished:
    """What a program did."""

    exit_code: int  #: negative: the number of the signal that ended it
    output: str  #: what it wrote to standard output
    errors: str  #: and to standard error
    findings: Findings | None = None  #: with ``check=True``
    trace: Trace | None = None  #: with ``trace=True``

    def __str__(self) -> str:
        """What a terminal would show, and how it ended."""
        ends = f"(exit code {self.exit_code})\n" if self.exit_code else ""
        reports = (f"{one}\n" for one in (self.findings, self.trace) if one is not None)
        return "".join([self.output, self.errors, *reports, ends])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self).rstrip("\n"))


@short_in_notebooks
def run(
    path: str | os.PathLike[str],
    *args: object,
    flags: Iterable[str] = (),
    input: str = "",
    timeout: float | None = None,
    check: bool = False,
    trace: bool = False,
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
    check, trace : bool, optional
        Find what is wrong in its kernels, as ``check`` does, or count as ``trace`` does; on the emulator.

    Returns
    -------
    Finished
        ``exit_code``, ``output`` and ``errors``, and ``findings`` or ``trace``.

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
    On a GPU, nvcc compiles it; without one, the package's emulator runs it: see docs/programs.md.

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
    if check and trace:
        raise ValueError("run: a program is either checked or traced: pass check=True or trace=True, not both")
    mode = "checked" if check else "traced" if trace else "plain"
    return finished(options.parsed([os.fspath(path), *flags]), Path(path).stem, args, mode, input, timeout)


def finished(
    request: Request, name: str, args: Iterable[object], mode: str, input: str = "", timeout: float | None = None
) -> Finished:
    """The same, of what was read of the options."""
    program, mode = _program(request, mode)
    words, environment = [os.fspath(program), *map(str, args)], None
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report")
        if mode != "plain":
            words, environment = _watched(program, mode, name, words[1:], os.fspath(report))
        done = subprocess.run(
            words, input=input, capture_output=True, text=True, errors="replace", timeout=timeout, env=environment
        )
        reported = pickle.loads(report.read_bytes()) if report.exists() else None
    of_mode = {{"checked": "findings", "traced": "trace"}[mode]: reported} if mode != "plain" else {}
    return Finished(done.returncode, done.stdout, done.stderr, **of_mode)


def run_cell(text: str, name: str, flags: list[str], check: bool) -> None:
    """Runs a cell with a ``main``, and shows what it prints, and what a check finds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text, encoding="utf-8")
        request = options.parsed([str(path), *flags, f"-I{Path.cwd()}"])
        try:
            done = finished(request, path.stem, (), "checked" if check and backend().emulated else "plain")
        except CompileError as error:
            raise CompileError(*(text.replace(f"{folder}{os.sep}", "") for text in (str(error), error.log))) from None
    print(done.output, end="")
    print(done.errors.replace(f"{folder}{os.sep}", ""), end="", file=sys.stderr)
    if done.findings:
        print(done.findings)
    if done.exit_code:
        print(f"(exit code {done.exit_code})")


def _watched(
    program: Path, mode: str, name: str, arguments: Sequence[str], report: str = "", found_code: int = 0
) -> tuple[list[str], dict[str, str]]:
    """The command that runs a program with a tool, and its environment; ``report``: where the tool's is kept, for
    another process; ``found_code``: the exit code if a program that ends well has findings."""
    command = [sys.executable, "-m", "cudakern.programs.watched", mode, str(program), report, str(found_code), name]
    return [*command, *arguments], {**os.environ, _CHECK: "0"}  # 1 would begin the checks of Python's launches there


def _asks_for_check() -> bool:
    """Whether CUDAKERN_CHECK does."""
    if _CHECK not in os.environ:
        return False
    from ..insight.defaults import asked  # loaded only if needed

    return bool(asked())


def _program(request: Request, mode: str) -> tuple[Path, str]:
    """The program for the backend, which can be executed, and its mode: CUDAKERN_CHECK=1 checks it as well."""
    on_gpu = mode == "plain" and not backend().emulated
    if mode == "plain" and _asks_for_check():
        if on_gpu:
            print(f"cudakern: {_CHECK}=1 checks nothing on a GPU: use --backend emulator", file=sys.stderr)
        else:
            mode = "checked"
    program = build.by_nvcc(request) if on_gpu else build.program(request, mode)
    program.chmod(0o700)
    return program, mode


# --- commands ---------------------------------------------------------------------------------------------------------
def command_run(words: Sequence[str]) -> int:
    """`cudakern run [options] program.cu [arguments]`, or `cudakern run sources and options [-- arguments]`: does not
    return if the program could be started."""
    ours, theirs = _split(words)
    ours, found_code = _without_exit_code(ours)
    modes = {"--check": "checked", "--trace": "traced"}
    if {*modes} <= {*ours}:
        raise ValueError("run: a program is either checked or traced: write --check or --trace, not both")
    mode = next((modes[word] for word in ours if word in modes), "plain")
    named = next((ours[i + 1] for i, word in enumerate(ours[:-1]) if word == "--backend"), None)
    ours = [word for word, before in zip(ours, ["", *ours], strict=False) if "--backend" not in (word, before)]
    with use_backend(named) if named else contextlib.nullcontext():
        try:
            request = options.parsed(word for word in ours if word not in modes)
            if not request.files:
                raise ValueError("run needs a program: cudakern run [options] program.cu [arguments]")
            _warn(request)
            program, mode = _program(request, mode)
        except (CompileError, OptionError, FileNotFoundError) as error:
            what, colon, first = str(error).partition(":\n")
            error.args = (f"{what}{_on_arguments(error, words, theirs)}{colon}{first}",)
            raise
    name = str(request.files[0].with_suffix(""))
    sys.stdout.flush()
    if mode == "plain":
        os.execv(program, [name, *theirs])
    os.execve(sys.executable, *_watched(program, mode, name, theirs, found_code=found_code))


def _on_arguments(error: Exception, words: Sequence[str], theirs: list[str]) -> str:
    """Advice, if sources may have been taken for the program's own arguments, or these for sources."""
    log = getattr(error, "log", "")
    if "--" in words:
        return ""
    if not theirs and sum(map(is_source, words)) > 1:
        is_of_another = not log or "multiple definition of `main'" in log
        return "; the program's own arguments come after --" if is_of_another else ""
    is_incomplete = re.search("undefined reference|no source defines the function main", log)
    if is_incomplete and any(is_source(word) and Path(word).is_file() for word in theirs):
        command = shlex.join(["cudakern", "run", *words, "--"])
        return f": what follows the source are the program's own arguments, unless -- comes after them: {command}"
    return ""


def _without_exit_code(ours: list[str]) -> tuple[list[str], int]:
    """The options without ``--error-exitcode N``, and N; 0: there is none."""
    at = next((i for i, word in enumerate(ours) if re.match(r"--error-exitcode(?:=|$)", word)), None)
    if at is None:
        return ours, 0
    _, equals, code = ours[at].partition("=")
    code = code if equals else "".join(ours[at + 1 : at + 2])
    if not code.isdecimal() or not 0 < int(code) < 256 or not ("--check" in ours or _asks_for_check()):
        raise ValueError("run: --error-exitcode needs a number from 1 to 255, and --check")
    return ours[:at] + ours[at + 2 - len(equals) :], int(code)


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options and sources, and the program's own arguments: those after ``--``, or after a source that no other one
    follows."""
    words = list(words)
    if "--" in words:
        at = words.index("--")
        return words[:at], words[at + 1 :]
    before = zip(["", *words], words, strict=False)
    sources = [is_source(word) and option not in ("-o", "-include") for option, word in before]
    end = sources.index(True) + 1 if any(sources) else len(words)
    return (words, []) if any(sources[end : end + 1]) else (words[:end], words[end:])


def is_source(word: str) -> bool:
    """Whether a word on the command line names a source."""
    return not word.startswith("-") and Path(word).suffix in options.CUDA | options.CXX | options.C


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


_VERSION = f"""nvcc: NVIDIA (R) Cuda compiler driver
(cudakern cc, in its place: programs run on the emulator)
Cuda compilation tools, release {toolkit.VERSION}, V{toolkit.VERSION}.0"""


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
