"""Builds the C parts of cudakern.

    cudakern/lib/libcudakern_emulator.so   the emulator's core: always, by the host compiler
    cudakern/_emulator.abi3.so             the extension module and the runtime for the emulator: always
    cudakern/lib/kernels_emulator.so       the kernels for the CPU, a set that the module loads: always
    cudakern/_cuda.abi3.so                 the same module for the GPU: where there is one, or if asked for
    cudakern/lib/kernels_cuda.so           and the same kernels
    cudakern/lib/kernels.txt               what the GPU's compiler said of each: registers, shared and local memory
    compile_commands.json                  how each file is compiled: for clangd

`BUILDS` describes the two backends; everything below it is how. `Objects` keeps what was compiled by its content:
source, headers, command and compiler. So nothing is compiled twice, in another clone or after `git checkout` either.

What can be set, all by environment variables:
    CUDAKERN_CUDA        0: no GPU build; 1: fail without one; wheels: the compiler from PyPI; unset: if there is a GPU
    CUDAKERN_NVCC        the compiler to take (else CUDA_HOME, CUDA_PATH, PATH, CUDA's wheels, /usr/local/cuda)
    CUDAKERN_CUDA_ARCHS  "80;90a;90-ptx" (else the GPUs present, else 90a, and in a wheel PTX that later chips can run)
    CUDAKERN_OBJECTS     the folder of compiled objects (else ~/.cache/cudakern/objects), of which 1 GB is kept
    CUDAKERN_SANITIZE    "address,undefined": sanitizers for the emulator's build;
                         CUDAKERN_SANITIZE_KERNELS=0: only for C, which is quicker
    CUDAKERN_WERROR      1: warnings are errors
    CC, CXX, CFLAGS, CXXFLAGS, LDFLAGS   the host compilers and what to add to their commands
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("driver", ROOT / "cudakern/_driver.py")
driver = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(driver)

OBJECTS_LIMIT = 10**9  # bytes
GENERATED = Path("build/generated")
BATCH = 5  # small operations that nvcc compiles together
CORE, CHECKER = "libcudakern_emulator.so", "libcudakern_checker.so"
KERNELS = "kernels.txt"  # what ptxas said of the GPU's kernels
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
# One build serves every Python from 3.11 on. Free-threaded Pythons have no limited API.
ABI_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX") if FREE_THREADED else ".abi3.so"
ABI_FLAGS = [] if FREE_THREADED else ["-DPy_LIMITED_API=0x030b0000"]
# CUDA's wheels are pinned to the toolkit that is tested; drivers of the same major version run what it builds. Each is
# named: nvcc's own requirements leave nvvm and crt free, and a newer nvvm writes PTX that an older ptxas refuses.
CUDA_WHEELS = [f"nvidia-{part}==13.0.*" for part in ("cuda-nvcc", "nvvm", "cuda-crt", "cuda-cccl", "cuda-runtime")]

SLOW = "Potential Performance Loss"  # ptxas: the wgmma of a kernel are serialized. To us, this is a warning.
PTXAS = ["-Xptxas", "-v"]  # it tells each kernel's registers, shared and local memory, for kernel_resources()
WARNINGS = ["-Wall", "-Wextra"]
HOST_FLAGS = ["-O2", "-fPIC", "-fvisibility=hidden", "-pthread"]
C_FLAGS = ["-std=c11", *HOST_FLAGS, *WARNINGS]
# For our own kernels. Psabi: arguments that are passed as vectors. Pass-failed: clang knows `#pragma unroll`, too, but
# cannot unroll every such loop. (g++ ignores what it does not know.)
KERNEL_FLAGS = ["-fvisibility=hidden", *WARNINGS, "-Wno-psabi", "-Wno-pass-failed"]


@dataclass
class Build:
    """One backend: the same kernels, runtime and Python face, compiled for it."""

    name: str  # of the module, and CK_MODULE in C
    includes: list[str]  # the backend's headers: whose cuda_runtime.h, backend.h and device_extras.cuh are found first
    kernel_compiler: list[str]  # up to and without -c
    c_flags: list[str] = field(default_factory=list)
    link_flags: list[str] = field(default_factory=list)
    needs_core: bool = False
    batches: bool = False  # of small operations

    @property
    def set_name(self) -> str:
        """The file of its kernels: csrc/python/sets.c looks for it."""
        return f"kernels{self.name}.so"


class Unavailable(Exception):
    """A build cannot be made here; the message says why."""


# --- host compilers ------------------------------------------------------------------------------------------------
def host_compiler(variable: str, *names: str) -> list[str]:
    if found := driver.find(variable, *names):
        return found
    sys.exit(
        f"cudakern needs a C and a C++ compiler: none of {', '.join(names)} was found, and {variable} is not set. "
        "Install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++)."
    )


def accepts(compiler: list[str], flag: str) -> bool:
    command = [*compiler, "-Werror", flag, "-x", "c++", "-fsyntax-only", os.devnull]
    return subprocess.run(command, capture_output=True).returncode == 0


# --- the CUDA toolkit: every part from one root --------------------------------------------------------------------
@dataclass
class Toolkit:
    nvcc: Path
    include: Path
    library: Path  # holds libcudart_static.a

    @classmethod
    def at(cls, nvcc: Path) -> Toolkit:
        root = nvcc.resolve().parent.parent
        machine = os.uname().machine
        target = f"targets/{'sbsa' if machine == 'aarch64' else machine}-linux"

        def find(name: str, *folders: str) -> Path:
            for folder in folders:
                if (root / folder / name).is_file():
                    return root / folder
            raise Unavailable(f"{nvcc} has no {name} in {', '.join(str(root / folder) for folder in folders)}")

        if not os.access(nvcc, os.X_OK):
            raise Unavailable(f"{nvcc} is not there or cannot be run")
        return cls(
            nvcc,
            find("cuda_runtime_api.h", "include", f"{target}/include"),
            find("libcudart_static.a", "lib64", "lib", f"{target}/lib", f"lib/{machine}-linux-gnu"),
        )


def find_toolkit() -> Toolkit:
    if os.environ.get("CUDAKERN_NVCC"):  # named outright: no other will do
        return Toolkit.at(Path(os.environ["CUDAKERN_NVCC"]))
    candidates = [Path(os.environ[name], "bin/nvcc") for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    if on_path := shutil.which("nvcc"):
        candidates.append(Path(on_path))
    for entry in sys.path:  # the newest CUDA first: cu14 before cu13
        candidates += sorted(Path(entry or ".").glob("nvidia/cu*/bin/nvcc"), reverse=True)
    candidates.append(Path("/usr/local/cuda/bin/nvcc"))
    reasons = []
    for nvcc in candidates:
        if nvcc.exists():
            try:
                return Toolkit.at(nvcc)
            except Unavailable as reason:
                reasons.append(str(reason))
    raise Unavailable(
        "; ".join(reasons)
        or "no nvcc in CUDAKERN_NVCC, CUDA_HOME, CUDA_PATH, PATH, Python's packages or /usr/local/cuda"
    )


@functools.cache
def capabilities() -> list[int]:
    """The compute capabilities of the GPUs that the driver lets this process use: [90]; [] if there is none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return []
    count, device, major, minor = (ctypes.c_int() for _ in range(4))
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    found = set()
    for index in range(count.value):
        driver.cuDeviceGet(ctypes.byref(device), index)
        for value, attribute in ((major, 75), (minor, 76)):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
            driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        found.add(10 * major.value + minor.value)
    return sorted(found)


