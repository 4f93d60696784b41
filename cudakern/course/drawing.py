"""A picture of what a kernel should do: which elements each thread reads, and which ones it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.patches import Rectangle

from ..insight.trace import Access, record
from ..measure.plots import Picture
from ..own.compile import compile as compile_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .exercise import Exercise

MOST = 32  #: elements of an array, and threads, that are drawn
EDGE, FAINT, STRONG = "#444444", "#b0b0b0", "#1f5fa8"
READ, THREADS, WRITTEN = 2.0, 1.0, 0.0  #: heights of the rows


class _Array(NamedTuple):
    name: str
    begin: int  #: address
    before: Any
    after: Any


def draw(exercise: Exercise) -> Picture:
    """Draws the exercise's first launch: the arrays before it, its threads, and the arrays after it. Lines lead from
    the elements that a thread reads to the thread, and from there to those that it writes; those of one thread are
    strong. Bars part the blocks."""
    launch = exercise.launches[0]
    kernel = compile_source(exercise.answer, name=f"{exercise.name}.cu")[exercise.name]
    done, after = record(kernel[launch.grid, launch.block], *launch.arguments()), launch.arguments()
    exercise.numpy(*after)
    names = [declared.split()[-1].lstrip("*") for declared in kernel.parameters]
    arrays = [_Array(names[i], begin, launch.inputs[i], after[i]) for (_, i), begin in done.arrays.items()]
    accesses = [one for one in done.accesses if not one.shared]
    figure = Picture(figsize=(9, 3.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(-2.6, MOST + 1)
    axes.set_ylim(-0.9, 2.9)
    _draw(axes, arrays, accesses, int(np.prod(launch.grid)), int(np.prod(launch.block)))
    return figure


def _draw(axes: Axes, arrays: Sequence[_Array], accesses: Sequence[Access], blocks: int, block: int) -> None:
    threads = min(blocks * block, MOST)
    chosen = threads // 2 + 1 if threads > 2 else 0
    most = max(min(one.before.size, MOST) for one in arrays)
    each = MOST / (max(threads, most) if most < 2 * threads else threads)  # beside elements, where they are as many
    middle = _row(axes, THREADS, "threads", [str(i % block) for i in range(threads)], each, FAINT)
    for first in range(block, threads, block):
        at = first * each
        axes.plot([at, at], [THREADS - 0.32, THREADS + 0.32], color=EDGE, linewidth=3)
    for height, writes in ((READ, False), (WRITTEN, True)):
        some = [one for one in arrays if not writes or not np.array_equal(one.before, one.after)]
        some = [one for one in some if any(_inside(one, x) and x.writes == writes for x in accesses)]
        widths = [min(one.before.size, MOST) for one in some]
        begin, count = 0.0, max(sum(widths) + len(some) - 1, 1)
        room = each if threads / 2 < count <= MOST / each else MOST / count
        for one, width in zip(some, widths, strict=True):
            values = np.ravel(one.after if writes else one.before)[:width]
            cells = _row(axes, height, one.name, [f"{x:.4g}" for x in values], room, EDGE, begin)
            for access in accesses:
                at = (access.address - one.begin) // one.before.itemsize
                number = access.block * block + access.thread
                if not _inside(one, access) or access.writes != writes or at >= width or number >= threads:
                    continue
                ends = (THREADS + 0.25, height - 0.25) if height > THREADS else (THREADS - 0.25, height + 0.25)
                strong = number == chosen
                color, zorder = (STRONG, 2) if strong else (FAINT, 1)
                axes.plot([middle[number], cells[at]], ends, color=color, linewidth=2 if strong else 0.7, zorder=zorder)
            begin += (width + 1) * room


def _row(
    axes: Axes, height: float, name: str, cells: Sequence[str], width: float, color: str, begin: float = 0.0
) -> list[float]:
    """Draws cells side by side; where their middles are."""
    for i, text in enumerate(cells):
        axes.add_patch(Rectangle((begin + i * width, height - 0.25), width, 0.5, facecolor="white", edgecolor=color))
        size = min(9, 9 * width / (0.42 * max(len(text), 1)))
        axes.text(begin + (i + 0.5) * width, height, text, ha="center", va="center", fontsize=size)
    above = 0.36 if height >= THREADS else -0.36
    if begin or height != THREADS:
        axes.text(begin, height + above, name, ha="left", va="bottom" if above > 0 else "top", fontweight="bold")
    else:
        axes.text(-0.3, height, name, ha="right", va="center")
    return [begin + (i + 0.5) * width for i in range(len(cells))]


def _inside(array: _Array, access: Access) -> bool:
    return 0 <= access.address - array.begin < int(array.before.nbytes)
