"""check: finds what is wrong in a kernel, with its line, without a GPU."""

from __future__ import annotations

import collections
import contextlib
import ctypes
import dataclasses
import functools
import linecache
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from .._backend import emulator, use_backend
from .._errors import CudaError
from .._installed import KERNELS, PACKAGE
from ..calls.observer import Observed, Observer, Run, observed
from ..own import arguments, cuda_source
from ..own.compile import Kernel, Program
from ..own.compile import _Run as OwnRun
from ..own.compile import compile as compile_source
from ..own.sets import in_mode
from . import checker
from .checker import Place
from .declared import BYTES, lines_of, place_of
from .errors import OF_KERNELS, explained, is_explained, of_error
from .findings import WRAPPED, Finding, Findings, Launched, Parameter, finding, one_of_all_launches
from .session import name_of, session
from .trace import Call
from .unseen import Remark, remarks

_OWN_FILES = f"{PACKAGE}{os.sep}"


class Checking(Observer):
    """Runs every call in the checked set, and collects what is found."""

    def __init__(self, raises: bool, notes: bool = False) -> None:
        self.findings: list[Finding] = []
        self.launches = 0
        self._raises, self._notes = raises, notes
        self._calls: list[tuple[int, str, Place]] = []  #: the number of the last launch, its kernel, who has called

    @property
    def mode(self) -> str:
        return "checked"

    def replaced(self, by: Observer | None) -> contextlib.AbstractContextManager[object]:
        """What is timed, or listed, runs as if nothing were checked."""
        return contextlib.nullcontext() if isinstance(by, Checking) else session.paused()

    def kernel(self, run: Observed) -> None:
        if run.native is not emulator():
            raise TypeError("checking runs kernels on the emulator: pass NumPy arrays, or arrays made inside it")
        with session.lock:
            self._kernel(run)

    def _kernel(self, run: Observed) -> None:
        run = in_mode(run, self.mode)
        if self._notes and isinstance(run, OwnRun):
            run = _without_values(run)
        arrays = (*run.inputs, *run.outputs) if isinstance(run, Run) else cast(OwnRun, run).arguments
        checker.announce(checker.extent(x) for x in arrays if hasattr(x, "pointer"))
        checker.notes(self._notes)
        self.launches += 1
        failed: CudaError | None = None
        read = [] if isinstance(run, Run) else _read(cast(OwnRun, run).launch.kernel)
        is_run = not any(of.never_ends for of, _ in read)
        try:
            if is_run:
                run.execute()
                with checker.own_wait():
                    run.native.synchronize(run.device)
        except CudaError as error:
            if error.code not in OF_KERNELS:
                raise
            failed = error
        self._calls.append((checker.last_launch(), _kernel_of(run), _caller()))
        new = one_per_place([self._finding(one, run) for one in session.found()])
        if self._notes and is_run and isinstance(run, OwnRun):
            new = _with_unwritten(run, new)
        if failed is not None and not is_explained(failed.code, str(failed), new):
            new.append(of_error(failed, run))
        elif failed is not None and "have changed" not in str(failed):  # (that is seen when the launch has ended)
            new[-1] = explained(new[-1])
        new += [found for _, found in read]
        self.findings += [one if one.launch else dataclasses.replace(one, launch=len(self._calls)) for one in new]
        if self._raises and new:
            raise _error(new) from None

    def end(self) -> None:
        """Adds what can be said when all launches have ended, and what copies after them have done."""
        with session.lock:  # findings of another thread's launch are collected by that thread
            if self._notes:
                checker.find_leaks()
            new = one_per_place([self._finding(one, None) for one in session.found()])
        self.findings += new
        if self._raises and new:
            raise _error(new)

    def _launched(self, launch: int) -> Launched | None:
        """Where the host has launched it. None: it is a copy."""
        return next((Launched(kernel, place) for last, kernel, place in self._calls if launch <= last), None)

    def _finding(self, one: checker.Found, run: Observed | None) -> Finding:
        launches = self._launched(one.launch), self._launched(one.other_launch)
        is_copy = bool(one.launch & checker.COPY)
        launch = one.other_launch if is_copy else one.launch
        one.launch = next((i for i, (last, *_) in enumerate(self._calls, 1) if launch <= last), 0)
        if run is None or is_copy:
            return finding(one, (), launches=launches)
        file = one.access.line.file.decode(errors="replace")
        if isinstance(run, Run):
            name = re.sub(r"<.*", "", one.kernel.decode(errors="replace"))
            parameters = _declared(run.variant.operation, name.split("::")[-1])
            return finding(one, parameters, linecache.getlines(file), launches=launches)
        kernel, built = cast(OwnRun, run).launch.kernel, cast(OwnRun, run).built
        one = _wrapped_around(one, cast(OwnRun, run))
        source = lines_of(file, kernel.program._name, kernel.program.source) or linecache.getlines(file)
        parameters = _parameters(kernel, built.kernels[kernel.name])
        return finding(one, parameters, source, built.variables, launches)


