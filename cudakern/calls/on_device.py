"""A call on device arrays that C did not take: they have to be converted, this kind of call is new, or it is an error
that the checks here explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .._backend import backend_of
from .._native import Native, View
from ..arrays import transfer
from ..arrays.array import DeviceArray
from ..arrays.dtypes import BFLOAT16, from_name, itemsize, name_in_numpy, same_kind
from ..arrays.exchange import is_elsewhere
from ..arrays.streams import stream_handle
from . import checks, execute
from .execute import named, remember
from .host import host_array
from .observer import Run
from .rule import CONVERT, VALUES_COUNT, WEAK, Inputs, Layout, Named, Rule, laid_out, spread
from .table import Variant, find, variants


class Known(NamedTuple):
    """The result of the checks of one kind of call."""

    variant: Variant
    values: tuple[int, ...]  #: of the variant's parameters
    dtype: str  #: that the inputs are brought to
    result: str  #: the type of the variant's result
    final: str  #: the type of the call's result


def on_device(
    rule: Rule, inputs: Inputs, out: Any, variant: str, stream: Any, parameters: Named, own: Named
) -> DeviceArray:
    """The result of a call whose arrays are all on one device."""
    key = known = None
    if isinstance(first := inputs[rule.first], DeviceArray):
        key = first._native.key(rule.key, variant, {**own, **parameters}, inputs, -1)
        known = None if key is None else first._native.memo.get((key,))
    entry, values = named(rule, variant, parameters, own) if known is None else (known.variant, known.values)
    if out is ... and rule.numpys_own is not None:  # results on the device are arrays anyway
        out = None
    operands = dict(zip(rule.operands, inputs, strict=True))
    numbers = {
        name: x if type(x) in WEAK else host_array(x, name)
        for name, x in operands.items()
        if (name in rule.broadcasts and isinstance(x, (*WEAK, np.generic)))
        or (name in rule.numbers and not isinstance(x, DeviceArray) and not is_elsewhere(x))
    }
    checks.are_numbers(rule, entry, numbers)
    arrays = {name: x for name, x in operands.items() if name not in numbers} or operands
    if out is not None:
        checks.check_is_array(rule.name, out, (DeviceArray, np.ndarray))
    module, device = checks.check_one_place(rule.name, arrays if out is None else {**arrays, "out": out})
    handle = stream_handle(stream, module, device)
    new = known is None
    if known is None:
        known = _decide(rule, entry, values, operands, arrays, own)
    shapes = tuple(np.shape(x) if n in numbers else x._view.shape for n, x in {**operands, **numbers}.items())
    for n in rule.numbers:
        checks.check_one_number(rule, n, shapes[rule.operands.index(n)])
    target = None if out is None else out._view
    checks.check_out_type(known.variant, known.dtype, None if target is None else target.dtype)
    if target is not None:
        possible = same_kind(known.final, target.dtype)
        checks.check_takes(rule.name, not target.read_only, possible, known.final, target.dtype)
    shape, layouts = rule.layouts(*shapes, **own)
    if target is not None:
        checks.check_shape(rule, target.shape, shape, *shapes)
        checks.check_distinct(rule.name, target.shape, target.strides, itemsize(target.dtype))
    views = {n: transfer.converted(module, x._view, known.dtype, handle) for n, x in arrays.items()}
    for n, x in numbers.items():
        views[n] = module.empty((), known.dtype, device, handle)
        transfer.fill(module, views[n], x, handle)
    ordered = tuple(views[n] for n in rule.operands)
    direct = (
        target is not None
        and target.shape == shape
        and target.dtype == known.result == known.final
        and not any(module.overlap(target, x) for x in ordered)
    )
    result = target if direct and target is not None else module.empty(shape, known.result, device, handle)
    *arranged, written = (_laid_out(module, x, layout) for x, layout in zip((*ordered, result), layouts, strict=True))
    run = Run(module, device, known.variant, known.values, (*arranged,), (written,), handle, known.dtype)
    execute.execute(run)
    if new and key is not None and not (VALUES_COUNT and numbers):
        remember(module, (key,), known)  # for calls that C does not take
        if {x._view.dtype for x in arrays.values()} == {known.dtype}:
            execute.prepare(rule, run, shapes, own, key)
    if not direct:
        result = transfer.converted(module, result, known.final, handle)
    if target is None:
        return DeviceArray(result, module)
    if not direct:
        module.copy(target, _laid_out(module, result, spread(result.shape, target.shape)), handle)
    return out  # type: ignore[no-any-return]


def _laid_out(module: Native, x: View, layout: Layout) -> View:
    return x if layout is None else module.view(x, 0, *laid_out(*layout, x.strides), x.dtype)


def _decide(
    rule: Rule, variant: Variant | None, values: tuple[int, ...], operands: Named, arrays: Named, own: Named
) -> Known:
    """What calls of this kind need; the errors name the types and variants that exist."""
    names = {n: x._view.dtype for n, x in arrays.items()}
    if rule.broadcasts:
        checks.check_one_type(rule, variant, names)
    common = _common_name(rule, operands, names)
    checks.check_type(rule, variant, common)
    dtype = rule.through.get(common, common) if variant is None else common
    entry = variant_on_device(rule, variant, dtype, *next(iter(arrays.items())))
    checks.check_one_type(rule, variant, names)
    result = entry.signature(dtype)[2]
    final = result if dtype == common else common
    return Known(entry, entry.values(own) if variant is None else values, dtype, result, final)


def variant_on_device(rule: Rule, variant: Variant | None, dtype: str, operand: str, x: DeviceArray) -> Variant:
    """The variant for arrays of a type in the place of x: the named one, or the first that "auto" prefers and that runs
    there."""
    here = backend_of(x)
    preferred = [find(rule.name, name) for name in rule.preferred]
    takers = [entry for entry in preferred if dtype in entry.types]
    able = [entry for entry in takers if not entry.why_not(here)]
    if variant is not None:
        if variant.on_host:
            where = f"computes on the host, but {operand} is on the device"
            raise TypeError(f"{rule.name}: variant {variant.name!r} {where}: pass {operand}.get()")
        variant.signature(dtype, "" if able else CONVERT)
        checks.check_place(variant, here)
        return variant
    if able:
        return able[0]
    run_here = [entry for entry in preferred if not takers or not entry.why_not(here)]
    types = dict.fromkeys(t for entry in run_here for t in entry.types)
    listed = ", ".join(types | dict.fromkeys(rule.through)) or "no type"
    if not takers:
        raise TypeError(f"{rule.name} of device arrays takes {listed}, not {dtype}; {CONVERT}")
    raise NotImplementedError(
        f"{rule.name} of {dtype} device arrays: only {' and '.join(repr(entry.name) for entry in takers)} takes them, "
        f"and {takers[-1].why_not(here)}; the variants that run here take {listed}: {CONVERT}"
    )


def _common_name(rule: Rule, operands: Named, names: Mapping[str, str]) -> str:
    """The type that "auto" brings all inputs to: that of the arrays, unless a number makes another of it."""
    kinds = [type(x) for n, x in operands.items() if n not in names]
    first, *others = set(names.values())
    # NumPy's own rule does not know bfloat16, which stays with Python's real numbers.
    if not others and (
        set(kinds) <= {int, float, bool} if first == BFLOAT16 else not kinds and first in variants(rule.name).types
    ):
        return first
    if rule.common_on_device is not None:
        return rule.common_on_device(*names.values())
    types = [
        from_name(names[n]) if n in names else x if type(x) in WEAK else np.asarray(x).dtype
        for n, x in operands.items()
    ]
    return name_in_numpy(np.dtype(rule.common(*types)))
