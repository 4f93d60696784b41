"""Plots. Matplotlib is optional and imported only here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from ._display import axis_unit, duration, figure

try:
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'cudakern[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._ladder import Ladder

BAR, HOST_BAR, LIMIT = "#76a5af", "#b7b7b7", "#c03030"


class Picture(Figure):
    """A figure that displays in a notebook without pyplot. Its background is opaque, so that dark text stays readable
    in a dark notebook."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.set_facecolor((*to_rgb(self.get_facecolor()), 1))

    def _write(self, to: Any, dpi: int, **settings: Any) -> None:
        self.savefig(to, dpi=dpi, facecolor=self.get_facecolor(), transparent=False, **settings)

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self._write(stream, 100, format="png")
        return stream.getvalue()

    def saved(self, path: str | None) -> Picture:
        """Itself, saved to ``path`` unless that is None."""
        if path is not None:
            self._write(path, 150)
        return self


def bars(axes: Axes, names: list[str], values: list[float], labels: list[str], color: str | list[str]) -> None:
    """One labeled bar per value, from zero; on a logarithmic axis where the values differ by more than 30 times."""
    axes.bar_label(axes.barh(names, values, color=color), labels, padding=3, fontsize=8)
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 30 * min(positive):
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 3, max(positive) * 5)  # room for the labels
    else:
        axes.margins(x=0.15)
    axes.spines[["top", "right"]].set_visible(False)


def plot_ladder(ladder: Ladder, path: str | None = None) -> Picture:
    """One bar per step for the kernel's time and one for its rate; on the emulator, those recorded on a GPU."""
    record = ladder.recorded
    if record is not None and not record.steps:
        raise ValueError(
            f"nothing to plot: there is no GPU here, and {ladder.operation} has no recorded times (emulated times tell "
            "nothing about a GPU)"
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

    picture = Picture(figsize=(11, 1.5 + 0.36 * max(len(names), 1)), layout="constrained")
    left, right = picture.subplots(1, 2, sharey=True)
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
    left.invert_yaxis()  # shared by both sides: the first step on top
    host = "; gray: NumPy on the CPU" if HOST_BAR in colors else ""
    picture.suptitle(f"{title}{host}", fontsize=10)
    return picture.saved(path)
