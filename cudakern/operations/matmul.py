"""matmul: numpy.matmul's rules, by which operands and result are stacks of matrices, and the public function."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from .._backend import backend, backend_of
from ..arrays.array import DeviceArray
from ..arrays.dtypes import matmul_types
from ..arrays.exchange import is_elsewhere
from ..arrays.layout import Shape
from ..arrays.transfer import Array, as_numpy
from ..calls.call import call
from ..calls.checks import not_an_array, refuse_shape
from ..calls.host import host_array, refuse_elsewhere
from ..calls.on_host import answers_at_once
from ..calls.rule import CONVERT, Inputs, Layouts, Rule, broadcast_shape, spread
from ..calls.table import AUTO, find, type_in_words
from . import tiled_product
from .registry import ArrayStack, NumpyOut, Result, random_arrays, registered, widened


class Product(NamedTuple):
    """(*batch, m, k) by (*batch, k, n); a vector is a matrix of one row on the left, of one column on the right."""

    batch: Shape
    m: int
    k: int
    n: int
    left_is_vector: bool
    right_is_vector: bool

    @property
    def core(self) -> Shape:
        """The result's last axes: a vector's own axis is not among them."""
        return (() if self.left_is_vector else (self.m,)) + (() if self.right_is_vector else (self.n,))

    @property
    def shape(self) -> Shape:
        """The result's shape, as NumPy has it."""
        return self.batch + self.core

    @property
    def as_one_stack(self) -> tuple[Shape, Shape]:
        """The operands' shapes as stacks of matrices, with one axis before these."""
        count = math.prod(self.batch)
        return (count, self.m, self.k), (count, self.k, self.n)

    def layouts(self, a: Shape, b: Shape) -> Layouts:
        """The operands and the result as stacks of matrices with the same axes before them; the axis that a vector
        lacks repeats it."""
        left, right = (*self.batch, self.m, self.k), (*self.batch, self.k, self.n)
        result = *self.batch, self.m, self.n
        rows = 0 if self.left_is_vector else len(self.batch) + 1
        columns = 0 if self.right_is_vector else len(self.shape)
        axes = *range(1, len(self.batch) + 1), rows, columns
        of_b = (right, (*(0,) * len(self.batch), 1, 0)) if self.right_is_vector else spread(b, right)
        return spread(a, left), of_b, None if result == self.shape else (result, axes)

    def check_out(self, shape: Shape) -> None:
        """ValueError unless the result fills an out of that shape. As in NumPy it may have more axes in front, or lack
        some of one element."""
        front = shape[: max(len(shape) - len(self.core), 0)]
        fits = (
            front + self.core == shape
            and all(n == 1 for n in self.batch[: max(len(self.batch) - len(front), 0)])
            and all(n in (1, length) for n, length in zip(self.batch[::-1], front[::-1], strict=False))
        )
        if not fits:
            refuse_shape("matmul", shape, self.shape)


def product(a: Shape, b: Shape) -> Product:
    """The product of operands with those shapes; ValueError if they do not fit."""
    for name, shape in (("a", a), ("b", b)):
        if not shape:
            raise ValueError(f"matmul: {name} is a scalar; use * to multiply by a scalar")
    left, right = len(a) == 1, len(b) == 1
    m, k = (1, a[0]) if left else a[-2:]
    rows, n = (b[0], 1) if right else b[-2:]
    if k != rows:
        raise ValueError(
            f"matmul: a has shape {a} and b has shape {b}: a has {k} {'elements' if left else 'columns'} and b has "
            f"{rows} {'elements' if right else 'rows'}; these must match"
        )
    batch = broadcast_shape("matmul", a[:-2], b[:-2], operands=("a without its last two axes", "b without these"))
    return Product(batch, m, k, n, left, right)


