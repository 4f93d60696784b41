"""sum_of_squares: NumPy's rules around the ladder of section "sum of squares"."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .. import _dispatch
from .._array import DeviceArray
from .._dtypes import BFLOAT16, itemsize, kind_of, name_in_numpy
from .._native import Native, View
from .._streams import stream_handle
from .._table import AUTO, Variant, find, told
from .._transfer import Array
from . import Operation, random_array

NAME = "sum_of_squares"

#: numpy.sum's keywords that are not taken: all elements are summed, and the result's type follows from theirs.
NOT_TAKEN = ("axis", "dtype", "out", "keepdims", "initial", "where")

#: What "auto" tries on a GPU. All add thousands of short sums as trees: more exact than numpy.dot's few long ones.
PREFERRED = ("vectorized", "warp_shuffle", "tree_sequential")
#: What it takes for arrays on the device: it has every type.
ON_DEVICE = "vectorized"


@overload
def sum_of_squares(x: DeviceArray, variant: str = AUTO, *, stream: Any = None, **parameters: int) -> DeviceArray: ...
@overload
def sum_of_squares(x: npt.ArrayLike, variant: str = AUTO, *, stream: Any = None, **parameters: int) -> Any: ...
def sum_of_squares(
    x: npt.ArrayLike | DeviceArray, variant: str = AUTO, *, stream: Any = None, **parameters: int
) -> Any:
    """The sum of the squares of all elements.

    Parameters
    ----------
    x : array_like or DeviceArray
        Real numbers or bools of any shape and strides. ``auto`` takes every type; a named variant takes those of its
        row.
    variant : str
        "auto", which is the fastest correct way here (for host arrays without a GPU: NumPy), or a name from
        ``variants("sum_of_squares")``, which always runs that kernel.
    stream : optional
        For an array on the device: where the work is enqueued, as None (the default stream), a handle, or an object
        with ``__cuda_stream__``. A call with a host array is complete on return.
    **parameters : int
        The row's parameters, e.g. ``threads=`` (per block) and ``blocks=``.

    Returns
    -------
    NumPy scalar or DeviceArray
        int64 for bool and signed integers and uint64 for unsigned ones (modulo 2**64), float32 for float16, bfloat16
        and float32, float64 for float64. 0 for no elements. For an array on the device a DeviceArray of shape ():
        the value is there when its stream has come so far; ``float()`` and ``int()`` wait for it.

    Raises
    ------
    TypeError
        Complex or non-numbers; a type or a parameter that the row does not have.
    ValueError
        An unknown variant, or a value that a parameter does not take.
    NotImplementedError
        A variant that needs another device than this one.
    CudaError
        The GPU or the emulator failed (``OutOfMemoryError``: the device has no room).

    Notes
    -----
    The ladder is that of the CUDA tutorial "in plain words" for the GeForce 8800GT: from one thread to the memory's
    own speed.

    Examples
    --------
    >>> import cudakern
    >>> int(cudakern.sum_of_squares([1, 2, 3]))
    14
    >>> int(cudakern.sum_of_squares([1, 2, 3], variant="multi_block"))
    14
    >>> int(cudakern.sum_of_squares(cudakern.asarray([1, 2, 3])))
    14
    """
    if type(x) is DeviceArray and variant == AUTO and stream is None and not parameters:
        done = _plain_case(x)
        if done is not None:
            return done
    _dispatch.refuse_keywords(NAME, "numpy.sum's", NOT_TAKEN, parameters)
    row, values = _dispatch.check_variant(NAME, variant, parameters)
    if isinstance(x, DeviceArray):
        return _on_device(row, values, x, stream)
    _dispatch.check_stream(stream)
    array = _dispatch.host_array(x, "x")
    result = result_type(array.dtype)
    if row is None:
        row = _dispatch.fastest(NAME, array.dtype, PREFERRED)
        values = row.values({})
        if row.on_host:
            return _by_numpy(array, result)
    output = row.signature(array.dtype)[2]
    if row.on_host:
        return _by_numpy(array, result)
    out = np.zeros((), output)
    flat = _dispatch.native(array).ravel(order="K")  # in memory's order: a transposed array needs no copy
    _dispatch.execute(row, values, (flat,), (out,))
    return out[()]


def _by_numpy(x: Array, result: np.dtype[Any]) -> Any:
    return _dispatch.on_host(NAME, (x,), lambda: on_host(x, result), lambda shape: ((math.prod(shape),),))


def _plain_case(x: DeviceArray) -> DeviceArray | None:
    """An array without gaps: no detour. None: something is different."""
    view, module = x._view, x._native
    found = _dispatch.defaults(NAME, ON_DEVICE).get(view.dtype)
    if found is None or not view.contiguous or _dispatch.recorder.get() is not None:
        return None
    result = module.empty((), found[0], view.device, 0)
    module.execute(NAME, ON_DEVICE, found[1], (view,), (result,), view.device, False, 0)
    return DeviceArray(result, module)


def _on_device(row: Variant | None, values: tuple[int, ...], x: DeviceArray, stream: Any) -> DeviceArray:
    view, module = x._view, x._native
    handle = stream_handle(stream, module, view.device)
    if kind_of(view.dtype) == "c":
        raise TypeError(f"sum_of_squares takes real numbers, not {view.dtype}")
    if row is None:
        row = find(NAME, ON_DEVICE)
        values = row.values({})
    _dispatch.refuse_host_row(row, "x")
    result = module.empty((), row.signature(view.dtype)[2], view.device, handle)
    _dispatch.execute_on_device(row, values, (_in_memorys_order(view, module),), (result,), module, handle)
    return DeviceArray(result, module)


def _in_memorys_order(view: View, module: Native) -> View:
    """The same elements in the order in which they lie, if they lie without gaps: a sum may take them in any."""
    axes = sorted((abs(step), n) for n, step in zip(view.shape, view.strides, strict=True) if n != 1)
    size = item = itemsize(view.dtype)
    for step, n in axes:
        if step != size:
            return view  # the runtime packs it
        size *= n
    first = sum((n - 1) * step for n, step in zip(view.shape, view.strides, strict=True) if step < 0)
    return module.view(view, first, (size // item,), (item,), view.dtype) if size else view


def result_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the result for elements of that type."""
    if dtype.kind in "bi":
        return np.dtype(np.int64)
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    if dtype.kind == "f":
        return np.dtype(np.float32) if dtype.itemsize == 2 else dtype.newbyteorder("=")
    if name_in_numpy(dtype) == BFLOAT16:
        return np.dtype(np.float32)
    raise TypeError(f"sum_of_squares takes real numbers, not {told(dtype)}")


