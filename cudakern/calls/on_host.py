"""A call on host arrays: at once if this kind of call is known, else with conversions, or left to NumPy."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._backend import Backend, backend, current
from ..arrays.dtypes import BFLOAT16, from_name, name_in_numpy, type_name
from ..arrays.layout import MAX_DIMS, Shape
from ..arrays.memory_limit import may_exceed
from ..arrays.streams import stream_handle
from ..arrays.transfer import WARM_BYTES, Array, buffer_of, new_host, refuse_masked, warm_host
from . import checks, execute
from .execute import by_numpy, named, remember
from .host import host_array, host_operand, host_result, native
from .observer import Run, observer
from .rule import VALUES_COUNT, WEAK, Inputs, Named, Rule
from .table import AUTO, NUMPY, Variant, find, type_in_words, variants
from .tiles import in_tiles

#: Since this version numpy.matmul takes out=..., for an array instead of a scalar.
TAKES_DOTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


def plainly(rule: Rule, inputs: Inputs, out: Any, variant: Any, parameters: Named, own: Named) -> Any:
    """The result of a kernel variant by name, of NumPy arrays that it takes as they are, in a call of a known kind;
    NotImplemented for all other calls."""
    try:
        module, device, _ = current()
        known = module.memo.get(_key(rule, variant, device, inputs, own, parameters))
        if known is None:
            return NotImplemented
        values, dtype, result = known
        number = dtype.num  # which tells longlong from int64, though the two are equal
        arrays = []
        for x in inputs:
            if type(x) in WEAK:
                x = np.asarray(x, dtype)
            elif type(x) is not np.ndarray or x.dtype.num != number or not x.flags.c_contiguous or x.ndim > MAX_DIMS:
                return NotImplemented
            arrays.append(x)
        shapes = (*[x.shape for x in arrays],)
        of = shapes.__getitem__
        if any(map(of, rule.places)) or len(set(map(of, rule.alike))) > 1:
            return NotImplemented
        if not rule.arranged.is_plain(shapes, contiguous=True):
            return NotImplemented
        shape = rule.shape(*shapes, **own)
        if rule.tiles is not None and may_exceed(module, device, _bytes(arrays, shape, result)):
            return NotImplemented
        if out is None:
            target = np.empty(shape, result)  # (not new_host: a call of it would be a part of a short call's time)
            if target.nbytes >= WARM_BYTES:
                target = warm_host(module, target)
        elif type(out) is np.ndarray and out.shape == shape and out.dtype == result and out.flags.carray and out.size:
            target = out
        else:
            return NotImplemented
    except (AttributeError, TypeError, ValueError, OverflowError):  # the checks in on_host explain it
        return NotImplemented
    module.execute(rule.name, variant, values, tuple(arrays), (target,), device, 0, 0)
    return target if shape or out is not None else target[()]


def _bytes(arrays: Sequence[Array], shape: Shape, result: np.dtype[Any]) -> int:
    """At least the bytes of a call's one or two arrays and of its result."""
    return arrays[0].nbytes + arrays[-1].nbytes + math.prod(shape) * result.itemsize


def _key(rule: Rule, variant: str, device: int, inputs: Inputs, own: Named, parameters: Named) -> Any:
    """The kind of a call on host arrays. (1.0 and True are equal to 1: types count.)"""
    kinds = [type(x) if type(x) in WEAK else x.dtype for x in inputs]
    keywords = {**own, **parameters} if own else parameters
    return (rule.key, variant, device, *kinds, *keywords.items(), *map(type, keywords.values()))


