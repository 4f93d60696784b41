"""hello: P's first program. Threads say who they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from .._backend import backend
from .._operations._experiments import hello as greet
from ._experiment import Column, Experiment, counted, documents, named
from ._printed import printed
from ._sizes import number

if TYPE_CHECKING:
    from .._plots import Picture

#: What fits a device's buffer of 1 MiB with room to spare, and a reader's patience without.
MOST = 16_384
LINE = re.compile(r"Hello from block (\d+), thread (\d+)")

DOCUMENTS = "P: one block of one thread prints one line; one block of four threads prints four, from thread 0 to 3"
ON_AN_H200 = (
    "Four threads of one block printed their lines in the order of their numbers, 0 to 3. Nothing promises that order."
)


@documents
def hello(blocks: int = 1, threads: int = 4) -> Experiment:
    """Start so many threads, each of which prints who it is, and show the lines in the order in which they came.

    Parameters
    ----------
    blocks, threads : int
        How many blocks, and how many threads in each; at most 16,384 threads in all.

    Returns
    -------
    Experiment
        A row a line: its text, and the block and thread that it names. P's first program.

    <raises>
    RuntimeError
        A thread did not print its line, or its number did not arrive; inside of ``printed()``, which it uses itself.

    Examples
    --------
    >>> from cudakern import lab
    >>> result = lab.hello(blocks=1, threads=4)
    >>> sorted(row["thread"] for row in result.rows)
    [0, 1, 2, 3]
    """
    here = backend()
    blocks, threads = number("hello", "blocks", blocks), number("hello", "threads", threads)
    if blocks < 1 or threads < 1 or blocks * threads > MOST:
        raise ValueError(
            f"hello: {blocks} blocks of {threads} threads: it takes 1 or more of each, and at most {MOST:,}"
        )
    count = blocks * threads
    with printed() as out:
        numbers = greet(np.zeros(count, np.int32), variant="greeting", threads=threads, lines=count)
    greetings = filter(None, map(LINE.fullmatch, out.lines))
    rows = tuple({"line": line[0], "block": int(line[1]), "thread": int(line[2])} for line in greetings)
    pairs = sorted((row["block"], row["thread"]) for row in rows)
    if pairs != [(b, t) for b in range(blocks) for t in range(threads)]:
        raise RuntimeError(f"hello: {count} threads ran, and {len(set(pairs))} of them were heard")
    if not np.array_equal(numbers, np.arange(count)):
        raise RuntimeError("hello: the numbers that the threads wrote are not theirs")
    title = f"{counted(blocks, 'block')} of {counted(threads, 'thread')}"
    columns = (Column("line", "line"), Column("block", "block"), Column("thread", "thread"))
    return Experiment("hello", title, here, columns, rows, DOCUMENTS, ON_AN_H200, draw=_draw)


def _draw(result: Experiment, picture: Picture) -> None:
    """A point a line: when it came, and whose it is, a colour a block."""
    from matplotlib.ticker import MaxNLocator

    axes = picture.subplots()
    blocks = result["block"]
    axes.scatter(range(1, len(blocks) + 1), result["thread"], c=blocks, cmap="tab20", s=12 if len(blocks) > 100 else 40)
    order = "line, in the order in which they came" + ("; a colour a block" if max(blocks) else "")
    named(axes, order, "thread, in its block", legend=False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
