"""Calls on host arrays that exceed the memory limit: in tiles, copied to the device and back while kernels run.

    copies    x0 y0 | y1     | out y0, y2 | out y1, y3 | ...       this thread waits for each copy
    kernels         | x0 y0  | x0 y1      | x0 y2      | ...       in a stream of their own

An operation's rule names the function that computes it with a Tiled: operations/tiled_product.py, sum_of_squares.py.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .._imports import IMPORTING
from .._native import View
from ..arrays import memory_limit
from ..arrays.dtypes import from_name, itemsize, type_name
from ..arrays.layout import Shape
from ..arrays.transfer import Array, buffer_of, to_host
from .observer import Run
from .table import Variant

if TYPE_CHECKING:
    from rich.progress import Progress

#: Rows of at least LONG bytes start at multiples of PITCH on the device: kernels with wide loads or TMA then need no
#: packed copy. Shorter rows have no gaps: the copies would take longer.
LONG, PITCH = 1024, 128
LEAST_EDGE = 32  #: elements
ROUNDED = 512  #: the memory of a block is a multiple of this


def rounding(blocks: int) -> int:
    """What the rounding of their sizes may add to the memory of so many blocks."""
    return ROUNDED * blocks


def pieces(length: int, size: int, backwards: bool = False, start: int = 0) -> list[slice]:
    slices = [slice(i, min(i + size, start + length)) for i in range(start, start + length, size)]
    return slices[::-1] if backwards else slices


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
        native = self.call.native
        once = x[:1] if x.strides[0] == 0 else x  # a matrix that the whole stack shares
        view = self.place(key, once.shape, self.call.dtype, by_columns(once))
        native.upload(view, buffer_of(once), self.call.copies)
        if once.shape != x.shape:
            view = native.view(view, 0, x.shape, (0, *view.strides[1:]), view.dtype)
            self.used[key] = self.used[key][0], view
        return view


class Tiled:
    """A call in tiles: its variant, its limit, and what it takes from the device while it runs."""

    def __init__(self, run: Run, limit: int, result: str) -> None:
        self.run, self.limit, self.result = run, limit, result
        self.native, self.device, self.dtype = run.native, run.device, run.dtype
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
        if memory_limit.shows_progress():
            with IMPORTING:
                from rich.progress import Progress

            self.bar = Progress(auto_refresh=False)  # no thread of its own
            self.bar.add_task(f"{self.run.variant.operation}, {self.run.variant.name}", total=steps)
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
        arrays = tuple(map(buffer_of, inputs)), (buffer_of(output),)
        return self.native.memory_needed(*self.run.names, self.run.values, *arrays, self.device, True)

    def kernel(self, inputs: tuple[View, ...], output: View, variant: Variant | None = None) -> None:
        run = self.run if variant is None else self.run._replace(variant=variant, values=variant.values({}))
        run._replace(inputs=inputs, outputs=(output,), stream=self.streams[1]).execute()

    def convert(self, to: View, source: View) -> None:
        self.native.copy(to, source, self.streams[1])

    def download(self, view: View, host: Array) -> None:
        # The C modules bring other rows and columns there through a second array on the device, for which no memory is
        # set aside.
        if host.strides[-1] == host.itemsize and min(host.strides) > 0:
            self.native.download(buffer_of(host), view, self.copies)
        else:
            host[...] = to_host(self.native, view, self.copies)


def in_tiles(compute: Any, run: Run, inputs: list[Array], result: Array) -> bool:
    """False if the call fits into the memory limit; else computes it in tiles."""
    needed = run.native.memory_needed(*run.names, run.values, run.inputs, run.outputs, run.device, False)
    limit = memory_limit.exceeded(run.native, run.device, needed)
    if limit is None:
        return False
    with Tiled(run, limit, type_name(result.dtype)) as call:
        compute(call, *inputs, result)
    return True
