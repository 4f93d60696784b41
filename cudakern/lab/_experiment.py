"""What the experiments share: checks of their arguments, measurements, the result with its table, and its plots."""

from __future__ import annotations

import functools
import inspect
import operator
import textwrap
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from .. import _display
from .._backend import Backend, backend
from .._errors import unknown
from ..calls.checks import integer
from ..calls.observer import unobserved
from ..measure.profile import Profile
from ..measure.profile import measure as measured
from ..operations.registry import F, filled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..measure.plots import Picture

    Draw: TypeAlias = Callable[["Experiment", Picture], None]

#: The marks of emulated times in headings and axis labels, and of the CPU's times in the same column.
EMULATED, ON_CPU = "(emulated)", "(CPU)"
UNITS: dict[str, Callable[[Any], str]] = {"duration": _display.duration, "size": _display.size}
#: The last line of a table with emulated times.
NO_PREDICTION = "This run was emulated: its times, and figures derived from them, do not predict a GPU's."


class Description(NamedTuple):
    """What is known of an experiment before it runs: its function, and what its table shows on every machine."""

    function: Callable[..., Any]
    columns: tuple[Column, ...]
    claim: str
    on_an_h200: str = "not measured."


EXPERIMENTS: dict[str, Description] = {}
#: Each experiment's columns, the claim that it tests, and what was measured on an H200.
TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


def experiment(function: F) -> F:
    """Registers an experiment, whose times nothing may observe, and fills in the paragraphs that the docstrings of
    experiments share."""
    texts = TEXTS[function.__name__]
    columns = tuple(Column(**column) for column in texts["columns"])

    @functools.wraps(function)
    def run(*args: Any, **keywords: Any) -> Any:
        with unobserved():
            return function(*args, **keywords)

    EXPERIMENTS[function.__name__] = Description(run, **texts | {"columns": columns})
    doc = inspect.cleandoc(function.__doc__ or "").replace("\n\nExamples\n", "\n\n<raises>\n\nExamples\n")
    run.__doc__ = filled(doc, **TEXTS["paragraphs"], source=texts["claim"].partition(": ")[0])
    return cast(F, run)


#: profile() with the result of the last call, in less time than profile() takes, since experiments have many cases.
measure = functools.partial(measured, warmup=None, budget_s=0.1)


def kernel_times(profile: Profile, emulated: bool = True) -> dict[str, Any]:
    """The figures of a profile that rows contain; without ``emulated``, None unless a GPU was timed."""
    times = {"kernel_ns": profile.kernel_ns, "gb_per_s": profile.gb_per_s}
    return (times if emulated or profile.clock == "gpu" else dict.fromkeys(times)) | {"clock": profile.clock}


def ratio(row: dict[str, Any], base: dict[str, Any], key: str = "kernel_ns") -> float | None:
    """A row's time relative to that of the row ``base``; None if it was not measured, or emulated."""
    return None if row[key] is None or row.get("clock") == "emulated" else row[key] / (base[key] or 1)


def size(name: str, n: int | None, chip: int, emulator: int, most: int | None = None) -> int:
    """``n``, or by default a size large enough for a chip to show its speed, or small enough for the emulator."""
    return (emulator if backend().emulated else chip) if n is None else integer(f"{name}: n", n, 1, most)


def numbers(
    name: str, key: str, value: Any, low: int | None = None, high: int | None = None, also: str = ""
) -> tuple[int, ...]:
    """An integer or a sequence of integers as a tuple; TypeError otherwise, which also names the ``also`` accepted.

    With ``low``, ValueError unless there is at least one integer, and all are from ``low`` to ``high``.
    """
    try:
        several = isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0
        integers = tuple(map(operator.index, value if several else (value,)))
    except TypeError:
        raise TypeError(f"{name}: {key} must be an integer or a sequence of integers{also}, not {value!r}") from None
    if low is not None and (not integers or min(integers) < low or (high is not None and max(integers) > high)):
        allowed = f"of {low} or more" if high is None else f"from {low:,} to {high:,}"
        raise ValueError(f"{name}: {key} must be one or more integers {allowed}, not {list(integers)}")
    return integers


class Column(NamedTuple):
    """A column of figures or words: its heading, its key in the rows, and how to format a value."""

    name: str  #: the heading, with the unit
    key: str
    show: str = ""  #: "duration", "size" or a format such as "{:.0%}"; by default floats have three digits
    timed: bool = False  #: times, or figures derived from times: marked in the heading if they are emulated

    def text(self, value: Any, on_cpu: bool = False) -> str:
        """A value as shown in the table, marked if it was measured on the CPU and the others are emulated."""
        if value is None:
            return "-"
        usual = _display.figure if isinstance(value, float) else str
        show = UNITS.get(self.show) or (self.show.format if self.show else usual)
        return f"{show(value)} {ON_CPU}" if on_cpu else show(value)


