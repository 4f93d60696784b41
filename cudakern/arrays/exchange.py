"""Exchange of arrays with other libraries without a copy.

It follows the array API standard for ``__dlpack__`` and ``from_dlpack``, and version 3 of the CUDA array interface
(documented by Numba).
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._backend import backend, emulator
from .._native import Native, View
from . import dtypes, layout, transfer
from .layout import Shape
from .streams import stream_handle

DLPACK = (1, 0)  #: the newest version supported here
CPU, CUDA, CUDA_HOST = 1, 2, 3  #: DLPack's device types
MEMORY = {CPU: "the host's memory", CUDA: "a GPU", CUDA_HOST: "page-locked host memory", 13: "managed memory"}
LEGACY = 1  #: the legacy default stream in both protocols, where 0 is not a stream
_HOST_TYPES = (np.ndarray, np.generic, list, tuple, int, float, complex)


# --- DLPack ----------------------------------------------------------------------------------------------------------
def dlpack(view: View, native: Native, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Any:
    """The capsule that ``DeviceArray.__dlpack__`` returns."""
    own = native.dlpack_device(view.device)
    target = own if dl_device is None else _pair(dl_device, "dl_device")
    versioned = max_version is not None and _pair(max_version, "max_version")[0] >= 1
    if copy is not None and not isinstance(copy, (bool, np.bool_)):
        raise TypeError(f"copy= must be True, False or None, not {copy!r}")
    if own[0] == CPU and stream is not None:
        raise ValueError(f"stream={stream!r}: this array is in {MEMORY[CPU]}, where stream must be None")
    handle = LEGACY if stream is None else _integer(stream, "stream")
    if handle != -1:  # -1: no ordering
        handle = _stream(handle)
    if target != own:
        if target[0] != CPU:
            raise BufferError(f"this array is on DLPack device {own}: export it to that device or to the host, (1, 0)")
        if copy is not None and not copy:
            raise BufferError("copy=False, but this array is on a GPU, and the host cannot use it without a copy")
        plain = "uint16" if view.dtype == dtypes.BFLOAT16 else view.dtype  # NumPy has no bfloat16 without ml_dtypes
        values = transfer.to_host(native, native.view(view, 0, view.shape, view.strides, plain), 0)
        native, copy, memory = emulator(), True, transfer.from_host(emulator(), values, 0, 0)
        view = native.view(memory, 0, view.shape, memory.strides, view.dtype)
    elif copy:
        view = transfer.duplicate(native, view, view.dtype, view.device, 0)
    elif view.read_only and not versioned:
        instead = "pass max_version=(1, 0) or copy=True, or call .copy()"
        raise BufferError(f"this array is read-only, which DLPack can express only from version 1.0 on: {instead}")
    if target[0] == CPU:  # the host does not wait for streams: all reads and writes must be complete
        native.synchronize(view.device)
    elif handle != -1:
        native.wait_for(view, handle)
    return native.dlpack_export(view, versioned, bool(copy))


def _pair(value: Any, name: str) -> tuple[int, int]:
    try:
        first, second = value
        return operator.index(first), operator.index(second)
    except (TypeError, ValueError):
        raise TypeError(f"{name}= must be a tuple of two integers, not {value!r}") from None


def _stream(value: Any) -> int:
    """A stream's handle as both protocols number it."""
    handle = _integer(value, "stream")
    if handle == 0:
        raise ValueError("'stream' is 0, which is ambiguous: 1 is the legacy default stream, 2 the thread's own")
    if handle < 0:
        raise ValueError(f"'stream' must be None, 1, 2, a stream's address, or -1 (DLPack: no ordering), not {handle}")
    return handle


def _integer(value: Any, key: str) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{key!r} must be an integer, not {value!r}")
    return operator.index(value)


def dlpack_device(x: Any) -> tuple[int, int]:
    """(type, index) of the device that holds an object; TypeError if the object does not support DLPack."""
    if not _supports_dlpack(x):
        protocol = "an object with __dlpack__ and __dlpack_device__"
        raise TypeError(f"from_dlpack takes {protocol}, not {type(x).__name__}: cudakern.asarray takes other objects")
    device = x.__dlpack_device__()
    try:
        kind, index = device
        return int(kind), int(index)
    except (TypeError, ValueError):
        raise TypeError(f"{type(x).__name__}.__dlpack_device__ must return (type, index), not {device!r}") from None


def from_dlpack(x: Any, native: Native, device: int, stream: Any) -> View:
    """The memory of another library's array, shared. Host memory belongs to no device: it becomes ``device``'s."""
    kind, index = dlpack_device(x)
    own, _ = native.dlpack_device(device)
    if kind != own:
        instead = f"move it to {MEMORY[own]} with its own library first"
        if kind in (CPU, CUDA_HOST):
            instead = "cudakern.asarray copies it to the device"
        memory = MEMORY.get(kind, f"memory of DLPack type {kind}")
        here = f"backend {native.backend_name()!r} uses {MEMORY[own]}"
        raise BufferError(f"{type(x).__name__} is in {memory}, but {here}: {instead}")
    if own == CPU:
        index = device
    elif not 0 <= index < native.device_count():
        raise BufferError(f"{type(x).__name__} is on GPU {index}, but cudakern sees {native.device_count()} GPUs")
    handle = stream_handle(stream, native, index)
    keywords = {} if own == CPU else {"stream": handle or LEGACY}
    try:
        capsule = x.__dlpack__(**keywords, max_version=DLPACK)
    except TypeError:  # a producer from before DLPack 1.0
        capsule = x.__dlpack__(**keywords)
    view = native.dlpack_import(capsule, index)
    native.used_in(view, handle, True)
    return view


