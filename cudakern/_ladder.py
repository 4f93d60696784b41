"""ladder: all variants of an operation, compared on one input."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import operator
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _display, _recorded, _table
from ._array import DeviceArray
from ._backend import Backend, backend
from ._compare import Comparison, compare
from ._dtypes import kind_of, numpy_dtype
from ._errors import CudaError, unknown
from ._host import refuse_elsewhere
from ._operations import Operation, operation, widened
from ._profile import Profile, check_counts, integer, measure
from ._resources import shared_bytes
from ._variants import Named, operation_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: The end of a variant's error message; a ladder has no "auto".
AUTO_TAKES = re.compile(r"; variant='auto' takes (it|them)$")


#: A column of a ladder's table: its heading and its text for a step.
Column = tuple[str, Callable[["Step"], str]]


@dataclass(frozen=True, repr=False)
class Step(_display.Shown):
    """A step of a ladder: a variant with its profile and errors, or a note on why it did not run."""

    variant: _table.Variant
    profile: Profile | None
    error: Comparison | None  #: against NumPy, relative to the result, or to its terms where they cancel
    speedup: float | None  #: kernel time of the first step / this step's; None for emulated times
    note: str = ""
    shared_bytes: int | None = None  #: per block, static and dynamic, of the first kernel; on the emulator only
    recorded: _recorded.Recorded | None = None  #: on the emulator: figures measured on a GPU
    failed: bool = (
        False  #: True for an error of the runtime, False if the variant does not support this device or input
    )

    def table(self) -> _display.Table:
        """The step as a table of facts."""
        rows = [("what it shows", self.variant.summary)]
        if self.profile:
            rows += self.profile.facts()
        if self.error:
            rows.append(("error", "exact" if self.error == (0, 0) else str(self.error)))
        if self.speedup:
            rows.append(("speed-up over the first kernel", f"{_display.figure(self.speedup)}x"))
        if self.recorded:
            rows.append(("recorded on a GPU", _display.duration(self.recorded.kernel_ns)))
        return _display.facts(rows, f"{self.variant.operation}, {self.variant.name}", self.note)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "variant": self.variant.name,
            "after": self.variant.after,
            "summary": self.variant.summary,
            "profile": self.profile.to_dict() if self.profile else None,
            "error": self.error._asdict() if self.error else None,
            "recorded": self.recorded._asdict() if self.recorded else None,
            **{name: getattr(self, name) for name in ("speedup", "note", "failed")},
        }


@dataclass(frozen=True, repr=False)
class Ladder(_display.Shown, Sequence[Step]):
    """The steps, in order; displays as a table."""

    operation: str
    rate: str
    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    backend: Backend
    steps: tuple[Step, ...]
    recorded: _recorded.RecordedLadder | None = None  #: without a GPU: what was measured on one, shown instead of times
    parameters: dict[str, Any] = field(default_factory=dict)  #: as passed; variants without such a parameter ignore it

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            by_name = {step.variant.name: step for step in self.steps}
            if key not in by_name:
                raise KeyError(unknown("step", key, by_name, of=f"this ladder of {self.operation}"))
            return by_name[key]
        return self.steps[key]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    @property
    def failed(self) -> bool:
        """True if a step ended in an error of the runtime."""
        return any(s.failed for s in self.steps)

    def rate_of(self, profile: Profile) -> float:
        """The profile's rate in the unit for this operation."""
        return profile.gb_per_s if self.rate == "GB/s" else profile.gflop_per_s

    @property
    def limit(self) -> tuple[str, float] | None:
        """The limit of the chip whose times are shown, and the rate that it allows; None if not known."""
        if self.recorded is not None:
            return self.recorded.limit
        shares = ((p.limit, self.rate_of(p) / p.share) for p in (s.profile for s in self) if p and p.limit and p.share)
        return next(shares, None)

    @property
    def title(self) -> str:
        """Operation, input and device."""
        parameters = "".join(f", {name}={value}" for name, value in self.parameters.items())
        return f"{self.operation}: {_recorded.sizes(self.shapes)} {self.dtype}{parameters}; {self.backend.device_name}"

    def table(self, emulated: bool = False) -> _display.Table:
        """The table. On the emulator it has times recorded on a GPU; ``emulated`` adds the emulator's own
        times, which tell nothing about a GPU."""
        columns = self._exact() + (self._measured() if self.recorded is None else self._of_a_gpu(self.recorded))
        if emulated and self.recorded is not None:
            columns.append(("emulated\nkernel", lambda s: _display.duration(getattr(s.profile, "kernel_ns", None))))
        heads = ["variant", "what it shows", *(head for head, _ in columns)]
        rows = []
        for step in self.steps:
            rows.append([step.variant.name, step.variant.summary, *(cell(step) for _, cell in columns)])
        return _display.Table(self.title, heads, rows, " ".join(self._notes(emulated)), right=heads[2:])

    def _exact(self) -> list[Column]:
        """Columns that are exact on every backend."""

        def launch(show: Callable[[Profile], str]) -> Callable[[Step], str]:
            return lambda step: show(step.profile) if step.profile and step.profile.grid else "-"

        error: Column = (
            "max\nerror",
            lambda s: "-" if not s.error else "exact" if s.error == (0, 0) else f"{s.error.max:.2g}",
        )
        if self.recorded is None:
            return [error]
        return [
            ("launches", launch(lambda p: f"{p.launches:,}")),
            ("blocks", launch(lambda p: _display.dimensions(p.grid))),
            ("threads", launch(lambda p: _display.dimensions(p.block))),
            ("shared\nmemory", lambda s: "-" if s.shared_bytes is None else f"{s.shared_bytes:,} B"),
            ("to move", lambda s: _display.size(s.profile.bytes) if s.profile else "-"),
            error,
        ]

    def _measured(self) -> list[Column]:
        """This GPU's times."""
        blocks: Column = ("blocks", lambda s: _display.duration(getattr(s.profile, "blocks_ns", None)))
        return [
            ("kernel", lambda s: _display.duration(getattr(s.profile, "kernel_ns", None))),
            *([blocks] if self._clocked else []),
            ("call", lambda s: _display.duration(getattr(s.profile, "whole_ns", None))),
            (self.rate, lambda s: _display.figure(self.rate_of(s.profile) if s.profile else None)),
            ("speed-up", lambda s: f"{_display.figure(s.speedup)}x" if s.speedup else "-"),
        ]

    def _of_a_gpu(self, record: _recorded.RecordedLadder) -> list[Column]:
        """The times recorded on a GPU."""
        if not record.steps:
            return []
        chip = record.chip.removeprefix("NVIDIA ")
        return [
            (f"{chip}:\nkernel", lambda s: _display.duration(s.recorded and s.recorded.kernel_ns)),
            (f"{chip}:\n{self.rate}", lambda s: _display.figure(s.recorded and s.recorded.rate)),
            (
                f"{chip}:\nspeed-up",
                lambda s: f"{_display.figure(s.recorded.speedup)}x" if s.recorded and s.recorded.speedup else "-",
            ),
        ]

    @property
    def _clocked(self) -> bool:
        return any(step.profile is not None and step.profile.blocks_ns is not None for step in self.steps)

    def _notes(self, emulated: bool) -> Iterator[str]:
        for step in self.steps:
            if step.note:
                yield f"{step.variant.name}: {step.note}."
        shares = "relative to the magnitude of the terms of a result, which itself may be near 0"
        relative = shares if operation(self.operation).cancels else "relative"
        yield f"Errors are {relative}, compared with NumPy in double precision."
        if self.recorded is None:
            yield "call: the whole call, with its copies. speed-up: kernel time of the first step / of this step."
            if self._clocked:
                yield "blocks: from the first block's start to the last block's end, by the device's timer."
            return
        yield "to move: the fewest bytes that the operation must read and write."
        if not self.recorded.steps:
            yield "There is no GPU here, and this operation has no recorded times."
        else:
            yield (
                f"There is no GPU here. The times were recorded on an {self.recorded.chip} for {self.recorded.input}, "
                f"{self.recorded.date}; numpy ran on that machine's CPU."
            )
        if emulated:
            yield "emulated: the time in which this CPU emulated the kernel; it tells nothing about a GPU."

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {name: getattr(self, name) for name in ("operation", "shapes", "dtype", "parameters")}
        return plain | {"backend": self.backend.to_dict(), "steps": [step.to_dict() for step in self.steps]}

    def plot(self, path: str | None = None) -> Figure:
        """Bars of time and rate; ``path`` also saves them. Needs matplotlib (``pip install cudakern[plot]``)."""
        from ._plots import plot_ladder

        return plot_ladder(self, path)


