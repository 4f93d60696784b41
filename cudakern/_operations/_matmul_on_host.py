"""matmul of arrays in host memory: NumPy itself, or a kernel behind NumPy's rules."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .. import _dispatch
from .._dtypes import name_in_numpy, numpy_dtype
from .._layout import Shape
from .._table import Variant, told
from .._transfer import Array, refuse_masked
from . import _matmul_rules, _out
from ._matmul_rules import NAME

#: What "auto" tries on a GPU: compensated rows only, so that no result is less exact than numpy.dot's.
PREFERRED = ("tiled_padded", "tiled", "kahan")

#: numpy.matmul takes out=... from here on: "an array, also where the result is a scalar".
TAKES_DOTS = np.lib.NumpyVersion(np.__version__) >= "2.3.0"


def named(row: Variant, values: tuple[int, ...], a: Any, b: Any, out: Any) -> Any:
    """The product by the row of that name."""
    first, second = _dispatch.host_array(a, "a"), _dispatch.host_array(b, "b")
    row.signature(first.dtype)
    _matmul_rules.check_one_type(row, name_in_numpy(first.dtype), told(second.dtype))  # (byte orders may differ)
    if row.on_host:
        return by_numpy(first, second, out)
    return by_kernel(row, values, first, second, out)


def auto(a: Any, b: Any, out: Any) -> Any:
    """NumPy's product, by a kernel where one is worth it and NumPy itself would see nothing but plain arrays."""
    if all(map(_is_plain, (a, b))) and (out is None or out is ... or type(out) is np.ndarray):
        first, second = _dispatch.host_array(a, "a"), _dispatch.host_array(b, "b")
        common = _common_type(first.dtype, second.dtype)
        if common is not None and first.ndim and second.ndim and not _lacks_axes(out, first, second):
            row = _dispatch.fastest(NAME, common, PREFERRED)
            if not row.on_host and row.signature(common)[2] == name_in_numpy(common):
                # (NumPy's errors come in this order, and out's before those of the shapes.)
                first, second = (x.astype(common, copy=False) for x in (first, second))
                return by_kernel(row, row.values({}), first, second, out)
        return by_numpy(first, second, out)
    for name, x in (("a", a), ("b", b)):
        if not hasattr(type(x), "__array_ufunc__"):  # (what has it says itself what becomes of it)
            _dispatch.refuse_elsewhere(x, name)
    return by_numpy(a, b, out)


def _is_plain(x: Any) -> bool:
    """False for what NumPy treats in a way of its own: subclasses, and whatever answers to NumPy's functions itself."""
    kind = type(x)
    if kind in (np.ndarray, np.memmap, list, tuple):
        return True
    return not any(hasattr(kind, name) for name in ("__array_ufunc__", "__array_wrap__", "__array_priority__"))


def _lacks_axes(out: Any, a: Array, b: Array) -> bool:
    """True for an out with fewer axes than two matrices make: NumPy then takes the operands' axes for others."""
    return isinstance(out, np.ndarray) and out.ndim < (a.ndim > 1) + (b.ndim > 1)


@functools.lru_cache(maxsize=256)
def _common_type(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any] | None:
    """The type that NumPy converts both operands to, if it is also the result's; None where NumPy has to answer."""
    try:
        first, second, result = np.matmul.resolve_dtypes((a, b, None))
    except TypeError:
        return None
    return first if first == second == result else None


def by_numpy(a: Any, b: Any, out: Any) -> Any:
    """NumPy's row, with the arguments as they came."""
    return _dispatch.on_host(
        NAME, (a, b), lambda: np.matmul(a, b, out=out), lambda *shapes: _matmul_rules.product(*shapes).as_one_stack
    )


def by_kernel(row: Variant, values: tuple[int, ...], a: Array, b: Array, out: Any) -> Any:
    dots = out is ... and TAKES_DOTS
    if dots:
        out = None
    dtype = numpy_dtype(row.signature(a.dtype)[2])
    if out is not None:
        _check_out(out, dtype)
    product = _matmul_rules.product(a.shape, b.shape)
    if out is not None:
        product.check_out(out.shape)
    # The result comes straight into out where it can, also into an operand, which the device has a copy of by then;
    # else into memory of its own, which is then copied.
    direct = (
        out is not None
        and out.shape == product.shape
        and out.dtype == dtype
        and out.size > 0
        and not _matmul_rules.too_many(product.batch)
        and _dispatch.host_result(_stack(out, *product.result(out.strides)))
    )
    result = np.asarray(out) if direct else np.empty(product.shape, dtype)
    first, second, third = _stacks(product, a, b, result)
    _dispatch.execute(row, values, (_dispatch.host_operand(first), _dispatch.host_operand(second)), (third,))
    if out is None:
        return result if dots or result.ndim else result[()]
    if not direct:
        np.copyto(out, result, casting="same_kind")
    return out


def _stack(x: Array, shape: Shape, strides: Shape) -> Array:
    return x if x.shape == shape else as_strided(x, shape, strides)


def _stacks(product: _matmul_rules.Product, a: Array, b: Array, result: Array) -> tuple[Array, Array, Array]:
    """The three arrays as stacks of matrices with the same axes before them, no more than the C modules take."""
    told = [product.left(a.shape, a.strides), product.right(b.shape, b.strides), product.result(result.strides)]
    batch = product.batch
    if _matmul_rules.too_many(batch):
        batch, fronts = _matmul_rules.merge(batch, tuple(strides[:-2] for _, strides in told))
        told = [
            ((*batch, *shape[-2:]), (*front, *strides[-2:]))
            for front, (shape, strides) in zip(fronts, told, strict=True)
        ]
    first, second, third = (_stack(x, *as_stack) for x, as_stack in zip((a, b, result), told, strict=True))
    if _matmul_rules.too_many(batch):  # no two axes are one in both operands: what is broadcast is written out
        first, second, third = (np.ascontiguousarray(x).reshape(-1, *x.shape[-2:]) for x in (first, second, third))
    return first, second, third


def _check_out(out: Any, dtype: np.dtype[Any]) -> None:
    _out.check_is_array(NAME, out, (np.ndarray,))
    refuse_masked(out, "matmul: out", _dispatch.MASK_LOST, "out.data")
    _out.check_writable(NAME, out.flags.writeable)
    _out.check_cast(NAME, np.can_cast(dtype, out.dtype, casting="same_kind"), name_in_numpy(dtype), told(out.dtype))
