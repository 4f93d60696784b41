"""compile: kernels of one's own, in CUDA C++."""

from __future__ import annotations

import operator
import os
import re
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .. import _display
from .._backend import Backend, backend, backend_of
from .._errors import CompileError, CudaError, short_in_notebooks, unknown
from .._native import Native, Set, View
from ..arrays import transfer
from ..arrays.array import DeviceArray
from ..arrays.streams import stream_handle
from ..arrays.transfer import Array
from ..calls.observer import Observer, observer
from ..calls.table import Variant
from ..chips.chip import MULTIPROCESSORS
from ..sources.text import Source
from . import compilers, reports
from .arguments import Argument, Parameter, place, refuse_overlap
from .cuda_source import KernelText, contents, read
from .dependencies import Header, follow, quoting

#: Blocks along x. No length of a grid or block may be greater.
_MOST = 2**31 - 1


class Checked(NamedTuple):
    """How small launches of a program are checked on the emulator, unless another observer is there."""

    by: Observer
    threads: int  #: of such a launch, at most


class _Built:
    """A program compiled for one backend."""

    def __init__(self, native: Native, compiled: Set, mode: str) -> None:
        self.native, self.set, self.mode = native, compiled, mode
        self.kernels, self.variables = dict(compiled.kernels), dict(compiled.variables)

    def variable(self, name: str, device: int) -> View:
        """The memory of a variable; of a type that arrays do not have, as bytes."""
        dtype, element_bytes, shape, is_const = self.variables[name]
        if dtype is None:
            dtype, shape = "uint8", (*shape, element_bytes)
        address, _ = self.native.variable(self.set, name, device)
        return self.native.adopt(self.set, address, shape, None, dtype, device, is_const)


def _mode(here: Backend, by: Observer | None) -> str:
    """Of the set for launches that this observer runs."""
    return by.mode if by is not None and here.emulated else "plain"