@dataclass(frozen=True, repr=False)
class Experiment(_display.Shown):
    """The result of an experiment: displayed as a table, with ``rows``, ``plot()`` and ``to_dict()``.

    Each row is a dictionary. Keys without a column appear in ``to_dict()`` and in plots only. In a row with
    a true ``"cpu"``, the times were measured on the CPU, also when the other rows are emulated.
    """

    name: str  #: of the function, e.g. "bank_conflicts"
    title: str
    backend: Backend
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    documents: str  #: the claim that is tested, after its source: "T6: a conflict of 16 lanes takes 16 times as long"
    on_an_h200: str  #: what was measured on an H200: a fixed text, independent of this run
    draw: Draw
    note: str = ""  #: a remark about this run

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        """A row by its index, a column by its key."""
        if not isinstance(key, str):
            return self.rows[key]
        keys = dict.fromkeys(each for row in self.rows for each in row)
        if key not in keys:
            raise KeyError(unknown("column", key, keys, of=f"the rows of {self.name}"))
        return [row[key] for row in self.rows]

    def table(self) -> _display.Table:
        """The table, as text."""
        headings, figures, cells = [], [], []
        for column in self.columns:
            known = [row[column.key] for row in self.rows if row.get(column.key) is not None]
            marked = column.timed and self.backend.emulated and bool(known)
            headings.append(f"{column.name}\n{EMULATED}" if marked else column.name)
            if known and all(isinstance(value, Real) for value in known):
                figures.append(headings[-1])
            cells.append([column.text(row.get(column.key), marked and bool(row.get("cpu"))) for row in self.rows])
        source, _, claim = self.documents.partition(": ")
        texts = [self.note, f"On an H200: {self.on_an_h200}", f"Claim tested (docs/sources.md: {source}): {claim}."]
        if self.backend.emulated and any(column.timed for column in self.columns):
            texts.append(NO_PREDICTION)
        note = "\n".join(filter(None, texts)).replace("`", "")
        rows = [list(row) for row in zip(*cells, strict=True)]
        return _display.Table(f"{self.title}; {self.backend.device_name}", headings, rows, note, right=figures)

    def to_dict(self) -> dict[str, Any]:
        """The result as a dictionary, for JSON."""
        texts = {key: getattr(self, key) for key in ("documents", "on_an_h200", "note")}
        rows = [dict(row) for row in self.rows]
        return {"experiment": self.name, "title": self.title, "backend": self.backend.to_dict(), "rows": rows, **texts}

    def plot(self, path: str | None = None) -> Figure:
        """A plot, also saved to ``path`` if given; needs matplotlib (``pip install cudakern[plot]``)."""
        from ..measure.plots import Picture

        picture = Picture(figsize=(9, 4), layout="constrained")
        self.draw(self, picture)
        picture.suptitle(textwrap.fill(f"{self.title}; {self.backend.device_name}", 90), fontsize=10)
        return picture.saved(path)


def report(
    name: str, title: str, rows: Iterable[dict[str, Any]], draw: Callable[..., None], note: str = "", **options: Any
) -> Experiment:
    """The result of the experiment ``name``, on this machine; figures that a row lacks are None. ``draw`` gets the
    result, a Picture and the ``options``."""
    _, columns, claim, on_an_h200 = EXPERIMENTS[name]
    rows = tuple(dict.fromkeys(column.key for column in columns) | row for row in rows)
    drawing = functools.partial(draw, **options) if options else draw
    return Experiment(name, title, backend().as_it_is(), columns, rows, claim, on_an_h200, drawing, note)


def plural(n: int, what: str) -> str:
    """A count and its noun: "1 block", "4 threads"."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def bars(
    result: Experiment, picture: Picture, label: str, value: str, axes: Axes | None = None, **only: object
) -> None:
    """Draws one bar per row that has a value and the items of ``only``, by the keys of its label and value. ``axes``: a
    part of the picture."""
    from ..measure import plots

    axes = axes or picture.subplots()
    column, axis, unit = _axis(result, value)
    rows = [row for row in result.rows[::-1] if row.get(value) is not None and only.items() <= row.items()]
    colors = [plots.HOST_BAR if row.get("cpu") else plots.BAR for row in rows]
    names, values = [str(row[label]) for row in rows], [row[value] / unit for row in rows]
    plots.bars(axes, names, values, [column.text(float(row[value])) for row in rows], colors)
    axes.set_xlabel(f"{axis}; gray: measured on the CPU" if plots.HOST_BAR in colors else axis, fontsize=9)


def _axis(result: Experiment, key: str) -> tuple[Column, str, float]:
    """The column of values, their axis's name, and its unit: one that fits if the values are times in nanoseconds."""
    column = next((column for column in result.columns if column.key == key), Column(key, key))
    name, one = column.name.replace("\n", " "), 1.0
    if column.show == "duration":
        unit, one = _display.axis_unit(max((row[key] for row in result.rows if row.get(key) is not None), default=1))
        name = f"{name}, {unit}"
    return column, name + f" {EMULATED}" * column.timed * result.backend.emulated, one


def label_axes(axes: Axes, x_name: str, y_name: str) -> None:
    """Labels and style of axes with points and lines."""
    axes.set_xlabel(x_name, fontsize=9)
    axes.set_ylabel(y_name, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def lines(result: Experiment, picture: Picture, x: str, y: str, by: str, log: bool = False) -> None:
    """Draws y over x, both keys of the rows, with one line per value of the key ``by``; ``log``: on logarithmic axes.

    Each line is thinner than the ones before, and every second one is dashed: all remain visible where they coincide.
    """
    axes = picture.subplots()
    column, x_name, _ = _axis(result, x)
    _, y_name, unit = _axis(result, y)
    groups = list(dict.fromkeys(result[by]))
    for i, group in enumerate(groups):
        points = [(row[x], row[y] / unit) for row in result.rows if row[by] == group]
        look: dict[str, Any] = {"ls": ("-", "--")[i % 2], "lw": 1 + 4 * (1 - i / len(groups)), "marker": "o", "ms": 4}
        axes.plot(*zip(*points, strict=True), label=str(group), **look)
    if log:
        axes.set(xscale="log", yscale="log")
        axes.set_xticks(sorted(set(result[x])), minor=False)
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter(lambda value, _: column.text(value))
        axes.yaxis.set_major_formatter(lambda value, _: _display.figure(value))
        axes.yaxis.set_minor_formatter(lambda value, _: _display.figure(value) if f"{value:e}"[0] in "25" else "")
    axes.legend(fontsize=8)
    label_axes(axes, x_name, y_name)
