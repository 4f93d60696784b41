"""The picture of a request: which sectors of global memory, or banks of shared memory, the lanes of a warp access."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .counters import Instruction

_WORD, _BANKS, _SECTOR = 4, 32, 32


def heatmap(of: Instruction) -> Figure:
    """For ``Counted.heatmap``."""
    from ..measure import plots  # says what to install if matplotlib is missing

    figure = plots.Picture(figsize=(9, 4), layout="constrained")
    panel = figure.add_subplot()
    (_in_banks if of.space == "shared" else _in_sectors)(panel, of)
    panel.set_title(f"line {of.line}: {of.space} {of.what} of {of.bytes} bytes per lane, {panel.get_title()}")
    return figure


def _in_sectors(panel: Axes, of: Instruction) -> None:
    """A row per sector, of which each lane's bytes are colored."""
    sectors = sorted({at // _SECTOR for _, start in of.worst for at in range(start, start + of.bytes)})
    rows = {sector: row for row, sector in enumerate(sectors)}
    for lane, start in of.worst:
        for at in range(start, start + of.bytes, min(of.bytes, _WORD)):
            x, y = at % _SECTOR, rows[at // _SECTOR]
            panel.broken_barh([(x, min(of.bytes, _WORD))], (y - 0.4, 0.8), facecolor=f"C{lane // 8}", edgecolor="white")
            panel.text(x + min(of.bytes, _WORD) / 2, y, str(lane), ha="center", va="center", fontsize=7, color="white")
    for row in rows.values():
        panel.plot([0, _SECTOR, _SECTOR, 0, 0], [row - 0.4, row - 0.4, row + 0.4, row + 0.4, row - 0.4], "k", lw=0.5)
    panel.set(
        xlim=(0, _SECTOR), ylim=(len(rows) - 0.5, -0.5), xlabel="byte of the sector", ylabel="sectors, by address"
    )
    panel.set_yticks([])
    panel.set_title(f"one request of {len(of.worst)} lanes: {len(rows)} sectors")


def _in_banks(panel: Axes, of: Instruction) -> None:
    """A column per bank, with the different words that lanes want from it, one above the other."""
    words: dict[int, list[int]] = {}  # bank: words
    lanes: dict[int, list[int]] = {}  # word: lanes
    for lane, start in of.worst:
        for word in range(start // _WORD, (start + of.bytes - 1) // _WORD + 1):
            lanes.setdefault(word, []).append(lane)
            if word not in words.setdefault(word % _BANKS, []):
                words[word % _BANKS].append(word)
    deepest = max(map(len, words.values()))
    for bank, of_bank in words.items():
        for row, word in enumerate(of_bank):
            panel.broken_barh([(bank - 0.45, 0.9)], (row - 0.4, 0.8), facecolor=f"C{3 if row else 0}")
            text = str(lanes[word][0]) + ("+" if len(lanes[word]) > 1 else "")
            panel.text(bank, row, text, ha="center", va="center", fontsize=7, color="white")
    panel.set(xlim=(-0.5, _BANKS - 0.5), ylim=(max(deepest, 4) - 0.5, -0.5), xlabel="bank", ylabel="words of a bank")
    panel.set_xticks(range(0, _BANKS, 4))
    panel.set_yticks([])
    panel.set_title(f"one request of {len(of.worst)} lanes: up to {deepest} words in a bank")