class Program(_display.Shown):
    """Compiled CUDA C++. Its kernels are attributes; a template's are items: ``program["scale<float>"]``. ``source`` is
    the text."""

    def __init__(
        self,
        source: Source,
        name: str,
        folder: Path | None,
        flags: Sequence[str],
        arch: int | None,
        checked: Checked | None = None,
    ) -> None:
        self.source, self._checked = source, checked
        self._name, self._folder, self._flags, self._arch = name, folder, tuple(flags), arch
        headers = [Header("", str(folder) if folder else None, source, {})]
        texts = [header.text for header in follow(headers, (quoting(folder), ()))]
        parts = [contents(text) for text in (*texts[1:], source)]
        unclosed = parts[-1].unclosed
        if unclosed and not re.search(r"^\s*#\s*(?:if|else)", source, re.M):  # which may hide a brace
            raise CompileError(f"{name}:{unclosed}: a brace {{ is never closed")
        self._kernels: dict[str, KernelText] = {}  # by their names
        self._variables = tuple(variable for part in parts for variable in part.variables)
        for kernel in (kernel for part in parts for kernel in part.kernels):
            self._kernels.setdefault(kernel.name, kernel)
            this = f"{name}:{kernel.line}: {kernel.name} is a kernel"
            if not kernel.returns_nothing:
                raise CompileError(f"{this}, and must return void")
            if by_reference := next((text for text in kernel.parameters if "&" in text), None):
                instead = f"`{by_reference}`; use a pointer or a value"
                raise CompileError(f"{this}, whose parameters cannot be references: {instead}")
            if "..." in kernel.parameters:
                raise CompileError(f"{this}, which cannot have `...`: name each parameter")
        if not any("__global__" in text for text in texts):
            raise CompileError(f"{name} has no kernel: no function is declared with __global__")
        self._instances: dict[str, None] = {}  # what was asked for by name
        self._built: dict[tuple[str, str], _Built] = {}  # by backend and mode
        self._used: dict[str, _Built] = {}  # that has run last on a backend
        self._lock = threading.Lock()

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels that are compiled, with their namespaces."""
        return tuple(self._on(backend()).kernels)

    def _observer(self, here: Backend, threads: int) -> Observer | None:
        """Who runs a launch of so many threads."""
        by, checked = observer.get(), self._checked
        is_small = checked is not None and here.emulated and threads <= checked.threads
        return checked.by if checked is not None and by is None and is_small else by

    def _on(self, here: Backend, wanted: str = "", mode: str = "") -> _Built:
        """The program for a backend, compiled when it is first needed there, with that instance of a template. By
        default in the mode in which it has run last, or will run small launches."""
        with self._lock:
            before = self._used.get(here.name)
            built = self._built.get((here.name, mode)) if mode else before
            if built is None or (wanted and wanted not in built.kernels):
                mode = mode or (before.mode if before else _mode(here, self._observer(here, 0)))
                instances = dict.fromkeys(filter(None, (*self._instances, wanted)))
                built = self._built[here.name, mode] = self._compiled(here, tuple(instances), mode)
                self._instances = instances
            self._used[here.name] = built
            if before is not None and before is not built:  # variables keep their values
                changing = [name for name, (*_, is_const) in built.variables.items() if not is_const]
                for name, device in product(changing, range(here.native.device_count())):
                    here.native.copy(built.variable(name, device), before.variable(name, device), 0)
            return built

    def _unit(self, here: Backend, instances: tuple[str, ...]) -> tuple[compilers.Unit, compilers.Names]:
        """What is to be compiled."""
        chip = 10 * here.capability
        unit = compilers.Unit(str(self.source), self._name, self._folder, self._flags, self._arch or chip, chip)
        kernels = tuple(kernel.name for kernel in self._kernels.values() if not kernel.is_template)
        return unit, compilers.Names(instances, kernels, self._variables)

    def _compiled(self, here: Backend, instances: tuple[str, ...], mode: str) -> _Built:
        unit, names = self._unit(here, instances)
        compiled = compilers.COMPILERS[here.name](here.native, unit, names, here.device, mode)
        return _Built(here.native, compiled, mode)

    def __getitem__(self, name: str) -> Kernel:
        if not isinstance(name, str):
            raise TypeError(f"a kernel is chosen by its name, such as program['scale<float>'], not by {name!r:.60}")
        name = re.sub(r"\s+", " ", name.strip())
        known = self._names()
        name = known.get(name, name)
        text = self._kernels.get(name.split("<")[0])
        if text is not None and text.is_template and "<" not in name:
            raise TypeError(f"{name} is a template: name its arguments, as in program['{name}<float>']")
        if text is not None and not text.is_template and "<" in name:
            raise TypeError(f"{text.name} is not a template: write program[{text.name!r}]")
        if "<" in name and not name.endswith(">"):
            raise TypeError(f"{name!r} names no kernel: write it as in program['scale<float>']")
        word = name.split("<")[0].split("::")[-1].strip()
        if text is None and not (word and _is_word(word, self.source)):  # a macro may define it
            raise AttributeError(unknown("kernel", name, known), name=name, obj=self)
        return Kernel(self, name, text)

    def __getattr__(self, name: str) -> Kernel:
        ready = "_kernels" in self.__dict__  # else it is a copy that is being made
        known = self._names() if ready else {}
        if name.startswith("__") or name not in known:
            hint = f". If a macro declares it, write program[{name!r}]" if ready and _is_word(name, self.source) else ""
            if ready and not hint and (first := next((one for one in known if one.isidentifier()), "")):
                hint = f". A launch is written program.{first}[grid, block](arguments)"
            raise AttributeError(unknown("kernel", name, known) + hint, name=name, obj=self)
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*(n for n in self._names() if n.isidentifier()), "kernels", "source", "symbol", "table"})

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        instead = "pickle its source, str(program.source), and compile that in the other process"
        raise TypeError(f"a Program cannot be copied or pickled, since its code is loaded here: {instead}")

    def _names(self) -> dict[str, str]:
        """Names of kernels without namespaces, if that is unambiguous, and with them."""
        short = [name.split("::")[-1] for name in self._kernels]
        known = {s: name for s, name in zip(short, self._kernels, strict=True) if short.count(s) == 1}
        return known | {name: name for name in self._kernels}

    def _line_in(self, message: str) -> str:
        """The line of the source that a message names as "kernels.cu:3", with its text; "" if it names none."""
        match = re.search(rf"\b{re.escape(self._name)}:(\d+)", message)
        lines = self.source.splitlines()
        return f"{match[0]}: {lines[int(match[1]) - 1].strip()}" if match and int(match[1]) <= len(lines) else ""

    def symbol(self, name: str) -> Symbol:
        """A ``__device__`` or ``__constant__`` variable: ``program.symbol("table")[:] = values`` writes it, and
        ``.get()`` reads it. AttributeError for an unknown name."""
        variables = self._on(backend()).variables
        if name not in variables:
            raise AttributeError(unknown("variable", name, variables), name=name, obj=self)
        return Symbol(self, name)

    def table(self) -> _display.Table:
        """A row for each kernel."""
        rows = [[k.name, ", ".join(k.parameters) or "none", f"{k.line}"] for k in self._kernels.values()]
        note = f"Variables: {', '.join(self._variables)}." if self._variables else ""
        return _display.Table(f"{self._name}: kernels", ["kernel", "parameters", "line"], rows, note, ["line"])


class Symbol:
    """A variable of a Program on the current device. It has the items, attributes and methods of its ``array``."""

    __slots__ = ("_name", "_program")

    def __init__(self, program: Program, name: str) -> None:
        self._program, self._name = program, name

    @property
    def array(self) -> DeviceArray:
        """Its memory. A variable of a type that arrays do not have (a struct) is an array of bytes. When the program is
        compiled again, for another instance of a template, its variables move."""
        here = backend()
        built = self._program._on(here)
        return DeviceArray(built.variable(self._name, here.device), here.native)

    def __getitem__(self, key: Any) -> DeviceArray:
        array = self.array
        return array[self._of_all(key, array)]

    def __setitem__(self, key: Any, value: Any) -> None:
        array = self.array
        array[self._of_all(key, array)] = value

    @staticmethod
    def _of_all(key: Any, array: DeviceArray) -> Any:
        """``[:]`` is the whole variable, also of one that is no array."""
        return () if not array.ndim and isinstance(key, slice) and key == slice(None) else key

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __repr__(self) -> str:
        return f"<variable {self._name} of {self._program._name}: {self.array!r}>"


_NOT_GIVEN: Any = ()


class Kernel:
    """A kernel of a Program: ``kernel[grid, block](arguments...)`` launches it."""

    __slots__ = ("_text", "name", "program")

    def __init__(self, program: Program, name: str, text: KernelText | None) -> None:
        self.program, self.name, self._text = program, name, text

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """As in the source: ("const float *x", "float *y", "int n"); () if a macro declares the kernel."""
        return self._text.parameters if self._text is not None else ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.program.__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return f"<kernel {self.name}({', '.join(self.parameters)}) of {self.program._name}>"

    @short_in_notebooks
    def __getitem__(self, shape: Any) -> Launch:
        """``kernel[grid, block]`` or ``kernel[grid, block, shared, stream]``: a function of the kernel's arguments."""
        if not isinstance(shape, tuple) or not 2 <= len(shape) <= 4:
            raise TypeError(f"{self._how()}, or {self.name}[grid, block, shared bytes, stream]")
        return Launch(self, *shape)

    @short_in_notebooks
    def __call__(
        self,
        grid: int | Sequence[int] = _NOT_GIVEN,
        block: int | Sequence[int] = _NOT_GIVEN,
        *arguments: Any,
        shared: int = 0,
        stream: Any = None,
        cooperative: bool = False,
        **unknown: Any,
    ) -> None:
        """Launch the kernel.

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks, and threads per block, in one to three dimensions (x, y, z).
        *arguments
            One for each parameter. A pointer takes a C-contiguous array of its type, or None (NULL). NumPy arrays are
            copied to the device and, unless the pointer is to const, back. Device arrays stay where they are.
        shared : int
            Bytes of dynamic shared memory per block.
        stream : optional
            As for operations.
        cooperative : bool
            Launch all blocks at the same time, for a barrier of the whole grid.

        With arrays on the device it returns at once; otherwise it waits for the kernel.

        Raises
        ------
        TypeError, ValueError
            Arguments that do not fit the parameters.
        CudaError
            A launch beyond the device's limits, or a kernel that failed.
        """
        if grid is _NOT_GIVEN or block is _NOT_GIVEN:
            raise TypeError(self._how())
        Launch(self, grid, block, shared, stream, cooperative)(*arguments, **unknown)

    def _how(self) -> str:
        """How it is launched, for an error."""
        arguments = ", ".join(self.parameters) or "arguments"
        return f"{self.name}: a launch needs a grid and a block, in brackets: {self.name}[grid, block]({arguments})"

    @property
    def code(self) -> Source:
        """Its text, from the source."""
        return Source(self._text.code if self._text is not None else "", self.program.source.path)

    def _declared(self, i: int) -> str:
        """A parameter, as in the source; "" if the source does not show it."""
        return self.parameters[i] if i < len(self.parameters) else ""

    def _label(self, i: int) -> str:
        declared = self._declared(i)
        return f"{self.name}: argument {i + 1}" + (f", `{declared}`," if declared else "")

    def _casts(self, i: int) -> bool:
        """Whether the kernel converts a parameter, a pointer to const, to one that it may write through."""
        name = re.search(r"\bconst\b.*\*.*?(\w+)(?:\[\])?$", self._declared(i))
        if name is None or self._text is None:
            return False
        writable = r"(?!const\b)[\w:]+(?: (?!const\b)\w+)*\s*\*"
        cast = rf"\(\s*{writable}\s*\)\s*|\b(?:const|reinterpret)_cast<\s*{writable}\s*>\s*"
        return bool(re.search(rf"(?:{cast})\(?\s*&?\s*{name[1]}\b", self._text.code))