def architectures(nvcc: Path, in_wheel: bool) -> list[str]:
    if os.environ.get("CUDAKERN_CUDA_ARCHS"):
        return [arch for arch in os.environ["CUDAKERN_CUDA_ARCHS"].replace(",", ";").split(";") if arch.strip()]
    if not capabilities():
        return ["90a", "90-ptx"] if in_wheel else ["90a"]
    listed = subprocess.run([nvcc, "--list-gpu-arch"], capture_output=True, text=True).stdout.split()
    known = sorted(int(name.removeprefix("compute_")) for name in listed if name.removeprefix("compute_").isdigit())
    # A chip newer than the toolkit runs PTX; from 9.0 on a chip's own features need the "a" form of its name.
    return [
        f"{known[-1]}-ptx" if known and chip > known[-1] else f"{chip}a" if chip >= 90 else str(chip)
        for chip in capabilities()
    ]


def cuda_build(in_wheel: bool = False) -> Build:
    toolkit = find_toolkit()
    version = subprocess.run([toolkit.nvcc, "--version"], capture_output=True, text=True)
    if version.returncode:
        raise Unavailable(f"{toolkit.nvcc} --version failed: {(version.stderr or version.stdout).strip()}")
    codes, chips, exact = [], [], 0
    for arch in architectures(toolkit.nvcc, in_wheel):
        number, ptx = arch.strip().removesuffix("-ptx"), arch.strip().endswith("-ptx")
        chips.append(int(number.rstrip("af")))
        exact = 90 if number == "90a" else exact  # wgmma and setmaxnreg are in this code alone
        codes.append(f"-gencode=arch=compute_{number},code={'compute' if ptx else 'sm'}_{number}")
    print(f"cudakern: {toolkit.nvcc}, {' '.join(codes)}", flush=True)
    host = ",".join(["-fPIC", "-fvisibility=hidden", *WARNINGS, "-Wno-unknown-pragmas"])
    return Build(
        "_cuda",
        ["csrc/gpu"],
        [
            str(toolkit.nvcc),
            "-std=c++17",
            "-O1",  # of the host's code, which plans and launches; kernels are optimized as far as possible without it
            "-fmad=true",
            "--threads=0",
            *PTXAS,
            *codes,
            "-Xcompiler",
            host,
            *(["-Werror", "all-warnings"] if strict() else []),
        ],
        # -isystem: warnings in NVIDIA's headers are not ours to mend
        # The runtime passes over a GPU that this build holds no code for.
        # The runtime refuses variants that need code for one capability alone, if there is none.
        c_flags=[
            "-isystem",
            str(toolkit.include),
            f"-DCK_LOWEST_CAPABILITY={min(chips)}",
            f"-DCK_EXACT_CAPABILITY={exact}",
        ],
        # Each library has a CUDA runtime of its own. None is exported: another library's would else be taken for it.
        link_flags=[f"-L{toolkit.library}", "-lcudart_static", "-Wl,--exclude-libs,ALL", "-lrt", "-ldl", "-lpthread"],
        batches=True,
    )


