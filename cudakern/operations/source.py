"""source: a kernel's code."""

from __future__ import annotations

import html
import re
from pathlib import Path

from .._installed import KERNELS
from ..calls import table
from .variants import NameOrFunction, operation_name

#: The tokens that are colored in notebooks. The colors are readable on white and on black.
_TOKENS = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<directive>^[ ]*\#[ ]*\w+)
    |(?P<cuda>\b__\w+__\b|\b(?:threadIdx|blockIdx|blockDim|gridDim|__syncthreads|__syncwarp|__shfl\w*|atomic[A-Z]\w*)\b)
    |(?P<keyword>\b(?:auto|bool|break|char|const|constexpr|continue|do|double|else|extern|false|float|for|if|inline|int
        |long|namespace|return|short|signed|sizeof|static|struct|switch|template|true|typedef|typename|unsigned|using
        |void|while|size_t|u?int(?:8|16|32|64)_t)\b)""",
    re.M | re.S | re.X,
)
_COLORS = {"comment": "#808080", "string": "#c06000", "directive": "#a050c0", "cuda": "#c03060", "keyword": "#3080c0"}


class Source(str):
    """The text of a source file, with its ``path``; displays the kernel alone, as colored code in a notebook."""

    path: Path

    def __new__(cls, text: str, path: Path = KERNELS) -> Source:  # copies and pickles set the path afterwards
        source = super().__new__(cls, text)
        source.path = path
        return source

    @property
    def kernel(self) -> str:
        """Without the header comment, the include guard, the includes, the namespace, and what records the clock."""
        text = re.sub(r"\A(?://[^\n]*\n)+", "", self)
        text = re.sub(r"^#ifndef (CK_\w+)\n#define \1\n", "", text, flags=re.M)
        text = re.sub(r"\n#endif[^\n]*\s*\Z", "\n", text)
        text = re.sub(r"^#include [^\n]*\n", "", text, flags=re.M)
        text = re.sub(r"^(?:namespace \w+ \{|\} // namespace \w+)\n", "", text, flags=re.M)
        text = re.sub(r"^ *note_(?:start|end)\(clocks\);[^\n]*\n", "", text, flags=re.M)
        text = re.sub(r",\s*ck_clock \*(?:__restrict__ )?clocks", "", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def __repr__(self) -> str:
        return self.kernel

    def _repr_html_(self) -> str:
        text, parts, end = self.kernel, [], 0
        for token in _TOKENS.finditer(text):
            parts.append(html.escape(text[end : token.start()]))
            parts.append(f'<span style="color:{_COLORS[str(token.lastgroup)]}">{html.escape(token[0])}</span>')
            end = token.end()
        parts.append(html.escape(text[end:]))
        return f"<pre><code>{''.join(parts)}</code></pre>"


def source(op: NameOrFunction, variant: str | None = None) -> Source:
    """The CUDA source of the kernel of ``variant``, a name listed by ``variants(op)``: a ``str`` with the file's
    ``path``. ``op`` may also be a kernel, a launch or a Program of your own, without ``variant``. ValueError for an
    unknown name or a variant without a kernel (NumPy's); TypeError without a variant.

    Examples
    --------
    >>> import cudakern
    >>> "__global__" in cudakern.source("matmul", "tiled")
    True
    """
    op = getattr(op, "kernel", op)  # of a launch, program.add_one[4, 256]
    for name in ("code", "source"):  # a kernel of a Program, and a Program
        if isinstance(code := getattr(op, name, None), Source):
            return code
    op = operation_name(op)
    if variant is None:
        raise TypeError(f"source: {table.pass_a_variant(op)}")
    entry = table.find(op, variant)
    if not entry.source or not entry.kernels:
        raise ValueError(f"{op}: variant {variant!r} has no kernel ({entry.summary})")
    path = KERNELS / entry.source
    return Source(path.read_text(encoding="utf-8"), path)
