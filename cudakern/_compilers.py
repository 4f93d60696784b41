"""Compiles sources of kernels into sets, with a cache on disk that processes share.

A set's file is named after everything that it depends on: source, kernels, flags, compiler and the package's headers.
It is written under another name first, so no process ever sees half a file.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from . import _nvrtc, _ptx, emulator
from ._cuda_source import with_shared_pointers
from ._installed import HEADERS, KERNELS, LIBRARY
from ._memory_limit import read_bytes
from ._native import Native, Set

CACHE, LIMIT = "CUDAKERN_CACHE", "CUDAKERN_CACHE_LIMIT"
#: The file to which the lines that list kernels and variables belong, in compilers' messages.
_LIST = "cudakern_list"
_MACROS = "cudakern_flags"  #: the file of the caller's -D
#: The set's header comes first, because macros of a source (`#define N 1024`) would break it.
_FLAGS = ["-include", "set.cuh", "-D__CUDACC__", "-D__NVCC__", "-g1", "-fdiagnostics-color=never"]
_ERROR = re.compile(r"^[^\s:][^:\n]*:\d+:\d+: (?:fatal )?error", re.M)
_ERROR_IN_LIST = re.compile(rf"^{_LIST}:\d+:\d+: (?:fatal )?error", re.M)
_UNKNOWN = re.compile(
    rf"^{_LIST}:(\d+):\d+: error: (?:.* was not declared|.* is not a member|use of undeclared|no member)", re.M
)
#: What g++ and NVRTC, NVRTC alone, and clang say of a name that stands for several functions.
_SEVERAL = ("overloaded function", "which instance of function template", "no overload of '")
#: The line of an error in the list, and its text; NVRTC's form is the second.
_LINE_IN_LIST = re.compile(rf"^{_LIST}[:(](\d+)[:)][\d: ]*(?:fatal )?error", re.M)
_REASON = re.compile(rf"^{_LIST}[:(]\d+[:)][\d: ]*(?:fatal )?error: (.*)", re.M)
#: Where the text of an error begins, and where something else follows it.
_START = re.compile(r"^(?=\S[^\n]*?: (?:fatal |catastrophic )?error: )", re.M)
_END = re.compile(
    r"^(?=\S[^\n]*: (?:note|warning)\b|In file included|compilation terminated|Remark: |"
    r"\d+ (?:catastrophic )?errors? (?:detected|generated)|__nv_)",
    re.M,
)
_UNKNOWN_TO_NVRTC = re.compile(
    rf"^{_LIST}\((\d+)\): error: (?:identifier .* is undefined|name followed by|.* has no member)", re.M
)
#: A line of C++ that stands for an asm, after the error's head; compilers mark places in it on the next lines.
_OF_ASM = re.compile(
    r'^(\S+?:(\d+):\d+: (?:fatal )?error: .*\n(?: *\d+ \| )?) *(?:\S.*)?(?:_Pragma\("GCC error|emu_ptx|\bemu_\d).*\n'
    r"(?: *(?:\|.*|[\^~ ]+)\n)*",
    re.M,
)
#: An emulator's header that refuses to be included: by which line, and why. All other errors follow from that.
_REFUSED = re.compile(
    r'^In file included from ([^\s:]+:\d+)\b.*\n(?: .*\n)*\S+: error: (?:#error )?"?(the emulator has no .*?)"?$', re.M
)
_SHOWN_ERRORS = 5


#: Macros of the caller's flags that headers are to see: those of compilers and libraries.
_FOR_HEADERS = re.compile("_|NDEBUG$")


class CompileError(RuntimeError):
    """A source of kernels could not be compiled; ``log`` is the compiler's whole output."""

    def __init__(self, message: str = "", log: str = "") -> None:
        super().__init__(message)
        self.log = log

    def _render_traceback_(self) -> list[str]:
        """In notebooks, the message is the whole display: the error is in the kernel, not in Python."""
        return [f"{type(self).__name__}: {self}"]


class Unit(NamedTuple):
    """A source to compile."""

    text: str
    name: str  #: in the compiler's messages
    folder: Path | None  #: of the file, for `#include "..."`
    flags: tuple[str, ...]
    arch: int  #: the value of __CUDA_ARCH__: 900
    chip: int  #: the same of the device


