"""Sizes of experiments: large enough for a chip to show what it can, small enough for an emulator to end in seconds."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .._backend import backend


def size(name: str, n: int | None, chip: int, emulator: int) -> int:
    """``n``, or the default for where this context's calls run; TypeError or ValueError unless it is 1 or more."""
    if n is None:
        return emulator if backend().emulated else chip
    n = number(name, "n", n)
    if n < 1:
        raise ValueError(f"{name}: n={n}: it must be 1 or more")
    return n


def number(name: str, key: str, value: Any) -> int:
    """A whole number; TypeError for anything else."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {key}={value!r}: it must be a whole number") from None


def numbers(name: str, key: str, value: Any, also: str = "") -> tuple[int, ...]:
    """One whole number, or a sequence of them; TypeError for anything else, which names what ``also`` is accepted."""
    try:
        several = isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0
        return tuple(map(operator.index, value if several else (value,)))
    except TypeError:
        raise TypeError(f"{name}: {key}={value!r}: it must be a whole number, or a sequence of them{also}") from None
