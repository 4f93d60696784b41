"""The one way of a call: of every operation, on host arrays and on arrays on a device, "auto" and named variants.

    call --> the memo: what did calls of this kind come to? --> C checks that the arrays are plain, and runs the kernel
         '-> where they are not: they are converted, broadcast, arranged --> C
             and where they cannot be, the checks on this way say why

What is different of each operation is said in its Rule (_rule.py). The kind of a call is its operation, variant and
parameters, and the types and layouts of its arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from .. import _transfer
from .._array import DeviceArray
from .._backend import Backend, backend, current
from .._dtypes import BFLOAT16, from_name, itemsize, name_in_numpy, same_kind, type_name
from .._exchange import is_elsewhere
from .._host import MASK_LOST, host_array, host_operand, host_result, native
from .._layout import MAX_DIMS, Shape
from .._native import Native
from .._observer import Run, observer
from .._streams import stream_handle
from .._table import AUTO, NUMPY, Variant, find, told, variants
from .._transfer import Array, buffer_of, refuse_masked
from . import _checks
from ._rule import CONVERT, WEAK, Rule, spread

NOTHING: Mapping[str, Any] = {}
MOST = 4096  #: kinds of calls that a memo keeps
#: numpy.matmul takes out=... from here on: "an array, also where the result is a scalar".
TAKES_DOTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"
SHAPE, DTYPE = attrgetter("shape"), attrgetter("dtype")


class Entry(NamedTuple):
    """What calls of one kind come to."""

    row: Variant
    values: tuple[int, ...]  #: of the row's parameters
    dtype: str  #: that the inputs are brought to
    result: str  #: the type of the row's result
    plain: np.dtype[Any] | None = None  #: of host arrays that need no conversion: the result's type


def call(
    rule: Rule,
    inputs: tuple[Any, ...],
    out: Any = None,
    *,
    variant: str,
    stream: Any,
    parameters: Mapping[str, Any],
    own: Mapping[str, Any] = NOTHING,
) -> Any:
    """The result of a call: an array or NumPy scalar for host inputs, a DeviceArray for inputs on the device.

    ``own`` are keywords of the public function itself that are parameters of its kernel rows (``bitorder=``).
    """
    module = getattr(inputs[rule.first], "_native", None)
    if module is None:
        return _on_host(rule, inputs, out, variant, stream, parameters, own)
    if observer.get() is None:
        given = {**own, **parameters} if own else parameters
        handle = 0 if stream is None else stream_handle(stream, module, inputs[rule.first]._view.device)
        result = module.call(rule.key, variant, given, inputs, out, handle)
        if result is not NotImplemented:
            return result
    return _on_device(rule, inputs, out, variant, stream, parameters, own)


def named(
    rule: Rule, variant: str, parameters: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[Variant | None, tuple[int, ...]]:
    """The row of that name and its parameters' values; no row for "auto", which has no parameters."""
    if variant == AUTO:
        _checks.refuse_parameters(rule.name, parameters)
        return None, ()
    row = find(rule.name, variant, also=(AUTO,))
    return row, row.values(parameters if row.on_host or not own else {**parameters, **own})


def check(
    rule: Rule, x: Any, *, variant: str, stream: Any, parameters: Mapping[str, Any], own: Mapping[str, Any]
) -> None:
    """What ``call`` refuses, for a caller that has to copy its one input before."""
    row, _ = named(rule, variant, parameters, own)
    (name,) = rule.operands
    if isinstance(x, DeviceArray):
        stream_handle(stream, x._native, x._view.device)
        _checks.check_type(rule, row, x._view.dtype)
        _row_on_device(rule, row, x._view.dtype, name, x._native, x._view.device)
        return
    check_stream(stream)
    if others := _no_numbers({name: x}):
        _checks.refuse_none(rule, row, {name: x})
        _checks.check_numbers(rule, row, others)
    else:
        dtype = x.dtype.newbyteorder("=")
        _checks.check_type(rule, row, told(dtype))
        if row is not None:
            row.signature(dtype)


def _remember(module: Native, key: Any, what: Any) -> None:
    if len(module.memo) >= MOST:
        module.memo.clear()
    module.memo[key] = what


