"""What the notebooks share: small tables."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import cudakern as ck
from cudakern import lab
from cudakern._display import figure
from cudakern.insight.compared import by_short_names, figures
from cudakern.insight.variants import trace_variant
from cudakern.measure import requests
from cudakern.operations.registry import operation
from cudakern.sources.text import Source

from . import drawing  # noqa: F401  # which shows plots so that they suit light and dark themes

#: A cell in a column of numbers: 1,024, 2.5%, 1.2e-07, 14 us, - or nothing.
NUMBER = re.compile(r"-?|-?[\d.,]+(?:e[-+]?\d+)?%?(?: (?:[num]?s|[kMG]?B))?")


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
            wrap = "pre-line" if tag == "th" else "pre"
            marked = (
                f'<{tag} align="{side}" style="text-align:{side}; white-space:{wrap}">{html.escape(cell)}</{tag}>'
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
    """An experiment's table, briefly. On the emulator it has what was counted or computed, without times.

    ``part=("edges",)`` keeps the rows whose ``"part"`` is among those.
    """
    rows = [row for row in result.rows if all(row.get(key) in wanted for key, wanted in only.items())]
    columns = [column for column in result.columns if not (column.timed and _emulated(result, column.key))]
    words = [[column.text(row.get(column.key)) for column in columns] for row in rows]
    title = f"{result.title}; {result.backend.device_name}"
    return Facts([column.name for column in columns], words, title, result.note.replace("`", ""))


def _emulated(result: lab.Experiment, key: str) -> bool:
    """True if a column of times has an emulator's, or nothing."""
    values = [row for row in result.rows if row.get(key) is not None]
    return not values or (result.backend.emulated and any(not row.get("cpu") for row in values))


# --- what kernels ask of memory, which the emulator counts on any machine ---------------------------------------------
def trace(op: str, variant: str, **parameters: Any) -> ck.Trace:
    """``ck.trace`` of a variant on a small input."""
    return trace_variant(op, variant, **parameters)


def counted(names: Sequence[str], traces: Mapping[str, ck.Trace]) -> Facts:
    """Figures of traces, by the names that ``trace.compare(other)`` shows; one row per trace."""
    known = {what: figures(one) for what, one in traces.items()}
    names = [name for name in names if any(name in of for of in known.values())]
    return table(["", *names], [[what, *(figure(of.get(name, 0)) for name in names)] for what, of in known.items()])


def trace_layouts(op: str, *layouts: str) -> dict[str, ck.Trace]:
    """Traces of variants for 4096 structs: of an array of structs, and ``struct_of_arrays`` of an array per field."""
    what, traces = operation(op), {}
    with ck.use_backend("emulator"):
        for layout in layouts:

            def laid_out(x: np.ndarray, by_field: bool = layout == "struct_of_arrays") -> ck.DeviceArray:
                return ck.asarray(np.ascontiguousarray(x.T)).T if by_field else ck.asarray(x)

            structs = what.make((4096, what.default_shape[1]), np.dtype(what.default_dtype), 0)
            out: dict[str, Any] = {"out": laid_out(np.zeros_like(structs[0]))} if op == "add_fields" else {}
            traces[layout] = ck.trace(what.call, *map(laid_out, structs), variant=layout, **out)
    return traces


def line_of(of: ck.Trace, access: str) -> int:
    """The line of the costliest access of a kind, such as "shared load"."""
    some = [one for one in of.instructions if f"{one.space} {one.what}" == access]
    return max(some, key=lambda one: (one.wavefronts - one.ideal, one.sectors)).line


def asked(*variants: str) -> Facts:
    """What variants of ``matmul`` ask of memory per 32 multiply-adds, which are one instruction of a warp."""
    with ck.use_backend("emulator"):  # where ladders have recorded counters
        steps = ck.ladder("matmul", n=16, variants=variants, progress=False)
    assert steps.counted is not None  # on the emulator
    ((m, k), (_, n)) = steps.counted.shapes
    rows = []
    for name in variants:
        of = by_short_names(steps[name].metrics)
        loads, wavefronts = (
            sum(of.get(f"shared {op} {what}", 0) for op in ("load", "store")) for what in ("requests", "wavefronts")
        )
        moved, conflicts = requests.bytes_moved(steps[name].metrics), requests.conflicts(steps[name].metrics)
        row = [32 * x / (m * n * k) for x in (of["global load requests"], moved, loads, wavefronts, conflicts)]
        rows.append([name, *(f"{round(x, 3):g}" for x in row)])
    heads = ["global\nloads", "bytes\nmoved", "shared memory:\nrequests", "wavefronts", "bank\nconflicts"]
    return table(["per 32 multiply-adds", *heads], rows)


def excerpt(op: str, variant: str, first: str, last: str) -> Source:
    """The lines of a kernel from the one that contains ``first`` to the next one that contains ``last``."""
    text = repr(ck.source(op, variant))
    lines = re.sub(r"^(#.*\n)( *)", r"\2\1\2", text, flags=re.M).splitlines()  # directives as deep as their loops
    begin = next(i for i, line in enumerate(lines) if first in line)
    end = next(i for i in range(begin, len(lines)) if last in lines[i])
    return Source(textwrap.dedent("\n".join(lines[begin : end + 1])), plain=True)
