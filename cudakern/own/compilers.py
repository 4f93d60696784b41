"""Compiles sources of kernels into sets, which cache.py keeps on disk."""

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
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .. import _display, _driver
from .._errors import CompileError
from .._installed import HEADERS, KERNELS, LIBRARY, SOURCES
from .._native import Native, Set
from . import cache, cccl, dependencies, messages, nvrtc, shared

#: The file to which the lines that list kernels and variables belong, in compilers' messages.
_LIST = "cudakern_list"
_MACROS = "cudakern_flags"  #: the file of the caller's -D
#: A compiler's program, the preprocessed source, and the list of the files that were read.
RESULT, TEXT, READ = "cudakern_program", "cudakern_text", "cudakern_read"
#: What nvcc defines.
OF_NVCC = ["-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0",
           "-D__CUDACC_VER_BUILD__=0"]  # fmt: skip
#: The set's header comes first, because macros of a source (`#define N 1024`) would break it.
#: Errors are limited because each shows its line, and a line may be long.
_FLAGS = ["-include", "kernels/set.cuh", '-DCK_BACKEND="emulator"', *OF_NVCC]
_MESSAGES = ["-g1", "-fdiagnostics-color=never", "-fmax-errors=100"]
_ERROR = re.compile(r"^[^\s:][^:\n]*:\d+:\d+: (?:fatal )?error", re.M)
#: The line of an error in the list, and its text: g++'s and clang's form, and NVRTC's.
_ERROR_IN_LIST = re.compile(rf"^{_LIST}[:(](\d+)[:)][\d: ]*(?:fatal )?error: (.*)", re.M)
#: What they say of a name that they do not know.
_UNKNOWN = re.compile(
    r".* (?:was not declared|is not a member|has no member)|use of undeclared|no member|"
    r"identifier .* is undefined|name followed by"
)
#: What g++ and NVRTC, NVRTC alone, and clang say of a name that stands for several functions.
_SEVERAL = ("overloaded function", "which instance of function template", "no overload of '")
#: Where the text of an error begins, and where something else follows it.
_START = re.compile(r"^(?=\S[^\n]*?: (?:fatal |catastrophic )?error: )", re.M)
_END = re.compile(
    r"^(?=\S[^\n]*: (?:note|warning)\b|In file included|compilation terminated|Remark: |"
    r"\d+ (?:catastrophic )?errors? (?:detected|generated)|__nv_)",
    re.M,
)
#: An emulator's header that refuses to be included: by which line, and why. All other errors follow from that.
_REFUSED = re.compile(
    r'^In file included from ([^\s:]+:\d+)\b.*\n(?: .*\n)*\S+: error: (?:#error )?"?(the emulator has no .*?)"?$', re.M
)
_SHOWN_ERRORS = 5
_SHOWN_WIDTH, _LOG_WIDTH = 1000, 10_000  #: characters of a line, in a message and in the log


#: The files that make C++ of CUDA C++: what was made by others is not used again. (They are imported when something is
#: compiled: a program in the cache starts faster.)
_TRANSLATOR = (
    *("translate.py", "columns.py", "messages.py", "rules.py", "cuda_source.py", "waits.py"),
    *("loops.py", "uniform.py", "statements.py", "inlined.py", "ptx.py", "ptx.txt", "cccl.py"),
)
TRANSLATOR = hashlib.sha256(b"".join(Path(__file__).with_name(name).read_bytes() for name in _TRANSLATOR)).hexdigest()
#: Macros of the caller's flags that headers are to see: those of compilers and libraries.
_FOR_HEADERS = re.compile("_|NDEBUG$")


LIBRARY_KIND, OBJECT_KIND = b"\3", b"\1"  #: of ELF files


