"""The way of a call from its arguments to a row, for operations whose inputs are of one type and whose result is one
array: what is different of each is said in its Rule.

matmul and sum_of_squares have ways of their own (stacks and broadcasting in place; results of a wider type)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _dispatch, _transfer
from .._array import DeviceArray
from .._backend import Backend
from .._dtypes import BFLOAT16, from_name, itemsize, name_in_numpy, same_kind, type_name
from .._exchange import is_elsewhere
from .._layout import Shape, broadcast
from .._native import Native, View
from .._streams import stream_handle
from .._table import AUTO, Variant, find, told, variants
from .._transfer import Array, refuse_masked
from . import _out


def _same_shape(*shapes: Shape, **own: Any) -> Shape:
    return shapes[0]


CONVERT = ".astype() converts"


@dataclass(frozen=True)
class Rule:
    """What an operation says of its calls."""

    name: str
    operands: tuple[str, ...]  #: the inputs' names, for errors
    by_numpy: Callable[..., Any]  #: (inputs..., own keywords) -> the result, by NumPy or on the host
    #: What "auto" takes, the first that lists the type and runs here. On the host, where there is no GPU: by_numpy.
    preferred: tuple[str, ...]
    #: (shapes of the inputs..., own keywords) -> the result's; ValueError where they do not fit.
    shape: Callable[..., Shape] = _same_shape
    broadcasts: bool = False  #: inputs are brought to the result's shape
    numbers: tuple[str, ...] = ()  #: operands that are one number, in host memory also where the others are not
    #: The type that "auto" brings the inputs to, from the types and numbers given; TypeError for what NumPy refuses.
    common: Callable[..., np.dtype[Any]] = np.result_type
    counted: Callable[..., tuple[Shape, ...]] = lambda *shapes: shapes  #: shapes that the work is counted from
    only: tuple[str, ...] = ()  #: the types that it is for, where "auto" takes no others either
    instead: str = CONVERT  #: what to do with others
    #: NumPy's letters for the kinds of types that are no numbers and that "auto" leaves to by_numpy, on the host.
    others: str = ""


#: What to do with elements that are no numbers, by NumPy's letter for the kind of their type.
NUMBERS_FROM = {
    "M": ".astype('int64') counts their units",
    "m": ".astype('int64') counts their units",
    "S": ".astype(float) reads numbers",
    "U": ".astype(float) reads numbers",
    "T": ".astype(float) reads numbers",
    "O": ".astype(float) converts Python's numbers",
    "V": "a field of records is an array, x['name']",
}

#: Python's own numbers take the arrays' type where they can, as in NumPy. (Not isinstance: NumPy's float64 is a float.)
WEAK = (int, float, complex, bool)


def compute(
    rule: Rule,
    inputs: tuple[Any, ...],
    *,
    variant: str,
    stream: Any,
    parameters: Mapping[str, Any],
    own: Mapping[str, Any] | None = None,
    out: Any = None,
) -> Any:
    """The result of a call: an array or NumPy scalar for host inputs, a DeviceArray for inputs on the device.

    ``own`` are keywords of the public function itself that are parameters of its kernel rows (``bitorder=``).
    """
    own = own or {}
    if out is None and stream is None and variant == AUTO and not parameters:
        done = _plain(rule, inputs, own)
        if done is not None:
            return done
    out = _out.only(rule.name, out)
    row, values = _named(rule, variant, parameters, own)
    given = dict(zip(rule.operands, inputs, strict=True))
    if isinstance(out, DeviceArray) or any(isinstance(x, DeviceArray) for x in given.values()):
        return _on_device(rule, row, values, given, own, out, stream)
    _dispatch.check_stream(stream)
    return _on_host(rule, row, values, given, own, out)


def check(
    rule: Rule, x: Any, *, variant: str, stream: Any, parameters: Mapping[str, Any], own: Mapping[str, Any]
) -> None:
    """What ``compute`` refuses, for a caller that has to copy its one input before."""
    row, _ = _named(rule, variant, parameters, own)
    (name,) = rule.operands
    if isinstance(x, DeviceArray):
        stream_handle(stream, x._native, x._view.device)
        _check_type(rule, row, x._view.dtype)
        _row_on_device(rule, row, x._view.dtype, name, x._native, x._view.device)
        return
    _dispatch.check_stream(stream)
    if others := _no_numbers({name: x}):
        _refuse_none(rule, row, {name: x})
        _check_others(rule, row, others)
    else:
        dtype = x.dtype.newbyteorder("=")
        _check_type(rule, row, told(dtype))
        if row is not None:
            row.signature(dtype)


def _named(
    rule: Rule, variant: str, parameters: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[Variant | None, tuple[int, ...]]:
    if variant == AUTO:
        return _dispatch.check_variant(rule.name, variant, dict(parameters))
    row = find(rule.name, variant, also=(AUTO,))
    return row, row.values(parameters if row.on_host else {**parameters, **own})


# --- host arrays -----------------------------------------------------------------------------------------------------
def _on_host(
    rule: Rule,
    row: Variant | None,
    values: tuple[int, ...],
    given: Mapping[str, Any],
    own: Mapping[str, Any],
    out: Any,
) -> Any:
    # Python's own numbers take the others' type, as in NumPy: they are converted last.
    plain = {name: x if type(x) in WEAK else _dispatch.host_array(x, name) for name, x in given.items()}
    others = _no_numbers(plain)
    if others:
        _refuse_none(rule, row, plain)
        _check_others(rule, row, others)
    else:
        dtype = _common_type(rule, [x if type(x) in WEAK else x.dtype for x in plain.values()]).newbyteorder("=")
        _check_type(rule, row, told(dtype))
        if row is not None:
            row.signature(dtype)
            _check_one_type(rule, row, {n: told(x.dtype) for n, x in plain.items() if isinstance(x, np.ndarray)})
    for name in rule.numbers:
        _check_one_number(rule, name, np.shape(plain[name]))
    shape = rule.shape(*(np.shape(x) for x in plain.values()), **own)
    if out is not None:
        _out.check_is_array(rule.name, out, (np.ndarray,))
        refuse_masked(out, f"{rule.name}: out", _dispatch.MASK_LOST, "out.data")
        _out.check_writable(rule.name, out.flags.writeable)
        if out.shape != shape:
            raise ValueError(f"{rule.name}: out is {out.shape}, and the result is {shape}: give out= of that shape")
    if others:
        return _into(rule, out, _others_by_numpy(rule, plain, own))
    if row is None:
        row = _dispatch.fastest(rule.name, dtype, rule.preferred)
        values = () if row.on_host else row.values(own)
    arrays = tuple(np.asarray(x, dtype) for x in plain.values())
    if row.on_host:
        return _into(rule, out, _by_numpy(rule, arrays, own))
    result_type = from_name(row.signature(dtype)[2])
    if out is not None:
        _out.check_cast(
            rule.name,
            np.can_cast(result_type, out.dtype, casting="same_kind"),
            name_in_numpy(result_type),
            told(out.dtype),
        )
    direct = out is not None and out.dtype == result_type and out.size > 0 and _dispatch.host_result(out)
    result = np.asarray(out) if direct else np.empty(shape, result_type)
    full = (np.broadcast_to(x, shape) if _spreads(rule, n) else x for n, x in zip(given, arrays, strict=True))
    _dispatch.execute(row, values, tuple(map(_dispatch.host_operand, full)), (result,))
    return out if direct else _into(rule, out, result)


def _by_numpy(rule: Rule, arrays: tuple[Any, ...], own: Mapping[str, Any]) -> Any:
    return _dispatch.on_host(rule.name, arrays, lambda: rule.by_numpy(*arrays, **own), rule.counted)


def _others_by_numpy(rule: Rule, plain: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    """NumPy's answer for arrays as they came: what type the result has is its own matter."""
    arrays = tuple(x if type(x) in WEAK or x.dtype.isnative else _dispatch.native(x) for x in plain.values())
    try:
        return _by_numpy(rule, arrays, own)
    except TypeError as error:
        said = " and ".join(f"{n} of {told(np.asarray(x).dtype)}" for n, x in plain.items())
        raise TypeError(f"{rule.name}: {said}: NumPy says: {error}") from None