def _wrapped_around(one: checker.Found, run: OwnRun) -> checker.Found:
    """Of an address that is x[i - 1] with an unsigned i of 0: x, although other memory may be nearer."""
    fits = []
    for i, (x, of) in enumerate(zip(run.arguments, run.built.kernels[run.launch.kernel.name], strict=True)):
        if hasattr(x, "pointer") and WRAPPED <= (index := (one.address - x.pointer) // (of[3] or 1)) < 1 << 32:
            fits.append((index, i, x))
    if checker.KINDS[one.kind] == "bounds" and fits:
        _, one.parameter, x = max(fits, key=lambda fit: fit[0])
        one.offset, one.length, one.variable = one.address - x.pointer, x.nbytes, b""
    return one


def _read(kernel: Kernel) -> list[tuple[Remark, Finding]]:
    """What the text of a kernel shows."""
    source, name = kernel.program.source, kernel.program._name
    found = []
    for of in remarks(source, kernel.name):
        place = Place(*place_of(of.offset, name, source), (0, 0, 0), (0, 0, 0))
        found.append((of, Finding(of.kind, kernel.name, place, of.message, of.advice, of.array)))
    return found


def _kernel_of(run: Observed) -> str:
    return run.variant.name if isinstance(run, Run) else cast(OwnRun, run).launch.kernel.name


def _without_values(run: OwnRun) -> OwnRun:
    """The same launch, with its results for NumPy in memory that counts as not written: a copy from the host is no
    result of the launch."""
    with checker.own_wait():
        run.native.synchronize(run.device)
    new = {}
    for view, _ in run.results:
        if [getattr(x, "pointer", 0) for x in run.arguments].count(view.pointer) == 1:  # else it is an input, too
            new[view.pointer] = run.native.empty(view.shape, view.dtype, run.device, run.stream)
            ctypes.memmove(new[view.pointer].pointer, view.pointer, view.nbytes)  # of which the checker does not hear
    arguments = tuple(new.get(getattr(x, "pointer", 0), x) for x in run.arguments)
    return dataclasses.replace(
        run, arguments=arguments, results=[(new.get(view.pointer, view), x) for view, x in run.results]
    )


def _with_unwritten(run: OwnRun, found: list[Finding]) -> list[Finding]:
    """Adds the results of which the launch has written a part, and nobody the rest. An array of NumPy's that the kernel
    reads first has its values from the host: it is no mere result."""
    of_numpy = [view.pointer for view, _ in run.results]
    inputs, notes = set(), []
    for one in found:
        i = one.element.parameter if one.element is not None else -1
        if one.kind == "uninitialised" and i >= 0 and getattr(run.arguments[i], "pointer", 0) in of_numpy:
            inputs.add(i)
        else:
            notes.append(one)
    kernel = run.launch.kernel
    declared = [_parameter(text).name for text in kernel.parameters]
    for i, (parameter, x) in enumerate(zip(run.built.kernels[kernel.name], run.arguments, strict=True)):
        if parameter[0] != "writes" or x is None or not x.nbytes or i in inputs:
            continue
        count, first = checker.unwritten(x.pointer, x.nbytes)
        if 0 < count < x.nbytes:
            size = parameter[3] or x.nbytes // math.prod(x.shape)
            name = declared[i] if i < len(declared) else f"argument {i + 1}"
            first_one = f"{name}[{first // size}]"
            message = f"{-(-count // size):,} element{'s' * (count > size)} of {name} got no value in the launch"
            message = f"{message}, the first is {first_one}"
            if parameter[1] is None:  # of a struct, members may be missing
                message = f"{count:,} bytes of {name} got no value in the launch, the first in {first_one}"
            advice = "The grid may be too small, or threads skip elements."
            notes.append(Finding("unwritten", kernel.name, _caller(), message, advice, name))
    return notes


def _caller() -> Place:
    """The line outside of the package that has called it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno, (0, 0, 0), (0, 0, 0))


def _error(found: list[Finding]) -> CudaError:
    """The first finding, and below it the others."""
    further = "".join(f"\n  {one}" for one in found[1:])
    text = str(found[0]) + ("\nFurther findings:" + further if further else "")
    return CudaError(text, "cudaErrorLaunchFailure", 719)


@functools.cache
def _declared(operation: str, kernel: str) -> tuple[Parameter, ...]:
    """The parameters of a kernel of the package, from the operation's files."""
    for path in sorted((KERNELS / operation).rglob("*.cu*")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"\b{kernel}\(", text) and (parameters := declared_in(text, kernel)) is not None:
            return parameters
    return ()


@functools.cache
def declared_in(text: str, kernel: str) -> tuple[Parameter, ...] | None:
    """The parameters of a kernel that a source declares; None if it does not."""
    kernels = cuda_source.contents(text).kernels
    declared = next((one for one in kernels if one.name.split("::")[-1] == kernel), None)
    return tuple(map(_parameter, declared.parameters)) if declared else None


def _parameters(kernel: Kernel, compiled: Sequence[arguments.Parameter]) -> tuple[Parameter, ...]:
    """Of a kernel of one's own: the names are in the source, and the elements' types and sizes in what was compiled."""
    texts = kernel.parameters
    if len(texts) != len(compiled):  # a macro declares it
        return tuple(Parameter(f"argument {i}", "", of[3], of[1]) for i, of in enumerate(compiled, 1))
    pairs = zip(map(_parameter, texts), compiled, strict=True)
    return tuple(dataclasses.replace(one, bytes=of[3] or one.bytes, dtype=of[1]) for one, of in pairs)


def _parameter(text: str) -> Parameter:
    """ "const float *x" """
    words = re.findall(r"\w+", re.sub(r"=.*", "", text))
    name = words[-1] if words else text
    if text.count("*") > 1:
        return Parameter(name, "pointer", 8)
    of = " ".join(w for w in words[:-1] if w not in ("const", "__restrict__", "restrict", "volatile", "signed"))
    of = of.removeprefix("unsigned ") or of
    return Parameter(name, of, BYTES.get(of, 0), is_value=not re.search(r"[*[]", text))


def one_per_place(found: list[Finding]) -> list[Finding]:
    """Code that a compiler has repeated, as in an unrolled loop, is one place. And what a race leads to, a read before
    the write, is no finding of its own."""
    kept: dict[Any, Finding] = {}
    counts: collections.Counter[Any] = collections.Counter()
    races = {(one.array, line) for one in found if one.kind == "race" for line in one.lines}
    for one in found:
        if one.kind != "uninitialised" or (one.array, one.line) not in races:
            key = one.where, one.launch
            kept.setdefault(key, one)
            counts[key] += one.count
    return [dataclasses.replace(one, count=counts[key]) for key, one in kept.items()]


@contextlib.contextmanager
def _checked(raises: bool, notes: bool = False) -> Iterator[Checking]:
    with session.wanted(), use_backend("emulator"), observed(Checking(raises, notes)) as by:
        yield by
        by.end()


@contextlib.contextmanager
def checking() -> Iterator[None]:
    """Inside ``with``, every launch is checked on the emulator, and the first mistake raises a CudaError.

    This concerns calls of this context (thread or task). A ``check`` inside returns its findings as always, and what
    ``profile``, ``ladder``, ``bench`` and ``lab`` measure is not checked. With the environment variable
    CUDAKERN_CHECK=1, set before cudakern is imported, all launches of the process are checked that run on the emulator;
    those on a GPU run there as usual, with a warning (CUDAKERN_BACKEND=emulator takes them to the emulator).

    Examples
    --------
    >>> import numpy as np, cudakern as ck
    >>> with ck.checking():
    ...     int(ck.sum_of_squares(np.arange(4), variant="tree_sequential"))
    14
    """
    with _checked(True):
        yield


def compiled_for_checks(source: str, name: str) -> Program:
    """compile(), as checks run kernels: the program is compiled once, and not without checks at first."""
    with use_backend("emulator"), observed(Checking(raises=False)):
        return compile_source(source, name=name)


def check(function: Callable[..., Any], *arguments: Any, notes: bool = False, **keywords: Any) -> Findings:
    """Run a call on the emulator, and find what is wrong in its kernels.

    Parameters
    ----------
    function : callable
        An operation, a launch of a kernel of your own, ``kernel[grid, block]``, or any function that calls these.
    *arguments, **keywords
        Its arguments.
    notes : bool
        Whether to report, too, what need not be a mistake: memory from ``malloc`` in a kernel that no kernel frees
        (kind "leak"), results of which a launch has written only a part ("unwritten"), and threads that have ended when
        others meet at a barrier ("ended").

    Returns
    -------
    Findings
        A list of Finding, which displays as a table; it is empty, and false, if nothing was found.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or arrays are on a GPU.

    Examples
    --------
    >>> import numpy as np, cudakern as ck
    >>> program = ck.compile('''
    ... __global__ void add_one(const float *x, float *y) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     y[i] = x[i] + 1;
    ... }''')
    >>> x = np.zeros(1000, "f4")
    >>> found = ck.check(program.add_one[4, 256], x, np.zeros_like(x))
    >>> [(one.kind, one.line) for one in found]
    [('bounds', 4), ('bounds', 4)]
    """
    name = name_of(function, "check")
    call = Call(function, arguments, keywords)
    with _checked(False, notes) as by:
        function(*arguments, **keywords)
    findings = one_of_all_launches(by.findings)
    return Findings([dataclasses.replace(one, call=call) for one in findings], by.launches, name)
