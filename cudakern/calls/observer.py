"""Observers of calls: profile() and kernel_resources() set ``observer``, and every call passes through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from .._native import Native, Operation, Set
from ..arrays.layout import Shape
from .table import Variant

Result = TypeVar("Result")
AnObserver = TypeVar("AnObserver", bound="Observer")

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

    mode = "plain"  #: of the sets in which kernels of one's own are compiled for the emulator

    def kernel(self, run: Observed) -> None:
        run.execute()

    def numpy(
        self, variant: Variant, inputs: tuple[Any, ...], compute: Callable[[], Result], counted: Callable[..., Any]
    ) -> Result:
        """A call of NumPy's variant. ``counted`` gives, from the inputs' shapes, those that its work is counted by."""
        return compute()


observer: ContextVar[Observer | None] = ContextVar("cudakern_observer", default=None)


@contextmanager
def observed(by: AnObserver) -> Iterator[AnObserver]:
    """Inside ``with``, this context's calls go to that observer."""
    token = observer.set(by)
    try:
        yield by
    finally:
        observer.reset(token)
