"""Source: the text of kernels, and how it is displayed."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable
from pathlib import Path

from .._installed import KERNELS

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
_COLORS = {"comment": "#808080", "string": "#c06000", "directive": "#a050c0", "cuda": "#d63a70", "keyword": "#3080c0"}


class Source(str):
    """The text of a kernel's source. ``path`` is its file, and ``helpers`` are the definitions that it uses from
    the package's other files, by file. Displays the plain text, as colored code in a notebook, where the kernel as it
    is written and its helpers are folded."""

    path: Path
    helpers: dict[str, Source]
    plain: bool  #: it is a plain text
    textbook: Callable[[], Source] | None  #: gives the plain text, which is displayed instead

    def __new__(cls, text: str, path: Path = KERNELS, plain: bool = False) -> Source:  # copies set the rest afterwards
        source = super().__new__(cls, text)
        source.path, source.helpers, source.plain, source.textbook = path, {}, plain, None
        return source

    @property
    def kernel(self) -> str:
        """Without the header comments, the include guards, the includes, the namespaces, and what records the clock."""
        if self.plain:
            return str(self)
        text = re.sub(r"^(?://[^\n]*\n)+#ifndef (CK_\w+)\n#define \1\n", "", self, flags=re.M)
        text = re.sub(r"\n#endif[^\n]*\s*(?=\n\n|\Z)", "\n", text)
        text = re.sub(r"^#include [^\n]*\n", "", text, flags=re.M)
        text = re.sub(r"^(?:namespace \w+ \{|\} // namespace \w+)\n", "", text, flags=re.M)
        text = re.sub(r"^ *note_(?:start|end)\(clocks\);[^\n]*\n", "", text, flags=re.M)
        text = re.sub(r",\s*ck_clock \*(?:__restrict__ )?clocks", "", text)
        return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"

    def _displayed(self) -> Source:
        """The plain text of a variant; of all else, the text itself."""
        return self.textbook() if self.textbook else self

    def __repr__(self) -> str:
        if self.textbook is None:
            return self.kernel
        names = ", ".join([str(self.path.relative_to(KERNELS)), *self.helpers])
        note = textwrap.fill(
            f"From {names}; print(...) shows the first file.", 98, initial_indent="// ", subsequent_indent="// "
        )
        return f"{self._displayed()}\n{note}\n"

    def _repr_html_(self) -> str:
        shown = self._displayed()
        folded = {} if shown.endswith(self.kernel) else {f"{self.path.name}, as it is written": self.kernel}
        folded |= {name: helper.kernel for name, helper in self.helpers.items()}
        details = (
            f"<details><summary><code>{html.escape(name)}</code></summary>{_block(text)}</details>"
            for name, text in folded.items()
        )
        return _block(shown.kernel) + "".join(details)


def _block(code: str) -> str:
    # Jupyter would break long lines, within words too.
    return f'<pre style="overflow-x:auto"><code style="white-space:pre">{_colored(code)}</code></pre>'


def _colored(text: str) -> str:
    parts, end = [], 0
    for token in _TOKENS.finditer(text):
        parts.append(html.escape(text[end : token.start()]))
        parts.append(f'<span style="color:{_COLORS[str(token.lastgroup)]}">{html.escape(token[0])}</span>')
        end = token.end()
    return "".join([*parts, html.escape(text[end:])])
