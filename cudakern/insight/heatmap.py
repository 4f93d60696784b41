"""The picture of a request: which sectors of global memory, or banks of shared memory, the lanes of a warp access."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .counts import Instruction, Request

_WORD, _BANKS, _SECTOR = 4, 32, 32


def heatmap(of: Instruction, steps: int) -> Figure:
    """For ``Counted.heatmap``."""
    from ..measure import plots  # says what to install if matplotlib is missing

    draw = _in_banks if of.space == "shared" else _in_sectors
    requests = of.steps[:steps] if steps else (of.worst,)
    title, rows = f"line {of.line}: {of.space} {of.what} of {of.bytes} bytes per lane", -(-len(requests) // 2)
    figure = plots.Picture(figsize=(9, 4) if len(requests) == 1 else (14, 3 * rows), layout="constrained")
    panels = figure.subplots(rows, min(len(requests), 2), squeeze=False).ravel()
    for number, (panel, request) in enumerate(zip(panels, requests, strict=False), 1):
        what = f"{len(request)} lanes, {draw(panel, request, of.bytes)}"
        if len(requests) == 1:
            panel.set_title(f"{title}: {what}")
            continue
        moved = request[0][1] - requests[0][0][1]
        panel.set_title(f"request {number}: {what}{f', {moved:+,} bytes' if number > 1 else ''}", fontsize=9)
    for panel in panels[len(requests) :]:
        panel.set_axis_off()
    if len(requests) > 1:
        figure.suptitle(f"{title}: the first requests of a warp, and how far they are from the first one")
    return figure


def _in_sectors(panel: Axes, request: Request, size: int) -> str:
    """A row per sector, of which each lane's bytes are colored. Returns how many sectors there are."""
    sectors = sorted({at // _SECTOR for _, start in request for at in range(start, start + size)})
    rows = {sector: row for row, sector in enumerate(sectors)}
    width = min(size, _WORD)
    lanes: dict[int, list[int]] = {}  # by the address of what they access: 4 bytes, or less
    for lane, start in request:
        for at in range(start, start + size, width):
            lanes.setdefault(at, []).append(lane)
    for at, some in lanes.items():
        x, y = at % _SECTOR, rows[at // _SECTOR]
        panel.broken_barh([(x, width)], (y - 0.4, 0.8), facecolor=f"C{some[0] // 8}", edgecolor="white")
        panel.text(x + width / 2, y, _label(some), ha="center", va="center", fontsize=7, color="white")
    for row in rows.values():
        panel.plot([0, _SECTOR, _SECTOR, 0, 0], [row - 0.4, row - 0.4, row + 0.4, row + 0.4, row - 0.4], "k", lw=0.5)
    panel.set(
        xlim=(0, _SECTOR), ylim=(len(rows) - 0.5, -0.5), xlabel="byte of the sector", ylabel="sectors, by address"
    )
    panel.set_yticks([])
    return f"{len(rows)} sector{'s' * (len(rows) != 1)}"


def _in_banks(panel: Axes, request: Request, size: int) -> str:
    """A column per bank, with the different words that lanes want from it, one above the other. Returns how many."""
    words: dict[int, list[int]] = {}  # bank: words
    lanes: dict[int, list[int]] = {}  # word: lanes
    for lane, start in request:
        for word in range(start // _WORD, (start + size - 1) // _WORD + 1):
            lanes.setdefault(word, []).append(lane)
            if word not in words.setdefault(word % _BANKS, []):
                words[word % _BANKS].append(word)
    deepest = max(map(len, words.values()))
    for bank, of_bank in words.items():
        for row, word in enumerate(of_bank):
            panel.broken_barh([(bank - 0.45, 0.9)], (row - 0.4, 0.8), facecolor=f"C{3 if row else 0}")
            panel.text(bank, row, _label(lanes[word]), ha="center", va="center", fontsize=7, color="white")
    panel.set(xlim=(-0.5, _BANKS - 0.5), ylim=(max(deepest, 4) - 0.5, -0.5), xlabel="bank", ylabel="words of a bank")
    panel.set_xticks(range(0, _BANKS, 4))
    panel.set_yticks([])
    return f"up to {deepest} word{'s' * (deepest != 1)} in a bank"


def _label(lanes: list[int]) -> str:
    """The first one, and whether there are others."""
    return f"{lanes[0]}+" if len(lanes) > 1 else f"{lanes[0]}"
