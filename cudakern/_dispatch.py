"""From checked arguments to a kernel: arrays as the C modules take them, the call, and the measuring hook."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ._array import DeviceArray
from ._backend import Backend, backend
from ._dtypes import name_in_numpy, type_name
from ._exchange import is_elsewhere
from ._layout import Shape, elements_meet
from ._native import Native, View
from ._streams import stream_handle
from ._table import AUTO, Variant, find, having, variants
from ._transfer import Array, buffer_of, refuse_masked

Result = TypeVar("Result")

#: More runs of bytes than this, or shorter ones, are sooner gathered by NumPy than copied one by one.
FEW, LONG_RUN, LARGE_PIECE = 64, 256, 1 << 16

#: Why a masked array is refused that would go to NumPy's product or a kernel.
MASK_LOST = "its mask would be lost"

#: Where profile() listens: every call leaves its report here. None: nobody listens, and nothing is measured.
recorder: ContextVar[list[dict[str, Any]] | None] = ContextVar("cudakern_recorder", default=None)


class LaunchTimes(list[dict[str, Any]]):
    """What a listener puts in ``recorder`` that wants each launch's time too: reports then have "launches"."""


def _asked(reports: list[dict[str, Any]] | None) -> int:
    return 0 if reports is None else 2 if isinstance(reports, LaunchTimes) else 1


#: Where kernel_resources() listens: a call of host arrays leaves here what it would launch, and launches nothing. The
#: pairs are (threads a block, dynamic shared memory) for which active blocks are asked.
inspector: ContextVar[tuple[list[dict[str, Any]], tuple[tuple[int, int], ...]] | None] = ContextVar(
    "cudakern_inspector", default=None
)


# --- host arrays -----------------------------------------------------------------------------------------------------
def host_array(x: Any, name: str) -> Array:
    """Any array-like as an ndarray; masked arrays are refused, since their mask would be lost without a word."""
    if type(x) is np.ndarray:
        return x
    refuse_masked(x, name, MASK_LOST, f"{name}.filled(0) or {name}.data")
    refuse_elsewhere(x, name)
    return np.asarray(x)


def refuse_elsewhere(x: Any, name: str) -> None:
    """TypeError for another library's array on a device: it would go by way of the host without a word."""
    if is_elsewhere(x):
        raise TypeError(
            f"{name} is a {type(x).__name__} of another library, on the device: cudakern.asarray({name}) takes it "
            "without a copy"
        )


def native(x: Array) -> Array:
    """The same values in native byte order and aligned, as they are where they already are."""
    return np.require(x.astype(x.dtype.newbyteorder("="), copy=False), requirements="A")


def host_operand(x: Array) -> Array:
    """The same values as the C modules take them (see ck_execute in csrc/runtime/runtime.h): copied where they must be
    or where that is faster than many small copies to the device; what an axis of stride 0 repeats is copied once."""
    if x.dtype.isnative and x.flags.aligned and _is_plain(x):
        return x
    if 0 not in x.strides or x.size == 0:
        return np.array(x, x.dtype.newbyteorder("="), order="C")
    once = x[tuple(slice(0, 1) if step == 0 else slice(None) for step in x.strides)]
    return np.broadcast_to(np.array(once, x.dtype.newbyteorder("="), order="C"), x.shape)


def _is_plain(x: Array) -> bool:
    """True if the C modules take the strides, and copy what they describe in large pieces."""
    if x.flags.c_contiguous:
        return True
    item = x.itemsize
    rows, columns = (1, 1, *x.shape)[-2:]
    down, right = (0, 0, *x.strides)[-2:]
    gaps = columns > 1 and right not in (0, item)
    transposed = gaps and rows > 1 and down == item
    if gaps and not transposed:
        return False
    axes = [(n, step) for n, step in zip(x.shape, x.strides, strict=True) if step != 0 and n != 1]
    if transposed:
        axes[-2:] = axes[:-3:-1]
    run = item  # bytes without a gap
    while axes and axes[-1][1] == run:
        run *= axes.pop()[0]
    runs = math.prod(n for n, _ in axes)
    calls = runs // max((n for n, step in axes if step >= run), default=1)  # one call copies runs at equal distances
    return runs <= FEW or (run >= LONG_RUN and (calls <= FEW or run * runs >= calls * LARGE_PIECE))


def host_result(x: Array) -> bool:
    """True if the C modules can write into such an array."""
    return x.dtype.isnative and x.flags.aligned and _is_plain(x) and not elements_meet(x.shape, x.strides, x.itemsize)


