"""The types that arrays on the device may have, and NumPy's names for them. NumPy has bfloat16 through ml_dtypes."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

NAMES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
BFLOAT16 = "bfloat16"
_ITEMSIZE = {BFLOAT16: 2} | {name: np.dtype(name).itemsize for name in NAMES if name != BFLOAT16}
_NUMPY: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in NAMES if name != BFLOAT16}


def from_name(name: str) -> np.dtype[Any]:
    """NumPy's type of that name; ImportError if it is bfloat16 and ml_dtypes is not installed."""
    found = _NUMPY.get(name)
    return _bfloat16() if found is None else found


def itemsize(name: str) -> int:
    """Bytes of an element."""
    return _ITEMSIZE[name]


@functools.cache
def _bfloat16() -> np.dtype[Any]:
    try:  # only when it is needed: it is the user's to install
        ml_dtypes = importlib.import_module("ml_dtypes")
    except ImportError:
        raise ImportError(
            "NumPy has bfloat16 only with the package ml_dtypes: pip install ml_dtypes, or take .astype('float32')"
        ) from None
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def name_of(dtype: npt.DTypeLike) -> str:
    """The name of a type that the device has; TypeError for all others. Byte order is not in a name."""
    if isinstance(dtype, str) and dtype in _ITEMSIZE:  # NumPy knows "bfloat16" only after an import of ml_dtypes
        return dtype
    return _name_of(np.dtype(dtype))


@functools.lru_cache(maxsize=64)  # NumPy computes a name anew each time it is asked
def _name_of(dtype: np.dtype[Any]) -> str:
    if dtype.name not in _ITEMSIZE:
        raise TypeError(f"arrays on the device are of {', '.join(NAMES[:-1])} or {NAMES[-1]}, not of {dtype}")
    return dtype.name
