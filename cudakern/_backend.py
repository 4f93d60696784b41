"""Which backend answers: the GPU if it can be used, else the emulator; and why.

Without a GPU, a driver that is new enough or a ``_cuda`` build the emulator answers, and ``backend()`` says why. One
warning says so too where a GPU is there and cannot be used.
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
#: What cudart answers on a machine without a GPU, in plainer words than its own.
NO_GPU = {
    NO_DEVICE: "there is no device",
    "cudaErrorInsufficientDriver": "there is no NVIDIA driver",
    "cudaErrorStubLibrary": "there is no NVIDIA driver, only a stub of it",
}

_name: ContextVar[str | None] = ContextVar("cudakern_backend", default=None)
# The devices that device() chose, by the backend's name. It is replaced, never changed.
_device_of: ContextVar[Mapping[str, int] | None] = ContextVar("cudakern_device", default=None)
# The settings that were entered and not left, each with what was before it; threads and tasks may share a setting.
_settings: ContextVar[tuple[tuple[object, Any], ...]] = ContextVar("cudakern_settings", default=())
Result = TypeVar("Result")


@dataclass(frozen=True, repr=False)
class Backend(_display.Shown):
    """The backend that answers calls: its ``name``, the index of its ``device``, and ``why`` this one."""

    name: str
    device: int
    why: str
    native: Native = field(repr=False, compare=False)

    @property
    def emulated(self) -> bool:
        """True where kernels run on the CPU: their times say nothing about a GPU's."""
        return bool(self.native.emulated())

    @property
    def properties(self) -> dict[str, Any]:
        """What the device says of itself (name, capability, multiprocessors, memory, limits...)."""
        return self.native.device_properties(self.device)

    @property
    def capability(self) -> int:
        """Compute capability: 90 is 9.0."""
        return self.native.capability(self.device)

    @property
    def device_name(self) -> str:
        """The chip's name; the emulator's says that it is one ("Emulated NVIDIA H200")."""
        return str(self.properties["name"])

    def to_dict(self) -> dict[str, Any]:
        """Name, device, why and the device's properties, for JSON; not the free memory, which is no lasting fact."""
        properties = {key: value for key, value in self.properties.items() if key != "memory_free"}
        facts = {"name": self.name, "emulated": self.emulated, "device": self.device, "why": self.why}
        return facts | {"properties": properties}

    def as_it_is(self) -> Backend:
        """For results, pickles and copies: what the device says now, whatever becomes of it; and it runs nothing."""
        facts = _Facts(self.emulated, self.capability, self.properties)
        return Backend(self.name, self.device, self.why, cast(Native, facts))

    def __reduce__(self) -> tuple[Any, ...]:
        return Backend, (self.name, self.device, self.why, self.as_it_is().native)

    def __repr__(self) -> str:
        return f"<cudakern backend {self.name!r}, device {self.device}: {self.device_name}; {self.why}>"

    def table(self) -> _display.Table:
        """What it is, as a notebook shows it."""
        rows = [("backend", self.name), ("device", f"{self.device}: {self.device_name}"), ("why", self.why)]
        return _display.facts(rows)


@dataclass(frozen=True)
class _Facts:
    """In the place of a Backend's module: what the device said, and nothing that runs."""

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
    """The C module of that name, if it is of the version that this code was written for."""
    native = cast(Native, importlib.import_module(f"cudakern.{name}"))
    version = getattr(native, "interface_version", None)
    if version != INTERFACE:
        what = f"its interface is {version}, and this code needs {INTERFACE}"
        raise ImportError(f"{native.__file__} was built from other sources: {what}; rebuild: pip install -e .")
    return native


@functools.cache
def emulator() -> Native:
    """The emulator's module; it is part of every build."""
    try:
        return _load("_emulator")
    except ImportError as error:
        if "subinterpreter" in str(error):
            raise
        raise ImportError(
            f"cudakern is not built, or its emulator cannot be loaded ({error}). "
            f"Run `pip install -e .` in {PACKAGE.parent}, then import it again."
        ) from error


@functools.cache
def _cuda() -> tuple[Native | None, str]:
    """The GPU's module and the reason why it cannot be used ("" if it can)."""
    without_gpu = ""  # the reason, if there is no GPU: then it is no surprise
    try:
        native = _load("_cuda")
        reason = native.why_not()
        if not reason:
            return native, ""
        without_gpu = next((f"{plain} ({name})" for name, plain in NO_GPU.items() if reason.startswith(name)), "")
    except ImportError as error:
        reason = f"the GPU module cannot be loaded ({error})"
        if isinstance(error, ModuleNotFoundError) and error.name == "cudakern._cuda":
            why = why_no_gpu_module()
            reason = f"this build has no GPU module{why and ': '}{why}"
        without_gpu = reason
    if without_gpu and not gpu_is_there():
        return None, without_gpu
    message = f"there is a GPU, but cudakern cannot use it: {reason}; the emulator answers instead"
    warnings.warn(message, RuntimeWarning, stacklevel=1)
    return None, reason


