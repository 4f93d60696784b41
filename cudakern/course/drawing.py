"""A picture of what a kernel should do: which elements each thread reads, and which ones it writes."""

from __future__ import annotations

import base64
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, groupby, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure, FigureBase
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke

from .._backend import use_backend
from ..insight.trace import Access, record
from ..measure.plots import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .exercise import Exercise

MOST = 32  #: elements of a row, and threads, that are drawn
ROWS = 8  #: of an array that has several
EDGE, FAINT, STRONG, SHADE = "#444444", "#b0b0b0", "#1f5fa8", "#dddddd"
GAP = 0.5  #: between the bands of the picture
HALO = [withStroke(linewidth=2, foreground="white")]  #: around texts, which lines may cross
#: Each shuffle of the first warp notes from which lane a lane reads: that, too, goes through the shuffle.
NOTES = """
__device__ int course_from[32][32], course_count[32];
template <typename T> __device__ T course_noted(T value, int from) {
    if (blockIdx.x == 0 && threadIdx.x < 32) course_from[course_count[threadIdx.x]++ % 32][threadIdx.x] = from;
    return value;
}
""" + "".join(
    f"#define {name}(mask, value, by) course_noted({name}(mask, value, by), {name}(mask, int(threadIdx.x), by))\n"
    for name in ("__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync")
)


@dataclass
class _Cells:
    """An array, or the threads, as a part of a band."""

    name: str
    texts: list[list[str]]  #: of what is drawn, row by row
    begin: int = 0  #: address
    itemsize: int = 1
    columns: int = 1  #: of the array
    shown: Sequence[int] = ()  #: the columns that are drawn; there are gaps between those that are not neighbors
    middles: list[list[float]] = field(default_factory=list)
    bottoms: list[float] = field(default_factory=list)
    height: float = 0.5
    width: float = 0.0
    source: list[int] = field(default_factory=list)  #: of threads after a shuffle: from which lane each one has read

    @property
    def is_shared(self) -> bool:
        return self.name.startswith("shared\n")

    def at(self, index: int) -> tuple[float, float] | None:
        """Middle and bottom of an element's cell, if it is drawn."""
        row, column = divmod(index, self.columns)
        if 0 <= row < len(self.texts) and column in self.shown:
            return self.middles[row][self.shown.index(column)], self.bottoms[row]
        return None

    @property
    def places(self) -> list[int]:
        """Of each column, from the left, with one place for a gap."""
        gaps = accumulate((at > before + 1 for before, at in pairwise(self.shown)), initial=0)
        return [i + gap for i, gap in enumerate(gaps)]

    @property
    def length(self) -> int:
        return self.places[-1] + 1


