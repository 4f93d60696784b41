"""The result of an experiment: its figures, what an H200 shows, the claim that is tested; and its plots."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import Backend
from .._errors import unknown
from .._operations._public import documented

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from .._plots import Picture


#: The mark of emulated times in headings and axis labels, and of the CPU's times in the same column.
EMULATED, OF_THE_CPU = "(emulated)", "(CPU)"
#: The last line of a table with emulated times.
SAYS_NOTHING = "This run was emulated: its times, and figures derived from them, do not predict a GPU's."
#: Formats of columns: 4,096; a share of 1 as 25%; a share of 100 as 0.0031%; any magnitude as 1.2e-07.
grouped, percent, of_hundred, scientific = "{:,.0f}".format, "{:.0%}".format, "{:.3g}%".format, "{:.1e}".format

#: Paragraphs that the docstrings of experiments share, written there as <size>, <repeat>, <median> and <raises>.
documents = documented(
    size="""\
Default: a size for the GPU, or a smaller one for the emulator.""",
    repeat="""\
repeat : int, optional
    How many times to measure each row. Default: up to 20 times within 0.1 s.""",
    median="""\
repeat : int, optional
    How many times to measure; the figures are medians. Default: 5.""",
    raises="""\
Raises
------
TypeError
    An argument that must be an integer is not one.
ValueError
    A number below 1, or an argument outside the range described above.
CudaError
    The GPU or the emulator failed.""",
)


@dataclass(frozen=True)
class Column:
    """A column of figures or words: its heading, its key in the rows, and how to format a value."""

    name: str  #: the heading, with the unit
    key: str
    show: Callable[[Any], str] | None = None  #: formats a value; None: floats with three digits, the rest by str()
    timed: bool = False  #: times, or figures derived from times: marked in the heading if they are emulated

    def text(self, value: Any) -> str:
        """A value as shown in the table."""
        if value is None:
            return "-"
        if self.show is not None:
            return self.show(value)
        return _display.figure(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
class Experiment(_display.Shown):
    """The result of an experiment: displayed as a table, with ``rows``, ``plot()`` and ``to_dict()``.

    Each row is a dictionary. Keys without a column appear in ``to_dict()`` and in plots only. In a row with a true
    ``"cpu"``, the times were measured on the CPU, also when the other rows are emulated.
    """

    name: str  #: of the function, e.g. "bank_conflicts"
    title: str
    backend: Backend
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    documents: (
        str  #: the claim that is tested, after its source, e.g. "T6: a conflict of 16 lanes takes 16 times as long"
    )
    on_an_h200: str  #: what was measured on an H200: a fixed text, independent of this run
    note: str = ""  #: a remark about this run
    draw: Callable[[Experiment, Picture], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "backend", self.backend.as_it_is())

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
        emulated = [column.key for column in self.columns if column.timed and self.backend.emulated]
        marked = [key for key in emulated if any(row.get(key) is not None for row in self.rows)]
        headings = [f"{c.name}\n{EMULATED}" if c.key in marked else c.name for c in self.columns]
        words = [[self._cell(column, row, column.key in marked) for column in self.columns] for row in self.rows]
        figures = [
            heading
            for heading, column in zip(headings, self.columns, strict=True)
            if {isinstance(row[column.key], numbers.Real) for row in self.rows if row.get(column.key) is not None}
            == {True}
        ]
        source, _, claim = self.documents.partition(": ")
        texts = [self.note, f"On an H200: {self.on_an_h200}", f"Claim tested ({source}): {claim}."]
        note = "\n".join([text for text in texts if text] + [SAYS_NOTHING] * bool(emulated)).replace("`", "")
        return _display.Table(f"{self.title}; {self.backend.device_name}", headings, words, note, right=figures)

    def _cell(self, column: Column, row: dict[str, Any], marked: bool) -> str:
        value = row.get(column.key)
        own = marked and value is not None and row.get("cpu")
        return f"{column.text(value)} {OF_THE_CPU}" if own else column.text(value)

    def to_dict(self) -> dict[str, Any]:
        """The result as a dictionary, for JSON."""
        return {
            "experiment": self.name,
            "title": self.title,
            "backend": self.backend.to_dict(),
            "rows": [dict(row) for row in self.rows],
            "documents": self.documents,
            "on_an_h200": self.on_an_h200,
            "note": self.note,
        }

    def plot(self, path: str | None = None) -> Figure:
        """A plot, also saved to ``path`` if given; needs matplotlib (``pip install cudakern[plot]``)."""
        from .._plots import Picture

        picture = Picture(figsize=(9, 4), layout="constrained")
        if self.draw is None:
            raise ValueError(f"{self.name} has no plot; its table has all its figures")
        self.draw(self, picture)
        picture.suptitle(f"{self.title}; {self.backend.device_name}", fontsize=10)
        return picture.saved(path)


def missing_resources(why: str) -> str:
    """A note for tables of registers, if ``kernel_resources`` had none."""
    return why and f"Registers and local memory are unknown on this machine: {why}."


def counted(n: int, what: str) -> str:
    """A count and its noun: "1 block", "4 threads"."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def bars(label: str, value: str, unit: str, timed: bool = False) -> Callable[[Experiment, Picture], None]:
    """A ``draw`` with one labeled bar per row: keys of its name and value, and the value's unit.

    If the values are ``timed``, they are nanoseconds of what ``unit`` names, and the axis has a fitting unit of time.
    """
    return functools.partial(_draw_bars, label=label, value=value, unit=unit, timed=timed)


