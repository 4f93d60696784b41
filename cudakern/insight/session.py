"""The checker's session: the emulator reports to the checker while someone in this process wants it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from . import checker


class Session:
    """There is one, which all checks share: nested ones, and those of several threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  #: held by who launches, so that what is found belongs to that launch
        self._users = self._seen = 0

    @contextlib.contextmanager
    def wanted(self) -> Iterator[None]:
        """Inside ``with``, the emulator reports. RuntimeError if another tool watches it."""
        self.begin()
        try:
            yield
        finally:
            with self.lock:
                self._users -= 1
                if not self._users:
                    checker.end()

    def begin(self) -> None:
        """The emulator reports from now on."""
        with self.lock:
            if not self._users:
                checker.begin()
                self._seen = 0
            self._users += 1

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Inside ``with``, launches run as fast as without a check. Afterwards, all memory counts as written."""
        with self.lock:
            users, self._users = self._users, 0
            if users:
                checker.end()
            try:
                yield
            finally:
                self._users = users
                if users:
                    checker.begin()
                    self._seen = 0

    def found(self) -> list[checker.Found]:
        """What has been found since the last time."""
        new = checker.found(self._seen)
        self._seen += len(new)
        return new


session = Session()


def name_of(function: Any, caller: str) -> str:
    """The name of a function that was passed to ``check`` or ``trace``. TypeError if it is none."""
    if not callable(function):
        instead = f"write {caller}(cudakern.matmul, a, b), not {caller}(cudakern.matmul(a, b))"
        kind = type(function).__name__
        raise TypeError(f"{caller} takes a function and its arguments, not an object of type {kind}: {instead}")
    return str(getattr(function, "label", getattr(function, "__name__", "")))