def emulator_build(in_wheel: bool = False) -> Build:
    cxx = host_compiler("CXX", *driver.CXX)
    of_kernels = sanitizers() if os.environ.get("CUDAKERN_SANITIZE_KERNELS") != "0" else []
    return Build(
        "_emulator",
        ["csrc/emulator/include", "csrc/emulator/seam"],
        [*cxx, *driver.options(shlex.join(cxx)), *KERNEL_FLAGS, *of_kernels, *strict(), *extra("CXXFLAGS")],
        c_flags=sanitizers(),
        link_flags=sanitizers(),
        needs_core=True,
    )


def check_that_cuda_is_wanted() -> None:
    wanted = os.environ.get("CUDAKERN_CUDA")
    if wanted == "0":
        raise Unavailable("CUDAKERN_CUDA=0 was set when it was built")
    if wanted not in ("1", "wheels") and not capabilities():
        raise Unavailable(
            "there was no usable GPU when it was built; "
            "with nvcc, `CUDAKERN_CUDA=1 pip install -e .` in the clone adds it"
        )


BUILDS: dict[str, Callable[[bool], Build]] = {"_emulator": emulator_build, "_cuda": cuda_build}


def sanitizers() -> list[str]:
    names = os.environ.get("CUDAKERN_SANITIZE", "")
    return [f"-fsanitize={names}", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer", "-g"] if names else []


def strict() -> list[str]:
    """What makes warnings errors, if that is asked for: the host compilers' option. (nvcc and ptxas have others.)"""
    return ["-Werror"] if os.environ.get("CUDAKERN_WERROR") == "1" else []


def extra(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))


# --- compiling only what changed -----------------------------------------------------------------------------------
PRINT = threading.Lock()


def run(command: list[str], label: str, number: Callable[[], str] = str) -> tuple[list[str], bool]:
    """Runs a compiler and prints what it says; returns what ptxas says of each kernel's registers and memory, and
    whether there were warnings. ``number`` says when the command has ended how far the build is."""
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    lines = done.stdout.splitlines()
    usage, words = [], []
    for line in filter(str.strip, lines):
        info = line.startswith("ptxas info") and SLOW not in line
        (usage if info or "bytes stack frame" in line else words).append(line)
    with PRINT:
        print(f"cudakern: {number()}{time.monotonic() - start:5.1f} s  {label}", flush=True)
        if words:  # warnings too
            print("\n".join(words), flush=True)
    if done.returncode:
        raise Unavailable(
            f"{label}: {Path(command[0]).name} failed with exit status {done.returncode}\n{shlex.join(command)}"
        )
    if strict() and any(SLOW in line for line in words):
        raise Unavailable(f"{label}: ptxas lets each wgmma of a kernel wait for the one before; its message is above")
    return [line for line in usage if "Compile time" not in line and "bytes gmem" not in line], bool(words)


