"""Sizes of experiments: large enough for a chip to show what it can, small enough for an emulator to end in seconds."""

from __future__ import annotations

import operator

from .._backend import backend


def size(name: str, given: int | None, chip: int, emulator: int) -> int:
    """``given``, or the default for where this context's calls run; ValueError below 1."""
    if given is None:
        return emulator if backend().emulated else chip
    if operator.index(given) < 1:
        raise ValueError(f"{name}: n={given}: it must be 1 or more")
    return operator.index(given)
