"""Selects the backend and the device: the GPU if it is usable, else the emulator."""

from __future__ import annotations

import contextlib
import copy
import functools
import html
import importlib
import operator
import os
import warnings
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from . import _display
from ._errors import CudaError, in_ipython, unknown
from ._installed import PACKAGE, why_no_gpu_module
from ._native import INTERFACE, Native

NAMES = ("cuda", "emulator")
ENVIRONMENT = "CUDAKERN_BACKEND"
NO_DEVICE = "cudaErrorNoDevice"
# The CUDA runtime's errors on a machine without a GPU, in plain words.
NO_GPU = {
    NO_DEVICE: "there is no device",
    "cudaErrorInsufficientDriver": "there is no NVIDIA driver",
    "cudaErrorStubLibrary": "there is only a stub of the NVIDIA driver",
}

#: The name of the backend chosen by use_backend(), as "backend", and the index chosen by device() for each backend's
#: name. Replaced, never changed in place.
_settings: ContextVar[Mapping[str, Any]] = ContextVar("cudakern_settings", default={})  # noqa: B039
#: The settings entered, each with the previous value. Per context, since threads and tasks may share a setting.
_entered: ContextVar[tuple[tuple[object, Any], ...]] = ContextVar("cudakern_entered", default=())
Result = TypeVar("Result")


@dataclass(frozen=True, repr=False)
class Backend(_display.Shown):
    """The backend in use: its ``name``, the index of its ``device``, and ``why`` it was selected."""

    name: str
    device: int
    why: str
    native: Native = field(repr=False, compare=False)
    _snapshot: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    _exact_capability: int | None = field(default=None, repr=False, compare=False)  #: of a snapshot

    @property
    def emulated(self) -> bool:
        """True if kernels run on the CPU; their times then say nothing about a GPU."""
        return self.name == "emulator"

    @property
    def properties(self) -> dict[str, Any]:
        """The device's properties: name, capability, multiprocessors, memory, limits..."""
        return self.native.device_properties(self.device) if self._snapshot is None else dict(self._snapshot)

    @property
    def capability(self) -> int:
        """Compute capability: 90 is 9.0."""
        if self._snapshot is None:
            return self.native.capability(self.device)  # much faster than all properties
        major, minor = self._snapshot["capability"]
        return int(10 * major + minor)

    @property
    def exact_capability(self) -> int:
        """The capability of code in this build that runs on no other device (90: sm_90a); 0 if it has none."""
        return self.native.exact_capability if self._exact_capability is None else self._exact_capability

    @property
    def device_name(self) -> str:
        """The chip's name; "Emulated NVIDIA H200" on the emulator."""
        return str(self.properties["name"])

    def to_dict(self) -> dict[str, Any]:
        """Name, device, why and the device's properties (without free memory, which changes), for JSON."""
        properties = {key: value for key, value in self.properties.items() if key != "memory_free"}
        plain = {name: getattr(self, name) for name in ("name", "emulated", "device", "why")}
        return plain | {"properties": properties}

    def as_it_is(self) -> Backend:
        """A snapshot for results: what the device and the build are now, without access to them. Pickles and copies
        are snapshots too, because they may be loaded on a machine without such a device."""
        return copy.copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Backend, (self.name, self.device, self.why, None, self.properties, self.exact_capability)

    def __repr__(self) -> str:
        return f"<cudakern backend {self.name!r}, device {self.device}: {self.device_name}; {self.why}>"

    def table(self) -> _display.Table:
        rows = [("backend", self.name), ("device", f"{self.device}: {self.device_name}"), ("why", self.why)]
        return _display.facts(rows)

    def _repr_html_(self) -> str:
        """Where kernels run, in a sentence; the rest is folded."""
        where, chip = "the GPU: the", self.device_name
        if self.emulated:
            where, chip = "this computer's CPU, where an emulator stands in for an", chip.removeprefix("Emulated ")
        more = f"<details><summary>Details</summary>{self.table().html()}</details>"
        return f"<p>Kernels run on {where} {html.escape(chip)}.</p>{more}"


