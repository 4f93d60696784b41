"""thread_map: a picture of which thread of which block has which element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .._backend import backend
from .._operations._experiments import thread_map as number_elements
from .._transfer import Array
from ._experiment import Column, Experiment, counted
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
#: Those pixels and blocks, x first.
PICTURE = ((76, 62), (16, 16))
#: Where a block ends beyond the array: along x, y, z.
EDGES = ("right edge", "bottom edge", "back edge")
#: More elements a layer than this, and a picture has no numbers of threads; more layers, and it shows the first ones.
NUMBERED, LAYERS = 600, 6
ACROSS = 100  #: threads beside each other, in all layers of a line, that have room for numbers
OUTLINED = 40  #: more blocks along an axis, and a picture has neither their outlines nor their numbers
#: A kind of block each: inside, at edges and corners, outside.
COLORS = ("#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#fee391", "#d9d9d9", "#bdbdbd")
IDLE: dict[str, Any] = {"fc": "#ffffffa0", "ec": "#aaaaaa", "hatch": "////", "lw": 0}
MISSED: dict[str, Any] = {"fc": "white", "ec": "#eeb4b4", "hatch": "xx", "lw": 0}

MOST = 1 << 26  #: threads and elements: an array of numbers of each is kept

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
        """All that the experiment's results are compared by, and the two arrays element by element."""
        if not isinstance(other, ThreadMap):
            return NotImplemented
        plain = [f.name for f in fields(self) if f.compare and f.name not in ("block", "thread")]
        return all(getattr(self, name) == getattr(other, name) for name in plain) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("block", "thread")
        )

    __hash__ = None  # type: ignore[assignment]  # rows are dictionaries, so no result has one


