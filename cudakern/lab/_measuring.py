"""How experiments measure a row: as profile() does, but for less time, since an experiment has many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _profile

#: Without repeat= a row is measured until this time is used up: thirty rows end in some seconds.
ROW_S = 0.1


def measure(
    fn: Callable[..., Any], args: tuple[Any, ...], kw: dict[str, Any], repeat: int | None, warmup: int | None = None
) -> tuple[_profile.Profile, Any]:
    """The profile of a call, and the result of the last one."""
    return _profile.measure(fn, args, kw, repeat, warmup, ROW_S)


def kernel_times(profile: _profile.Profile) -> dict[str, Any]:
    """What rows have of it."""
    ns = profile.kernel_ns
    return {"kernel_ns": ns, "kernel_us": ns / 1e3, "gb_per_s": profile.gb_per_s, "clock": profile.clock}