# --- host arrays -----------------------------------------------------------------------------------------------------
def _on_host(
    rule: Rule,
    inputs: tuple[Any, ...],
    out: Any,
    variant: str,
    stream: Any,
    parameters: Mapping[str, Any],
    own: Mapping[str, Any],
) -> Any:
    module = key = None
    if variant not in (AUTO, NUMPY) and stream is None and observer.get() is None:
        try:
            module, device = current()
            given = {**own, **parameters} if own else parameters  # (1.0 and True are equal to 1: types count)
            key = (rule.key, variant, device, *map(DTYPE, inputs), *given.items(), *map(type, given.values()))
            entry = module.memo.get(key)
            if entry is not None and entry.plain is not None and _lie_plainly(inputs):
                shape = rule.shape(*map(SHAPE, inputs), **own)
                result = _plain_result(rule, entry, inputs, shape, out)
                if result is not None:
                    execute(entry.row, entry.values, inputs, (result,), module, device)
                    return result if shape or out is not None else result[()]
        except (AttributeError, TypeError, ValueError):  # told below, in NumPy's order
            key = None
    row, values = named(rule, variant, parameters, own)
    out = _checks.only(rule.name, out)
    if isinstance(out, DeviceArray) or any(isinstance(x, DeviceArray) for x in inputs):
        return _on_device(rule, inputs, out, variant, stream, parameters, own)
    check_stream(stream)
    return _convert_on_host(rule, row, values, inputs, own, out, module, key)


def _lie_plainly(arrays: Iterable[Any]) -> bool:
    """True for NumPy's own arrays without gaps."""
    for x in arrays:
        if type(x) is not np.ndarray or not x.flags.c_contiguous or not x.flags.aligned or x.ndim > MAX_DIMS:
            return False
    return True


def _plain_result(rule: Rule, entry: Entry, inputs: tuple[Any, ...], shape: Shape, out: Any) -> Array | None:
    """Where the result goes; None where inputs or out are not as the kernel takes them."""
    if not rule.arranged.takes(tuple(map(SHAPE, inputs)), shape):
        return None
    if out is None:
        return np.empty(shape, entry.plain)
    fits = type(out) is np.ndarray and out.shape == shape and out.dtype == entry.plain and out.flags.carray
    return out if fits and out.size else None


def check_stream(stream: Any) -> None:
    """For host arrays, whose calls are complete on return: an error if that is no stream of this context's device."""
    if stream is not None:
        here = backend()
        handle = stream_handle(stream, here.native, here.device)
        if handle:
            here.native.stream_done(here.device, handle)  # refuses what is no stream


def answers_at_once(here: Backend) -> bool:
    """False for an emulator: who wants a result of host arrays should not wait for one, whatever use_backend says."""
    return not here.emulated


def fastest(rule: Rule, dtype: np.dtype[Any]) -> Variant:
    """What "auto" takes for host arrays: on a GPU the first of the preferred rows that fits the type and the chip,
    else NumPy's row."""
    here = backend()
    if answers_at_once(here):
        name = type_name(dtype)
        for row in (find(rule.name, wanted) for wanted in rule.preferred):
            if name in row.types and not row.why_not(here):
                return row
    return host_row(rule.name)


def host_row(operation: str) -> Variant:
    """The row that NumPy computes."""
    return next(row for row in variants(operation) if row.on_host)


def execute(
    row: Variant,
    values: tuple[int, ...],
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    module: Native,
    device: int,
    stream: int = 0,
    dtype: str = "",
) -> None:
    """Runs a kernel row on host buffers, or on Views."""
    by = observer.get()
    if by is None:
        module.execute(row.operation, row.name, values, inputs, outputs, device, 0, stream)
    else:
        by.kernel(Run(module, device, row, values, inputs, outputs, stream, dtype))


def by_numpy(rule: Rule, inputs: tuple[Any, ...], own: Mapping[str, Any]) -> Any:
    """Computes with NumPy."""
    by = observer.get()
    if by is None:
        return rule.by_numpy(*inputs, **own)
    return by.numpy(host_row(rule.name), inputs, lambda: rule.by_numpy(*inputs, **own), rule.counted)


