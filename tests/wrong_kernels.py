"""The small wrong kernels in `wrong/`, each next to its right twin: wrong/README.md has the format."""

import contextlib
import ctypes
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import re
import sys
import threading

import numpy as np

import cudakern as ck

FOLDER = pathlib.Path(__file__).with_name("wrong")

#: Kinds of mistakes: the names of the folders, and of the marks.
KINDS = (
    "bounds", "misaligned", "freed", "double_free", "uninitialised", "race", "scope", "barrier", "warp", "asynchronous",
    "streams", "leak", "unwritten",
)  # fmt: skip
#: Kinds that a checker looks for only if it is asked to.
ON_REQUEST = ("leak", "unwritten")
TWINS = ("wrong", "right")

_MARK = re.compile(r"\s*//! (\w+)(.*)$")


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """A wrong kernel and its right twin."""

    kind: str
    name: str
    path: pathlib.Path
    source: str
    summary: str  #: what is wrong
    marks: dict[int, str]  #: the kind of mistake on each faulty line of the file, counted from 1
    notes: dict[int, str]  #: what a mark says besides, such as "y[1000]"
    script: dict[int, str]  #: Python, by line of the file: how a twin is run
    checks: dict[int, str]  #: the same: what holds after the right twin

    @property
    def label(self) -> str:
        return f"{self.kind}/{self.name}"

    def lines_of(self, twin):
        """The lines of that kernel, from its head to its last brace."""
        lines = self.source.splitlines()
        first = next(i for i, line in enumerate(lines, 1) if re.match(rf"__global__ .*\b{twin}\(", line))
        return range(first, 1 + next(i for i, line in enumerate(lines, 1) if i > first and line.startswith("}")))


def read(path):
    source = path.read_text()
    marks, notes, script, checks = {}, {}, {}, {}
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if mark := _MARK.search(line):
            marks[number], notes[number] = mark[1], mark[2].strip()
            line = line[: mark.start()]
        for start, text in (("//>", script), ("//=", checks)):
            if line.startswith(start):
                text[number] = line[len(start) :].removeprefix(" ")
    comments = itertools.takewhile(lambda line: line.startswith("// "), lines)
    summary = " ".join(line[3:] for line in comments)
    return Case(path.parent.name, path.stem, path, source, summary, marks, notes, script, checks)


@functools.cache
def cases():
    """All of them, by kind and name."""
    found = [read(path) for path in FOLDER.glob("*/*.cu")]
    return tuple(sorted(found, key=lambda case: (KINDS.index(case.kind), case.name)))


def floats(n):
    """Fresh random numbers from 0 to 1."""
    return np.random.default_rng().random(n, np.float32)


def ints(n):
    """Fresh random numbers from 0 to 99, of which the first ones are all of these, in some order."""
    draw = np.random.default_rng()
    return np.r_[draw.permutation(100), draw.integers(0, 100, max(n - 100, 0))][:n].astype(np.int32)


def address(x):
    """Where a device array begins, as an integer: the kernel gets no array then, and nobody orders its use."""
    try:
        return x.__cuda_array_interface__["data"][0]
    except AttributeError:  # on the emulator
        return np.from_dlpack(x).ctypes.data


#: So many files are compiled as one source on the emulator, where the headers take most of a small file's time.
TOGETHER = 12


def program(case):
    """The source of both twins, compiled when it is first used."""
    if not ck.backend().emulated:
        return _alone(case.path)
    paths = sorted(case.path.parent.glob("*.cu"))
    first = paths.index(case.path) // TOGETHER * TOGETHER
    return Part(_together(tuple(paths[first : first + TOGETHER])), case.name)


class Part:
    """A file's part of a program of several."""

    def __init__(self, whole, namespace):
        self._whole, self._namespace = whole, namespace

    def __getitem__(self, name):
        return self._whole[f"{self._namespace}::{name}"]

    __getattr__ = __getitem__

    def symbol(self, name):
        return self._whole.symbol(f"{self._namespace}::{name}")


_alone = functools.cache(ck.compile)