# --- what is left to NumPy -------------------------------------------------------------------------------------------
def numpys_own(inputs: Inputs, out: Any) -> bool:
    """True if NumPy has to compute the product: it would not see the inputs as plain arrays of one type."""
    if not (all(map(_has_no_hooks, inputs)) and (out is None or out is ... or type(out) is np.ndarray)):
        for name, x in zip("ab", inputs, strict=True):
            if not hasattr(type(x), "__array_ufunc__"):  # (a type with __array_ufunc__ answers for itself)
                refuse_elsewhere(x, name)
        return True
    first, second = (host_array(x, name) for x, name in zip(inputs, "ab", strict=True))
    if _common_type(first.dtype, second.dtype) is None or not (first.ndim and second.ndim):
        return True
    # With fewer axes in out than the product of two matrices has, NumPy interprets the operands' axes differently.
    return isinstance(out, np.ndarray) and out.ndim < (first.ndim > 1) + (second.ndim > 1)


def _has_no_hooks(x: Any) -> bool:
    """False for types that NumPy treats specially: subclasses, and types with hooks for NumPy's functions."""
    kind = type(x)
    if kind in (np.ndarray, np.memmap, list, tuple):
        return True
    return not any(hasattr(kind, name) for name in ("__array_ufunc__", "__array_wrap__", "__array_priority__"))


@functools.lru_cache(maxsize=256)
def _common_type(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any] | None:
    """The type that NumPy converts both operands to, if it is also the result's; None where NumPy has to answer."""
    try:
        first, second, result = np.matmul.resolve_dtypes((a, b, None))
    except TypeError:
        return None
    return first if first == second == result and result.kind in "biufc" else None


def by_numpy(a: Any, b: Any, out: Any = None) -> Any:
    """NumPy's product; shapes that do not fit are explained in our words, without NumPy's signature of a gufunc."""
    try:
        return np.matmul(a, b, out=out)
    except TypeError:
        if not isinstance(out, (np.ndarray, tuple, type(None), type(...))):
            raise TypeError(not_an_array("matmul", out)) from None
        for name, x in zip("ab", (a, b), strict=True):
            if (dtype := np.asarray(x).dtype).kind not in "biufcO":
                raise TypeError(f"matmul takes numbers, but {name} is {type_in_words(dtype)}; {CONVERT}") from None
        raise
    except ValueError:
        for name, x in zip("ab", (a, b), strict=True):
            if np.ndim(x) == 0 and np.asarray(x).dtype.kind == "O":
                raise ValueError(f"matmul: {name} must be an array, not {type(x).__name__}") from None
        rules = product(np.shape(a), np.shape(b))
        if isinstance(out, np.ndarray):
            rules.check_out(out.shape)
        raise


#: Multiply-adds of NumPy per microsecond and processor; by what factor copies of large arrays are slower, or 0 if NumPy
#: uses one processor. Those types whose products have a library with threads also had slower copies (why was not
#: examined). Other types: as integers. Then bytes per microsecond between host and device, of arrays from LARGE on by
#: several threads (docs/host-copies.md), and the rest of a call in microseconds. Estimates for 16 processors, from ten
#: runs of `.ci/record crossover` (docs/results/gpu_crossover.json is the last).
NUMPYS_RATE = {"f": (33_600, 2), "d": (17_300, 4), "F": (8_400, 4), "D": (4_300, 4), "e": (200, 0)}
OTHERS_RATE = (800, 0)
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
COPIES, THREADS_COPIES, LARGE, CALL_US = 10_000, min(40_000, 7_000 * max(PROCESSORS, 2)), 4 << 20, 45