class RejectedError(Exception):
    """A compiler rejected a source: its output."""


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

    def without_unknown(self, unit: Unit, log: str) -> Names:
        """Without those that the compiler does not know, because the preprocessor removed them; else CompileError."""
        errors = _ERROR_IN_LIST.findall(log)
        reason = errors[0][1] if errors else ""
        unknown = self.on_lines(line for line, text in errors if _UNKNOWN.match(text))
        unreadable = self.on_lines(line for line, _ in errors) & {*self.kernels}
        message = ""
        if len(_ERROR.findall(log)) > len(errors):
            message = _message(unit, log)
        elif missing := unknown & {*self.wanted}:
            message = f"{unit.name} has no kernel {min(missing)}{reason and ': '}{reason}"
        elif unreadable and not unknown:
            name = min(unreadable)
            several = any(words in log for words in _SEVERAL)
            if several and "<" in name:
                must = "name all arguments of the template, a type for each `typename`, and a value for each other"
                message = f"{unit.name} has no kernel {name}: {must} parameter"
            elif several:
                message = f"{unit.name}: {name} stands for several kernels: give each a name of its own"
            else:
                must = "A kernel must have a name of its own, and parameters that can be copied byte by byte"
                message = f"{unit.name}: {name} is no kernel, or its signature cannot be read ({reason}). {must}"
        elif not unknown or not unknown <= {*self.source_kernels, *self.variables}:
            message = _message(unit, log)
        if message:
            raise CompileError(message, log) from None
        known = (tuple(n for n in names if n not in unknown) for names in (self.source_kernels, self.variables))
        return Names(self.wanted, *known)

    def listed(self, text: str, kernels: tuple[str, str], variables: tuple[str, str], end: str = "") -> str:
        """The source followed by the two lists, of which each pair is the head and the form of an item. Each item has a
        line of its own, which compilers name in messages."""
        items = (
            [kernels[1].format(name) for name in self.kernels],
            [variables[1].format(name) for name in self.variables],
        )
        lines = [text, kernels[0], f'#line 1 "{_LIST}"', *items[0], "{}};", variables[0], *items[1], "{}};", end, ""]
        return "\n".join(lines)

    def on_lines(self, lines: Iterable[str]) -> set[str]:
        """The names on these lines of the lists; "" for any other line."""
        names = dict(enumerate([*self.kernels, "", "", *self.variables], 1))
        return {names.get(int(line), "") for line in lines}


def macros(flags: Iterable[str]) -> tuple[str, list[str]]:
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


def reporting(cxx: list[str], mode: str) -> list[str]:
    """The object of functions that the code of a mode calls, if it reports what it does."""
    if mode not in _driver.REPORTING:
        return []
    command = [*cxx, "-std=c++17", "-O2", "-fPIC", f"-DEMULATOR_{mode.upper()}", f"-I{SOURCES}/emulator/include"]
    line = [*command, "-c", str(SOURCES / _driver.REPORTING[mode]), "-o", RESULT, "-MD", "-MF", READ]
    key = cache.key(line, identity(cxx), dependencies.environment())
    build = functools.partial(run, line, {}, kind=OBJECT_KIND)
    return [str(kept(key, ".o", lambda: dependencies.NO_FILES, build)[0])]


def for_emulator(native: Native, unit: Unit, names: Names, device: int, mode: str = "plain") -> Set:
    """The set of these kernels and variables, compiled by the host's compiler into a shared library."""
    cxx = compiler()
    defined, flags = macros(unit.flags)
    before = [*_FLAGS, f"-D__CUDA_ARCH__={unit.arch}", *([f"-I{unit.folder}"] if unit.folder else [])]
    after = ["-x", "none", *flags, *(["-include", _MACROS] if defined else [])]
    options = [*_driver.users_options(shlex.join(cxx), SOURCES, LIBRARY, mode), *_MESSAGES, *after]
    options += reporting(cxx, mode)
    files = {_MACROS: defined} if defined else {}
    kernels = "static const ck_set_kernel ck_kernels_of_the_set[] = {", "CK_KERNEL({}),"
    variables = "static const ck_set_variable ck_variables_of_the_set[] = {", "CK_VARIABLE({}),"
    ours = [unit.folder] if unit.folder else []
    may_read = functools.partial(dependencies.reachable, unit.text, unit.flags, ours)
    while True:
        files[unit.name] = names.listed(unit.text, kernels, variables, "CK_SET_TABLE")
        job = Job(cxx, mode, unit.name, before, options)
        key = cache.key(job, files, identity(cxx), dependencies.environment(), TRANSLATOR)
        try:
            path, _ = kept(key, ".so", may_read, functools.partial(_run_shown, job, dict(files)))
        except RejectedError as rejected:
            names = names.without_unknown(unit, str(rejected))
            continue
        try:
            own = {re.sub("<.*", "", name).split("::")[-1] for name in names.kernels}
            if path.exists() and (why := shared.too_large(path.read_bytes(), own)):
                raise CompileError(f"{unit.name}: {why}")
            return native.load_set(str(path))
        except ValueError as error:
            symbol = re.search(r"undefined symbol: (\S+)", str(error))
            if symbol is None and not path.exists():  # another process deleted it, to keep within the limit
                continue
            if symbol is None:
                raise
            path.unlink(missing_ok=True)
            raise CompileError(_undefined(unit, symbol[1])) from None


