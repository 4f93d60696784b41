"""Streams and events: what work on device arrays is ordered by."""

from __future__ import annotations

import contextlib
import operator
import os
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from . import _devices
from ._devices import Device
from ._errors import CudaError
from ._native import Native

#: CUDA's names for streams that need no making.
DEFAULT, PER_THREAD = 0, 2


class _OfDevice:
    """What a stream and an event share: a handle that one device's backend knows, and nobody else."""

    __slots__ = ("__weakref__", "_device", "_handle", "_native")

    _native: Native
    _device: int
    _handle: int

    @property
    def device(self) -> Device:
        """The device that it belongs to."""
        return Device(self._native.backend_name(), self._device)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """What copies and pickles ask for."""
        name = type(self).__name__
        raise TypeError(f"{name}s are not copied and not pickled: each is one of a device's; make another, {name}()")

    def __repr__(self) -> str:
        return f"<cudakern {type(self).__name__.lower()} {self._handle:#x} on {self.device}>"


class Stream(_OfDevice):
    """A stream of a device: work given to it is done in that order, beside the work of other streams.

    Device arrays order their uses over streams by themselves, so that no result depends on which stream was named.
    ``__cuda_stream__`` gives it to other libraries. It is destroyed with the object; its work is done all the same.

    ``device`` is where the work is done, without it the current one. The lower ``priority``, the sooner it is done;
    CUDA brings it into the device's range.

    Examples
    --------
    >>> import cudakern
    >>> stream = cudakern.Stream()
    >>> x = cudakern.asarray([1, 2, 3], stream=stream)
    >>> int(cudakern.sum_of_squares(x, stream=stream))
    14
    >>> stream.synchronize()
    >>> stream.done
    True
    """

    __slots__ = ()

    def __init__(self, device: int | Device | None = None, *, priority: int = 0) -> None:
        native, index = _devices.resolve(device)
        self._native, self._device = native, index
        self._handle = native.stream_create(index, operator.index(priority))
        _close_with(self, native.stream_destroy)

    @property
    def handle(self) -> int:
        """The ``cudaStream_t``."""
        return self._handle

    @property
    def done(self) -> bool:
        """True if all that it was given is done; CudaError if that failed."""
        return self._native.stream_done(self._device, self._handle)

    def synchronize(self) -> None:
        """Waits for all that it was given; CudaError, with the names of the launches, if that failed."""
        self._native.stream_synchronize(self._device, self._handle)

    def wait(self, other: Event | Stream) -> None:
        """What it is given from now on begins after ``other``: an event, or all that another stream was given."""
        if isinstance(other, Stream):
            other = other.record(Event.__new__(Event)._make(other._native, other._device, timing=False))
        if not isinstance(other, Event):
            raise TypeError(f"a stream waits for an Event or a Stream, not for {type(other).__name__}")
        _same_backend(self._native, other._native, "an event")
        self._native.stream_wait_event(self._device, self._handle, other._handle)

    def record(self, event: Event | None = None) -> Event:
        """The event happens when all is done that the stream was given so far; a new event if none is given."""
        if event is None:
            event = Event.__new__(Event)._make(self._native, self._device, timing=True)
        if not isinstance(event, Event):
            raise TypeError(f"a stream records an Event, not {type(event).__name__}; without one it makes a new one")
        event.record(self)
        return event

    def __cuda_stream__(self) -> tuple[int, int]:
        """(version of the protocol, handle)."""
        return 0, self._handle