def on_host(rule: Rule, inputs: Inputs, out: Any, variant: str, stream: Any, parameters: Named, own: Named) -> Any:
    """Array-likes of any type, layout and shape that go together, by a kernel or by NumPy."""
    entry, values = named(rule, variant, parameters, own)
    check_stream(stream)
    numpys = rule.numpys_own is not None and entry is not None and entry.on_host
    if rule.numpys_own is not None and (entry is None or numpys) and rule.numpys_own(inputs, out):
        return by_numpy(rule, inputs, {"out": out})
    # Python's own numbers take the others' type, as in NumPy: they are converted last.
    operands = {n: x if type(x) in WEAK else host_array(x, n) for n, x in zip(rule.operands, inputs, strict=True)}
    dtype = None
    if checks.are_numbers(rule, entry, operands, rule.others):
        dtype = common_type(rule, None if numpys else entry, operands)
        if entry is None:
            entry = fastest(rule, dtype, *map(np.shape, operands.values()))
            values = () if entry.on_host else entry.values(own)
    for name in rule.numbers:
        checks.check_one_number(rule, name, np.shape(operands[name]))
    if rule.numpys_own is not None and entry is not None and entry.on_host:
        return by_numpy(rule, tuple(operands.values()), {"out": out})
    dots = out is ... and rule.numpys_own is not None and TAKES_DOTS
    if dots:
        out = None
    result_type, out_type = None, ""
    if dtype is not None and entry is not None and not entry.on_host:
        name, _, result_name = entry.signature(dtype)
        result_type, out_type = dtype if result_name == name else from_name(result_name), entry.out_type(name)
        checks.check_out_type(entry, name, type_name(out.dtype) if isinstance(out, np.ndarray) else None)
    if out is not None:
        checks.check_is_array(rule.name, out, (np.ndarray,))
        refuse_masked(out, f"{rule.name}: out", "out.data")
        _check_takes(rule, out, out.dtype if result_type is None else result_type)
    shapes = [np.shape(x) for x in operands.values()]
    shape = rule.shape(*shapes, **own)
    if out is not None:
        checks.check_shape(rule, out.shape, shape, *shapes)
    if dtype is None or entry is None:
        return _into(rule, out, _others_by_numpy(rule, operands, own))
    arrays = tuple(np.asarray(x, dtype) for x in operands.values())
    if result_type is None:
        return _into(rule, out, by_numpy(rule, arrays, own))
    # Directly into out if possible. It may be an operand, since the device has a copy of it by then.
    straight = out is not None and out.dtype == result_type and out.shape == shape and out.size > 0
    here = backend()
    tiles = rule.tiles if observer.get() is None else None
    if tiles is not None and not may_exceed(here.native, here.device, _bytes(arrays, shape, result_type)):
        tiles = None
    if tiles is not None and straight:  # the first tiles are in out before all of the operands is on the device
        straight = not any(np.may_share_memory(out, x) for x in arrays)
    target = np.asarray(out) if straight else new_host(here.native, shape, result_type)
    arranged, result = rule.arranged.on_host(arrays, target)
    if straight and not (host_result(result, here.native, here.device) and np.may_share_memory(result, target)):
        straight, target = False, new_host(here.native, shape, result_type)
        arranged, result = rule.arranged.on_host(arrays, target)
    checks.check_place(entry, here)
    arranged = tuple(host_operand(x, here.native, here.device) for x in arranged)
    buffers, name = tuple(map(buffer_of, arranged)), name_in_numpy(dtype)
    run = Run(here.native, here.device, entry, values, buffers, (buffer_of(result),), 0, name)
    if tiles is None or not in_tiles(tiles, run, arranged, result):
        execute.execute(run)
    plain = (_is_plain(rule, n, x, dtype) for n, x in zip(rule.operands, inputs, strict=True))
    if variant != AUTO and not out_type and all(plain):
        with contextlib.suppress(TypeError):  # a parameter that has no hash
            key = _key(rule, variant, here.device, inputs, own, parameters)
            remember(here.native, key, (values, dtype, result_type))
    return out if straight else target if dots else _into(rule, out, target)


def _is_plain(rule: Rule, name: str, x: Any, dtype: np.dtype[Any]) -> bool:
    """True for what needs no conversion: arrays of that type, and Python's numbers where one number is wanted."""
    if name in rule.numbers and VALUES_COUNT:
        return False
    if type(x) in WEAK:
        return name in rule.numbers
    return type(x) is np.ndarray and x.dtype == dtype and dtype.kind != "V" and x.dtype.isnative


def check_stream(stream: Any) -> None:
    """An error for anything but a stream of this context's device. (Calls with host arrays need no stream.)"""
    if stream is not None:
        here = backend()
        handle = stream_handle(stream, here.native, here.device)
        if handle:
            here.native.stream_done(here.device, handle)  # an error for an invalid handle


def answers_at_once(here: Backend) -> bool:
    """False for an emulator: "auto" does not make host arrays wait for it, whatever use_backend selects."""
    return not here.emulated