class Names(NamedTuple):
    """What a set is to list."""

    wanted: tuple[str, ...]  #: kernels that a caller has named: "scale<float>"
    source_kernels: tuple[str, ...]  #: that the source declares
    variables: tuple[str, ...]  #: the same

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.source_kernels, *self.wanted)))

    def without(self, unknown: set[str], unit: Unit, log: str) -> Names:
        """Without those that the compiler does not know, because the preprocessor removed them; else CompileError."""
        reason = match[1] if (match := _REASON.search(log)) else ""
        if missing := unknown & {*self.wanted}:
            raise CompileError(f"{unit.name} has no kernel {sorted(missing)[0]}{reason and ': '}{reason}", log)
        unreadable = self.on_lines(_LINE_IN_LIST.findall(log)) & {*self.kernels}
        if not unknown and unreadable:
            name = sorted(unreadable)[0]
            if any(words in log for words in _SEVERAL):
                raise CompileError(
                    f"{unit.name}: {name} stands for several kernels: give each a name of its own, and name all "
                    "arguments of a template",
                    log,
                )
            raise CompileError(
                f"{unit.name}: the signature of {name} cannot be read ({reason}). A kernel must have a name of its "
                "own, and parameters that can be copied byte by byte",
                log,
            )
        if not unknown or not unknown <= {*self.source_kernels, *self.variables}:
            raise CompileError(_message(unit, log), log)
        known = (tuple(n for n in names if n not in unknown) for names in (self.source_kernels, self.variables))
        return Names(self.wanted, *known)

    def listed(self, text: str, before: tuple[str, str], kernel: str, variable: str, end: str) -> str:
        """The source followed by the two lists. Each item has a line of its own, which compilers name in messages."""
        kernels, variables = map(kernel.format, self.kernels), map(variable.format, self.variables)
        lines = [text, before[0], f'#line 1 "{_LIST}"', *kernels, "{}};", before[1], *variables, "{}};", end, ""]
        return "\n".join(lines)

    def on_lines(self, lines: Iterable[str]) -> set[str]:
        """The names on these lines of the lists; "" for any other line."""
        names = dict(enumerate([*self.kernels, "", "", *self.variables], 1))
        return {names.get(int(line), "") for line in lines}


def _macros(flags: Iterable[str]) -> tuple[str, list[str]]:
    """The caller's -D and -U as text for after the package's headers, in which names such as N have other meanings; and
    the other flags."""
    lines, others = "", []
    words = iter(flags)
    for word in words:
        option, text = word[:2], word[2:]
        if option not in ("-D", "-U"):
            others.append(word)
            continue
        text = text or next(words, "")
        name, equals, value = text.partition("=")
        if _FOR_HEADERS.match(name):
            others.append(option + text)
        else:
            lines += f"#define {name} {value if equals else 1}\n" if option == "-D" else f"#undef {name}\n"
    return lines, others


def for_emulator(native: Native, unit: Unit, names: Names, device: int) -> Set:
    """The set of these kernels and variables, compiled by the host's compiler into a shared library."""
    compiler = _compiler()
    command = [*compiler, *_FLAGS, f"-D__CUDA_ARCH__={unit.arch}", *([f"-I{unit.folder}"] if unit.folder else [])]
    macros, flags = _macros(unit.flags)
    options = [*emulator.compile_flags(shlex.join(compiler)), f"-idirafter{KERNELS}", *flags]
    paths = included(unit.text, unit.folder)
    texts = {
        os.path.relpath(path, unit.folder or ""): path.read_text(encoding="utf-8", errors="replace") for path in paths
    }
    everything = "\n".join([unit.text, *texts.values()])
    if _ptx.has_asm(everything):
        options += ["-include", "device_ptx.h", *(["-DEMULATOR_PTX_HALF"] if "f16" in everything else [])]
    text = with_shared_pointers(_ptx.translated(unit.text))
    files = {name: with_shared_pointers(_ptx.translated(of)) for name, of in texts.items()}
    files = {name: of for name, of in files.items() if of != texts[name]}
    if macros:
        files[_MACROS] = macros
        options += ["-include", _MACROS]
    before = (
        "static const ck_set_kernel ck_kernels_of_the_set[] = {",
        "static const ck_set_variable ck_variables_of_the_set[] = {",
    )
    while True:
        whole = names.listed(text, before, "CK_KERNEL({}),", "CK_VARIABLE({}),", "CK_SET_TABLE")
        path = cache() / f"{_key(whole, [*command, *options, macros], unit)}.so"
        if not _in_use(path):
            log = _run(command, options, {**files, unit.name: whole}, unit.name, path)
            if log is not None:
                unknown = names.on_lines(_UNKNOWN.findall(log))
                if len(_ERROR.findall(log)) > len(_ERROR_IN_LIST.findall(log)):
                    raise CompileError(_message(unit, log), log)
                names = names.without(unknown, unit, log)
                continue
            _prune(path)
        try:
            return native.load_set(str(path))
        except ValueError as error:
            symbol = re.search(r"undefined symbol: (\S+)", str(error))
            if symbol is None:
                raise
            path.unlink(missing_ok=True)
            raise CompileError(_undefined(unit, symbol[1])) from None


