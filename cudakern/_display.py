"""Tables as text (rich) and as HTML (notebooks), and numbers with units."""

from __future__ import annotations

import html
import io
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imported when a table is displayed: `import cudakern` is faster without it
    from rich.console import Console
    from rich.table import Table as RichTable


@dataclass(frozen=True)
class Table:
    """A title, headings, rows of text, a note below. ``right``: the headings of columns of figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    right: Sequence[str] = field(default=())

    def rich(self) -> RichTable:
        """For a terminal."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(
            title=Text(self.title) if self.title else None,
            caption=Text(self.note) if self.note else None,
            box=box.SIMPLE_HEAD,
            show_edge=False,
            padding=(0, 1, 0, 0),
            title_justify="left",
            caption_justify="left",
            show_header=any(c.strip() for c in self.columns),
        )
        for column in self.columns:
            figures = column in self.right
            table.add_column(column, justify="right" if figures else "left", no_wrap=figures or column == "variant")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table

    def text(self) -> str:
        """Plain text."""
        from rich.console import Console

        stream = io.StringIO()
        self._print(Console(file=stream, width=1, color_system=None, force_jupyter=False))
        return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())

    def print(self) -> None:
        """To stdout, in color on a terminal."""
        from rich.console import Console

        console = Console()
        if console.is_terminal:
            self._print(console)
        else:
            print(self.text())

    def _print(self, console: Console) -> None:
        """As wide as the terminal (else 120), or wider if names and figures would be cut."""
        table = self.rich()
        console.width = 1000
        needed = console.measure(table).minimum
        console.width = max(shutil.get_terminal_size((120, 24)).columns, needed)
        console.print(table)

    def html(self) -> str:
        """For a notebook."""

        def row(cells: Sequence[str], tag: str) -> str:
            # The attribute is for viewers that remove styles, as GitHub's does.
            sides = ("right" if column in self.right else "left" for column in self.columns)
            wrap = {"left": "", "right": "; white-space:nowrap"}  # a figure stays with its unit
            marked = (
                f'<{tag} align="{side}" style="text-align:{side}{wrap[side]}">{html.escape(cell)}</{tag}>'
                for side, cell in zip(sides, cells, strict=True)
            )
            return f"<tr>{''.join(marked)}</tr>"

        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        head = f"<thead>{row(self.columns, 'th')}</thead>" if any(c.strip() for c in self.columns) else ""
        body = "".join(row(cells, "td") for cells in self.rows)
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f"<table>{caption}{head}<tbody>{body}</tbody></table>{note}"


class Shown:
    """Displays as its ``table()``, as text or in a notebook."""

    __slots__ = ()

    def table(self) -> Table:
        """The table."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


#: Units of time in nanoseconds, the longest first.
TIMES = (("s", 1e9), ("ms", 1e6), ("us", 1e3))


def facts(rows: Sequence[Sequence[str]], title: str = "", note: str = "") -> Table:
    """A table of names and values, without headings."""
    return Table(title, ["", " "], rows, note)


def duration(ns: float | None) -> str:
    """Nanoseconds in a suitable unit: 1234 -> "1.23 us"."""
    if ns is None:
        return "-"
    return _in_units(ns, TIMES, "ns")


def axis_unit(largest_ns: float) -> tuple[str, float]:
    """A unit for a time axis that ends at ``largest_ns``, and its length in nanoseconds."""
    return next(((unit, one) for unit, one in TIMES if largest_ns >= one), ("ns", 1.0))


def size(count: float) -> str:
    """Bytes in a suitable unit (powers of ten, as for bandwidths)."""
    return _in_units(count, (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)), "B")


def _in_units(value: float, units: Sequence[tuple[str, float]], smallest: str) -> str:
    for unit, one in units:
        if value >= one:
            return f"{figure(value / one)} {unit}"
    return f"{value:.0f} {smallest}"


def dimensions(lengths: Sequence[int]) -> str:
    """A grid's or a block's lengths without trailing ones: "4,096", "16 x 16"."""
    last = max((axis for axis, length in enumerate(lengths) if length > 1), default=0)
    return " x ".join(f"{length:,}" for length in lengths[: last + 1])


def figure(value: float | None) -> str:
    """Three digits: 1234.5 -> "1,234", 0.012345 -> "0.0123"."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def median(values: Sequence[float]) -> float:
    """The median. (The standard library's module takes long to import.)"""
    low, high = sorted(values)[(len(values) - 1) // 2], sorted(values)[len(values) // 2]
    return (low + high) / 2
