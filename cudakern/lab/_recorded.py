"""Experiments as they were recorded on an H200."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from .._backend import Backend
from .._errors import unknown
from .._installed import RECORDS
from ._experiment import EXPERIMENTS, Experiment, bars, lines
from ._host_memory import _draw_timelines
from ._memory import _draw

if TYPE_CHECKING:
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
    experiment = record["experiments"][name]
    rows = experiment["rows"]
    if isinstance(rows, dict):  # the names of the columns once
        rows = [dict(zip(rows["columns"], row, strict=True)) for row in rows["rows"]]
    _, columns, claim, on_an_h200 = EXPERIMENTS[name]
    blank: dict[str, Any] = dict.fromkeys(column.key for column in columns)
    when = f"recorded on {record['date'][:10]}"
    there = Backend("cuda", 0, when, None, {"name": record["chip"]}, 0)  # type: ignore[arg-type]
    whole = tuple(blank | row for row in rows)
    return Experiment(
        name, f"{experiment['title']}, {when}", there, columns, whole, claim, on_an_h200, PLOTS.get(name, _bars)
    )
