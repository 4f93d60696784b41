"""What an experiment gives back: figures, the documents' claim, and what was recorded on an H200; and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import Backend
from .._errors import unknown
from .._operations._public import documented

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .._plots import Picture


#: What stands in headings and at axes over an emulator's times, and after the CPU's own times there.
EMULATED, OF_THE_CPU = "(emulated)", "(CPU's own)"
#: What an emulated run's table says where a column is timed.
SAYS_NOTHING = "This run was emulated: its times, and what follows from them, say nothing about a GPU."
#: How columns show figures: 4,096; a share of 1 as 25%; a share of 100 as 0.0031%; of whatever magnitude as 1.2e-07.
grouped, percent, of_hundred, scientific = "{:,.0f}".format, "{:.0%}".format, "{:.3g}%".format, "{:.1e}".format

#: What the docstrings of experiments share: <repeat> and <raises> stand for these.
documents = documented(
    repeat="""\
repeat : int, optional
    How often to measure a row. Without it: up to 20 times, for a tenth of a second at most.""",
    raises="""\
Raises
------
TypeError
    What must be a whole number is none.
ValueError
    A number below 1, or an argument that is not as the parameters above have it.
CudaError
    The GPU or the emulator failed.""",
)


@dataclass(frozen=True)
class Column:
    """A column of figures or words: its heading, its key in the rows, and how a value is written."""

    name: str  #: what a table and a plot's axis show, with the unit
    key: str
    show: Callable[[Any], str] | None = None  #: None: figures with three digits, all else by str()
    timed: bool = False  #: times, or what follows from them: an emulator's are called so in the heading

    def text(self, value: Any) -> str:
        """A value as the table has it."""
        if value is None:
            return "-"
        if self.show is not None:
            return self.show(value)
        return _display.figure(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
class Experiment(_display.Shown):
    """The result of an experiment: shown as a table, with ``plot()``, ``to_dict()`` and its rows.

    ``rows`` are dictionaries; a key that no column names is kept for ``to_dict()`` and for plots. A row with a true
    ``"cpu"`` has the CPU's own times, on the emulator too.
    """

    name: str  #: the function's, e.g. "bank_conflicts"
    title: str
    backend: Backend
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    documents: str  #: the documents' figure or claim, with its place, e.g. "T6: 16 ways are 16 times as slow"
    on_an_h200: str  #: the same measured on an H200 once: a fixed text, whatever this run measured
    note: str = ""  #: what else is to be said of this run
    draw: Callable[[Experiment, Picture], None] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "backend", self.backend.as_it_is())

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        """A row by its number, a column by its key."""
        if not isinstance(key, str):
            return self.rows[key]
        keys = dict.fromkeys(each for row in self.rows for each in row)
        if key not in keys:
            raise KeyError(unknown("column", key, keys, of=f"the rows of {self.name}"))
        return [row[key] for row in self.rows]

    def table(self) -> _display.Table:
        """The table, as words."""
        emulated = [column.key for column in self.columns if column.timed and self.backend.emulated]
        marked = [key for key in emulated if any(row.get(key) is not None for row in self.rows)]
        headings = [f"{c.name}\n{EMULATED}" if c.key in marked else c.name for c in self.columns]
        words = [[self._cell(column, row, column.key in marked) for column in self.columns] for row in self.rows]
        figures = [
            heading
            for heading, column in zip(headings, self.columns, strict=True)
            if all(isinstance(row.get(column.key), (int, float, type(None))) for row in self.rows)
        ]
        texts = [self.note, f"Documents: {self.documents}.", f"Recorded on an H200: {self.on_an_h200}"]
        note = " ".join([text for text in texts if text] + [SAYS_NOTHING] * bool(emulated))
        return _display.Table(f"{self.title}; {self.backend.device_name}", headings, words, note, right=figures)

    def _cell(self, column: Column, row: dict[str, Any], marked: bool) -> str:
        value = row.get(column.key)
        own = marked and value is not None and row.get("cpu")
        return f"{column.text(value)} {OF_THE_CPU}" if own else column.text(value)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
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
        """A picture; needs matplotlib (``pip install cudakern[plot]``). With ``path`` it is saved too."""
        from .._plots import Picture

        picture = Picture(figsize=(9, 4), layout="constrained")
        if self.draw is None:
            raise ValueError(f"{self.name} has no picture: its table says it all")
        self.draw(self, picture)
        picture.suptitle(f"{self.title}; {self.backend.device_name}", fontsize=10)
        return picture.saved(path)


def counted(n: int, what: str) -> str:
    """So many of them: "1 block", "4 threads"."""
    return f"{n:,} {what}{'s' * (n != 1)}"


@dataclass(frozen=True)
class Bars:
    """Draws a labelled bar a row. A class and not a closure, so that results can be pickled."""

    label: str  #: a key of the rows
    value: str  #: another one
    unit: str
    timed: bool = False  #: as a column's

    def __call__(self, result: Experiment, picture: Picture) -> None:
        """Into that picture."""
        mark = f" {EMULATED}" if self.timed and result.backend.emulated else ""
        others = "; grey: the CPU's own" if any(row.get("cpu") for row in result.rows) else ""
        bars_in(picture.subplots(), result.rows, self.label, self.value, f"{self.unit}{mark}{others}")


def bars_in(axes: Axes, rows: Sequence[dict[str, Any]], label: str, value: str, unit: str) -> None:
    """Those bars as one of several parts of a picture; a row without the value has none."""
    from .._plots import BAR, HOST_BAR, bars

    drawn = [row for row in rows if row.get(value) is not None][::-1]
    values = [float(row[value]) for row in drawn]
    colors = [HOST_BAR if row.get("cpu") else BAR for row in drawn]
    bars(axes, [str(row[label]) for row in drawn], values, [_display.figure(v) for v in values], colors)
    axes.set_xlabel(unit, fontsize=9)


def named(axes: Axes, x_name: str, y_name: str, legend: bool = True) -> None:
    """The look of axes with points and lines."""
    if legend:
        axes.legend(fontsize=8)
    axes.set_xlabel(x_name, fontsize=9)
    axes.set_ylabel(y_name, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def lines(result: Experiment, picture: Picture, x: str, y: str, x_name: str, y_name: str, by: str) -> None:
    """Draws y over x, both keys of the rows: a line for each value of the key ``by``."""
    axes = picture.subplots()
    drawn: list[list[Any]] = []
    for group in dict.fromkeys(result[by]):
        points = [(row[x], row[y]) for row in result.rows if row[by] == group]
        # Of lines on each other each later one leaves gaps, through which the earlier ones show.
        style = ("-", "--", ":")[min(drawn.count(points), 2)]
        drawn.append(points)
        axes.plot(*zip(*points, strict=True), style, marker="o", markersize=3, label=str(group))
    named(axes, x_name, y_name)
