"""The Python face of the two C modules, ``_cuda`` and ``_emulator``: one source, compiled twice.

This is a description for type checkers and readers; the code is in csrc/python/.
"""

from __future__ import annotations

from typing import Any, Protocol

#: The version of this face; csrc/python/module.c has the same number, as INTERFACE_VERSION.
INTERFACE = 5

#: Streams are integers: 0 and 1 are the default stream, 2 the thread's own, all else is a cudaStream_t.
Stream = int


class View(Protocol):
    """Device memory as an array; it never changes. A view of a view shares its memory and keeps it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]  #: in bytes
    dtype: str  #: NumPy's name, native byte order; also "bfloat16"
    pointer: int  #: of the first element (index 0 in every axis)
    nbytes: int  #: of the elements, not of the memory
    device: int
    read_only: bool
    foreign: bool  #: another library's memory
    contiguous: bool  #: C order, no gaps


class Set(Protocol):
    """Kernels that were loaded from a shared library, which stays loaded to the process's end."""

    path: str
    operations: tuple[dict[str, Any], ...]  #: its variant tables, as Native.operations() gives those of the package
    #: (name, parameters): of each parameter ("value", "reads" or "writes", dtype or None, bytes)
    kernels: tuple[tuple[str, tuple[tuple[str, str | None, int], ...]], ...]