def ladder(
    op: Named,
    *,
    n: int | None = None,
    shape: Sequence[int] | None = None,
    dtype: npt.DTypeLike | None = None,
    inputs: Sequence[Any] | None = None,
    variants: Sequence[str] | None = None,
    repeat: int | None = None,
    warmup: int | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    **parameters: Any,
) -> Ladder:
    """Run every variant of an operation on one input and compare time, rate and error.

    Parameters
    ----------
    op : str or function
        An operation: "matmul" or ``cudakern.matmul``.
    n : int, optional
        The array's length, or the rows and columns of both matrices. Default: 1,048,576 or 1000.
    shape : sequence of int, optional
        Instead of ``n``: the array's shape, or (m, k, n) for the product of an (m, k) and a (k, n) matrix.
    dtype : dtype, optional
        Of the input. Default: the operation's usual one: int32 (values 0 to 9) or float32 (0 to 1).
    inputs : list or tuple, optional
        Instead of random input: the operands of a call, in host memory, e.g. ``[a, x, y]``.
    variants : sequence of str, optional
        The variants to run, in this order. Default: all.
    repeat, warmup, seed : int, optional
        ``repeat`` and ``warmup`` as in :func:`profile`; ``seed`` of the random input, default 0.
    progress : bool, optional
        Show which variant is running. Default: on a terminal and in a notebook.
    **parameters
        Parameters of variants, for those that have them (``threads=512``, ``lists=32``), and parameters that change the
        result, for all (``radius=10``, ``mode="wrap"``).

    Returns
    -------
    Ladder
        A sequence of steps that displays as a table, with ``to_dict()`` and ``plot()``. A step that did not run has a
        ``note`` but no profile and no error.

    Raises
    ------
    TypeError, ValueError, ImportError
        An unknown operation or variant; an invalid size; a type, parameter or value that no variant supports; invalid
        inputs; bfloat16 without the package ml_dtypes.

    Examples
    --------
    >>> import cudakern
    >>> steps = cudakern.ladder("sum_of_squares", n=1000, variants=["coalesced", "numpy"])
    >>> [step.variant.name for step in steps], steps["coalesced"].error.max
    (['coalesced', 'numpy'], 0.0)
    """
    op = operation_name(op)
    what = operation(op)
    check_counts(repeat, warmup)
    if variants is None:
        entries = list(_table.variants(op))
    elif not isinstance(variants, Iterable):
        raise TypeError(f"ladder: variants= must be a list of names, not {variants!r}")
    else:
        entries = [_table.find(op, name) for name in ([variants] if isinstance(variants, str) else variants)]
    plain = {name: _plain(value) for name, value in parameters.items()}
    own, of_each = _parameters(what, entries, plain)
    if inputs is None:
        seed = 0 if seed is None else seed
        integer("seed", seed, 0)
        sizes, kind = _input(what, n, shape, dtype)
        operands = what.make(sizes, kind, seed)
    else:
        operands = _given(what, inputs, {"n": n, "shape": shape, "dtype": dtype, "seed": seed})
        kind = next((x for x in map(np.asarray, operands) if x.ndim), np.asarray(operands[0])).dtype
    here = backend().as_it_is()
    record = _recorded.instead_of_times(here, op)
    if record is not None and repeat is None and warmup is None:
        repeat, warmup = 1, 0  # emulated times are not shown
    steps: list[Step] = []
    refused: list[Exception] = []
    with _progress(progress, op, len(entries)) as announce:
        announce("reference, by NumPy")
        expected = _expected(what, operands, own, inputs is None)
        for variant, its in zip(entries, of_each, strict=True):
            announce(variant.name)
            keywords = {"variant": variant.name, **own, **its}
            step, error = _step(
                variant, here, functools.partial(measure, what.call, operands, keywords, repeat, warmup), expected
            )
            if record is not None and step.profile is not None:
                step = replace(
                    step,
                    recorded=record.steps.get(variant.name),
                    shared_bytes=shared_bytes(functools.partial(what.call, *operands, **keywords)),
                )
            steps.append(step)
            refused += [error] if error else []
    if inputs is not None and refused and not any(step.profile or step.failed for step in steps):
        raise refused[0]  # the input itself is invalid
    first = next((s.profile for s in steps if s.profile and not s.variant.on_host), None)
    shapes = tuple(np.shape(x) for x in operands)
    return Ladder(op, what.rate, shapes, kind.name, here, tuple(_with_speedup(s, first) for s in steps), record, plain)