def _is_word(name: str, text: str) -> bool:
    return bool(re.search(rf"\b{re.escape(name)}\b", text))


def _sizes(value: Any, what: str, kernel: Kernel) -> tuple[int, ...]:
    """Grid or block as integers."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    arrays = any(isinstance(n, (np.ndarray, DeviceArray)) for n in sizes)
    whole = not arrays and all(hasattr(type(n), "__index__") and not isinstance(n, bool) for n in sizes)
    if whole and 1 <= len(sizes) <= 3 and all(1 <= n <= _MOST for n in sizes):
        return tuple(map(operator.index, sizes))
    hint, shown = "", type(sizes[0]).__name__ if arrays else f"{value!r:.60}"
    if arrays:
        hint = f": grid and block come first, as in {kernel.name}[grid, block](arguments)"
    elif any(isinstance(n, float) for n in sizes):
        hint = ": use //, as in (n + 255) // 256"
    elif whole and 0 in sizes:
        hint = " (an empty input needs no launch)"
    elif whole and max(sizes, default=0) > _MOST:
        most = {"grid": f"at most {_MOST} blocks along x, 65535 along y and z", "block": "at most 1024 threads"}
        hint = f" ({most[what]})"
    must = "must be an integer of at least 1 or a tuple of up to three"
    raise (ValueError if whole else TypeError)(f"{kernel.name}: {what} {must}, not {shown}{hint}")


def _no_keyword(kernel: Kernel, name: str) -> str:
    """Why a launch takes no argument of that name."""
    if name in ("shared", "stream"):
        return f"{kernel.name}: {name} is written as in {kernel.name}[grid, block, shared, stream](arguments)"
    if name == "cooperative":
        return f"{kernel.name}: cooperative is written as in {kernel.name}(grid, block, arguments, cooperative=True)"
    order = f" ({', '.join(kernel.parameters)})" if kernel.parameters else ""
    return f"{kernel.name} takes its arguments by position, in the order of its parameters{order}, not as {name}=..."


class Launch:
    """A kernel with its grid and block: a function of the kernel's arguments."""

    __slots__ = ("block", "cooperative", "grid", "kernel", "shared", "stream")

    def __init__(
        self, kernel: Kernel, grid: Any, block: Any, shared: int = 0, stream: Any = None, cooperative: bool = False
    ) -> None:
        self.kernel, self.grid, self.block = kernel, _sizes(grid, "grid", kernel), _sizes(block, "block", kernel)
        whole = hasattr(type(shared), "__index__")
        if not whole or not 0 <= operator.index(shared) <= _MOST:
            must = "shared must be a number of bytes, an integer of at least 0"
            raise (ValueError if whole else TypeError)(f"{kernel.name}: {must}, not {shared!r:.60}")
        self.shared, self.stream, self.cooperative = operator.index(shared), stream, cooperative

    @property
    def __name__(self) -> str:
        return self.kernel.name

    @property
    def label(self) -> str:
        """As it is written: "add_one[4, 256]"."""
        sizes = (str(size[0] if len(size) == 1 else size) for size in (self.grid, self.block))
        return f"{self.kernel.name}[{', '.join(sizes)}]"

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self.kernel.__reduce_ex__(protocol)

    def __repr__(self) -> str:
        grid, block = map(_display.dimensions, (self.grid, self.block))
        return f"<launch of {self.kernel.name}: {grid} blocks of {block} threads>"

    @short_in_notebooks
    def __call__(self, *arguments: Any, **unknown: Any) -> None:
        """Launch the kernel; see Kernel. Errors: TypeError, ValueError, CudaError."""
        kernel, stream = self.kernel, self.stream
        for name in unknown:
            raise TypeError(_no_keyword(kernel, name))
        ours = next((x for x in arguments if isinstance(x, DeviceArray)), None)
        here = backend() if ours is None else backend_of(ours)
        by = kernel.program._observer(here, prod(self.grid) * prod(self.block))
        built = kernel.program._on(here, kernel.name, _mode(here, by))
        arguments = tuple(x.array if isinstance(x, Symbol) else x for x in arguments)
        native, device, handle = here.native, here.device, stream_handle(stream, here.native, here.device)
        parameters = built.kernels[kernel.name]
        if len(arguments) != len(parameters):
            listed = f" ({', '.join(kernel.parameters)})" if kernel.parameters else ""
            raise TypeError(f"{kernel.name} has {len(parameters)} parameters{listed}, but got {len(arguments)}")
        values: list[Any] = []
        hosts: list[tuple[int, Array, bool]] = []
        for i, (x, parameter) in enumerate(zip(arguments, parameters, strict=True)):
            argument = Argument(kernel, i, parameter, x)
            if parameter[0] == "value":
                values.append(argument.number())
            elif isinstance(x, np.ndarray):
                hosts.append((i, argument.host(), parameter[0] == "writes"))
                values.append(x)
            else:
                values.append(argument.view(native, device, stream))
        pointers = [i for i, p in enumerate(parameters) if p[0] != "value" and values[i] is not None]
        if hosts and len(hosts) < len(pointers):
            other = next(i for i in pointers if i not in [j for j, _, _ in hosts])
            mixed = f"{kernel._label(hosts[0][0])} is a NumPy array, and argument {other + 1} is an array on the device"
            d = "take d = cudakern.asarray(x) before the call, and pass d, whose results are d.get()"
            raise TypeError(f"{mixed}: pass both of one kind: {d}")
        refuse_overlap(kernel, hosts)
        started = time.perf_counter_ns()
        once = {place(x): x for _, x, _ in hosts}
        copies = {where: transfer.from_host(native, x, device, handle) for where, x in once.items()}
        for i, x, _ in hosts:
            values[i] = copies[place(x)]
        results = [(values[i], x) for i, x, writes in hosts if writes and x.size]
        shapes = tuple(arguments[i].shape for i in pointers)
        dtype = next((parameters[i][1] or "struct" for i in pointers), "")
        moved = sum(values[i].nbytes for i in pointers)
        copied_ns = time.perf_counter_ns() - started if hosts else 0
        run = _Run(self, built, device, handle, tuple(values), results, shapes, dtype, moved, copied_ns)
        try:
            if by is None:
                run.execute()
            else:
                by.kernel(run)
            if len(hosts) == len(pointers):
                native.stream_synchronize(device, handle)
            for i, x, writes in hosts:
                if not writes and x.size and kernel._casts(i):
                    self._refuse_writes(i, x, transfer.to_host(native, values[i], handle))
        except CudaError as error:
            if line := kernel.program._line_in(str(error)):
                error.add_note(line)
            raise

    def _refuse_writes(self, i: int, before: Array, after: Array) -> None:
        """ValueError if the kernel has written to an array through a pointer to const."""
        if before.tobytes() != np.asarray(after).tobytes():
            label = self.kernel._label(i)
            declared = self.kernel._declared(i).replace("const ", "", 1)
            what = f"{label} was written through a cast, and arrays of pointers to const are not copied back"
            raise ValueError(f"{what}: declare it `{declared}`")