# --- which row -------------------------------------------------------------------------------------------------------
def check_variant(operation: str, variant: str, parameters: dict[str, Any]) -> tuple[Variant | None, tuple[int, ...]]:
    """The row of that name and its parameters' values; no row for "auto", which has no parameters."""
    if variant != AUTO:
        row = find(operation, variant, also=(AUTO,))
        return row, row.values(parameters)
    for name in parameters:
        taken = {p.name: None for row in variants(operation) for p in row.parameters}
        if name in taken:
            such = [repr(row.name) for row in having(name, variants(operation))]
            raise TypeError(
                f"{operation}: variant {AUTO!r} has no parameters, so not {name!r}; name a variant that has it: "
                f"{', '.join(such)}"
            )
        raise TypeError(
            f"{operation} takes no {name!r}: its variants have {', '.join(f'{n}=' for n in taken) or 'no parameters'}"
        )
    return None, ()


def refuse_keywords(operation: str, whose: str, known: Sequence[str], given: dict[str, Any]) -> None:
    """TypeError for a keyword that NumPy has and we have not."""
    for name in given:
        if name in known:
            raise TypeError(f"{operation}: {whose} keyword {name!r} is not taken here")


def answers_at_once(here: Backend) -> bool:
    """False for an emulator: who wants a result of host arrays should not wait for one, whatever use_backend says."""
    return not here.emulated


def fastest(operation: str, dtype: npt.DTypeLike, preferred: Sequence[str]) -> Variant:
    """What "auto" takes for host arrays: on a GPU the first of the preferred rows that fits the type and the chip,
    else NumPy's row."""
    here = backend()
    if answers_at_once(here):
        name = type_name(dtype)
        for row in (find(operation, wanted) for wanted in preferred):
            if name in row.types and not row.why_not(here):
                return row
    return host_row(operation)


def host_row(operation: str) -> Variant:
    """The row that NumPy computes."""
    return next(row for row in variants(operation) if row.on_host)


@functools.cache
def defaults(operation: str, variant: str) -> dict[str, tuple[str, tuple[int, ...]]]:
    """For each type that a row takes, the result's type and the row's default parameters: for calls without detour."""
    row = find(operation, variant)
    return {given: (result, row.values({})) for given, _, result in row.signatures}


# --- calls -----------------------------------------------------------------------------------------------------------
def check_stream(stream: Any) -> None:
    """For host arrays, whose calls are complete on return: an error if that is no stream of this context's device."""
    if stream is not None:
        here = backend()
        handle = stream_handle(stream, here.native, here.device)
        if handle:
            here.native.stream_done(here.device, handle)  # refuses what is no stream


def execute(row: Variant, values: tuple[int, ...], inputs: tuple[Array, ...], outputs: tuple[Array, ...]) -> None:
    """Runs a kernel row on host arrays, by this context's backend."""
    here = backend()
    _check_place(row, here)
    what = (row.operation, row.name, values, tuple(map(buffer_of, inputs)), tuple(map(buffer_of, outputs)))
    looking = inspector.get()
    if looking is not None:
        found, sweep = looking
        found += ({"row": row, **kernel} for kernel in here.native.kernels(*what, here.device, sweep))
        return
    reports = recorder.get()
    report = here.native.execute(*what, here.device, _asked(reports), 0)
    if reports is not None and report is not None:
        _note(reports, report, row, values, here, tuple(x.shape for x in inputs), name_in_numpy(inputs[0].dtype))


def execute_on_device(
    row: Variant,
    values: tuple[int, ...],
    inputs: tuple[View, ...],
    outputs: tuple[View, ...],
    module: Native,
    stream: int,
) -> None:
    """Enqueues a kernel row on arrays of one device; measured, if somebody listens, and then it waits."""
    device = inputs[0].device
    reports = recorder.get()
    here = Backend(module.backend_name(), device, "the arrays are there", module)
    _check_place(row, here)
    report = module.execute(row.operation, row.name, values, inputs, outputs, device, _asked(reports), stream)
    if reports is not None and report is not None:
        _note(reports, report, row, values, here, tuple(x.shape for x in inputs), inputs[0].dtype)


