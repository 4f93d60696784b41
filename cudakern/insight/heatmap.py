"""The picture of a request: which sectors of global memory, or banks of shared memory, the lanes of a warp access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .costs import ATOMIC, BANKS, SECTOR, WORD, by_bank, distance, phases, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .counts import Instruction, Request

_ROW_INCHES, _NUMBERS = 0.2, " (the numbers are lanes; 3+: lane 3 and others)"
#: A cell's color and its text's, which differ in lightness too: of each quarter of a warp; of words that share a bank.
_QUARTERS = (("#d5e6f5", "black"), ("#93c0e4", "black"), ("#3a7fb8", "white"), ("#0d3b66", "white"))
_FIRST, _WAITS = _QUARTERS[0], ("#b3261e", "white")


def heatmap(of: Instruction, steps: int) -> Figure:
    """For ``Counted.heatmap``."""
    from ..measure import plots  # says what to install if matplotlib is missing

    draw = _in_banks if of.space == "shared" else _in_sectors
    requests = of.steps[:steps] if steps else (of.worst,)
    title, rows = f"line {of.line}: {of.space} {of.what} of {width(of)} bytes per lane", -(-len(requests) // 2)
    if of.space == "global" and (apart := distance(requests[0])) not in (0, of.bytes):
        title += f", {apart:,} bytes from lane to lane"
    figure = plots.Picture(layout="constrained")
    panels = figure.subplots(rows, min(len(requests), 2), squeeze=False).ravel()
    deepest = 0.0
    for number, (panel, request) in enumerate(zip(panels, requests, strict=False), 1):
        what = f"{_counted(len(request), 'lane')}, {draw(panel, of, request)}"
        deepest = max(deepest, _ROW_INCHES * panel.get_ylim()[0])
        if len(requests) == 1:
            panel.set_title(f"{title}\n{what}")
            continue
        moved = request[0][1] - requests[0][0][1]
        panel.set_title(f"request {number}: {what}{f', {moved:+,} bytes' if number > 1 else ''}", fontsize=9)
    for panel in panels[len(requests) :]:
        panel.set_axis_off()
    figure.set_size_inches(*((9, max(4, deepest + 1)) if len(requests) == 1 else (14, rows * max(3, deepest + 1))))
    if len(requests) > 1:
        figure.suptitle(f"{title}: the first requests of a warp, and how far they are from the first one")
    return figure


def _in_sectors(panel: Axes, of: Instruction, request: Request) -> str:
    """A row per sector, of which each lane's bytes are colored. Of atomic operations, lanes on one address have rows
    of their own. Returns how many sectors there are."""
    turns, count, width = [request], 0, min(of.bytes, WORD)
    if of.what in ATOMIC and of.sectors > of.requests:  # otherwise nvcc adds up in the warp
        turns = list(_turns(request))
    is_combined = of.what in ATOMIC and len(turns) == 1 and len({at for _, at in request}) < len(request)
    for turn in turns:
        sectors = sorted({at // SECTOR for _, start in turn for at in range(start, start + of.bytes)})
        rows = {sector: row for row, sector in enumerate(sectors, count)}
        count += len(rows)
        lanes: dict[int, list[int]] = {}  # by the address of what they access: 4 bytes, or less
        for lane, start in turn:
            for at in range(start, start + of.bytes, width):
                lanes.setdefault(at, []).append(lane)
        for at, some in lanes.items():
            _cell(panel, at % SECTOR, rows[at // SECTOR], width, some, _QUARTERS[some[0] // 8])
        for row in rows.values():
            panel.plot([0, SECTOR, SECTOR, 0, 0], [row - 0.4, row - 0.4, row + 0.4, row + 0.4, row - 0.4], "k", lw=0.5)
    by = "sectors, by address" if len(turns) == 1 else "sectors, turn by turn"
    panel.set(xlim=(0, SECTOR), ylim=(count - 0.5, -0.5), xlabel=f"byte of the sector{_NUMBERS}", ylabel=by)
    panel.set_xticks(range(0, SECTOR + 1, WORD))
    panel.set_yticks([])
    why = ", because one lane makes the operation for all" if is_combined else ""
    why = ", because lanes on one address take turns" if len(turns) > 1 else why
    return f"{_counted(count, 'sector')}{why}"


def _turns(request: Request) -> Iterator[Request]:
    """The lanes of different addresses, until none is left."""
    while request:
        first = {at: lane for lane, at in reversed(request)}
        yield tuple(one for one in request if first[one[1]] == one[0])
        request = tuple(one for one in request if first[one[1]] != one[0])


def _in_banks(panel: Axes, of: Instruction, request: Request) -> str:
    """A column per bank, with the different words that lanes want from it, one above the other; one part of the warp
    after another if that is how they come. Returns how many passes that takes."""
    parts, size, row, ticks = phases(of, request), width(of), 0, {}
    for part in parts:
        lanes: dict[int, list[int]] = {}  # by word
        for lane, start in part:
            for word in range(start // WORD, (start + size - 1) // WORD + 1):
                lanes.setdefault(word, []).append(lane)
        deepest = 0
        for bank, words in by_bank(part, size).items():
            cells = [[lane] for word in words for lane in lanes[word]] if of.turns else [lanes[word] for word in words]
            for depth, some in enumerate(cells):
                _cell(panel, bank - 0.45, row + depth, 0.9, some, _WAITS if depth else _FIRST)
            deepest = max(deepest, len(cells))
        ticks[row + (deepest - 1) / 2] = f"lanes {part[0][0]} to {part[-1][0]}"
        row += deepest
        panel.axhline(row - 0.5, color="k", lw=0.5 * (part is not parts[-1]))
    panel.set(xlim=(-0.5, BANKS - 0.5), ylim=(max(row, 4) - 0.5, -0.5), xlabel=f"bank{_NUMBERS}", ylabel="wavefronts")
    panel.set_xticks(range(0, BANKS, 4))
    panel.set_yticks(*((list(ticks), list(ticks.values())) if len(parts) > 1 else ([],)))
    why = ", because lanes on one bank take turns" if of.turns and row > len(parts) else ""
    why = f", in {len(parts)} parts of the warp" if len(parts) > 1 else why
    # (A copy may take more of them to read, from the banks of L1.)
    return f"{_counted(row, 'wavefront')}{' to write them' * (of.what == 'copy')}{why}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _cell(panel: Axes, x: float, y: float, wide: float, lanes: list[int], colors: tuple[str, str]) -> None:
    """Names the first of the lanes, and whether there are others."""
    panel.broken_barh([(x, wide)], (y - 0.4, 0.8), facecolor=colors[0], edgecolor="black", linewidth=0.5)
    label = f"{lanes[0]}+" if len(lanes) > 1 else f"{lanes[0]}"
    panel.text(x + wide / 2, y, label, ha="center", va="center", fontsize=7, color=colors[1])