@functools.cache
def _together(paths):
    """Each file in a namespace of its own, with its own name and line numbers."""
    includes, parts = {}, []
    for path in paths:
        text = path.read_text()
        includes |= dict.fromkeys(re.findall(r"^#include .*$", text, re.M))
        text = re.sub(r"^#include ", "// ", text, flags=re.M)
        macros = [f"#undef {name}\n" for name in re.findall(r"^#define (\w+)", text, re.M)]
        parts.append(f'namespace {path.stem} {{\n#line 1 "{path.name}"\n{text}\n}}\n{"".join(macros)}')
    return ck.compile("\n".join([*includes, *parts]), name=f"{paths[0].parent.name}.cu")


def run(case, twin, check=True):
    """Runs a twin as its script says and waits for it; then, after the right one, tests what should hold. Returns the
    script's variables. An exception has the line of the file in which it came about."""
    compiled = program(case)
    names = {
        "ck": ck, "np": np, "floats": floats, "ints": ints, "address": address,
        "program": compiled, "kernel": compiled[twin], "twin": twin,
    }  # fmt: skip
    _execute(case, case.script, names)
    ck.synchronize()
    if twin == "right" and check:
        _execute(case, case.checks, names)
    return names


def _execute(case, lines, names):
    """Runs lines of the file, which stay where they are, so that errors name them."""
    text = "".join(f"{lines.get(number, '')}\n" for number in range(1, max(lines, default=0) + 1))
    exec(compile(text, str(case.path), "exec"), names)


# --- a checker's verdict ----------------------------------------------------------------------------------------------
def verdict(case, findings):
    """Of a checker: "line" if one of its findings names a marked line, "found" if it reports something else, "clean".
    ``findings``: the lines of the file that each one names."""
    if any(case.marks.keys() & set(lines) for lines in findings):
        return "line"
    return "found" if findings else "clean"


def checked(case, twin):
    """What cudakern.check finds in a twin."""
    return ck.check(run, case, twin, check=False, notes=case.kind in ON_REQUEST)


def by_mark(case, findings):
    """(findings that name a marked line, the others)"""
    here = [one for one in findings if pathlib.Path(one.file).name == case.path.name]
    marked = [one for one in here if case.marks.keys() & set(one.lines)]
    return marked, [one for one in findings if one not in marked]


#: Seconds after which a twin on a GPU is said to hang; some wrong ones do.
HANGS_S = 15


def _hangs():
    print('\n@{"error": "hangs"}', flush=True)
    os._exit(0)  # nothing else ends a kernel that waits for ever


def _run_as_a_program(case, twin):
    """Runs a twin and reads its results, as a program does that a tool watches; returns its error."""
    error = ""
    program(case)
    timer = threading.Timer(HANGS_S, _hangs)
    timer.start()
    try:
        names = run(case, twin)
        if twin == "wrong":
            with contextlib.suppress(AssertionError):  # its results are wrong
                _execute(case, case.checks, names)
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}"
    timer.cancel()
    if case.kind == "leak" and not ck.backend().emulated:  # a leak is reported when the context ends
        ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxReset_v2(0)
        print(f"\n@{json.dumps({'case': case.label, 'error': error})}", flush=True)
        os._exit(0)
    return {"error": error}


def main(how, *labels):
    """For .ci/wrongs.py, in a process of its own: what is said of each of these cases, in a line of JSON. ``how``:
    "compile", a twin ("wrong", "right") that is run, or "check": the verdict of cudakern.check on both twins."""
    of = {case.label: case for case in cases()}
    for case in map(of.__getitem__, labels):
        if how == "compile":
            said = {"error": ""}
            try:
                program(case)
            except Exception as exception:
                said["error"] = f"{type(exception).__name__}: {exception}"[:300]
        elif how == "check":
            said = {}
            for twin in reversed(TWINS):
                try:
                    found = checked(case, twin)
                    marked, others = by_mark(case, found)
                    kinds = " ".join(sorted({one.kind for one in marked}))
                    texts = list(map(str, found if twin == "right" else others))
                    said[twin] = {"verdict": verdict(case, [one.lines for one in found]), "kinds": kinds, "else": texts}
                except Exception as exception:
                    said[twin] = {"verdict": "fails", "kinds": "", "else": [f"{type(exception).__name__}: {exception}"]}
        else:
            said = _run_as_a_program(case, how)
        print(f"\n@{json.dumps({'case': case.label, **said})}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
