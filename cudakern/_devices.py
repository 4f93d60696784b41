"""Devices: which there are, and which one this context's calls go to."""

from __future__ import annotations

import contextlib
import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

from . import _backend, _display
from ._native import Native


class Memory(NamedTuple):
    """Bytes of a device's memory."""

    free: int
    total: int


@dataclass(frozen=True, slots=True, repr=False)
class Device:
    """One device of a backend: ``backend`` ("cuda" or "emulator") and ``index``. ``devices()`` lists them."""

    backend: str
    index: int

    @property
    def _native(self) -> Native:
        return _backend.native_of(self.backend)

    @property
    def properties(self) -> dict[str, Any]:
        """What it says of itself (name, capability, multiprocessors, memory, limits...)."""
        return self._native.device_properties(self.index)

    @property
    def name(self) -> str:
        """The chip's name."""
        return str(self.properties["name"])

    @property
    def memory(self) -> Memory:
        """(free, total), in bytes; what is kept for the next arrays is not free."""
        properties = self.properties
        return Memory(properties["memory_free"], properties["memory_bytes"])

    def synchronize(self) -> None:
        """Waits for all its work, in every stream; CudaError if some of it failed."""
        self._native.synchronize(self.index)

    def __str__(self) -> str:
        return f"{self.backend}:{self.index}"

    def __repr__(self) -> str:
        try:
            name = self.name
        except Exception as error:  # one that is not there shows itself too
            name = f"not there ({error})"
        return f"<cudakern device {self}: {name}>"

    def _repr_html_(self) -> str:
        properties = self.properties
        rows = [
            ("device", str(self)),
            ("name", self.name),
            ("compute capability", "{}.{}".format(*properties["capability"])),
            ("multiprocessors", f"{properties['multiprocessors']:,}"),
            ("memory", "{} free of {}".format(*map(_display.size, self.memory))),
        ]
        return _display.facts(rows).html()


def devices() -> list[Device]:
    """The devices of the current backend.

    Returns
    -------
    list of Device
        CUDA_VISIBLE_DEVICES is respected. The emulator has as many as ``emulator.configure(devices=)`` or the
        environment's CUDAKERN_EMULATOR_DEVICES say.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.devices()[0].index
    0
    """
    native, _ = resolve(None)
    return [Device(native.backend_name(), index) for index in range(native.device_count())]


def device(which: int | Device) -> contextlib.AbstractContextManager[Device]:
    """Inside ``with``, calls of this context (this thread, this task) go to that device of the current backend.

    Parameters
    ----------
    which : int or Device
        An index, as ``devices()`` counts.

    Returns
    -------
    context manager
        It gives the Device, and may be entered again, also inside itself. New arrays and calls with host arrays go
        there; an array that exists stays where it is, and so does the thread's current CUDA device.

    Raises
    ------
    TypeError, ValueError
        ``which`` is neither; there is no such device, or it is another backend's.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.device(0) as here:
    ...     cudakern.zeros(3).device == here
    True
    """
    native, index = resolve(which)
    here = Device(native.backend_name(), index)
    return _backend.choose(here.backend, index, lambda: here)


def resolve(which: int | Device | None) -> tuple[Native, int]:
    """The current backend's C module, and the index of that device of it; None is the current one."""
    native, index, _ = _backend.current()
    if which is None:
        return native, index
    name = native.backend_name()
    if isinstance(which, Device):
        if which.backend != name:
            instead = f"take it inside `with cudakern.use_backend({which.backend!r})`"
            raise ValueError(f"device {which} is not of the current backend, {name!r}: {instead}")
        which = which.index
    if isinstance(which, bool) or not hasattr(type(which), "__index__"):
        raise TypeError(f"a device is an index or a Device, not {type(which).__name__}")
    number, count = operator.index(which), native.device_count()
    if not 0 <= number < count:
        raise ValueError(f"there is no device {number} of backend {name!r}: it has {count}, counted from 0")
    return native, number
