"""Words for measured figures: chosen by the figures, so that they are true of whatever was measured."""

from __future__ import annotations

from .._display import figure

#: Two times this near to each other are called equal.
NEARLY = 0.1


def longer(time: float, other: float) -> str:
    """How long one takes against the other: "3.2 times as long as"."""
    ratio = time / other
    if abs(ratio - 1) <= NEARLY:
        return "about as long as"
    return f"{figure(ratio)} times as long as" if ratio > 1 else f"{figure(100 * ratio)}% of the time of"


def faster(rate: float, other: float) -> str:
    """How fast one is against the other: "3.2 times as fast as"."""
    ratio = rate / other
    if abs(ratio - 1) <= NEARLY:
        return "about as fast as"
    return f"{figure(ratio)} times as fast as" if ratio > 1 else f"at {figure(100 * ratio)}% of the rate of"


def counted(n: int, what: str) -> str:
    """So many of them: "1 block", "4 threads"."""
    return f"{n:,} {what}{'s' * (n != 1)}"
