"""numpy.matmul's rules: two operands as stacks of matrices, what their product is, and what out= may be."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._array import DeviceArray
from .._dtypes import matmul_types
from .._exchange import is_elsewhere
from .._host import host_array, refuse_elsewhere
from .._layout import MAX_DIMS, Shape, broadcast
from .._native import Native, View
from .._transfer import Array
from ._checks import wrong_shape
from ._rule import AsTheyAre, Given, HostArrays, Rule, Views

#: Variants that "auto" tries on a GPU: compensated ones only, so that no result is less exact than numpy.dot's.
PREFERRED = ("tiled_padded", "tiled", "kahan")
#: The variant of "auto" for device arrays: it takes every type and any strides.
ON_DEVICE = ("tiled",)


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
    def full(self) -> tuple[Shape, Shape]:
        """The operands' shapes as stacks of matrices."""
        return (*self.batch, self.m, self.k), (*self.batch, self.k, self.n)

    @property
    def as_one_stack(self) -> tuple[Shape, Shape]:
        """The same with one axis before the matrices."""
        count = math.prod(self.batch)
        return (count, self.m, self.k), (count, self.k, self.n)

    # Strides with which the same memory is a stack: 0 where an axis is broadcast or a vector's second.
    def left(self, shape: Shape, strides: Shape) -> tuple[Shape, Shape]:
        """(shape, strides) of the first operand as a stack."""
        core = (0, *strides) if self.left_is_vector else strides[-2:]
        return self.full[0], broadcast(shape[:-2], strides[:-2], self.batch) + core

    def right(self, shape: Shape, strides: Shape) -> tuple[Shape, Shape]:
        """(shape, strides) of the second operand as a stack."""
        core = (*strides, 0) if self.right_is_vector else strides[-2:]
        return self.full[1], broadcast(shape[:-2], strides[:-2], self.batch) + core

    def result(self, strides: Shape) -> tuple[Shape, Shape]:
        """(shape, strides) of the result as a stack."""
        axes = iter(strides[len(self.batch) :])
        row = 0 if self.left_is_vector else next(axes)
        column = 0 if self.right_is_vector else next(axes)
        return (*self.batch, self.m, self.n), (*strides[: len(self.batch)], row, column)

    def check_out(self, shape: Shape) -> None:
        """ValueError unless the result fills an out of that shape. As in NumPy it may have more axes in front, or lack
        some of one element."""
        if shape == self.shape:
            return
        core = len(self.core)
        front = shape[: len(shape) - core]
        less = max(len(self.batch) - len(front), 0)
        fits = (
            len(shape) >= core
            and shape[len(shape) - core :] == self.core
            and all(n == 1 for n in self.batch[:less])
            and all(n in (1, wanted) for n, wanted in zip(self.batch[::-1], front[::-1], strict=False))
        )
        if not fits:
            raise ValueError(wrong_shape("matmul", shape, self.shape))


def product(a: Shape, b: Shape) -> Product:
    """The product of operands with those shapes; ValueError if they do not fit."""
    for name, shape in (("a", a), ("b", b)):
        if not shape:
            raise ValueError(f"matmul: {name} is a scalar; use * for that")
    left, right = len(a) == 1, len(b) == 1
    m, k = (1, a[0]) if left else a[-2:]
    rows, n = (b[0], 1) if right else b[-2:]
    if k != rows:
        raise ValueError(
            f"matmul: a is {a} and b is {b}: the {k} {'elements' if left else 'columns'} of a must be as many "
            f"as the {rows} {'elements' if right else 'rows'} of b"
        )
    first, second = a[:-2], b[:-2]
    return Product(first if first == second else _common(first, second, a, b), m, k, n, left, right)