@dataclass(frozen=True)
class _Run:
    """A launch with its arguments on the device, and the results' arrays on the host."""

    launch: Launch
    built: _Built
    device: int
    stream: int
    arguments: tuple[Any, ...] = ()
    results: Sequence[tuple[View, Array]] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    moved: int = 0  #: bytes of all arrays
    copied_ns: int = 0  #: the time of the copies to the device
    values: tuple[int, ...] = ()  #: of a variant's parameters

    @property
    def native(self) -> Native:
        return self.built.native

    @property
    def variant(self) -> Variant:
        return entry(self.launch.kernel, self.native.backend_name())

    def execute(self, measure: int = 0) -> dict[str, Any] | None:
        """Launches, and copies the results to the host."""
        launch = self.launch
        shape = (self.built.set, launch.kernel.name, launch.grid, launch.block, launch.shared)
        report = self.native.launch(*shape, launch.cooperative, self.arguments, self.device, measure, self.stream)
        started = time.perf_counter_ns()
        for view, x in self.results:
            transfer.into_host(self.native, view, x, self.stream)
        if report is not None:
            report["bytes"], report["to_device_ns"] = float(self.moved), self.copied_ns
            report["to_host_ns"] = time.perf_counter_ns() - started if self.results else 0
        return report

    def launches(self, sweep: tuple[tuple[int, int], ...] = ()) -> tuple[dict[str, Any], ...]:
        """The launch, with the driver's information about the kernel."""
        launch = self.launch
        shape = (launch.grid, launch.block, launch.shared)
        return self.native.list_kernel(self.built.set, launch.kernel.name, *shape, self.device)

    def report(self) -> reports.Report:
        """What ptxas says of the program's kernels, for the chip of an emulator."""
        program = self.launch.kernel.program
        return reports.of_program(*program._unit(backend(), tuple(program._instances)))


