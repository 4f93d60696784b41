"""A call on arrays of a device that C did not take as they are: they are converted, broadcast or arranged there, their
kind is new, or the checks on this way say what is wrong with them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .. import _transfer
from .._array import DeviceArray
from .._backend import Backend
from .._dtypes import BFLOAT16, from_name, itemsize, name_in_numpy, same_kind
from .._exchange import is_elsewhere
from .._host import host_array
from .._native import Native
from .._streams import stream_handle
from .._table import Variant, find, variants
from . import _checks, _execute
from ._execute import Known, named, remember
from ._rule import CONVERT, VALUES_COUNT, WEAK, Inputs, Named, Rule, spread


def on_device(
    rule: Rule, inputs: Inputs, out: Any, variant: str, stream: Any, parameters: Named, own: Named
) -> DeviceArray:
    """Arrays that are converted, broadcast or arranged there, or whose kind is new; or that cannot be taken."""
    key, known = _known_on_device(rule, inputs, variant, parameters, own)
    entry, values = named(rule, variant, parameters, own) if known is None else (known.variant, known.values)
    if out is ... and rule.dots:  # results on the device are arrays anyway
        out = None
    given = dict(zip(rule.operands, inputs, strict=True))
    numbers = {
        name: given[name] if type(given[name]) in WEAK else host_array(given[name], name)
        for name in rule.numbers
        if not isinstance(given[name], DeviceArray) and not is_elsewhere(given[name])
    }
    _checks.check_numbers(rule, entry, _checks.no_numbers(numbers), left_to_numpy=False)
    arrays = {name: x for name, x in given.items() if name not in numbers}
    if out is not None:
        _checks.check_is_array(rule.name, out, (DeviceArray, np.ndarray))
        module, device = _checks.check_one_place(rule.name, **arrays, out=out)
    else:
        module, device = _checks.check_one_place(rule.name, **arrays)
    handle = stream_handle(stream, module, device)
    if known is None:
        known = _decide(rule, entry, values, given, arrays, own, module, device)
    else:
        key = None
    shapes = tuple(np.shape(x) if n in numbers else x._view.shape for n, x in {**given, **numbers}.items())
    for n in rule.numbers:
        _checks.check_one_number(rule, n, shapes[rule.operands.index(n)])
    if key is not None and not (VALUES_COUNT and numbers):
        remember(module, key, _prepared(rule, known, arrays, own, module) or known)
    target = None if out is None else out._view
    if target is not None:
        _checks.check_writable(rule.name, not target.read_only)
        _checks.check_cast(rule.name, same_kind(known.result, target.dtype), known.result, target.dtype)
    shape = rule.shape(*shapes, **own)
    if target is not None:
        _checks.check_shape(rule, target.shape, shape, *shapes)
        _checks.check_distinct(rule.name, target.shape, target.strides, itemsize(target.dtype))
    views = {n: _transfer.converted(module, x._view, known.dtype, handle) for n, x in arrays.items()}
    for n, x in numbers.items():
        views[n] = module.empty((), known.dtype, device, handle)
        _transfer.fill(module, views[n], x, handle)
    ordered = tuple(views[n] for n in rule.operands)
    direct = (
        target is not None
        and target.shape == shape
        and target.dtype == known.result
        and not any(module.overlap(target, x) for x in ordered)
    )
    result = target if direct and target is not None else module.empty(shape, known.result, device, handle)
    operands, written = rule.arranged.on_device(module, ordered, result)
    _execute.execute(known.variant, known.values, operands, (written,), module, device, handle, known.dtype)
    if target is None:
        return DeviceArray(result, module)
    if not direct:
        module.copy(target, spread(module, result, target.shape), handle)
    return out  # type: ignore[no-any-return]


def _decide(
    rule: Rule,
    variant: Variant | None,
    values: tuple[int, ...],
    given: Named,
    arrays: Mapping[str, DeviceArray],
    own: Named,
    module: Native,
    device: int,
) -> Known:
    """What calls of this kind come to; the errors say which types and variants there are."""
    names = {n: x._view.dtype for n, x in arrays.items()}
    if rule.real:
        _checks.check_real(rule, arrays)
    if variant is not None and rule.broadcasts:
        _checks.check_one_type(rule, variant, names)
    dtype = _common_name(rule, given, names)
    _checks.check_type(rule, variant, dtype)
    operand = next(iter(arrays))
    found = variant_on_device(rule, variant, dtype, operand, module, device)
    if variant is None:
        values = found.values(own)
    else:
        _checks.check_one_type(rule, variant, names)
    return Known(found, values, dtype, found.signature(dtype)[2])


def _known_on_device(
    rule: Rule, inputs: Inputs, variant: str, parameters: Named, own: Named
) -> tuple[Any, Known | None]:
    """The kind of a call, and what calls of that kind come to; None where it is not known (yet)."""
    module = getattr(inputs[rule.first], "_native", None)
    key = None if module is None else module.key(rule.key, variant, {**own, **parameters}, inputs)
    found = None if module is None or key is None else module.memo.get(key)
    return key, getattr(found, "known", found)


def _prepared(rule: Rule, known: Known, arrays: Mapping[str, DeviceArray], own: Named, module: Native) -> Any:
    """What the C module needs for more calls of this kind; None if their arrays have to be converted or arranged."""
    views = [x._view for x in arrays.values()]
    shapes, contiguous = tuple(x.shape for x in views), all(x.contiguous for x in views)
    if {x.dtype for x in views} != {known.dtype} or not rule.arranged.is_plain(shapes, contiguous):
        return None
    alike = sum(1 << i for i in rule.alike)
    shape = functools.partial(rule.shape, **own) if own else rule.shape
    return module.prepare(rule.name, known.variant.name, known.values, known.dtype, alike, shape, known)


def variant_on_device(
    rule: Rule, variant: Variant | None, dtype: str, operand: str, module: Native, device: int
) -> Variant:
    """The variant that takes arrays of a type there: the one that is named, or the first of "auto"."""
    if variant is None:
        return _first_that_takes(rule, dtype, module, device)
    _checks.refuse_host_variant(variant, operand)
    variant.signature(dtype, "" if _that_run(_takers(rule, dtype), module, device) else CONVERT)
    _checks.check_place(variant, _at(module, device))
    return variant


def _common_name(rule: Rule, given: Named, names: Mapping[str, str]) -> str:
    if len(set(names.values())) == 1:
        first = next(iter(names.values()))
        if all(type(given[n]) in WEAK for n in given if n not in names):
            return first if names.keys() == given.keys() else _with_numbers(rule, first, given, names)
    if rule.common_on_device is not None:
        return rule.common_on_device(*names.values())
    kinds = [from_name(names[n]) if n in names else _kind(x) for n, x in given.items()]
    return name_in_numpy(np.dtype(rule.common(*kinds)))


def _with_numbers(rule: Rule, name: str, given: Named, names: Mapping[str, str]) -> str:
    """The arrays' type, unless a Python number makes another of it (0.5 with integers)."""
    if name == BFLOAT16 and not any(type(x) is complex for x in given.values()):
        return name
    kinds = [from_name(name) if n in names else x for n, x in given.items()]
    return name_in_numpy(np.dtype(rule.common(*kinds)))


