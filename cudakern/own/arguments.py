"""Arguments of a launch, checked against the kernel's parameters, as the C modules take them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from .._native import Native, View
from ..arrays import dtypes, transfer
from ..arrays.array import DeviceArray, memory_of
from ..arrays.transfer import Array

if TYPE_CHECKING:
    from .compile import Kernel

#: "value", or of a pointer "reads" (it is to const) or "writes"; the type, None for a struct, an enum or a pointer;
#: bytes of a value; bytes of a pointer's elements.
Parameter: TypeAlias = tuple[str, str | None, int, int]
AnError = TypeVar("AnError", bound=Exception)

#: A pointer to one of these takes arrays of all of them: characters are any.
_BYTES = ("int8", "uint8", "bool")
#: From here on, a number would be rounded to infinity.
_INFINITE = {"float64": 2**1024 - 2**970, "float32": 2.0**128 - 2.0**103}
_INFINITE |= {"float16": 65520.0, dtypes.BFLOAT16: 2.0**128 - 2.0**119}


class Argument(NamedTuple):
    """A value that is passed for a parameter of a kernel."""

    kernel: Kernel
    at: int
    parameter: Parameter
    value: Any

    def _error(self, kind: type[AnError], what: str, instead: str = "", more: str = "") -> AnError:
        """An error that says ``what`` is wrong, and what to pass ``instead``: the caller needs an array of results."""
        advice = instead and f": pass {instead}"
        if instead and self.parameter[0] == "writes":
            advice = f": take x = {instead} before the call, and pass x, which then has the result"
        return kind(f"{self.kernel._label(self.at)} {what}{advice}{more}")

    def _check_type(self, dtype: str, nbytes: int) -> None:
        _, expected, _, size = self.parameter
        if expected is None:
            if dtype != "uint64" and self.kernel._declared(self.at).count("*") > 1:
                raise self._error(
                    TypeError, f"points to pointers: pass a uint64 array of device addresses, not {dtype}"
                )
            if size and nbytes % size:
                raise self._error(TypeError, f"points to elements of {size} bytes, but the array has {nbytes} bytes")
        elif dtype != expected and not (expected in _BYTES and dtype in _BYTES):
            what = f"must be {'an' if expected[0] in 'aeiou' else 'a'} {expected} array, not {dtype}"
            if expected in _BYTES and dtype not in dtypes.NAMES:
                raise self._error(TypeError, f"{what}: pass its bytes, x.view({expected!r})")
            raise self._error(TypeError, what, f"x.astype({expected!r})")

    def host(self) -> Array:
        """A NumPy array as it is copied to the device."""
        x: Array = self.value
        writes = self.parameter[0] == "writes"
        instead = "x.data, whose memory it is" if writes else "x.filled(0) or x.data"
        transfer.refuse_masked(x, self.kernel._label(self.at), instead)
        if not x.flags.c_contiguous:
            what = f"has shape {x.shape} and strides {x.strides}, and a pointer has no strides"
            raise self._error(ValueError, what, "numpy.ascontiguousarray(x)")
        if writes and not x.flags.writeable:
            what, more = "is read-only, and the kernel may write it", "; or declare a pointer to const"
            raise self._error(ValueError, what, "x.copy()", more)
        if not x.dtype.isnative:
            native = dtypes.name_in_numpy(x.dtype.newbyteorder("="))
            raise self._error(TypeError, f"has the type {x.dtype}, with another byte order", f"x.astype({native!r})")
        if x.dtype.hasobject:
            raise self._error(TypeError, "is an array of Python objects, which a kernel cannot read")
        name = dtypes.name_in_numpy(x.dtype)
        self._check_type(name, x.nbytes)
        x = x.reshape(-1)
        return x if name in dtypes.NAMES else x.view(np.uint8)

    def view(self, native: Native, device: int, stream: Any) -> View | None:
        """The memory of an array on the device; None for None."""
        if self.value is None:
            return None
        view = memory_of(self.value, self.kernel._label(self.at), native, device, stream)
        if view is None:
            what = f"must be a NumPy array or an array on the device, not {type(self.value).__name__}"
            raise self._error(TypeError, what, f"numpy.asarray(x, {self.parameter[1] or 'dtype'!r})")
        self._check_type(view.dtype, view.nbytes)
        if not view.contiguous:
            raise self._error(ValueError, "is not contiguous, and a pointer has no strides", "x.copy()")
        return view

    def number(self) -> Any:
        """A number or struct."""
        (_, dtype, size, _), x = self.parameter, self.value
        if isinstance(x, (np.ndarray, DeviceArray)) and x.ndim:
            raise self._error(TypeError, f"is a value, not a pointer: an array of shape {x.shape} cannot be passed")
        if isinstance(x, DeviceArray):
            raise self._error(TypeError, "is a value, and the array is on the device: pass x.item()")
        x = x[()] if isinstance(x, np.ndarray) else x
        if isinstance(x, np.generic) and dtypes.name_in_numpy(x.dtype) == dtypes.BFLOAT16:
            x = float(x)
        if dtype is None:
            if isinstance(x, np.generic) and x.nbytes == size:
                return x
            scalar = "a NumPy scalar of that size (of a structured dtype with align=True, or an integer type)"
            raise self._error(TypeError, f"is a struct or an enum of {size} bytes: pass {scalar}")
        kind = dtypes.kind_of(dtype)
        if kind in "iu" and isinstance(x, (int, np.integer)):
            info = np.iinfo(dtype)
            if not info.min <= int(x) <= info.max:
                raise self._error(OverflowError, f"must be from {info.min} to {info.max}, not {x}")
            return int(x)
        if kind == "b" and isinstance(x, (bool, np.bool_)):
            return bool(x)
        if kind == "f" and isinstance(x, (int, float, np.floating, np.integer)):
            number = x if isinstance(x, int) else float(x)
            if _INFINITE[dtype] <= abs(number) < math.inf:
                raise self._error(OverflowError, f"must be within the range of {dtype}, or infinite, not {x!r:.60}")
            return _bits(float(number), dtype) if size == 2 else float(number)
        needed = {"b": "a bool", "f": "a real number"}.get(kind, "an integer")
        raise self._error(TypeError, f"must be {needed}, not {x!r:.60} ({type(x).__name__})")


def _bits(x: float, dtype: str) -> np.generic:
    """A half-precision number as the C module takes it; of bfloat16 the bits, rounded as in NumPy's other types."""
    if dtype != dtypes.BFLOAT16:
        return np.float16(x)
    bits = int(np.float32(x).view(np.uint32))
    rounded = bits + 0x7FFF + (bits >> 16 & 1) if x == x else bits | 0x400000
    return np.uint16(rounded >> 16 & 0xFFFF)


def place(x: Array) -> tuple[int, int]:
    """Where a host array is."""
    return x.ctypes.data, x.nbytes


def refuse_overlap(kernel: Kernel, hosts: list[tuple[int, Array, bool]]) -> None:
    """ValueError for NumPy arrays that share a part of their memory, of which the kernel writes one."""
    for n, (i, x, writes) in enumerate(hosts):
        for j, y, also in hosts[:n]:
            if (writes or also) and place(x) != place(y) and np.may_share_memory(x, y):
                pair = f"arguments {j + 1} and {i + 1} overlap in host memory, but their copies on the device would not"
                advice = f"pass a copy of argument {(j if writes else i) + 1}, which is only read"
                if writes and also:
                    advice = "take y = x.copy() of one before the call, and pass y, which then has its result"
                raise ValueError(f"{kernel.name}: {pair}: {advice}, or views of one array on the device")