class Native(Protocol):
    """What a C module offers; arguments go by position. Host arrays come as buffers in native byte order; with
    ``(buffer, "bfloat16")`` the buffer is of uint16, since no buffer format is bfloat16."""

    __file__: str
    interface_version: int
    memo: dict[
        Any, Any
    ]  #: the kind of a call -> what ``prepare`` made, or Python's Entry; emptied by configure, trim and a fork

    def operations(self) -> tuple[dict[str, Any], ...]:
        """The variant table: an entry an operation, with its rows in the order of the ladder."""

    def execute(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        device: int,
        measure: int,
        stream: Stream,
        /,
    ) -> dict[str, Any] | None:
        """Runs one variant; with ``measure`` it returns times and sizes, with 2 the time of each launch too.

        All arrays are host buffers (then it returns when the results are there, and ``stream`` is not looked at), or
        all are Views of one device (then it returns when all is enqueued in ``stream``, unless measured). What host
        strides may be is told at ck_execute in csrc/runtime/runtime.h.
        """

    def kernels(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        inputs: tuple[Any, ...],
        outputs: tuple[Any, ...],
        device: int,
        sweep: tuple[tuple[int, int], ...],
        /,
    ) -> tuple[dict[str, Any], ...]:
        """The kernels that ``execute`` would launch, and what the driver knows of each; nothing runs.

        0 registers: it does not know the kernel's needs. ``swept``: active blocks a multiprocessor for each pair
        (threads a block, bytes of dynamic shared memory) of ``sweep``.
        """

    # --- plain calls on arrays of one device -------------------------------------------------------------------------
    def key(self, rule: str, variant: str, parameters: dict[str, Any], inputs: tuple[Any, ...], /) -> Any:
        """The kind of a call, for ``memo``: types and layouts of the inputs, too. None unless all are DeviceArrays on
        one device of this module."""

    def prepare(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        dtype: str,
        alike: int,
        shape: Any,
        entry: Any,
        /,
    ) -> Any:
        """What ``call`` finds in ``memo``; ``entry`` is kept with it. ``alike`` is a mask of the inputs that must have
        one shape, ``shape`` gives the result's, of the inputs' shapes, and is asked when those are not the last
        call's."""

    def call(
        self,
        rule: str,
        variant: str,
        parameters: dict[str, Any],
        inputs: tuple[Any, ...],
        out: Any,
        stream: Stream,
        /,
    ) -> Any:
        """A call on DeviceArrays, enqueued: ``out``, or a new DeviceArray where that is None. NotImplemented unless
        ``memo`` has something prepared for the call's kind, and shapes and ``out`` fit."""

    def error_depth(
        self,
        operation: str,
        variant: str,
        parameters: tuple[int, ...],
        dtypes: tuple[str, ...],
        shapes: tuple[tuple[int, ...], ...],
        /,
    ) -> float:
        """f(n) of the row's error bound: roundings on the longest path to a result."""

    def work(self, operation: str, shapes: tuple[tuple[int, ...], ...], dtype: str, /) -> tuple[float, float]:
        """(FLOPs, least bytes moved) of the operation, whichever variant computes it."""

    # --- sets of kernels ---------------------------------------------------------------------------------------------
    def load_set(self, path: str, /) -> Set:
        """The kernels of a shared library that exports ``cudakern_set`` (csrc/kernels/set.h); the same file gives the
        same kernels."""

    def launch(
        self,
        set: Set,
        kernel: str,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int,
        cooperative: bool,
        arguments: tuple[Any, ...],
        device: int,
        measure: int,
        stream: Stream,
        /,
    ) -> dict[str, Any] | None:
        """Launches one kernel, before and after other uses of the same arrays as ``execute`` does.

        A pointer takes a View without gaps, and writes it unless it is a pointer to const. A value is a Python number
        or a NumPy scalar of the parameter's type (of bfloat16: the bits as uint16); a struct is any object of its
        size. ``measure`` is as in ``execute``.
        """

    # --- arrays on the device ----------------------------------------------------------------------------------------
    def empty(self, shape: tuple[int, ...], dtype: str, device: int, stream: Stream, /) -> View:
        """New memory, not cleared, C order."""

    def view(self, base: View, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, /) -> View:
        """Other elements of the same memory; ``offset`` in bytes from ``base.pointer``. ValueError if outside."""

    def adopt(
        self,
        owner: Any,
        pointer: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None,
        dtype: str,
        device: int,
        read_only: bool,
        /,
    ) -> View:
        """Another library's memory; ``owner`` is kept as long as anything here uses it."""

    def upload(self, to: View, source: Any, stream: Stream, /) -> None:
        """Host to device; ``source``: a C-contiguous buffer of the same shape and type, any byte order."""

    def download(self, into: Any, source: View, stream: Stream, /) -> None:
        """Device to host; returns when the values are there. ``into``: a writable C-contiguous buffer."""

    def copy(self, to: View, source: View, stream: Stream, /) -> None:
        """Device to device, enqueued; converts types as astype does. Equal shapes."""

    def fill(self, to: View, value: bytes, stream: Stream, /) -> None:
        """Every element gets ``value``: one element's bytes in native order."""

    def overlap(self, a: View, b: View, /) -> bool:
        """True if the two may have bytes in common (the ranges of their addresses meet)."""

    def pinned(self, nbytes: int, /) -> Any:
        """Page-locked host memory: an object with the buffer protocol, writable bytes, freed with its last user."""

    # --- exchange with other libraries -------------------------------------------------------------------------------
    def dlpack_device(self, device: int, /) -> tuple[int, int]:
        """(type, index) as DLPack numbers them: (2, n) for CUDA, (1, 0) where device memory is the host's."""

    def dlpack_export(self, view: View, versioned: bool, copied: bool, /) -> Any:
        """A capsule, "dltensor_versioned" or "dltensor"; it keeps the view until its consumer is done."""

    def dlpack_import(self, capsule: Any, device: int, /) -> View:
        """The tensor of a capsule, which counts as used then. BufferError or ValueError for what cannot be taken."""

    def wait_for(self, view: View, stream: Stream, /) -> None:
        """What is enqueued in ``stream`` from now on finds the array's uses so far done, of a read-only one its last
        write. Waits on the device, not here."""

    def used_in(self, view: View, stream: Stream, writes: bool, /) -> None:
        """Another library has enqueued work on this memory in ``stream``: later uses come after it."""

    def exported(self, view: View, /) -> None:
        """Another library may go on using the memory in streams of its own until it lets go."""

    # --- streams and events ------------------------------------------------------------------------------------------
    def stream_create(self, device: int, priority: int, /) -> Stream: ...
    def stream_destroy(self, device: int, stream: Stream, /) -> None: ...
    def stream_synchronize(self, device: int, stream: Stream, /) -> None: ...
    def stream_done(self, device: int, stream: Stream, /) -> bool: ...
    def stream_wait_event(self, device: int, stream: Stream, event: int, /) -> None: ...
    def synchronize(self, device: int, /) -> None: ...
    def flush_output(self) -> None:
        """Writes what C has kept back of standard output."""

    def event_create(self, device: int, timing: bool, /) -> int: ...
    def event_destroy(self, device: int, event: int, /) -> None: ...
    def event_record(self, device: int, event: int, stream: Stream, /) -> None: ...
    def event_synchronize(self, device: int, event: int, /) -> None: ...
    def event_done(self, device: int, event: int, /) -> bool: ...
    def event_elapsed(self, device: int, first: int, last: int, /) -> float:
        """Milliseconds."""

    # --- devices -----------------------------------------------------------------------------------------------------
    def device_count(self) -> int: ...
    def why_not(self) -> str: ...
    def device_properties(self, device: int, /) -> dict[str, Any]: ...
    def capability(self, device: int, /) -> int:
        """90 is 9.0."""

    def current_device(self) -> int: ...
    def choose_device(self) -> int: ...
    def pointer_device(self, pointer: int, /) -> int:
        """The device whose memory is at that address; -1 if it is none's."""

    def configure(self, key: str, value: str, /) -> None: ...
    def trim(self, device: int, /) -> None: ...
    def pool_used(self, device: int, /) -> int: ...
    def pinned_used(self) -> int: ...
    def pinned_on_device(self, address: int, device: int, /) -> int:
        """Where the device finds page-locked memory; ValueError for other memory."""

    def backend_name(self) -> str: ...
    def emulated(self) -> bool: ...

    # --- for tests ---------------------------------------------------------------------------------------------------
    def inject_fault(self, n: int, code: int, /) -> None: ...
    def fault_count(self) -> int: ...