def _load(name: str) -> Native:
    """The C module of that name; ImportError if it is of another version than this code."""
    native = cast(Native, importlib.import_module(f"cudakern.{name}"))
    version = getattr(native, "interface_version", None)
    if version != INTERFACE:
        raise ImportError(f"{native.__file__} has interface version {version}, not {INTERFACE}: run `pip install -e .`")
    return native


@functools.cache
def emulator() -> Native:
    """The emulator's module, which every build has."""
    try:
        native = _load("_emulator")
    except ModuleNotFoundError:
        raise ImportError(f"cudakern is not built: run `pip install -e .` in {PACKAGE.parent}") from None
    except ImportError as error:
        if "subinterpreter" in str(error):
            raise
        raise ImportError(f"cudakern's emulator cannot be loaded ({error}); rebuild it: pip install -e .") from error
    if in_ipython() and "CUDAKERN_EMULATOR_PRINT" not in os.environ:
        native.configure("print", "0")  # or notebooks show an error twice: as it is printed, and as it is raised
    return native


@functools.cache
def gpu_module() -> tuple[Native | None, str]:
    """The GPU's module, or the reason why there is none."""
    try:
        return _load("_cuda"), ""
    except ModuleNotFoundError:
        return None, ": ".join(filter(None, ("this build has no GPU module", why_no_gpu_module())))
    except ImportError as error:
        return None, f"the GPU module cannot be loaded ({error})"


@functools.cache
def _cuda() -> tuple[Native | None, str]:
    """The GPU's module if it can be used, else the reason."""
    native, reason = gpu_module()
    if native is not None:
        reason = native.why_not()
    if not reason:
        return native, ""
    plain = next((f"{words} ({name})" for name, words in NO_GPU.items() if reason.startswith(name)), "")
    if gpu_is_there() or (native is not None and not plain):
        message = f"there is a GPU, but cudakern cannot use it: {reason}; using the emulator instead"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return None, reason
    return None, plain or reason


