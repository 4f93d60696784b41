"""Who looks at calls. profile() and kernel_resources() put an Observer in ``observer``, and every call asks it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from ._layout import Shape
from ._native import Native
from ._table import Variant

Result = TypeVar("Result")
Someone = TypeVar("Someone", bound="Observer")


class Run(NamedTuple):
    """A kernel's call: host arrays or Views, as the C module takes them."""

    native: Native
    device: int
    variant: Variant
    values: tuple[int, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    stream: int
    dtype: str  #: of the inputs

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Of the inputs. (bfloat16 in host memory is a pair of bits and a name.)"""
        return tuple((x[0] if isinstance(x, tuple) else x).shape for x in self.inputs)

    def execute(self, measure: int = 0) -> dict[str, Any] | None:
        """Makes the call; 1: measured, with a report; 2: with the time of each launch."""
        name, arrays = (self.variant.operation, self.variant.name), (self.inputs, self.outputs)
        return self.native.execute(*name, self.values, *arrays, self.device, measure, self.stream)

    def launches(self, sweep: tuple[tuple[int, int], ...]) -> tuple[dict[str, Any], ...]:
        """What the call would launch; nothing runs."""
        name, arrays = (self.variant.operation, self.variant.name), (self.inputs, self.outputs)
        return self.native.kernels(*name, self.values, *arrays, self.device, sweep)


class Observer:
    """Looks at every call of an operation in its context, and carries it out: measured, or listed instead of run."""

    def kernel(self, run: Run) -> None:
        """A kernel's call."""
        run.execute()

    def numpy(
        self, variant: Variant, inputs: tuple[Any, ...], compute: Callable[[], Result], counted: Callable[..., Any]
    ) -> Result:
        """A call of NumPy's variant. ``counted`` gives, from the inputs' shapes, those that its work is counted by."""
        return compute()


#: None: nobody looks.
observer: ContextVar[Observer | None] = ContextVar("cudakern_observer", default=None)


@contextmanager
def observed(by: Someone) -> Iterator[Someone]:
    """Inside ``with``, this context's calls are that observer's."""
    token = observer.set(by)
    try:
        yield by
    finally:
        observer.reset(token)