class Event(_OfDevice):
    """A point in a stream's work, to wait for and to measure between.

    With ``timing=False`` it cannot be measured with, and costs less. ``device`` is where it is recorded, without it the
    current one.

    Examples
    --------
    >>> import cudakern
    >>> stream = cudakern.Stream()
    >>> begin = stream.record()
    >>> x = cudakern.zeros(1000, stream=stream)
    >>> end = stream.record()
    >>> end.synchronize()
    >>> begin.elapsed_time(end) >= 0
    True
    """

    __slots__ = ("_recorded", "_timing")

    def __init__(self, timing: bool = True, *, device: int | Device | None = None) -> None:
        self._make(*_devices.resolve(device), timing=bool(timing))

    def _make(self, native: Native, device: int, timing: bool) -> Event:
        self._native, self._device = native, device
        self._timing, self._recorded = timing, False
        self._handle = native.event_create(device, timing)
        _close_with(self, native.event_destroy)
        return self

    @property
    def done(self) -> bool:
        """True if it has happened; also if it was never recorded."""
        return self._native.event_done(self._device, self._handle)

    def record(self, stream: Any = None) -> None:
        """It happens when all is done that the stream was given so far. ``stream``: as the operations take it."""
        self._native.event_record(self._device, self._handle, stream_handle(stream, self._native, self._device))
        self._recorded = True

    def synchronize(self) -> None:
        """Waits until it has happened; CudaError if what goes before it failed."""
        self._native.event_synchronize(self._device, self._handle)

    def elapsed_time(self, later: Event) -> float:
        """Milliseconds of the device's time from this event to a later one.

        ValueError for an event that has no time, was never recorded or is another device's; CudaError for one that has
        not happened yet ("cudaErrorNotReady") or that failed.
        """
        if not isinstance(later, Event):
            raise TypeError(f"elapsed_time takes a later Event, not {type(later).__name__}")
        _same_backend(self._native, later._native, "an event")
        if self._device != later._device:
            raise ValueError(f"one event is {self.device}'s and the other {later.device}'s: their clocks differ")
        for which, event in (("this", self), ("the later", later)):
            if not event._timing:
                raise ValueError(f"{which} event was made with timing=False: it has no time")
            if not event._recorded:
                raise ValueError(f"{which} event was never recorded: call .record(stream)")
            if not event.done:
                wait = f"{which} event has not happened yet: call its .synchronize() first"
                raise CudaError(wait, "cudaErrorNotReady", 600)
        return self._native.event_elapsed(self._device, self._handle, later._handle)


# The first one imports a module, which cannot be done any more when the interpreter ends.
weakref.finalize(Stream, int).detach()


def _close_with(owner: _OfDevice, destroy: Callable[[int, int], None]) -> None:
    ending = weakref.finalize(owner, _close, destroy, owner._device, owner._handle, os.getpid())
    # Not at exit: it may be used till the very end, by a __del__ or another function at exit.
    ending.atexit = False  # type: ignore[misc]


def _close(destroy: Callable[[int, int], None], device: int, handle: int, process: int) -> None:
    """Gives a stream or event back. In a forked process it is the parent's; what failed in it others report."""
    if os.getpid() == process:
        with contextlib.suppress(CudaError):
            destroy(device, handle)


def _same_backend(one: Native, other: Native, what: str) -> None:
    if one is not other:
        raise ValueError(f"{what} of backend {other.backend_name()!r} means nothing to {one.backend_name()!r}")


def stream_handle(stream: Any, native: Native, device: int) -> int:
    """The integer that C takes for ``stream=``: None, an int, or anything with ``__cuda_stream__``."""
    if stream is None:
        return DEFAULT
    if isinstance(stream, Stream):
        _same_backend(native, stream._native, "a stream")
        if stream._device != device:
            here = f"{native.backend_name()}:{device}: make one by cudakern.Stream({device})"
            raise ValueError(f"a stream of {stream.device} was given for work on {here}")
        return stream._handle
    if hasattr(type(stream), "__cuda_stream__"):
        handle = _by_protocol(stream)
    elif isinstance(stream, bool) or not hasattr(type(stream), "__index__"):
        raise TypeError(
            f"stream= takes None, a handle as an int, or an object with __cuda_stream__, not {type(stream).__name__}; "
            "other libraries' streams have their handle as .cuda_stream (PyTorch) or .ptr (CuPy)"
        )
    else:
        handle = operator.index(stream)
    if not 0 <= handle < 2**63:
        raise ValueError(
            f"a stream's handle is 0 (the default stream), 2 (the thread's own) or an address, not {handle}"
        )
    return handle


def _by_protocol(stream: Any) -> int:
    """The handle by __cuda_stream__, which cuda.core has as a method, and had as a property."""
    answer = stream.__cuda_stream__
    answer = answer() if callable(answer) else answer
    kind = type(stream).__name__
    if not isinstance(answer, tuple) or len(answer) != 2 or not all(type(x) is int for x in answer):
        raise TypeError(f"{kind}.__cuda_stream__ must give (version, handle), two integers, not {answer!r}")
    version, handle = answer
    if version != 0:
        raise ValueError(f"{kind}.__cuda_stream__ is of version {version}, and version 0 is known here")
    return int(handle)


def synchronize(device: int | Device | None = None) -> None:
    """Waits for all that a device was given, in every stream.

    Parameters
    ----------
    device : int or Device, optional
        Which; without it: the current device.

    Raises
    ------
    ValueError, CudaError
        There is no such device; something that it was given failed: the message names the launches.

    Examples
    --------
    >>> import cudakern
    >>> x = cudakern.zeros((100, 100))
    >>> cudakern.synchronize()
    """
    native, index = _devices.resolve(device)
    native.synchronize(index)