def entry(kernel: Kernel, backend_name: str) -> Variant:
    """A kernel as an entry of the table, for displays."""
    return Variant(
        kernel.program._name, kernel.name, None, "", "", "", (), (), (), "none", backends=(backend_name,),
        kernels=(kernel.name,),
    )  # fmt: skip


def parameters_of(launch: Launch) -> tuple[Parameter, ...]:
    """The kernel's parameters, as compiled."""
    kernel = launch.kernel
    return tuple(kernel.program._on(backend(), kernel.name).kernels[kernel.name])


def listed(op: Kernel | Launch) -> _Run:
    """A launch without arguments, for kernel_resources; of a kernel itself, one block of 256 threads."""
    launch = op if isinstance(op, Launch) else Launch(op, 1, 256)
    here = backend()
    return _Run(launch, launch.kernel.program._on(here, launch.kernel.name, "plain"), here.device, 0)


@short_in_notebooks
def compile(
    source: str | os.PathLike[str],
    *,
    name: str | None = None,
    flags: Iterable[str] = (),
    arch: int | str | None = None,
    instances: Iterable[str] = (),
) -> Program:
    """Compile kernels of your own, in CUDA C++.

    Parameters
    ----------
    source : str or path
        The text, or a path (``pathlib.Path``, or a string that ends with ``.cu``).
    name : str, optional
        The file's name in messages. Default: the path's, or "kernels.cu".
    flags : iterable of str, optional
        More options for the compiler, such as "-DTILE=16" or "-Wall".
    arch : int or str, optional
        The compute capability that ``__CUDA_ARCH__`` states: 80, 8.0 or "sm_80". Default: the device's.
    instances : iterable of str, optional
        Instances of templates to compile now: "scale<float>". Others are compiled when they are first used.

    Returns
    -------
    Program
        Its kernels are attributes: ``program.add_one[grid, block](x, y, n)``.

    Raises
    ------
    CompileError
        With the compiler's messages, which have the source's line numbers.
    FileNotFoundError, TypeError, ValueError
        For an unsuitable argument.

    Notes
    -----
    ``cuda_runtime.h`` is included already, as by nvcc. Compiled programs are kept in a cache on disk.

    Examples
    --------
    >>> import cudakern, numpy
    >>> program = cudakern.compile(r'''
    ... __global__ void add_one(const float *x, float *y, int n) {
    ...     int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...     if (i < n) y[i] = x[i] + 1;
    ... }''')
    >>> x = numpy.arange(5, dtype=numpy.float32)
    >>> y = numpy.empty_like(x)
    >>> program.add_one[1, 32](x, y, 5)
    >>> y
    array([1., 2., 3., 4., 5.], dtype=float32)
    """
    return compiled(source, name, flags, arch, instances)