def _common(first: Shape, second: Shape, a: Shape, b: Shape) -> Shape:
    rank = max(len(first), len(second))
    padded = ((1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second)
    if any(x != y and 1 not in (x, y) for x, y in zip(*padded, strict=True)):
        raise ValueError(
            f"matmul: a is {a} and b is {b}: the axes before the last two, {first} and {second}, do not broadcast: "
            "counted from the right, two lengths must be equal or one of them 1"
        )
    return tuple(y if x == 1 else x for x, y in zip(*padded, strict=True))


# --- how stacks are handed to a kernel -------------------------------------------------------------------------------
class Stacks(AsTheyAre):
    """The three arrays as stacks of matrices with the same axes before them."""

    def is_plain(self, shapes: tuple[Shape, ...], contiguous: bool) -> bool:
        return len(shapes[0]) == len(shapes[1]) == 2

    def on_host(self, inputs: tuple[Array, ...], result: Array) -> HostArrays:
        """No more axes than the C modules take."""
        a, b = inputs
        if a.ndim == b.ndim == result.ndim == 2:
            return inputs, result
        rules = product(a.shape, b.shape)
        stacks = [rules.left(a.shape, a.strides), rules.right(b.shape, b.strides), rules.result(result.strides)]
        first, second, third = (
            x if x.shape == shape else as_strided(x, shape, strides)
            for x, (shape, strides) in zip((a, b, result), stacks, strict=True)
        )
        if first.ndim > MAX_DIMS:  # what is broadcast is written out
            first, second, third = (np.ascontiguousarray(x).reshape(-1, *x.shape[-2:]) for x in (first, second, third))
        return (first, second), third

    def on_device(self, native: Native, inputs: tuple[View, ...], result: View) -> Views:
        a, b = inputs
        if len(a.shape) == len(b.shape) == 2:
            return inputs, result
        rules = product(a.shape, b.shape)
        first = native.view(a, 0, *rules.left(a.shape, a.strides), a.dtype)
        second = native.view(b, 0, *rules.right(b.shape, b.strides), b.dtype)
        return (first, second), native.view(result, 0, *rules.result(result.strides), result.dtype)


# --- what is left to NumPy -------------------------------------------------------------------------------------------
def numpys_own(inputs: tuple[Any, ...], out: Any) -> bool:
    """True if NumPy has to compute the product: it would not see the inputs as plain arrays of one type."""
    if not (all(map(_is_plain, inputs)) and (out is None or out is ... or type(out) is np.ndarray)):
        for name, x in zip("ab", inputs, strict=True):
            if not hasattr(type(x), "__array_ufunc__"):  # (a type with __array_ufunc__ answers for itself)
                refuse_elsewhere(x, name)
        return True
    first, second = (host_array(x, name) for x, name in zip(inputs, "ab", strict=True))
    if _common_type(first.dtype, second.dtype) is None or not (first.ndim and second.ndim):
        return True
    # With fewer axes in out than the product of two matrices has, NumPy interprets the operands' axes differently.
    return isinstance(out, np.ndarray) and out.ndim < (first.ndim > 1) + (second.ndim > 1)


def _is_plain(x: Any) -> bool:
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
    except ValueError:
        rules = product(np.shape(a), np.shape(b))
        if isinstance(out, np.ndarray):
            rules.check_out(out.shape)
        raise


def ready(inputs: tuple[Any, ...], own: Any, parameters: Any, variant: Any) -> Given:
    """ValueError for a host number multiplied by a device array."""
    if any(isinstance(x, DeviceArray) for x in inputs):
        for name, x in zip("ab", inputs, strict=True):
            if not (isinstance(x, DeviceArray) or is_elsewhere(x)) and np.ndim(x) == 0:
                raise ValueError(f"matmul: {name} is a scalar; use * for that")
    return inputs, own


def shape_of(a: Shape, b: Shape) -> Shape:
    """The product's shape."""
    if len(a) == len(b) == 2 and a[1] == b[0]:
        return a[0], b[1]
    return product(a, b).shape


RULE = Rule(
    "matmul",
    ("a", "b"),
    by_numpy,
    preferred=PREFERRED,
    on_device=ON_DEVICE,
    shape=shape_of,
    arrangement=Stacks(),
    check_out=lambda out, result, a, b: product(a, b).check_out(out),
    common_on_device=lambda a, b: matmul_types(a, b)[0],
    common=lambda a, b: _common_type(a, b) or np.result_type(a, b),
    counted=lambda a, b: product(a, b).as_one_stack,
    numpys_own=numpys_own,
    ready=ready,
)
