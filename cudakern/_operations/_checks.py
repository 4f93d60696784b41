"""Checks of a call's parameters, arrays, types and out=: each raises an error that explains what to do."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._array import DeviceArray
from .._backend import Backend
from .._dtypes import kind_of
from .._exchange import is_elsewhere
from .._layout import Shape, elements_meet
from .._native import Native
from .._table import AUTO, Variant, having, type_in_words, variants
from ._rule import CONVERT, WEAK, Named, Rule

#: How to get numbers from other elements, by NumPy's letter for the kind of their type.
NUMBERS_FROM = {
    "M": ".astype('int64') counts their units",
    "m": ".astype('int64') counts their units",
    "S": ".astype(float) reads numbers",
    "U": ".astype(float) reads numbers",
    "T": ".astype(float) reads numbers",
    "O": ".astype(float) converts Python's numbers",
    "V": "a field of records is an array, x['name']",
}


# --- names -----------------------------------------------------------------------------------------------------------
def refuse_parameters(operation: str, parameters: Named) -> None:
    """TypeError for any parameter: "auto" has none."""
    for name in parameters:
        taken = {p.name: None for variant in variants(operation) for p in variant.parameters}
        if name in taken:
            such = [repr(variant.name) for variant in having(name, variants(operation))]
            raise TypeError(
                f"{operation}: variant {AUTO!r} has no parameters, and {name!r} was passed; these variants have it: "
                f"{', '.join(such)}"
            )
        raise TypeError(
            f"{operation} takes no {name!r}: its variants have {', '.join(f'{n}=' for n in taken) or 'no parameters'}"
        )


# --- places ----------------------------------------------------------------------------------------------------------
def refuse_host_variant(variant: Variant, name: str) -> None:
    """TypeError for NumPy's variant with an array on the device."""
    if variant.on_host:
        raise TypeError(
            f"{variant.operation}: variant {variant.name!r} computes on the host, and {name} is on the device: "
            f"pass {name}.get()"
        )


def check_place(variant: Variant, here: Backend) -> None:
    """NotImplementedError where a variant cannot run."""
    reason = variant.why_not(here)
    if reason:
        here_is = here.device_name if here.name in variant.backends else here.why
        raise NotImplementedError(
            f"{variant.operation}: variant {variant.name!r} cannot run here: {reason} ({here_is})"
        )


def where(x: Any) -> str:
    """Where an array is, for an error."""
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
        if isinstance(x, DeviceArray) and x._native is native and x._view.device == device:
            continue
        error = ValueError if isinstance(x, DeviceArray) else TypeError
        raise error(
            f"{operation}: {name} is {where(first)} and {other} is {where(x)}{_together(name, first, other, x)}"
        )
    return native, device


def _together(name: str, first: DeviceArray, other: str, x: Any) -> str:
    """What to do about an array that is elsewhere. An out has to be made in the right place: a copy would not do."""
    inside = f"inside `with cudakern.device({first._view.device})`"
    make = f": make out where the operands are, by cudakern.empty {inside}"
    if isinstance(x, DeviceArray) and x._native is not first._native:
        backend = f"`with cudakern.use_backend({first._native.backend_name()!r})`"
        if other == "out":
            return f", of another backend: make out where the operands are, by cudakern.empty inside {backend}"
        return f", of another backend: bring them together by way of the host, {other}.get()"
    if isinstance(x, DeviceArray):
        if other == "out":
            there = f"`with cudakern.device({x._view.device})`"
            return f"{make}, or bring the operands to the device of out, by cudakern.asarray inside {there}"
        return f": bring them together by cudakern.asarray({other}) {inside}"
    if is_elsewhere(x):
        return f": cudakern.asarray({other}) takes it without a copy"
    if name == "out":
        return f": make out where the operands are, by numpy.empty, or bring {other} to it by cudakern.asarray({other})"
    if other == "out":
        return f"{make}, or leave it out and call the result's .get(out=out)"
    if x is None:
        return f": {other} is missing"
    # (A Python number has no type of its own, but an array of it has NumPy's widest.)
    dtype = f", {first.dtype.name!r}" if isinstance(x, (int, float, complex)) else ""
    return f": bring {other} there by cudakern.asarray({other}{dtype}) {inside}, or {name} here by {name}.get()"


# --- types and shapes of inputs --------------------------------------------------------------------------------------
def no_numbers(given: Named) -> dict[str, np.dtype[Any]]:
    """The types of the operands that are neither numbers nor bools. (isbuiltin is 2 for ml_dtypes' bfloat16.)"""
    types = {name: x.dtype for name, x in given.items() if type(x) not in WEAK}
    return {name: dtype for name, dtype in types.items() if dtype.kind not in "biufc" and dtype.isbuiltin != 2}