def on_host(
    operation: str,
    inputs: tuple[Any, ...],
    compute: Callable[[], Result],
    as_counted: Callable[..., tuple[Shape, ...]],
) -> Result:
    """Computes with NumPy, and reports the time if somebody listens. `as_counted`: from the inputs' shapes those that
    the operation's work is counted from."""
    reports = recorder.get()
    if reports is None:
        return compute()
    start = time.perf_counter_ns()
    result = compute()
    elapsed = time.perf_counter_ns() - start
    arrays = tuple(np.asarray(x) for x in inputs)
    shapes = tuple(x.shape for x in arrays)
    times = {"kernel_ns": elapsed, "to_device_ns": 0, "to_host_ns": 0, "finish_ns": 0, "clocks": ()}
    times["as_counted"] = as_counted
    _note(reports, times, host_row(operation), (), None, shapes, name_in_numpy(arrays[0].dtype))
    return result


def _check_place(row: Variant, here: Backend) -> None:
    reason = row.why_not(here)
    if reason:
        here_is = here.device_name if here.name in row.backends else here.why
        raise NotImplementedError(f"{row.operation}: variant {row.name!r} cannot run here: {reason} ({here_is})")


def _note(
    reports: list[dict[str, Any]],
    report: dict[str, Any],
    row: Variant,
    values: tuple[int, ...],
    here: Backend | None,
    shapes: tuple[Shape, ...],
    dtype: str,
) -> None:
    reports.append(report | {"row": row, "values": values, "backend": here, "shapes": shapes, "dtype": dtype})


# --- one place -------------------------------------------------------------------------------------------------------
def where(x: Any) -> str:
    """An array's place, in words."""
    if isinstance(x, DeviceArray):
        return f"on the device ({x._native.backend_name()}:{x._view.device})"
    if is_elsewhere(x):
        return f"another library's, on the device ({type(x).__name__})"
    return f"in host memory ({type(x).__name__})"


def check_one_place(operation: str, **arrays: Any) -> tuple[Native, int]:
    """The C module and the device that all these arrays are on; TypeError or ValueError says who is elsewhere."""
    name, first = next((name, x) for name, x in arrays.items() if isinstance(x, DeviceArray))
    for other, x in arrays.items():
        said = f"{operation}: {name} is {where(first)} and {other} is {where(x)}"
        if not isinstance(x, DeviceArray):
            raise TypeError(f"{said}: {_bring_host(name, first, other, x)}")
        if x._native is not first._native:
            mend = (
                "make out where the operands are, by cudakern.empty inside "
                f"`with cudakern.use_backend({first._native.backend_name()!r})`"
                if other == "out"
                else f"bring them together by way of the host, {other}.get()"
            )
            raise ValueError(f"{said}, of another backend: {mend}")
        if x._view.device != first._view.device:
            raise ValueError(f"{said}: {_bring_device(first, other, x)}")
    return first._native, first._view.device


def _inside(x: DeviceArray) -> str:
    return f"inside `with cudakern.device({x._view.device})`"


def _bring_host(name: str, first: DeviceArray, other: str, x: Any) -> str:
    """What to do about an array that is not ours. An out is made in its place: what it is brought to is another one."""
    if is_elsewhere(x):
        return f"cudakern.asarray({other}) takes it without a copy"
    if name == "out":
        return (
            "make out where the operands are, by numpy.empty, or bring the operands to where out is, by "
            f"cudakern.asarray({other}) {_inside(first)}"
        )
    if other == "out":
        return (
            f"make out where the operands are, by cudakern.empty {_inside(first)}, or leave it out and take the "
            "result's .get(out=out)"
        )
    if x is None:
        return f"{other} is missing"
    # (A Python number has no type of its own, but an array of it has NumPy's widest.)
    made = f"cudakern.asarray({other}{f', {first.dtype.name!r}' if isinstance(x, (int, float, complex)) else ''})"
    return f"bring {other} there by {made} {_inside(first)}, or {name} here by {name}.get()"


def _bring_device(first: DeviceArray, other: str, x: DeviceArray) -> str:
    """What to do about an array of another device."""
    if other == "out":
        return (
            f"make out where the operands are, by cudakern.empty {_inside(first)}, or bring the operands to where out "
            f"is, by cudakern.asarray {_inside(x)}"
        )
    return f"bring them together by cudakern.asarray({other}) {_inside(first)}"


def refuse_host_row(row: Variant, name: str) -> None:
    """TypeError for NumPy's row with an array on the device."""
    if row.on_host:
        raise TypeError(
            f"{row.operation}: variant {row.name!r} computes on the host, and {name} is on the device: "
            f"take {name}.get()"
        )
