"""numpy.matmul's rules: two operands as stacks of matrices, what their product is, and what out= may be."""

from __future__ import annotations

import math
from typing import NamedTuple

from .._layout import MAX_DIMS, Shape, broadcast
from .._table import AUTO, Variant

NAME = "matmul"


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
            raise ValueError(f"matmul: out is {shape}, and the product is {self.shape}: give out= of that shape")


def product(a: Shape, b: Shape) -> Product:
    """What two operands of those shapes make; ValueError if they do not fit."""
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
            f"matmul: a is {a} and b is {b}: the axes before the matrices, {first} and {second}, do not broadcast: "
            "from the right, each pair must be equal or one of them 1"
        )
    return tuple(y if x == 1 else x for x, y in zip(*padded, strict=True))


def merge(shape: Shape, strides: tuple[Shape, ...]) -> tuple[Shape, tuple[Shape, ...]]:
    """The same leading axes told with fewer, for arrays that share them: axes of one element are left out, and
    neighbours that lie as one in every array become one."""
    if not all(shape):
        return (0,), ((0,),) * len(strides)
    kept = [(n, steps) for n, *steps in zip(shape, *strides, strict=True) if n != 1]
    merged: list[tuple[int, list[int]]] = []
    for n, steps in kept:
        if merged and all(outer == inner * n for outer, inner in zip(merged[-1][1], steps, strict=True)):
            merged[-1] = (merged[-1][0] * n, steps)
        else:
            merged.append((n, steps))
    return tuple(n for n, _ in merged), tuple(tuple(s[i] for _, s in merged) for i in range(len(strides)))


def too_many(batch: Shape) -> bool:
    """True if the C modules take no stack of that many axes."""
    return len(batch) + 2 > MAX_DIMS


# --- types ---------------------------------------------------------------------------------------------------
def check_one_type(row: Variant, a: str, b: str) -> None:
    """TypeError if a named row was given two types."""
    if a != b:
        raise TypeError(
            f"matmul: variant {row.name!r} takes two arrays of one type, not {a} and {b}; variant={AUTO!r} takes both"
        )