def check_numbers(
    rule: Rule, variant: Variant | None, others: Mapping[str, np.dtype[Any]], given: Named | None = None
) -> None:
    """TypeError for operands that are not numbers; ``given``: host arrays, some of which "auto" leaves to NumPy."""
    left = "" if given is None else rule.others
    for name, dtype in others.items():
        takes = f"takes {' or '.join(rule.only) or 'numbers'},"
        advice = rule.instead if rule.only else NUMBERS_FROM.get(dtype.kind, CONVERT)
        if variant is not None:
            takes = f": variant {variant.name!r} takes {' or '.join(variant.types)},"
            advice = f"variant={AUTO!r} leaves it to NumPy" if dtype.kind in left else advice
        elif dtype.kind in left:
            continue
        x = None if given is None else given[name]
        if isinstance(x, np.ndarray) and dtype.kind == "O" and x.ndim == 0 and x.item() is None:
            raise TypeError(f"{rule.name}: {name} is None, and must be an array")
        between = " " if variant is None else ""
        raise TypeError(f"{rule.name}{between}{takes} and {name} is {type_in_words(dtype)}; {advice}")


def check_real(rule: Rule, given: Named) -> None:
    """TypeError for elements that are not real numbers."""
    for x in given.values():
        dtype = x._view.dtype if isinstance(x, DeviceArray) else np.asarray(x).dtype
        if kind_of(dtype) not in ("b", "i", "u", "f"):
            raise TypeError(f"{rule.name} takes real numbers, not {type_in_words(dtype)}")


def check_type(rule: Rule, variant: Variant | None, name: str) -> None:
    """TypeError for a type that the operation does not take."""
    if rule.only and name not in rule.only:
        which, takes = ("", rule.only) if variant is None else (f": variant {variant.name!r}", variant.types)
        raise TypeError(f"{rule.name}{which} takes {' or '.join(takes)}, not {name}; {rule.instead}")


def check_one_type(rule: Rule, variant: Variant, types: Mapping[str, str]) -> None:
    """TypeError if a named variant was given arrays of several types."""
    if len(set(types.values())) > 1:
        listed = ", ".join(f"{name} {kind}" for name, kind in types.items())
        raise TypeError(
            f"{rule.name}: variant {variant.name!r} takes arrays of one type, not {listed}; variant={AUTO!r} takes them"
        )


def check_one_number(rule: Rule, name: str, shape: Shape) -> None:
    """ValueError for an array where the operation takes one number."""
    if shape != ():
        raise ValueError(f"{rule.name}: {name} must be one number, and its shape is {shape}")


def axis_of(axis: Any, ndim: int) -> int:
    """The axis counted from 0; NumPy's errors for anything else."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise np.exceptions.AxisError(index, ndim)
    return index % ndim


# --- out= ------------------------------------------------------------------------------------------------------------
def only(operation: str, out: Any) -> Any:
    """out itself; like NumPy's functions, operations also take it in a tuple."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{operation}: out is a tuple of {len(out)}, and must have one element")
        if out[0] is ...:
            raise TypeError(f"{operation}: pass out=..., not a tuple")
        return out[0]
    return out


def check_is_array(operation: str, out: Any, kinds: tuple[type, ...]) -> None:
    """TypeError if out is not an array."""
    if not isinstance(out, kinds):
        if is_elsewhere(out):
            raise TypeError(
                f"{operation}: out is a {type(out).__name__} of another library, on the device: cudakern.asarray(out) "
                "takes it without a copy"
            )
        raise TypeError(f"{operation}: out must be an array, not {type(out).__name__}")


def check_writable(operation: str, writable: bool) -> None:
    """ValueError if out is read-only."""
    if not writable:
        raise ValueError(f"{operation}: out is read-only")


def check_cast(operation: str, possible: bool, result: str, out: str) -> None:
    """TypeError if the result cannot be cast to the type of out."""
    if not possible:
        raise TypeError(
            f"{operation}: the result is {result}, and out is {out}: Cannot cast ufunc {operation!r} output with "
            "casting rule 'same_kind'; pass out= of the result's type"
        )


def check_shape(rule: Rule, out: Shape, result: Shape, *inputs: Shape) -> None:
    """ValueError if out has the wrong shape."""
    if out == result:
        return
    if rule.check_out is not None:
        rule.check_out(out, result, *inputs)
    else:
        raise ValueError(wrong_shape(rule.name, out, result))


def wrong_shape(operation: str, out: Shape, result: Shape) -> str:
    """The message for an out= of the wrong shape, in NumPy's words and ours."""
    return (
        f"{operation}: out is {out}, and the result is {result}: non-broadcastable output; pass out= of shape {result}"
    )


def check_distinct(operation: str, shape: Shape, strides: Shape, itemsize: int) -> None:
    """ValueError if elements of out share memory."""
    if elements_meet(shape, strides, itemsize):
        raise ValueError(
            f"{operation}: elements of out share memory (shape {shape}, strides {strides}), so results would "
            "overwrite each other; pass an out= without shared elements"
        )