class Job(NamedTuple):
    """What is preprocessed, translated and compiled."""

    cxx: list[str]
    mode: str
    source: str  #: the file's name
    before: list[str]  #: options for the preprocessor alone
    options: list[str]
    launches: bool | None = None  #: see translate.translated
    library: str = ""  #: this, too

    def run(self, files: dict[str, str], folder: Path, kind: bytes = LIBRARY_KIND) -> cache.Built:
        """Compiles it in that folder, in which these files are to be."""
        line, log = self.compile(files, folder)
        return result(line, log, folder, kind)

    def compile(self, files: dict[str, str], folder: Path, here: Path | None = None) -> tuple[list[str], str]:
        """The same, in the folder ``here`` as compilers see it: the last command, and all messages. CCCL's headers are
        searched if one of them is missed."""
        try:
            return self._compiled(files, folder, here)
        except RejectedError as rejected:
            header = cccl.needed(str(rejected))
            if not header or self.library:
                raise
        installed = cccl.found()
        if installed is None:
            what = f"{self.source} includes <{header}>, and CCCL (Thrust, CUB and libcu++) is not installed"
            advice = "it comes with CUDA's toolkit, or alone by pip install 'nvidia-cuda-cccl==13.0.*'"
            raise CompileError(f"{what}: {advice}")
        # CUB uses the name of a template for another type in a class, which nvcc accepts.
        before, options = [*cccl.options(installed), *self.before], ["-fpermissive", *self.options]
        job = self._replace(before=before, options=options, library=str(installed))
        return job._compiled(files, folder, here)

    def _compiled(self, files: dict[str, str], folder: Path, here: Path | None) -> tuple[list[str], str]:
        from .translate import translated

        for_ptx, for_half, for_textures = (
            ["-include", "emulator/device_ptx.h"], ["-DEMULATOR_PTX_HALF"], ["-DEMULATOR_TEXTURE_REFERENCES"]
        )  # fmt: skip
        more = [*for_ptx, *for_half] if self.library else []  # a library of PTX needs no second pass
        text_file, log = folder / TEXT, ""
        while True:
            line = [*self.cxx, *self.before, *more, "-DEMULATOR_TRANSLATED", "-E", "-x", "c++", self.source]
            line += [*_for_preprocessor(self.options), "-o", str(text_file), "-MD", "-MF", str(folder / READ)]
            log = execute(line, files, folder, here)
            if not text_file.is_file():
                return line, log
            text = text_file.read_text(encoding="utf-8", errors="surrogateescape")
            as_told = text, self.mode, str(HEADERS), self.launches, self.library, here or folder
            made = translated(*as_told)
            # Only whole programs may be so old: newer sources may use the name `texture` for something else.
            has_textures = bool(self.launches) and made.has_textures and for_textures[0] not in more
            if not has_textures and (more or not made.has_ptx):
                break
            more += for_textures * has_textures
            if made.has_ptx and for_ptx[1] not in more:
                more += for_ptx + for_half * made.has_half
        line = [*self.cxx, "-x", "c++-cpp-output", str(text_file), "-o", str(folder / RESULT)]
        line += _without_includes(self.options)
        if made.has_loops:
            # A mistake of the source's has better words without loops.
            with contextlib.suppress(RejectedError):
                if not made.errors and not made.doubts:
                    text_file.write_text(made.text, encoding="utf-8", errors="surrogateescape")
                    return line, made.warnings + log + execute(line, {}, folder, here)
            made = translated(*as_told, loops=False)
        text_file.write_text(made.text, encoding="utf-8", errors="surrogateescape")
        if made.errors or made.doubts:
            try:
                execute([*line, "-fsyntax-only"], {}, folder, here)
            except RejectedError as rejected:
                raise RejectedError(made.errors + str(rejected)) from None
            raise RejectedError(made.errors or made.doubts)
        return line, made.warnings + log + execute(line, {}, folder, here)


def _for_preprocessor(options: list[str]) -> list[str]:
    """Without the objects and libraries for the linker."""
    return [option for option in options if not option.startswith(("-Wl,", "-l", "-L")) and not option.endswith(".o")]