def gpu_is_there() -> bool:
    """True if there is an NVIDIA GPU that CUDA_VISIBLE_DEVICES does not hide.

    The CUDA runtime reports the same error for a missing driver and one that is too old.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return False
    # A container may have any of a host's GPUs; WSL2 has one device file for all.
    patterns = ("proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*", "dev/dxg")
    return any(path for pattern in patterns for path in Path("/").glob(pattern))


def backend() -> Backend:
    """The backend that this context's calls use, and why.

    In order of precedence: ``use_backend``, the environment variable CUDAKERN_BACKEND, a usable GPU, the emulator. The
    current CUDA device and CUDA_VISIBLE_DEVICES are respected. CudaError if "cuda" was requested and cannot be used; a
    warning if it was not requested and there is a GPU that cannot be used.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.backend().name in ("cuda", "emulator")
    True
    """
    native, device, why = current()
    return Backend(native.backend_name(), device, why, native)


def backend_of(x: Any) -> Backend:
    """The backend and the device that have a DeviceArray."""
    return Backend(x._native.backend_name(), x._view.device, "the arrays are there", x._native)


def current() -> tuple[Native, int, str]:
    """The parts of backend(): the current C module, the index of its device, and why.

    The device is the one chosen by device(), else by the module: the thread's current one if suitable.
    """
    settings = _settings.get()
    name, why = settings.get("backend"), "requested by use_backend"
    if name is None:
        name, why = os.environ.get(ENVIRONMENT, "").strip().lower(), f"requested by {ENVIRONMENT}"
    if name == "emulator":
        native = emulator()
    elif name:
        native = native_of(name, why)
    else:
        gpu, reason = _cuda()
        native, why = (gpu, "there is a usable GPU") if gpu else (emulator(), f"no GPU: {reason}")
    index = settings.get(native.backend_name())
    return native, native.choose_device() if index is None else index, why


def native_of(name: str, why: str = "") -> Native:
    """The C module of a backend; ``why``, for errors: who requested it."""
    if name not in NAMES:
        raise ValueError(unknown("backend", name, NAMES) + (why and f" ({why})"))
    native, reason = (emulator(), "") if name == "emulator" else _cuda()
    if native is None:
        raise CudaError(f"backend {name!r} {why and f'was {why} and '}cannot be used: {reason}", NO_DEVICE, 100)
    return native


@dataclass(eq=False, repr=False)
class _Setting(contextlib.AbstractContextManager[Result, None], contextlib.ContextDecorator):
    """Inside ``with``, a setting has another value. Can be entered repeatedly, and nested."""

    _key: str
    _value: Any
    _result: Callable[[], Result]
    _call: str

    def __repr__(self) -> str:
        return f"<cudakern setting, for use as `with {self._call}:`>"

    def __enter__(self) -> Result:
        before = _settings.get()
        _settings.set({**before, self._key: self._value})
        try:
            result = self._result()
        except BaseException:
            _settings.set(before)
            raise
        _entered.set((*_entered.get(), (self, before.get(self._key))))
        return result

    def __exit__(self, *error: object) -> None:
        entered = list(_entered.get())
        own = [at for at, (setting, _) in enumerate(entered) if setting is self]
        if not own:
            raise RuntimeError("this setting was not entered in this thread or task")
        _, before = entered.pop(own[-1])
        _entered.set(tuple(entered))
        _settings.set({**_settings.get(), self._key: before})


def use_backend(name: str) -> contextlib.AbstractContextManager[Backend]:
    """A context manager in which this context (thread or task) uses the backend ``name``: "cuda" or "emulator".

    It returns the Backend, and can be entered repeatedly and nested. CudaError for "cuda" without a usable GPU.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.use_backend("emulator"):
    ...     int(cudakern.sum_of_squares([1, 2, 3], variant="numpy"))
    14
    """
    if name not in NAMES:
        raise ValueError(unknown("backend", name, NAMES))
    return _Setting("backend", name, backend, f"cudakern.use_backend({name!r})")


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
        return native_of(self.backend)

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
        rows = [
            ("device", str(self)),
            ("name", self.name),
            ("compute capability", ".".join(map(str, self.properties["capability"]))),
            ("multiprocessors", f"{self.properties['multiprocessors']:,}"),
            ("memory", "{} free of {}".format(*map(_display.size, self.memory))),
        ]
        return _display.facts(rows).html()


class _DeviceSetting(_Setting[Device]):
    """Displays as the device."""

    def __repr__(self) -> str:
        return f"{self._result()!r}, for use as `with {self._call}:`"

    def _repr_html_(self) -> str:
        return f"{self._result()._repr_html_()}<p>For use as <code>with {self._call}:</code></p>"


def devices() -> list[Device]:
    """The devices of the current backend.

    CUDA_VISIBLE_DEVICES is respected. ``emulator.configure(devices=)`` or the environment variable
    CUDAKERN_EMULATOR_DEVICES sets the emulator's number of devices.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.devices()[0].index
    0
    """
    native, _, _ = current()
    return [Device(native.backend_name(), index) for index in range(native.device_count())]


def device(which: int | Device) -> contextlib.AbstractContextManager[Device]:
    """A context manager in which this context (thread or task) uses that device of the current backend.

    ``which`` is an index in ``devices()``, or one of them. The context manager returns the Device, and can be entered
    repeatedly and nested. New arrays and calls with host arrays use the device; existing arrays stay where they are.
    The thread's current CUDA device, which other libraries use, does not change. ValueError for a device that does not
    exist or belongs to another backend.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.device(0) as here:
    ...     cudakern.zeros(3).device == here
    True
    """
    native, index = resolve(which)
    chosen = Device(native.backend_name(), index)
    return _DeviceSetting(chosen.backend, index, lambda: chosen, f"cudakern.device({index})")


def resolve(which: int | Device | None) -> tuple[Native, int]:
    """The current backend's C module and the device's index; None is the current device."""
    native, index, _ = current()
    if which is None:
        return native, index
    name = native.backend_name()
    if isinstance(which, Device):
        if which.backend != name:
            hint = f"use it inside `with cudakern.use_backend({which.backend!r})`"
            raise ValueError(f"device {which} does not belong to the current backend, {name!r}: {hint}")
        which = which.index
    if isinstance(which, bool) or not hasattr(type(which), "__index__"):
        raise TypeError(f"a device must be an index or a Device, not {type(which).__name__}")
    number, count = operator.index(which), native.device_count()
    if not 0 <= number < count:
        known = "only device 0" if count == 1 else f"devices 0 to {count - 1}"
        raise ValueError(f"backend {name!r} has no device {number}: it has {known}")
    return native, number