def _parameters(
    what: Operation, variants: Sequence[_table.Variant], values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The parameters that change the result, for every call; and the other parameters, for each variant."""
    for name, value in values.items():
        there = _table.having(name, _table.variants(what.name))
        if not there:
            raise TypeError(no_parameter(what, name))
        asked = there if name in what.own else _table.having(name, variants)
        if not asked:
            raise TypeError(
                f"ladder: none of the variants ({', '.join(v.name for v in variants)}) has a parameter {name}=; "
                f"variants with it: {', '.join(v.name for v in there)}"
            )
        _check_value(asked, name, value)
    own = {name: value for name, value in values.items() if name in what.own}
    others = {name: value for name, value in values.items() if name not in own}
    return own, [
        {name: value for name, value in others.items() if _table.having(name, [variant])} for variant in variants
    ]


def no_parameter(what: Operation, name: str) -> str:
    """The error message for a parameter that no variant has."""
    known = dict.fromkeys(p.name for variant in _table.variants(what.name) for p in variant.parameters)
    takes = ", ".join(f"{other}=" for other in known) or "no parameters"
    operands = [p.name for p in _operands(what)]
    hint = f"; {name} is an input: inputs=[{', '.join(operands)}]" if name in operands else ""
    return f"ladder: the variants of {what.name} have no parameter {name!r}; they have {takes}{hint}"


def _plain(value: Any) -> Any:
    """NumPy's integers as Python's, for display and JSON; other values unchanged."""
    try:
        return int(operator.index(value))
    except TypeError:
        return value


def _check_value(variants: Sequence[_table.Variant], name: str, value: Any) -> None:
    """Raises an error for a value that no variant accepts. If only some do, the steps of the others note it."""
    refused = []
    for variant in variants:
        try:
            variant.values({name: value})
            return
        except (TypeError, ValueError) as error:
            refused.append(error)
    raise refused[0]


def _operands(what: Operation) -> list[inspect.Parameter]:
    """The parameters of the operation's function that are inputs."""
    count = len(what.make(what.ragged[0], numpy_dtype(what.default_dtype), 0))
    return list(inspect.signature(what.call).parameters.values())[:count]


def _given(what: Operation, inputs: Sequence[Any], others: Mapping[str, Any]) -> tuple[Any, ...]:
    """The operands that the caller passed as ``inputs``, unchanged."""
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"ladder: pass inputs= or {name}=, not both: {name}= is for random input")
    takes = _operands(what)
    names = ", ".join(p.name for p in takes)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"ladder: inputs= must be a list [{names}], not {type(inputs).__name__}")
    least = sum(p.default is p.empty for p in takes)
    if not least <= len(inputs) <= len(takes):
        some = "" if least == len(takes) else f" (the last {len(takes) - least} can be omitted)"
        beside = f"; pass {', '.join(f'{name}=' for name in what.own)} separately" if what.own else ""
        raise TypeError(f"ladder: {what.name} takes inputs=[{names}]{some}{beside}; got {len(inputs)} inputs")
    if any(isinstance(x, DeviceArray) for x in inputs):
        raise TypeError("ladder: inputs= must be host arrays, because NumPy's variant uses them too: pass x.get()")
    for name, x in zip(names.split(", "), inputs, strict=False):
        refuse_elsewhere(x, name)
    operands = list(inputs)
    while len(operands) > least and operands[-1] is None:
        operands.pop()
    return tuple(operands)


