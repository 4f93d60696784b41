"""hello: a first program, in which each thread prints its block and its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from .._operations._experiments import hello as greet
from ._experiment import Column, Experiment, experiment, label_axes, number, plural, report
from ._printed import printed

if TYPE_CHECKING:
    from .._plots import Picture

LINE = re.compile(r"Hello from block (\d+), thread (\d+)")


@experiment(
    Column("line", "line"),
    Column("block", "block"),
    Column("thread", "thread"),
    claim="P4: one block of one thread prints one line; one block of four threads prints four, from thread 0 to 3",
    on_an_h200="Four threads of one block printed their lines in the order of their numbers, 0 to 3. CUDA does not "
    "guarantee it.",
)
def hello(blocks: int = 1, threads: int = 4) -> Experiment:
    """Start threads that each print their block and their number, and show the lines in order of arrival.

    The lines are captured by ``printed()``; call hello outside such a block.

    Parameters
    ----------
    blocks, threads : int
        The number of blocks, and of threads per block; at most 16,384 threads in all.

    <returns>
        One row per line: its text, and the block and thread that it names.

    <raises>

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(lab.hello(blocks=1, threads=4)["thread"])
    [0, 1, 2, 3]
    """
    blocks, threads = number("hello", "blocks", blocks), number("hello", "threads", threads)
    count = number("hello", "blocks * threads", blocks * threads, 16_384)  # lines for which a device has a buffer
    with printed() as out:
        numbers = greet(np.zeros(count, np.int32), variant="greeting", threads=threads, lines=count)
    greetings = filter(None, map(LINE.fullmatch, out.lines))
    rows = tuple({"line": line[0], "block": int(line[1]), "thread": int(line[2])} for line in greetings)
    pairs = sorted((row["block"], row["thread"]) for row in rows)
    if pairs != [(b, t) for b in range(blocks) for t in range(threads)]:
        raise RuntimeError(f"hello: {count} threads ran, but {len(set(pairs))} lines arrived")
    if not np.array_equal(numbers, np.arange(count)):
        raise RuntimeError("hello: the threads wrote wrong numbers")
    title = f"{plural(blocks, 'block')} of {plural(threads, 'thread')}"
    return report("hello", title, rows, draw=_draw)


def _draw(result: Experiment, picture: Picture) -> None:
    """One point per line: its order of arrival and its thread, colored by block."""
    axes = picture.subplots()
    blocks = result["block"]
    axes.scatter(range(1, len(blocks) + 1), result["thread"], c=blocks, cmap="tab20", s=12 if len(blocks) > 100 else 40)
    order = "line, in order of arrival" + ("; colors: blocks" if max(blocks) else "")
    label_axes(axes, order, "thread in its block", legend=False)
    axes.locator_params(integer=True)