def at_once_by_numpy(rule: Rule, inputs: Inputs) -> Any:
    """NumPy's result for NumPy arrays of one type that "auto" leaves to it because they are small; NotImplemented for
    all others, whose way to NumPy has more checks than they take."""
    dtypes = {x.dtype if type(x) is np.ndarray else None for x in inputs}
    dtype = dtypes.pop()
    if dtypes or dtype is None or dtype.kind not in "iufc" or not dtype.isnative or rule.small is None:
        return NotImplemented
    small = rule.small(dtype, *[x.shape for x in inputs])
    return rule.by_numpy(*inputs) if small else NotImplemented


def fastest(rule: Rule, dtype: np.dtype[Any], *shapes: Shape) -> Variant:
    """The variant of "auto" for host arrays: on a GPU the first preferred one that takes the type and runs on the chip,
    unless NumPy is faster than the copies; else NumPy's."""
    here = backend()
    if answers_at_once(here) and not (rule.small is not None and rule.small(dtype, *shapes)):
        name = type_name(dtype)
        for variant in (find(rule.name, preferred) for preferred in rule.preferred):
            if name in variant.types and not variant.why_not(here):
                return variant
    return find(rule.name, NUMPY)


def _check_takes(rule: Rule, out: Array, result: np.dtype[Any]) -> None:
    possible = np.can_cast(result, out.dtype, casting="same_kind")
    checks.check_takes(rule.name, out.flags.writeable, possible, name_in_numpy(result), type_in_words(out.dtype))


def _others_by_numpy(rule: Rule, operands: Named, own: Named) -> Any:
    """NumPy's result for arrays without conversion, of whatever type NumPy chooses."""
    arrays = tuple(x if type(x) in WEAK or x.dtype.isnative else native(x) for x in operands.values())
    try:
        return by_numpy(rule, arrays, own)
    except TypeError as error:
        types = " and ".join(f"{n} of {type_in_words(np.asarray(x).dtype)}" for n, x in operands.items())
        raise TypeError(f"{rule.name}: {types}: NumPy: {error}") from None


def common_type(rule: Rule, variant: Variant | None, operands: Named) -> np.dtype[Any]:
    """The type that all inputs are brought to; TypeError if the operation or the variant is not for it."""
    kinds = [x if type(x) in WEAK else x.dtype.newbyteorder("=") for x in operands.values()]
    words = {}
    if variant is not None:
        words = {n: type_in_words(x.dtype) for n, x in operands.items() if isinstance(x, np.ndarray)}
    stays = variant is not None and type(kinds[0]) not in WEAK and len(set(kinds)) == 1
    stays = stays and any(type_name(kinds[0]) in entry.types for entry in variants(rule.name))
    try:
        dtype = kinds[0] if stays else _common(kinds, rule).newbyteorder("=")
        types = [kind for kind in kinds if type(kind) not in WEAK]
        if types and all(kind == dtype for kind in types):
            # long and longlong are equal on most systems, but NumPy keeps them apart, and takes longlong for both.
            dtype = max(types, key=lambda kind: kind.num)
    except TypeError:  # NumPy has no common type
        checks.check_one_type(rule, variant, words)
        raise
    checks.check_type(rule, variant, type_in_words(dtype))
    if variant is not None:
        variant.signature(dtype)
    checks.check_one_type(rule, variant, words)
    return dtype


def _common(kinds: list[Any], rule: Rule) -> np.dtype[Any]:
    numbers = {type(kind) for kind in kinds if type(kind) in WEAK}
    types: set[np.dtype[Any]] = {kind for kind in kinds if type(kind) not in WEAK}
    if numbers and complex not in numbers and {type_name(dtype) for dtype in types} == {BFLOAT16}:
        return types.pop()  # ml_dtypes makes float32 of it with 0.5, but with 2 it stays
    return np.dtype(rule.common(*kinds))


def _into(rule: Rule, out: Array | None, result: Any) -> Any:
    """The result in out; without out the result itself, as a NumPy scalar if it is one number."""
    if out is None:
        return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else result
    _check_takes(rule, out, np.asarray(result).dtype)
    np.copyto(out, result, casting="same_kind")
    return out