def gpu_is_there() -> bool:
    """True if the system shows an NVIDIA GPU that is not hidden by CUDA_VISIBLE_DEVICES.

    cudart cannot tell: it answers a missing driver and one too old with the same code.
    """
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and visible.strip() in ("", "-1"):
        return False
    # A container may show any of a host's GPUs; under WSL2 there is one device for all.
    signs = ("proc/driver/nvidia/gpus/*", "dev/nvidia[0-9]*", "dev/dxg")
    return any(any(Path("/").glob(sign)) for sign in signs)


def backend() -> Backend:
    """The backend that answers here and now, and why.

    The order: ``use_backend`` of this context, the environment's CUDAKERN_BACKEND, else the GPU if there is one that
    works, else the emulator. The current CUDA device and CUDA_VISIBLE_DEVICES are respected.

    Returns
    -------
    Backend

    Raises
    ------
    CudaError
        "cuda" was asked for by name and cannot be used.

    Examples
    --------
    >>> import cudakern
    >>> cudakern.backend().name in ("cuda", "emulator")
    True
    """
    native, device, why = current()
    return Backend(native.backend_name(), device, why, native)


def current() -> tuple[Native, int, str]:
    """backend() in short: the C module that answers here and now, the index of its device, and why.

    The module itself chooses the device if device() did not: the thread's current one if it fits.
    """
    name, why = _name.get(), "asked for by use_backend"
    if name is None:
        name, why = os.environ.get(ENVIRONMENT, "").strip().lower(), f"asked for by {ENVIRONMENT}"
    if name:
        native = native_of(name, f"was {why} and ")
    else:
        gpu, reason = _cuda()
        native, why = (emulator(), f"no GPU: {reason}") if gpu is None else (gpu, "a GPU that works")
    devices = _device_of.get()
    index = None if devices is None else devices.get(native.backend_name())
    return native, native.choose_device() if index is None else index, why


@functools.cache
def native_of(name: str, asked: str = "") -> Native:
    """The C module of the backend of that name; CudaError, with the words ``asked`` in it, if it cannot be used."""
    _check(name)
    native, reason = (emulator(), "") if name == "emulator" else _cuda()
    if native is None:
        raise CudaError(f"backend {name!r} {asked}cannot be used: {reason}", NO_DEVICE, 100)
    return native


class _Setting(contextlib.AbstractContextManager[Result, None], contextlib.ContextDecorator):
    """Inside ``with``, a context variable has another value. It may be entered again, also inside itself."""

    def __init__(self, variable: ContextVar[Any], value: Callable[[Any], Any], gives: Callable[[], Result]) -> None:
        self._variable = variable
        self._value = value
        self._gives = gives

    def __enter__(self) -> Result:
        before = self._variable.get()
        self._variable.set(self._value(before))
        try:
            result = self._gives()
        except BaseException:
            self._variable.set(before)
            raise
        _settings.set((*_settings.get(), (self, before)))
        return result

    def __exit__(self, *error: object) -> None:
        settings = _settings.get()
        places = [at for at, (setting, _) in enumerate(settings) if setting is self]
        if not places:
            raise RuntimeError("this setting was not entered in this thread or task")
        last = places[-1]
        _settings.set(settings[:last] + settings[last + 1 :])
        self._variable.set(settings[last][1])


def choose(backend: str, device: int, gives: Callable[[], Result]) -> contextlib.AbstractContextManager[Result]:
    """Inside ``with``, this context's calls to that backend go to that device."""
    return _Setting(_device_of, lambda before: {**(before or {}), backend: device}, gives)


def _check(name: str) -> None:
    if name not in NAMES:
        raise ValueError(unknown("backend", name, NAMES))


def use_backend(name: str) -> contextlib.AbstractContextManager[Backend]:
    """Inside ``with``, calls of this context (this thread, this task) go to the backend of that name.

    Parameters
    ----------
    name : str
        "cuda" or "emulator".

    Returns
    -------
    context manager
        It gives the Backend. It may be entered again, also inside itself.

    Raises
    ------
    ValueError, CudaError
        An unknown name; "cuda", and there is no GPU that works.

    Examples
    --------
    >>> import cudakern
    >>> with cudakern.use_backend("emulator"):
    ...     int(cudakern.sum_of_squares([1, 2, 3], variant="numpy"))
    14
    """
    _check(name)
    return _Setting(_name, lambda before: name, backend)