def _convert_on_host(
    rule: Rule,
    row: Variant | None,
    values: tuple[int, ...],
    inputs: tuple[Any, ...],
    own: Mapping[str, Any],
    out: Any,
    module: Native | None,
    key: Any,
) -> Any:
    """Array-likes of any type, layout and shape that go together, by a kernel or by NumPy."""
    if row is None and rule.numpys_own is not None and rule.numpys_own(inputs, out):
        return by_numpy(rule, inputs, {"out": out})
    # Python's own numbers take the others' type, as in NumPy: they are converted last.
    given = {name: x if type(x) in WEAK else host_array(x, name) for name, x in zip(rule.operands, inputs, strict=True)}
    if rule.real:
        _checks.check_real(rule, given)
    others = {} if rule.numpys_own is not None else _no_numbers(given)
    dtype = None
    if others:
        _checks.refuse_none(rule, row, given)
        _checks.check_numbers(rule, row, others)
    else:
        dtype = _common_type(rule, row, given)
        if row is None:
            row = fastest(rule, dtype)
            values = () if row.on_host else row.values(own)
    for name in rule.numbers:
        _checks.check_one_number(rule, name, np.shape(given[name]))
    if rule.numpys_own is not None and row is not None and row.on_host:
        return by_numpy(rule, tuple(given.values()), {"out": out})
    dots = out is ... and rule.dots and TAKES_DOTS
    if dots:
        out = None
    result_type = None if dtype is None or row is None or row.on_host else from_name(row.signature(dtype)[2])
    shape = _check_out_on_host(rule, out, result_type, given, own)
    if dtype is None or row is None:
        return _into(rule, out, _others_by_numpy(rule, given, own))
    arrays = tuple(np.asarray(x, dtype) for x in given.values())
    if result_type is None:
        return _into(rule, out, by_numpy(rule, arrays, own))
    if key is not None and module is not None:
        same = all(x.dtype == dtype and x.dtype.kind != "V" for x in inputs)
        plain = result_type if same and all(x.dtype.isnative for x in inputs) else None
        _remember(module, key, Entry(row, values, type_name(dtype), name_in_numpy(result_type), plain))
    # Straight into out where that can be, also into an operand, which the device has a copy of by then.
    if out is not None and out.dtype == result_type and out.shape == shape and out.size > 0:
        target = np.asarray(out)
        operands, result = rule.arranged.on_host(arrays, target)
        if host_result(result) and np.may_share_memory(result, target):
            _by_kernel(row, values, operands, result)
            return out
    made = np.empty(shape, result_type)
    operands, result = rule.arranged.on_host(arrays, made)
    _by_kernel(row, values, operands, result)
    return made if dots else _into(rule, out, made)


def _by_kernel(row: Variant, values: tuple[int, ...], operands: tuple[Array, ...], result: Array) -> None:
    here = backend()
    _checks.check_place(row, here)
    inputs = tuple(buffer_of(host_operand(x)) for x in operands)
    execute(row, values, inputs, (buffer_of(result),), here.native, here.device, 0, name_in_numpy(operands[0].dtype))


def _check_out_on_host(
    rule: Rule, out: Any, result_type: np.dtype[Any] | None, given: Mapping[str, Any], own: Mapping[str, Any]
) -> Shape:
    """The result's shape, if out, where there is one, takes the result."""
    if out is not None:
        _checks.check_is_array(rule.name, out, (np.ndarray,))
        refuse_masked(out, f"{rule.name}: out", MASK_LOST, "out.data")
        _checks.check_writable(rule.name, out.flags.writeable)
        if result_type is not None:
            possible = np.can_cast(result_type, out.dtype, casting="same_kind")
            _checks.check_cast(rule.name, possible, name_in_numpy(result_type), told(out.dtype))
    shapes = [np.shape(x) for x in given.values()]
    shape = rule.shape(*shapes, **own)
    if out is not None:
        _checks.check_shape(rule, out.shape, shape, *shapes)
    return shape


def _others_by_numpy(rule: Rule, given: Mapping[str, Any], own: Mapping[str, Any]) -> Any:
    """NumPy's answer for arrays as they came: what type the result has is its own matter."""
    arrays = tuple(x if type(x) in WEAK or x.dtype.isnative else native(x) for x in given.values())
    try:
        return by_numpy(rule, arrays, own)
    except TypeError as error:
        said = " and ".join(f"{n} of {told(np.asarray(x).dtype)}" for n, x in given.items())
        raise TypeError(f"{rule.name}: {said}: NumPy says: {error}") from None


