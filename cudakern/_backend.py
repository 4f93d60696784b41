"""Selects the backend: the GPU if it is usable, else the emulator.

Without a GPU, a driver that is recent enough, or a ``_cuda`` build, the emulator is used, and ``backend().why`` gives
the reason. If there is a GPU that cannot be used, there is also a warning.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import warnings
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from . import _display
from ._errors import CudaError, unknown
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

_requested: ContextVar[str | None] = ContextVar("cudakern_backend", default=None)
# The devices chosen by device(), by backend name. Replaced, never changed in place.
_chosen: ContextVar[Mapping[str, int] | None] = ContextVar("cudakern_device", default=None)
# The settings that are entered, each with the previous value. Per context, since threads and tasks may share one.
_entered: ContextVar[tuple[tuple[object, Any], ...]] = ContextVar("cudakern_entered", default=())
Given = TypeVar("Given")


@dataclass(frozen=True, repr=False)
class Backend(_display.Shown):
    """The backend in use: its ``name``, the index of its ``device``, and ``why`` it was selected."""

    name: str
    device: int
    why: str
    native: Native = field(repr=False, compare=False)

    @property
    def emulated(self) -> bool:
        """True if kernels run on the CPU; their times then say nothing about a GPU's speed."""
        return bool(self.native.emulated())

    @property
    def properties(self) -> dict[str, Any]:
        """The device's properties: name, capability, multiprocessors, memory, limits..."""
        return self.native.device_properties(self.device)

    @property
    def capability(self) -> int:
        """Compute capability: 90 is 9.0."""
        return self.native.capability(self.device)

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
        """A snapshot for results: the device's properties as they are now, without access to the device. Pickles and
        copies are snapshots too, because they may be loaded on a machine without such a device."""
        facts = _Facts(self.emulated, self.capability, self.properties)
        return Backend(self.name, self.device, self.why, cast(Native, facts))

    def __reduce__(self) -> tuple[Any, ...]:
        return Backend, (self.name, self.device, self.why, self.as_it_is().native)

    def __repr__(self) -> str:
        return f"<cudakern backend {self.name!r}, device {self.device}: {self.device_name}; {self.why}>"

    def table(self) -> _display.Table:
        """Name, device and reason."""
        rows = [("backend", self.name), ("device", f"{self.device}: {self.device_name}"), ("why", self.why)]
        return _display.facts(rows)


@dataclass(frozen=True)
class _Facts:
    """Replaces the C module in a snapshot of a Backend: the device's properties only."""

    is_emulated: bool
    of_capability: int
    of_device: dict[str, Any]

    def emulated(self) -> bool:
        return self.is_emulated

    def capability(self, device: int) -> int:
        return self.of_capability

    def device_properties(self, device: int) -> dict[str, Any]:
        return dict(self.of_device)


def _load(name: str) -> Native:
    """The C module of that name; ImportError if it is of another version than this code."""
    native = cast(Native, importlib.import_module(f"cudakern.{name}"))
    version = getattr(native, "interface_version", None)
    if version != INTERFACE:
        raise ImportError(
            f"{native.__file__} was built from other sources: it has interface version {version}, and this code needs "
            f"{INTERFACE}. Rebuild it: pip install -e ."
        )
    return native


@functools.cache
def emulator() -> Native:
    """The emulator's module, which every build has."""
    try:
        return _load("_emulator")
    except ModuleNotFoundError as error:
        if error.name != "cudakern._emulator":
            raise
        raise ImportError(
            f"cudakern is not built: {PACKAGE.parent} holds only its sources. "
            f"Run `pip install -e .` in that folder, then import it again."
        ) from None
    except ImportError as error:
        if "subinterpreter" in str(error):
            raise
        raise ImportError(
            f"cudakern's emulator cannot be loaded ({error}). To rebuild it, run `pip install -e .` in its folder."
        ) from error


@functools.cache
def _cuda() -> tuple[Native | None, str]:
    """The GPU's module, and the reason if it cannot be used ("" if it can)."""
    try:
        native = _load("_cuda")
    except ImportError as error:
        built = not (isinstance(error, ModuleNotFoundError) and error.name == "cudakern._cuda")
        reason = f"the GPU module cannot be loaded ({error})" if built else "this build has no GPU module"
        if not built and (why := why_no_gpu_module()):
            reason += f": {why}"
        if gpu_is_there():
            _warn(reason)
        return None, reason
    reason = native.why_not()
    if reason:
        for name, plain in NO_GPU.items():
            if reason.startswith(name) and not gpu_is_there():
                return None, f"{plain} ({name})"
        _warn(reason)
        return None, reason
    return native, ""


