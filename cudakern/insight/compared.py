"""Two traces side by side: what changed, by figure and by line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _display
from .costs import SECTOR, by_access, passes

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
    r"l1tex__t_requests_pipe_tex_mem_texture\.sum": "texture reads of 4 lanes",
    r"smsp__sass_inst_executed_op_tma_ld\.sum": "TMA loads",
    r"smsp__sass_inst_executed_op_tma_st\.sum": "TMA stores",
    r"l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld\.sum": "bytes read by TMA",
    r"l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st\.sum": "bytes written by TMA",
    r"smsp__sass_branch_targets\.sum": "branches",
    r"smsp__sass_branch_targets_threads_divergent\.sum": "divergent branches",
    r"smsp__sass_branch_targets_threads_uniform\.sum": "uniform branches",
    r"smsp__sass_thread_inst_executed_op_fadd_pred_on\.sum": "float additions",
    r"smsp__sass_thread_inst_executed_op_fmul_pred_on\.sum": "float multiplications",
    r"smsp__sass_thread_inst_executed_op_ffma_pred_on\.sum": "float fused multiply-adds",
    r"smsp__sass_thread_inst_executed_op_dadd_pred_on\.sum": "double additions",
    r"smsp__sass_thread_inst_executed_op_dmul_pred_on\.sum": "double multiplications",
    r"smsp__sass_thread_inst_executed_op_dfma_pred_on\.sum": "double fused multiply-adds",
    r"smsp__sass_inst_executed_op_ldsm\.sum": "ldmatrix requests",
    r"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm\.sum": "ldmatrix wavefronts",
}
#: Figures of a line.
_OF_LINE = ("requests", "sectors", "wavefronts", "conflicts")
Key = tuple[str, int, str]  #: file, line, access
_WORD = re.compile(r"\w+|[^\w\s]")
_ANY = 0.3  #: how much lines with different words are alike; with the same words: 1 more


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
    moved = SECTOR * (sum(one.sectors for one in some) + sum(one.sectors for one in of.operations))
    used = sum(one.used for one in some) + sum(one.used for one in of.operations)
    for op in ("load", "store", "atomic"):
        passes = [one for one in of.instructions if one.space == "shared" and one.what == op]
        if requests := sum(one.requests for one in passes):
            result[f"wavefronts per shared {op}"] = sum(one.wavefronts for one in passes) / requests
    result |= {"bytes moved": moved, "bytes used of these": used, "arrivals of warps at barriers": of.barriers}
    return result | {f"operations in {kind}": count for kind, count in of.flops.items()}


class Compared(_display.Shown):
    """Two traces side by side; displays as a table of the figures. ``by_line()`` compares the lines, and ``total`` says
    which trace costs less."""

    def __init__(self, first: Counted, second: Counted) -> None:
        self.first, self.second = first, second
        self._by_access = [by_access(one.instructions) for one in (first, second)]
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
        names = [re.sub(r"(?=\[)|(?<=,) ", "\n", of.name, count=1) for of in (self.first, self.second)]
        if names[0] == names[1]:
            names = [f"{names[0]} (first)", f"{names[1]} (second)"]
        marked = [i for i, row in enumerate(rows) if row[-1] != _SAME]
        heads = ["figure", *names, "change"]
        notes = [self.total]
        notes += [f"{of.name}: {note}" for of in (self.first, self.second) for note in of.not_counted]
        return _display.Table("What changed", heads, rows, "\n".join(dict.fromkeys(notes)), heads[1:], marked=marked)

    def by_line(self) -> _display.Table:
        """One row per line and kind of access of either trace, with the figures of both: "32 -> 4"."""
        rows: list[list[str]] = []
        marked: list[int] = []
        last = ""
        for one, other in self._pairs():
            sides = [of.get(key, []) if key else [] for of, key in zip(self._by_access, (one, other), strict=True)]
            cells = [_arrow(*(_figure(side, name) for side in sides)) for name in _OF_LINE]
            if any("->" in cell for cell in cells):
                marked.append(len(rows))
            texts = [self._shown(of, key) for of, key in ((self.first, one), (self.second, other)) if key]
            text = "\n-> ".join(dict.fromkeys(texts))
            rows.append([_number(one, other), text if text != last else "", _access(one or other), *cells])
            last = text
        heads = ["line", "source", "access", *_OF_LINE]
        title = f"{self.first.name} -> {self.second.name}"
        return _display.Table(title, heads, rows, self.total, ["line", *_OF_LINE], marked=marked)

    @property
    def total(self) -> str:
        """One sentence: which trace costs less, and by how much."""
        both = [of.instructions for of in (self.first, self.second)]
        one, other = map(round, map(passes, both))
        sides = [[one for one in some if one.space == space] for space in ("global", "shared") for some in both]
        sums = [
            f"{space} {name} {_arrow(*(sum(getattr(one, name) for one in side) for side in pair))}"
            for space, name, pair in (("global", "sectors", sides[:2]), ("shared", "wavefronts", sides[2:]))
            if any(pair)
        ]
        less, more = sorted((one, other))
        times = f"{_display.figure(more / less)} times " if less else ""
        cost = f"the {'second' if other < one else 'first'} costs {times}less" if less < more else "both cost the same"
        return f"Total: {cost}, {_arrow(one, other)} passes ({', '.join(sums)})." if sums else ""

    def _pairs(self) -> Iterator[tuple[Key | None, Key | None]]:
        """The accesses of both traces in the order of their first requests, those that match as pairs.

        Of all ways to pair those of a kind that keep the order, the one whose lines are most alike: dynamic
        programming.
        """
        first, second = map(list, self._by_access)
        like = [[self._likeness(one, other) for other in second] for one in first]
        best = [[0.0] * (len(second) + 1) for _ in range(len(first) + 1)]  # from these on
        for i, j in itertools.product(reversed(range(len(first))), reversed(range(len(second)))):
            paired = best[i + 1][j + 1] + like[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
        i = j = 0
        while i < len(first) and j < len(second):
            if like[i][j] and best[i][j] == best[i + 1][j + 1] + like[i][j]:
                yield first[i], second[j]
                i, j = i + 1, j + 1
            elif best[i][j] == best[i + 1][j]:
                yield first[i], None
                i += 1
            else:
                yield None, second[j]
                j += 1
        yield from ((one, None) for one in first[i:])
        yield from ((None, other) for other in second[j:])

    def _likeness(self, one: Key, other: Key) -> float:
        """How much the texts of two lines are alike; 0 if they access memory in another way."""
        if _access(one) != _access(other):
            return 0
        words, others = (_WORD.findall(self._text(*of)) for of in ((self.first, one), (self.second, other)))
        return _ANY + SequenceMatcher(None, words, others, autojunk=False).ratio()

    def _shown(self, of: Counted, key: Key) -> str:
        """A line's text, after its file if there are several."""
        several = len({file for files in self._by_access for file, _, _ in files}) > 1
        return f"{Path(key[0]).name}: {self._text(of, key)}" if several else self._text(of, key)

    @staticmethod
    def _text(of: Counted, key: Key) -> str:
        file, number, _ = key
        text = of.text(file)
        return text[number - 1].strip() if 0 < number <= len(text) else ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        table = self.by_line()
        lines = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        return {"names": [self.first.name, self.second.name], "figures": self.figures, "lines": lines}


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


def _access(key: Key | None) -> str:
    return key[2] if key else ""


def _arrow(one: int | None, other: int | None) -> str:
    texts = ["" if x is None else f"{x:,}" for x in (one, other)]
    return texts[0] if one == other else f"{texts[0] or '-'} -> {texts[1] or '-'}"


def _number(one: Key | None, other: Key | None) -> str:
    numbers = [f"{key[1]}" if key else "-" for key in (one, other)]
    return " -> ".join(dict.fromkeys(numbers))