def digest(*parts: str | bytes) -> str:
    """A name for contents."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(b"%d:" % len(data) + data)
    return whole.hexdigest()[:24]


@functools.cache
def content_of(path: Path) -> str:
    """A name for a file's content; "" if it is missing."""
    return digest(path.read_bytes()) if path.is_file() else ""


class Objects:
    """What was compiled, by content: KEY.deps lists the files that the command KEY read when it last ran, and DIGEST.o
    is what it made of files with these contents."""

    def __init__(self) -> None:
        self.folder = driver.objects_folder(otherwise=ROOT / "build/objects")

    def named(self, key: str, inputs: list[str]) -> Path:
        return self.folder / f"{digest(key, *(name + content_of(ROOT / name) for name in inputs))}.o"

    def find(self, key: str) -> Path | None:
        """What the command made when it ran on files with the contents of today."""
        try:
            deps = self.folder / f"{key}.deps"
            path = self.named(key, deps.read_text().splitlines())
            for used in (deps, path):
                os.utime(used)
        except OSError:
            return None
        with contextlib.suppress(FileNotFoundError):  # the host's compilers say nothing of registers
            os.utime(path.with_suffix(".ptxas"))
        return path

    def make(self, key: str, command: list[str], label: str, number: Callable[[], str]) -> Path:
        """Runs the compiler, and keeps what it makes."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as scratch:
            part, deps = Path(scratch, "part.o"), Path(scratch, "deps")
            debug = [f"-ffile-prefix-map={ROOT}=."] if "-g" in command else []  # The object may serve another clone.
            started = time.time_ns()
            usage, warned = run(
                [*command, *debug, "-MMD", "-MF", str(deps), "-MT", "object", "-o", str(part)], label, number
            )
            inputs = driver.listed(deps.read_text())
            # A warning is to be seen the next time, too; and a file may have been edited while the compiler ran.
            once = warned or any((ROOT / name).stat().st_mtime_ns >= started for name in inputs)
            path = self.named(scratch if once else key, inputs)
            if usage:
                path.with_suffix(".ptxas").write_text("\n".join(usage) + "\n")
            part.replace(path)
            if not once:
                deps.write_text("\n".join(inputs))
                deps.replace(self.folder / f"{key}.deps")
        return path

    def prune(self) -> None:
        """Removes what was not used for longest, above the limit, and what a build that was killed has left."""
        total, now, files = 0, time.time(), []
        for path in self.folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # another build has removed it
                files.append((path.stat(), path))
        for info, path in sorted(files, key=lambda file: -file[0].st_mtime):
            total += info.st_size
            if path.is_dir() and now - info.st_mtime > 86400:
                shutil.rmtree(path, ignore_errors=True)
            elif total > OBJECTS_LIMIT and path.is_file():
                path.unlink(missing_ok=True)


class Unit:
    """A source, and the command that compiles it."""

    def __init__(self, source: Path, command: list[str], side: str) -> None:
        self.source, self.label = source, f"{side}: {source}"
        self.command = [*command, "-c", str(source)]
        # What gave a warning is not kept, so it makes no difference here whether warnings are errors.
        words = [word for word in self.command if word not in ("-Werror", "all-warnings")]
        self.key = digest(*words, driver.version(shlex.quote(command[0])))
        self.object: Path | None = None
        self.job: Future[None] | None = None  # of the compiler, if it has to run

    def compile(self, objects: Objects, number: Callable[[], str]) -> None:
        self.object = objects.make(self.key, self.command, self.label, number)


def compile_missing(units: list[Unit], objects: Objects, pool: ThreadPoolExecutor) -> None:
    """The compilers of all units that are not kept, in that order, as many at once as there are processors."""
    for unit in units:
        unit.object = objects.find(unit.key)
    missing = [unit for unit in units if unit.object is None]
    count = itertools.count(1)
    for unit in missing:
        unit.job = pool.submit(unit.compile, objects, lambda: f"{next(count):3d} of {len(missing)} ")


def objects_of(units: list[Unit]) -> list[Path]:
    """Waits for their compilers; after the first failure no further one is begun."""
    done, waiting = wait([unit.job for unit in units if unit.job], return_when=FIRST_EXCEPTION)
    for job in waiting:
        job.cancel()
    for job in done:
        job.result()
    return [unit.object for unit in units if unit.object]


def write_compile_commands(units: list[Unit]) -> None:
    """For clangd and other tools: how each file is compiled. They take a file's first entry, the emulator's; headers of
    kernels are compiled as the emulator's kernels are."""
    like = next(unit.command[:-1] for unit in units if unit.source.suffix == ".cu")
    entries = [(unit.source, unit.command) for unit in units]
    entries += [(header, [*like, str(header)]) for header in relative("csrc/kernels/**/*.cuh")]
    text = [{"directory": str(ROOT), "file": str(path), "arguments": command} for path, command in entries]
    (ROOT / "compile_commands.json").write_text(json.dumps(text, indent=1) + "\n")


