"""Devices: the list, and the selection for this context's calls."""

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
        """The device's properties: name, capability, multiprocessors, memory, limits..."""
        return self._native.device_properties(self.index)

    @property
    def name(self) -> str:
        """The chip's name."""
        return str(self.properties["name"])

    @property
    def memory(self) -> Memory:
        """(free, total), in bytes; memory kept for new arrays does not count as free."""
        properties = self.properties
        return Memory(properties["memory_free"], properties["memory_bytes"])

    def synchronize(self) -> None:
        """Waits for all work in all streams; CudaError if some of it failed."""
        self._native.synchronize(self.index)

    def __str__(self) -> str:
        return f"{self.backend}:{self.index}"

    def __repr__(self) -> str:
        try:
            name = self.name
        except Exception as error:  # a device that does not exist can be displayed too
            name = f"not available ({error})"
        return f"<cudakern device {self}: {name}>"

    def _repr_html_(self) -> str:
        major, minor = self.properties["capability"]
        free, total = self.memory
        rows = [
            ("device", str(self)),
            ("name", self.name),
            ("compute capability", f"{major}.{minor}"),
            ("multiprocessors", f"{self.properties['multiprocessors']:,}"),
            ("memory", f"{_display.size(free)} free of {_display.size(total)}"),
        ]
        return _display.facts(rows).html()


def devices() -> list[Device]:
    """The devices of the current backend.

    Returns
    -------
    list of Device
        CUDA_VISIBLE_DEVICES is respected. ``emulator.configure(devices=)`` or the environment variable
        CUDAKERN_EMULATOR_DEVICES sets the emulator's number of devices.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.devices()[0].index
    0
    """
    native, _, _ = _backend.current()
    name = native.backend_name()
    return [Device(name, index) for index in range(native.device_count())]


def device(which: int | Device) -> contextlib.AbstractContextManager[Device]:
    """Inside ``with``, this context (thread or task) uses that device of the current backend.

    Parameters
    ----------
    which : int or Device
        An index in ``devices()``, or one of them.

    Returns
    -------
    context manager
        Returns the Device; can be entered repeatedly, and nested. New arrays and calls with host arrays use the device;
        existing arrays stay where they are. The thread's current CUDA device, which other libraries use, does not
        change.

    Raises
    ------
    TypeError, ValueError
        ``which`` is not an index or a Device; it does not exist, or belongs to another backend.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.device(0) as here:
    ...     cudakern.zeros(3).device == here
    True
    """
    native, index = resolve(which)
    chosen = Device(native.backend_name(), index)
    return _backend.DeviceSetting(chosen.backend, index, chosen)


def resolve(which: int | Device | None) -> tuple[Native, int]:
    """The current backend's C module and the device's index; None is the current device."""
    native, index, _ = _backend.current()
    if which is None:
        return native, index
    name = native.backend_name()
    if isinstance(which, Device):
        if which.backend != name:
            raise ValueError(
                f"device {which} does not belong to the current backend, {name!r}: "
                f"use it inside `with cudakern.use_backend({which.backend!r})`"
            )
        which = which.index
    if isinstance(which, bool) or not hasattr(type(which), "__index__"):
        raise TypeError(f"a device must be an index or a Device, not {type(which).__name__}")
    number, count = operator.index(which), native.device_count()
    if not 0 <= number < count:
        known = "only device 0" if count == 1 else f"devices 0 to {count - 1}"
        raise ValueError(f"backend {name!r} has no device {number}: it has {known}")
    return native, number