def _without_includes(options: list[str]) -> list[str]:
    """Without the files that the preprocessor has included."""
    pairs = zip(options, ["", *options], strict=False)
    return [option for option, before in pairs if "-include" not in (option, before)]


def _undefined(unit: Unit, symbol: str) -> str:
    """The message for a linker's name, as C++ writes it if c++filt is there."""
    with contextlib.suppress(OSError):
        symbol = subprocess.run(["c++filt", symbol], capture_output=True, text=True).stdout.strip() or symbol
    return f"{unit.name} uses {symbol}, which it declares and does not define"


_loaded: dict[tuple[str, str], Set] = {}


def for_gpu(native: Native, unit: Unit, names: Names, device: int, mode: str = "plain") -> Set:
    """The same, compiled by NVRTC into code for the device."""
    names, path, content = _by_nvrtc(unit, names, [], ".cubin", "image")
    head, _, image = content.partition(b"\n")
    linkers = json.loads(head)
    linked = [tuple((n, linkers[n]) for n in some) for some in (names.kernels, names.variables)]
    here = (native.backend_name(), str(path))
    if here not in _loaded:  # a program stays loaded
        _loaded[here] = native.load_program(str(path), image, linked[0], linked[1], device)
    return _loaded[here]


def reported(unit: Unit, names: Names) -> tuple[dict[str, str], str]:
    """The linker's names, and what ptxas reports of the kernels."""
    _, _, content = _by_nvrtc(unit, names, ["--ptxas-options=-v"], ".txt", "log")
    head, _, log = content.partition(b"\n")
    return json.loads(head), log.decode()


def _by_nvrtc(unit: Unit, names: Names, more: list[str], suffix: str, what: str) -> tuple[Names, Path, bytes]:
    """The names that there are, the file, and its content: a line of linker's names, and the "image" or the "log"."""
    code = "sm" if unit.arch == unit.chip else "compute"  # for another chip: PTX, which the driver translates
    exact = "a" * (unit.arch == unit.chip >= 900)
    options = ["--std=c++17", "-lineinfo", "-D__NVCC__", f"--gpu-architecture={code}_{unit.arch // 10}{exact}", *more]
    ours = [path for path in (unit.folder, KERNELS, SOURCES / "gpu") if path]
    defined, flags = macros(unit.flags)
    options += [f"--include-path={path}" for path in (*ours, *nvrtc.headers())] + flags
    kernels = 'extern "C" __device__ ck_described_kernel ck_described_kernels[] = {', "ck_signature<decltype(&{})>::of,"
    variables = 'extern "C" __device__ ck_variable_type ck_described_variables[] = {', "ck_variable_of<decltype({})>(),"
    text = f'#include "{KERNELS}/parameters.cuh"\n{defined}#line 1\n{unit.text}'
    may_read = functools.partial(dependencies.reachable, text, flags, ours, "", nvrtc.headers())
    while True:
        whole = names.listed(text, kernels, variables)
        key = cache.key(whole, unit.name, options, nvrtc.identity())
        try:
            run = functools.partial(_run_nvrtc, whole, unit.name, options, names, what)
            path, content = kept(key, suffix, may_read, run)
        except RejectedError as rejected:
            names = names.without_unknown(unit, str(rejected))
            continue
        return names, path, content


#: By backend.
COMPILERS = {"emulator": for_emulator, "cuda": for_gpu}


@functools.cache
def compiler() -> list[str]:
    try:
        command = _driver.find("CXX", *_driver.CXX)
    except ValueError as error:
        advice = "close its quotes, or unset it to use g++"
        raise CompileError(f"CXX={os.environ['CXX']!r} cannot be read as a command ({error}): {advice}") from None
    if command is None:
        needs = "compiling for the emulator needs a C++ compiler, and neither g++ nor c++ nor clang++ is installed"
        ways = "Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; conda: conda install gxx"
        raise CompileError(f"{needs}. Install one ({ways}), or set CXX")
    return command


def identity(command: list[str]) -> list[str]:
    """What identifies a compiler: the files that its command names (`ccache g++`), and their versions."""
    files = [(os.path.realpath(path), os.stat(path)) for word in command if (path := shutil.which(word))]
    return [f"{path} {status.st_mtime_ns} {status.st_size}" for path, status in files]