def compiled(
    source: str | os.PathLike[str],
    name: str | None,
    flags: Iterable[str],
    arch: int | str | None,
    instances: Iterable[str],
    checked: Checked | None = None,
) -> Program:
    """compile(), also of a program whose small launches are checked."""
    if not isinstance(name, (str, type(None))):
        raise TypeError(f"compile: name must be a str, such as 'kernels.cu', not {type(name).__name__}")
    folder = None
    if isinstance(source, os.PathLike) or (isinstance(source, str) and source.endswith(".cu") and "\n" not in source):
        path = Path(source).resolve()
        text, folder, name = read(path), path.parent, name or path.name
    elif isinstance(source, str):
        text, path = source, Path(name or "kernels.cu")
    else:
        raise TypeError(f"compile: source must be a str or a path, not {type(source).__name__}")
    flags, instances = _list("flags", "options", flags), _list("instances", "names", instances)
    name = name or "kernels.cu"
    if name != Path(name).name or name == "..":
        raise ValueError(f"compile: name must be the name of a file, without a folder, not {name!r}")
    if name.startswith(("-", "@")) or not name.isprintable():  # options of compilers
        must = "must not begin with - or @, and must be printable"
        raise ValueError(f"compile: name {must}, not {name!r}: pass name='kernels.cu'")
    program = Program(Source(text, path), name, folder, flags, _arch(arch), checked)
    program._instances |= dict.fromkeys(instances)
    program._on(backend())
    return program


