"""Element types by name, because NumPy has bfloat16 only if ml_dtypes is installed, and NumPy's rules for them."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import unknown
from .._imports import IMPORTING

INTEGERS = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")  #: bool counts as one
BFLOAT16 = "bfloat16"
NAMES = (*INTEGERS, "float16", BFLOAT16, "float32", "float64", "complex64", "complex128")
NO_BFLOAT16 = "ml_dtypes is not installed"
_NUMPY: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in NAMES if name != BFLOAT16}
_ITEMSIZE = {BFLOAT16: 2} | {name: dtype.itemsize for name, dtype in _NUMPY.items()}
_BY_SIZE = {(dtype.kind, dtype.itemsize): name for name, dtype in _NUMPY.items()}


def name_in_numpy(dtype: np.dtype[Any]) -> str:
    """``dtype.name``, which in NumPy imports a module, and so fails in a ``__del__`` at interpreter exit."""
    if name := _BY_SIZE.get((dtype.kind, dtype.itemsize)):
        return name
    return dtype.type.__name__ if dtype.isbuiltin == 2 else dtype.name  # 2: another package's type, such as bfloat16


@functools.cache
def from_name(name: str) -> np.dtype[Any]:
    """NumPy's type of that name; ImportError if it is bfloat16 and ml_dtypes is not installed."""
    if name != BFLOAT16:
        return _NUMPY[name]
    try:
        with IMPORTING:
            ml_dtypes = importlib.import_module("ml_dtypes")
    except ImportError:
        instead = "pip install ml_dtypes, or use .astype('float32')"
        raise ImportError(f"NumPy has bfloat16 only with the package ml_dtypes: {instead}") from None
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype


def itemsize(name: str) -> int:
    return _ITEMSIZE[name]


def name_of(dtype: npt.DTypeLike) -> str:
    """The name of a type of device arrays; TypeError for other types. A name has no byte order."""
    name = type_name(dtype)
    if name not in _ITEMSIZE:
        raise TypeError(f"device arrays have one of the types {', '.join(NAMES)}, not {np.dtype(dtype)}")
    return name


# --- NumPy's rules: common types, casts, rounding --------------------------
def numpy_dtype(what: npt.DTypeLike) -> np.dtype[Any]:
    """np.dtype(what), also for "bfloat16"; ImportError if ml_dtypes is not installed."""
    try:
        return from_name(what) if isinstance(what, str) and what == BFLOAT16 else np.dtype(what)
    except TypeError:
        if isinstance(what, str):
            raise TypeError(unknown("type", what, NAMES)) from None
        raise


def has_bfloat16() -> bool:
    """True if NumPy arrays can have the type bfloat16 here."""
    with IMPORTING:
        from importlib.util import find_spec  # imported late, because few need it

    return find_spec("ml_dtypes") is not None


def type_name(dtype: npt.DTypeLike) -> str:
    """NumPy's name of a type without its byte order; "bfloat16" needs no package here."""
    return BFLOAT16 if isinstance(dtype, str) and dtype == BFLOAT16 else name_in_numpy(np.dtype(dtype))


def kind_of(dtype: npt.DTypeLike) -> str:
    """NumPy's letter for the kind of a type: "b", "i", "u", "f", "c"...; "f" for bfloat16 too."""
    return "f" if type_name(dtype) == BFLOAT16 else np.dtype(dtype).kind


@functools.cache
def rounding_unit(name: str) -> float:
    """The largest relative error of one rounding; 0 for integers."""
    if name == BFLOAT16:
        return 2.0**-8  # seven bits of fraction
    return float(np.finfo(name).eps) / 2 if kind_of(name) in "fc" else 0.0


@functools.cache
def matmul_types(a: str, b: str) -> tuple[str, str]:
    """The type that numpy.matmul converts both operands to, and the result's; TypeError as in NumPy.

    bfloat16 with another type counts as float32, as in NumPy, because ml_dtypes has no product.
    """
    if a == b == BFLOAT16:
        return a, a
    first, second = ("float32" if name == BFLOAT16 else name for name in (a, b))
    types = np.matmul.resolve_dtypes((np.dtype(first), np.dtype(second), None))
    return name_in_numpy(types[0]), name_in_numpy(types[2])


@functools.cache
def same_kind(source: str, to: str) -> bool:
    """True if the casting rule "same_kind" allows the cast; bfloat16 counts as float16."""
    first, second = ("float16" if name == BFLOAT16 else name for name in (source, to))
    return np.can_cast(first, second, casting="same_kind")