def _no_numbers(given: Mapping[str, Any]) -> dict[str, np.dtype[Any]]:
    """The types of those operands that are neither numbers nor bools. (2: another package's numbers, as bfloat16.)"""
    types = {name: x.dtype for name, x in given.items() if type(x) not in WEAK}
    return {name: dtype for name, dtype in types.items() if dtype.kind not in "biufc" and dtype.isbuiltin != 2}


def _refuse_none(rule: Rule, row: Variant | None, given: Mapping[str, Any]) -> None:
    """TypeError for None in an array's place, where it is not NumPy's to answer."""
    for name, x in given.items():
        nothing = isinstance(x, np.ndarray) and x.dtype == object and x.ndim == 0 and x.item() is None
        if nothing and (row is not None or "O" not in rule.others):
            raise TypeError(f"{rule.name}: {name} is None, and an array is wanted")


def _check_others(rule: Rule, row: Variant | None, others: Mapping[str, np.dtype[Any]]) -> None:
    """TypeError unless "auto" leaves them to NumPy."""
    for name, dtype in others.items():
        mend = rule.instead if rule.only else NUMBERS_FROM.get(dtype.kind, CONVERT)
        if row is not None:
            if dtype.kind in rule.others:
                mend = f"variant={AUTO!r} leaves it to NumPy"
            raise TypeError(
                f"{rule.name}: variant {row.name!r} takes {' or '.join(row.types)}, and {name} is {told(dtype)}; {mend}"
            )
        if dtype.kind not in rule.others:
            takes = " or ".join(rule.only) or "numbers"
            raise TypeError(f"{rule.name} takes {takes}, and {name} is {told(dtype)}; {mend}")


