"""ladder for kernels of one's own: several launches on the same inputs, compared with a reference."""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _display
from .._backend import backend
from ..arrays.array import DeviceArray
from ..arrays.transfer import Array
from ..calls.table import Variant
from ..operations.registry import widened
from ..own.compile import Kernel, Launch, entry, parameters_of
from . import recorded, requests
from .compare import Comparison
from .profile import check_counts, measure
from .resources import kernel_resources
from .steps import Ladder, Step, errors_of, run_steps

_CALL = "ladder([program.one[grid, block], program.other[grid, block]], reference=function, inputs=[x, y, n])"

#: Emulated calls that take longer are not traced, too, which takes many times as long.
TRACED_NS = 1e9


class KernelLadder(Ladder):
    """A ladder of kernels of one's own. Without a GPU, it has neither times nor speed-ups."""

    @property
    def _without_times(self) -> str:
        return "without a GPU, kernels of your own have no times"

    def table(self, emulated: bool = False, brief: bool = False) -> _display.Table:
        """``emulated`` adds the emulator's times, which say nothing about a GPU's speed. ``brief`` changes nothing."""
        cells = self._rows(self.steps, emulated)
        figures = list(cells[0])
        rows = [[step.variant.name, *row.values()] for step, row in zip(self, cells, strict=True)]
        return _display.Table(self.title, ["kernel", *figures], rows, " ".join(self._notes(figures)), figures)

    def _times(self, step: Step) -> dict[str, str]:
        times = super()._times(step)
        del times["call"]  # which copies the inputs, too
        return {"time": times.pop("kernel"), **times}  # (the kernels' names are in a column "kernel")

    def _launch(self, step: Step) -> dict[str, str]:
        cells = super()._launch(step)
        if not any(kernel.shared_bytes for other in self for kernel in other.kernels):
            del cells["shared\nmemory"]
        return cells

    def _notes(self, figures: Sequence[str]) -> Iterator[str]:
        yield from self._reasons(self)
        yield "Errors are relative to the reference's result; where that is 0, to its largest element."
        if self.recorded is None:
            yield "GB/s: the bytes of all arrays / time. speed-up: time of the first kernel / of this kernel."
        else:
            yield "There is no GPU here, so there are no times."
            yield from requests.notes(figures)
            if others := ", ".join(step.variant.name for step in self if step.profile and not step.metrics):
                yield f"{others}: not counted, which takes long for large arrays; if ck.trace fails, it says why."


def kernel_ladder(
    kernels: Sequence[Any],
    reference: Callable[..., Any] | None,
    inputs: Sequence[Any] | None,
    repeat: int | None,
    warmup: int | None,
    progress: bool | None,
    others: Mapping[str, Any],
) -> KernelLadder:
    """ladder() of launches; ``others`` are its arguments that only operations have."""
    launches = _launches(kernels)
    for name, value in others.items():
        if value is not None:
            raise TypeError(f"ladder: {name}= is for operations; kernels of your own are compared by {_CALL}")
    if not callable(reference):
        raise _wrong("reference", "a function of the inputs that returns the results", reference)
    if not isinstance(inputs, (list, tuple)):
        raise _wrong("inputs", "a list of the kernels' arguments, in their order", inputs)
    if any(isinstance(x, DeviceArray) for x in inputs):
        raise TypeError("ladder: inputs= must be host arrays, because the reference uses them too: pass x.get()")
    check_counts(repeat, warmup)
    here = backend().as_it_is()
    record = recorded.instead_of_times(here, "", "")
    if record is not None and repeat is None and warmup is None:  # emulated times are not shown
        repeat, warmup = 1, 0
    with _display.progress_line(progress) as announce:
        announce(f"ladder 0/{len(launches)}: reference")
        results = reference(*map(_wide, inputs))

        def step_of(variant: Variant, launch: Launch, written: list[int], expected: list[Array | None]) -> Step:
            profile, arrays = measure(_with_copies, (launch, written, inputs), {}, repeat, warmup)
            kernels = tuple(kernel_resources(launch))
            metrics = _metrics(launch, written, inputs) if record is not None and profile.kernel_ns <= TRACED_NS else {}
            error = _error(arrays, expected)
            return Step(variant, replace(profile, variant=variant), error, kernels=kernels, metrics=metrics)

        runs = []
        for name, launch in zip(_names(launches), launches, strict=True):
            variant, written = replace(entry(launch.kernel, here.name), name=name), _written(launch, inputs)
            expected = _expected(launch, written, inputs, results)
            runs.append((variant, functools.partial(step_of, variant, launch, written, expected)))
        steps = run_steps(runs, "ladder", True, announce)
    shapes = tuple(x.shape for x in inputs if isinstance(x, np.ndarray))
    dtype = next((x.dtype.name for x in inputs if isinstance(x, np.ndarray)), "")
    programs = ", ".join(dict.fromkeys(step.variant.operation for step in steps))
    return KernelLadder(programs, "GB/s", shapes, dtype, here, steps, record)


