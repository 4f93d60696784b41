"""What kernels print, for Python: on either side it goes to the process's standard output when the host waits."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator

from .._backend import backend
from .._streams import synchronize

_output = threading.Lock()
_owner: int | None = None  #: the thread that has it


class Printed:
    """What was printed inside a ``printed()`` block, once it has ended."""

    def __init__(self) -> None:
        self._text: str | None = None

    @property
    def text(self) -> str:
        """All of it."""
        if self._text is None:
            raise RuntimeError("the text is there when the printed() block has ended, and the device was waited for")
        return self._text

    @property
    def lines(self) -> list[str]:
        """Line by line, without line ends."""
        return self.text.splitlines()

    def __repr__(self) -> str:
        return "Printed(not ended)" if self._text is None else f"Printed({self._text!r})"


@contextlib.contextmanager
def printed(*, echo: bool = False) -> Iterator[Printed]:
    """Catch what kernels print: a context manager that gives their lines to Python.

    A synchronisation brings what kernels print to the process's standard output, file descriptor 1, which a notebook
    does not show and ``contextlib.redirect_stdout`` does not see. This directs the descriptor to a file while its block
    runs, and waits for the device at the block's end.

    Parameters
    ----------
    echo : bool
        Write the text to ``sys.stdout`` when the block ends, so that a notebook shows it.

    Yields
    ------
    Printed
        ``text`` and ``lines``, once the block has ended.

    Raises
    ------
    RuntimeError
        One block inside another.
    CudaError
        A kernel failed; standard output is as before then.

    Notes
    -----
    The descriptor is the whole process's: what other threads, C libraries or Python itself write there meanwhile is
    caught too. Blocks of two threads come one after the other. A device keeps about 1 MiB of text, the newest.

    Examples
    --------
    >>> import numpy as np
    >>> from cudakern import lab
    >>> from cudakern._operations._experiments import hello
    >>> with lab.printed() as out:
    ...     numbers = hello(np.zeros(2, np.int32), variant="greeting", lines=2)
    >>> sorted(out.lines)
    ['Hello from block 0, thread 0', 'Hello from block 0, thread 1']
    """
    global _owner
    if _owner == threading.get_ident():
        raise RuntimeError("printed() inside printed(): standard output can be caught once at a time")
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
    """Standard output goes there; what is on its way at either end goes where it belongs."""
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
    """The device's buffer, C's and Python's are empty then."""
    try:
        synchronize()
    finally:
        backend().native.flush_output()
        if sys.stdout is not None:
            sys.stdout.flush()
