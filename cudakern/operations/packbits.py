"""packbits: NumPy's rules for flags packed into bytes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from ..arrays import transfer
from ..arrays.array import DeviceArray
from ..arrays.dtypes import INTEGERS
from ..arrays.layout import Shape
from ..arrays.streams import stream_handle
from ..arrays.transfer import Array
from ..calls.call import call
from ..calls.checks import axis_of
from ..calls.host import by_rows, host_array
from ..calls.rule import Rule
from ..calls.table import AUTO, NUMPY
from .registry import ArrayLike, Result, registered

FLAGS_PER_BYTE = 8


def _packed(x: Shape, bitorder: str, axis: int | None = None) -> Shape:
    if axis is None:
        return (-(-math.prod(x) // FLAGS_PER_BYTE),)
    return (*x[:axis], -(-x[axis] // FLAGS_PER_BYTE), *x[axis + 1 :])


RULE = Rule(
    "packbits",
    ("a",),
    np.packbits,
    preferred=("vectorized", "ballot"),
    shape=_packed,
    only=INTEGERS,
    instead="a != 0 converts numbers to flags",
)

ALONG_AN_AXIS = replace(
    RULE,
    preferred=(),
    by_numpy=lambda a, bitorder, axis: by_rows(lambda x, along: np.packbits(x, along, bitorder), a, axis),
)


def _as_one_row(x: Any, stream: Any) -> Any:
    """All flags in order, with each row of x padded to whole bytes by zeros."""
    gap = -x.shape[-1] % FLAGS_PER_BYTE
    if not isinstance(x, DeviceArray):
        return (np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, gap)]) if gap else x).reshape(-1)
    if not gap:
        return (x if x._view.contiguous else x.copy(stream=stream)).ravel()
    module, device = x._native, x._view.device
    handle = stream_handle(stream, module, device)
    shape = (*x.shape[:-1], x.shape[-1] + gap)
    longer = DeviceArray(transfer.new(module, shape, x._view.dtype, device, handle), module)
    longer[..., -gap:].fill(0, stream)
    transfer.assign_view(module, longer[..., :-gap]._view, x._view, handle)
    return longer.ravel()


def make(shape: Shape, dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """Half of them 0, the others from 1 to 9 (bools: 1)."""
    random = np.random.default_rng(seed)
    values = random.integers(1, 2 if dtype.kind == "b" else 10, shape)
    return (np.where(random.random(shape) < 0.5, values, 0).astype(dtype),)


@registered(
    50,
    default_dtype="bool",
    make=make,
    reference=np.packbits,
    ragged=((0,), (1,), (7,), (33,), (257,), (1009,), (13, 77), (65537,)),
    own=("bitorder",),
)
def packbits(
    a: ArrayLike,
    /,
    axis: SupportsIndex | None = None,
    bitorder: str = "big",
    *,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Pack flags into the bits of bytes, eight per byte, as ``numpy.packbits`` does.

    Parameters
    ----------
    a : array_like or DeviceArray
        Bools or integers, with any strides. Nonzero elements count as 1.
    axis : int, optional
        The axis to pack along (NumPy's AxisError if ``a`` does not have it). None packs all elements as one row.
        Kernels pack one row: for one axis of several they get a copy in which this axis is the last one and padded to
        whole bytes, unless the array already has this layout. ``auto`` leaves host arrays of several axes to NumPy if
        an axis is given.
    bitorder : {"big", "little"}
        Whether the first of eight flags becomes the highest bit of its byte ("big") or the lowest ("little").

    Returns
    -------
    ndarray or DeviceArray
        An array of uint8 with one axis, or with a's axes and an eighth of the elements along ``axis``. Missing bits of
        the last byte are 0. It is on the device if the input is.

    Notes
    -----
    The variants pack 32 flags in global memory, in a register, and in a register with the loop unrolled; faster ones
    follow.

    Source: M, registers; see docs/sources.md.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.packbits([1, 0, 1, 1, 0, 0, 0, 0, 1])
    array([176, 128], dtype=uint8)
    >>> cudakern.packbits([[1, 0, 1], [0, 1, 1]], axis=1, variant="unrolled").tolist()
    [[160], [96]]
    """
    own = {"bitorder": bitorder}
    if axis is None:
        return call(RULE, (a,), None, variant, stream, parameters, own)
    x = a if isinstance(a, DeviceArray) else host_array(a, "a")
    index = axis_of("packbits", axis, max(x.ndim, 1))
    if x.ndim < 2:
        return call(RULE, (x,), None, variant, stream, parameters, own)
    if not isinstance(x, DeviceArray) and variant in (AUTO, NUMPY):
        return call(ALONG_AN_AXIS, (x,), None, variant, stream, parameters, own | {"axis": index})
    last = x.ndim - 1
    rows = x.transpose(*range(index), *range(index + 1, x.ndim), index)
    packed = call(RULE, (_as_one_row(rows, stream),), None, variant, stream, parameters, own)
    packed = packed.reshape(*rows.shape[:-1], -(-rows.shape[-1] // FLAGS_PER_BYTE))
    return packed.transpose(*range(index), last, *range(index, last))  # every axis at its old position
