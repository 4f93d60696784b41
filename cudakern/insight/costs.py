"""Which accesses cost most, and more than they need; and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .counts import Instruction, Request

SECTOR, WARP = 32, 32  #: bytes, lanes
WORD, BANKS = 4, 32  #: of shared memory
ATOMIC = ("atomic", "reduction")
SECTORS_PER_WAVEFRONT = 4  #: L1 and shared memory pass on 128 bytes at a time
#: An access is marked if it costs that share of all passes, and that many times what it needs, or so few of the lanes
#: take part.
SHARE, EXCESS, LANES = 0.1, 1.5, 8


@dataclass(frozen=True)
class Cost:
    """What the accesses of a kind in a line cost."""

    share: float  #: of the passes through L1 and shared memory of all accesses
    paid: float  #: sectors or wavefronts per request
    needed: float  #: as many as the lanes' bytes need
    lanes: float  #: per request
    worst: Instruction  #: the one of these that is furthest from what it needs

    @property
    def is_marked(self) -> bool:
        return self.share >= SHARE and bool(self.reasons)

    @property
    def is_excessive(self) -> bool:
        least = 0 if self.worst.space == "shared" else 1  # a sector more is what odd beginnings of rows take
        return self.paid >= EXCESS * self.needed and self.paid > self.needed + least

    def remedy(self, source: str) -> str:
        """What would help, in words, as the line's source and the costliest request tell; empty if they do not."""
        if not self.is_excessive:
            return _FEW_LANES if self.lanes <= LANES else ""
        of, step = self.worst, distance(self.worst.worst)
        return next((advice for applies, advice in _REMEDIES if applies(of, step, source)), "")

    @property
    def reasons(self) -> list[str]:
        """In words, why it costs more than it should; empty if it does not."""
        result, unit = [], "wavefronts" if self.worst.space == "shared" else "sectors"
        if self.is_excessive:
            paid, needed = (of(self.worst) / self.worst.requests for of in (_paid, _needed))
            others = f" (on average of the line's {self.worst.what}s {self.paid:.3g})"
            mean = others if abs(paid - self.paid) > paid / 10 else ""  # what the table shows
            result.append(f"{_cause(self.worst)}: {paid:.3g} {unit} per request, {needed:.3g} would do{mean}")
        if self.lanes <= LANES:
            take = "takes" if self.lanes == 1 else "take"
            result.append(f"only {self.lanes:.3g} of {WARP} lanes {take} part")
        return result


def by_access(instructions: Iterable[Instruction]) -> dict[tuple[str, int, str], list[Instruction]]:
    """By file, line and access, such as "global load"."""
    groups: dict[tuple[str, int, str], list[Instruction]] = {}
    for one in instructions:
        groups.setdefault((one.file, one.line, f"{one.space} {one.what}"), []).append(one)
    return groups


def costs(instructions: Iterable[Instruction]) -> dict[tuple[str, int, str], Cost]:
    """Of the accesses that pass through L1 or shared memory."""
    groups = by_access(one for one in instructions if one.space in ("global", "shared"))
    passes = {key: sum(map(_passes, some)) for key, some in groups.items()}
    every = sum(passes.values()) or 1
    return {key: _cost(some, passes[key] / every) for key, some in groups.items()}


def passes(instructions: Iterable[Instruction]) -> float:
    """Through L1 and shared memory: what "cost" is a share of."""
    return sum(_passes(one) for one in instructions if one.space in ("global", "shared"))


def _passes(one: Instruction) -> float:
    return one.wavefronts if one.space == "shared" else one.sectors / SECTORS_PER_WAVEFRONT


def _paid(one: Instruction) -> int:
    return one.wavefronts if one.space == "shared" else one.sectors


