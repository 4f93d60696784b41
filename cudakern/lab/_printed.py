"""Output of printf in kernels, captured for Python, and hello: each thread prints its numbers."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .. import backend, synchronize
from ..calls.checks import integer
from ..operations.experiments import hello as greet
from ._experiment import Experiment, experiment, label_axes, plural, report

if TYPE_CHECKING:
    from ..measure.plots import Picture

_output = threading.Lock()
_owner: int | None = None  #: the thread that captures it


class Printed:
    """The output of kernels in a ``printed()`` block, available once the block has ended."""

    def __init__(self) -> None:
        self._text: str | None = None

    @property
    def text(self) -> str:
        """All output."""
        if self._text is None:
            raise RuntimeError("the text is available after the end of the printed() block, which waits for the device")
        return self._text

    @property
    def lines(self) -> list[str]:
        """The lines, without line ends."""
        return self.text.splitlines()

    def __repr__(self) -> str:
        return "Printed(not ended)" if self._text is None else f"Printed({self._text!r})"


@contextlib.contextmanager
def printed(*, echo: bool = False) -> Iterator[Printed]:
    """Capture the output of ``printf`` in kernels: a context manager that gives Python the lines.

    When the host synchronizes, the output of kernels goes to file descriptor 1, which notebooks do not show and
    ``contextlib.redirect_stdout`` does not catch. ``printed()`` redirects the descriptor to a file during its block,
    and waits for the device at the end. The descriptor belongs to the whole process, so output of other threads, C
    libraries and Python itself is captured too. If several threads use ``printed()``, their blocks run one after the
    other. A device keeps only the newest 1 MiB of text, approximately.

    Parameters
    ----------
    echo : bool
        Also write the text to ``sys.stdout`` when the block ends, so that a notebook shows it.

    Yields
    ------
    Printed
        Has ``text`` and ``lines`` once the block has ended.

    Raises
    ------
    RuntimeError
        A ``printed()`` block inside another.
    CudaError
        A kernel failed. Standard output is restored.

    Examples
    --------
    >>> import numpy as np
    >>> from cudakern import lab
    >>> from cudakern.operations.experiments import hello
    >>> with lab.printed() as out:
    ...     numbers = hello(np.zeros(2, np.int32), variant="greeting", lines=2)
    >>> sorted(out.lines)
    ['Hello from block 0, thread 0', 'Hello from block 0, thread 1']
    """
    global _owner
    if _owner == threading.get_ident():
        raise RuntimeError("printed() inside printed(): blocks cannot be nested, since there is one standard output")
    with _output:
        _owner = threading.get_ident()
        try:
            result = Printed()
            with tempfile.TemporaryFile() as file:
                with _into(file.fileno()):
                    yield result
                file.seek(0)
                result._text = file.read().decode(errors="replace")
        finally:
            _owner = None
    if echo and sys.stdout is not None:
        sys.stdout.write(result.text)
        sys.stdout.flush()


@contextlib.contextmanager
def _into(descriptor: int) -> Iterator[None]:
    """Redirects standard output to the descriptor; buffers are flushed before and after."""
    with contextlib.ExitStack() as at_end:
        _settle()
        try:
            before = os.dup(1)
        except OSError:  # the process has no standard output
            at_end.callback(os.close, 1)
        else:
            at_end.callback(os.close, before)
            at_end.callback(os.dup2, before, 1)
        os.dup2(descriptor, 1)
        at_end.callback(_settle)
        yield


def _settle() -> None:
    """Flushes the buffers of the device, of C and of Python."""
    try:
        synchronize()
    finally:
        backend().native.flush_output()
        if sys.stdout is not None:
            sys.stdout.flush()


LINE = re.compile(r"Hello from block (\d+), thread (\d+)")


@experiment
def hello(blocks: int = 1, threads: int = 4) -> Experiment:
    """Start threads that each print their block and their number, and show the lines in order of arrival.

    The lines are captured by ``printed()``; call hello outside such a block.

    Parameters
    ----------
    blocks, threads : int
        The number of blocks, and of threads per block; at most 16,384 threads in all.

    <returns>
        One row per line: its text, and the block and thread that it names.

    Examples
    --------
    >>> from cudakern import lab
    >>> sorted(lab.hello(blocks=1, threads=4)["thread"])
    [0, 1, 2, 3]
    """
    blocks, threads = integer("hello: blocks", blocks, 1), integer("hello: threads", threads, 1)
    count = integer("hello: blocks * threads", blocks * threads, 1, 16_384)  # lines for which a device has a buffer
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
    return report("hello", title, rows, _draw)


def _draw(result: Experiment, picture: Picture) -> None:
    """One point per line: its order of arrival and its thread, colored by block."""
    axes = picture.subplots()
    blocks = result["block"]
    axes.scatter(range(1, len(blocks) + 1), result["thread"], c=blocks, cmap="tab20", s=12 if len(blocks) > 100 else 40)
    order = "line, in order of arrival" + ("; colors: blocks" if max(blocks) else "")
    label_axes(axes, order, "thread in its block")
    axes.locator_params(integer=True)