def kept(key: str, suffix: str, may_read: cache.MayRead, build: cache.Build) -> tuple[Path, bytes]:
    """cache.program; CompileError if there is no room."""
    try:
        return cache.program(key, suffix, may_read, build)
    except OSError as error:
        raise CompileError(str(error)) from None


def run(
    line: list[str], files: dict[str, str], folder: Path, _: dependencies.Reachable, kind: bytes = LIBRARY_KIND
) -> cache.Built:
    """Runs a compiler on these files."""
    return result(line, execute(line, files, folder), folder, kind)


def execute(line: list[str], files: dict[str, str], folder: Path, here: Path | None = None) -> str:
    """Runs a compiler in that folder, in which these files are to be, or ``here``: its messages."""
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    try:
        ran = subprocess.run(line, cwd=here or folder, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise CompileError(f"the C++ compiler {line[0]!r} cannot be run: {error.strerror or error}") from None
    if ran.returncode:
        if full := re.search("No space left on device|Disk quota exceeded", ran.stderr):
            raise OSError(0, full[0])
        log = _cut(ran.stderr + ran.stdout, _LOG_WIDTH)
        raise RejectedError(log or f"{line[0]} ended with status {ran.returncode}")
    return ran.stdout + ran.stderr


def result(line: list[str], log: str, folder: Path, kind: bytes, here: Path | None = None) -> cache.Built:
    """What a compiler wrote in that folder, and the files that it read from ``here``."""
    library = (folder / RESULT).read_bytes() if (folder / RESULT).is_file() else b""
    if library[:4] != b"\x7fELF" or library[16:17] != kind:
        advice = (
            "If a flag lets it do something else, as -E, -c, -S, -M, -o, -fsyntax-only and --help do, leave that out"
        )
        message = f"{line[0]} ended without an error, but wrote no shared library. {advice}"
        raise CompileError(message, log)
    return library, dependencies.listed(folder / READ, here)


def _run_shown(job: Job, files: dict[str, str], folder: Path, _: dependencies.Reachable) -> cache.Built:
    """Compiles, with a line of progress for a first check or picture."""
    with _display.progress_line(None if job.mode in _driver.REPORTING else False, after=0) as announce:
        announce(f"Compiling {job.source} so that it reports its accesses ...")
        return job.run(files, folder)


def _run_nvrtc(
    text: str, name: str, options: list[str], names: Names, what: str, _: Path, may_read: dependencies.Reachable
) -> cache.Built:
    """The linker's names as a line of JSON, and the code or the compiler's output."""
    linkers, image, log = nvrtc.compile(text, name, options, names.kernels, names.variables)
    if image is None:
        raise RejectedError(log)
    content = log.encode() if what == "log" else image
    return json.dumps(linkers).encode() + b"\n" + content, None if may_read.computed else ()


def _message(unit: Unit, log: str) -> str:
    """The compiler's first errors, with the lines of the source."""
    if symbol := re.search(r"Unresolved extern function '(\S+)'", log):
        return _undefined(unit, symbol[1])
    if refused := _REFUSED.search(log):
        return f"{refused[1]}: {refused[2]}"
    log = re.sub(r"^([^\s(:]+)\((\d+)\): ", r"\1:\2: ", log, flags=re.M)  # NVRTC's form
    log = re.sub(rf"^(?:In file included from <command-line>.*|{_LIST}: (?:In|At) .*)\n", "", log, flags=re.M)
    log = messages.readable(log, unit.name, unit.text)
    log = re.sub(rf"^{_LIST}:\d+:(?:\d+:)? ", f"{unit.name}:{unit.text.count(chr(10)) + 1}:1: ", log, flags=re.M)
    parts = [part for part in _START.split(log)[1:] if not part.startswith("__nv_")]
    if not parts:
        return f"{unit.name} was not compiled:\n{log.strip()}"
    errors = [_END.split(part)[0] for part in parts]
    more = len(errors) - _SHOWN_ERRORS
    shown = [error.rstrip() for error in errors[:_SHOWN_ERRORS]]
    shown += [f"... and {more} more error{'s' * (more > 1)}; the whole output is in .log"] if more > 0 else []
    return _cut("\n".join([f"{unit.name} was not compiled:", *shown]), _SHOWN_WIDTH)


def _cut(text: str, width: int) -> str:
    """The text with the beginnings of those lines that are longer."""
    return re.sub(rf"^(.{{{width}}}).+", r"\1 ...", text, flags=re.M)
