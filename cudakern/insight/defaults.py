"""What is checked without being asked for: all launches with CUDAKERN_CHECK=1, and small ones of kernels of cells."""

from __future__ import annotations

import contextlib
import os
import warnings

from .._backend import emulator
from .._native import Native
from ..calls.observer import CHECK, Observed, Observer, observed, of_process
from ..own.compile import Checked
from .check import Checking
from .session import session

#: A launch of a cell's kernel is checked if it has at most so many threads. With so many, y[i] = x[i] + 1 takes 0.04 s,
#: sums of blocks in shared memory 0.1 s, and a product of 256 x 256 matrices, one thread per element, 0.6 s.
SMALL = 1 << 16


def asked() -> bool | None:
    """What CUDAKERN_CHECK says; None: nothing. ValueError for other values than 0 and 1."""
    value = os.environ.get(CHECK, "").strip()
    if value not in ("", "0", "1"):
        raise ValueError(f"{CHECK} must be 1 (check all launches on the emulator) or 0 (check none), not {value!r}")
    return bool(int(value)) if value else None


# --- CUDAKERN_CHECK=1 -------------------------------------------------------------------------------------------------
class _OfProcess(Checking):
    """As inside checking(), but launches on a GPU run there, unchecked."""

    def __init__(self) -> None:
        super().__init__(raises=True)
        self._has_warned = False

    @property
    def mode(self) -> str:
        asked()
        return super().mode

    def observes(self, native: Native) -> bool:
        return native is emulator()

    def kernel(self, run: Observed) -> None:
        asked()
        if self.observes(run.native):
            super().kernel(run)
            return
        if not self._has_warned:
            self._has_warned = True
            there = "CUDAKERN_BACKEND=emulator runs them where they are checked"
            warnings.warn(f"{CHECK}=1 does not check launches on a GPU: {there}", RuntimeWarning, stacklevel=2)
        run.execute()


def check_process() -> None:
    """Checks all launches of the process that nothing else observes. Memory that is allocated from now on counts as
    not written."""
    if of_process is not None:
        of_process.to = _OfProcess()
        with contextlib.suppress(ValueError):  # which the first launch raises
            if asked():
                session.begin()


# --- %%cuda -----------------------------------------------------------------------------------------------------------
def of_cells() -> Checked | None:
    """How launches of the kernels of cells are checked. ValueError for a malformed CUDAKERN_CHECK."""
    return None if asked() is False else Checked(_OfCells(), SMALL)


class _OfCells(Observer):
    """Checks one launch. A finding is an error."""

    @property
    def mode(self) -> str:
        return "checked"

    def kernel(self, run: Observed) -> None:
        with contextlib.ExitStack() as until_checked:
            try:
                until_checked.enter_context(session.wanted())
            except RuntimeError:  # another tool watches the emulator
                run.execute()
                return
            until_checked.enter_context(observed(Checking(raises=True))).kernel(run)
