"""Pictures; matplotlib is an extra and imported only here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ._display import axis_unit, duration, figure

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'cudakern[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._ladder import Ladder

BAR, HOST_BAR, LIMIT = "#76a5af", "#b7b7b7", "#c03030"


class Picture(Figure):
    """A figure that shows itself in a notebook, without pyplot and its state."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=100)
        return stream.getvalue()

    def saved(self, path: str | None) -> Picture:
        """Itself, written to that file unless it is None."""
        if path is not None:
            self.savefig(path, dpi=150)
        return self


def bars(axes: Axes, names: list[str], values: list[float], labels: list[str], color: str | list[str]) -> None:
    """A labelled bar a value, from zero; on a logarithmic axis where the values differ too much for that."""
    axes.bar_label(axes.barh(names, values, color=color), labels, padding=3, fontsize=8)
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 30 * min(positive):
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 3, max(positive) * 5)  # room for the labels
    else:
        axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def plot_ladder(ladder: Ladder, path: str | None = None) -> Picture:
    """A bar for each step: the kernel's time and the rate. On the emulator those that were recorded on a GPU."""
    record = ladder.recorded
    if record is not None and not record.steps:
        raise ValueError(
            f"there is no GPU here, and no recorded times of {ladder.operation} to draw (an emulated time says nothing "
            "about a GPU)"
        )
    if record is not None:
        steps = [(s.variant, s.recorded.kernel_ns, s.recorded.rate) for s in ladder if s.recorded is not None]
        title = f"{ladder.operation}: {record.input}; recorded on an {record.chip}, {record.date}"
    else:
        steps = [(s.variant, s.profile.kernel_ns, ladder.rate_of(s.profile)) for s in ladder if s.profile is not None]
        title = ladder.title
    names = [variant.name for variant, _, _ in steps]
    colors = [HOST_BAR if variant.on_host else BAR for variant, _, _ in steps]
    times = [max(ns, 1) for _, ns, _ in steps]
    rates = [rate for _, _, rate in steps]

    drawing = Picture(figsize=(11, 1.5 + 0.36 * max(len(names), 1)), layout="constrained")
    left, right = drawing.subplots(1, 2, sharey=True)
    unit, one = axis_unit(max(times, default=1))
    bars(left, names, [t / one for t in times], [duration(t) for t in times], colors)
    bars(right, names, rates, [figure(r) for r in rates], colors)
    left.set_title(f"kernel time, {unit}", fontsize=10)
    right.set_title(ladder.rate, fontsize=10)
    if (limit := ladder.limit) is not None:
        what, most = limit
        right.axvline(most, color=LIMIT, linewidth=1.2, linestyle="--")
        right.set_xlim(right=max(right.get_xlim()[1], most * 1.15))
        right.set_xlabel(f"dashed: {what}", fontsize=9, color=LIMIT)
    left.invert_yaxis()  # shared: the first step on top on both sides
    host = "; gray: NumPy on the CPU" if HOST_BAR in colors else ""
    drawing.suptitle(f"{title}{host}", fontsize=10)
    return drawing.saved(path)
