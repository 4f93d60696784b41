"""Arrays of other libraries in, ours out, without a copy: DLPack and the CUDA array interface.

After the array API standard's rules for ``__dlpack__`` and ``from_dlpack``, and version 3 of the CUDA array interface
in Numba's documentation.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _dtypes, _layout, _transfer
from ._backend import backend, emulator
from ._layout import Shape
from ._native import Native, View
from ._streams import stream_handle

DLPACK = (1, 0)  #: the newest version that is understood here, and what a producer is asked for
CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  #: DLPack's numbers for where memory lies
PLACES = {CPU: "the host's memory", CUDA: "a GPU", CUDA_HOST: "page-locked host memory", CUDA_MANAGED: "managed memory"}
LEGACY = 1  #: the legacy default stream as both protocols number it: there 0 means nothing


# --- DLPack out ------------------------------------------------------------------------------------------------------
def dlpack(view: View, native: Native, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Any:
    """The capsule that ``DeviceArray.__dlpack__`` gives."""
    own = native.dlpack_device(view.device)
    target = own if dl_device is None else _pair(dl_device, "dl_device")
    versioned = max_version is not None and _pair(max_version, "max_version")[0] >= 1
    if copy is not None and not isinstance(copy, (bool, np.bool_)):
        raise TypeError(f"copy= is True, False or None, not {copy!r}")
    to = _consumer_stream(stream, own[0])
    if target != own:
        if target[0] != CPU:
            raise BufferError(f"this array is on DLPack device {own}: it is exported there or to the host (1, 0)")
        if copy is not None and not copy:
            raise BufferError("this array is on a GPU, and copy=False: the host can have a copy only")
        view, native, copy = _on_emulator(view, native), emulator(), True
    elif copy:
        view = _transfer.duplicate(native, view, view.dtype, view.device, 0)
    elif view.read_only and not versioned:
        instead = "ask with max_version=(1, 0) or copy=True, or take .copy()"
        raise BufferError(f"this array is read-only, and a DLPack capsule says so only from version 1.0: {instead}")
    if target[0] == CPU:  # nobody waits for streams there: all must be done that reads or writes it
        native.synchronize(view.device)
    elif to is not None:
        native.wait_for(view, to)
    return native.dlpack_export(view, versioned, bool(copy))


def _pair(value: Any, name: str) -> tuple[int, int]:
    try:
        first, second = value
        return operator.index(first), operator.index(second)
    except (TypeError, ValueError):
        raise TypeError(f"{name}= is a tuple of two integers, not {value!r}") from None


def _consumer_stream(stream: Any, kind: int) -> int | None:
    """The consumer's stream as a handle; None: it wants no ordering."""
    if kind == CPU:
        if stream is not None:
            raise ValueError(f"stream={stream!r}: this array is in {PLACES[CPU]}, where stream must be None")
        return None
    if stream is None:
        return LEGACY
    return None if _integer(stream, "stream") == -1 else _stream(stream)


def _stream(value: Any) -> int:
    """A stream of another library's, as both protocols number it."""
    handle = _integer(value, "stream")
    if handle == 0:
        raise ValueError("'stream' is 0, which is ambiguous: 1 is the legacy default stream, 2 the thread's own")
    if handle < 0:
        raise ValueError(f"'stream' is {handle}: it is None, 1, 2, a stream's address, or -1 in DLPack (no ordering)")
    return handle


def _integer(value: Any, key: str) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{key!r} must be an integer, not {value!r}")
    return operator.index(value)


def _on_emulator(view: View, native: Native) -> View:
    """A copy in host memory, which is what an emulated device has."""
    plain = "uint16" if view.dtype == _dtypes.BFLOAT16 else view.dtype  # NumPy has no bfloat16 without ml_dtypes
    values = _transfer.to_host(native, native.view(view, 0, view.shape, view.strides, plain), 0)
    memory = _transfer.from_host(emulator(), values, 0, 0)
    return emulator().view(memory, 0, view.shape, memory.strides, view.dtype)


# --- DLPack in -------------------------------------------------------------------------------------------------------
def dlpack_place(x: Any) -> tuple[int, int]:
    """(kind, index) of an object's memory; TypeError if it does not take part in DLPack."""
    if not _takes_part(x):
        what = "an object with __dlpack__ and __dlpack_device__"
        raise TypeError(f"from_dlpack takes {what}, not {type(x).__name__}: cudakern.asarray takes the rest")
    place = x.__dlpack_device__()
    try:
        kind, index = place
        return int(kind), int(index)
    except (TypeError, ValueError):
        raise TypeError(f"{type(x).__name__}.__dlpack_device__ must give (type, index), not {place!r}") from None


def from_dlpack(x: Any, native: Native, device: int, stream: Any) -> View:
    """The memory of another library's array, where it is. On the host memory has no index: it becomes ``device``'s."""
    kind, index = dlpack_place(x)
    own, _ = native.dlpack_device(device)
    if kind != own:
        instead = f"bring it to {PLACES[own]} by its own library first"
        if kind in (CPU, CUDA_HOST):
            instead = "cudakern.asarray copies it to the device"
        what = f"{type(x).__name__} is in {PLACES.get(kind, f'memory of DLPack type {kind}')}"
        raise BufferError(f"{what}, and backend {native.backend_name()!r} uses {PLACES[own]}: {instead}")
    if own == CPU:
        index = device
    elif not 0 <= index < native.device_count():
        raise BufferError(f"{type(x).__name__} is on GPU {index}, and cudakern sees {native.device_count()}")
    handle = stream_handle(stream, native, index)
    view = native.dlpack_import(_capsule(x, None if own == CPU else handle or LEGACY), index)
    native.used_in(view, handle, True)
    return view


