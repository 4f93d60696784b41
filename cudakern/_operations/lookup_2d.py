"""lookup_2d: a table of two axes read between its elements, around the ladder of global memory and texture."""

from __future__ import annotations

from typing import Any, overload

import numpy.typing as npt

from .._array import DeviceArray
from .._table import AUTO
from .._transfer import Array
from . import _lookup
from ._call import call

NAME = "lookup_2d"
RULE = _lookup.rule(NAME, 2)


@overload
def lookup_2d(
    table: DeviceArray,
    y: DeviceArray,
    x: DeviceArray,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: DeviceArray | None = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> DeviceArray: ...
@overload
def lookup_2d(
    table: npt.ArrayLike,
    y: npt.ArrayLike,
    x: npt.ArrayLike,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Array | None = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any: ...
def lookup_2d(
    table: Any,
    y: Any,
    x: Any,
    mode: str = "clamp",
    filter: str = "linear",
    *,
    out: Any = None,
    variant: str = AUTO,
    stream: Any = None,
    **parameters: int,
) -> Any:
    """Values of a table between its elements, row and column given.

    Parameters
    ----------
    table : array_like or DeviceArray
        Real numbers, 2 axes, any strides.
    y, x : array_like or DeviceArray
        Where: places in the table's axes, counted in elements. An element's place is its index: for whole numbers the
        value is ``table[y, x]``; half way between two is 0.5 more. Shapes that broadcast.
    mode : str
        What is outside: "clamp" (the nearest element), "wrap" (the table again), "mirror" (the table turned round, its
        edge element twice), "border" (zeros).
    filter : str
        "linear": along straight lines between neighbours in each axis. "nearest": the nearest element, of two equally
        near ones the later.
    out : ndarray or DeviceArray, optional
        Where the result goes: of its shape, and a type that takes it ("same_kind").
    variant : str
        "auto", which is the fastest way here in full precision (for host arrays without a GPU: NumPy), or a name from
        ``variants("lookup_2d")``. ``texture`` has weights in 256ths, rounded four times (in ``interp`` once): each
        rounding moves at most a 512th of the weight from one of the four elements to another. Where the table repeats,
        coordinates become shares of its length: they lose as many bits as it has, and are floored to 2**-21 of it.
    stream : optional
        For arrays on the device: where the work is enqueued, as None (the default stream), a handle, or an object with
        ``__cuda_stream__``.
    **parameters : int
        The row's parameters: ``threads=`` per block.

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        Of the coordinates' broadcast shape and the common floating type. No number as a coordinate gives no number; so
        does an infinite one where the table repeats.

    Raises
    ------
    TypeError
        A type or a parameter that the row does not have; two types with a named variant; arrays in two places.
    ValueError
        A table of other axes, or an empty one; coordinates that do not broadcast; an unknown mode, filter or variant; a
        table that no texture holds; an out= of another shape.
    CudaError
        The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).

    Notes
    -----
    M's image transformations and T6's textures. ``scipy.ndimage.map_coordinates(table, (y, x), order=1)`` is the same
    where the edges are: its "nearest", "grid-wrap", "reflect" and "grid-constant"; ``order=0`` is "nearest" here,
    but for the ties of a mirrored table, where SciPy mirrors the place first and then rounds, as here is done the other
    way round. A texture's ties fall as its fixed point has the place.

    Examples
    --------
    >>> import cudakern, numpy
    >>> table = numpy.array([[0.0, 10.0], [20.0, 30.0]])
    >>> cudakern.lookup_2d(table, [0.0, 0.5, 1.0], [0.5, 0.5, 9.0])
    array([ 5., 15., 30.])
    >>> cudakern.lookup_2d(table, 0.0, [-1.0, 2.0], mode="wrap", variant="global_memory").tolist()
    [10.0, 0.0]
    """
    own = {"mode": mode, "filter": filter}
    return call(RULE, (table, y, x), out, variant, stream, parameters, own)


OPERATION = _lookup.operation(
    NAME,
    41,
    lookup_2d,
    default=(1 << 20, 512, 512),
    ragged=((0, 3, 4), (1, 1, 1), (33, 2, 5), (257, 7, 13), (1009, 20, 30), (20011, 64, 50)),
    large=((1 << 22) + 3, 1000, 1000),
)