def _common_type(rule: Rule, kinds: list[Any]) -> np.dtype[Any]:
    weak = [kind for kind in kinds if type(kind) in WEAK]
    types: set[np.dtype[Any]] = {kind for kind in kinds if type(kind) not in WEAK}
    if weak and len(types) == 1 and complex not in map(type, weak):
        (only,) = types
        if type_name(only) == BFLOAT16:  # ml_dtypes makes float32 of it with 0.5, but with 2 it stays
            return only
    return np.dtype(rule.common(*kinds))


def _into(rule: Rule, out: Array | None, result: Any) -> Any:
    """The result in out, or where there is none by itself: NumPy's scalar for one number."""
    if out is None:
        return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else result
    kind = np.asarray(result).dtype
    _out.check_cast(rule.name, np.can_cast(kind, out.dtype, casting="same_kind"), name_in_numpy(kind), told(out.dtype))
    np.copyto(out, result, casting="same_kind")
    return out


def _spreads(rule: Rule, operand: str) -> bool:
    return rule.broadcasts and operand not in rule.numbers


def _check_one_number(rule: Rule, name: str, shape: Shape) -> None:
    if shape != ():
        raise ValueError(f"{rule.name}: {name} is one number, and its shape is {shape}")


def _check_type(rule: Rule, row: Variant | None, name: str) -> None:
    if rule.only and name not in rule.only:
        which, takes = ("", rule.only) if row is None else (f": variant {row.name!r}", row.types)
        raise TypeError(f"{rule.name}{which} takes {' or '.join(takes)}, not {name}; {rule.instead}")


