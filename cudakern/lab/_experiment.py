"""What an experiment gives back: figures, a sentence of what they show, the documents' claim, and whether it holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _display
from .._backend import Backend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .._plots import Picture


@dataclass(frozen=True)
class Column:
    """A column of figures or words: its heading, its key in the rows, and how a value is written."""

    name: str  #: what a table and a plot's axis show, with the unit
    key: str
    show: Callable[[Any], str] | None = None  #: None: figures with three digits, all else by str()

    def text(self, value: Any) -> str:
        """A value as the table has it."""
        if value is None:
            return "-"
        if self.show is not None:
            return self.show(value)
        return _display.figure(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
class Experiment:
    """The result of an experiment: shown as a table, with ``plot()``, ``to_dict()`` and its rows.

    ``rows`` are dictionaries; a key that no column names is kept for ``to_dict()`` and for plots.
    """

    name: str  #: the function's, e.g. "bank_conflicts"
    title: str
    backend: Backend
    columns: tuple[Column, ...]
    rows: tuple[dict[str, Any], ...]
    finding: str  #: one sentence: what these figures show
    documents: str  #: the documents' figure or claim, with its place, e.g. "T6: 16 ways are 16 times as slow"
    verdict: str = ""  #: which of those claims these figures bear out, and which not; "" where they do not say
    here: str = ""  #: what this backend can and cannot show: never empty on the emulator
    draw: Callable[[Experiment, Picture], None] | None = None

    def __post_init__(self) -> None:
        if self.backend.emulated and not self.here:
            raise ValueError(f"{self.name}: on the emulator an experiment says what it can show there")

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Any:
        """A row by its number, a column by its key."""
        return [row[key] for row in self.rows] if isinstance(key, str) else self.rows[key]

    def table(self) -> _display.Table:
        """The table, as words."""
        words = [[column.text(row.get(column.key)) for column in self.columns] for row in self.rows]
        figures = [c.name for c in self.columns if all(_is_figure(row.get(c.key)) for row in self.rows)]
        note = " ".join(filter(None, [self.finding, f"Documents: {self.documents}.", self.verdict, self.here]))
        title = f"{self.title}; {self.backend.device_name}"
        return _display.Table(title, [c.name for c in self.columns], words, note, right=figures)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "experiment": self.name,
            "title": self.title,
            "backend": self.backend.to_dict(),
            "rows": [dict(row) for row in self.rows],
            "finding": self.finding,
            "documents": self.documents,
            "verdict": self.verdict,
            "here": self.here,
        }

    def plot(self, path: str | None = None) -> Figure:
        """A picture; needs matplotlib (``pip install cudakern[plot]``). With ``path`` it is saved too."""
        from .._plots import Picture

        picture = Picture(figsize=(9, 4), layout="constrained")
        if self.draw is None:
            raise ValueError(f"{self.name} has no picture: its table says it all")
        self.draw(self, picture)
        picture.suptitle(f"{self.title}; {self.backend.device_name}", fontsize=10)
        if path is not None:
            picture.savefig(path, dpi=150)
        return picture


def _is_figure(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def bars(label: str, value: str, unit: str) -> Callable[[Experiment, Picture], None]:
    """Draws a labelled bar a row: ``label`` and ``value`` are keys of the rows."""

    def draw(result: Experiment, picture: Picture) -> None:
        bars_in(picture.subplots(), result.rows, label, value, unit)

    return draw


def bars_in(axes: Axes, rows: Sequence[dict[str, Any]], label: str, value: str, unit: str) -> None:
    """Those bars as one of several parts of a picture; a row without the value has none."""
    from .._plots import BAR, bars

    shown = [row for row in rows if row.get(value) is not None][::-1]
    values = [float(row[value]) for row in shown]
    bars(axes, [str(row[label]) for row in shown], values, [_display.figure(v) for v in values], BAR)
    axes.set_xlabel(unit, fontsize=9)


def lines(x: str, y: str, x_name: str, y_name: str, by: str | None = None) -> Callable[[Experiment, Picture], None]:
    """Draws y over x: a line for each value of the key ``by``."""

    def draw(result: Experiment, picture: Picture) -> None:
        axes = picture.subplots()
        groups: Sequence[Any] = list(dict.fromkeys(row[by] for row in result.rows)) if by else [None]
        for group in groups:
            shown = [row for row in result.rows if by is None or row[by] == group]
            label = None if group is None else str(group)
            axes.plot([row[x] for row in shown], [row[y] for row in shown], marker="o", markersize=3, label=label)
        if by:
            axes.legend(fontsize=8)
        axes.set_xlabel(x_name, fontsize=9)
        axes.set_ylabel(y_name, fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)

    return draw
