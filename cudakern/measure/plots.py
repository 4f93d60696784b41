"""Plots. Matplotlib is optional and imported only here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

try:
    from matplotlib.colors import to_rgb
    from matplotlib.figure import Figure
    from matplotlib.ticker import StrMethodFormatter
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'cudakern[plot]'") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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


def bars(
    axes: Axes,
    names: list[str],
    values: list[float],
    labels: list[str],
    color: str | list[str],
    limit: tuple[str, float] | None = None,
) -> None:
    """One labeled bar per value, from zero; on a logarithmic axis where the values differ by more than 30 times. A
    dashed line shows the limit; the labels of long bars are then inside, so that the line crosses none."""
    drawn = axes.barh(names, values, color=color)
    positive = [value for value in values if value > 0]
    if positive and max(positive) > 30 * min(positive):
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 3, max(positive) * 5)  # room for the labels
    else:
        axes.margins(x=0.15)
        axes.locator_params(axis="x", nbins=6)
    if limit is not None:
        what, most = limit
        axes.axvline(most, color=LIMIT, linewidth=1.2, linestyle="--")
        axes.set_xlim(right=max(axes.get_xlim()[1], most * 1.15))
        axes.set_xlabel(f"dashed: {what}", fontsize=9, color=LIMIT)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))  # with commas, as in the labels
    in_axes = axes.transScale + axes.transLimits
    for bar, value, label in zip(drawn, values, labels, strict=True):
        inside = limit is not None and in_axes.transform((value, 0))[0] > 0.5
        middle = bar.get_y() + bar.get_height() / 2
        axes.text(value, middle, f" {label} ", ha="right" if inside else "left", va="center", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