def _undefined(unit: Unit, symbol: str) -> str:
    """The message for a linker's name, as C++ writes it if c++filt is there."""
    with contextlib.suppress(OSError):
        symbol = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip() or symbol
    return f"{unit.name} uses {symbol}, which it declares and does not define"


_loaded: dict[tuple[str, str], Set] = {}


def for_gpu(native: Native, unit: Unit, names: Names, device: int) -> Set:
    """The same, compiled by NVRTC into code for the device."""
    code = "sm" if unit.arch == unit.chip else "compute"  # for another chip: PTX, which the driver translates
    exact = "a" * (unit.arch == unit.chip >= 900)
    options = ["--std=c++17", "-lineinfo", "-D__NVCC__", f"--gpu-architecture={code}_{unit.arch // 10}{exact}"]
    options += [f"--include-path={path}" for path in (unit.folder, KERNELS, KERNELS.parent / "gpu") if path]
    macros, flags = _macros(unit.flags)
    options += [f"--include-path={path}" for path in _nvrtc.headers()] + flags
    before = (
        'extern "C" __device__ ck_described_kernel ck_described_kernels[] = {',
        'extern "C" __device__ ck_variable_type ck_described_variables[] = {',
    )
    text = f'#include "parameters.cuh"\n{macros}#line 1\n{unit.text}'
    while True:
        whole = names.listed(text, before, "ck_signature<decltype(&{})>::of,", "ck_variable_of<decltype({})>(),", "")
        path = cache() / f"{_key(whole, [*_nvrtc.version(), *options], unit)}.cubin"
        if not _in_use(path):
            linkers, image, log = _nvrtc.compile(whole, unit.name, options, names.kernels, names.variables)
            if image is None:
                unknown = names.on_lines(_UNKNOWN_TO_NVRTC.findall(log))
                names = names.without(unknown, unit, log)
                continue
            _write(path, json.dumps(linkers).encode() + b"\n" + image)
            _prune(path)
        head, _, image = path.read_bytes().partition(b"\n")
        linkers = json.loads(head)
        kernels, variables = (tuple((n, linkers[n]) for n in some) for some in (names.kernels, names.variables))
        key = (native.backend_name(), str(path))
        if key not in _loaded:  # a program stays loaded
            _loaded[key] = native.load_program(str(path), image, kernels, variables, device)
        return _loaded[key]


#: By backend.
COMPILERS = {"emulator": for_emulator, "cuda": for_gpu}


@functools.cache
def _compiler() -> list[str]:
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    for name in ("g++", "c++", "clang++"):
        if path := shutil.which(name):
            return [path]
    raise CompileError(
        "compiling for the emulator needs a C++ compiler, and neither g++ nor c++ nor clang++ is installed. Install "
        "one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; conda: conda install gxx), or set CXX"
    )


def _run(command: list[str], options: list[str], files: dict[str, str], name: str, path: Path) -> str | None:
    """Compiles one of the files, which may include the others, to that path; the compiler's output if it fails."""
    with _space(path), tempfile.TemporaryDirectory(dir=path.parent, prefix="compiling-") as folder:
        for file, text in files.items():
            if not file.startswith(".."):
                (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / file).write_text(text, encoding="utf-8")
        line = [*command, "-x", "c++", name, "-o", "out.so", *options]
        try:
            run = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace")
        except OSError as error:
            raise CompileError(f"the C++ compiler {command[0]!r} cannot be run: {error.strerror or error}") from None
        if run.returncode:
            if full := re.search("No space left on device|Disk quota exceeded", run.stderr):
                raise OSError(0, full[0])
            return run.stderr + run.stdout or f"{command[0]} ended with status {run.returncode}"
        (Path(folder) / "out.so").replace(path)
    return None


@contextlib.contextmanager
def _space(path: Path) -> Iterator[None]:
    """CompileError if the cache cannot be written."""
    try:
        yield
    except OSError as error:
        raise CompileError(
            f"the compiled program cannot be written to {path.parent}: {error.strerror}. Make room there (and in "
            f"{tempfile.gettempdir()}), or name another folder in {CACHE}"
        ) from None