def _kind(x: Any) -> Any:
    return x if type(x) in WEAK else np.asarray(x).dtype


def _first_that_takes(rule: Rule, dtype: str, module: Native, device: int) -> Variant:
    entries, preferred = _takers(rule, dtype), rule.on_device or rule.preferred
    if not entries:
        listed = dict.fromkeys(t for variant in variants(rule.name) if variant.name in preferred for t in variant.types)
        raise TypeError(f"{rule.name} of arrays on the device takes {', '.join(listed)}, not {dtype}; {CONVERT}")
    for variant in _that_run(entries, module, device):
        return variant
    others = _that_run((find(rule.name, name) for name in preferred), module, device)
    listed = dict.fromkeys(t for variant in others for t in variant.types)
    able = " and ".join(repr(variant.name) for variant in entries)
    raise NotImplementedError(
        f"{rule.name} of {dtype} arrays: only {able} takes them on the device, and "
        f"{entries[-1].why_not(_at(module, device))}; others are for {', '.join(listed) or 'no type'}: {CONVERT}"
    )


def _at(module: Native, device: int) -> Backend:
    return Backend(module.backend_name(), device, "the arrays are there", module)


def _that_run(entries: Iterable[Variant], module: Native, device: int) -> list[Variant]:
    here = _at(module, device)
    return [variant for variant in entries if not variant.why_not(here)]


def _takers(rule: Rule, dtype: str) -> tuple[Variant, ...]:
    """The variants of "auto" that list a type."""
    named = (find(rule.name, name) for name in rule.on_device or rule.preferred)
    return tuple(variant for variant in named if dtype in variant.types)
