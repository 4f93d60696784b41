"""Keyword arguments on a command line, such as ``strides=2,4``: for experiments and for parameters of variants."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Sequence
from typing import Any

#: As in Python: range(33), range(1,33), range(1, 33, 2).
RANGE = re.compile(r"range\(( *-?\d+ *(?:, *-?\d+ *){0,2})\)")


def keywords(whose: str, words: Sequence[str]) -> dict[str, Any]:
    """A dictionary of words like ``n=1000``, ``block=16,16``, ``grid=None``; ValueError for a word without "=" or for a
    name that appears twice."""
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{whose}: {word!r} is not an argument: write NAME=VALUE, as in n=1000 or block=16,16")
        if key in values:
            raise ValueError(f"{whose}: {key}= appears twice")
        values[key] = _value(value)
    return values


def _value(text: str) -> Any:
    """None, a number, a tuple of numbers ("2," is a tuple of one), a range, or the word itself."""
    if written := RANGE.fullmatch(text):
        with contextlib.suppress(ValueError):  # a step of 0: the experiment refuses the word
            return range(*map(int, written[1].split(",")))
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
