"""Two traces side by side: what changed, by figure and by line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _display
from .costs import SECTOR

if TYPE_CHECKING:
    from .counters import Counted
    from .counts import Instruction

_OPERATIONS = {"ld": "load", "st": "store", "atom": "atomic", "red": "reduction"}
#: Nsight Compute's names, and ours for people: {} is a load, store, ...
_SHORT = {
    r"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit\.sum": "global load sectors in L1",
    r"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss\.sum": "global load sectors not in L1",
    r"l1tex__t_sector_hit_rate\.pct": "L1 hit rate, %",
    r"lts__t_sectors_op_read\.sum": "L2 sectors read",
    r"lts__t_sectors_op_write\.sum": "L2 sectors written",
    r"lts__t_sector_hit_rate\.pct": "L2 hit rate, %",
    r"dram__bytes_read\.sum": "bytes read from DRAM",
    r"l1tex__t_requests_pipe_lsu_mem_global_op_(\w+)\.sum": "global {} requests",
    r"l1tex__t_sectors_pipe_lsu_mem_global_op_(\w+)\.sum": "global {} sectors",
    r"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_(\w+)\.ratio": "sectors per global {}",
    r"smsp__sass_inst_executed_op_shared_(\w+)\.sum": "shared {} requests",
    r"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_(\w+)\.sum": "shared {} wavefronts",
    r"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_(\w+)\.sum": "shared {} bank conflicts",
    r"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts\.sum": "cp.async sectors",
    r"smsp__sass_inst_executed_op_ldgsts\.sum": "cp.async requests",
    r"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts\.sum": "cp.async wavefronts",
    r"smsp__sass_branch_targets\.sum": "branches",
    r"smsp__sass_branch_targets_threads_divergent\.sum": "divergent branches",
    r"smsp__sass_branch_targets_threads_uniform\.sum": "uniform branches",
    r"smsp__sass_inst_executed_op_ldsm\.sum": "ldmatrix requests",
    r"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm\.sum": "ldmatrix wavefronts",
}
#: Figures of a line.
_OF_LINE = ("requests", "sectors", "wavefronts", "conflicts")
Line = tuple[str, int]


def short(metric: str) -> str:
    """The name of a metric for people; its own where there is none."""
    for pattern, name in _SHORT.items():
        if match := re.fullmatch(pattern, metric):
            return name.format(*(_OPERATIONS[op] for op in match.groups()))
    return metric


def by_short_names(metrics: Mapping[str, float]) -> dict[str, float]:
    return {short(name): value for name, value in metrics.items()}


def figures(of: Counted) -> dict[str, float]:
    """All figures by their short names."""
    result = by_short_names(of.metrics)
    some = [one for one in of.instructions if one.space == "global"]
    moved, used = SECTOR * sum(one.sectors for one in some), sum(one.used for one in some)
    result |= {"bytes moved": moved, "bytes used of these": used, "barriers of warps": of.barriers}
    return result | {f"operations in {kind}": count for kind, count in of.flops.items()}


class Compared(_display.Shown):
    """Two traces side by side; displays as a table of the figures. ``by_line()`` compares the lines."""

    def __init__(self, first: Counted, second: Counted) -> None:
        self.first, self.second = first, second
        both = [figures(one) for one in (first, second)]
        names = dict.fromkeys([*both[0], *both[1]])
        #: By the figure's name: its values in the two traces. Those that are 0 in both are left out.
        self.figures = {
            name: (both[0].get(name, 0), both[1].get(name, 0))
            for name in names
            if both[0].get(name) or both[1].get(name)
        }

    def table(self) -> _display.Table:
        """One row per figure; the last column is the second trace's, as a multiple of the first one's."""
        rows = [
            [name, _display.figure(one), _display.figure(other), _change(one, other)]
            for name, (one, other) in self.figures.items()
        ]
        names = [self.first.name, self.second.name]
        if names[0] == names[1]:
            names = [f"{names[0]} (first)", f"{names[1]} (second)"]
        marked = [i for i, row in enumerate(rows) if row[-1] != _SAME]
        heads = ["figure", *names, "change"]
        return _display.Table("What changed", heads, rows, right=heads[1:], marked=marked)

    def by_line(self) -> _display.Table:
        """One row per line and kind of access of either trace, with the figures of both: "32 -> 4"."""
        rows: list[list[str]] = []
        marked: list[int] = []
        first, second = self.first.lines(), self.second.lines()
        for (one, other), text in self._lines():
            before, after = first[one] if one else [], second[other] if other else []
            for access in sorted({f"{x.space} {x.what}" for x in (*before, *after)}):
                sides = [[x for x in some if f"{x.space} {x.what}" == access] for some in (before, after)]
                cells = [_arrow(*(_figure(side, name) for side in sides)) for name in _OF_LINE]
                if any("->" in cell for cell in cells):
                    marked.append(len(rows))
                rows.append([_number(one, other), text, access, *cells])
        heads = ["line", "source", "access", *_OF_LINE]
        title = f"{self.first.name} -> {self.second.name}"
        return _display.Table(title, heads, rows, right=["line", *_OF_LINE], marked=marked)

    def _lines(self) -> Iterator[tuple[tuple[Line | None, Line | None], str]]:
        """The lines of both that access memory, those that match as a pair, and the source's text."""
        others = list(self.second.lines())
        for line in self.first.lines():
            file, number = line
            there = next((x for x in others if self._same_file(file, x[0])), None)
            match = there and (there[0], self._numbers(file, there[0]).get(number, 0))
            pair = match if match in others else None
            if pair is not None:
                others.remove(pair)
            yield (line, pair), self._text(self.first, line)
        for line in others:
            yield (None, line), self._text(self.second, line)

    def _same_file(self, one: str, other: str) -> bool:
        """By name; of kernels of one's own, each trace may have one program, which has its own name."""
        files = [{file for file, _ in of.lines()} for of in (self.first, self.second)]
        return Path(one).name == Path(other).name or all(len(some) == 1 for some in files)

    def _numbers(self, one: str, other: str) -> dict[int, int]:
        """Which line of the second file is which of the first: equal ones, and those that replace as many others."""
        a_text, b_text = ([line.strip() for line in text] for text in (self.first.text(one), self.second.text(other)))
        result: dict[int, int] = {}
        for what, a, a_end, b, b_end in difflib.SequenceMatcher(None, a_text, b_text, autojunk=False).get_opcodes():
            if what == "equal" or (what == "replace" and a_end - a == b_end - b):
                result |= {a + i + 1: b + i + 1 for i in range(a_end - a)}
        return result

    @staticmethod
    def _text(of: Counted, line: Line) -> str:
        file, number = line
        text = of.text(file)
        return text[number - 1].strip() if 0 < number <= len(text) else ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"names": [self.first.name, self.second.name], "figures": self.figures}