def _no_numbers(given: Mapping[str, Any]) -> dict[str, np.dtype[Any]]:
    """The types of those operands that are neither numbers nor bools. (2: another package's numbers, as bfloat16.)"""
    types = {name: x.dtype for name, x in given.items() if type(x) not in WEAK}
    return {name: dtype for name, dtype in types.items() if dtype.kind not in "biufc" and dtype.isbuiltin != 2}


def _common_type(rule: Rule, row: Variant | None, given: Mapping[str, Any]) -> np.dtype[Any]:
    """The type that all inputs are brought to; TypeError if the operation or the row is not for it."""
    kinds = [x if type(x) in WEAK else x.dtype for x in given.values()]
    stays = row is not None and type(kinds[0]) not in WEAK and len(set(kinds)) == 1 and _is_listed(rule, kinds[0])
    dtype = (kinds[0] if stays else _common(kinds, rule)).newbyteorder("=")
    _checks.check_type(rule, row, told(dtype))
    if row is not None:
        row.signature(dtype)
        _checks.check_one_type(rule, row, {n: told(x.dtype) for n, x in given.items() if isinstance(x, np.ndarray)})
    return dtype


def _is_listed(rule: Rule, dtype: np.dtype[Any]) -> bool:
    """True if any row of the operation is for that type."""
    name = type_name(dtype)
    return any(name in row.types for row in variants(rule.name))


def _common(kinds: list[Any], rule: Rule) -> np.dtype[Any]:
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
    possible = np.can_cast(kind, out.dtype, casting="same_kind")
    _checks.check_cast(rule.name, possible, name_in_numpy(kind), told(out.dtype))
    np.copyto(out, result, casting="same_kind")
    return out


# --- arrays on a device ----------------------------------------------------------------------------------------------
def _on_device(
    rule: Rule,
    inputs: tuple[Any, ...],
    out: Any,
    variant: str,
    stream: Any,
    parameters: Mapping[str, Any],
    own: Mapping[str, Any],
) -> DeviceArray:
    """Arrays that are converted, broadcast or arranged there, or whose kind is new; or that cannot be taken."""
    key, entry = _known_on_device(rule, inputs, variant, parameters, own)
    row, values = named(rule, variant, parameters, own) if entry is None else (entry.row, entry.values)
    out = _checks.only(rule.name, out)
    if out is ... and rule.dots:  # results on the device are arrays anyway
        out = None
    rule.refuse(inputs)
    given = dict(zip(rule.operands, inputs, strict=True))
    numbers = {
        name: given[name] if type(given[name]) in WEAK else host_array(given[name], name)
        for name in rule.numbers
        if not isinstance(given[name], DeviceArray) and not is_elsewhere(given[name])
    }
    _checks.check_numbers(rule, row, _no_numbers(numbers), left_to_numpy=False)
    arrays = {name: x for name, x in given.items() if name not in numbers}
    if out is not None:
        _checks.check_is_array(rule.name, out, (DeviceArray, np.ndarray))
        module, device = _checks.check_one_place(rule.name, **arrays, out=out)
    else:
        module, device = _checks.check_one_place(rule.name, **arrays)
    handle = stream_handle(stream, module, device)
    if entry is None:
        entry = _entry_on_device(rule, row, values, given, arrays, own, module, device)
        if key is not None:
            _remember(module, key, _prepared(rule, entry, arrays, own, module) or entry)
    shapes = tuple(np.shape(x) if n in numbers else x._view.shape for n, x in {**given, **numbers}.items())
    for n in rule.numbers:
        _checks.check_one_number(rule, n, shapes[rule.operands.index(n)])
    target = None if out is None else out._view
    if target is not None:
        _checks.check_writable(rule.name, not target.read_only)
        _checks.check_cast(rule.name, same_kind(entry.result, target.dtype), entry.result, target.dtype)
    shape = rule.shape(*shapes, **own)
    if target is not None:
        _checks.check_shape(rule, target.shape, shape, *shapes)
        _checks.check_distinct(rule.name, target.shape, target.strides, itemsize(target.dtype))
    views = {n: _transfer.converted(module, x._view, entry.dtype, handle) for n, x in arrays.items()}
    for n, x in numbers.items():
        views[n] = module.empty((), entry.dtype, device, handle)
        _transfer.fill(module, views[n], x, handle)
    ordered = tuple(views[n] for n in rule.operands)
    direct = (
        target is not None
        and target.shape == shape
        and target.dtype == entry.result
        and not any(module.overlap(target, x) for x in ordered)
    )
    result = target if direct and target is not None else module.empty(shape, entry.result, device, handle)
    operands, written = rule.arranged.on_device(module, ordered, result)
    execute(entry.row, entry.values, operands, (written,), module, device, handle, entry.dtype)
    if target is None:
        return DeviceArray(result, module)
    if not direct:
        module.copy(target, spread(module, result, target.shape), handle)
    return out  # type: ignore[no-any-return]