def thread_map(
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] = PICTURE[1],
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

    Raises
    ------
    TypeError
        What must be a whole number is none.
    ValueError
        Neither a grid nor a shape for blocks of one or three axes; lengths below 1; more than three axes, or not as
        many each; a grid or a block that the device does not take; more than 2**26 threads or elements.
    CudaError
        The GPU or the emulator failed.

    Notes
    -----
    P4 to P7. Elements that a grid of ``width / 16`` blocks drops show as elements without a thread.

    Examples
    --------
    >>> from cudakern import lab
    >>> seen = lab.thread_map(None, (16, 16), (62, 76))
    >>> [(row["kind"], row["blocks"], row["idle"]) for row in seen.rows]
    [('inside', 12, 0), ('right edge', 3, 64), ('bottom edge', 4, 32), ('right and bottom edge', 1, 88)]
    """
    threads = _lengths("block", block)
    array = None if shape is None else _lengths("shape", shape)[::-1]  # x first, as the others
    if grid is shape is None and len(threads) == len(PICTURE[0]):
        array = PICTURE[0]
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

    here = backend()
    _check_limits(blocks, threads, array, here.properties)
    size, count = math.prod(threads), math.prod(blocks)
    numbers = np.arange(1, count * size + 1, dtype=np.int64).reshape(blocks[::-1] + threads[::-1])
    seen = number_elements(np.zeros(array[::-1], np.int64), numbers, variant="coordinates") - 1  # 0: nobody's
    block_of = np.where(seen >= 0, seen // size, -1)
    thread_of = np.where(seen >= 0, seen % size, -1)
    rows = _kinds(block_of, blocks, threads, array)
    title, note = _title(array, blocks, threads), _note(rows, math.prod(array))
    texts = DOCUMENTS, ON_AN_H200, note
    return ThreadMap("thread_map", title, here, COLUMNS, rows, *texts, _draw, blocks, threads, block_of, thread_of)


def _check_limits(
    blocks: tuple[int, ...], threads: tuple[int, ...], array: tuple[int, ...], device: dict[str, Any]
) -> None:
    """The kernel asks for the same, when memory for a number a thread is there: too much of it for some grids."""
    limits, most = device["max_grid"], device["max_threads_per_block"]
    for axis, count, length, grid, block in zip("xyz", blocks, threads, limits, device["max_block_dims"], strict=False):
        if count > grid or length > block or math.prod(threads) > most:
            raise ValueError(
                f"thread_map: {counted(count, 'block')} of {counted(length, 'thread')} along {axis}: this device takes "
                f"{grid} blocks and {block} threads there, and {most} threads a block"
            )
    if max(math.prod(blocks) * math.prod(threads), math.prod(array)) > MOST:
        raise ValueError(
            f"thread_map: {_title(array, blocks, threads)}: it tells of at most {MOST:,} threads and as many elements"
        )


def _lengths(name: str, given: int | Sequence[int]) -> tuple[int, ...]:
    lengths = numbers("thread_map", name, given, ", or None" * (name == "grid"))
    if not lengths or min(lengths) < 1:
        raise ValueError(f"thread_map: {name}={given!r}: lengths are 1 or more")
    return lengths


def _title(array: Sequence[int], blocks: Sequence[int], threads: Sequence[int]) -> str:
    said = (f"{_by(n)} {what}{'s' * (math.prod(n) != 1)}" for n, what in ((array, "element"), (blocks, "block")))
    return f"{', '.join(said)} of {_by(threads)} thread{'s' * (math.prod(threads) != 1)} (x by y by z)"


def _by(lengths: Sequence[int]) -> str:
    return " x ".join(f"{n:,}" for n in lengths)


def _kinds(
    block_of: Array, blocks: tuple[int, ...], threads: tuple[int, ...], array: tuple[int, ...]
) -> tuple[dict[str, Any], ...]:
    """A row a kind. What kind a block is follows from its place; how many of its threads work is what they wrote."""
    size = math.prod(threads)
    at_work = np.bincount(block_of[block_of >= 0], minlength=math.prod(blocks))
    found: dict[str, dict[str, Any]] = {}
    for number, busy in enumerate(at_work.tolist()):
        place = np.unravel_index(number, blocks[::-1])[::-1]
        ends = [(int(at) + 1) * length for at, length in zip(place, threads, strict=True)]
        cut = [edge for edge, end, n in zip(EDGES, ends, array, strict=False) if end > n]
        beyond = any(end - length >= n for end, length, n in zip(ends, threads, array, strict=True))
        kind = "outside" if beyond else "inside" if not cut else _joined(cut)
        row = found.setdefault(
            kind, {"kind": kind, "blocks": 0, "threads": size, "busy": busy, "idle": size - busy, "idle_in_all": 0}
        )
        row["blocks"] += 1
        row["idle_in_all"] += size - busy
    order = ["inside", *(kind for kind in found if kind not in ("inside", "outside")), "outside"]
    return tuple(found[kind] for kind in order if kind in found)


def _joined(edges: list[str]) -> str:
    return " and ".join([*(edge.removesuffix(" edge") for edge in edges[:-1]), edges[-1]])


def _segments(n: int, count: int, length: int) -> list[tuple[str, int, int]]:
    """Along one axis: the threads of blocks inside the array, of the block that its edge cuts, of those outside."""
    inside = min(n // length, count)
    cut = inside + (inside < count and n % length > 0)
    parts = (("inside", 0, inside), ("cut", inside, cut), ("outside", cut, count))
    return [(part, length * first, length * end) for part, first, end in parts if first < end]


def _kind(parts: Sequence[str]) -> str:
    """Of a block, from where it is along x, y, z."""
    cut = [edge for edge, part in zip(EDGES, parts, strict=False) if part == "cut"]
    return "outside" if "outside" in parts else _joined(cut) if cut else "inside"


def _note(rows: Sequence[dict[str, Any]], elements: int) -> str:
    threads, idle = sum(row["blocks"] * row["threads"] for row in rows), sum(row["idle_in_all"] for row in rows)
    missed = elements - threads + idle
    return f"Idle threads: {idle:,} of {threads:,}. Elements without a thread: {missed:,} of {elements:,}."


def _draw(result: Experiment, picture: Picture) -> None:
    """Layer by layer: blocks in the colour of their kind, the array's edge, and what is idle beyond it hatched."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    assert isinstance(result, ThreadMap)
    filled = [1] * (3 - len(result.grid))
    grid, threads, array = ((*lengths, *filled) for lengths in (result.grid, result.threads, result.block.shape[::-1]))
    layers = max(grid[2] * threads[2], array[2])
    colors = dict(zip(dict.fromkeys(row["kind"] for row in result.rows), COLORS, strict=False))
    shown = min(layers, LAYERS)
    rows = 1 if shown <= 3 else 2
    every = picture.subplots(rows, -(-shown // rows), squeeze=False)
    small = _is_small(grid, threads, array, every.shape[1])
    for axes in every.flat[shown:]:
        axes.axis("off")
    for z, axes in enumerate(every.flat[:shown]):
        _draw_layer(axes, z, grid, threads, array, colors)
        _write_numbers(axes, z, result, grid, threads, array, small)
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


def _is_small(grid: Sequence[int], threads: Sequence[int], array: Sequence[int], columns: int) -> bool:
    """There is room for a number in each thread."""
    wide, high = (max(count * length, n) for count, length, n in zip(grid[:2], threads[:2], array[:2], strict=True))
    return wide * high <= NUMBERED and wide * columns <= ACROSS


def _draw_layer(
    axes: Axes, z: int, grid: Sequence[int], threads: Sequence[int], array: Sequence[int], colors: dict[str, str]
) -> None:
    from matplotlib.patches import Rectangle

    def fill(x: int, y: int, x_end: int, y_end: int, **look: Any) -> None:
        if x < x_end and y < y_end:
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), x_end - x, y_end - y, **look))

    (nx, ny, nz), (wide, high, deep) = array, (count * length for count, length in zip(grid, threads, strict=True))
    along_x, along_y, along_z = (_segments(*lengths) for lengths in zip(array, grid, threads, strict=True))
    if z < deep:
        (layer,) = (part for part, first, end in along_z if first <= z < end)
        for part_x, x, x_end in along_x:
            for part_y, y, y_end in along_y:
                fill(x, y, x_end, y_end, fc=colors[_kind((part_x, part_y, layer))], lw=0)
        fill(nx if z < nz else 0, 0, wide, high, **IDLE)
        fill(0, ny, min(nx, wide), high if z < nz else 0, **IDLE)
        if max(grid[:2]) <= OUTLINED:
            axes.vlines([i * threads[0] - 0.5 for i in range(grid[0] + 1)], -0.5, high - 0.5, color="#555555", lw=0.8)
            axes.hlines([i * threads[1] - 0.5 for i in range(grid[1] + 1)], -0.5, wide - 0.5, color="#555555", lw=0.8)
    if z < nz:
        fill(wide if z < deep else 0, 0, nx, ny, **MISSED)
        fill(0, high, min(nx, wide), ny if z < deep else 0, **MISSED)
        fill(0, 0, nx, ny, fill=False, ec="black", lw=2, zorder=3)
    axes.set_xlim(-1, max(wide, nx))
    axes.set_ylim(max(high, ny), -1)  # y grows downwards, as rows do


