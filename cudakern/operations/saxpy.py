"""saxpy: NumPy's rules for a * x + y."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.array import DeviceArray
from ..arrays.dtypes import from_name, kind_of, name_in_numpy
from ..arrays.streams import stream_handle
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.checks import check_one_number
from ..calls.rule import WEAK, Rule, broadcast_shape, type_of
from ..calls.table import AUTO
from .registry import ArrayLike, ArrayOrNumber, Out, Result, random_arrays, registered, widened
from .vector_add import vector_add


class _TwoTypes(TypeError):
    """In NumPy the product has one type and the sum another: no kernel computes in two."""


def _common(a: Any, x: Any, y: Any) -> np.dtype[Any]:
    """The type of NumPy's ``a * x + y``; _TwoTypes where its product has another."""
    if not isinstance(a, np.dtype) and not isinstance(x, np.dtype):
        return type_of(np.add, a, x, y)
    product = type_of(np.multiply, a, x)
    total = type_of(np.add, product, y)
    if product != total:
        raise _TwoTypes
    return total


def _in_two_types(a: Any, x: Any, y: Any, out: Any, stream: Any) -> Any:
    """The product in its own type, as NumPy computes it, and then the sum."""
    broadcast_shape(RULE.name, np.shape(x), np.shape(y))
    if not isinstance(x, DeviceArray):
        check_one_number(RULE, "a", np.shape(a))
        return vector_add(np.multiply(a, x), y, out, stream=stream)
    module, view = x._native, x._view
    handle = stream_handle(stream, module, view.device)
    factor = from_name(a._view.dtype) if isinstance(a, DeviceArray) else a if type(a) in WEAK else np.asarray(a).dtype
    dtype = type_of(np.multiply, factor, from_name(view.dtype))
    nothing = DeviceArray(module.empty((), name_in_numpy(dtype), view.device, handle), module)
    negative_zero = complex(-0.0, -0.0) if dtype.kind == "c" else -0.0 if kind_of(dtype) == "f" else 0
    nothing.fill(negative_zero, stream)  # x + -0.0 is x, and for x = -0.0 too
    return vector_add(call(RULE, (a, x, nothing), None, AUTO, stream, {}), y, out, stream=stream)


def _by_numpy(a: Array, x: Array, y: Array) -> Any:
    return np.add(np.multiply(a, x), y)


RULE = Rule(
    "saxpy",
    ("a", "x", "y"),
    _by_numpy,
    preferred=("vectorized",),
    shape=lambda a, x, y: broadcast_shape("saxpy", x, y),
    broadcasts=("x", "y"),
    numbers=("a",),
    common=_common,
    counted=lambda a, x, y: (a, *2 * (broadcast_shape("saxpy", x, y),)),
    others="OmM",
)


@registered(
    2,
    default_shape=(4096 * 256,),
    shape_help="the arrays'",
    make=lambda shape, dtype, seed: random_arrays(dtype, seed, (), shape, shape),
    reference=lambda a, x, y: _by_numpy(*widened((a, x, y), np.float64)),
    magnitude=lambda a, x, y: np.abs(a) * np.abs(x) + np.abs(y),
)
def saxpy(
    a: ArrayOrNumber,
    x: ArrayLike,
    y: ArrayLike,
    /,
    out: Out = None,
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Multiply an array by a number and add an array: a * x + y.

    Parameters
    ----------
    a : number or 0-d array
        The factor, one number. A Python number takes the type of ``x`` if it can, as in NumPy: 2.0 * float32 is
        float32. It may be a number in host memory where the arrays are on the device.
    x, y : array_like or DeviceArray
        Numbers or bools (combined with and/or), of shapes that broadcast, any strides. ``auto`` gives what NumPy's
        ``a * x + y`` gives, also where the product has another type than the sum, and leaves host arrays of dates,
        time spans and objects to NumPy; a named variant takes arrays of one type. Each may be the ``out`` as well.
    <out>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        An array of the broadcast shape and of NumPy's type; integers wrap. It is on the device if x and y are.

    <raises>
    OverflowError
        The integer type does not hold the Python integer ``a``, as in NumPy.

    Notes
    -----
    The name comes from the BLAS. A kernel may round the product and the sum together, once.

    Source: P2; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.saxpy(2, [1, 2, 3], [10, 20, 30])
    array([12, 24, 36])
    """
    try:
        return call(RULE, (a, x, y), out, variant, stream, parameters)
    except _TwoTypes:
        return _in_two_types(a, x, y, out, stream)