def _check_one_type(rule: Rule, row: Variant, types: Mapping[str, str]) -> None:
    if len(set(types.values())) > 1:
        said = ", ".join(f"{name} {kind}" for name, kind in types.items())
        raise TypeError(
            f"{rule.name}: variant {row.name!r} takes arrays of one type, not {said}; variant={AUTO!r} takes them"
        )


# --- the plain case: arrays of one device, type and shape, nothing else said: no detour ------------------------------
def _plain(rule: Rule, inputs: tuple[Any, ...], own: Mapping[str, Any]) -> DeviceArray | None:
    """None: something is different."""
    first = inputs[0]
    if type(first) is not DeviceArray or rule.numbers or _dispatch.recorder.get() is not None:
        return None
    module, view = first._native, first._view
    dtype, device, shape = view.dtype, view.device, view.shape
    views = [view]
    for x in inputs[1:]:
        if type(x) is not DeviceArray or x._native is not module:
            return None
        other = x._view
        if other.dtype != dtype or other.device != device or (rule.broadcasts and other.shape != shape):
            return None
        views.append(other)
    rows = _takers(rule.name, rule.preferred, dtype)
    if not rows:
        return None
    row = rows[0] if len(rows) == 1 else _first_that_takes(rule, dtype, module, device)
    result_type, values = _with_values(rule.name, row.name, dtype, tuple(own.items()))
    if not rule.broadcasts:
        shape = rule.shape(*(x.shape for x in views), **own)
    result = module.empty(shape, result_type, device, 0)
    try:
        module.execute(rule.name, row.name, values, tuple(views), (result,), device, False, 0)
    except NotImplementedError:  # the only row that takes the type needs a later chip
        _first_that_takes(rule, dtype, module, device)  # says so
        raise
    return DeviceArray(result, module)


@functools.lru_cache(maxsize=256)
def _with_values(
    operation: str, name: str, dtype: str, own: tuple[tuple[str, Any], ...]
) -> tuple[str, tuple[int, ...]]:
    row = find(operation, name)
    return row.signature(dtype)[2], row.values(dict(own))


# --- arrays on a device ----------------------------------------------------------------------------------------------
def _on_device(
    rule: Rule,
    row: Variant | None,
    values: tuple[int, ...],
    given: Mapping[str, Any],
    own: Mapping[str, Any],
    out: Any,
    stream: Any,
) -> DeviceArray:
    numbers = {
        name: given[name] if type(given[name]) in WEAK else _dispatch.host_array(given[name], name)
        for name in rule.numbers
        if not isinstance(given[name], DeviceArray) and not is_elsewhere(given[name])
    }
    _check_others(replace(rule, others=""), row, _no_numbers(numbers))
    arrays = {name: x for name, x in given.items() if name not in numbers}
    if out is not None:
        _out.check_is_array(rule.name, out, (DeviceArray, np.ndarray))
        module, device = _dispatch.check_one_place(rule.name, **arrays, out=out)
    else:
        module, device = _dispatch.check_one_place(rule.name, **arrays)
    handle = stream_handle(stream, module, device)
    name = _common_name(rule, given, {n: x._view.dtype for n, x in arrays.items()})
    _check_type(rule, row, name)
    if row is None:
        row = _row_on_device(rule, row, name, next(iter(arrays)), module, device)
        values = row.values(own)
    else:
        _row_on_device(rule, row, name, next(iter(arrays)), module, device)
        _check_one_type(rule, row, {n: x._view.dtype for n, x in arrays.items()})
    views = {n: _transfer.converted(module, x._view, name, handle) for n, x in arrays.items()}
    for n in rule.numbers:
        _check_one_number(rule, n, np.shape(numbers[n]) if n in numbers else views[n].shape)
    for n, x in numbers.items():
        views[n] = module.empty((), name, device, handle)
        _transfer.fill(module, views[n], x, handle)
    inputs = tuple(views[n] for n in given)
    shape = rule.shape(*(x.shape for x in inputs), **own)
    result_type = row.signature(name)[2]
    target = None
    if out is not None:
        target = out._view
        _out.check_writable(rule.name, not target.read_only)
        _out.check_cast(rule.name, same_kind(result_type, target.dtype), result_type, target.dtype)
        if target.shape != shape:
            raise ValueError(f"{rule.name}: out is {target.shape}, and the result is {shape}: give out= of that shape")
        _out.check_distinct(rule.name, target.shape, target.strides, itemsize(target.dtype))
    direct = target is not None and target.dtype == result_type and not any(module.overlap(target, x) for x in inputs)
    result = target if direct and target is not None else module.empty(shape, result_type, device, handle)
    inputs = tuple(_spread(module, x, shape) if _spreads(rule, n) else x for n, x in zip(given, inputs, strict=True))
    _dispatch.execute_on_device(row, values, inputs, (result,), module, handle)
    if target is None:
        return DeviceArray(result, module)
    if not direct:
        module.copy(target, result, handle)
    return out  # type: ignore[no-any-return]


