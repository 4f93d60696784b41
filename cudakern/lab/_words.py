"""Words for measured figures: chosen by the figures, so that they are true of whatever was measured."""

from __future__ import annotations

from collections.abc import Mapping

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


def clearly(more: float, less: float) -> bool:
    """More than "about as long as"."""
    return more > (1 + NEARLY) * less


def verdict(claims: Mapping[str, bool]) -> str:
    """Which claims the figures bear out: "Still so: one; another. No longer so: a third." """
    said = []
    for words, borne_out in (("Still so", True), ("No longer so", False)):
        chosen = [claim for claim, holds in claims.items() if bool(holds) == borne_out]
        if chosen:
            said.append(f"{words}: {'; '.join(chosen)}.")
    return " ".join(said)