# --- the CUDA array interface ----------------------------------------------------------------------------------------
def interface(view: View, native: Native) -> dict[str, Any]:
    """``__cuda_array_interface__`` of our array; AttributeError on the emulator and for bfloat16."""
    if native.dlpack_device(view.device)[0] == CPU:
        raise AttributeError("an emulated device's array is in host memory: use __dlpack__ or .get()")
    if view.dtype == dtypes.BFLOAT16:
        raise AttributeError("__cuda_array_interface__ has no name for bfloat16: use __dlpack__")
    native.wait_for(view, LEGACY)
    native.exported(view)
    return {
        "shape": view.shape,
        "typestr": dtypes.from_name(view.dtype).str,
        "data": (view.pointer if all(view.shape) else 0, view.read_only),
        "strides": None if view.contiguous else view.strides,
        "stream": LEGACY,
        "version": 3,
    }


def from_interface(x: Any, native: Native, device: int) -> View:
    """The memory that ``x.__cuda_array_interface__`` describes; ValueError or TypeError if the description is wrong."""
    entries = x.__cuda_array_interface__
    if native.dlpack_device(device)[0] == CPU:
        here = f"the backend is {native.backend_name()!r} ({backend().why})"
        raise BufferError(f"{type(x).__name__} is on a GPU, but {here}: move it to the host with its own library first")
    if not isinstance(entries, Mapping):
        raise TypeError(f"__cuda_array_interface__ must be a dictionary, not {type(entries).__name__}")
    try:
        pointer, shape, strides, name, read_only, stream = _description(entries)
        if all(shape):  # the interface does not say which device
            device = native.pointer_device(pointer)
            if device < 0:
                raise ValueError(f"'data' is at {pointer:#x}, which is not in a device's memory")
        view = native.adopt(x, pointer, shape, strides if all(shape) else None, name, device, read_only)
    except (TypeError, ValueError) as error:
        raise type(error)(f"__cuda_array_interface__: {error}") from None
    if stream is not None:
        native.used_in(view, stream, True)
    return view


def _description(entries: Mapping[str, Any]) -> tuple[int, Shape, Shape | None, str, bool, int | None]:
    """Pointer, shape, strides, type, read-only and stream of an interface; adopt() checks the range in memory."""
    for key in ("version", "typestr", "shape", "data"):
        if key not in entries:
            raise ValueError(f"it has no {key!r}")
    version = _integer(entries["version"], "version")
    if version < 2:
        raise ValueError(f"'version' is {version}: only 2 and later are supported")
    if entries.get("mask") is not None:
        raise ValueError("'mask' must be None, because device arrays have no masks")
    if not isinstance(entries["typestr"], str):
        raise TypeError(f"'typestr' must be a str, not {entries['typestr']!r}")
    dtype = np.dtype(entries["typestr"])
    name = dtypes.name_of(dtype)
    if not dtype.isnative:
        raise ValueError(f"'typestr' is {entries['typestr']!r}, but device arrays are in native byte order")
    shape = layout.check_shape(_integers(entries["shape"], "shape"), dtype.itemsize)
    strides = None if entries.get("strides") is None else _integers(entries["strides"], "strides")
    if strides is not None and len(strides) != len(shape):
        raise ValueError(f"'strides' {strides} and 'shape' {shape} must have the same length")
    data = entries["data"]
    if not isinstance(data, (tuple, list)) or len(data) != 2 or not isinstance(data[1], (bool, np.bool_, int)):
        raise TypeError(f"'data' must be (address, read-only), not {data!r}")
    # PyTorch has None as the address of an empty tensor.
    pointer = 0 if data[0] is None else _integer(data[0], "data")
    stream = None if version < 3 or entries.get("stream") is None else _stream(entries["stream"])
    return pointer, shape, strides, name, bool(data[1]), stream


def _integers(value: Any, key: str) -> tuple[int, ...]:
    if not isinstance(value, (tuple, list)):
        raise TypeError(f"{key!r} must be a tuple of integers, not {value!r}")
    return tuple(_integer(n, key) for n in value)


# --- both ------------------------------------------------------------------------------------------------------------
def _supports_dlpack(x: Any) -> bool:
    return hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__")


def is_elsewhere(x: Any) -> bool:
    """True for another library's array that is not in host memory; DLPack takes precedence."""
    if isinstance(x, _HOST_TYPES):
        return False
    if _supports_dlpack(x):
        try:
            return dlpack_device(x)[0] not in (CPU, CUDA_HOST)
        except Exception:  # the call that needs the array raises it again
            return False
    return hasattr(x, "__cuda_array_interface__")


def on_device(x: Any, native: Native, device: int, stream: Any) -> View | None:
    """The memory of another library's array on a device; None for anything in host memory."""
    if isinstance(x, _HOST_TYPES):
        return None
    if _supports_dlpack(x):
        return None if dlpack_device(x)[0] in (CPU, CUDA_HOST) else from_dlpack(x, native, device, stream)
    return from_interface(x, native, device) if hasattr(x, "__cuda_array_interface__") else None