def draw(exercise: Exercise) -> Picture:
    """Draws the exercise's first launch: the arrays before it, its threads, and the arrays after it. Lines lead from
    the elements that a thread reads to the thread, and from there to those that it writes; those of one thread are
    strong, and its elements shaded. Dashed lines are atomic operations. Bars part the blocks. If there is shared
    memory, that of one block is between: threads write to it above, and read from it below. Of each shuffle of
    the first warp, lines lead from the lanes that are read to those that read them."""
    launch = exercise.launches[0]
    kernel = exercise.compiled(exercise.answer)[exercise.name]
    done, after = record(kernel[launch.grid, launch.block], *launch.arguments()), launch.arguments()
    exercise.numpy(*after)
    names = [declared.split()[-1].lstrip("*") for declared in kernel.parameters]
    blocks, block = int(np.prod(launch.grid)), int(np.prod(launch.block))
    flat = all(x.size == x.shape[-1] for x in launch.inputs if isinstance(x, np.ndarray))
    changed = [i for i, x in enumerate(launch.inputs) if not np.array_equal(x, after[i])]
    steps = _shuffles(exercise)
    has_gaps = flat and not steps
    threads = _ends(blocks, block, MOST // len(changed)) if has_gaps else range(min(blocks * block, MOST))
    numbers = {one.block * block + one.thread for one in done.accesses if one.writes and not one.shared}
    writers = [number for number in threads if number in numbers] or [0]
    middle_one = threads[min(len(threads) // 2 + 1, len(threads) - 1)]
    chosen = middle_one if middle_one in writers else writers[len(writers) // 2]

    def arrays(values: Sequence[Any], writes: bool) -> list[_Cells]:
        touched = {}
        for (_, i), begin in done.arrays.items():
            size = values[i].itemsize
            of = [one for one in done.accesses if not one.shared and 0 <= one.address - begin < values[i].nbytes]
            if any(one.writes == writes for one in of) and (not writes or i in changed):
                some = (one for one in of if one.block * block + one.thread in threads)
                bytes_of = (range(one.address - begin, one.address - begin + one.bytes, size) for one in some)
                touched[i, begin] = sorted({at // size for at in chain(*bytes_of)})
        most = MOST // max(len(touched), 1)
        return [_array(names[i], values[i], begin, at, most) for (i, begin), at in touched.items()]

    shared = [one for one in done.accesses if one.shared and one.block == chosen // block]
    labels = [[str(i % block) for i in threads]]
    rows = [[], *steps, *([[]] if shared else [])]
    middle = [[_Cells("threads", labels, shown=threads, source=source)] for source in rows]
    if shared:
        name = f"shared\nmemory of\nblock {chosen // block}" if blocks > 1 else "shared\nmemory"
        middle.insert(-1, [_tile(name, shared, block, threads)])
    bands = [band for band in (arrays(launch.inputs, False), *middle, arrays(after, True)) if band]
    heights = [max(len(one.texts) * one.height for one in band) for band in bands]
    most = max(one.length for band in bands for one in band)
    count = middle[0][0].length
    each = MOST / (max(count, most) if most < 2 * count else count)  # beside elements, where they are as many

    total = sum(heights) + GAP * (len(bands) - 1) + 0.8
    figure = Picture(figsize=(9, 1.1 * total), layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(-2.6, MOST + 1)
    axes.set_ylim(-0.4, total - 0.4)
    bottom = total - 0.8
    for i, (band, height) in enumerate(zip(bands, heights, strict=True)):
        bottom -= height
        _place(axes, band, bottom, each, count, above=i < len(bands) - 1)
        if band[0].name == "threads" and blocks > 1:  # bars part the blocks
            for place, number, before in zip(band[0].places, threads, [-1, *threads], strict=False):
                if number // block == before // block:
                    continue
                if before >= 0:
                    axes.plot([place * each] * 2, [bottom - 0.07, bottom + height + 0.07], color=EDGE, linewidth=3)
                if band is middle[0]:
                    name, at = f"block {number // block}", (place * each + 0.2, bottom + height + 0.05)
                    axes.text(*at, name, fontsize=7, zorder=3, path_effects=HALO)
        bottom -= GAP
    for upper, lower in pairwise(bands):
        if lower[0].source:
            _connect_lanes(axes, upper[0], lower[0], chosen)
            continue
        to_threads = lower[0].name == "threads"
        line, others = (lower, upper) if to_threads else (upper, lower)
        for one in others:
            of = shared if one.is_shared else [access for access in done.accesses if not access.shared]
            some = [access for access in of if access.writes != to_threads]
            _connect(axes, line[0], one, some, block, chosen, to_threads)
    return figure


def _shuffles(exercise: Exercise) -> list[list[int]]:
    """Of each shuffle of the first warp, from which lane each lane reads; several in a row that read alike are one."""
    if "__shfl" not in exercise.answer:
        return []
    launch, program = exercise.launches[0], exercise.compiled(NOTES + exercise.answer)
    with use_backend("emulator"):
        program[exercise.name][launch.grid, launch.block](*launch.arguments())
        count, sources = max(program.symbol("course_count").get()), program.symbol("course_from").get().tolist()
    return [step for step, _ in groupby(sources[:count])]


def _words(source: Sequence[int]) -> str:
    """From which lanes they read, in short."""
    if len(set(source)) == 1:
        return f"lane {source[0]}"
    others = [(i, at) for i, at in enumerate(source) if i != at]
    by, bits = {at - i for i, at in others}, {i ^ at for i, at in others}
    if len(bits) == 1 and len(others) == len(source):
        return f"lane ^ {min(bits)}"
    return f"lane {'-' if min(by) < 0 else '+'} {abs(min(by))}" if len(by) == 1 else "shuffle"


def _connect_lanes(axes: Axes, upper: _Cells, lower: _Cells, chosen: int) -> None:
    """Draws a line to each lane of the first warp from the one that it reads."""
    for lane, at in enumerate(lower.source[: len(lower.texts[0])]):
        strong = lane == chosen
        ends = (upper.bottoms[0], lower.bottoms[0] + lower.height)
        color, width = (STRONG, 2.0) if strong else (FAINT, 0.7)
        axes.plot(
            [upper.middles[0][at], lower.middles[0][lane]], ends, color=color, linewidth=width, zorder=1.5 + strong / 2
        )


def _ends(blocks: int, block: int, most: int) -> Sequence[int]:
    """All threads of a small launch; of a larger one, the first and the last ones of its first two blocks."""
    if blocks * block <= MOST:
        return range(blocks * block)
    several = min(blocks, 2)
    of_block = _both_ends(range(block), most // several)
    return [number * block + thread for number in range(several) for thread in of_block]


def _both_ends(some: Sequence[int], most: int) -> Sequence[int]:
    return some if len(some) <= most else [*some[: most // 2], *some[-(most // 2) :]]


def _array(name: str, values: Any, begin: int, touched: Sequence[int], most: int) -> _Cells:
    """Of a long one, elements that the threads in the picture access."""
    rows = values.reshape(-1, values.shape[-1])
    columns: Sequence[int] = range(rows.shape[1])
    if len(columns) > MOST:
        columns = _both_ends(touched, most) if len(rows) == 1 else columns[:MOST]
    texts = [[f"{x:.4g}" if x.dtype.kind == "f" else str(x) for x in row[list(columns)]] for row in rows[:ROWS]]
    return _Cells(name, texts, begin, values.itemsize, rows.shape[1], columns, height=0.3 if len(texts) > 1 else 0.5)


def _tile(name: str, accesses: Sequence[Access], block: int, threads: Sequence[int]) -> _Cells:
    """A block's shared memory, whose values are not shown: they change."""
    begin, size = min(one.address for one in accesses), min(one.bytes for one in accesses)
    length = (max(one.address for one in accesses) - begin) // size + 1
    touched = {(one.address - begin) // size for one in accesses if one.block * block + one.thread in threads}
    columns = range(length) if length <= MOST else _both_ends(sorted(touched), MOST)
    return _Cells(name, [[""] * len(columns)], begin, size, length, columns)


def _place(axes: Axes, band: Sequence[_Cells], bottom: float, each: float, threads: int, above: bool) -> None:
    """Draws arrays side by side."""
    count = sum(one.length for one in band) + len(band) - 1
    width = each if threads / 2 < count <= MOST / each else MOST / max(count, 1)
    left = 0.0
    if any(len(one.texts) > 1 for one in band):
        width = min(width, 1.6)
        left = (MOST - count * width) / 2
    for one in band:
        is_threads, rows, one.width = one.name == "threads", len(one.texts), width
        one.bottoms = [bottom + (rows - 1 - i) * one.height for i in range(rows)]
        one.middles = [[left + (place + 0.5) * width for place in one.places]] * rows
        for row, low in zip(one.texts, one.bottoms, strict=True):
            for middle, text in zip(one.middles[0], row, strict=True):
                edge, corner = FAINT if is_threads else EDGE, (middle - width / 2, low)
                axes.add_patch(Rectangle(corner, width, one.height, facecolor="white", edgecolor=edge))
                size = min(9 if rows == 1 else 8, 9 * width / (0.38 * len(text) + 0.04))
                axes.text(
                    middle, low + one.height / 2, text, ha="center", va="center", fontsize=size, path_effects=HALO
                )
            for place, before in zip(one.places[1:], one.places, strict=False):
                if place > before + 1:
                    axes.text(left + (place - 0.5) * width, low + one.height / 2, "…", ha="center", va="center")
            if not is_threads and one.shown[-1] < one.columns - 1:  # the array goes on
                axes.text(left + (one.length + 0.5) * width, low + one.height / 2, "…", ha="center", va="center")
        if is_threads or one.is_shared:
            label = _words(one.source) if one.source else one.name
            axes.text(-0.3, bottom + 0.25, label, ha="right", va="center")
        else:
            at, align = (bottom + rows * one.height + 0.08, "bottom") if above else (bottom - 0.08, "top")
            axes.text(left, at, one.name, ha="left", va=align, fontweight="bold")
        left += (one.length + 1) * width


def _connect(
    axes: Axes, threads: _Cells, one: _Cells, accesses: Iterable[Access], block: int, chosen: int, to_threads: bool
) -> None:
    """Draws a line for each element that a thread accesses."""
    lines = {}
    for access in accesses:
        number = access.block * block + access.thread
        if number in threads.shown:
            for address in range(access.address, access.address + access.bytes, one.itemsize):
                lines[number, (address - one.begin) // one.itemsize] = access.atomic
    for (number, index), atomic in lines.items():
        if cell := one.at(index):
            (x, y), (at, low) = (threads.middles[0][threads.shown.index(number)], threads.bottoms[0]), cell
            ends = (y + threads.height, low) if to_threads else (y, low + one.height)
            strong = number == chosen
            color, zorder = (STRONG, 2) if strong else (FAINT, 1.5)
            style = "--" if atomic else "-"
            axes.plot([x, at], ends, style, color=color, linewidth=2 if strong else 0.7, zorder=zorder)
            if strong:
                left = at - one.width / 2
                axes.add_patch(Rectangle((left, low), one.width, one.height, facecolor=SHADE, edgecolor=EDGE))


# --- in notebooks -----------------------------------------------------------------------------------------------------
#: Of dark themes: of Jupyter, of VS Code and of Colab.
PLOT_STYLE = """<style>
body[data-jp-theme-light="false"] .ck-plot, body.vscode-dark .ck-plot, [theme=dark] .ck-plot {
    filter: invert(0.93) hue-rotate(180deg);
}
</style>"""


def plot_html(figure: Figure) -> str:
    """A plot as an image that is inverted in a dark theme, unless it has a photo."""
    images = [image for axes in figure.axes for image in axes.images]
    photo = any(np.asarray(image.get_array()).ndim == 3 for image in images)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=144, facecolor="none" if photo else "white")
    data = base64.b64encode(stream.getvalue()).decode()
    width = round(figure.get_figwidth() * 84)
    kind = "ck-photo" if photo else "ck-plot"
    return (
        f'{PLOT_STYLE}<img class="{kind}" style="width:{width}px; max-width:100%" src="data:image/png;base64,{data}">'
    )


if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()) is not None:
    # pyplot removes what is registered for Figure itself.
    shell.display_formatter.formatters["text/html"].for_type(FigureBase, plot_html)