def _list(what: str, such: str, value: Iterable[str]) -> tuple[str, ...]:
    """``flags`` or ``instances``, checked."""
    if isinstance(value, str):
        words = value.split() if what == "flags" else [value]
        raise TypeError(f"compile: {what} must be a list of {such}, such as {words!r}, not a str")
    if not isinstance(value, Iterable):
        raise TypeError(f"compile: {what} must be a list of {such}, not {type(value).__name__}")
    items = tuple(value)
    for item in items:
        if not isinstance(item, str) or any(sign in item for sign in "\0\n"):
            raise TypeError(f"compile: each of {what} must be a str of one line, not {item!r:.60}")
    return items


def _arch(value: Any) -> int | None:
    """__CUDA_ARCH__: 800 for 80, 8.0, "8.0", "80" and "sm_80"."""
    if value is None:
        return None
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{1,2})\.?(\d)[af]?", str(value))
    if not match or 10 * int(match[1]) + int(match[2]) not in MULTIPROCESSORS:
        known = ", ".join(f"{capability / 10}" for capability in MULTIPROCESSORS)
        must = "must be a compute capability, such as 90, 9.0 or 'sm_90'"
        raise ValueError(f"compile: arch {must}, not {value!r}; known: {known}")
    return 100 * int(match[1]) + 10 * int(match[2])
