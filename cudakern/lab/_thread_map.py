"""thread_map: a picture of which thread of which block processes which element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..arrays.transfer import Array
from ..operations.experiments import thread_map as number_elements
from ._experiment import Experiment, experiment, numbers, plural, report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..measure.plots import Picture

PICTURE = (62, 76)  #: the default shape, in NumPy's order
Lengths: TypeAlias = tuple[int, ...]  #: along x, y, z
MOST = 1 << 26  #: threads, and elements: both have an array of numbers
#: Where a plot has room for numbers of threads: elements per layer, and threads side by side over all panels of a row.
NUMBERED, ACROSS = 600, 100
#: The most layers that a plot shows, and the most blocks along an axis for which it has outlines and numbers of blocks.
LAYERS, OUTLINED = 6, 40
#: The kinds of blocks, inside the array, cut by its edge along x (1), y (2) and z (4), and outside, and their colors.
EDGES = ("right edge", "bottom edge", "right and bottom edge", "back edge", "right and back edge")
KINDS = ("inside", *EDGES, "bottom and back edge", "right and bottom and back edge", "outside")
OUTSIDE = len(KINDS) - 1
COLORS = ("#9ecae1", "#fdd0a2", "#a1d99b", "#dadaeb", "#fcbba1", "#c7e9c0", "#fee391", "#d9d9d9", "#bdbdbd")
IDLE: dict[str, Any] = {"fc": "#ffffffa0", "ec": "#aaaaaa", "hatch": "////", "lw": 0}
MISSED: dict[str, Any] = {"fc": "white", "ec": "#eeb4b4", "hatch": "xx", "lw": 0}


@dataclass(frozen=True, repr=False, kw_only=True)
class ThreadMap(Experiment):
    """The result of ``thread_map``, with the numbers of the ``block`` and ``thread`` that wrote each element.

    Both arrays have the array's shape. Numbers count x first, then y, then z, as in CUDA; -1 marks an element without a
    thread.
    """

    grid: Lengths  #: blocks along x, y, z
    threads: Lengths  #: threads per block along x, y, z
    block: Array
    thread: Array

    def __eq__(self, other: object) -> bool:
        """Compares the two arrays element by element, and the rest, of which grid and threads are in the title."""
        if not isinstance(other, ThreadMap) or not super().__eq__(other):
            return False
        return np.array_equal(self.block, other.block) and np.array_equal(self.thread, other.thread)


@experiment
def thread_map(
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] = (16, 16),
    shape: int | Sequence[int] | None = None,
) -> ThreadMap:
    """Which thread of which block processes which element, in 1, 2 or 3 dimensions, as recorded by a kernel.

    Grid, block and shape have the same number of axes, 1 to 3, within the device's limits, with at most 2**26 threads
    and 2**26 elements. If the grid is too small, such as ``width / 16`` rounded down, some elements have no thread.

    Parameters
    ----------
    grid : int, sequence of int or None
        Blocks along x, y, z, in CUDA's order. None: as many as ``shape`` needs.
    block : int or sequence of int
        Threads per block along x, y, z, in CUDA's order.
    shape : int or sequence of int, optional
        The array's shape in NumPy's order, whose last axis is x: a picture of 76 x 62 pixels has the shape (62, 76).
        Default: the shape that the grid covers; without a grid, (62, 76) if the block has two axes.

    Returns
    -------
    ThreadMap
        One row per kind of block (inside, at an edge, at a corner, outside the array) with its idle threads. ``block``
        and ``thread`` hold the numbers for each element. ``plot()`` draws them, with one color per kind of block and
        hatched idle threads.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.thread_map(None, (16, 16), (62, 76))
    >>> [(row["kind"], row["blocks"], row["idle"]) for row in result.rows]
    [('inside', 12, 0), ('right edge', 3, 64), ('bottom edge', 4, 32), ('right and bottom edge', 1, 88)]
    """
    threads = numbers("thread_map", "block", block, 1)
    array = None if shape is None else numbers("thread_map", "shape", shape, 1)[::-1]  # x first, like grid and block
    if grid is shape is None and len(threads) == len(PICTURE):
        array = PICTURE[::-1]
    if grid is not None:
        blocks = numbers("thread_map", "grid", grid, 1, also=", or None")
    elif array is not None:
        blocks = tuple(-(-n // length) for n, length in zip(array, threads, strict=False))  # enough to cover the array
    else:
        raise ValueError("thread_map: pass a grid, or the shape that the grid must cover")
    if array is None:
        array = tuple(count * length for count, length in zip(blocks, threads, strict=False))
    if not 1 <= len(blocks) == len(threads) == len(array) <= 3:
        axes = f"{len(blocks)}, {len(threads)} and {len(array)}: grid {blocks}, block {threads}, shape {array[::-1]}"
        raise ValueError(f"thread_map: grid, block and shape must have the same number of axes, 1 to 3, not {axes}")
    size, started, elements = math.prod(threads), math.prod(blocks) * math.prod(threads), math.prod(array)
    order = f" ({' by '.join('xyz'[: len(array)])})" if len(array) > 1 else ""
    title = f"{_by(array, 'element')}, {_by(blocks, 'block')} of {_by(threads, 'thread')}{order}"
    if max(started, elements) > MOST:
        raise ValueError(f"thread_map: at most {MOST:,} threads and as many elements are allowed, not {title}")

    one_based = np.arange(1, started + 1, dtype=np.int64).reshape(blocks[::-1] + threads[::-1])
    written = number_elements(np.zeros(array[::-1], np.int64), one_based, variant="coordinates")  # 0: by no thread
    block_of, thread_of = np.where(written > 0, np.divmod(written - 1, size), -1)
    active = np.count_nonzero(written)
    note = f"Idle threads: {started - active:,} of {started:,}."
    note += f" Elements without a thread: {elements - active:,} of {elements:,}."
    kinds = _kinds(blocks, threads, array).ravel()
    busy_threads = np.bincount(block_of[block_of >= 0], minlength=kinds.size)
    rows: list[dict[str, Any]] = []
    for kind, name in enumerate(KINDS):
        of_kind = busy_threads[kinds == kind]
        if count := of_kind.size:  # the blocks of a kind have equally many active threads
            busy, idle = int(of_kind[0]), size - int(of_kind[0])
            row = {"kind": name, "blocks": count, "threads": size, "busy": busy, "idle": idle}
            rows.append(row | {"idle_in_all": count * size - int(of_kind.sum())})
    numbered = {"grid": blocks, "threads": threads, "block": block_of, "thread": thread_of}
    return ThreadMap(**vars(report("thread_map", title, rows, _draw, note)), **numbered)


def _by(lengths: Sequence[int], what: str) -> str:
    return f"{' x '.join(f'{n:,}' for n in lengths)} {what}{'s' * (math.prod(lengths) != 1)}"


def _kinds(blocks: Lengths, threads: Lengths, array: Lengths) -> Array:
    """The kind of each block, as an index of KINDS."""
    kinds = np.zeros(blocks[::-1], np.uint8)
    for axis, (count, length, n) in enumerate(zip(blocks, threads, array, strict=True)):
        ends = length * np.arange(1, count + 1)
        along = np.where(ends - length >= n, OUTSIDE, (ends > n) << axis)
        kinds |= along.astype(np.uint8).reshape(-1, *[1] * axis)
    return np.minimum(kinds, OUTSIDE)


def _draw(result: Experiment, picture: Picture) -> None:
    """Layer by layer: blocks in the color of their kind, the array's edge, and hatched idle threads beyond it."""
    from matplotlib.patches import Patch

    assert isinstance(result, ThreadMap)
    grid, threads, array = _three_axes(result)
    wide, high, layers = (max(count * length, n) for count, length, n in zip(grid, threads, array, strict=True))
    rows = 1 if layers <= 3 else 2
    panels = picture.subplots(rows, -(-min(layers, LAYERS) // rows), squeeze=False)
    small = wide * high <= NUMBERED and wide * panels.shape[1] <= ACROSS  # room for a number in each thread
    kinds = _kinds(grid, threads, array)
    for z, axes in enumerate(panels.flat):
        if z >= layers:
            axes.axis("off")
            continue
        _draw_layer(axes, z, result, kinds, small)
        axes.set_xlim(-0.7, wide - 0.3)
        axes.set_ylim(high - 0.3, -0.7)  # y grows downwards, as rows do
        axes.set_title(f"z = {z}" if layers > 1 else "", fontsize=8)
        axes.set_xlabel("x", fontsize=8)
        axes.tick_params(labelsize=6)
        axes.locator_params(integer=True)
        if len(result.grid) == 1:
            axes.set_yticks([])
            axes.set_box_aspect(0.15)
        else:
            axes.set_ylabel("y", fontsize=8)
            axes.set_aspect("equal")
    labels = {row["kind"]: f"{row['kind']}: {plural(row['blocks'], 'block')}" for row in result.rows}
    legend = [Patch(fc=COLORS[KINDS.index(kind)], label=label) for kind, label in labels.items()]
    if any(row["idle"] for row in result.rows):
        legend.append(Patch(**IDLE, label="idle threads,\nbeyond the array"))
    if np.any(result.block < 0):
        legend.append(Patch(**MISSED, label="elements without\na thread"))
    panels[0, -1].legend(handles=legend, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    words = ["thick line: the array's edge"]
    if max(grid[:2]) <= OUTLINED:
        words.append(f"thin lines: blocks; numbers: {'threads in their block' if small else 'blocks'}")
    if layers > LAYERS:
        words.append(f"the first {LAYERS} of {layers:,} layers")
    picture.supxlabel("; ".join(words), fontsize=8)


def _three_axes(result: ThreadMap) -> list[Lengths]:
    """Lengths of grid, block and array along x, y, z."""
    return [(*lengths, 1, 1)[:3] for lengths in (result.grid, result.threads, result.block.shape[::-1])]


def _draw_layer(axes: Axes, z: int, result: ThreadMap, kinds: Array, small: bool) -> None:
    """Regions, and numbers of blocks or, if ``small``, of threads as they wrote them (for idle threads, computed)."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    def fill(x: int, y: int, x_end: int, y_end: int, **look: Any) -> None:
        if x < x_end and y < y_end:
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), x_end - x, y_end - y, **look))

    def write(x: float, y: float, text: object, size: int, color: str = "black") -> None:
        axes.text(x, y, str(text), ha="center", va="center", fontsize=size, color=color)

    grid, threads, array = _three_axes(result)
    # A layer beyond the grid has no threads, and a layer beyond the array no elements.
    wide, high = (grid[0] * threads[0], grid[1] * threads[1]) if z < grid[2] * threads[2] else (0, 0)
    nx, ny = array[:2] if z < array[2] else (0, 0)
    if wide:
        look: Any = {"cmap": ListedColormap(COLORS), "vmin": 0, "vmax": OUTSIDE, "interpolation": "nearest"}
        axes.imshow(kinds[z // threads[2]], extent=(-0.5, wide - 0.5, high - 0.5, -0.5), aspect="auto", **look)
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
        digits = 7 if wide <= 40 else 5  # the size of the numbers
        thread_of = result.thread.reshape(array[::-1])
        for y, x in np.ndindex(max(high, ny), max(wide, nx)):
            if x < nx and y < ny:
                write(x, y, "?" if thread_of[z, y, x] < 0 else thread_of[z, y, x], digits)
            elif x < wide and y < high:
                number = x % threads[0] + threads[0] * (y % threads[1] + threads[1] * (z % threads[2]))
                write(x, y, number, digits, "#666666")
    elif outlined:
        for y, x in np.ndindex(grid[1], grid[0]):
            number = x + grid[0] * (y + grid[1] * (z // threads[2]))
            write((x + 0.5) * threads[0] - 0.5, (y + 0.5) * threads[1] - 0.5, number, 7)