def _needed(one: Instruction) -> int:
    return one.ideal if one.space == "shared" else max(one.requests, -(-one.used // SECTOR))


def _cost(some: list[Instruction], share: float) -> Cost:
    requests = max(sum(one.requests for one in some), 1)
    paid, needed, lanes = (sum(map(of, some)) / requests for of in (_paid, _needed, lambda one: one.lanes))
    return Cost(share, paid, needed, lanes, max(some, key=lambda one: _paid(one) - _needed(one)))


def _cause(of: Instruction) -> str:
    """What its costliest request is like."""
    if together := _together(of):
        return f"up to {together} lanes change one address, and take turns"
    if of.what == "copy" and of.space == "shared":
        return "several lanes copy from, or to, different words of one bank"
    if of.space == "shared":
        most = max(len(words) for phase in phases(of) for words in by_bank(phase, width(of)).values())
        return f"up to {most} different words that lanes want at once are in one bank"
    steps = {(to - lane, b - a) for (lane, a), (to, b) in pairwise(of.worst)}
    apart = {b / lanes for lanes, b in steps}
    if len(apart) == 1 and abs(step := apart.pop()) != of.bytes:
        return f"neighboring lanes access {abs(step):,.0f} bytes apart"
    if all(b in (0, lanes * of.bytes) for lanes, b in steps):
        return "the lanes in between take no part"
    pieces = 1 + sum(b - a not in (0, of.bytes) for (_, a), (_, b) in pairwise(of.worst))
    return f"what the lanes access lies in {pieces} separate pieces"


def _together(of: Instruction) -> int:
    """How many lanes, if it is most of them, change one address by atomic operations that take turns; 0 otherwise."""
    takes_turns = of.turns or (of.space == "global" and of.what in ATOMIC)
    together = Counter(at for _, at in of.worst).most_common(1)[0][1] if takes_turns else 0
    return together if 2 * together > max(len(of.worst), 2) else 0


def distance(request: Request) -> int:
    """How many bytes apart most neighboring lanes access; 0: some do so, others do otherwise."""
    steps = Counter(abs(b - a) for (lane, a), (to, b) in pairwise(request) if to == lane + 1)
    step, count = steps.most_common(1)[0] if steps else (0, 0)
    return step if 4 * count >= 3 * (len(request) - 1) else 0


_ROW = 4 * SECTOR  #: bytes: neighbors that are further apart are likely to be in different rows
_MEMBER = re.compile(r"\]\s*\.\s*[A-Za-z_]|\w\s*->\s*[A-Za-z_]")
_FEW_LANES = "let all lanes of the warp take part, each in its share of the loop or of the elements"
#: What would help an access that costs more than it needs, by its distance from lane to lane and its line's source: the
#: first that applies.
_REMEDIES: tuple[tuple[Callable[[Instruction, int, str], bool], str], ...] = (
    (
        lambda of, step, source: _together(of) > 0,
        "sum in each warp first (__reduce_add_sync, or shuffles), or in each block, so that one lane makes the atomic "
        "operation for all",
    ),
    (
        lambda of, step, source: of.space == "global" and of.what in ATOMIC,
        "let each block count in shared memory first, and add its counts to those in global memory at its end",
    ),
    (
        lambda of, step, source: of.space == "shared" and step > WORD,
        "pad each row of the shared array by one element ([32][33] instead of [32][32]), or let neighboring lanes "
        "access neighboring words",
    ),
    (
        lambda of, step, source: of.bytes < step < _ROW and bool(_MEMBER.search(source)),
        "store one array per member instead of an array of structs, or load a whole struct at once, as float4",
    ),
    (
        lambda of, step, source: of.bytes < step < _ROW,
        "let neighboring threads access neighboring elements: thread t those at t, t + blockDim.x and so on, not "
        "several in a row; if each thread needs those in a row, load them at once, as a float2 or uchar4",
    ),
    (
        lambda of, step, source: of.space == "global" and step >= _ROW,
        "let threadIdx.x run along the contiguous axis (the last index; in steps of blockDim.x through a chunk); if "
        "one array must be accessed along the other axis, transpose through a tile in shared memory",
    ),
    (
        lambda of, step, source: of.space == "global" and step == of.bytes,
        "let each warp access longer rows, by a block that is 32 threads or more along x, and let the rows begin at "
        "multiples of 32 bytes",
    ),
    (
        lambda of, step, source: any(to > lane + 1 for (lane, _), (to, _) in pairwise(of.worst)),
        "let neighboring lanes take part, as by if (threadIdx.x < n / 2), not every second one",
    ),
    (
        lambda of, step, source: of.space == "global",
        "where data decides on the addresses, sort it first, or keep what is looked up in shared memory",
    ),
)


def by_bank(request: Request, size: int) -> dict[int, list[int]]:
    """The different words of shared memory that lanes access, by bank."""
    words: dict[int, list[int]] = {}
    for word in dict.fromkeys(word for _, at in request for word in range(at // WORD, (at + size - 1) // WORD + 1)):
        words.setdefault(word % BANKS, []).append(word)
    return words


def width(of: Instruction) -> int:
    """Bytes per lane in a request: of shared memory more than one element if a loop's neighboring elements are loaded
    together, which shows in the number of parts that its requests need."""
    if of.space != "shared" or of.what != "load":
        return of.bytes
    parts = of.ideal / of.requests
    return min((of.bytes, 8, 16), key=lambda size: abs(len(_parts(of.worst, size, merges=True)) - parts))


def phases(of: Instruction, request: Request | None = None) -> list[Request]:
    """The parts of a request to shared memory, by default of the costliest, which come one after another: of 8 bytes
    per lane the halves of the warp, of 16 its quarters. Two parts of a load come together if each two lanes i and
    i ^ 1, or i and i ^ 2, read the same."""
    return _parts(of.worst if request is None else request, width(of), merges=of.what == "load")


def _parts(request: Request, size: int, merges: bool) -> list[Request]:
    count = 1 if size <= WORD else 2 if size <= 2 * WORD else 4
    lanes = WARP // count
    parts = [tuple(one for one in request if one[0] // lanes == part) for part in range(count)]
    if merges and count > 1:
        pairs = list(zip(parts[::2], parts[1::2], strict=True))
        parts = [part for a, b in pairs for part in ([a + b] if _are_pairs(a + b) else [a, b])]
    return [part for part in parts if part]


def _are_pairs(request: Request) -> bool:
    at = dict(request)
    return any(all(at.get(lane ^ bit, address) == address for lane, address in request) for bit in (1, 2))
