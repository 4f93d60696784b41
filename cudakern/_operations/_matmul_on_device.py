"""matmul of arrays on a device: NumPy's rules by views, and conversions there where they need one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _dispatch
from .._array import DeviceArray
from .._dtypes import itemsize, matmul_types, same_kind
from .._exchange import is_elsewhere
from .._layout import Shape, broadcast
from .._native import Native, View
from .._streams import stream_handle
from .._table import Variant, find
from .._transfer import converted
from . import _matmul_rules, _out
from ._matmul_rules import NAME

#: What "auto" takes: it has every type, and takes arrays as they lie.
ROW = "tiled"


def plain(a: DeviceArray, b: Any, out: Any) -> DeviceArray | None:
    """Two matrices of one type that fit, into a plain out or none: no detour. None: something is different."""
    if type(b) is not DeviceArray or _dispatch.recorder.get() is not None:
        return None
    module, first, second = a._native, a._view, b._view
    shape, other, dtype, device = first.shape, second.shape, first.dtype, first.device
    if (
        len(shape) != 2
        or len(other) != 2
        or shape[1] != other[0]
        or second.dtype != dtype
        or second.device != device
        or b._native is not module
    ):
        return None
    found = _dispatch.defaults(NAME, ROW).get(dtype)
    if found is None:
        return None
    wanted = (shape[0], other[1])
    if out is None:
        result = module.empty(wanted, found[0], device, 0)
        out = DeviceArray(result, module)
    elif type(out) is not DeviceArray or out._native is not module:
        return None
    else:
        result = out._view
        if (
            result.shape != wanted
            or result.dtype != found[0]
            or result.device != device
            or result.read_only
            or not result.contiguous
            or module.overlap(result, first)
            or module.overlap(result, second)
        ):
            return None
    module.execute(NAME, ROW, found[1], (first, second), (result,), device, False, 0)
    return out  # type: ignore[no-any-return]


def product(row: Variant | None, values: tuple[int, ...], a: Any, b: Any, out: Any, stream: Any) -> DeviceArray:
    """The product, in any case; no row: that of "auto"."""
    for name, x in (("a", a), ("b", b)):
        if not (isinstance(x, DeviceArray) or is_elsewhere(x)) and np.ndim(x) == 0:
            raise ValueError(f"matmul: {name} is a scalar; use * for that")
    if out is None or out is ...:  # results on the device are arrays anyway
        module, device = _dispatch.check_one_place(NAME, a=a, b=b)
        target = None
    else:
        _out.check_is_array(NAME, out, (DeviceArray, np.ndarray))
        module, device = _dispatch.check_one_place(NAME, a=a, b=b, out=out)
        target = out._view
    handle = stream_handle(stream, module, device)
    first, second = a._view, b._view
    if row is None:
        row = find(NAME, ROW)
        values = row.values({})
        common = matmul_types(first.dtype, second.dtype)[0]
    else:
        _dispatch.refuse_host_row(row, "a")
        common = first.dtype
        row.signature(common)
        _matmul_rules.check_one_type(row, common, second.dtype)
    result_type = row.signature(common)[2]
    if target is not None:
        _out.check_writable(NAME, not target.read_only)
        _out.check_cast(NAME, same_kind(result_type, target.dtype), result_type, target.dtype)
    rules = _matmul_rules.product(first.shape, second.shape)
    if target is not None:
        rules.check_out(target.shape)
        _out.check_distinct(NAME, target.shape, target.strides, itemsize(target.dtype))

    first, second = (converted(module, x, common, handle) for x in (first, second))
    direct = (
        target is not None
        and target.shape == rules.shape
        and target.dtype == result_type
        and not module.overlap(target, first)
        and not module.overlap(target, second)
    )
    result = target if direct and target is not None else module.empty(rules.shape, result_type, device, handle)
    stacks = _stacks(rules, module, first, second, result)
    _dispatch.execute_on_device(row, values, stacks[:2], stacks[2:], module, handle)
    if target is None:
        return DeviceArray(result, module)
    if not direct:
        module.copy(target, _repeated(module, result, target.shape), handle)
    return out  # type: ignore[no-any-return]


def _stacks(rules: _matmul_rules.Product, module: Native, a: View, b: View, result: View) -> tuple[View, View, View]:
    """The three as stacks of matrices with the same axes before them."""
    if len(a.shape) == len(b.shape) == 2:
        return a, b, result

    def told(x: View, as_stack: tuple[Shape, Shape]) -> View:
        return module.view(x, 0, *as_stack, x.dtype)

    return (
        told(a, rules.left(a.shape, a.strides)),
        told(b, rules.right(b.shape, b.strides)),
        told(result, rules.result(result.strides)),
    )


def _repeated(module: Native, x: View, shape: Shape) -> View:
    """The array over all of a shape that has more axes in front."""
    return module.view(x, 0, shape, broadcast(x.shape, x.strides, shape), x.dtype)