def link(output: Path, command: list[str], objects: list[Path], tail: list[str], label: str) -> None:
    # A new file, not the old one overwritten: a running Python may have that one mapped.
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f"{output.name}.{os.getpid()}.part")
    try:
        run([*command, *map(str, objects), *tail, "-o", str(part)], label)
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)


def relative(pattern: str) -> list[Path]:
    return sorted(path.relative_to(ROOT) for path in ROOT.glob(pattern))


def kernel_sources() -> list[Path]:
    """The .cu files of all operations, and of the set."""
    of = driver.units(ROOT / "csrc/kernels")
    return [generate(unit.name, unit.text) if unit.part else Path("csrc", unit.source) for unit in of]


def generate(name: str, text: str) -> Path:
    """The file of that name and text, which stays as old as it is if the text is the same."""
    path = ROOT / GENERATED / name
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return GENERATED / name


def write_operations() -> None:
    """The list of operations is the list of folders: csrc/kernels/NAME/NAME.cu."""
    generate("operations.inc", driver.table_of(driver.operations(ROOT / "csrc/kernels")))


def in_batches(sources: list[Path]) -> list[Path]:
    """The sources, with those of small operations in a few files that include them: nvcc needs almost 2 s for each file
    that it begins, and less for such an operation. An operation is small if it is one .cu that defines no macros for
    the headers that it includes, without constant memory, of which a file has 64 KiB. Its macros end with it."""
    operations = [path.parts[:3] for path in sources]
    texts = {path: (ROOT / path).read_text() for path in sources if operations.count(path.parts[:3]) == 1}
    small = [
        path
        for path, text in texts.items()
        if not re.search(r"^#define.*^#include", text, re.M | re.S)
        and not any("__constant__" in file.read_text() for file in ROOT.joinpath(*path.parts[:3]).rglob("*.cu*"))
    ]
    count = -(-len(small) // BATCH)
    batches = []
    for number in range(count):
        lines = ["// Written by setup.py."]
        for path in small[number::count]:  # neighbors, which often take as long, in different files
            lines += [f'#include "{path.relative_to("csrc")}"']
            lines += [f"#undef {name}" for name in re.findall(r"^#define (\w+)", texts[path], re.M)]
        batches.append(generate(f"batch_{number}.cu", "\n".join([*lines, ""])))
    return [*(path for path in sources if path not in small), *batches]


@dataclass
class Part:
    """The core, or one side's module with its set of kernels: what is compiled, and how the objects are linked."""

    units: list[Unit]
    link: Callable[[], list[Path]]  # when they are compiled; what it makes


def core_part(folder: Path) -> Part:
    cc = host_compiler("CC", "gcc", "cc", "clang")
    # Some compilers mark their code as fit for shadow stacks: a switch of stacks that is written by hand is not.
    branch = ["-fcf-protection=branch"] if accepts(cc, "-fcf-protection=branch") else []
    includes = [f"-Icsrc/emulator/{part}" for part in ("include", "seam", "core")]
    command = [*cc, *C_FLAGS, *branch, *sanitizers(), *strict(), *extra("CFLAGS"), *includes]
    sources = relative("csrc/emulator/core/*.c") + relative("csrc/emulator/core/*.S")
    core = [Unit(source, command, "core") for source in sources]
    of_tools = relative("csrc/emulator/checker/*.c") + relative("csrc/emulator/counters/*.c")
    checker = [Unit(source, command, "core") for source in of_tools]
    shared = [*cc, "-shared", "-Wl,-z,noexecstack", "-Wl,-z,nodelete", "-pthread", *sanitizers()]

    def link_core() -> list[Path]:
        output, tool = folder / "lib" / CORE, folder / "lib" / CHECKER
        tail = ["-ldl", "-lm", "-lrt", *extra("LDFLAGS")]
        link(output, [*shared, f"-Wl,-soname,{CORE}"], objects_of(core), tail, f"core: {CORE}")
        of_tool = [*shared, f"-Wl,-soname,{CHECKER}", "-Wl,-rpath,$ORIGIN"]
        link(tool, of_tool, objects_of(checker), [str(output), *tail], f"core: {CHECKER}")
        return [output, tool]

    return Part([*core, *checker], link_core)


def side_part(build: Build, folder: Path) -> Part:
    """The module, and the set of kernels that it loads, which takes a few functions of the runtime from the module."""
    includes = [f"-I{path}" for path in [*build.includes, "csrc", str(GENERATED)]]
    cc, cxx = host_compiler("CC", "gcc", "cc", "clang"), host_compiler("CXX", *driver.CXX)
    host = [*cc, *C_FLAGS, *build.c_flags, *strict(), *extra("CFLAGS"), *includes, f"-DCK_MODULE={build.name}"]
    python = [*host, *ABI_FLAGS, "-isystem", sysconfig.get_path("include")]
    device = [*build.kernel_compiler, *includes]
    kernels = kernel_sources()
    if build.batches:
        kernels = in_batches(kernels)
    for path in build.includes:  # what only this backend has, the toolkit's libraries: first, for it takes longest
        kernels = relative(f"{path}/*.cu") + kernels
    of_set = [Unit(source, device, build.name) for source in kernels]
    of_module = [Unit(source, device, build.name) for source in relative("csrc/runtime/kernels/*.cu")]
    of_module += [Unit(source, python, build.name) for source in relative("csrc/python/*.c")]
    of_module += [Unit(source, host, build.name) for source in relative("csrc/runtime/*.c")]
    shared = [*cxx, "-shared", "-Wl,-z,noexecstack", "-pthread"]
    core = [str(folder / "lib" / CORE)] if build.needs_core else []
    tail = [*core, *build.link_flags, *extra("LDFLAGS")]

    def link_side() -> list[Path]:
        objects_of([*of_set, *of_module])  # what has failed is reported before anything is linked
        module, kernel_set = folder / f"{build.name}{ABI_SUFFIX}", folder / "lib" / build.set_name
        # By its soname the set finds the module that is loaded already: the one that loads it.
        of_the_module = [*shared, f"-Wl,-soname,{module.name}", "-Wl,-rpath,$ORIGIN/lib"]
        link(module, of_the_module, objects_of(of_module), tail, f"{build.name}: {module.name}")
        of_the_set = [*shared, "-Wl,-rpath,$ORIGIN:$ORIGIN/.."]
        link(kernel_set, of_the_set, objects_of(of_set), [str(module), *tail], f"{build.name}: {kernel_set.name}")
        usage = [
            path.read_text() for one in objects_of(of_set + of_module) if (path := one.with_suffix(".ptxas")).exists()
        ]
        if usage:
            (folder / "lib" / KERNELS).write_text("".join(usage))
        return [module, kernel_set]

    return Part([*of_set, *of_module], link_side)


# --- setuptools' commands ------------------------------------------------------------------------------------------
class BuildModules(build_ext):
    def run(self) -> None:
        self.outputs: list[Path] = []
        write_operations()
        with ThreadPoolExecutor(self.parallel or len(os.sched_getaffinity(0))) as pool:
            try:
                self.build(ROOT / "cudakern" if self.inplace else Path(self.build_lib).resolve() / "cudakern", pool)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def build(self, folder: Path, pool: ThreadPoolExecutor) -> None:
        began = time.monotonic()
        objects, core, sides, why_not = Objects(), core_part(folder), {}, {}
        for name, describe in BUILDS.items():
            try:
                if name == "_cuda":
                    check_that_cuda_is_wanted()
                sides[name] = side_part(describe(not self.inplace), folder)
            except Unavailable as reason:
                why_not[name] = str(reason)
        write_compile_commands([unit for part in (*sides.values(), core) for unit in part.units])
        # The GPU's compiler takes longest, so it begins.
        units = [unit for part in (*reversed(sides.values()), core) for unit in part.units]
        compile_missing(units, objects, pool)
        try:
            self.outputs += core.link()
        except Unavailable as reason:
            sys.exit(f"cudakern: the emulator's core was not built.\n{reason}")
        for name in BUILDS:
            try:
                if name in sides:
                    self.outputs += sides[name].link()
                    print(f"cudakern: {name} built, after {time.monotonic() - began:.1f} s", flush=True)
            except Unavailable as reason:
                why_not[name] = str(reason)
            if name in why_not:
                # What is left from an earlier build would not fit the Python code any more.
                for left in (f"{name}{ABI_SUFFIX}", f"lib/kernels{name}.so", f"lib/{KERNELS}"):
                    (folder / left).unlink(missing_ok=True)
                print(f"cudakern: {name} was left out: {why_not[name]}", flush=True)
                if name == "_emulator" or os.environ.get("CUDAKERN_CUDA") in ("1", "wheels"):
                    sys.exit(f"cudakern: {name} could not be built, and it is required here (see above)")
        # pip shows none of the above unless a build fails: `cudakern info` reads why there is no GPU build from here.
        words = {name: why_not[name].splitlines()[0] if name in why_not else "" for name in BUILDS}
        report = {name: {"built": name not in why_not, "why_not": words[name]} for name in BUILDS}
        path = folder / "lib" / "build.json"
        path.write_text(json.dumps(report, indent=1) + "\n")
        self.outputs += [path, *(folder / "lib").glob(KERNELS)]
        objects.prune()

    def get_outputs(self) -> list[str]:
        return [str(path) for path in getattr(self, "outputs", [])]

    def get_output_mapping(self) -> dict[str, str]:
        return {}


class CopySources(build_py):
    """A wheel carries all sources from which kernels are compiled: the package's, for cudakern.source() and for sets
    that are compiled at first use, and the headers for kernels of your own. It carries the notebooks, too, and the
    records that they show. An editable install reads them where they are.
    """

    COPIED = (
        "kernels/**/*",
        "gpu/*",
        "emulator/include/**/*",
        "emulator/seam/*",
        "emulator/program/*",
        "runtime/status.h",
        "runtime/kernels/*",
        *driver.REPORTING.values(),
    )

    def copies(self) -> dict[Path, Path]:
        package = Path(self.build_lib) / "cudakern"
        paths = [path for pattern in self.COPIED for path in relative(f"csrc/{pattern}")]
        course = {path: package / path for path in relative("notebooks/*.ipynb")}
        records = ("gpu_lab.json", "gpu_matmul.json")
        course |= {Path("docs/results") / name: package / "notebooks/records" / name for name in records}
        files = {path: package / path for path in paths} | course
        return {ROOT / path: target for path, target in files.items() if (ROOT / path).is_file()}

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # What was deleted in csrc/ since the last wheel must go.
            for folder in ("csrc", "notebooks"):
                shutil.rmtree(Path(self.build_lib) / "cudakern" / folder, ignore_errors=True)
            for source, target in self.copies().items():
                self.mkpath(str(target.parent))
                self.copy_file(str(source), str(target))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        extra = [] if self.editable_mode else [str(path) for path in self.copies().values()]
        return [*super().get_outputs(include_bytecode), *extra]


setup(
    # Sources are found by BuildModules; the extension is named here so that setuptools makes a platform wheel.
    ext_modules=[Extension("cudakern._emulator", [], py_limited_api=not FREE_THREADED)],
    cmdclass={"build_ext": BuildModules, "build_py": CopySources},
    options={
        # An editable install puts this folder on the path. By setuptools' own way Python would rather take a folder
        # named like the clone, without a package in it, where it stands beside the clone.
        "editable_wheel": {"mode": "compat"},
        **({} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}}),
    },
    # Read as build requirements by pip: the toolkit comes from PyPI, into the build's own environment.
    setup_requires=CUDA_WHEELS if os.environ.get("CUDAKERN_CUDA") == "wheels" else [],
)
