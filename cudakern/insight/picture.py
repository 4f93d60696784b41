"""A picture of a finding: which threads touched which elements, between which barriers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .checker import Place
from .trace import Access, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..measure.plots import Picture
    from .findings import Element, Finding

#: How much of a large array, of a large grid, and of many findings a picture shows.
ELEMENTS, COLUMNS, PANELS, FINDINGS = 64, 72, 4, 4
CONFLICT = "#d02020"
RING: dict[str, Any] = {"marker": "o", "facecolors": "none", "edgecolors": CONFLICT, "linewidths": 1.8, "s": 130}
OUTSIDE: dict[str, Any] = {"color": "#d0d0d0", "alpha": 0.5, "linewidth": 0}


def pictures(findings: Sequence[Finding]) -> Picture:
    """Draws the first ones that are about accesses, one below the other."""
    from ..measure.plots import Picture

    drawings: list[_Drawing] = []
    traces: dict[int, Trace] = {}  # by call
    why_not = "nothing to plot: nothing was found"
    for finding in findings:
        call, element = finding.call, finding.element
        if call is None or element is None:
            why_not = f"nothing to plot: this finding of kind {finding.kind!r} is not about accesses to an array"
            continue
        trace = traces[id(call)] = traces.get(id(call)) or call.trace()
        if pair := _pair(finding, element, trace):
            drawings.append(_Drawing(finding, element, trace, pair))
            if len(drawings) == FINDINGS:
                break
            continue
        why_not = f"nothing to plot: run again, {finding.kernel} did no such thing in {finding.place}, or too late: "
        why_not += "of a long launch only the beginning is recorded; check a smaller one"
    if not drawings:
        raise ValueError(why_not)
    figure = Picture(figsize=(9, sum(one.height for one in drawings)), layout="constrained")
    parts: Any = figure.subfigures(len(drawings), 1, squeeze=False, height_ratios=[one.height for one in drawings])
    for drawing, part in zip(drawings, parts[:, 0], strict=True):
        drawing.draw(part)
    return figure


def _pair(finding: Finding, element: Element, trace: Trace) -> tuple[Access, ...]:
    """The accesses of the finding, of a race the later one first."""

    def at(place: Place) -> list[tuple[int, Access]]:
        return [(i, one) for i, one in enumerate(trace.accesses) if one.place == place]

    def is_there(one: Access) -> bool:  # an array of the host has another address each time
        begin = trace.arrays.get((one.launch, element.parameter))
        return one.address == (element.address if begin is None else begin + element.offset)

    here = at(finding.place)
    here = [(i, one) for i, one in here if is_there(one)] or here
    if not finding.other:
        return (here[0][1],) if here else ()
    fallback: tuple[Access, ...] = ()
    for i, one in here:
        for j, other in reversed(at(finding.other)):
            if j >= i or other.launch != one.launch or not one.overlaps(other) or not (one.writes or other.writes):
                continue
            if other.block != one.block or other.interval == one.interval:
                return one, other
            fallback = fallback or (one, other)
    return fallback


class _Drawing:
    """Panels side by side, one for each interval between barriers: threads to the right, elements upwards."""

    def __init__(self, finding: Finding, element: Element, trace: Trace, pair: tuple[Access, ...]) -> None:
        self.finding, self.pair, self.barriers = finding, pair, trace.barriers
        self.size, self.begin = element.bytes, pair[0].address - element.offset
        self.length = element.length // element.bytes  #: of the array; 0: unknown
        accesses = [one for one in trace.accesses if one.launch == pair[0].launch]
        if pair[0].shared:
            accesses = [one for one in accesses if one.block in {one.block for one in pair}]
        low, high = self._array(accesses, element)
        first, last = min(one.interval for one in pair), max(one.interval for one in pair)
        shown = [one for one in accesses if low <= one.address < high]
        near = {one.interval for one in shown if first - 1 <= one.interval <= last + 1}
        self.intervals = sorted(near, key=lambda i: (not first <= i <= last, i))[:PANELS]
        self.intervals = sorted({*self.intervals, first, last})
        shown = [one for one in shown if one.interval in self.intervals]
        self.columns = self._columns(shown)
        self.shown = [one for one in shown if (one.block, one.thread) in self.columns]
        elements = {round(self._at(one)[1]) for one in self.shown}
        self.low, self.high = min(elements), max(elements)
        self.height = min(4.6, 2.3 + 0.045 * (self.high - self.low))

    def _array(self, accesses: list[Access], element: Element) -> tuple[int, int]:
        """From which address to which one the array, or the part of it that is shown, was touched: by accesses beyond
        its end only if they are in the finding's line."""
        middle, end = self.pair[0].address, self.begin + element.length
        places = {(one.place.file, one.place.line) for one in self.pair}
        touched = [
            one.address
            for one in accesses
            if self.begin <= one.address < end
            or ((one.place.file, one.place.line) in places and abs(one.address - middle) < ELEMENTS * self.size)
        ]
        low, high = min(touched), max(touched) + 1
        half = ELEMENTS // 2 * self.size
        if high - low > 2 * half:
            low = max(low, min(middle - half, high - 2 * half))
            high = min(high, low + 2 * half)
        return low, high

    def _columns(self, shown: list[Access]) -> dict[tuple[int, int], int]:
        """The threads of the picture, from left to right."""
        threads = sorted({(one.block, one.thread) for one in shown})
        if len(threads) > COLUMNS:
            ours = [threads.index((one.block, one.thread)) for one in self.pair]
            threads = [one for i, one in enumerate(threads) if min(abs(i - our) for our in ours) <= COLUMNS // 3]
        return {one: i for i, one in enumerate(threads)}

    def _at(self, one: Access) -> tuple[float, float]:
        return self.columns[one.block, one.thread], (one.address - self.begin) / self.size

    def draw(self, figure: Any) -> None:
        count = len(self.intervals)
        axes: Any = figure.subplots(1, count, sharex=True, sharey=True, squeeze=False)[0]
        kinds = self._kinds()
        for panel, interval in zip(axes, self.intervals, strict=True):
            for key, style in kinds.items():
                at = [self._at(one) for one in self.shown if one.interval == interval and _kind(one) == key]
                if at:
                    panel.scatter(*zip(*at, strict=True), **style)
            self._frame(panel, interval)
            panel.set_xlabel(self._threads, fontsize=9)
            panel.tick_params(labelsize=8)
        self._labels(axes[0])
        self._mark(figure, axes)
        handles = [axes[0].scatter([], [], **{**style, "label": self._label(key)}) for key, style in kinds.items()]
        if len(self.pair) == 2:
            handles.append(axes[0].scatter([], [], **{**RING, "s": 60}, label="nothing orders these two"))
        if self._is_beyond:
            handles.append(axes[0].fill_between([], [], **OUTSIDE, label=f"not in {self.finding.array}"))
        figure.legend(handles=handles, loc="outside lower center", ncols=1, fontsize=8, frameon=False)
        title = f"{self.finding.kernel}: who touched {self.finding.array}"
        title += ", between which barriers" if count > 1 else ""
        figure.suptitle(title, fontsize=10)

    @property
    def _is_beyond(self) -> bool:
        """Whether elements are shown that the array does not have."""
        return bool(self.length) and (self.low < 0 or self.high >= self.length)

    def _kinds(self) -> dict[tuple[int, str], dict[str, Any]]:
        """A marker for each kind of access, and a color for each line."""
        many = len(self.columns) > 40 or len({one.address for one in self.shown}) > 40
        lines = sorted({one.place.line for one in self.shown})
        styles = {}
        for key in sorted({_kind(one) for one in self.shown}):
            color = f"C{lines.index(key[0]) % 10}"
            style: dict[str, Any] = {"s": 16 if many else 36, "linewidths": 0.9}
            if key[1] == "reads":
                style |= {"marker": "o", "facecolors": "none", "edgecolors": color}
            else:
                style |= {"marker": "s" if key[1] == "writes" else "D", "color": color}
                style |= {"s": style["s"] * 0.4, "linewidths": 0, "zorder": 3}
            styles[key] = style
        return styles

    def _label(self, key: tuple[int, str]) -> str:
        line, does = key
        lines = self.finding.source
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        return f"line {line} {does}" + (f":  {text}" if text else "")

    def _frame(self, panel: Axes, interval: int) -> None:
        """Barriers are thick lines between the panels; warps and blocks are separated by thin ones."""
        panel.spines[["top", "right"]].set_visible(False)
        launch = self.pair[0].launch
        if interval != self.intervals[0]:
            panel.spines["left"].set_linewidth(3)
            before = self.barriers.get((launch, interval - 1), "barrier")
            panel.set_title(f"after the {before}", fontsize=8, loc="left")
        elif len(self.intervals) > 1 and interval == 0:
            panel.set_title("at first", fontsize=8, loc="left")
        if self._is_beyond:
            panel.axhspan(self.length - 0.5, self.high + 2, **OUTSIDE)
            panel.axhspan(min(self.low, 0) - 2, -0.5, **OUTSIDE)
        threads = list(self.columns)
        for i, (one, next_one) in enumerate(pairwise(threads)):
            if one[0] != next_one[0]:
                panel.axvline(i + 0.5, color="gray", linewidth=1)
            elif one[1] // 32 != next_one[1] // 32:
                panel.axvline(i + 0.5, color="gray", linewidth=0.7, linestyle=":")

    def _labels(self, panel: Axes) -> None:
        threads = list(self.columns)
        of_ours = [self.columns[one.block, one.thread] for one in self.pair]
        starts = [i for i, one in enumerate(threads) if i == 0 or one[0] != threads[i - 1][0]]
        apart = len(threads) / 16 * len(self.intervals)  # so that no two labels overlap
        ticks: list[int] = []
        for i in [*of_ours, *starts, *(i for i, one in enumerate(threads) if one[1] % 32 == 0), len(threads) - 1]:
            if all(abs(i - tick) >= apart for tick in ticks):
                ticks.append(i)
        several = self._threads != "thread"
        names = [f"{block}: {thread}" if several else f"{thread}" for block, thread in (threads[i] for i in ticks)]
        panel.set_xticks(ticks, names, fontsize=8)
        panel.set_xlim(-1.5, len(threads) + 0.5)
        low, high = self.low, self.high
        panel.set_ylim(low - 1.5, high + 1.5)
        step = max(1, round((high - low) / 8))
        panel.set_yticks(range(low, high + 1, step), [f"{i}" for i in range(low, high + 1, step)], fontsize=8)
        panel.set_ylabel(f"element of {self.finding.array}", fontsize=9)

    @property
    def _threads(self) -> str:
        """How the threads below the panels are named."""
        return "block: thread" if len({block for block, _ in self.columns}) > 1 else "thread"

    def _mark(self, figure: Any, axes: Any) -> None:
        """Rings around the accesses of the finding, and a line between the two."""
        from matplotlib.patches import ConnectionPatch

        panels = [axes[self.intervals.index(one.interval)] for one in self.pair]
        places = [self._at(one) for one in self.pair]
        for panel, at in zip(panels, places, strict=True):
            panel.scatter(*at, zorder=5, **RING)
        if len(self.pair) == 2:
            ends = {"xyA": places[0], "xyB": places[1], "axesA": panels[0], "axesB": panels[1]}
            line = ConnectionPatch(coordsA="data", coordsB="data", color=CONFLICT, linewidth=1.4, zorder=6, **ends)
            figure.add_artist(line)


def _kind(one: Access) -> tuple[int, str]:
    does = "writes" if one.writes else "reads"
    return one.place.line, "updates atomically" if one.atomic else does
