"""thread_map: a picture of which thread of which block has which element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _display
from .._backend import backend
from .._operations.thread_map import thread_map as number_elements
from .._transfer import Array
from ._experiment import Column, Experiment
from ._sizes import numbers
from ._words import counted, verdict

if TYPE_CHECKING:
    from .._plots import Picture

DOCUMENTS = (
    "P4 to P7: 76 x 62 pixels in blocks of 16 x 16 start 80 x 64 threads, 4 columns and 2 rows too many, and blocks "
    "come in four kinds"
)
#: Those pixels and blocks, x first; the 80 x 64 threads.
PICTURE, STARTED = ((76, 62), (16, 16)), 80 * 64
#: Where a block ends beyond the array: along x, y, z.
EDGES = ("right edge", "bottom edge", "back edge")
#: More elements a layer than this, and a picture has no numbers of threads; more layers, and it shows the first ones.
NUMBERED, LAYERS = 600, 6

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

    block: Array = field(default_factory=lambda: np.empty(0, np.int64))
    thread: Array = field(default_factory=lambda: np.empty(0, np.int64))


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
        ``thread`` hold the numbers of each element, and ``plot()`` draws them.

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
        blocks = _covering(array, threads)
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
    return ThreadMap(
        name="thread_map",
        title=_title(array, blocks, threads),
        backend=here,
        columns=COLUMNS,
        rows=rows,
        finding=_finding(rows, math.prod(array)),
        documents=DOCUMENTS,
        verdict=_verdict(rows) if _title(array, blocks, threads) == OF_THE_PICTURE else "",
        here="Blocks and threads have the same numbers on the emulator and on a GPU: only when they run differs.",
        draw=_draw,
        block=block_of,
        thread=thread_of,
    )


def _covering(array: Sequence[int], threads: Sequence[int]) -> tuple[int, ...]:
    """Blocks that are enough for that array."""
    return tuple(-(-n // length) for n, length in zip(array, threads, strict=False))


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


#: The title of the experiment that shows the documents' picture.
OF_THE_PICTURE = _title(PICTURE[0], _covering(*PICTURE), PICTURE[1])


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


def _threads(rows: Sequence[dict[str, Any]]) -> int:
    return sum(row["blocks"] * row["threads"] for row in rows)


def _finding(rows: Sequence[dict[str, Any]], elements: int) -> str:
    idle, threads = sum(row["idle_in_all"] for row in rows), _threads(rows)
    missed = elements - (threads - idle)
    said = f"{counted(threads, 'thread')} for {counted(elements, 'element')}: "
    if idle:
        said += f"{idle:,} of them {'is' if idle == 1 else 'are'} idle ({idle / threads:.1%})"
    else:
        said += "it has an element" if threads == 1 else "all of them have an element"
    if missed:
        said += f", and {counted(missed, 'element')} {'has' if missed == 1 else 'have'} no thread, since the grid ends "
        said += "before the array"
    return said + "."


def _verdict(rows: Sequence[dict[str, Any]]) -> str:
    threads = _threads(rows)
    claims = {f"the picture takes 80 x 64 threads ({threads:,})": threads == STARTED}
    claims[f"blocks come in four kinds ({', '.join(row['kind'] for row in rows)})"] = len(rows) == 4
    return verdict(claims)


def _draw(result: Experiment, picture: Picture) -> None:
    assert isinstance(result, ThreadMap)
    layers = result.block.reshape((-1, *result.block.shape[-2:])) if result.block.ndim > 1 else result.block[None, None]
    threads = result.thread.reshape(layers.shape)
    shown = layers[:LAYERS]
    every = picture.subplots(1, len(shown), squeeze=False)[0]
    for z, (axes, blocks) in enumerate(zip(every, shown, strict=True)):
        # Neighbouring blocks differ in colour; elements without a thread are white.
        axes.imshow(np.ma.masked_less(blocks, 0) * 7 % 20, cmap="tab20", vmin=0, vmax=19, aspect="equal")
        if blocks.size <= NUMBERED:
            for (y, x), thread in np.ndenumerate(threads[z]):
                axes.text(x, y, str(thread) if thread >= 0 else "?", ha="center", va="center", fontsize=5)
        else:
            for number in np.unique(blocks[blocks >= 0]).tolist():
                y, x = np.argwhere(blocks == number).mean(axis=0)
                axes.text(x, y, str(number), ha="center", va="center", fontsize=7)
        axes.set_title(f"z = {z}" if len(layers) > 1 else "", fontsize=8)
        axes.set_xlabel("x", fontsize=8)
        axes.set_ylabel("y" if result.block.ndim > 1 else "", fontsize=8)
        axes.tick_params(labelsize=6)
        if result.block.ndim == 1:
            axes.set_yticks([])
    words = "numbers: of the thread in its block" if shown[0].size <= NUMBERED else "numbers: of the block"
    left_out = f"; {_display.figure(len(layers))} layers, the first {LAYERS}" if len(layers) > LAYERS else ""
    picture.supxlabel(f"a colour a block; {words}{left_out}", fontsize=8)
