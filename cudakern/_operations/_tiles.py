"""Calls on host arrays that exceed the memory limit: in tiles, copied to the device and back while kernels run.

    copies    x0 y0 | y1     | out y0, y2 | out y1, y3 | ...       this thread waits for each copy
    kernels         | x0 y0  | x0 y1      | x0 y2      | ...       in a stream of their own

A product holds blocks of one operand on the device (x) and passes strips of the other one by them (y), to and fro:
the last strip is the next first one. Or it holds the blocks' results, to which the products of one part of k after the
other are added: then parts of both operands pass by. The plan is the one that is estimated to take the least time.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .. import _memory_limit
from .._dtypes import from_name, itemsize, kind_of, type_name
from .._host import host_operand, host_result
from .._layout import Shape
from .._native import View
from .._observer import Run
from .._table import Variant, find
from .._transfer import Array, buffer_of, to_host

if TYPE_CHECKING:
    from rich.progress import Progress

#: Rows of at least LONG bytes start at multiples of PITCH on the device: kernels with wide loads or TMA then need no
#: packed copy. Shorter rows have no gaps: the copies would take longer.
LONG, PITCH = 1024, 128
#: Estimates for plans, in bytes that are copied between host and device meanwhile: for a byte that a call of a kernel
#: passes over, or an addition; for each step along k (until a launch's last blocks have ended); for each call.
PASS, ADD, STEP, CALL = 0.03, 0.01, 640, 1 << 20
GAP = 512  #: the time that a gap between two rows takes, in bytes that are copied meanwhile
LEAST_EDGE = 32
ROUNDED = 512  #: the memory of a block is a multiple of this
CHUNK = 256 << 20  #: bytes of a vector that are copied at once; more are not faster
#: The types in which parts of sums are added, where the kernel's bound of the error would not hold otherwise.
WIDER = {"float16": "float32", "bfloat16": "float32", "float32": "float64", "complex64": "complex128"}


# --- memory on the device --------------------------------------------------------------------------------------------
def by_columns(x: Array) -> bool:
    """True if the columns of these matrices are contiguous, and the rows are not."""
    (rows, width), (down, right) = x.shape[-2:], x.strides[-2:]
    return (width == 1 < rows or right != x.itemsize) and (rows == 1 or down == x.itemsize)


def strides(shape: Shape, item: int, columns: bool = False, dense: bool = False) -> Shape:
    """Of a stack of matrices; rows (or columns) start at multiples of PITCH, unless they are short or dense."""
    _, rows, width = shape
    line = (rows if columns else width) * item
    pitch = item if dense or line < LONG else PITCH
    line = -(-line // pitch) * pitch
    return (width * line, item, line) if columns else (rows * line, line, item)


def memory_of(shape: Shape, item: int, columns: bool = False, dense: bool = False) -> int:
    return shape[0] * strides(shape, item, columns, dense)[0]


def stand_in(shape: Shape, name: str, columns: bool = False, dense: bool = False) -> Array:
    """A host array in the place of such an array on the device, for questions about a call. It has no elements."""
    dtype = from_name(name)
    return as_strided(np.empty(1, dtype), shape, strides(shape, dtype.itemsize, columns, dense))


class Blocks:
    """Device memory for a few blocks of an array. A new block takes the place of the one used longest ago."""

    def __init__(self, call: Tiled, nbytes: int, count: int) -> None:
        self.call = call
        self.free = [call.native.empty((nbytes,), "uint8", call.device, call.copies) for _ in range(count)]
        self.used: dict[Any, tuple[View, View]] = {}  #: (memory, block), the one used last at the end

    def place(self, key: Any, shape: Shape, name: str, columns: bool = False, dense: bool = False) -> View:
        """Memory for a block."""
        memory = self.free.pop() if self.free else self.used.pop(next(iter(self.used)))[0]
        view = self.call.native.view(memory, 0, shape, strides(shape, itemsize(name), columns, dense), name)
        self.used[key] = memory, view
        return view

    def get(self, x: Array) -> View:
        """The block of a host array, which is copied to the device if it is not there."""
        key = x.__array_interface__["data"][0], x.shape
        if key in self.used:
            self.used[key] = self.used.pop(key)
            return self.used[key][1]
        native, device = self.call.native, self.call.device
        rows = x.swapaxes(1, 2) if by_columns(x) else x
        host = host_operand(rows, native, device)
        host = host.swapaxes(1, 2) if by_columns(x) else host
        once = host[:1] if host.strides[0] == 0 else host  # a matrix that the whole stack shares
        view = self.place(key, once.shape, self.call.dtype, by_columns(once))
        native.upload(view, buffer_of(once), self.call.copies)
        if once.shape != host.shape:
            view = native.view(view, 0, host.shape, (0, *view.strides[1:]), view.dtype)
            self.used[key] = self.used[key][0], view
        return view


class Tiled:
    """A call in tiles: its variant, its limit, and what it takes from the device while it runs."""

    def __init__(self, run: Run, limit: int, result: str) -> None:
        self.native, self.device, self.variant, self.values = run.native, run.device, run.variant, run.values
        self.dtype, self.result, self.limit = run.dtype, result, limit
        self.owned: list[Blocks] = []
        self.streams: list[int] = []
        self.bar: Progress | None = None

    def __enter__(self) -> Tiled:
        self.native.trim(self.device)  # memory that is kept for new arrays would come on top
        return self

    def __exit__(self, _: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            traceback.clear_frames(trace)  # an exception's frames would keep the device memory
        for blocks in self.owned:
            blocks.free.clear()
            blocks.used.clear()
        for stream in self.streams:
            self.native.stream_destroy(self.device, stream)
        if self.bar is not None:
            self.bar.stop()

    def begin(self, steps: int) -> None:
        for _ in range(2):
            self.streams.append(self.native.stream_create(self.device, 0))
        if _memory_limit.shows_progress():
            from rich.progress import Progress

            self.bar = Progress(auto_refresh=False)  # no thread of its own
            self.bar.add_task(f"{self.variant.operation}, {self.variant.name}", total=steps)
            self.bar.start()

    def advance(self) -> None:
        if self.bar is not None:
            self.bar.advance(self.bar.task_ids[0])
            self.bar.refresh()

    @property
    def copies(self) -> int:
        return self.streams[0]

    def blocks(self, nbytes: int, count: int) -> Blocks:
        self.owned.append(Blocks(self, nbytes, count))
        return self.owned[-1]

    def extra(self, inputs: tuple[Array, ...], output: Array) -> int:
        """Bytes that a call of the kernel takes besides such arrays on the device."""
        entry, arrays = self.variant, (tuple(map(buffer_of, inputs)), (buffer_of(output),))
        return self.native.memory_needed(entry.operation, entry.name, self.values, *arrays, self.device, True)

    def kernel(self, inputs: tuple[View, ...], output: View, variant: Variant | None = None) -> None:
        entry, values = (self.variant, self.values) if variant is None else (variant, variant.values({}))
        self.native.execute(entry.operation, entry.name, values, inputs, (output,), self.device, 0, self.streams[1])

    def convert(self, to: View, source: View) -> None:
        self.native.copy(to, source, self.streams[1])

    def download(self, view: View, host: Array) -> None:
        # (The C modules bring rows to columns through a second array on the device, for which no memory is set aside.)
        if host_result(host, self.native, self.device) and not by_columns(host):
            self.native.download(buffer_of(host), view, self.copies)
        else:
            host[...] = to_host(self.native, view, self.copies)


def in_tiles(compute: Any, run: Run, inputs: tuple[Array, ...], result: Array) -> bool:
    """False if the call fits into the memory limit; else computes it in tiles."""
    names, arrays = (run.variant.operation, run.variant.name), (run.inputs, run.outputs)
    needed = run.native.memory_needed(*names, run.values, *arrays, run.device, False)
    limit = _memory_limit.exceeded(run.native, run.device, needed)
    if limit is None:
        return False
    with Tiled(run, limit, type_name(result.dtype)) as call:
        compute(call, *inputs, result)
    return True


# --- products --------------------------------------------------------------------------------------------------------
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
    names, types = (call.variant.operation, call.variant.name, call.values), (call.dtype, call.dtype)
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
        raise _memory_limit.refuse("matmul", call.limit, least)
    return best


def block_bytes(call: Tiled, a: Array, b: Array, plan: Plan) -> tuple[int, int, int]:
    """The memory of a held block, of a block of the other operand, and of their product."""
    rows, columns = plan.turned(plan.edge, plan.strip)
    of_a = memory_of((plan.matrices, rows, plan.depth), a.itemsize, by_columns(a))
    of_b = memory_of((plan.matrices, plan.depth, columns), b.itemsize, by_columns(b))
    of_c = memory_of((plan.matrices, rows, columns), itemsize(call.result), dense=plan.divided)
    return *plan.turned(of_a, of_b), of_c


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
    x, y, product = block_bytes(call, a, b, plan)
    slots, sums = plan.slots(a, b), product
    if plan.wide != call.result:
        sums += (plan.held + 1) * product // itemsize(call.result) * itemsize(plan.wide)
    whole = slots * x + 2 * y + 2 * plan.held * product + plan.divided * sums + of_kernels(call, a, b, plan)
    return whole + ROUNDED * (slots + 3 * plan.held + 6)


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


def pieces(length: int, size: int, backwards: bool = False, start: int = 0) -> list[slice]:
    slices = [slice(i, min(i + size, start + length)) for i in range(start, start + length, size)]
    return slices[::-1] if backwards else slices


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
        x, y, product = block_bytes(call, a, b, plan)
        self.operands = plan.turned(call.blocks(x, plan.slots(a, b)), call.blocks(y, 2))
        self.tiles = call.blocks(product, 2 * plan.held)
        self.is_wide = plan.wide != call.result
        wide = product // itemsize(call.result) * itemsize(plan.wide)
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
        shapes = [c[:, rows, columns].shape for rows, columns in places]
        sums = [self.place(self.sums, i, shape, self.plan.wide) for i, shape in enumerate(shapes)]
        for part in parts:
            for total, shape, (rows, columns) in zip(sums, shapes, places, strict=True):
                operands = self.operands[0].get(a[:, rows, part]), self.operands[1].get(b[:, part, columns])
                self.multiply(operands, total, shape, part is parts[0])
            self.fetch(1)
        self.fetch()
        views = sums
        if self.is_wide:
            views = [self.place(self.tiles, i, shape, self.call.result) for i, shape in enumerate(shapes)]
            for view, total in zip(views, sums, strict=True):
                self.call.convert(view, total)
        self.waiting = [(view, c[:, rows, columns]) for view, (rows, columns) in zip(views, places, strict=True)]

    def multiply(self, operands: tuple[View, View], total: View, shape: Shape, first: bool) -> None:
        """Adds a product to the total, which the first one sets."""
        term = total if first and not self.is_wide else self.place(self.terms, 0, shape, self.call.result)
        self.call.kernel(operands, term)
        if self.is_wide:
            wide = total if first else self.place(self.wide_terms, 0, shape, self.plan.wide)
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


# --- sums of squares -------------------------------------------------------------------------------------------------
def sum_of_squares(call: Tiled, x: Array, result: Array) -> None:
    """The sum of the sums of chunks. These are added in a wider type, or modulo 2**64."""
    item, out = x.itemsize, result.itemsize

    def memory(chunk: int) -> int:
        extra = call.extra((as_strided(np.empty(1, x.dtype), (chunk,), (item,)),), np.empty((), result.dtype))
        return 2 * chunk * item + -(-x.size // chunk) * out + extra + 4 * ROUNDED

    chunk = -(-min(CHUNK, x.nbytes) // item)
    while memory(chunk) > call.limit and chunk > LEAST_EDGE:
        chunk = -(-chunk // 2)
    if memory(chunk) > call.limit:
        raise _memory_limit.refuse("sum_of_squares", call.limit, memory(chunk))
    chunks = pieces(x.size, chunk)
    call.begin(len(chunks))
    operands = call.blocks(chunk * item, 2)
    sums = call.blocks(len(chunks) * out, 1).place("sums", (1, 1, len(chunks)), call.result)
    for number, piece in enumerate(chunks):
        (view,) = (operands.get(x[None, None, piece]),)
        flat = call.native.view(view, 0, (view.shape[2],), (item,), call.dtype)
        call.kernel((flat,), call.native.view(sums, number * out, (), (), call.result))
        call.advance()
    parts = np.empty((1, 1, len(chunks)), result.dtype)
    call.download(sums, parts)
    with np.errstate(over="ignore"):
        result[()] = parts.sum(dtype=result.dtype if result.dtype.kind in "iu" else np.longdouble)
