"""Streams and events, which order work on device arrays."""

from __future__ import annotations

import contextlib
import operator
import os
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from .._backend import Device, resolve
from .._errors import CudaError
from .._native import Native


class _OfDevice:
    """Common to streams and events: a handle that is valid for one device of one backend."""

    __slots__ = ("__weakref__", "_device", "_handle", "_native")

    @property
    def device(self) -> Device:
        """The device it belongs to."""
        return Device(self._native.backend_name(), self._device)

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"a {name} cannot be copied or pickled, as it belongs to a device; create another: {name}()")

    def __repr__(self) -> str:
        return f"<cudakern {type(self).__name__.lower()} {self._handle:#x} on {self.device}>"

    def _hold(self, native: Native, device: int, handle: int, destroy: Callable[[int, int], None]) -> None:
        self._native, self._device, self._handle = native, device, handle
        closing = weakref.finalize(self, _close, destroy, device, handle, os.getpid())
        # Not at exit: a __del__ or another exit function may still use it.
        closing.atexit = False  # type: ignore[misc]


class Stream(_OfDevice):
    """A stream of a device: its work runs in order, concurrently with other streams.

    Uses of a device array in several streams are ordered automatically, so no result depends on the choice of streams.
    Other libraries get the stream by ``__cuda_stream__``. When the object is deleted, its work is still completed.

    ``device`` defaults to the current device. A lower ``priority`` runs sooner; CUDA clamps it to the device's range.

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
        native, index = resolve(device)
        self._hold(native, index, native.stream_create(index, operator.index(priority)), native.stream_destroy)

    @property
    def handle(self) -> int:
        """The ``cudaStream_t``."""
        return self._handle

    @property
    def done(self) -> bool:
        """True if all its work is done; CudaError if some of it failed."""
        return self._native.stream_done(self._device, self._handle)

    def synchronize(self) -> None:
        """Waits for all its work; CudaError, which names the launches, if some of it failed."""
        self._native.stream_synchronize(self._device, self._handle)

    def wait(self, other: Event | Stream) -> None:
        """Later work in this stream starts after ``other``: an event, or the current work of another stream."""
        if isinstance(other, Stream):
            other = other.record(Event.__new__(Event)._make(other._native, other._device, timing=False))
        if not isinstance(other, Event):
            raise TypeError(f"a stream can wait for an Event or a Stream, not {type(other).__name__}")
        _same_backend(self._native, other._native, "an event")
        self._native.stream_wait_event(self._device, self._handle, other._handle)

    def record(self, event: Event | None = None) -> Event:
        """Records an event, by default a new one: it happens when the stream's current work is done."""
        if event is None:
            event = Event.__new__(Event)._make(self._native, self._device, timing=True)
        if not isinstance(event, Event):
            raise TypeError(f"a stream records an Event, not {type(event).__name__}; record() creates one")
        event.record(self)
        return event

    def __cuda_stream__(self) -> tuple[int, int]:
        """(protocol version, handle)."""
        return 0, self._handle


class Event(_OfDevice):
    """A point in a stream's work, for waiting and for measuring times.

    ``timing=False`` makes it cheaper, without measuring. ``device`` defaults to the current device.

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
        self._make(*resolve(device), timing=bool(timing))

    def _make(self, native: Native, device: int, timing: bool) -> Event:
        self._timing, self._recorded = timing, False
        self._hold(native, device, native.event_create(device, timing), native.event_destroy)
        return self

    @property
    def done(self) -> bool:
        """True if it has happened or was never recorded."""
        return self._native.event_done(self._device, self._handle)

    def record(self, stream: Any = None) -> None:
        """Records it: it happens when the stream's current work is done. ``stream``: as for operations."""
        self._native.event_record(self._device, self._handle, stream_handle(stream, self._native, self._device))
        self._recorded = True

    def synchronize(self) -> None:
        """Waits until it has happened; CudaError if work before it failed."""
        self._native.event_synchronize(self._device, self._handle)

    def elapsed_time(self, later: Event) -> float:
        """Milliseconds from this event to a later one, by the device's clock.

        ValueError for an event without timing, never recorded, or of another device; CudaError for one that has not
        happened yet ("cudaErrorNotReady") or that failed.
        """
        if not isinstance(later, Event):
            raise TypeError(f"elapsed_time takes a later Event, not {type(later).__name__}")
        _same_backend(self._native, later._native, "an event")
        if self._device != later._device:
            raise ValueError(f"the events are on {self.device} and {later.device}, whose clocks differ")
        for which, event in (("this", self), ("the later", later)):
            if not event._timing:
                raise ValueError(f"{which} event was created with timing=False")
            if not event._recorded:
                raise ValueError(f"{which} event was never recorded: call .record(stream)")
            if not event.done:
                message = f"{which} event has not happened yet: call its .synchronize() first"
                raise CudaError(message, "cudaErrorNotReady", 600)
        return self._native.event_elapsed(self._device, self._handle, later._handle)


# The first finalizer imports a module, which is impossible while the interpreter exits.
weakref.finalize(Stream, int).detach()


def _close(destroy: Callable[[int, int], None], device: int, handle: int, process: int) -> None:
    """Destroys a stream or event, unless it belongs to the parent of this process. Failures are reported elsewhere."""
    if os.getpid() == process:
        with contextlib.suppress(CudaError):
            destroy(device, handle)


def _same_backend(one: Native, other: Native, what: str) -> None:
    if one is not other:
        theirs, ours = other.backend_name(), one.backend_name()
        raise ValueError(f"{what} of backend {theirs!r} cannot be used with backend {ours!r}")


def stream_handle(stream: Any, native: Native, device: int) -> int:
    """The handle of a ``stream=`` argument: None, an int, or an object with ``__cuda_stream__``."""
    if stream is None:
        return 0  # the default stream
    if isinstance(stream, Stream):
        _same_backend(native, stream._native, "a stream")
        if stream._device != device:
            here = f"{native.backend_name()}:{device}: create one with cudakern.Stream({device})"
            raise ValueError(f"a stream of {stream.device} cannot run work on {here}")
        return stream._handle
    kind = type(stream).__name__
    if hasattr(type(stream), "__cuda_stream__"):
        answer = stream.__cuda_stream__
        answer = answer() if callable(answer) else answer  # in cuda.core a method, earlier a property
        if not isinstance(answer, tuple) or len(answer) != 2 or not all(type(x) is int for x in answer):
            raise TypeError(f"{kind}.__cuda_stream__ must return (version, handle), two integers, not {answer!r}")
        version, handle = answer
        if version != 0:
            raise ValueError(f"{kind}.__cuda_stream__ has version {version}; only version 0 is supported")
        handle = int(handle)
    elif isinstance(stream, bool) or not hasattr(type(stream), "__index__"):
        hint = "the handle of another library's stream is its .cuda_stream (PyTorch) or .ptr (CuPy)"
        must = "must be None, an int (a handle) or an object with __cuda_stream__"
        raise TypeError(f"stream= {must}, not {kind}; {hint}")
    else:
        handle = operator.index(stream)
    if not 0 <= handle < 2**63:
        raise ValueError(f"a stream's handle is 0 (default), 2 (per-thread) or an address, not {handle}")
    return handle


def synchronize(device: int | Device | None = None) -> None:
    """Wait for all work of ``device`` (default: the current one), in all streams.

    CudaError, which names the launches, if some of it failed.

    Examples
    --------
    >>> import cudakern
    >>> x = cudakern.zeros((100, 100))
    >>> cudakern.synchronize()
    """
    native, index = resolve(device)
    native.synchronize(index)
