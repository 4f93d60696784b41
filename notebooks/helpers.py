"""What the notebooks share: kernels as highlighted code, small tables, and plots that suit light and dark themes."""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from IPython import get_ipython
from matplotlib.figure import Figure, FigureBase
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

import cudakern as ck
from cudakern import lab

GRAY = "#808080"  # readable on white and on black

#: A cell in a column of numbers: 1,024, 2.5%, 1.2e-07, 14 us, - or nothing.
NUMBER = re.compile(r"-?|-?[\d.,]+(?:e[-+]?\d+)?%?(?: (?:[num]?s|[kMG]?B))?")

# JupyterLab's own colors, which follow its theme; elsewhere colors that are readable on white and on black.
STYLE = """<style>
.ck-code pre { font-family: var(--jp-code-font-family, monospace); line-height: 1.35; white-space: pre; overflow-x: auto; }
.ck-code .k, .ck-code .kt, .ck-code .kr, .ck-code .kc { color: var(--jp-mirror-editor-keyword-color, #3a9a3a); font-weight: 600; }
.ck-code .c1, .ck-code .cm { color: var(--jp-mirror-editor-comment-color, #6a9a9a); font-style: italic; }
.ck-code .mi, .ck-code .mf, .ck-code .mh { color: var(--jp-mirror-editor-number-color, #3a9a6a); }
.ck-code .s, .ck-code .se, .ck-code .sc { color: var(--jp-mirror-editor-string-color, #c05050); }
.ck-code .nf, .ck-code .vg, .ck-code .nb { color: var(--jp-mirror-editor-def-color, #4a80e0); }
.ck-code .cp, .ck-code .cpf { color: var(--jp-mirror-editor-meta-color, #a060d0); }
</style>"""


class Kernel:
    """CUDA source that a notebook shows highlighted, and a terminal as plain text."""

    def __init__(self, text: str, caption: str) -> None:
        self.text = text
        self.caption = caption

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        code = highlight(self.text, get_lexer_by_name("cuda"), HtmlFormatter(nowrap=True))
        caption = f'<p style="color:{GRAY}; font-size:85%">{html.escape(self.caption)}</p>'
        return f'{STYLE}<div class="ck-code"><pre>{code}</pre></div>{caption}'


def show(op: str, variant: str, all: bool = False) -> Kernel:
    """A variant's kernel, as it was compiled into the package.

    Left out are the header comment, the include guard, the includes, the namespace, and what records the clock;
    ``all=True`` shows the whole file.
    """
    source = ck.source(op, variant)
    name = source.path.name
    if all:
        return Kernel(str(source), name)
    return Kernel(source.kernel, f'{name}; the whole file: show("{op}", "{variant}", all=True)')


@dataclass(frozen=True)
class Facts:
    """A small table: columns of numbers are aligned on the right, with their headings."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    note: str = ""

    @property
    def _sides(self) -> list[str]:
        columns = zip(self.columns, *self.rows, strict=True)
        return ["right" if all(map(NUMBER.fullmatch, cells)) else "left" for _, *cells in columns]

    def __repr__(self) -> str:
        lines = [[head.replace("\n", " ") for head in self.columns], *self.rows]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        adjust = [str.rjust if side == "right" else str.ljust for side in self._sides]
        body = [
            "  ".join(f(cell, w) for f, cell, w in zip(adjust, line, widths, strict=True)).rstrip() for line in lines
        ]
        return "\n".join(filter(None, (self.title, *body, self.note)))

    def _repr_html_(self) -> str:
        def line(cells: Sequence[str], tag: str) -> str:
            marked = (
                f'<{tag} align="{side}" style="text-align:{side}; white-space:nowrap">{html.escape(cell)}</{tag}>'
                for cell, side in zip(cells, self._sides, strict=True)
            )
            return f"<tr>{''.join(marked)}</tr>"

        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        body = "".join(line(row, "td") for row in self.rows)
        note = f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return f"<table>{caption}<thead>{line(self.columns, 'th')}</thead><tbody>{body}</tbody></table>{note}"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], note: str = "") -> Facts:
    """A small table of anything that ``str`` can write."""
    return Facts(columns, [[str(cell) for cell in row] for row in rows], note=note)


def report(result: lab.Experiment, **only: Sequence[str]) -> Facts:
    """An experiment's table. On the emulator it has what was counted or computed, without times.

    ``part=("edges",)`` keeps the rows whose ``"part"`` is among those.
    """
    rows = [row for row in result.rows if all(row.get(key) in wanted for key, wanted in only.items())]
    columns = [column for column in result.columns if not (column.timed and _emulated(result, column.key))]
    words = [[column.text(row.get(column.key)) for column in columns] for row in rows]
    return Facts([column.name for column in columns], words, result.title, result.note.replace("`", ""))


def _emulated(result: lab.Experiment, key: str) -> bool:
    """True if a column of times has an emulator's, or nothing."""
    values = [row for row in result.rows if row.get(key) is not None]
    return not values or (result.backend.emulated and any(not row.get("cpu") for row in values))


# --- plots -----------------------------------------------------------------------------------------------------------
PLOT_STYLE = """<style>
body[data-jp-theme-light="false"] .ck-plot, body.vscode-dark .ck-plot { filter: invert(0.93) hue-rotate(180deg); }
</style>"""


def plot_html(figure: Figure) -> str:
    """A plot as an image that is inverted in a dark theme, unless it has a photo."""
    images = [image for axes in figure.axes for image in axes.images]
    photo = any(image.get_array().ndim == 3 for image in images)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=144, facecolor="none" if photo else "white")
    data = base64.b64encode(stream.getvalue()).decode()
    width = round(figure.get_figwidth() * 84)
    kind = "ck-photo" if photo else "ck-plot"
    return (
        f'{PLOT_STYLE}<img class="{kind}" style="width:{width}px; max-width:100%" src="data:image/png;base64,{data}">'
    )


if (shell := get_ipython()) is not None:
    # pyplot removes what is registered for Figure itself.
    shell.display_formatter.formatters["text/html"].for_type(FigureBase, plot_html)
