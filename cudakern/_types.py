"""NumPy's rules for element types, by name: what two types make of each other, what goes into what, how each rounds.

Names, since NumPy knows bfloat16 only where ml_dtypes is installed.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from ._dtypes import BFLOAT16, from_name

NO_BFLOAT16 = "ml_dtypes is not installed"


def numpy_dtype(what: npt.DTypeLike) -> np.dtype[Any]:
    """np.dtype(what), for "bfloat16" too; ImportError says what is missing for that."""
    return from_name(what) if isinstance(what, str) and what == BFLOAT16 else np.dtype(what)


@functools.cache
def has_bfloat16() -> bool:
    """True if NumPy arrays can be of bfloat16 here."""
    try:
        from_name(BFLOAT16)
    except ImportError:
        return False
    return True


def type_name(dtype: npt.DTypeLike) -> str:
    """NumPy's name of a type, whatever its byte order; "bfloat16" needs no package here."""
    return BFLOAT16 if isinstance(dtype, str) and dtype == BFLOAT16 else np.dtype(dtype).name


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
    """The type that numpy.matmul converts both operands to, and that of its result; TypeError as NumPy's.

    Two arrays of bfloat16 stay that. With another type it counts as float32, as it does in NumPy, where ml_dtypes has
    no product of its own.
    """
    if a == b == BFLOAT16:
        return a, a
    first, second = ("float32" if name == BFLOAT16 else name for name in (a, b))
    found = np.matmul.resolve_dtypes((np.dtype(first), np.dtype(second), None))
    return found[0].name, found[2].name


@functools.cache
def same_kind(source: str, to: str) -> bool:
    """True if values go from one type into the other by the rule "same_kind"; bfloat16 counts as float16 does."""
    first, second = ("float16" if name == BFLOAT16 else name for name in (source, to))
    return np.can_cast(first, second, casting="same_kind")