def _wrong(name: str, must: str, value: object) -> TypeError:
    what = "missing" if value is None else f"of type {type(value).__name__}"
    return TypeError(f"ladder: {name}= must be {must}; it is {what}")


def _launches(kernels: Sequence[Any]) -> list[Launch]:
    for kernel in kernels:
        if isinstance(kernel, Kernel):
            raise TypeError(f"ladder: {kernel.name} has neither grid nor block: write {kernel.name}[grid, block]")
        if not isinstance(kernel, Launch):
            raise TypeError(f"{_CALL}: a list must contain launches of kernels, not {type(kernel).__name__}")
    if not kernels:
        raise ValueError(f"ladder: the list of kernels is empty: {_CALL}")
    return list(kernels)


def _names(launches: Sequence[Launch]) -> list[str]:
    """The kernels' names; with grid and block where a name occurs more than once."""
    count = Counter(launch.kernel.name for launch in launches)
    return [launch.kernel.name if count[launch.kernel.name] == 1 else launch.label for launch in launches]


def _wide(x: Any) -> Any:
    """A copy for the reference, in double precision, so that errors are the kernel's."""
    return widened((x.copy(),), np.float64)[0] if isinstance(x, np.ndarray) else x


def _written(launch: Launch, inputs: Sequence[Any]) -> list[int]:
    """The arguments that are results: those for pointers that are not to const."""
    pointers = [i for i, (kind, *_) in enumerate(parameters_of(launch)) if kind == "writes"]
    if not pointers:
        raise TypeError(f"ladder: {launch.kernel.name} has no result: all of its pointers are to const")
    return [i for i in pointers if i < len(inputs) and inputs[i] is not None]


def _expected(launch: Launch, written: list[int], inputs: Sequence[Any], results: Any) -> list[Array | None]:
    """The reference's results, one for each array that the kernel writes; None: its contents do not matter."""
    kernel = launch.kernel
    names = ", ".join(f"`{kernel.parameters[i]}`" for i in written if i < len(kernel.parameters))
    several = list(results) if isinstance(results, tuple) else [results]
    if not written:
        return []  # too few arguments: the launch raises an error
    if len(several) != len(written):
        must = f"must return {len(written)} results, not {len(several)}: a tuple, with None where they do not matter"
        raise TypeError(
            f"ladder: {kernel.name} may write {names}, so reference {must}; what is only read should be const"
        )
    if all(x is None for x in several):
        raise TypeError(f"ladder: reference must return the expected contents of {names}, not None")
    expected = [None if x is None else np.asarray(x) for x in several]
    for i, array in zip(written, expected, strict=True):
        if array is not None and isinstance(inputs[i], np.ndarray) and array.size != inputs[i].size:
            shapes = f"has shape {inputs[i].shape}, and reference returned shape {array.shape}"
            raise ValueError(f"ladder: {kernel._label(i)} {shapes}")
    return expected


def _with_copies(launch: Launch, written: list[int], inputs: Sequence[Any]) -> list[Array]:
    """The results of a launch that leaves the inputs as they are."""
    copies = {id(inputs[i]): copy.copy(inputs[i]) for i in written}
    launch(*(copies.get(id(x), x) for x in inputs))
    return [copies[id(inputs[i])] for i in written]


def _metrics(launch: Launch, written: list[int], inputs: Sequence[Any]) -> Mapping[str, float]:
    """What the launch asks of memory; nothing if it cannot be counted."""
    from .. import trace  # the package's: it is above these modules

    try:
        return trace(_with_copies, launch, written, inputs).metrics
    except RuntimeError:  # of the compiler, of the kernel in another mode, or because another thread traces
        return {}


def _error(results: Sequence[Array], expected: Sequence[Array | None]) -> Comparison:
    """The largest error of all results, and the average of their averages."""
    pairs = [(x, y.reshape(x.shape)) for x, y in zip(results, expected, strict=True) if y is not None]
    errors = [errors_of(x, y, _magnitude(y)) for x, y in pairs]
    return Comparison(float(np.max([e.max for e in errors])), float(np.mean([e.average for e in errors])))


def _magnitude(expected: Array) -> Array:
    """What errors are relative to: a wrong element is an error also where 0 is expected."""
    sizes = np.abs(expected.astype(np.result_type(expected, np.float64)))
    finite = sizes[np.isfinite(sizes)]
    return np.where(sizes == 0, finite.max(initial=0) or 1, sizes)
