"""packbits: NumPy's rules for flags packed into bytes, around the ladder of the registers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from .. import _transfer
from .._array import DeviceArray
from .._dtypes import INTEGERS
from .._host import by_rows, host_array
from .._layout import Shape
from .._streams import stream_handle
from .._table import AUTO
from .._transfer import Array
from . import Operation
from ._call import call, check
from ._checks import axis_of
from ._public import Operand, Result, documented
from ._rule import Rule

BIT_ORDERS = ("big", "little")
FLAGS_A_BYTE = 8


def _packed(x: Shape, bitorder: str = "big") -> Shape:
    return (-(-math.prod(x) // FLAGS_A_BYTE),)


RULE = Rule(
    "packbits",
    ("a",),
    np.packbits,
    preferred=("vectorized", "ballot"),
    shape=_packed,
    only=INTEGERS,
    instead="a != 0 makes flags of numbers",
)


@documented()
def packbits(
    a: Operand,
    /,
    axis: SupportsIndex | None = None,
    bitorder: str = "big",
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Flags packed into the bits of bytes, eight in a byte, as ``numpy.packbits``.

    Parameters
    ----------
    a : array_like or DeviceArray
        Bools or integers, any strides: whatever is not 0 is a 1.
    axis : int, optional
        The axis to pack along; None: all elements as one row. Kernels pack one row. Along one axis of several they are
        given a copy, in which the axis is the last one and as long as whole bytes, unless the array lies so already;
        "auto" packs host arrays along it by NumPy.
    bitorder : {"big", "little"}
        Whether the first of eight flags is the highest bit of its byte or the lowest.
    <call>

    Returns
    -------
    ndarray or DeviceArray
        uint8, of one axis, or of a's axes with an eighth of the elements along ``axis``; missing bits of the last byte
        are 0. On the device where the input is.

    Raises
    ------
    TypeError
        Neither bools nor integers; a parameter that the variant does not have.
    ValueError
        Another bit order; an unknown variant.
    numpy.exceptions.AxisError
        An axis that the array does not have.
    <failed>

    Notes
    -----
    M's experiment with registers: 32 flags packed in global memory, in a register, and with the loop written out.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.packbits([1, 0, 1, 1, 0, 0, 0, 0, 1])
    array([176, 128], dtype=uint8)
    >>> cudakern.packbits([True, False, True], bitorder="little", variant="ballot").tolist()
    [5]
    >>> cudakern.packbits([[1, 0, 1], [0, 1, 1]], axis=1, variant="unrolled").tolist()
    [[160], [96]]
    """
    if not isinstance(bitorder, str):
        raise TypeError(f"packbits: bitorder is a str, 'big' or 'little', not {type(bitorder).__name__}")
    if bitorder not in BIT_ORDERS:
        raise ValueError(f"packbits: bitorder is {bitorder!r}, and must be 'big' or 'little'")
    own = {"bitorder": bitorder}
    if axis is None:
        return call(RULE, (a,), None, variant, stream, parameters, own)
    x = a if isinstance(a, DeviceArray) else host_array(a, "a")
    place = axis_of(axis, max(x.ndim, 1))
    if x.ndim < 2:
        return call(RULE, (x,), None, variant, stream, parameters, own)
    if not isinstance(x, DeviceArray) and variant in (AUTO, "numpy"):
        rule = replace(RULE, preferred=(), by_numpy=_along(place), shape=_shape_along(place))
        return call(rule, (x,), None, variant, stream, parameters, own)
    check(RULE, x, variant, stream, parameters, own)
    order = [*(i for i in range(x.ndim) if i != place), place]
    rows = x.transpose(*order)
    gap = -x.shape[place] % FLAGS_A_BYTE
    if gap:
        rows = _lengthened(rows, gap, stream)
    row = _as_one_row(rows, stream)
    packed = call(RULE, (row,), None, variant, stream, parameters, own)
    packed = packed.reshape(*rows.shape[:-1], rows.shape[-1] // FLAGS_A_BYTE)
    return packed.transpose(*sorted(range(x.ndim), key=order.__getitem__))  # every axis where it was


def _along(axis: int) -> Any:
    return lambda x, bitorder: by_rows(lambda rows, along: np.packbits(rows, along, bitorder), x, axis)


def _shape_along(axis: int) -> Any:
    return lambda x, bitorder="big": (*x[:axis], -(-x[axis] // FLAGS_A_BYTE), *x[axis + 1 :])


def _lengthened(x: Any, by: int, stream: Any) -> Any:
    """A copy whose last axis is longer, by zeros: each row of flags begins with a byte of its own."""
    shape = (*x.shape[:-1], x.shape[-1] + by)
    if not isinstance(x, DeviceArray):
        made = np.zeros(shape, x.dtype)
        made[..., :-by] = x
        return made
    module, device = x._native, x._view.device
    handle = stream_handle(stream, module, device)
    copy = DeviceArray(_transfer.new(module, shape, x._view.dtype, device, handle), module)
    _transfer.fill(module, copy[..., -by:]._view, 0, handle)
    _transfer.assign_view(module, copy[..., :-by]._view, x._view, handle)
    return copy


def _as_one_row(x: Any, stream: Any) -> Any:
    """All elements in their order: a view where there is one."""
    if not isinstance(x, DeviceArray):
        return x.reshape(-1)
    try:
        return x.ravel()
    except ValueError:
        return x.copy(stream=stream).ravel()


def reference(a: Array, bitorder: Any = "big") -> Array:
    """NumPy's own."""
    return np.packbits(a, bitorder=bitorder)


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Half of them 0, integers else from 1 to 9."""
    random = np.random.default_rng(seed)
    values = random.integers(1, 2 if dtype.kind == "b" else 10, shape)
    return (np.where(random.random(shape) < 0.5, values, 0).astype(dtype),)


OPERATIONS = (
    Operation(
        packbits,
        50,
        default_dtype="bool",
        make=make,
        reference=reference,
        magnitude=reference,
        ragged=((0,), (1,), (7,), (33,), (257,), (1009,), (13, 77), (65537,)),
        own=("bitorder",),
    ),
)