def _expected(what: Operation, operands: tuple[Any, ...], own: Mapping[str, Any], random: bool) -> tuple[Any, Any]:
    """NumPy's result in double precision, and what errors are relative to, if that is not the result."""
    if random:
        wide = widened(operands, np.float64)
        return what.reference(*wide, **own), what.magnitudes(*wide, **own) if what.cancels else None
    # Python's numbers take the type of the arrays.
    plain = tuple(
        x if x is None or isinstance(x, (int, float, complex)) else widened((np.asarray(x),), np.float64)[0]
        for x in operands
    )
    wide = tuple(map(np.asarray, plain))
    try:
        reference = what.call(*plain, variant="numpy", **own)
    except (TypeError, ValueError):
        try:
            reference = what.reference(*wide, **own)  # NumPy's variant may support fewer types
        except Exception:
            what.call(*operands, variant="numpy", **own)  # its message is better
            raise
    return reference, what.magnitudes(*wide, **own) if what.cancels else None


def _input(
    what: Operation, n: int | None, shape: Sequence[int] | None, dtype: npt.DTypeLike | None
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if n is not None and shape is not None:
        raise ValueError("ladder: pass n= or shape=, not both")
    try:
        sizes = tuple(map(operator.index, what.default_shape if shape is None else shape))
        if n is not None:
            sizes = what.square(operator.index(n))
    except TypeError:
        rule = f"n= must be an integer, not {n!r:.60}"
        if n is None:
            rule = f"shape= ({what.shape_help}) must be integers, not {shape!r:.60}"
        raise TypeError(f"ladder: {rule}") from None
    if any(s < 0 for s in sizes):
        raise ValueError(f"ladder: lengths must not be negative: {n if n is not None else sizes}")
    if what.fixed_rank and len(sizes) != len(what.default_shape):
        raise ValueError(f"ladder: shape= is {what.shape_help}, such as {what.default_shape}, not {sizes}")
    kind = numpy_dtype(what.default_dtype if dtype is None else dtype)
    listed = dict.fromkeys(t for variant in _table.variants(what.name) if not variant.on_host for t in variant.types)
    if kind.name not in listed:
        raise TypeError(
            f"ladder: the variants of {what.name} support {', '.join(listed)}, not {_table.type_in_words(kind)}"
        )
    return sizes, kind


def _step(
    variant: _table.Variant, here: Backend, run: Callable[[], tuple[Profile, Any]], expected: tuple[Any, Any]
) -> tuple[Step, Exception | None]:
    """The step, and the error if the variant does not support the input."""
    if reason := variant.why_not(here):
        return Step(variant, None, None, None, f"not here: {reason}"), None
    try:
        profile, result = run()
    except (TypeError, ValueError, NotImplementedError) as error:
        note = f"not for this input: {AUTO_TAKES.sub('', str(error))}"
        return Step(variant, None, None, None, note), None if isinstance(error, NotImplementedError) else error
    except CudaError as error:
        return Step(variant, None, None, None, f"failed: {error}", failed=True), None
    return Step(variant, profile, _errors(result, *expected), None), None


def _errors(result: Any, reference: Any, magnitude: Any) -> Comparison:
    """As compare(), but a NaN where NumPy has one is correct."""
    both: tuple[Any, ...] = (np.asarray(result), np.asarray(reference))
    if both[0].shape == both[1].shape and all(kind_of(x.dtype) in "fc" for x in both):
        right = np.isnan(both[0]) & np.isnan(both[1])
        if right.any():
            both = tuple(np.where(right, 0, x.astype(np.result_type(x, np.float64))) for x in both)
            magnitude = None if magnitude is None else np.where(right, 1, magnitude)
    return compare(both[0], both[1], magnitude)


def _with_speedup(step: Step, first: Profile | None) -> Step:
    p = step.profile
    if p is None or first is None or first.emulated:  # not a GPU's time
        return step
    return replace(step, speedup=first.kernel_ns / max(p.kernel_ns, 1))


@contextlib.contextmanager
def _progress(wanted: bool | None, op: str, count: int) -> Iterator[Callable[[str], None]]:
    """Gives a function that shows which variant is running: in a line that is updated on a terminal or in a notebook,
    elsewhere, if ``wanted``, in one line each."""
    from rich.console import Console

    console, begin, numbers = Console(file=sys.stderr), time.monotonic(), itertools.count()
    display = _notebook_display()
    line: Any = None

    def update(display: Callable[..., Any], name: str) -> None:
        nonlocal line
        text = {"text/plain": f"{op} {next(numbers)}/{count}: {name}"}
        if line is not None:
            line.update(text, raw=True)
        elif wanted or time.monotonic() - begin > 0.5:  # a short ladder leaves no empty output behind
            line = display(text, raw=True, display_id=True)

    if wanted is False:
        yield lambda name: None
    elif console.is_terminal:
        with console.status(op) as status:
            yield lambda name: status.update(f"{op} {next(numbers)}/{count}: {name}")
    elif display is not None:
        yield functools.partial(update, display)
        if line is not None:
            line.update({"text/plain": ""}, raw=True)
    elif wanted:
        yield lambda name: print(f"{op}: {name}", file=sys.stderr, flush=True)
    else:
        yield lambda name: None


def _notebook_display() -> Callable[..., Any] | None:
    """IPython's display function inside a notebook; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return ipython.display.display if hasattr(shell, "kernel") else None