def _write(path: Path, content: bytes) -> None:
    with _space(path), tempfile.TemporaryDirectory(dir=path.parent, prefix="compiling-") as folder:
        part = Path(folder) / path.name
        part.write_bytes(content)
        part.replace(path)


def _message(unit: Unit, log: str) -> str:
    """The compiler's first errors, with the lines of the source."""
    if symbol := re.search(r"Unresolved extern function '(\S+)'", log):
        return _undefined(unit, symbol[1])
    if refused := _REFUSED.search(log):
        return f"{refused[1]}: {refused[2]}"
    log = re.sub(r"^([^\s(:]+)\((\d+)\): ", r"\1:\2: ", log, flags=re.M)  # NVRTC's form
    log = re.sub(rf"^(?:In file included from <command-line>.*|{_LIST}: In .*)\n", "", log, flags=re.M)
    lines = unit.text.splitlines()  # instead of the C++ that stands for an asm
    log = _OF_ASM.sub(lambda m: f"{m[1]}{lines[int(m[2]) - 1]}\n" if m[0].startswith(f"{unit.name}:") else m[0], log)
    log = re.sub(rf"^{_LIST}:\d+:(?:\d+:)? ", f"{unit.name}:{unit.text.count(chr(10)) + 1}:1: ", log, flags=re.M)
    parts = [part for part in _START.split(log)[1:] if not part.startswith("__nv_")]
    if not parts:
        return f"{unit.name} was not compiled:\n{log.strip()}"
    errors = [_END.split(part)[0] for part in parts]
    more = len(errors) - _SHOWN_ERRORS
    shown = [error.rstrip() for error in errors[:_SHOWN_ERRORS]]
    shown += [f"... and {more} more error{'s' * (more > 1)}; the whole output is in .log"] if more > 0 else []
    return "\n".join([f"{unit.name} was not compiled:", *shown])


# --- the cache -------------------------------------------------------------------------------------------------------
@functools.cache
def _headers() -> str:
    """A hash of the headers that come with the package, and the version of its library."""
    digest = hashlib.sha256(str(LIBRARY).encode())
    for path in sorted([*HEADERS.rglob("*.*h"), *KERNELS.glob("*.*h")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _key(text: str, command: list[str], unit: Unit) -> str:
    digest = hashlib.sha256("\0".join([text, unit.name, *command, _headers()]).encode())
    program = shutil.which(command[0])
    if program:
        status = os.stat(program)
        digest.update(f"{os.path.realpath(program)} {status.st_mtime_ns} {status.st_size}".encode())
    for path in included(unit.text, unit.folder):
        digest.update(str(path).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:40]


def included(text: str, folder: Path | None) -> list[Path]:
    """The files that a source includes in quotes, and those that these include."""
    if folder is None:
        return []
    files: dict[Path, None] = {}
    waiting = [(text, folder)]
    while waiting:
        text, where = waiting.pop()
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', text, re.M):
            path = next((p for p in (where / name, folder / name) if p.is_file()), None)
            if path is not None and path not in files:
                files[path] = None
                waiting.append((path.read_text(encoding="utf-8", errors="replace"), path.parent))
    return list(files)


@functools.cache
def cache() -> Path:
    """The folder of compiled sets: $CUDAKERN_CACHE, else cudakern/ in the user's cache; a temporary one if that cannot
    be written."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(os.environ.get(CACHE) or os.path.join(home, "cudakern"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        if os.environ.get(CACHE):
            raise ValueError(f"{CACHE}={str(folder)!r} cannot be written: {error.strerror}") from None
    return Path(_temporary().name)


@functools.cache
def _temporary() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="cudakern-")


def _in_use(path: Path) -> bool:
    """True if the file exists; its time is then that of its last use."""
    with contextlib.suppress(PermissionError):  # of another user
        try:
            os.utime(path)
        except FileNotFoundError:
            return False
    return path.exists()


def _limit() -> int:
    return read_bytes(os.environ.get(LIMIT, "256M"), LIMIT)


def _prune(keep: Path) -> None:
    """Deletes the files that were not used for longest, until the cache is within its limit."""
    limit, files = _limit(), []
    for path in (*keep.parent.glob("*.so"), *keep.parent.glob("*.cubin")):
        with contextlib.suppress(OSError):  # another process deleted it
            status = path.stat()
            files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= limit:
            return
        if path != keep:
            with contextlib.suppress(OSError):
                path.unlink()
            total -= size
