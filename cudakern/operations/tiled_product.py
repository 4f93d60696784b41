"""Products of host arrays that exceed the memory limit: the plan of their tiles, and their run.

A product holds blocks of one operand on the device (x) and passes strips of the other one by them (y), to and fro:
the last strip is the next first one. Or it holds the blocks' results, to which the products of one part of k after the
other are added: then parts of both operands pass by. The plan is the one that is estimated to take the least time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .._native import View
from ..arrays import memory_limit
from ..arrays.dtypes import from_name, itemsize, kind_of
from ..arrays.layout import Shape
from ..arrays.transfer import Array
from ..calls.table import find
from ..calls.tiles import LEAST_EDGE, Blocks, Tiled, by_columns, memory_of, pieces, rounding, stand_in

#: Estimates for plans, in bytes that are copied between host and device meanwhile: for a byte that a call of a kernel
#: passes over, or an addition; for each step along k (until a launch's last blocks have ended); for each call.
PASS, ADD, STEP, CALL = 0.03, 0.01, 640, 1 << 20
GAP = 512  #: the time that a gap between two rows takes, in bytes that are copied meanwhile
#: The types in which parts of sums are added, where the kernel's bound of the error would not hold otherwise.
WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64", "complex64": "complex128"}


# --- the plan --------------------------------------------------------------------------------------------------------
class Plan(NamedTuple):
    """The tiles of a product of stacks (batch, m, k) and (batch, k, n)."""

    cost: float  #: estimated, in bytes that are copied between host and device meanwhile
    needed: int  #: bytes on the device
    swapped: bool  #: b is the operand that is held
    matrices: int  #: of a stack in one tile
    edge: int  #: of a block of the held operand: rows of a, or columns of b
    held: int  #: blocks, or their results
    strip: int  #: the edge of a block of the other operand
    depth: int  #: the part of k in a block
    divided: bool  #: whether k has several parts
    wide: str  #: the type in which their products are added

    def slots(self, a: Array, b: Array) -> int:
        """For blocks of the held operand: one more if the next one is copied while kernels use the others."""
        length, _ = self.turned(a.shape[1], b.shape[2])
        return self.held + int(self.divided or (len(a) > 1 and self.held * self.edge >= length))

    def turned(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Turns (held, other) into (of a, of b), and back."""
        return (y, x) if self.swapped else (x, y)


def sizes(length: int) -> list[int]:
    """An edge's candidates: the whole length, and powers of two."""
    return [length, *(1 << i for i in reversed(range(63)) if LEAST_EDGE <= 1 << i < length)]


