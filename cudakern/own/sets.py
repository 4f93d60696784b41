"""The package's own kernels, compiled at first use: sets of a mode that is not prebuilt.

    operation, variant, mode --> units that the variant's run needs --compilers--> objects --linker--> a set

A set has the whole table of its operation. Runs whose units it lacks fail; another variant's set has them.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import threading
from pathlib import Path

from .. import _display, _driver
from .._installed import KERNELS, LIBRARY, SOURCES
from .._native import Native, Set
from ..calls.observer import Observed, Run
from . import cache, compilers, dependencies

_loaded: dict[tuple[str, str, str, str], Set] = {}
_lock = threading.Lock()

#: What defines a run function: `CK_RUN(tiled) {`, `RUN(naive, ...)` and other macros, `int run_split_inside_if(`.
_RUN = re.compile(r"^(?:CK_UNIT\()?[A-Z][A-Z_]*\((\w+)|^int run_(\w+)\(|^constexpr auto run_(\w+) =", re.M)
_FUNCTION = re.compile(r"^[\w:<>*&, ]*?\b(\w+)\(", re.M)


def package_set(native: Native, operation: str, variant: str, mode: str) -> Set:
    """The set of an operation's kernels in that mode, with those that the variant launches. CompileError if there is no
    compiler."""
    with _lock:
        key = (native.backend_name(), operation, variant, mode)
        if key not in _loaded:
            _loaded[key] = native.load_set(str(_linked(native, operation, variant, mode)))
        return _loaded[key]


def in_mode(run: Observed, mode: str) -> Observed:
    """The call of an operation with the set of that mode; kernels of one's own are compiled in the observer's mode."""
    if not isinstance(run, Run):
        return run
    return run._replace(set=package_set(run.native, run.variant.operation, run.variant.name, mode))


# --- which units ------------------------------------------------------------------------------------------------------
def needed(operation: str, variant: str) -> list[_driver.Unit]:
    """The operation's table, and the units with run functions that the variant's own run calls."""
    units = [unit for unit in _units() if unit.operation == operation]
    table = next(unit for unit in units if unit.name == f"{operation}.cu")
    if variant == "fastest":  # which takes one of all the others
        return units
    chosen, waiting, known = [table], [variant], {variant}
    while waiting:
        run = waiting.pop()
        for unit in units:
            if called := _called(_text(unit), run):
                chosen += [unit] * (unit not in chosen)
                waiting += sorted(called - known)
                known |= called
    return chosen


@functools.cache
def _units() -> list[_driver.Unit]:
    return _driver.units(KERNELS)


@functools.cache
def _text(unit: _driver.Unit) -> str:
    return unit.part or (KERNELS.parent / unit.source).read_text(encoding="utf-8")


def _called(text: str, run: str) -> set[str]:
    """The runs that this run calls, by functions of its file too, and the run itself; none if the text does not define
    it."""
    blocks = re.split(r"\n\n(?=\S)", text)
    waiting = [block for block in blocks if run in _runs(block)]
    called = {run} if waiting else set()
    while waiting:
        block = waiting.pop()
        words = set(re.findall(r"\w+", block))
        called |= {word.removeprefix("run_") for word in words if word.startswith("run_")}
        blocks = [other for other in blocks if other != block]
        waiting += [other for other in blocks if words & {*_FUNCTION.findall(other)} and not _runs(other)]
    return called


def _runs(block: str) -> set[str]:
    return {name for names in _RUN.findall(block) for name in names if name}


# --- compiling --------------------------------------------------------------------------------------------------------


def _linked(native: Native, operation: str, variant: str, mode: str) -> Path:
    from concurrent.futures import ThreadPoolExecutor, wait  # which few calls need

    cxx = compilers.compiler()
    sources = {unit.name: unit.text for unit in needed(operation, variant)}
    # A run that is not compiled fails: the address of this function stands for its own.
    sources["set.cu"] = '#include "kernels/set.cu"\nextern "C" int cudakern_no_run() { return CK_BAD_VALUE; }\n'
    what = f"Compiling {operation}, {variant}{' so that it reports its accesses' * (mode in _driver.REPORTING)} ..."
    with (
        _display.progress_line(None, after=0) as announce,
        ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)))) as pool,
    ):
        objects_made = [pool.submit(_object, cxx, name, text, operation, mode) for name, text in sources.items()]
        if wait(objects_made, 0.3).not_done:  # they were not kept
            announce(what)
        objects = [one.result() for one in objects_made]
    line = [*cxx, "-shared", "-o", compilers.RESULT, *map(str, objects), *compilers.reporting(cxx, mode)]
    line += _driver.libraries(mode)
    line += [native.__file__, *_driver.core(LIBRARY), f"-Wl,-rpath,{Path(native.__file__).parent}"]

    def build(folder: Path, may_read: dependencies.Reachable) -> cache.Built:
        absent = [f"-Wl,--defsym={name}=cudakern_no_run" for name in _missing(cxx, objects, operation)]
        return compilers.run([*line, *absent], {}, folder, may_read)[0], ()  # objects' names tell their contents

    return compilers.kept(cache.key(line, compilers.identity(cxx)), ".so", lambda: dependencies.NO_FILES, build)[0]


def _object(cxx: list[str], name: str, source: str, operation: str, mode: str) -> Path:
    files = {name: source, "operations.inc": _driver.table_of([operation])}
    command = [*cxx, *_driver.options(shlex.join(cxx), mode), *_driver.OF_PACKAGE, "-g1"]
    line = [*command, *_driver.headers(SOURCES), f"-I{SOURCES}", "-I.", "-c", name, "-o", compilers.RESULT]
    line += ["-MD", "-MF", compilers.READ]
    key = cache.key(line, files, compilers.identity(cxx), dependencies.environment())
    build = functools.partial(compilers.run, line, files, kind=compilers.OBJECT_KIND)
    return compilers.kept(key, ".o", lambda: dependencies.NO_FILES, build)[0]


def _missing(cxx: list[str], objects: list[Path], operation: str) -> list[str]:
    """The operation's functions that some object uses and none defines."""
    nm = subprocess.run([*cxx, "-print-prog-name=nm"], capture_output=True, text=True).stdout.strip() or "nm"
    rows = subprocess.run([nm, "-P", *map(str, objects)], capture_output=True, text=True, check=True).stdout
    symbols = [row.split()[:2] for row in rows.splitlines() if len(row.split()) > 1]
    defined = {name for name, kind in symbols if kind != "U"}
    return sorted({name for name, kind in symbols if kind == "U" and f"{len(operation)}{operation}" in name} - defined)
