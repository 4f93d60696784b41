"""Experiments as they were recorded on an H200, and a picture for rates: roofline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from .._backend import Backend
from .._errors import unknown
from .._installed import RECORDS
from ._experiment import EXPERIMENTS, Experiment, bars, lines
from ._host_memory import _draw_timelines
from ._memory import _draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..measure.plots import Picture
    from ._experiment import Draw

#: Plots that are not bars of the first column of times.
PLOTS: dict[str, Draw] = {
    "bank_conflicts": partial(lines, x="stride", y="cycles", by="form"),
    "coalescing": _draw,
    "host_memory": partial(lines, x="bytes", y="gb_per_s", by="label", log=True),
    "latency": partial(lines, x="threads", y="kernel_ns", by="form", log=True),
    "layouts": partial(bars, label="label", value="relative"),
    "overlap": _draw_timelines,
}


def _bars(result: Experiment, picture: Picture) -> None:
    label = "label" if "label" in result.rows[0] else result.columns[0].key
    timed = [column.key for column in result.columns if column.timed]
    if not timed:
        raise ValueError(f"nothing to plot: {result.name} has no times")
    bars(result, picture, label, timed[0])


def recorded(name: str) -> Experiment:
    """An experiment as it was recorded on an H200, for machines without a GPU.

    Parameters
    ----------
    name : str
        The experiment's name, such as "coalescing".

    Returns
    -------
    Experiment
        Its rows, with times; ``table()`` and ``plot()`` as for an experiment that ran here.

    Raises
    ------
    ValueError
        An unknown name, or an experiment that was not recorded.

    Examples
    --------
    >>> from cudakern import lab
    >>> lab.recorded("host_memory").backend.device_name
    'NVIDIA H200'
    """
    record = json.loads((RECORDS / "gpu_lab.json").read_text(encoding="utf-8"))
    known = [each for each in record["experiments"] if each in EXPERIMENTS]
    if name not in known:
        raise ValueError(unknown("recorded experiment", name, known))
    found = record["experiments"][name]
    rows = found["rows"]
    if isinstance(rows, dict):  # the names of the columns once
        rows = [dict(zip(rows["columns"], row, strict=True)) for row in rows["rows"]]
    _, columns, claim, on_an_h200 = EXPERIMENTS[name]
    blank: dict[str, Any] = dict.fromkeys(column.key for column in columns)
    when = f"recorded on {record['date'][:10]}"
    there = Backend("cuda", 0, when, None, {"name": record["chip"]}, 0)  # type: ignore[arg-type]
    whole = tuple(blank | row for row in rows)
    return Experiment(
        name, f"{found['title']}, {when}", there, columns, whole, claim, on_an_h200, PLOTS.get(name, _bars)
    )


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
    for (name, (x, y)), marker in zip(kernels.items(), "os^vDP*X<>" * len(kernels), strict=False):
        axes.plot(x, y, marker, color="black", markerfacecolor="#76a5af", markersize=7)
        share = y / min(gflop_per_s, x * gb_per_s)
        axes.annotate(f"{name}: {share:.0%}", (x, y), (7, -3), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", yscale="log", xlabel="FLOPs per byte that must be moved", ylabel="GFLOP/s")
    axes.set_title("line: the limit; after each name: its share of the limit", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    return picture.saved(path)