def _capsule(x: Any, stream: int | None) -> Any:
    """Asks the producer; those from before DLPack 1.0 do not know max_version."""
    words = {} if stream is None else {"stream": stream}
    try:
        return x.__dlpack__(**words, max_version=DLPACK)
    except TypeError:
        return x.__dlpack__(**words)


# --- the CUDA array interface ----------------------------------------------------------------------------------------
def interface(view: View, native: Native) -> dict[str, Any]:
    """``__cuda_array_interface__`` of our array; AttributeError where it has none."""
    if native.dlpack_device(view.device)[0] == CPU:
        raise AttributeError("an emulated device's array is in host memory: take __dlpack__ or .get()")
    if view.dtype == _dtypes.BFLOAT16:
        raise AttributeError("__cuda_array_interface__ has no name for bfloat16: take __dlpack__")
    native.wait_for(view, LEGACY)
    native.exported(view)
    return {
        "shape": view.shape,
        "typestr": _dtypes.from_name(view.dtype).str,
        "data": (view.pointer if all(view.shape) else 0, view.read_only),
        "strides": None if view.contiguous else view.strides,
        "stream": LEGACY,
        "version": 3,
    }


def from_interface(x: Any, native: Native, device: int) -> View:
    """The memory that ``x.__cuda_array_interface__`` describes; ValueError or TypeError names what is wrong in it."""
    entries = x.__cuda_array_interface__
    if native.dlpack_device(device)[0] == CPU:
        what = f"{type(x).__name__} is on a GPU, and backend {native.backend_name()!r} answers ({backend().why})"
        raise BufferError(f"{what}: bring it to the host by its own library first")
    if not isinstance(entries, Mapping):
        raise TypeError(f"__cuda_array_interface__ must be a dictionary, not {type(entries).__name__}")
    try:
        pointer, shape, strides, name, read_only, stream = _description(entries)
        if all(shape):  # the interface has no word for which device
            device = native.pointer_device(pointer)
            if device < 0:
                raise ValueError(f"'data' is at {pointer:#x}, which is no device's memory")
        view = native.adopt(x, pointer, shape, strides if all(shape) else None, name, device, read_only)
    except (TypeError, ValueError) as error:
        raise type(error)(f"__cuda_array_interface__: {error}") from None
    if stream is not None:
        native.used_in(view, stream, True)
    return view


def _description(entries: Mapping[str, Any]) -> tuple[int, Shape, Shape | None, str, bool, int | None]:
    """Pointer, shape, strides, type, read-only and stream of an interface; adopt() checks where they lead."""
    for key in ("version", "typestr", "shape", "data"):
        if key not in entries:
            raise ValueError(f"it has no {key!r}")
    version = _integer(entries["version"], "version")
    if version < 2:
        raise ValueError(f"'version' is {version}, and 2 and later are known here")
    if entries.get("mask") is not None:
        raise ValueError("'mask' is given, and masked arrays have no meaning here")
    if not isinstance(entries["typestr"], str):
        raise TypeError(f"'typestr' must be a str, not {entries['typestr']!r}")
    dtype = np.dtype(entries["typestr"])
    name = _dtypes.name_of(dtype)
    if not dtype.isnative:
        raise ValueError(f"'typestr' is {entries['typestr']!r}, and a device's arrays are in native byte order")
    shape = _layout.check_shape(_integers(entries["shape"], "shape"), dtype.itemsize)
    strides = None if entries.get("strides") is None else _integers(entries["strides"], "strides")
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"'strides' {strides} and 'shape' {shape} must have as many numbers as each other")
    data = entries["data"]
    if not isinstance(data, (tuple, list)) or len(data) != 2 or not isinstance(data[1], (bool, np.bool_, int)):
        raise TypeError(f"'data' must be (address, read-only), not {data!r}")
    # PyTorch gives None for the address of an empty tensor's memory.
    pointer = 0 if data[0] is None else _integer(data[0], "data")
    stream = None if version < 3 or entries.get("stream") is None else _stream(entries["stream"])
    return pointer, shape, strides, name, bool(data[1]), stream


def _integers(value: Any, key: str) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{key!r} must be a tuple of integers, not {value!r}")
    return tuple(_integer(n, key) for n in value)


# --- either ----------------------------------------------------------------------------------------------------------
_HOST_KINDS = (np.ndarray, np.generic, list, tuple, int, float, complex)


def _takes_part(x: Any) -> bool:
    return hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")


def is_elsewhere(x: Any) -> bool:
    """True for another library's array that is not in host memory: what it says by DLPack counts first."""
    if isinstance(x, _HOST_KINDS):
        return False
    if _takes_part(x):
        try:
            return dlpack_place(x)[0] not in (CPU, CUDA_HOST)
        except Exception:  # it does not say; who takes it is told why
            return False
    return hasattr(x, "__cuda_array_interface__")


def on_device(x: Any, native: Native, device: int, stream: Any) -> View | None:
    """The memory of an object that is another library's array on a device; None for all that is in host memory."""
    if isinstance(x, _HOST_KINDS):
        return None
    if _takes_part(x):
        return None if dlpack_place(x)[0] in (CPU, CUDA_HOST) else from_dlpack(x, native, device, stream)
    return from_interface(x, native, device) if hasattr(x, "__cuda_array_interface__") else None
