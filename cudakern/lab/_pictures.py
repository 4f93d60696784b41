"""Pictures of the reader's own numbers, which a printer without colors can show: curves and the roofline."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..measure.plots import Picture

MARKERS, DASHES = "os^vDPX", ("-", "--", ":", "-.")


def curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    title: str = "",
    log: str = "xy",
    path: str | None = None,
) -> Figure:
    """Curves over common points, which differ by their markers and dashes, too.

    Parameters
    ----------
    x : sequence of float
        The points.
    lines : mapping of str to sequence of float
        For each curve, its values at these points.
    x_label, y_label, title : str
        What the axes and the picture show.
    log : str
        The axes that are logarithmic: "xy", "x", "y" or "".
    path : str, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure
        The picture. Needs matplotlib (``pip install cudakern[plot]``).

    Raises
    ------
    ValueError
        A curve that has not one value per point, or other axes.

    Examples
    --------
    >>> from cudakern import lab
    >>> figure = lab.curves([1, 2, 4], {"squares": [1, 4, 16]}, x_label="x", y_label="x * x")
    >>> figure.axes[0].get_xscale()
    'log'
    """
    from ..measure.plots import Picture

    if log not in ("xy", "x", "y", ""):
        raise ValueError(f'curves: log must be "xy", "x", "y" or "", not {log!r}')
    picture = Picture(figsize=(7, 3.4), layout="constrained")
    axes = picture.subplots()
    for (name, y), marker, dash in zip(lines.items(), itertools.cycle(MARKERS), itertools.cycle(DASHES), strict=False):
        if len(y) != len(x):
            raise ValueError(f"curves: {name!r} has {len(y)} values for {len(x)} points")
        axes.plot(x, y, dash, marker=marker, markersize=4, markevery=1 + len(x) // 20, label=name)
    axes.legend(fontsize=8)
    return _labeled(picture, x_label, y_label, title, log).saved(path)


def roofline(
    kernels: Mapping[str, tuple[float, float]], *, gflop_per_s: float, gb_per_s: float, path: str | None = None
) -> Figure:
    """The roofline of a chip, and where kernels are below it.

    A kernel that computes I FLOPs per byte reaches at most I times the memory's rate, and at most the cores' rate.

    Parameters
    ----------
    kernels : mapping of str to (float, float)
        For each kernel, its FLOPs per byte that it must move, and the GFLOP/s that it reaches.
    gflop_per_s, gb_per_s : float
        The chip's limits: its arithmetic and its memory.
    path : str, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.figure.Figure
        The picture. Needs matplotlib (``pip install cudakern[plot]``).

    Raises
    ------
    ValueError
        A number that is not positive and finite.

    Examples
    --------
    >>> from cudakern import lab
    >>> figure = lab.roofline({"copy with a sum": (0.25, 1000)}, gflop_per_s=66_908, gb_per_s=4_814)
    >>> figure.axes[0].get_ylabel()
    'GFLOP/s'
    """
    from ..measure.plots import LIMIT, Picture

    for number in (gflop_per_s, gb_per_s, *(each for pair in kernels.values() for each in pair)):
        if not 0 < number < inf:
            raise ValueError(f"roofline: rates and FLOPs per byte must be positive numbers, not {number!r}")
    picture = Picture(figsize=(8, 4), layout="constrained")
    axes = picture.subplots()
    ridge = gflop_per_s / gb_per_s
    ends = [*(x for x, _ in kernels.values()), ridge]
    left, right = min(ends) / 3, max(ends) * 20
    axes.plot([left, ridge, right], [left * gb_per_s, gflop_per_s, gflop_per_s], color=LIMIT, linewidth=1.5)
    axes.text(right, gflop_per_s * 1.1, f"{gflop_per_s:,.0f} GFLOP/s", ha="right", va="bottom", fontsize=8, color=LIMIT)
    axes.text(left * 2, left * gb_per_s * 1.1, f"{gb_per_s:,.0f} GB/s", ha="left", va="bottom", fontsize=8, color=LIMIT)
    for (name, (x, y)), marker in zip(kernels.items(), itertools.cycle(MARKERS), strict=False):
        axes.plot(x, y, marker, color="black", markerfacecolor="#76a5af", markersize=7)
        share = y / min(gflop_per_s, x * gb_per_s)
        axes.annotate(f"{name}: {share:.0%}", (x, y), (7, -3), textcoords="offset points", fontsize=8)
    title = "the line is the chip's limit; each percentage is a share of it"
    return _labeled(picture, "FLOPs per byte that must be moved", "GFLOP/s", title, "xy").saved(path)


def _labeled(picture: Picture, x_label: str, y_label: str, title: str, log: str) -> Picture:
    (axes,) = picture.axes
    axes.set(xlabel=x_label, ylabel=y_label, **{f"{axis}scale": "log" for axis in log})
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    return picture
