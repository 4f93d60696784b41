"""Which accesses cost most, and more than they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .counts import Instruction

SECTOR, WARP = 32, 32  #: bytes, lanes
SECTORS_PER_WAVEFRONT = 4  #: L1 and shared memory pass on 128 bytes at a time
#: An access is marked if it costs that share of all passes, and that many times what it needs, or so few of the lanes
#: take part.
SHARE, EXCESS, LANES = 0.1, 1.5, 8


@dataclass(frozen=True)
class Cost:
    """What the accesses of a kind in a line cost."""

    share: float  #: of the passes through L1 and shared memory of all accesses
    excess: float  #: sectors or wavefronts / as many as the lanes' bytes need
    lanes: float  #: per request
    shared: bool

    @property
    def reasons(self) -> Iterator[str]:
        """Why it costs more than it should, if it does."""
        if self.excess >= EXCESS:
            yield f"{self.excess:.3g}x the {'wavefronts' if self.shared else 'sectors'} needed"
        if self.lanes <= LANES:
            yield f"{self.lanes:.3g} of {WARP} lanes"

    def __str__(self) -> str:
        """Empty for what is cheap or as it should be."""
        reasons = ", ".join(self.reasons)
        return f"{self.share:.0%}: {reasons}" if reasons and self.share >= SHARE else ""


def costs(instructions: Iterable[Instruction]) -> dict[tuple[str, int, str], Cost]:
    """By file, line and access, such as "global load"."""
    groups: dict[tuple[str, int, str], list[Instruction]] = {}
    for one in instructions:
        groups.setdefault((one.file, one.line, f"{one.space} {one.what}"), []).append(one)
    passes = {key: sum(map(_passes, some)) for key, some in groups.items()}
    every = sum(passes.values()) or 1
    return {key: _cost(some, passes[key] / every) for key, some in groups.items()}


def _passes(one: Instruction) -> float:
    if one.space == "shared":
        return one.wavefronts
    return one.sectors / SECTORS_PER_WAVEFRONT if one.space == "global" else 0


def _cost(some: list[Instruction], share: float) -> Cost:
    requests, lanes = (sum(getattr(one, name) for one in some) for name in ("requests", "lanes"))
    if shared := some[0].space == "shared":
        paid, needed = sum(one.wavefronts for one in some), sum(one.ideal for one in some)
    else:
        paid = sum(one.sectors for one in some)
        needed = sum(max(one.requests, -(-one.used // SECTOR)) for one in some)
    return Cost(share, paid / max(needed, 1), lanes / max(requests, 1), shared)
