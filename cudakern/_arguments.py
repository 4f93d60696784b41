"""Keyword arguments as a command line has them, ``strides=2,4``: for experiments and for variants' parameters."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

#: As Python and the list of experiments have it: range(33), range(1,33), range(1, 33, 2).
RANGE = re.compile(r"range\(( *-?\d+ *(?:, *-?\d+ *){0,2})\)")


def keywords(whose: str, words: Sequence[str]) -> dict[str, Any]:
    """Words like ``n=1000``, ``block=16,16``, ``grid=None`` by their names; ValueError for one without "=" or a name
    that is given twice."""
    values: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{whose}: {word!r} is no argument: write NAME=VALUE, as in n=1000 or block=16,16")
        if key in values:
            raise ValueError(f"{whose}: {key}= is given twice")
        values[key] = _value(value)
    return values


def _value(text: str) -> Any:
    """None, a number, several numbers ("2," is one of several), a range of them, or the word itself."""
    if text == "None":
        return None
    if written := RANGE.fullmatch(text):
        with contextlib.suppress(ValueError):  # a step of 0: the experiment refuses the word
            return range(*map(int, written[1].split(",")))
    try:
        numbers = tuple(int(part) for part in text.removesuffix(",").split(","))
    except ValueError:
        return text
    return numbers if "," in text else numbers[0]
