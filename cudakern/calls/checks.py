"""Checks of a call's parameters, arrays, types and out=: each raises an error that explains what to do."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._backend import Backend
from .._errors import unknown
from .._native import Native
from ..arrays.array import DeviceArray
from ..arrays.dtypes import kind_of
from ..arrays.exchange import is_elsewhere
from ..arrays.layout import Shape, elements_meet
from .host import refuse_elsewhere
from .rule import CONVERT, KEYWORDS, WEAK, Named, Rule
from .table import AUTO, Variant, either, having, type_in_words, variants


# --- names and places ------------------------------------------------------------------------------------------------
def refuse_parameters(operation: str, parameters: Named) -> None:
    """TypeError for any parameter: "auto" has none."""
    for name in parameters:
        if owners := having(name, variants(operation)):
            have = f"these variants have it: {', '.join(repr(variant.name) for variant in owners)}"
            raise TypeError(f"{operation}: variant {AUTO!r} has no parameters, but {name!r} was passed; {have}")
        names = [*KEYWORDS[operation], *(p.name for variant in variants(operation) for p in variant.parameters)]
        raise TypeError(unknown("keyword", name, dict.fromkeys(names), of=operation))


def check_place(variant: Variant, here: Backend) -> None:
    """NotImplementedError where a variant cannot run."""
    if reason := variant.why_not(here):
        here_is = here.device_name if here.name in variant.backends else here.why
        raise NotImplementedError(
            f"{variant.operation}: variant {variant.name!r} cannot run here: {reason} ({here_is})"
        )


def _where(x: Any) -> str:
    if isinstance(x, DeviceArray):
        return f"on the device ({x._native.backend_name()}:{x._view.device})"
    if is_elsewhere(x):
        return f"another library's, on the device ({type(x).__name__})"
    return f"in host memory ({type(x).__name__})"


def check_one_place(operation: str, arrays: Named) -> tuple[Native, int]:
    """The C module and the device of all these arrays; TypeError or ValueError names one that is elsewhere."""
    name, first = next((name, x) for name, x in arrays.items() if isinstance(x, DeviceArray))
    native, device = first._native, first._view.device
    for other, x in arrays.items():
        if not isinstance(x, DeviceArray) or x._native is not native or x._view.device != device:
            error = ValueError if isinstance(x, DeviceArray) else TypeError
            places = f"{name} is {_where(first)} and {other} is {_where(x)}"
            raise error(f"{operation}: {places}: {_advice(name, first, other, x)}")
    return native, device


def _advice(name: str, first: DeviceArray, other: str, x: Any) -> str:
    """What to do about arrays in two places. (A copy of out would not be the array that the caller has.)"""
    if is_elsewhere(x):
        return f"cudakern.asarray({other}) takes it without a copy"
    if x is None:
        return f"{other} is missing"
    inside, source = f"inside `with cudakern.device({first._view.device})`", other
    on_device = isinstance(x, DeviceArray)
    if on_device and x._native is not first._native:
        inside, source = f"inside `with cudakern.use_backend({first._native.backend_name()!r})`", f"{other}.get()"
    elif isinstance(x, (int, float, complex)):  # which has no type of its own, but an array of it NumPy's widest
        source = f"{other}, {first.dtype.name!r}"
    copy = f"copy {other} to that device with cudakern.asarray({source}) {inside}"
    if name == "out":
        return f"create out on the host with numpy.empty, or {copy}"
    if other == "out":
        make = f"create out on that device with cudakern.empty {inside}"
        return make if on_device else f"{make}, or leave it out and call the result's .get(out=out)"
    return copy if on_device else f"{copy}, or copy {name} to the host with {name}.get()"


# --- types and shapes of inputs --------------------------------------------------------------------------------------
def are_numbers(rule: Rule, variant: Variant | None, operands: Named, left: str = "") -> bool:
    """True if all operands are numbers or bools. False if "auto" leaves the others to NumPy: ``left`` are NumPy's
    letters for the kinds of their types. TypeError for other elements."""
    all_numbers = True
    for name, x in operands.items():
        if type(x) in WEAK or x.dtype.kind in "biufc" or x.dtype.isbuiltin == 2:  # 2: ml_dtypes' bfloat16
            continue
        all_numbers = False
        if variant is None and x.dtype.kind in left:
            continue
        if x.dtype.kind == "O" and x.ndim == 0:
            raise TypeError(f"{rule.name}: {name} must be an array, not {type(x.item()).__name__}")
        advice = rule.instead if rule.only else CONVERT
        if x.dtype.kind == "V":
            advice = f"a field of records is an array, {name}['field']"
        if x.dtype.kind in left:
            advice = f"variant={AUTO!r} leaves it to NumPy"
        raise TypeError(f"{_takes(rule, variant)}, but {name} is {type_in_words(x.dtype)}; {advice}")
    return all_numbers


def _takes(rule: Rule, variant: Variant | None) -> str:
    if variant is not None:
        return f"{rule.name}: variant {variant.name!r} takes {either(variant.types)}"
    return f"{rule.name} takes {either(rule.only or ('real numbers' if rule.real else 'numbers',))}"


def check_type(rule: Rule, variant: Variant | None, name: str) -> None:
    """TypeError for a type of numbers that the operation does not take."""
    if rule.real and kind_of(name) == "c":
        raise TypeError(f"{rule.name} takes real numbers, not {name}")
    if rule.only and name not in rule.only:
        raise TypeError(f"{_takes(rule, variant)}, not {name}; {rule.instead}")


def check_one_type(rule: Rule, variant: Variant | None, types: Mapping[str, str]) -> None:
    """TypeError if a named variant gets arrays of several types."""
    if variant is not None and len(set(types.values())) > 1:
        listed = " and ".join(f"{name} is {kind}" for name, kind in types.items())
        kernel = f"variant {variant.name!r} takes arrays of one type"
        raise TypeError(f"{rule.name}: {kernel}, but {listed}; variant={AUTO!r} takes them")


def check_one_number(rule: Rule, name: str, shape: Shape) -> None:
    if shape != ():
        raise ValueError(f"{rule.name}: {name} must be a scalar, but has shape {shape}")


def axis_of(operation: str, axis: Any, ndim: int) -> int:
    """The axis counted from 0. TypeError unless it is an integer; NumPy's error for one that there is not."""
    try:
        index = operator.index(axis)
    except TypeError:
        hint = f": write variant={axis!r}" if isinstance(axis, str) else ""
        raise TypeError(f"{operation}: axis must be an integer or None, not {axis!r:.60}{hint}") from None
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim


# --- out= ------------------------------------------------------------------------------------------------------------
def only(operation: str, out: Any) -> Any:
    """out itself; like NumPy's functions, operations also take it in a tuple."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{operation}: out must be a tuple of one element, not of {len(out)}")
        if out[0] is ...:
            raise TypeError(f"{operation}: pass out=..., not a tuple")
        return out[0]
    return out


def check_is_array(operation: str, out: Any, kinds: tuple[type, ...]) -> None:
    if not isinstance(out, kinds):
        refuse_elsewhere(out, "out")
        raise TypeError(not_an_array(operation, out))


def not_an_array(operation: str, out: Any) -> str:
    """What to say of such an out."""
    hint = f": write variant={out!r}" if isinstance(out, str) else ""
    return f"{operation}: out must be an array, not {type(out).__name__}{hint}"


def check_takes(operation: str, writable: bool, possible: bool, result: str, out: str) -> None:
    """ValueError if out is read-only; TypeError if the result cannot be cast to the type of out."""
    if not writable:
        raise ValueError(f"{operation}: out is read-only")
    if not possible:
        cast = f"Cannot cast ufunc {operation!r} output with casting rule 'same_kind'"
        raise TypeError(f"{operation}: the result is {result}, and out is {out}: {cast}")


def check_out_type(variant: Variant, dtype: str, out: str | None) -> None:
    """TypeError if the variant needs an out= of a certain type, and out (None: not passed) has another one."""
    sums = variant.out_type(dtype)
    if sums and out != sums:
        actual = "none was passed" if out is None else f"out is {out}"
        needs = f"needs out= of {sums}, the type of its sums"
        raise TypeError(f"{variant.operation}: variant {variant.name!r} {needs}, and {actual}")


def check_shape(rule: Rule, out: Shape, result: Shape, *inputs: Shape) -> None:
    if out != result:
        (rule.check_out or refuse_shape)(rule.name, out, result, *inputs)


def refuse_shape(operation: str, out: Shape, result: Shape, *inputs: Shape) -> None:
    raise ValueError(f"{operation}: out is {out}, and the result is {result}: non-broadcastable output")


def check_distinct(operation: str, shape: Shape, strides: Shape, itemsize: int) -> None:
    """ValueError if elements of out share memory."""
    if elements_meet(shape, strides, itemsize):
        raise ValueError(f"{operation}: elements of out share memory (shape {shape}, strides {strides})")


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; TypeError or ValueError if it is not an integer in that range."""
    allowed = f"{least} or more" if most is None else f"from {least} to {most}"
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, {allowed}, not {value!r:.60}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be {allowed}, not {number}")
    return number