def _row_on_device(rule: Rule, row: Variant | None, name: str, operand: str, module: Native, device: int) -> Variant:
    """The row that takes arrays of a type there: the one that is named, or the first of "auto"."""
    if row is None:
        return _first_that_takes(rule, name, module, device)
    _dispatch.refuse_host_row(row, operand)
    row.signature(name, "" if _that_run(_takers(rule.name, rule.preferred, name), module, device) else CONVERT)
    return row


def _common_name(rule: Rule, given: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if len(set(names.values())) == 1:
        first = next(iter(names.values()))
        if all(type(given[n]) in WEAK for n in given if n not in names):
            return first if names.keys() == given.keys() else _with_numbers(rule, first, given, names)
    kinds = [from_name(names[n]) if n in names else _kind(x) for n, x in given.items()]
    return name_in_numpy(np.dtype(rule.common(*kinds)))


def _with_numbers(rule: Rule, name: str, given: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The arrays' type, unless a Python number makes another of it (0.5 with integers)."""
    if name == BFLOAT16 and not any(type(x) is complex for x in given.values()):
        return name
    kinds = [from_name(name) if n in names else x for n, x in given.items()]
    return name_in_numpy(np.dtype(rule.common(*kinds)))


def _kind(x: Any) -> Any:
    return x if type(x) in WEAK else np.asarray(x).dtype


def _first_that_takes(rule: Rule, dtype: str, module: Native, device: int) -> Variant:
    rows = _takers(rule.name, rule.preferred, dtype)
    if not rows:
        listed = dict.fromkeys(t for row in variants(rule.name) if row.name in rule.preferred for t in row.types)
        raise TypeError(f"{rule.name} of arrays on the device takes {', '.join(listed)}, not {dtype}; {CONVERT}")
    for row in _that_run(rows, module, device):
        return row
    others = _that_run((find(rule.name, name) for name in rule.preferred), module, device)
    listed = dict.fromkeys(t for row in others for t in row.types)
    able = " and ".join(repr(row.name) for row in rows)
    raise NotImplementedError(
        f"{rule.name} of {dtype} arrays: only {able} takes them on the device, and "
        f"{rows[-1].why_not(_at(module, device))}; others are for {', '.join(listed) or 'no type'}: {CONVERT}"
    )


def _at(module: Native, device: int) -> Backend:
    return Backend(module.backend_name(), device, "the arrays are there", module)


def _that_run(rows: Iterable[Variant], module: Native, device: int) -> list[Variant]:
    here = _at(module, device)
    return [row for row in rows if not row.why_not(here)]


@functools.cache
def _takers(operation: str, preferred: tuple[str, ...], dtype: str) -> tuple[Variant, ...]:
    return tuple(row for row in (find(operation, name) for name in preferred) if dtype in row.types)


def _spread(module: Native, x: View, shape: Shape) -> View:
    if x.shape == shape:
        return x
    return module.view(x, 0, shape, broadcast(x.shape, x.strides, shape), x.dtype)