def _draw_bars(result: Experiment, picture: Picture, **keywords: Any) -> None:
    bars_in(picture.subplots(), result.rows, emulated=result.backend.emulated, **keywords)


def bars_in(
    axes: Axes,
    rows: Sequence[dict[str, Any]],
    label: str,
    value: str,
    unit: str,
    timed: bool = False,
    emulated: bool = False,
) -> None:
    """The bars of ``bars()`` in one part of a plot. Rows without a value are left out."""
    from .._plots import BAR, HOST_BAR
    from .._plots import bars as draw

    drawn = [row for row in rows if row.get(value) is not None][::-1]
    values = [float(row[value]) for row in drawn]
    labels = [(_display.duration if timed else _display.figure)(each) for each in values]
    if timed:
        time_unit, ns = _display.axis_unit(max(values, default=1))
        unit = f"{unit}, {time_unit}" + f" {EMULATED}" * emulated
        values = [each / ns for each in values]
    colors = [HOST_BAR if row.get("cpu") else BAR for row in drawn]
    draw(axes, [str(row[label]) for row in drawn], values, labels, colors)
    axes.set_xlabel(f"{unit}; gray: measured on the CPU" if HOST_BAR in colors else unit, fontsize=9)


def named(axes: Axes, x_name: str, y_name: str, legend: bool = True) -> None:
    """Labels and style of axes with points and lines."""
    if legend:
        axes.legend(fontsize=8)
    axes.set_xlabel(x_name, fontsize=9)
    axes.set_ylabel(y_name, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def logarithmic(axis: Axis, show: Callable[[float], str] = _display.figure, at: Sequence[float] | None = None) -> None:
    """Labels of a logarithmic axis as plain numbers, and only ``at`` these values, if any."""
    if at is not None:
        axis.set_ticks(at, minor=False)
        axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: show(value))
    axis.set_minor_formatter(lambda value, _: show(value) if f"{value:e}"[0] in "25" else "")


def lines(
    result: Experiment, picture: Picture, x: str, y: str, x_name: str, y_name: str, by: str, timed: bool = False
) -> None:
    """Draws y over x, both keys of the rows, with one line per value of the key ``by``.

    If y is ``timed``, it is in nanoseconds, and the axis has a fitting unit of time.
    """
    axes = picture.subplots()
    drawn: list[list[Any]] = []
    ns = 1.0
    if timed:
        unit, ns = _display.axis_unit(max(result[y]))
        y_name = f"{y_name}, {unit}"
    for group in dict.fromkeys(result[by]):
        points = [(row[x], row[y] / ns) for row in result.rows if row[by] == group]
        # Where lines coincide, the later ones are dashed, so that the first one remains visible.
        style = ("-", "--", ":")[min(drawn.count(points), 2)]
        drawn.append(points)
        axes.plot(*zip(*points, strict=True), style, marker="o", markersize=3, label=str(group))
    named(axes, x_name, y_name)
