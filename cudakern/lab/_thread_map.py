"""thread_map: a picture of which thread of which block has which element."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import backend
from .._operations._experiments import thread_map as number_elements
from .._transfer import Array
from ._experiment import Column, Experiment, counted, documents
from ._sizes import numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._plots import Picture

DOCUMENTS = (
    "P4 to P7: 76 x 62 pixels in blocks of 16 x 16 start 80 x 64 threads, 4 columns and 2 rows too many, and blocks "
    "come in four kinds"
)
ON_AN_H200 = (
    "The picture takes 80 x 64 threads, which is 5,120 for 4,712 pixels: 408 of them are idle (8.0%). Its blocks "
    "come in four kinds: inside, right edge, bottom edge, and right and bottom edge."
)
#: Those pixels in NumPy's order, and those blocks.
PICTURE, BLOCK = (62, 76), (16, 16)
#: Where a block ends beyond the array: along x, y, z.
EDGES = ("right", "bottom", "back")
MOST = 1 << 26  #: threads and elements: an array of numbers of each is kept
#: More elements a layer than this, and a picture has no numbers of threads; more layers, and it shows the first ones.
NUMBERED, LAYERS = 600, 6
ACROSS = 100  #: threads beside each other, in all layers of a line, that have room for numbers
OUTLINED = 40  #: more blocks along an axis, and a picture has neither their outlines nor their numbers
#: A kind of block each: inside, at edges and corners, outside.
COLORS = ("#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#fee391", "#d9d9d9", "#bdbdbd")
IDLE: dict[str, Any] = {"fc": "#ffffffa0", "ec": "#aaaaaa", "hatch": "////", "lw": 0}
MISSED: dict[str, Any] = {"fc": "white", "ec": "#eeb4b4", "hatch": "xx", "lw": 0}

COLUMNS = (
    Column("kind of block", "kind"),
    Column("blocks", "blocks"),
    Column("threads\na block", "threads"),
    Column("at work\nin each", "busy"),
    Column("idle\nin each", "idle"),
    Column("idle\nin all", "idle_in_all"),
)


@dataclass(frozen=True, repr=False)
class ThreadMap(Experiment):
    """The experiment, with the numbers that the threads wrote: ``block`` and ``thread`` of each element.

    Both have the array's shape. Numbers count x first, then y, then z, as in CUDA; -1 is an element without a thread.
    """

    grid: tuple[int, ...] = ()  #: blocks along x, y, z
    threads: tuple[int, ...] = ()  #: of a block, along x, y, z
    block: Array = field(default_factory=lambda: np.empty(0, np.int64))
    thread: Array = field(default_factory=lambda: np.empty(0, np.int64))

    def __eq__(self, other: object) -> bool:
        """As other results are, and the two arrays element by element."""
        if not isinstance(other, ThreadMap):
            return NotImplemented
        without = {"block": None, "thread": None}
        return (
            vars(self) | without == vars(other) | without
            and np.array_equal(self.block, other.block)
            and np.array_equal(self.thread, other.thread)
        )


@documents
def thread_map(
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] = BLOCK,
    shape: int | Sequence[int] | None = None,
) -> ThreadMap:
    """Which thread of which block has which element: 1-D, 2-D or 3-D, told by a kernel.

    Parameters
    ----------
    grid : int, sequence of int or None
        Blocks along x, y, z, in CUDA's order. None: as many as cover ``shape``.
    block : int or sequence of int
        Threads a block along x, y, z, in CUDA's order.
    shape : int or sequence of int, optional
        The array's shape in NumPy's order, whose last axis is x: a picture of 76 x 62 is (62, 76). Without it: what
        the grid covers; without a grid, for blocks of two axes, that picture.

    Returns
    -------
    ThreadMap
        A row a kind of block (inside, at an edge, at a corner, outside the array) with its idle threads; ``block`` and
        ``thread`` hold the numbers of each element, and ``plot()`` draws them: a colour a kind, idle threads hatched.

    <raises>

    Notes
    -----
    P4 to P7. Elements that a grid of ``width / 16`` blocks drops show as elements without a thread. Grid, block and
    shape have 1 to 3 axes, all as many, of lengths that the device takes: at most 2**26 threads and as many elements.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.thread_map(None, (16, 16), (62, 76))
    >>> [(row["kind"], row["blocks"], row["idle"]) for row in result.rows]
    [('inside', 12, 0), ('right edge', 3, 64), ('bottom edge', 4, 32), ('right and bottom edge', 1, 88)]
    """
    threads = _lengths("block", block)
    array = None if shape is None else _lengths("shape", shape)[::-1]  # x first, as the others
    if grid is shape is None and len(threads) == len(PICTURE):
        array = PICTURE[::-1]
    if grid is not None:
        blocks = _lengths("grid", grid)
    elif array is not None:
        blocks = tuple(-(-n // length) for n, length in zip(array, threads, strict=False))  # enough for that array
    else:
        raise ValueError("thread_map: give a grid, or a shape that it shall cover")
    if array is None:
        array = tuple(count * length for count, length in zip(blocks, threads, strict=False))
    if not 1 <= len(blocks) == len(threads) == len(array) <= 3:
        raise ValueError(
            f"thread_map: grid {blocks}, block {threads} and shape {array[::-1]} have {len(blocks)}, {len(threads)} "
            f"and {len(array)} axes: give as many to each, 1 to 3"
        )
    size, started, elements = math.prod(threads), math.prod(blocks) * math.prod(threads), math.prod(array)
    title = f"{_by(array, 'element')}, {_by(blocks, 'block')} of {_by(threads, 'thread')} (x by y by z)"
    if max(started, elements) > MOST:
        raise ValueError(f"thread_map: {title}: it shows at most {MOST:,} threads and as many elements")

    numbers = np.arange(1, started + 1, dtype=np.int64).reshape(blocks[::-1] + threads[::-1])
    written = number_elements(np.zeros(array[::-1], np.int64), numbers, variant="coordinates") - 1  # 0: nobody's
    block_of = np.where(written >= 0, written // size, -1)
    thread_of = np.where(written >= 0, written % size, -1)
    busy = np.count_nonzero(written >= 0)
    note = (
        f"Idle threads: {started - busy:,} of {started:,}. "
        f"Elements without a thread: {elements - busy:,} of {elements:,}."
    )
    rows = _kinds(block_of, blocks, threads, array)
    texts = DOCUMENTS, ON_AN_H200, note
    return ThreadMap("thread_map", title, backend(), COLUMNS, rows, *texts, _draw, blocks, threads, block_of, thread_of)


def _lengths(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    lengths = numbers("thread_map", name, value, ", or None" * (name == "grid"))
    if not lengths or min(lengths) < 1:
        raise ValueError(f"thread_map: {name}={value!r}: lengths are 1 or more")
    return lengths


def _by(lengths: Sequence[int], what: str) -> str:
    return f"{' x '.join(f'{n:,}' for n in lengths)} {what}{'s' * (math.prod(lengths) != 1)}"


def _parts(n: int, count: int, length: int) -> dict[str, slice]:
    """The blocks along one axis: those inside the array, the one that its edge cuts, those outside."""
    inside, reached = min(n // length, count), min(-(-n // length), count)
    parts = {"inside": slice(0, inside), "cut": slice(inside, reached), "outside": slice(reached, count)}
    return {name: part for name, part in parts.items() if part.start < part.stop}


def _kind(parts: Sequence[str]) -> str:
    """Of a block, from where it is along x, y, z."""
    if "outside" in parts:
        return "outside"
    cut = [edge for edge, part in zip(EDGES, parts, strict=False) if part == "cut"]
    return f"{' and '.join(cut)} edge" if cut else "inside"


def _kinds(
    block_of: Array, blocks: tuple[int, ...], threads: tuple[int, ...], array: tuple[int, ...]
) -> tuple[dict[str, Any], ...]:
    """A row a kind. What kind a block is follows from its place; how many of its threads work is what they wrote."""
    size = math.prod(threads)
    at_work = np.bincount(block_of[block_of >= 0], minlength=math.prod(blocks)).reshape(blocks[::-1])
    rows: dict[str, dict[str, Any]] = {}
    along = [_parts(*lengths).items() for lengths in zip(array, blocks, threads, strict=True)]
    for parts in itertools.product(*along[::-1]):
        names, places = zip(*parts, strict=True)
        kind, busy = _kind(names[::-1]), at_work[places]
        idle = size - int(busy.flat[0])
        empty = {"kind": kind, "blocks": 0, "threads": size, "busy": size - idle, "idle": idle, "idle_in_all": 0}
        row = rows.setdefault(kind, empty)
        row["blocks"] += busy.size
        row["idle_in_all"] += busy.size * size - int(busy.sum())
    return tuple(sorted(rows.values(), key=lambda row: row["kind"] == "outside"))


def _draw(result: Experiment, picture: Picture) -> None:
    """Layer by layer: blocks in the colour of their kind, the array's edge, and what is idle beyond it hatched."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    assert isinstance(result, ThreadMap)
    grid, threads, array = _three_axes(result)
    wide, high, layers = (max(count * length, n) for count, length, n in zip(grid, threads, array, strict=True))
    rows = 1 if layers <= 3 else 2
    panels = picture.subplots(rows, -(-min(layers, LAYERS) // rows), squeeze=False)
    small = wide * high <= NUMBERED and wide * panels.shape[1] <= ACROSS  # there is room for a number in each thread
    colors = dict(zip((row["kind"] for row in result.rows), COLORS, strict=False))
    for z, axes in enumerate(panels.flat):
        if z >= layers:
            axes.axis("off")
            continue
        _draw_layer(axes, z, result, colors, small)
        axes.set_xlim(-1, wide)
        axes.set_ylim(high, -1)  # y grows downwards, as rows do
        axes.set_title(f"z = {z}" if layers > 1 else "", fontsize=8)
        axes.set_xlabel("x", fontsize=8)
        axes.tick_params(labelsize=6)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator("auto", integer=True))
        if len(result.grid) == 1:
            axes.set_yticks([])
            axes.set_box_aspect(0.15)
        else:
            axes.set_ylabel("y", fontsize=8)
            axes.set_aspect("equal")
    counts = {row["kind"]: counted(row["blocks"], "block") for row in result.rows}
    legend = [Patch(fc=color, ec="#555555", label=f"{kind}: {counts[kind]}") for kind, color in colors.items()]
    if any(row["idle"] for row in result.rows):
        legend.append(Patch(**IDLE, label="idle threads,\nbeyond the array"))
    if np.any(result.block < 0):
        legend.append(Patch(**MISSED, label="elements without\na thread"))
    picture.legend(handles=legend, fontsize=8, loc="outside right center")
    words = ["thick: the array's edge"]
    if max(grid[:2]) <= OUTLINED:
        words.append(f"outlines: blocks; numbers: of the {'thread in its block' if small else 'block'}")
    if layers > LAYERS:
        words.append(f"{layers:,} layers, the first {LAYERS}")
    picture.supxlabel("; ".join(words), fontsize=8)


def _three_axes(result: ThreadMap) -> list[tuple[int, ...]]:
    """Grid, block and array along x, y, z."""
    return [(*lengths, 1, 1)[:3] for lengths in (result.grid, result.threads, result.block.shape[::-1])]


def _draw_layer(axes: Axes, z: int, result: ThreadMap, colors: dict[str, str], small: bool) -> None:
    """Regions; numbers of blocks, or if ``small`` of threads, as they wrote them (idle ones' by the formula)."""
    from matplotlib.patches import Rectangle

    def fill(x: int, y: int, x_end: int, y_end: int, **look: Any) -> None:
        if x < x_end and y < y_end:
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), x_end - x, y_end - y, **look))

    def write(x: float, y: float, text: object, size: int, color: str = "black") -> None:
        axes.text(x, y, str(text), ha="center", va="center", fontsize=size, color=color)

    grid, threads, array = _three_axes(result)
    # A layer beyond the grid has no threads, one beyond the array no elements.
    wide, high = (grid[0] * threads[0], grid[1] * threads[1]) if z < grid[2] * threads[2] else (0, 0)
    nx, ny = array[:2] if z < array[2] else (0, 0)
    along = [_parts(*lengths).items() for lengths in zip(array, grid, threads, strict=True)]
    for parts in itertools.product(*along):
        names, (columns, rows, layers) = zip(*parts, strict=True)
        if layers.start <= z // threads[2] < layers.stop:
            left, right = columns.start * threads[0], columns.stop * threads[0]
            top, bottom = rows.start * threads[1], rows.stop * threads[1]
            fill(left, top, right, bottom, fc=colors[_kind(names)], lw=0)
    fill(nx, 0, wide, high, **IDLE)
    fill(0, ny, min(nx, wide), high, **IDLE)
    fill(wide, 0, nx, ny, **MISSED)
    fill(0, high, min(nx, wide), ny, **MISSED)
    fill(0, 0, nx, ny, fill=False, ec="black", lw=2, zorder=3)

    outlined = wide > 0 and max(grid[:2]) <= OUTLINED
    if outlined:
        axes.vlines([i * threads[0] - 0.5 for i in range(grid[0] + 1)], -0.5, high - 0.5, color="#555555", lw=0.8)
        axes.hlines([i * threads[1] - 0.5 for i in range(grid[1] + 1)], -0.5, wide - 0.5, color="#555555", lw=0.8)
    if small:
        thread_of = result.thread.reshape(array[::-1])
        for y, x in np.ndindex(max(high, ny), max(wide, nx)):
            if x < nx and y < ny:
                write(x, y, "?" if thread_of[z, y, x] < 0 else thread_of[z, y, x], 5)
            elif x < wide and y < high:
                number = x % threads[0] + threads[0] * (y % threads[1] + threads[1] * (z % threads[2]))
                write(x, y, number, 5, "#666666")
    elif outlined:
        for y, x in np.ndindex(grid[1], grid[0]):
            number = x + grid[0] * (y + grid[1] * (z // threads[2]))
            write((x + 0.5) * threads[0] - 0.5, (y + 0.5) * threads[1] - 0.5, number, 7)