def sum_type(call: Tiled, m: int, k: int, n: int, depth: int) -> tuple[str, bool]:
    """The type in which parts of k are added, and whether the variant's bound of the error then holds for their sum: in
    the result's type if each addition may be one of the bound's roundings, else in a wider type, if there is one."""
    if kind_of(from_name(call.result)) in "biu" or depth >= k:
        return call.result, True
    variant, types = call.run.variant, (call.dtype, call.dtype)
    names = variant.operation, variant.name, call.run.values
    whole, part = (call.native.error_depth(*names, types, ((m, d), (d, n))) for d in (k, depth))
    if part + -(-k // depth) <= whole and itemsize(call.result) > 2:
        return call.result, True
    return WIDER.get(call.result, call.result), call.result in WIDER


def planned(call: Tiled, a: Array, b: Array) -> Plan:
    """The plan with the least cost that fits into the limit; ValueError if none does."""
    (_, m, k), n = a.shape, b.shape[-1]
    best: Plan | None = None
    least = -1
    for parts in (1 << i for i in range(63)):
        depth = k if parts == 1 else -(-k // (parts * LEAST_EDGE)) * LEAST_EDGE
        wide, holds = sum_type(call, m, k, n, depth)
        if depth * (parts - 1) >= k or (best is not None and not holds):
            break  # a part would be empty, or fewer parts are more accurate
        for swapped in (False, True):
            for edge, strip in itertools.product(sizes(n if swapped else m), sizes(m if swapped else n)):
                plan = measured(call, a, b, Plan(0, 0, swapped, 1, edge, 1, strip, depth, parts > 1, wide), best)
                if plan is not None and plan.needed > call.limit:
                    least = plan.needed if least < 0 else min(least, plan.needed)
                elif plan is not None and (best is None or plan.cost < best.cost):
                    best = plan
    if best is None:
        raise memory_limit.refuse("matmul", call.limit, least)
    return best


def block_bytes(call: Tiled, a: Array, b: Array, plan: Plan) -> tuple[int, int, int, int]:
    """The memory of a held block, of a block of the other operand, of their product, and of that in the wide type."""
    rows, columns = plan.turned(plan.edge, plan.strip)
    of_a = memory_of((plan.matrices, rows, plan.depth), a.itemsize, by_columns(a))
    of_b = memory_of((plan.matrices, plan.depth, columns), b.itemsize, by_columns(b))
    of_c = memory_of((plan.matrices, rows, columns), itemsize(call.result), dense=plan.divided)
    return *plan.turned(of_a, of_b), of_c, of_c // itemsize(call.result) * itemsize(plan.wide)


def of_kernels(call: Tiled, a: Array, b: Array, plan: Plan) -> int:
    """What a kernel takes besides its arrays, also for smaller tiles at the ends, whose rows it may have to pack."""
    rows, columns = plan.turned(plan.edge, plan.strip)
    pairs = ((a.shape[1], rows), (a.shape[2], plan.depth), (b.shape[2], columns))
    ends = [{size, length % size or size} for length, size in pairs]

    def taken(m: int, k: int, n: int) -> int:
        left = stand_in((plan.matrices, m, k), call.dtype, by_columns(a))
        right = stand_in((plan.matrices, k, n), call.dtype, by_columns(b))
        return call.extra((left, right), stand_in((plan.matrices, m, n), call.result, dense=plan.divided))

    return max(itertools.starmap(taken, itertools.product(*ends)))


def memory(call: Tiled, a: Array, b: Array, plan: Plan) -> int:
    """What the call takes: see Products."""
    x, y, product, wide = block_bytes(call, a, b, plan)
    slots, sums = plan.slots(a, b), product
    if plan.wide != call.result:
        sums += (plan.held + 1) * wide
    whole = slots * x + 2 * y + 2 * plan.held * product + plan.divided * sums + of_kernels(call, a, b, plan)
    return whole + rounding(slots + 3 * plan.held + 6)


def cost(call: Tiled, a: Array, b: Array, plan: Plan) -> float:
    (batch, m, k), n = a.shape, b.shape[-1]
    (length, across), (rows, columns) = plan.turned(m, n), plan.turned(plan.edge, plan.strip)
    item, out = a.itemsize, itemsize(call.result)
    blocks, strips, parts = -(-length // plan.edge), -(-across // plan.strip), -(-k // plan.depth)
    times = strips if plan.divided else 1, -(-blocks // plan.held)  # that x and y are copied
    # A row that is cut from a longer one has a gap after it.
    gaps = [1 + GAP / (run * item) if cut else 1 for run, cut in ((rows, by_columns(a)), (columns, not by_columns(b)))]
    copied = sum(np.multiply(np.multiply(times, plan.turned(*gaps)), (length, across))) * k * item
    copied += m * n * (out + GAP / columns + 3 * ADD * itemsize(plan.wide) * (parts - 1))
    calls = -(-batch // plan.matrices) * blocks * strips * parts
    passed = (plan.matrices * (plan.edge + plan.strip) * item * PASS + STEP) * plan.depth + CALL
    first = (plan.edge + plan.strip) * plan.depth * item + plan.held * rows * columns * out  # nothing runs meanwhile
    return float(batch * copied + calls * passed + first)


def measured(call: Tiled, a: Array, b: Array, plan: Plan, best: Plan | None) -> Plan | None:
    """The plan with as many blocks and matrices as fit; None if it costs more than the best one."""
    batch, (length, across) = len(a), plan.turned(a.shape[1], b.shape[2])
    blocks = -(-length // plan.edge)
    if best is not None and cost(call, a, b, plan._replace(held=blocks, matrices=batch)) >= best.cost:
        return None
    needed = memory(call, a, b, plan)
    if needed > call.limit:
        return plan._replace(needed=needed)
    if blocks == 1 and plan.strip >= across and not plan.divided:
        for matrices in (min(1 << i, batch) for i in range(batch.bit_length() + 1)):
            if memory(call, a, b, plan._replace(matrices=matrices)) <= call.limit:
                plan = plan._replace(matrices=matrices)
    elif blocks > 1:
        more = memory(call, a, b, plan._replace(held=2)) - needed
        most = min(blocks, 1 + (call.limit - needed) // more)
        if most == blocks and memory(call, a, b, plan._replace(held=most)) > call.limit:
            most -= 1  # with all blocks of a matrix held, there is one more, for the next matrix
        plan = plan._replace(held=-(-blocks // -(-blocks // most)))
    return plan._replace(needed=memory(call, a, b, plan), cost=cost(call, a, b, plan))


# --- the run ---------------------------------------------------------------------------------------------------------
def product(call: Tiled, a: Array, b: Array, c: Array) -> None:
    """``c[...] = a @ b`` for matrices, or for stacks with the same axes before them."""
    a, b, c = (x if x.ndim > 2 else x[None] for x in (a, b, c))
    if not a.shape[-1]:
        c[...] = 0
    if not (a.size and b.size):
        return
    fronts = list(np.ndindex(c.shape[:-3]))
    plan = planned(call, a[fronts[0]], b[fronts[0]])
    (batch, m, _), n = a.shape[-3:], b.shape[-1]
    steps = list(tiles(plan, len(fronts), batch, *plan.turned(m, n)))
    call.begin(len(steps))
    products = Products(call, plan, a[fronts[0]], b[fronts[0]])
    for front, matrices, held, strip in steps:
        left, right, result = (x[fronts[front]][matrices] for x in (a, b, c))
        products.add(left, right, result, [plan.turned(block, strip) for block in held])
    products.fetch()


def tiles(
    plan: Plan, fronts: int, batch: int, length: int, across: int
) -> Iterator[tuple[int, slice, list[slice], slice]]:
    """The steps: (the stack's number, matrices, the held blocks, the strip)."""
    backwards = False
    for front in range(fronts):
        for matrices in pieces(batch, plan.matrices):
            for held in pieces(length, plan.edge * plan.held):
                blocks = pieces(held.stop - held.start, plan.edge, start=held.start)
                for strip in pieces(across, plan.strip, backwards):
                    yield front, matrices, blocks, strip
                backwards = not backwards


class Products:
    """Tiles of the product, on the device."""

    def __init__(self, call: Tiled, plan: Plan, a: Array, b: Array) -> None:
        self.call, self.plan, self.dense = call, plan, plan.divided
        x, y, product, wide = block_bytes(call, a, b, plan)
        self.operands = plan.turned(call.blocks(x, plan.slots(a, b)), call.blocks(y, 2))
        self.tiles = call.blocks(product, 2 * plan.held)
        self.is_wide = plan.wide != call.result
        self.terms = call.blocks(product, 1) if self.dense else self.tiles
        self.wide_terms = call.blocks(wide, 1) if self.is_wide else self.terms
        self.sums = call.blocks(wide, plan.held) if self.is_wide else self.tiles
        self.count = 0
        self.waiting: list[tuple[View, Array]] = []  #: results of the step before, and their places on the host

    def add(self, a: Array, b: Array, c: Array, places: list[tuple[slice, slice]]) -> None:
        """Computes those rows and columns of the product. The parts of k change their direction each time. Meanwhile,
        the results of the step before are copied to the host."""
        self.count += 1
        parts = pieces(a.shape[2], self.plan.depth, self.count % 2 == 0)
        hosts = [c[:, rows, columns] for rows, columns in places]
        sums = [self.place(self.sums, i, host.shape, self.plan.wide) for i, host in enumerate(hosts)]
        for part in parts:
            for total, (rows, columns) in zip(sums, places, strict=True):
                operands = self.operands[0].get(a[:, rows, part]), self.operands[1].get(b[:, part, columns])
                self.multiply(operands, total, part is parts[0])
            self.fetch(1)
        self.fetch()
        views = sums
        if self.is_wide:
            views = [self.place(self.tiles, i, host.shape, self.call.result) for i, host in enumerate(hosts)]
            for view, total in zip(views, sums, strict=True):
                self.call.convert(view, total)
        self.waiting = list(zip(views, hosts, strict=True))

    def multiply(self, operands: tuple[View, View], total: View, first: bool) -> None:
        """Adds a product to the total, which the first one sets."""
        term = total if first and not self.is_wide else self.place(self.terms, 0, total.shape, self.call.result)
        self.call.kernel(operands, term)
        if self.is_wide:
            wide = total if first else self.place(self.wide_terms, 0, total.shape, self.plan.wide)
            self.call.convert(wide, term)
            term = wide
        if not first:
            self.call.kernel((total, term), total, find("vector_add", "vectorized"))

    def fetch(self, most: int | None = None) -> None:
        """Copies results that are waiting to the host: at most so many, else all."""
        for view, host in self.waiting[:most]:
            self.call.download(view, host)
            if len(self.waiting) == 1:
                self.call.advance()
            del self.waiting[0]

    def place(self, blocks: Blocks, number: int, shape: Shape, name: str) -> View:
        return blocks.place((self.count, number), shape, name, dense=self.dense)
