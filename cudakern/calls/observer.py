"""Observers of calls: profile(), kernel_resources() and check() set ``observer``, and every call passes through it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from .._native import Native, Operation, Set
from ..arrays.layout import Shape
from .table import Variant

Result = TypeVar("Result")
AnObserver = TypeVar("AnObserver", bound="Observer | None")

#: Gives the set whose kernels calls run, in place of the package's prebuilt one: own/sets.py. It concerns all calls of
#: the process; an observer chooses a set for one call by ``run._replace(set=...)``.
choose_set: Callable[[Native, Variant], Set | None] | None = None


class Run(NamedTuple):
    """A kernel's call, with host arrays or Views as the C module takes them."""

    native: Native
    device: int
    variant: Variant
    values: tuple[int, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    stream: int
    dtype: str  #: of the inputs
    set: Set | None = None  #: whose kernels run; None: the package's prebuilt one

    @property
    def names(self) -> tuple[Operation, str]:
        """Of operation and variant, as C takes them."""
        chosen, operation = self.set, self.variant.operation
        if chosen is None and choose_set is not None:
            chosen = choose_set(self.native, self.variant)
        return operation if chosen is None else (chosen, operation), self.variant.name

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Of the inputs. (bfloat16 in host memory is a pair of an array and a name.)"""
        return tuple((x[0] if isinstance(x, tuple) else x).shape for x in self.inputs)

    def execute(self, measure: int = 0) -> dict[str, Any] | None:
        """Makes the call; ``measure``: 1 returns a report, 2 adds the time of each launch."""
        arrays = self.inputs, self.outputs
        return self.native.execute(*self.names, self.values, *arrays, self.device, measure, self.stream)

    def launches(self, sweep: tuple[tuple[int, int], ...]) -> tuple[dict[str, Any], ...]:
        """The launches that the call would make; nothing runs."""
        return self.native.kernels(*self.names, self.values, self.inputs, self.outputs, self.device, sweep)


class Observed(Protocol):
    """What an observer receives: a Run, or the launch of a kernel of one's own (own/compile.py)."""

    @property
    def native(self) -> Native: ...
    @property
    def device(self) -> int: ...
    @property
    def variant(self) -> Variant: ...
    @property
    def values(self) -> tuple[int, ...]: ...
    @property
    def shapes(self) -> tuple[Shape, ...]: ...
    @property
    def dtype(self) -> str: ...
    def execute(self, measure: int = 0) -> dict[str, Any] | None: ...
    def launches(self, sweep: tuple[tuple[int, int], ...]) -> tuple[dict[str, Any], ...]: ...


class Observer:
    """Receives every call of an operation in its context, and runs, measures or lists it."""

    @property
    def mode(self) -> str:
        """Of the sets in which kernels of one's own are compiled for the emulator."""
        return "plain"

    def observes(self, native: Native) -> bool:
        """Whether it needs to see the launches on that backend, each as a whole."""
        return True

    def kernel(self, run: Observed) -> None:
        run.execute()

    def numpy(
        self, variant: Variant, inputs: tuple[Any, ...], compute: Callable[[], Result], counted: Callable[..., Any]
    ) -> Result:
        """A call of NumPy's variant. ``counted`` gives, from the inputs' shapes, those that its work is counted by."""
        return compute()

    def replaced(self, by: Observer | None) -> AbstractContextManager[object]:
        """What it does while another observer, or none, takes its place."""
        return nullcontext()


class OfProcess(Observer):
    """The observer of calls that no other one observes: another one, which is set later."""

    to: Observer = Observer()

    @property
    def mode(self) -> str:
        return self.to.mode

    def observes(self, native: Native) -> bool:
        return self.to.observes(native)

    def kernel(self, run: Observed) -> None:
        self.to.kernel(run)

    def replaced(self, by: Observer | None) -> AbstractContextManager[object]:
        return self.to.replaced(by)


#: 1: all launches of the process on the emulator are checked (insight/defaults.py).
CHECK = "CUDAKERN_CHECK"
of_process = OfProcess() if os.environ.get(CHECK, "").strip() not in ("", "0") else None
observer: ContextVar[Observer | None] = ContextVar("cudakern_observer", default=of_process)


@contextmanager
def observed(by: AnObserver) -> Iterator[AnObserver]:
    """Inside ``with``, this context's calls go to that observer. ``Observer()`` runs them in the plain set."""
    before, token = observer.get(), observer.set(by)
    try:
        with nullcontext() if before is None else before.replaced(by):
            yield by
    finally:
        observer.reset(token)


def unobserved() -> AbstractContextManager[object]:
    """Inside ``with``, this context's calls take the shortest way, as for times."""
    return nullcontext() if observer.get() is None else observed(None)
