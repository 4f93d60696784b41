"""source: a kernel's code, for reading beside its figures."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from . import _table
from ._installed import KERNELS


class Source(str):
    """The text of a source file, which knows its ``path`` and shows itself as code in a notebook."""

    path: Path

    def __new__(cls, text: str, path: Path) -> Source:
        source = super().__new__(cls, text)
        source.path = path
        return source

    def __reduce__(self) -> tuple[Any, ...]:  # for copies and pickles
        return Source, (str(self), self.path)

    def _repr_html_(self) -> str:
        return f"<pre><code>{html.escape(str(self))}</code></pre>"


def source(op: str, variant: str) -> Source:
    """The CUDA source of a variant's kernel, as it was compiled.

    Parameters
    ----------
    op, variant : str
        As in ``variants(op)``.

    Returns
    -------
    Source
        A ``str`` with the file's ``path``.

    Raises
    ------
    ValueError
        An unknown name, or a variant without a kernel (NumPy's).

    Examples
    --------
    >>> import cudakern
    >>> "__global__" in cudakern.source("matmul", "tiled")
    True
    """
    entry = _table.find(op, variant)
    if not entry.source or not entry.kernels:
        raise ValueError(f"{op}: variant {variant!r} has no kernel: {entry.summary}")
    path = KERNELS / entry.source
    return Source(path.read_text(encoding="utf-8"), path)
