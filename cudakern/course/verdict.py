"""What a notebook shows below an answer."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..measure.plots import Picture

_COLORS = {True: "#3a9a3a", False: "#d08020", None: "#808080"}
_WORDS = {True: "Right", False: "Not yet", None: "Not answered"}


@dataclass(frozen=True)
class Verdict:
    right: bool | None  #: None: not answered yet
    text: str
    output: str = ""  #: a compiler's
    answer: str = ""  #: a right kernel, which is folded; "": not to be shown yet
    goal: Callable[[], Picture] | None = field(default=None, repr=False, compare=False)  #: draws what it should do

    def __repr__(self) -> str:
        return "\n".join(filter(None, (f"{_WORDS[self.right]}: {self.text}", self.output)))

    def _repr_html_(self) -> str:
        color = _COLORS[self.right]
        text = html.escape(self.text).replace("\n", "<br>")
        output = f"<pre>{html.escape(self.output)}</pre>" if self.output else ""
        picture, code = self._picture(), f"<pre>{html.escape(self.answer)}</pre>"
        folded = f"<details><summary>An answer</summary>{code}</details>" if self.answer else ""
        return (
            f'<div style="border-left: 4px solid {color}; padding: 4px 10px">'
            f'<b style="color: {color}">{_WORDS[self.right]}.</b> {text}{output}{picture}{folded}</div>'
        )

    def _picture(self) -> str:
        """What the kernel should do; folded when the reader has seen it."""
        if self.goal is None:
            return ""
        try:
            from .drawing import plot_html

            image = plot_html(self.goal())
        except ImportError:  # without matplotlib
            return ""
        is_open = " open" * (self.right is None)
        return f"<details{is_open}><summary>What it should do</summary>{image}</details>"
