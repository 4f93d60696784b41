"""What a notebook shows below an answer."""

from __future__ import annotations

import html
from dataclasses import dataclass

_COLORS = {True: "#3a9a3a", False: "#d08020", None: "#808080"}
_WORDS = {True: "Right", False: "Not yet", None: "Not answered"}


@dataclass(frozen=True)
class Verdict:
    right: bool | None  #: None: not answered yet
    text: str
    output: str = ""  #: a compiler's
    answer: str = ""  #: a right kernel, which is folded

    def __repr__(self) -> str:
        return "\n".join(filter(None, (f"{_WORDS[self.right]}: {self.text}", self.output)))

    def _repr_html_(self) -> str:
        color = _COLORS[self.right]
        text = html.escape(self.text).replace("\n", "<br>")
        output = f"<pre>{html.escape(self.output)}</pre>" if self.output else ""
        code = f"<pre>{html.escape(self.answer)}</pre>"
        folded = f"<details><summary>An answer</summary>{code}</details>" if self.answer else ""
        return (
            f'<div style="border-left: 4px solid {color}; padding: 4px 10px">'
            f'<b style="color: {color}">{_WORDS[self.right]}.</b> {text}{output}{folded}</div>'
        )