def gpu_is_there() -> bool:
    """True if there is an NVIDIA GPU that CUDA_VISIBLE_DEVICES does not hide.

    The CUDA runtime reports the same error for a missing driver and one that is too old.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return False
    # A container may have any of a host's GPUs; WSL2 has one device file for all.
    signs = ("proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*", "dev/dxg")
    return any(found for sign in signs for found in Path("/").glob(sign))


def _warn(reason: str) -> None:
    words = f"there is a GPU, but cudakern cannot use it: {reason}; using the emulator instead"
    warnings.warn(words, RuntimeWarning, stacklevel=2)


def backend() -> Backend:
    """The backend that this context's calls use, and why.

    In order of precedence: ``use_backend``, the environment variable CUDAKERN_BACKEND, a usable GPU, the emulator. The
    current CUDA device and CUDA_VISIBLE_DEVICES are respected.

    Returns
    -------
    Backend

    Raises
    ------
    CudaError
        "cuda" was requested and cannot be used.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.backend().name in ("cuda", "emulator")
    True
    """
    native, device, why = current()
    return Backend(native.backend_name(), device, why, native)


def current() -> tuple[Native, int, str]:
    """The parts of backend(): the current C module, the index of its device, and why.

    The device is the one chosen by device(), else by the module: the thread's current one if suitable.
    """
    name, why = _requested.get(), "requested by use_backend"
    if name is None:
        name, why = os.environ.get(ENVIRONMENT, "").strip().lower(), f"requested by {ENVIRONMENT}"
        if name:
            _check(name)
    native, reason = (emulator(), "") if name == "emulator" else _cuda()
    if native is None:
        if name:
            raise _unusable(name, f"was {why} and ", reason)
        native, why = emulator(), f"no GPU: {reason}"
    elif not name:
        why = "there is a usable GPU"
    chosen = _chosen.get()
    index = None if chosen is None else chosen.get(native.backend_name())
    return native, native.choose_device() if index is None else index, why


def native_of(name: str) -> Native:
    """The C module of a backend."""
    _check(name)
    native, reason = (emulator(), "") if name == "emulator" else _cuda()
    if native is None:
        raise _unusable(name, "", reason)
    return native


def _unusable(name: str, asked: str, reason: str) -> CudaError:
    return CudaError(f"backend {name!r} {asked}cannot be used: {reason}", NO_DEVICE, 100)


class _Setting(contextlib.AbstractContextManager[Given, None], contextlib.ContextDecorator):
    """Inside ``with``, a context variable has another value. Can be entered repeatedly, and nested."""

    def __init__(
        self, variable: ContextVar[Any], value: Callable[[Any], Any], gives: Callable[[], Given], call: str
    ) -> None:
        self._variable = variable
        self._value = value
        self._gives = gives
        self._call = call

    def __repr__(self) -> str:
        return f"<cudakern setting, for use as `with {self._call}:`>"

    def __enter__(self) -> Given:
        before = self._variable.get()
        self._variable.set(self._value(before))
        try:
            result = self._gives()
        except BaseException:
            self._variable.set(before)
            raise
        _entered.set((*_entered.get(), (self, before)))
        return result

    def __exit__(self, *error: object) -> None:
        entered = _entered.get()
        for at in reversed(range(len(entered))):
            setting, before = entered[at]
            if setting is self:
                _entered.set(entered[:at] + entered[at + 1 :])
                self._variable.set(before)
                return
        raise RuntimeError("this setting was not entered in this thread or task")


class DeviceSetting(_Setting[Given]):
    """Inside ``with``, this context's calls to the device's backend use the device; displays as the device."""

    def __init__(self, backend: str, device: int, chosen: Given) -> None:
        super().__init__(
            _chosen, lambda before: {**(before or {}), backend: device}, lambda: chosen, f"cudakern.device({device})"
        )

    def __repr__(self) -> str:
        return f"{self._gives()!r}, for use as `with {self._call}:`"

    def _repr_html_(self) -> str:
        device: Any = self._gives()
        return f"{device._repr_html_()}<p>For use as <code>with {self._call}:</code></p>"


def _check(name: str) -> None:
    if name not in NAMES:
        raise ValueError(unknown("backend", name, NAMES))


def use_backend(name: str) -> contextlib.AbstractContextManager[Backend]:
    """Inside ``with``, this context (thread or task) uses that backend.

    Parameters
    ----------
    name : str
        "cuda" or "emulator".

    Returns
    -------
    context manager
        Returns the Backend; can be entered repeatedly, and nested.

    Raises
    ------
    ValueError, CudaError
        An unknown name; "cuda" without a usable GPU.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.use_backend("emulator"):
    ...     int(cudakern.sum_of_squares([1, 2, 3], variant="numpy"))
    14
    """
    _check(name)
    return _Setting(_requested, lambda before: name, backend, f"cudakern.use_backend({name!r})")