def _entry_on_device(
    rule: Rule,
    row: Variant | None,
    values: tuple[int, ...],
    given: Mapping[str, Any],
    arrays: Mapping[str, DeviceArray],
    own: Mapping[str, Any],
    module: Native,
    device: int,
) -> Entry:
    """What calls of this kind come to; the errors say which types and rows there are."""
    names = {n: x._view.dtype for n, x in arrays.items()}
    if rule.real:
        _checks.check_real(rule, arrays)
    dtype = _common_name(rule, given, names)
    _checks.check_type(rule, row, dtype)
    operand = next(iter(arrays))
    found = _row_on_device(rule, row, dtype, operand, module, device)
    if row is None:
        values = found.values(own)
    else:
        _checks.check_one_type(rule, row, names)
    return Entry(found, values, dtype, found.signature(dtype)[2])


def _known_on_device(
    rule: Rule, inputs: tuple[Any, ...], variant: str, parameters: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[Any, Entry | None]:
    """The kind of a call, and what calls of that kind come to; None where it is not known (yet)."""
    module = getattr(inputs[rule.first], "_native", None)
    key = None if module is None else module.key(rule.key, variant, {**own, **parameters}, inputs)
    found = None if module is None or key is None else module.memo.get(key)
    return key, getattr(found, "entry", found)


def _prepared(
    rule: Rule, entry: Entry, arrays: Mapping[str, DeviceArray], own: Mapping[str, Any], module: Native
) -> Any:
    """What the C module needs for more calls of this kind; None if their arrays have to be converted or arranged."""
    views = tuple(x._view for x in arrays.values())
    if {x.dtype for x in views} != {entry.dtype} or not rule.arranged.is_plain(views):
        return None
    shape: Any = functools.partial(rule.shape, **own) if own else rule.shape
    if rule.fixed is not None:
        shape = rule.fixed
    return module.prepare(rule.name, entry.row.name, entry.values, entry.dtype, rule.alike, shape, entry)


def _row_on_device(rule: Rule, row: Variant | None, dtype: str, operand: str, module: Native, device: int) -> Variant:
    """The row that takes arrays of a type there: the one that is named, or the first of "auto"."""
    if row is None:
        return _first_that_takes(rule, dtype, module, device)
    _checks.refuse_host_row(row, operand)
    row.signature(dtype, "" if _that_run(_takers(rule, dtype), module, device) else CONVERT)
    _checks.check_place(row, _at(module, device))
    return row


def _common_name(rule: Rule, given: Mapping[str, Any], names: Mapping[str, str]) -> str:
    if len(set(names.values())) == 1:
        first = next(iter(names.values()))
        if all(type(given[n]) in WEAK for n in given if n not in names):
            return first if names.keys() == given.keys() else _with_numbers(rule, first, given, names)
    if rule.common_on_device is not None:
        return rule.common_on_device(*names.values())
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
    rows, preferred = _takers(rule, dtype), rule.on_device or rule.preferred
    if not rows:
        listed = dict.fromkeys(t for row in variants(rule.name) if row.name in preferred for t in row.types)
        raise TypeError(f"{rule.name} of arrays on the device takes {', '.join(listed)}, not {dtype}; {CONVERT}")
    for row in _that_run(rows, module, device):
        return row
    others = _that_run((find(rule.name, name) for name in preferred), module, device)
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


def _takers(rule: Rule, dtype: str) -> tuple[Variant, ...]:
    """The rows of "auto" that list a type."""
    named = (find(rule.name, name) for name in rule.on_device or rule.preferred)
    return tuple(row for row in named if dtype in row.types)