def on_host(x: Array, result: np.dtype[Any]) -> Any:
    """NumPy's way: numpy.dot of pieces that fit the cache, converted as they come, their sums in double or more."""
    nditer: Any = np.nditer  # NumPy's stubs do not know "contig"
    pieces = nditer(
        [np.atleast_1d(x)],  # (NumPy 1.26 does not convert a 0-d array's element)
        ["external_loop", "buffered", "zerosize_ok"],
        [["readonly", "nbo", "aligned", "contig"]],
        op_dtypes=[result],
        casting="same_kind",
        buffersize=1 << 16,
    )
    with np.errstate(over="ignore"):
        if result.kind in "iu":
            total = sum(int(np.dot(piece, piece)) for piece in pieces)
            return np.array(total % 2**64, np.uint64).view(result)[()]
        wide = np.promote_types(result, np.float64).type
        return result.type(sum((wide(np.dot(piece, piece)) for piece in pieces), start=wide(0)))


def make(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int) -> tuple[Array, ...]:
    """An array of that shape."""
    return (random_array(np.random.default_rng(seed), shape, dtype),)


def reference(x: Array) -> Any:
    """Exact for integers, in the widest float for others."""
    if x.dtype.kind in "biu":
        return on_host(x, result_type(x.dtype))
    wide = x.astype(np.longdouble)
    return np.sum(wide * wide)


OPERATION = Operation(
    name=NAME,
    position=10,
    headline=True,
    call=sum_of_squares,
    rate="GB/s",
    default_dtype="int32",
    default_shape=(1 << 20,),
    shape_help="the array's",
    fixed_rank=False,
    make=make,
    reference=reference,
    magnitude=reference,
    square=lambda n: (n,),
    ragged=((0,), (1,), (31,), (33,), (257,), (1009,), (13, 77), (65537,)),
    large=(((1 << 22) + 3,), (10_000_019,)),
)
