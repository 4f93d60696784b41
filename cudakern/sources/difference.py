"""diff: what a variant changes in the kernel of the step before, or of another one."""

from __future__ import annotations

import difflib
import html
import re

from ..calls import table
from ..operations.variants import NameOrFunction, operation_name
from .source import source
from .text import Source


class Difference(str):
    """A unified diff of the plain texts of two variants, ``before`` and ``after``; side by side in a notebook."""

    before: Source
    after: Source

    def __new__(cls, text: str, before: Source | None = None, after: Source | None = None) -> Difference:
        difference = super().__new__(cls, text)
        if before is not None and after is not None:
            difference.before, difference.after = before, after
        return difference

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        old, new = _code(self.before), _code(self.after)
        rows = []
        for kind, i, j, k, n in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind == "equal":
                rows += [_row(line, line, " ", " ") for line in old[i:j]]
                continue
            for at in range(max(j - i, n - k)):
                left, right = old[i + at] if i + at < j else None, new[k + at] if k + at < n else None
                rows.append(_row(left, right, "-", "+"))
        names = (html.escape(name) for name in self.splitlines()[0:2])
        heads = "".join(f'<th style="text-align:left">{name[4:]}</th>' for name in names)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _row(left: str | None, right: str | None, minus: str, plus: str) -> str:
    return f"<tr>{_cell(left, minus, '#c0504d')}{_cell(right, plus, '#3a8a3a')}</tr>"


def _cell(line: str | None, mark: str, color: str) -> str:
    """A changed line has a mark and a bar, so that it is also found without colors."""
    changed = line is not None and mark != " "
    style = "text-align:left;white-space:pre;font-family:monospace;padding:0 0.5em;vertical-align:top;"
    style += f"border-left:4px solid {color if changed else 'transparent'};" + "font-weight:bold;" * changed
    return f'<td style="{style}">{html.escape(f"{mark} {line}") if line is not None else ""}</td>'


def _code(text: Source) -> list[str]:
    """The lines without the note at the head and the example."""
    return re.sub(r"\A//[^\n]*\n|\n// An example, with .*\Z", "", text, flags=re.S).splitlines()


def diff(op: NameOrFunction, variant: str, to: str | None = None) -> Difference:
    """What ``variant`` of ``op`` changes in the kernel of the step that it comes after; or, as ``diff(op, a, b)``, what
    changes from ``a`` to ``b``. A ``str``, a unified diff of their plain texts (``source(op, variant, plain=True)``),
    which a notebook shows side by side. ValueError for an unknown name, for a variant without a kernel, and for the
    first step of a ladder alone.

    Examples
    --------
    >>> import cudakern
    >>> print(cudakern.diff("matmul", "tiled_plain"))  # doctest: +ELLIPSIS
    --- matmul, naive_2d
    +++ matmul, tiled_plain
    ...
    >>> print(cudakern.diff("matmul", "naive", "tiled"))  # doctest: +ELLIPSIS
    --- matmul, naive
    +++ matmul, tiled
    ...
    """
    op = operation_name(op)
    for name in filter(None, (variant, to)):
        if not table.find(op, name).kernels:
            raise ValueError(f"diff: {op}: {name!r} is computed by NumPy and has no kernel")
    before, after = (table.find(op, variant).after, variant) if to is None else (variant, to)
    if before is None:
        following = [other.name for other in table.variants(op) if other.after == after]
        hint = f"; {following[0]!r} comes after it" if following else ""
        raise ValueError(f"diff: {op}: {after!r} is the first step, with no step before it{hint}")
    old, new = (source(op, name, plain=True) for name in (before, after))
    lines = difflib.unified_diff(_code(old), _code(new), f"{op}, {before}", f"{op}, {after}", lineterm="")
    return Difference("\n".join(lines), old, new)
