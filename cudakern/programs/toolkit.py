"""A folder that build systems take for a CUDA toolkit, in which nvcc is `cudakern cc`: `cudakern toolkit DIR`.

DIR/bin/nvcc            calls `cudakern cc`
DIR/include             the emulator's headers
DIR/lib64/libcudart.so  and the other names of CUDA's libraries: texts for the linker, which name these two instead:
DIR/lib64/core.so       the names in the core's library, whose place is in the program then
DIR/lib64/host.a        what programs lack that another compiler links: the functions that kernels' malloc wraps
DIR/nvvm/libdevice      empty: where CMake looks for the libraries of device code
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .._errors import CompileError
from .._installed import HEADERS, LIBRARY, SOURCES
from ..own import compilers
from .options import OWN

#: Of nvcc and the headers, by which build systems choose their options.
VERSION = "13.0"
#: Names the folder to the `cudakern cc` that its nvcc calls.
VARIABLE = "CUDAKERN_TOOLKIT"

_NVCC = """#!/bin/sh
{variable}={folder} exec {python} -m cudakern cc "$@"
"""


#: A line of readelf about a symbol that a library has; and what the assembler calls its kind.
_SYMBOL = re.compile(r"^ *\d+: \w+ +\w+ +(FUNC|OBJECT|TLS) +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\w+)$", re.M)
_KINDS = {"FUNC": ("function", ".text"), "OBJECT": ("object", ".data"), "TLS": ("tls_object", '.tbss,"awT",%nobits')}


def command(words: Sequence[str]) -> int:
    """`cudakern toolkit DIR`: makes the folder."""
    if len(words) != 1 or words[0].startswith("-"):
        raise ValueError("toolkit needs a folder, in which it makes bin/nvcc, include and lib64: cudakern toolkit DIR")
    make(Path(words[0]).absolute())
    return 0


def make(folder: Path) -> None:
    """Makes the folder, or what is missing or old in it."""
    for name in ("bin", "lib64", "nvvm/libdevice"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    nvcc = folder / "bin/nvcc"
    names = {"folder": shlex.quote(str(folder)), "python": shlex.quote(sys.executable)}
    nvcc.write_text(_NVCC.format(variable=VARIABLE, **names))
    nvcc.chmod(0o755)
    include = folder / "include"
    include.unlink(missing_ok=True)
    include.symlink_to(HEADERS)
    core, host = folder / "lib64/core.so", folder / "lib64/host.a"
    _make_core(core)
    _make_host(host)
    for name in OWN:
        for library in (f"lib{name}.so", f"lib{name}.a"):
            (folder / "lib64" / library).write_text(f'/* GNU ld script */\nINPUT("{core}" "{host}" -lstdc++ -lm)\n')


def _make_core(path: Path) -> None:
    """A library with the core's names. A program that is linked with it looks for the core by its whole path."""
    core = LIBRARY / "libcudakern_emulator.so"
    listed = subprocess.run(["readelf", "-W", "--dyn-syms", str(core)], capture_output=True, text=True, check=True)
    lines = []
    for kind, name in _SYMBOL.findall(listed.stdout):
        of_kind, section = _KINDS[kind]
        lines += [f".section {section}", f".globl {name}", f".type {name}, %{of_kind}", f"{name}: .zero 8"]
    _compile("assembler", "\n".join([*lines, ""]), ["-shared", "-nostdlib", f"-Wl,-soname,{core}"], path)


def _make_host(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder, "host.o")
        _compile("c++", (SOURCES / "emulator/program/host.cpp").read_text(), ["-c", "-O2", "-fPIC"], whole)
        subprocess.run(["ar", "rcs", str(path), str(whole)], check=True)


def _compile(language: str, text: str, options: Sequence[str], path: Path) -> None:
    line = [*compilers.compiler(), "-x", language, "-", *options, "-o", str(path)]
    done = subprocess.run(line, input=text, capture_output=True, text=True)
    if done.returncode:
        raise CompileError(f"{path} was not made", done.stderr)


def described(link_line: Sequence[str] = (), arch: int = 900) -> str:
    """What `nvcc -v` says, of which CMake reads where the toolkit is, and what programs are linked with."""
    folder = os.environ.get(VARIABLE, "")
    libraries = f'"-L{folder}/lib64"'
    of_runtime = "-lcudadevrt -lcudart_static -lrt -lpthread -ldl"
    lines = [
        f"_HERE_={folder}/bin",
        f"TOP={folder}",
        f"NVVMIR_LIBRARY_DIR={folder}/nvvm/libdevice",
        f"PATH={folder}/bin:{os.environ.get('PATH', '')}",
        f'INCLUDES="-I{folder}/include"',
        f"LIBRARIES=  {libraries}",
        f"cicc -arch compute_{arch // 10}",
        f"{folder}/bin/nvcc {' '.join(link_line)} {libraries} {of_runtime}",  # which CMake takes for the linker
    ]
    if not link_line:
        return "".join(f"#$ {line}\n" for line in lines[:-2])
    return "".join(f"#$ {line}\n" for line in lines) + f" ld -o a.out -L{folder}/lib64 {of_runtime}\n"