_SAME = "same"


def _change(one: float, other: float) -> str:
    if one == other:
        return _SAME
    if not one or not other:
        return "new" if other else "gone"
    return f"{_display.figure(other / one)}x" if other > one else f"1/{_display.figure(one / other)}"


def _figure(some: list[Instruction], name: str) -> int | None:
    """The sum over a line's accesses of a kind; None: not counted, or there are none."""
    if not some or (name in ("wavefronts", "conflicts")) != (some[0].space == "shared") and name != "requests":
        return None
    if name == "conflicts":
        return sum(one.wavefronts - one.ideal for one in some)
    figures: list[int] = [getattr(one, name) for one in some]
    return sum(figures)


def _arrow(one: int | None, other: int | None) -> str:
    texts = ["" if x is None else f"{x:,}" for x in (one, other)]
    return texts[0] if one == other else f"{texts[0] or '-'} -> {texts[1] or '-'}"


def _number(one: Line | None, other: Line | None) -> str:
    numbers = [line[1] for line in (one, other) if line]
    if len(numbers) == 2 and numbers[0] != numbers[1]:
        return f"{numbers[0]} -> {numbers[1]}"
    return f"{numbers[0]}" if one and other else f"{numbers[0]} -> -" if one else f"- -> {numbers[0]}"