def _write_numbers(
    axes: Axes,
    z: int,
    result: ThreadMap,
    grid: Sequence[int],
    threads: Sequence[int],
    array: Sequence[int],
    small: bool,
) -> None:
    """Of threads, as they wrote them (the idle ones' by the formula), or of blocks; "?" is an element without one."""
    nx, ny, nz = array
    wide, high, deep = (count * length for count, length in zip(grid, threads, strict=True))
    if small:
        of_thread = result.thread.reshape(array[::-1])
        for y, x in np.ndindex(max(high, ny), max(wide, nx)):
            idle = not (x < nx and y < ny and z < nz)
            number = x % threads[0] + threads[0] * (y % threads[1] + threads[1] * (z % threads[2]))
            if idle and not (x < wide and y < high and z < deep):
                continue
            number = number if idle else int(of_thread[z, y, x])
            color = "#666666" if idle else "black"
            axes.text(x, y, str(number) if number >= 0 else "?", ha="center", va="center", fontsize=5, color=color)
    elif z < deep and max(grid[:2]) <= OUTLINED:
        for y, x in np.ndindex(grid[1], grid[0]):
            number = x + grid[0] * (y + grid[1] * (z // threads[2]))
            middle = (x + 0.5) * threads[0] - 0.5, (y + 0.5) * threads[1] - 0.5
            axes.text(*middle, str(number), ha="center", va="center", fontsize=7)
