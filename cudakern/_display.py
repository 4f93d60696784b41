"""Tables as text (rich) and as HTML (notebooks), and numbers with units."""

from __future__ import annotations

import contextlib
import functools
import html
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, cast

from ._imports import IMPORTING

if TYPE_CHECKING:  # imported when a table is displayed: `import cudakern` is faster without it
    from rich.console import Console
    from rich.table import Table as RichTable

#: The least width of a column of texts, as long as the table has columns to spare.
TEXT_WIDTH = 20
#: Columns of texts that are never broken.
WHOLE = ("variant", "access")
#: The column of a program's lines; where it would be narrower than that, its lines are above the figures.
SOURCE, SOURCE_WIDTH = "source", 40


@dataclass(frozen=True, repr=False)
class Table:
    """A title, headings, rows of text, a note below."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    right: Sequence[str] = ()  #: headings of the columns of figures
    spare: Sequence[str] = ()  #: ... that a narrow terminal leaves out, in this order, until the texts have room
    marked: Sequence[int] = ()  #: numbers of the rows that stand out

    def rich(self, without: Sequence[str] = ()) -> RichTable:
        """For a terminal."""
        with IMPORTING:
            from rich import box
            from rich.table import Table as RichTable
            from rich.text import Text

        table = RichTable(
            box=box.SIMPLE_HEAD,
            show_edge=False,
            padding=(0, 1, 0, 0),
            show_header=any(map(str.strip, self.columns)),
        )
        kept = [column not in without for column in self.columns]
        for i, column in compress(enumerate(self.columns), kept):
            figures, room = column in self.right, column == "what it shows" and len(without) < len(self.spare)
            whole, least = figures or column in WHOLE, TEXT_WIDTH if room else None
            if whole:  # rich's own minimum is that of a word
                least = max(map(len, (*column.splitlines(), *(row[i] for row in self.rows))), default=0)
            table.add_column(column, justify="right" if figures else "left", no_wrap=whole, min_width=least)
        for i, row in enumerate(self.rows):
            table.add_row(*map(Text, compress(row, kept)), style="bold red" if i in self.marked else None)
        return table

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def text(self) -> str:
        """Plain text."""
        with IMPORTING:  # rich imports some modules when it needs them
            from rich.console import Console

            console = Console(color_system=None, force_jupyter=False)
            with console.capture() as output:
                self._print(console)
        return "\n".join(line.rstrip() for line in output.get().splitlines())

    def print(self) -> None:
        """To stdout, in color on a terminal."""
        with IMPORTING:
            from rich.console import Console

        console = Console()
        if console.is_terminal:
            self._print(console)
        else:
            print(self.text())

    def _print(self, console: Console) -> None:
        """As wide as the terminal (else 120), or wider if names and figures would be cut."""
        with IMPORTING:
            from rich.text import Text

        width, console.width = shutil.get_terminal_size((120, 24)).columns, 1000
        if self.title:
            console.print(Text(self.title, "italic"), width=width)
        if SOURCE in self.columns and (lines := self._below_source(width)):
            for line, style in lines:
                console.print(Text(line, style), width=max(width, len(line)))
        elif self.columns:
            for left_out in range(len(self.spare) + 1):
                table = self.rich(self.spare[:left_out])
                least = console.measure(table).minimum
                if least <= width:
                    break
            console.print(table, width=max(width, least))
        if self.note:
            console.print(Text(self.note, "dim"), width=width)

    def _below_source(self, width: int) -> list[tuple[str, str]]:
        """Lines of text and their styles: each line of the source, and below it its figures. None if there is room for
        both side by side."""
        at = self.columns.index(SOURCE)  # (the first column has the lines' numbers)
        kept = [i for i in range(1, len(self.columns)) if i != at]
        cells = [[column.splitlines() for column in self.columns]]
        cells += [[[cell] for cell in row] for row in self.rows]
        widths = [max(len(text) for row in cells for text in row[i]) for i in range(len(self.columns))]
        beside, number = sum(widths) - widths[at] + 2 * (len(widths) - 1), widths[0]
        if beside + min(widths[at], SOURCE_WIDTH) <= width:
            return []

        for name in self.spare:
            if number + 5 + sum(widths[i] + 2 for i in kept) - 2 > width:
                kept = [i for i in kept if self.columns[i] != name]

        def figures(row: Sequence[str]) -> str:
            sides = (str.rjust if self.columns[i] in self.right else str.ljust for i in kept)
            return " " * (number + 5) + "  ".join(side(row[i], widths[i]) for side, i in zip(sides, kept, strict=True))

        high = max(len(texts) for texts in cells[0])
        heads = [[""] * (high - len(texts)) + texts for texts in cells[0]]
        lines = [(figures([texts[i] for texts in heads]), "bold") for i in range(high)]
        lines.append(("\u2500" * max(len(line) for line, _ in lines), ""))
        for i, row in enumerate(self.rows):
            mark, line = "bold red" if i in self.marked else "", row[0].removeprefix("> ")
            for text in row[at].splitlines() or [""] * (not any(row[j] for j in kept)):
                indent = " " * (len(text) - len(text.lstrip()) + 8)
                parts = textwrap.wrap(text, max(width - number - 1, 2 * len(indent)), subsequent_indent=indent)
                for part in parts or [""]:
                    lines.append((f"{line:>{number}} {part}", ""))
                    line = ""
            if any(row[j] for j in kept):
                lines.append((f"{'>' if mark else '':>{number}}{figures(row)[number:]}", mark))
        return lines

    def html(self) -> str:
        """For a notebook: where it is narrow, without columns to spare."""
        narrow = self._hidden_below()
        rules = "".join(f"@container (max-width:{w}px) {{.ck-below-{w} {{display:none}}}}" for w in narrow.values())
        begin = f'<style>{rules}</style><div style="container-type:inline-size">' if narrow else "<div>"
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        headings = f"<thead>{self._html_row(self.columns, 'th', narrow)}</thead>" * any(map(str.strip, self.columns))
        body = "".join(self._html_row(cells, "td", narrow, i in self.marked) for i, cells in enumerate(self.rows))
        note = "<p>" + html.escape(self.note).replace("\n", "<br>") + "</p>" if self.note else ""
        return f"{begin}<table>{caption}{headings}<tbody>{body}</tbody></table></div>{note}"

    def _html_row(self, cells: Sequence[str], tag: str, narrow: dict[str, int], marked: bool = False) -> str:
        row, mark = "", "; background:#ffe9a8; color:black" if marked else ""
        for column, cell in zip(self.columns, cells, strict=True):
            # The attribute is for viewers that remove styles, as GitHub's does; a figure stays with its unit.
            side, wrap = ("right", "; white-space:pre") if column in self.right else ("left", "")
            if column == SOURCE:
                wrap = "; white-space:pre-wrap; font-family:monospace"
            name = f' class="ck-below-{narrow[column]}"' if column in narrow else ""
            row += f'<{tag}{name} align="{side}" style="text-align:{side}{wrap}{mark}">{html.escape(cell)}</{tag}>'
        return f"<tr>{row}</tr>"

    def _hidden_below(self) -> dict[str, int]:
        """Of each column to spare, the width in pixels below which it leaves its room to the others."""
        room, hidden = {}, {}
        for column, cells in zip(self.columns, zip(self.columns, *self.rows, strict=True), strict=True):
            length = max(len(line) for cell in cells for line in cell.splitlines() or [""])
            most = length if column in (*self.right, *WHOLE) else SOURCE_WIDTH if column == SOURCE else TEXT_WIDTH
            room[column] = 14 + 8 * min(length, most)  # as Jupyter's tables are
        for column in self.spare:
            if column in room:
                hidden[column] = sum(room.values())
                del room[column]
        return hidden


class Shown:
    """Displays as its ``table()``, as text or in a notebook."""

    __slots__ = ()

    def table(self) -> Table:
        """The result as a table, which has ``print()``, ``text()`` and ``html()``."""
        raise NotImplementedError

    def to_dict(self) -> Any:
        """Everything, for JSON."""
        return asdict(cast(Any, self))

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


#: Units, each a thousand of the one before.
TIMES, SIZES = ("ns", "us", "ms", "s"), ("B", "kB", "MB", "GB")


def facts(rows: Sequence[Sequence[str]], title: str = "", note: str = "") -> Table:
    """A table of names and values, without headings."""
    return Table(title, ["", " "], rows, note)


def duration(ns: float | None) -> str:
    """Nanoseconds in a suitable unit: 1234 -> "1.23 us"."""
    return "-" if ns is None else _in_units(ns, TIMES)


def axis_unit(largest: float, units: Sequence[str] = TIMES) -> tuple[str, float]:
    """The unit for an axis that ends at ``largest``, and its length in the smallest unit."""
    power = sum(largest >= 1000**power for power in (1, 2, 3))
    return units[power], 1000.0**power


def size(count: float) -> str:
    """Bytes in a suitable unit (powers of ten, as for bandwidths)."""
    return _in_units(count, SIZES)


def _in_units(value: float, units: Sequence[str]) -> str:
    unit, one = axis_unit(value, units)
    return f"{figure(value / one)} {unit}" if one > 1 else f"{value:.0f} {unit}"


def dimensions(lengths: Sequence[int]) -> str:
    """A grid's or a block's lengths without trailing ones: "4,096", "16 x 16"."""
    last = max((axis for axis, length in enumerate(lengths) if length > 1), default=0)
    return " x ".join(f"{length:,}" for length in lengths[: last + 1])


def figure(value: float | None) -> str:
    """Three digits: 1234.5 -> "1,234", 0.012345 -> "0.0123"."""
    return "-" if value is None else f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}"


def share(part: float) -> str:
    """In percent: 0.333 -> "33%", 0.001 -> "<1%"."""
    return "<1%" if 0 < part < 0.005 else f"{part:.0%}"


# --- progress ---------------------------------------------------------------------------------------------------------
_progress = threading.Lock()  #: held by who shows a line


@contextlib.contextmanager
def progress_line(show: bool | None, after: float = 0.5) -> Iterator[Callable[[str], None]]:
    """A function that shows a line: on a terminal or in a notebook, in place of the line before. Inside another one,
    and while another thread shows one, it shows nothing."""
    if show is False or not _progress.acquire(blocking=False):
        yield lambda line: None
        return
    try:
        with _line(show, after) as announce:
            yield announce
    finally:
        _progress.release()


@contextlib.contextmanager
def _line(show: bool | None, after: float) -> Iterator[Callable[[str], None]]:
    with IMPORTING:
        from rich.console import Console

    console, begin = Console(file=sys.stderr), time.monotonic()
    status, display, output = console.status(""), _notebook_display(), None

    def on_terminal(line: str) -> None:
        status.update(line)
        status.start()

    def in_notebook(line: str) -> None:
        nonlocal output
        if output is not None:  # no line takes no room as HTML
            output.update({"text/plain": line} | ({} if line else {"text/html": ""}), raw=True)
        elif show or time.monotonic() - begin >= after:  # what is short leaves no empty output behind
            output = display({"text/plain": line}, raw=True, display_id=True)

    if show is None and not console.is_terminal and display is None:
        yield lambda line: None
    elif console.is_terminal:
        try:
            yield on_terminal
        finally:
            status.stop()
    elif display is None:
        yield functools.partial(print, file=sys.stderr, flush=True)
    else:
        yield in_notebook
        if output is not None:
            in_notebook("")


def _notebook_display() -> Any:
    """IPython's display function inside a notebook; None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return ipython.display.display if hasattr(shell, "kernel") else None
