"""Arguments of experiments, their default sizes, and how a row is measured.

Sizes are large enough for a chip to show its speed, and small enough for the emulator to finish within seconds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from .. import _profile
from .._backend import backend

#: How long to measure a row unless repeat= is passed: less than profile() does, since an experiment has many rows.
ROW_S = 0.1


def measure(
    fn: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any], repeat: int | None, warmup: int | None = None
) -> tuple[_profile.Profile, Any]:
    """The profile of a call, and the result of the last one."""
    return _profile.measure(fn, args, kw, repeat, warmup, ROW_S)


def kernel_times(profile: _profile.Profile) -> dict[str, Any]:
    """The figures of a profile that rows contain."""
    return {"kernel_ns": profile.kernel_ns, "gb_per_s": profile.gb_per_s, "clock": profile.clock}


def size(name: str, n: int | None, chip: int, emulator: int) -> int:
    """``n``, or the default for the current backend; TypeError or ValueError unless it is an integer of at least 1."""
    if n is None:
        return emulator if backend().emulated else chip
    n = number(name, "n", n)
    if n < 1:
        raise ValueError(f"{name}: n must be 1 or more, not {n}")
    return n


def number(name: str, key: str, value: Any) -> int:
    """``value`` as an int; TypeError unless it is an integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {key} must be an integer, not {value!r}") from None


def numbers(name: str, key: str, value: Any, also: str = "") -> tuple[int, ...]:
    """An integer or a sequence of integers as a tuple; TypeError otherwise, which also names the ``also`` accepted."""
    try:
        several = isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0
        return tuple(map(operator.index, value if several else (value,)))
    except TypeError:
        raise TypeError(f"{name}: {key} must be an integer or a sequence of integers{also}, not {value!r}") from None
