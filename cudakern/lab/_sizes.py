"""Sizes of experiments: large enough for a chip to show what it can, small enough for an emulator to end in seconds."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .._backend import backend


def size(name: str, given: int | None, chip: int, emulator: int) -> int:
    """``given``, or the default for where this context's calls run; TypeError or ValueError unless it is 1 or more."""
    if given is None:
        return emulator if backend().emulated else chip
    count = number(name, "n", given)
    if count < 1:
        raise ValueError(f"{name}: n={count}: it must be 1 or more")
    return count


def number(name: str, key: str, given: Any) -> int:
    """A whole number; TypeError for anything else."""
    try:
        return operator.index(given)
    except TypeError:
        raise TypeError(f"{name}: {key}={given!r}: it must be a whole number") from None


def numbers(name: str, key: str, given: Any, also: str = "") -> tuple[int, ...]:
    """One whole number, or a sequence of them; TypeError for anything else, which names what ``also`` is taken."""
    try:
        if isinstance(given, Iterable) and getattr(given, "ndim", 1) != 0:
            return tuple(operator.index(each) for each in given)
        return (operator.index(given),)
    except TypeError:
        raise TypeError(f"{name}: {key}={given!r}: it must be a whole number, or a sequence of them{also}") from None
