"""What an out= may be, as NumPy's functions have it; of any operation."""

from __future__ import annotations

from typing import Any

from .._exchange import is_elsewhere
from .._layout import Shape, elements_meet


def check_cast(operation: str, possible: bool, result: str, out: str) -> None:
    """TypeError if the result does not go into out."""
    if not possible:
        raise TypeError(
            f"{operation}: the result is {result}, which does not go into out, {out}, by the rule 'same_kind'"
        )


def only(operation: str, out: Any) -> Any:
    """out, which NumPy's functions take as a tuple of one as well."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{operation}: out is a tuple of {len(out)}, and there is one result")
        if out[0] is ...:
            raise TypeError(f"{operation}: give out=..., not a tuple of it")
        return out[0]
    return out


def check_is_array(operation: str, out: Any, kinds: tuple[type, ...]) -> None:
    """TypeError if out is no array."""
    if not isinstance(out, kinds):
        if is_elsewhere(out):
            raise TypeError(
                f"{operation}: out is a {type(out).__name__} of another library, on the device: cudakern.asarray(out) "
                "takes it without a copy"
            )
        raise TypeError(f"{operation}: out must be an array, not {type(out).__name__}")


def check_writable(operation: str, writable: bool) -> None:
    """ValueError if out is read-only."""
    if not writable:
        raise ValueError(f"{operation}: out is read-only")


def check_distinct(operation: str, shape: Shape, strides: Shape, itemsize: int) -> None:
    """ValueError if elements of out share memory."""
    if elements_meet(shape, strides, itemsize):
        raise ValueError(
            f"{operation}: elements of out share memory (shape {shape}, strides {strides}): several results would "
            "go to one place; give an out= whose elements each have their own"
        )
