"""Pictures; matplotlib is an extra and imported only here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from ._display import duration, figure

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'cudakern[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._ladder import Ladder

BAR, HOST_BAR = "#76a5af", "#b7b7b7"


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
    """A bar a step: the kernel's time and the rate, with their figures."""
    measured = [(s.variant.name, s.profile) for s in ladder if s.profile is not None]
    names = [name for name, _ in measured]
    colors = [HOST_BAR if p.clock == "host" else BAR for _, p in measured]
    times = [max(p.kernel_ns, 1) for _, p in measured]
    rates = [ladder.rate_of(p) for _, p in measured]
    mark = " (emulated)" if ladder.backend.emulated else ""

    drawing = Picture(figsize=(11, 1.5 + 0.36 * max(len(names), 1)), layout="constrained")
    left, right = drawing.subplots(1, 2, sharey=True)
    bars(left, names, times, [duration(t) for t in times], colors)
    bars(right, names, rates, [figure(r) for r in rates], colors)
    left.set_title(f"kernel time, ns{mark}", fontsize=10)
    right.set_title(f"{ladder.rate}{mark}", fontsize=10)
    left.invert_yaxis()  # shared: the first step on top on both sides
    host = "; grey: NumPy on the host" if HOST_BAR in colors else ""
    emulated = "; these times say nothing about a GPU" if mark else ""
    drawing.suptitle(f"{ladder.title}{emulated}{host}", fontsize=10)
    return drawing.saved(path)