def small(dtype: np.dtype[Any], a: Shape, b: Shape) -> bool:
    """Whether NumPy is estimated to have the product before it has gone to a GPU and back."""
    if not a or not b:
        return False  # an error
    m, n = a[-2] if len(a) > 1 else 1, b[-1] if len(b) > 1 else 1
    if len(a) > 2 or len(b) > 2:  # (of stacks that do not go together any length: they are an error)
        m *= max(math.prod(a[:-2]), math.prod(b[:-2]))
    rate, slower = NUMPYS_RATE.get(dtype.char, OTHERS_RATE)
    numpys_us = m * n * a[-1] / (rate * (PROCESSORS if slower else 1))
    large = max(COPIES, THREADS_COPIES // max(slower, 1))
    sizes = (length * dtype.itemsize for length in (math.prod(a), math.prod(b), m * n))
    return numpys_us < CALL_US + sum(size / (COPIES if size < LARGE else large) for size in sizes)


def _refuse_scalars(inputs: Inputs) -> None:
    """ValueError for a host number multiplied by a device array."""
    if any(isinstance(x, DeviceArray) for x in inputs):
        for name, x in zip("ab", inputs, strict=True):
            if not (isinstance(x, DeviceArray) or is_elsewhere(x)) and np.ndim(as_numpy(x)) == 0:
                raise ValueError(f"matmul: {name} is a scalar; use * to multiply by a scalar")


def _shape(a: Shape, b: Shape) -> Shape:
    if len(a) == len(b) == 2 and a[1] == b[0]:
        return a[0], b[1]
    return product(a, b).shape


RULE = Rule(
    "matmul",
    ("a", "b"),
    by_numpy,
    preferred=("fastest",),
    shape=_shape,
    arrange=lambda a, b: product(a, b).layouts(a, b),
    core=2,
    check_out=lambda name, out, result, a, b: product(a, b).check_out(out),
    common_on_device=lambda a, b: matmul_types(a, b)[0],
    common=lambda a, b: _common_type(a, b) or np.result_type(a, b),
    counted=lambda a, b: product(a, b).as_one_stack,
    numpys_own=numpys_own,
    small=small,
    tiles=tiled_product.product,
    refuse=_refuse_scalars,
)


#: With accuracy="strict": compensated sums if k is SHORT or less. For a longer k, float32 has three pieces of bfloat16:
#: where terms cancel, their exact products lose less than compensated sums of rounded products.
STRICT = replace(RULE, preferred=("tiled",), small=None)
STRICT_LONG = replace(STRICT, preferred=("split_bf16", "tiled"))
SHORT = 64


# --- the public function ---------------------------------------------------------------------------------------------
def reference(a: Array, b: Array) -> Array:
    """NumPy's product in double, or in the operands' type if that is wider; integers and bool are exact."""
    return np.asarray(np.matmul(*widened((a, b), np.float64)))


@registered(
    20,
    headline=True,
    rate="GFLOP/s",
    default_shape=(1000, 1000, 1000),
    shape_on={"emulator": (256, 256, 256)},
    shape_help="m, k and n of an (m, k) by (k, n) product",
    make=lambda shape, dtype, seed: random_arrays(dtype, seed, shape[:2], shape[1:]),
    reference=reference,
    magnitude=lambda a, b: reference(np.abs(a), np.abs(b)),
    sides=3,
    ragged=(
        *((0, 3, 2), (3, 0, 2), (1, 1, 1), (1, 50, 1), (50, 1, 50)),
        *((17, 33, 65), (32, 32, 32), (100, 37, 3), (129, 130, 131)),
    ),
)
def matmul(
    a: ArrayStack,
    b: ArrayStack,
    /,
    out: NumpyOut = None,
    *,
    variant: str = AUTO,
    accuracy: Literal["fast", "strict"] = "fast",
    stream: Any = None,
    **parameters: int,
) -> Result:
    """Multiply matrices, by the rules of ``numpy.matmul``.

    Parameters
    ----------
    a, b : array_like or DeviceArray
        Two matrices, (..., m, k) and (..., k, n), of any size (0 included) and any strides. Axes before the last two
        are broadcast, as stacks of matrices; a 1-D ``a`` is a row, a 1-D ``b`` is a column. ``auto``
        and ``numpy`` take every type that ``numpy.matmul`` takes, and two different ones; a named kernel takes two
        arrays of one type that its variant lists. Both are in host memory, or both on one device.
    out : ndarray or DeviceArray, optional
        Array for the result, in the same place as the operands, of any layout and of a type the product can be cast to
        ("same_kind"); it may overlap the operands. It has the product's shape. It may also have more axes in front,
        along which the product is repeated, or lack leading axes of length 1.
    accuracy : "fast" or "strict"
        How accurate "auto" is on a GPU. With "fast", a product of float32 is at least as accurate as that of the GPU's
        library, except where the terms of a sum nearly cancel, or a few of them are much larger than all others, or
        where the product is narrow or k short, and the library's sums are short, too. The error of a float64 product
        is at most that of sums in the order of k, and less where "residues_int8" computes it. "strict" keeps all bits
        of the elements; but if an element is infinite or NaN, or neighbors differ by a factor of 2^106 or more, the
        product is as accurate as sums in float32. Sums of other floating-point types, and of up to 64 terms, are
        compensated.
    <call>

    Returns
    -------
    ndarray, NumPy scalar or DeviceArray
        The product, of shape (..., m, n), without the axis of a 1-D operand, or ``out``. Two 1-D host arrays give a
        scalar. The product is on the device if the operands are. Its type is NumPy's, and integers wrap. Two arrays of
        bfloat16 give bfloat16, but ``auto`` gives float32 for host arrays, as NumPy does.

    <raises>
    MemoryError
        Not enough host memory for the result.

    Notes
    -----
    For NumPy arrays, "auto" is NumPy itself without a GPU, and also where the copies to a GPU and back would take
    longer than NumPy (but not with ``accuracy="strict"``).

    The variants lead from one thread per element of the product to the tensor cores. Those from "kahan" to
    "tiled_padded" sum with the compensation of W. Kahan (Communications of the ACM 8:1, 1965). The others add products
    in the order of k, or divide k among warps, blocks or tensor cores and add the parts. The variants with tiles have
    the parameter ``tile=``. Those whose blocks divide k have ``parts=`` and ``groups=``; of these, "wgmma_split_k" and
    "split_inside" have ``side=``: which lines of C are the rows of their tiles. "split_fp16" and "split_bf16" have
    ``shares=``: whether each cluster of blocks has whole tiles, parts of tiles, or an equal share of all slabs.
    "residues_int8" multiplies doubles as integers, by their residues for ``moduli=`` numbers. "wgmma_tf32" cuts float32
    operands to 11 significant bits, and "wgmma_int8" adds products of int8 in an ``out=`` of int32, which it needs.
    "auto", too, adds int8 in int32 if ``out`` is an array of int32, unlike NumPy, whose sums then have wrapped already.

    Source: T5; see docs/sources.md.

    Examples
    --------
    >>> import numpy as np, cudakern
    >>> a = np.arange(6, dtype=np.float32).reshape(2, 3)
    >>> d = cudakern.asarray(a)
    >>> cudakern.matmul(d, d.T).get().tolist()
    [[5.0, 14.0], [14.0, 50.0]]
    """
    rule = RULE if isinstance(accuracy, str) and accuracy == "fast" else _strict(accuracy, variant, a, b)
    if out is not None and variant == AUTO and _is_int32(out):
        a, b, variant = _in_int32(a, b, out)
    return call(rule, (a, b), out, variant, stream, parameters)


def _is_int32(out: Any) -> bool:
    if type(out) is DeviceArray:
        return out._view.dtype == "int32"  # (faster than its dtype)
    dtype = getattr(out[0] if type(out) is tuple and out else out, "dtype", None)
    return isinstance(dtype, np.dtype) and (dtype.kind, dtype.itemsize) == ("i", 4)


def _in_int32(a: Any, b: Any, out: Any) -> tuple[Any, Any, str]:
    """The operands and the variant for "auto" and an ``out`` of int32: int8 is added in int32, on tensor cores if the
    device has them."""
    if not all(getattr(x, "dtype", None) == np.int8 for x in (a, b)):
        return a, b, AUTO
    here = backend_of(a) if isinstance(a, DeviceArray) else backend()
    by_kernel = isinstance(out, DeviceArray)
    if isinstance(a, np.ndarray) and isinstance(out, np.ndarray) and out.dtype.isnative:
        by_kernel = answers_at_once(here) and not small(a.dtype, a.shape, b.shape)
    if by_kernel and not find("matmul", "wgmma_int8").why_not(here):
        return a, b, "wgmma_int8"
    return a.astype(np.int32), b.astype(np.int32), AUTO


def _strict(accuracy: Any, variant: str, a: Any, b: Any) -> Rule:
    if not isinstance(accuracy, str) or accuracy != "strict":
        raise ValueError(f"matmul: accuracy must be 'fast' or 'strict', not {accuracy!r}")
    if variant != AUTO:
        find("matmul", variant, (AUTO,))  # which says so if there is none
        raise TypeError(f"matmul: accuracy='strict' is for variant='auto'; {variant!r} has an accuracy of its own")
    return STRICT if math.prod(np.shape(a)[-1:]) <= SHORT else STRICT_LONG


DeviceArray._matmul = staticmethod(matmul)  # for @, whose module cannot import this one, which needs it
