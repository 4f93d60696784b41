"""A call on host arrays that C did not take: they have to be converted, are left to NumPy, this kind of call is new, or
it is an error that the checks here explain."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._backend import Backend, backend
from ..arrays.dtypes import BFLOAT16, from_name, name_in_numpy, type_name
from ..arrays.layout import MAX_DIMS, Shape, elements_meet
from ..arrays.memory_limit import may_exceed
from ..arrays.streams import stream_handle
from ..arrays.transfer import Array, buffer_of, new_host, refuse_masked
from . import checks, execute
from .execute import by_numpy, named
from .host import host_array, native
from .observer import Run, observer
from .rule import VALUES_COUNT, WEAK, Inputs, Layout, Named, Rule, laid_out
from .table import AUTO, NUMPY, Variant, find, type_in_words, variants
from .tiles import in_tiles

#: Since this version numpy.matmul takes out=..., for an array instead of a scalar.
TAKES_DOTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


def on_host(rule: Rule, inputs: Inputs, out: Any, variant: str, stream: Any, parameters: Named, own: Named) -> Any:
    """Array-likes of any type, layout and shape that go together, by a kernel or by NumPy."""
    entry, values = named(rule, variant, parameters, own)
    check_stream(stream)
    numpys_own = rule.numpys_own if entry is None or entry.on_host else None
    if numpys_own is not None and numpys_own(inputs, out):
        return by_numpy(rule, inputs, {"out": out})
    # Python's own numbers take the others' type, as in NumPy: they are converted last.
    operands = {n: x if type(x) in WEAK else host_array(x, n) for n, x in zip(rule.operands, inputs, strict=True)}
    dtype = None
    if checks.are_numbers(rule, entry, operands, rule.others):
        dtype = common_type(rule, None if numpys_own else entry, operands)
        if entry is None:
            entry = fastest(rule, dtype, *map(np.shape, operands.values()))
            values = () if entry.on_host else entry.values(own)
    for name in rule.numbers:
        checks.check_one_number(rule, name, np.shape(operands[name]))
    if numpys_own is not None and entry is not None and entry.on_host:
        return by_numpy(rule, tuple(operands.values()), {"out": out})
    dots = out is ... and rule.numpys_own is not None and TAKES_DOTS
    if dots:
        out = None
    result_type = None
    if dtype is not None and entry is not None and not entry.on_host:
        name, _, result_name = entry.signature(dtype)
        result_type = dtype if result_name == name else from_name(result_name)
        checks.check_out_type(entry, name, type_name(out.dtype) if isinstance(out, np.ndarray) else None)
    if out is not None:
        checks.check_is_array(rule.name, out, (np.ndarray,))
        refuse_masked(out, f"{rule.name}: out", "out.data")
        _check_takes(rule, out, out.dtype if result_type is None else result_type)
    shapes = tuple(map(np.shape, operands.values()))
    shape, layouts = rule.layouts(*shapes, **own)
    if out is not None:
        checks.check_shape(rule, out.shape, shape, *shapes)
    if dtype is None or entry is None:
        return _into(rule, out, _others_by_numpy(rule, operands, own))
    arrays = tuple(np.asarray(x, dtype) for x in operands.values())
    if result_type is None:
        return _into(rule, out, by_numpy(rule, arrays, own))
    # Directly into out if possible. It may be an operand, since the device has a copy of it by then.
    straight = out is not None and out.dtype == result_type and out.shape == shape and out.size > 0
    if straight and not out.flags.c_contiguous:  # (with more axes, a kernel would take a copy)
        straight = out.ndim < MAX_DIMS and not elements_meet(out.shape, out.strides, out.itemsize)
    here = backend()
    nbytes = sum(x.nbytes for x in arrays) + math.prod(shape) * result_type.itemsize
    by = observer.get()
    is_observed = by is not None and by.observes(here.native)
    tiled = rule.tiles is not None and not is_observed and may_exceed(here.native, here.device, nbytes)
    if tiled and straight:  # the first tiles are in out before all of the operands is on the device
        straight = not any(np.may_share_memory(out, x) for x in arrays)
    target = np.asarray(out) if straight else new_host(here.native, shape, result_type)
    *arranged, result = (_laid_out(rule, x, layout) for x, layout in zip((*arrays, target), layouts, strict=True))
    checks.check_place(entry, here)
    buffers, name = tuple(map(buffer_of, arranged)), name_in_numpy(dtype)
    run = Run(here.native, here.device, entry, values, buffers, (buffer_of(result),), 0, name)
    if not (tiled and in_tiles(rule.tiles, run, arranged, result)):
        execute.execute(run)
    of_one_type = all(x.dtype == dtype if isinstance(x, np.ndarray) else not VALUES_COUNT for x in inputs)
    key = here.native.key(rule.key, variant, {**own, **parameters}, inputs, here.device) if of_one_type else None
    if key is not None and variant != AUTO and key not in here.native.memo:
        make = functools.partial(new_host, here.native, dtype=result_type)
        exceeds = None if rule.tiles is None else functools.partial(may_exceed, here.native, here.device)
        execute.prepare(rule, run, shapes, own, key, make, exceeds)
    return out if straight else target if dots else _into(rule, out, target)


def _laid_out(rule: Rule, x: Array, layout: Layout) -> Array:
    """A host array as the kernel takes it, with no more axes than the C modules take."""
    x = x if layout is None else as_strided(x, *laid_out(*layout, x.strides))
    return x.reshape(-1, *x.shape[x.ndim - rule.core :]) if x.ndim > MAX_DIMS else x


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
    types = [kind for kind in kinds if type(kind) not in WEAK]
    numbers = {type(x) for x in operands.values() if type(x) in WEAK}
    # ml_dtypes makes float32 of bfloat16 with 0.5, but with 2 it stays.
    stays = bool(numbers) and complex not in numbers and set(map(type_name, types)) == {BFLOAT16}
    if variant is not None:
        words = {n: type_in_words(x.dtype) for n, x in operands.items() if isinstance(x, np.ndarray)}
        if rule.broadcasts:
            checks.check_one_type(rule, variant, words)
        stays = stays or (types == kinds and len(set(types)) == 1 and type_name(types[0]) in variants(rule.name).types)
    dtype = types[0] if stays else np.dtype(rule.common(*kinds)).newbyteorder("=")
    if types and all(kind == dtype for kind in types):
        # long and longlong are equal on most systems, but NumPy keeps them apart, and takes longlong for both.
        dtype = max(types, key=lambda kind: kind.num)
    checks.check_type(rule, variant, type_in_words(dtype))
    if variant is not None:
        variant.signature(dtype)
        checks.check_one_type(rule, variant, words)
    return dtype


def _into(rule: Rule, out: Array | None, result: Any) -> Any:
    """The result in out; without out the result itself, as a NumPy scalar if it is one number."""
    if out is None:
        return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else result
    _check_takes(rule, out, np.asarray(result).dtype)
    np.copyto(out, result, casting="same_kind")
    return out
