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


def told(finding: str, emulated: bool) -> str:
    """A finding of times, which says so where they are emulated."""
    return f"By emulated times: {finding[0].lower()}{finding[1:]}" if emulated else finding


def grouped(n: float) -> str:
    """A whole number with its thousands apart: "4,096"."""
    return f"{n:,.0f}"


def percent(share: float) -> str:
    """A share of 1: "25%"."""
    return f"{share:.0%}"


def of_hundred(share: float) -> str:
    """A share of 100, however small: "0.0031%"."""
    return f"{share:.3g}%"


def scientific(value: float) -> str:
    """Of whatever magnitude: "1.2e-07"."""
    return f"{value:.1e}"


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
