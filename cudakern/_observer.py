"""Who looks at calls. profile() and kernel_resources() put an Observer in ``observer``, and every call asks it.

An observer decides how a kernel's call is carried out: measured, or listed instead of run.
"""

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

    @property
    def _call(self) -> tuple[str, str, tuple[int, ...], tuple[Any, ...], tuple[Any, ...], int]:
        return self.variant.operation, self.variant.name, self.values, self.inputs, self.outputs, self.device

    def execute(self, measure: int = 0) -> dict[str, Any] | None:
        """Makes the call; 1: measured, with a report; 2: with the time of each launch."""
        return self.native.execute(*self._call, measure, self.stream)

    def launches(self, sweep: tuple[tuple[int, int], ...]) -> tuple[dict[str, Any], ...]:
        """What the call would launch; nothing runs."""
        return self.native.kernels(*self._call, sweep)


class Observer:
    """Looks at every call of an operation in its context, and carries it out."""

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
